"""Commands on terminals, and a run with all that real runs have."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from pathlib import Path

import pyte
import pytest

from tests.cluster.whole_run import make_whole_run
from tests.conftest import COMMAND

PATIENCE_S = 60


class Terminal:
    """A command on a terminal of its own, and what is on its screen."""

    def __init__(self, *arguments, rows=40, columns=100, **environment):
        self.master, slave = pty.openpty()
        self.screen = pyte.Screen(columns, rows)
        self.raw = b""
        self.stream = pyte.ByteStream(self.screen)
        self.resize(rows, columns)
        self.before = termios.tcgetattr(slave)
        values = {**os.environ, "TERM": "xterm-256color", **environment}
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=values,
            start_new_session=True,
            # keys and sizes become signals
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
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
                    data = os.read(self.master, 65536)
                except OSError:  # the other end is closed
                    return
                self.raw += data
                self.stream.feed(data)

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


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of tests/cluster/whole_run.py, to be read only."""
    return make_whole_run(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def words(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A word list of a few words, ``LIST`` of the test's file if it has one."""
    path = tmp_path / "small.txt"
    path.write_text(getattr(request.module, "LIST", "bee\nbeef\nfee\nqueen\nquit\nzebra\n"))
    return path


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
