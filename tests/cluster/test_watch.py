"""``orderly watch`` on a pseudo-terminal: what is on the screen, keys, resizing; and that the run stays as it was."""

from __future__ import annotations

import fcntl
import hashlib
import os
import pty
import select
import shutil
import struct
import subprocess
import termios
import time

import pyte
import pytest

from results.storage import files
from tests.conftest import COMMAND, ROOT, make_in

SMALL = ("run", "2x2", "--cutoff", "10", "--workers", "0")
LONG = ("--dims", "3x3", "--cutoff", "430", "--buckets", "bdfgjqvwxz aeiou lnrsy chkmpt", "--workers", "0")
PATIENCE_S = 60


class Terminal:
    """A command on a terminal of its own, and what is on its screen."""

    def __init__(self, *arguments, rows=40, columns=100, **environment):
        self.master, slave = pty.openpty()
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.resize(rows, columns)
        self.before = termios.tcgetattr(slave)
        values = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **environment}
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=values,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # keys and sizes become signals
        )
        self.slave = slave

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def read(self, seconds=0.2):
        until_s = time.monotonic() + seconds
        while (left := until_s - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                try:
                    self.stream.feed(os.read(self.master, 65536))
                except OSError:  # the other end is closed
                    return

    def wait_for(self, *expected):
        until_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < until_s:
            self.read()
            if all(text in self.text for text in expected):
                return self.text
            if self.process.poll() is not None:
                break
        pytest.fail(f"never seen: {expected}\n{self.text}")

    def type(self, keys):
        os.write(self.master, keys)

    def end(self):
        """Return the exit code of a command that is about to end."""
        until_s = time.monotonic() + PATIENCE_S
        while self.process.poll() is None and time.monotonic() < until_s:
            self.read()
        return self.process.poll()

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminal_of(terminal):
    """Start a command on a terminal; it is killed in the end."""
    made = []

    def call(*arguments, **options):
        made.append(Terminal(*arguments, **options))
        return made[-1]

    yield call
    for one in made:
        one.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    top = tmp_path_factory.mktemp("watch")
    make_in(top, *SMALL, "--out", "run")
    return top / "run"


def state_of(folder):
    """Return everything about the files of a run that a reader might change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        told = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (told.st_mtime_ns, told.st_size, told.st_ino, digest)
    return found


@pytest.mark.parametrize("key", [b"q", b"Q", b"\x03"])
def test_a_finished_run_is_shown_and_a_key_ends_it_and_nothing_is_changed(terminal_of, run, key):
    before = state_of(run)
    terminal = terminal_of("watch", run)
    text = terminal.wait_for("proven", "55 of 55 classes (100.0 %)", "14  aert", "q quits")
    assert "┌────┬────┐" in text
    assert "free" in text
    terminal.type(key)
    assert terminal.end() == 0
    assert termios.tcgetattr(terminal.slave)[3] == terminal.before[3], "the terminal echoes again"
    assert state_of(run) == before


def test_it_follows_the_size_of_the_terminal(terminal_of, run):
    terminal = terminal_of("watch", run, rows=40, columns=120)
    terminal.wait_for("proven", "14  aert")
    wide = max(map(len, terminal.text.splitlines()))
    terminal.resize(16, 44)
    text = terminal.wait_for("proven", "q quits")
    assert max(map(len, text.splitlines())) <= 44 < wide
    terminal.resize(50, 140)
    terminal.wait_for("14  aert", "best boards", "what happened")
    terminal.type(b"q")
    assert terminal.end() == 0


@pytest.mark.slow
def test_a_run_that_goes_on_shows_its_workers_and_ends_before_the_eyes(terminal_of, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [*COMMAND, "run", *LONG, "--out", str(tmp_path / "run")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        while not (tmp_path / "run" / files.RUN).exists():
            time.sleep(0.2)
        terminal = terminal_of("watch", tmp_path / "run", rows=45, columns=150)
        text = terminal.wait_for("running", "class ", "judging by", "verdicts an hour", f"process {driver.pid}")
        assert "proven" not in text.replace("not proven", "")
        driver.kill()
        driver.wait()
        terminal.wait_for("not proven", "killed, or its machine is gone", "in the way")
    terminal.type(b"q")
    assert terminal.end() == 0


def test_a_run_damaged_while_it_is_watched_is_not_called_proven_any_more(terminal_of, run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    terminal = terminal_of("watch", tmp_path / "run")
    terminal.wait_for("proven")
    part = next((tmp_path / "run" / files.RESULTS).iterdir())
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)
    text = terminal.wait_for("unreadable")
    assert "proven" not in text


def test_hostile_text_does_nothing_to_the_terminal(terminal_of, run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    line = '{"time": 1.0, "session": "x", "event": "stopped", "reason": "E", "message": "\\u001b[2J\\u202egone[red]"}\n'
    (tmp_path / "run" / files.EVENTS).write_text(line)
    terminal = terminal_of("watch", tmp_path / "run")
    text = terminal.wait_for("proven", "\\x1b[2J\\u202egone[red]")
    assert "55 of 55" in text


def test_without_a_terminal_it_says_what_to_use(orderly, run, tmp_path):
    answer = orderly("watch", run)
    assert (answer.code, answer.out) == (2, "")
    assert "orderly status" in answer.err
    assert orderly("watch", tmp_path / "none").code == 2


def test_a_run_in_an_object_store(terminal_of, bucket):
    address = f"{bucket}/runs/mine"
    make_in(ROOT, *SMALL, "--out", address)
    terminal = terminal_of("watch", address)
    text = terminal.wait_for("proven", "55 of 55", "14  aert")
    assert "free" not in text
    terminal.type(b"q")
    assert terminal.end() == 0
