"""``orderly watch`` on a pseudo-terminal: what is on the screen, keys, resizing; and that the run stays as it was."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import termios
import time

import pytest

from results.storage import files
from tests.conftest import RESTING, ROOT, flip_bit, make_in
from tests.samples import daily

SMALL = ("run", "2x2", "--cutoff", "10", "--workers", "0")
LONG = ("--dims", "3x3", "--cutoff", "430", "--buckets", "bdfgjqvwxz aeiou lnrsy chkmpt", "--workers", "0")


def state_of(folder):
    """Return everything about the files of a run that a reader might change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        told = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (told.st_mtime_ns, told.st_size, told.st_ino, digest)
    return found


@pytest.mark.parametrize("key", daily([b"q", b"Q", b"\x03"], lambda key: key == b"\x03"))
def test_a_finished_run_is_shown_at_any_size_and_a_key_ends_it_and_nothing_is_changed(terminal_of, proven, key):
    before = state_of(proven)
    terminal = terminal_of("watch", proven, rows=40, columns=120)
    text = terminal.wait_for("proven", "55 of 55 classes (100.0 %)", "14  aert", "q quits")
    assert "┌────┬────┐" in text
    assert "free" in text
    wide = max(map(len, text.splitlines()))
    terminal.resize(16, 44)
    text = terminal.wait_for("proven", "q quits")
    assert max(map(len, text.splitlines())) <= 44 < wide
    terminal.resize(50, 140)
    terminal.wait_for("14  aert", "best boards", "what happened")
    terminal.type(key)
    assert terminal.end() == 0
    assert termios.tcgetattr(terminal.slave)[3] == terminal.before[3], "the terminal echoes again"
    assert state_of(proven) == before


@pytest.mark.slow
def test_a_run_that_goes_on_shows_its_workers_and_ends_before_the_eyes(terminal_of, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [*RESTING, "run", *LONG, "--out", str(tmp_path / "run")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        while not (tmp_path / "run" / files.RUN).exists():
            time.sleep(0.2)
        terminal = terminal_of("watch", tmp_path / "run", rows=45, columns=150)
        text = terminal.wait_for("running", "class ", "judging by", "verdicts an hour", f"process {driver.pid}")
        assert "proven" not in text
        driver.kill()
        driver.wait()
        terminal.wait_for("incomplete", "killed, or its machine is gone", "in the way")
    terminal.type(b"q")
    assert terminal.end() == 0


def test_hostile_text_does_nothing_to_the_terminal_and_a_damaged_run_is_not_called_proven(
    terminal_of, proven, tmp_path
):
    shutil.copytree(proven, tmp_path / "run")
    line = '{"time": 1.0, "session": "x", "event": "stopped", "reason": "E", "message": "\\u001b[2J\\u202egone[red]"}\n'
    (tmp_path / "run" / files.EVENTS).write_text(line)
    terminal = terminal_of("watch", tmp_path / "run")
    text = terminal.wait_for("proven", "\\x1b[2J\\u202egone[red]")
    assert "55 of 55" in text
    flip_bit(next((tmp_path / "run" / files.RESULTS).iterdir()))
    assert "proven" not in terminal.wait_for("unreadable")


@pytest.mark.nightly
def test_a_run_in_an_object_store(terminal_of, bucket):
    address = f"{bucket}/runs/mine"
    make_in(ROOT, *SMALL, "--out", address)
    terminal = terminal_of("watch", address)
    text = terminal.wait_for("proven", "55 of 55", "14  aert")
    assert "free" not in text
    terminal.type(b"q")
    assert terminal.end() == 0
