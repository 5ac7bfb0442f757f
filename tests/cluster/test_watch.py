"""``orderly watch`` on a pseudo-terminal: what is on the screen, keys, resizing; and that the run stays as it was.

A run that goes on is watched in test_cli_status.py, without colours and in ASCII in test_cli_streams.py.
"""

from __future__ import annotations

import hashlib
import shutil
import termios

import pytest

from results.storage import files
from tests.conftest import ROOT, flip_bit, make_in
from tests.samples import daily


def state_of(folder):
    """Return everything about the files of a run that a reader might change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        told = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (told.st_mtime_ns, told.st_size, told.st_ino, digest)
    return found


@pytest.mark.parametrize("key", daily([b"q", b"Q", b"\x03"], lambda key: key == b"\x03"))
def test_a_run_is_shown_until_a_key_is_pressed_or_it_is_damaged_and_nothing_is_changed(
    terminal_of, proven, tmp_path, key
):
    run = shutil.copytree(proven, tmp_path / "run")
    line = '{"time": 1.0, "session": "x", "event": "stopped", "reason": "E", "message": "\\u001b[2J\\u202egone[red]"}\n'
    (run / files.EVENTS).write_text(line)
    before = state_of(run)
    terminal = terminal_of("watch", run, rows=40, columns=120)
    text = terminal.wait_for("proven", "55 of 55 classes (100.0 %)", "14  aert", "q quits", "\\x1b[2J\\u202egone[red]")
    assert "free" in text
    wide = max(map(len, text.splitlines()))
    terminal.resize(16, 44)
    text = terminal.wait_for("proven", "q quits")
    assert max(map(len, text.splitlines())) <= 44 < wide
    terminal.resize(50, 140)
    terminal.wait_for("14  aert", "best boards", "what happened")
    assert state_of(run) == before
    flip_bit(next((run / files.RESULTS).iterdir()))
    assert "proven" not in terminal.wait_for("unreadable")
    terminal.type(key)
    assert terminal.end() == 0
    assert termios.tcgetattr(terminal.slave)[3] == terminal.before[3], "the terminal echoes again"


@pytest.mark.nightly
def test_a_run_in_an_object_store(terminal_of, bucket):
    address = f"{bucket}/runs/mine"
    make_in(ROOT, "run", "2x2", "--cutoff", "10", "--workers", "0", "--out", address)
    terminal = terminal_of("watch", address)
    text = terminal.wait_for("proven", "55 of 55", "14  aert")
    assert "free" not in text
    terminal.type(b"q")
    assert terminal.end() == 0
