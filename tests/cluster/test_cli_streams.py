"""Where the output goes: pipes that close early, full disks, terminals that know ASCII only or want
no colours.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.cluster.streams import write_file
from tests.conftest import COMMAND, ROOT
from tests.samples import daily

SHOW = ("show", "tear")


def in_shell(line, *arguments, **environment):
    """Run a line of bash in which ``"$@"`` is the command; return the codes of its pipeline and
    what it printed.
    """
    done = subprocess.run(
        [
            "bash",
            "-c",
            f'{line}; echo "${{PIPESTATUS[@]}}"',
            "bash",
            *COMMAND,
            *map(str, arguments),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    *out, codes = done.stdout.splitlines()
    return codes, out, done.stderr


@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    daily(
        [
            (("--help",), "1"),
            (("query", "RUN", "SELECT range FROM range(20000)", "--format", "csv"), ""),
        ],
        [(("show", "berlatdes"), ""), (("show", "tear", "--format", "json"), "1")],
    ),
)
def test_a_reader_that_has_seen_enough_is_no_error(proven, arguments, unbuffered):
    arguments = [proven if word == "RUN" else word for word in arguments]
    codes, out, err = in_shell(
        '"$@" | (read line; echo "$line")', *arguments, PYTHONUNBUFFERED=unbuffered
    )
    assert (codes, len(out), err) == ("0 0", 1, "")


def test_a_run_goes_on_when_nobody_reads_its_progress(tmp_path):
    options = ("run", "2x2", "--cutoff", "14", "--workers", "0", "--out", tmp_path / "run")
    codes, out, err = in_shell('"$@" 2>/dev/full', *options)
    assert (codes, err) == ("0", "")
    assert any(line.startswith("Proven.") for line in out)


@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    daily(
        [
            (SHOW, "1"),
            (("--help",), ""),
            (("top", "--contains", "zzzz", "RUN"), ""),  # an error in the end does not hide it
        ],
        [((*SHOW, "--format", "json"), "")],
    ),
)
def test_a_full_disk_is_not_a_bug(proven, arguments, unbuffered):
    arguments = [proven if word == "RUN" else word for word in arguments]
    codes, out, err = in_shell('"$@" >/dev/full', *arguments, PYTHONUNBUFFERED=unbuffered)
    assert (codes, out, err.count("cannot write: No space left on device")) == ("2", [], 1)


# Python 3.11 keeps a module that it could write only the beginning of, and fails at it from then on
NOTHING_KEPT = {"PYTHONDONTWRITEBYTECODE": "1"}


def test_what_cannot_be_written_is_named_with_the_code_that_the_page_promises(tmp_path):
    """No file of this shell may have more than 8 KiB: there is room for run.json, not for rows."""
    command = ("run", "2x2", "--cutoff", "14", "--workers", "0", "--out", tmp_path / "run")
    codes, out, err = in_shell('ulimit -f 8; "$@"', *command, **NOTHING_KEPT)
    assert (codes, out) == ("2", [])
    assert re.search("cannot write .*/results/part-.* File too large", err), err
    page = (ROOT / "docs" / "running.md").read_text()
    assert '| exit code 2, "cannot write" | the disk is full' in page


OLD = b"what was there before"


@pytest.mark.parametrize("ending", ["svg", "html"])
def test_a_disk_that_fills_leaves_the_file_that_was_named_as_it_was(tmp_path, ending):
    """No file of this shell may have more than 1,024 bytes."""
    file = tmp_path / f"board.{ending}"
    for there in (b"", OLD):
        if there:
            file.write_bytes(there)
        codes, out, err = in_shell('ulimit -f 1; "$@"', *SHOW, "--out", file, **NOTHING_KEPT)
        assert (codes, out) == ("2", [])
        assert f"board.{ending}': File too large; make room, or choose another name" in err
        assert [path.read_bytes() for path in tmp_path.iterdir()] == [there] * bool(there)
    codes, out, err = in_shell('"$@"', *SHOW, "--out", file)
    assert codes == "0"
    assert [path.stat().st_size > 1024 for path in tmp_path.iterdir()] == [True]


def test_a_file_that_was_named_stays_what_it_is(tmp_path, monkeypatch):
    """Its mode, a link to it; a device and a pipe are written to."""
    file = tmp_path / "file"
    link = tmp_path / "link"
    pipe = tmp_path / "pipe"
    file.write_bytes(OLD)
    file.chmod(0o640)
    link.symlink_to(file)
    write_file(link, b"new")
    assert (file.read_bytes(), link.is_symlink()) == (b"new", True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_bytes)
        write_file(pipe, b"through")
        assert read.result() == b"through"
    assert pipe.is_fifo()
    monkeypatch.setenv("HOME", str(tmp_path))
    write_file(Path("~/file"), b"newer")
    assert file.read_bytes() == b"newer"
    write_file(Path("/dev/null"), b"gone")
    for name, reason in {
        "/dev/full": "No space left on device",
        str(tmp_path): "Is a directory",
        str(tmp_path / "none" / "file"): "No such file or directory",
    }.items():
        with pytest.raises(InputError, match=reason):
            write_file(Path(name), b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link", "pipe"]
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    with contextlib.suppress(InputError):  # some versions of Python replace such a link
        write_file(circle, b"new")


def test_a_file_that_may_not_be_written_stays(tmp_path):
    """A program that runs: no mode protects a file from root."""
    program = Path(shutil.copy2("/bin/sleep", tmp_path))
    before = program.read_bytes()
    with subprocess.Popen([program, "9"]) as running:
        with pytest.raises(InputError, match="Text file busy"):
            write_file(program, b"new")
        running.kill()
    assert program.read_bytes() == before
    assert list(tmp_path.iterdir()) == [program]


def test_what_this_process_has_open_is_written_to(tmp_path):
    """A redirected standard output is appended to, not replaced."""
    code = "from orderly_boggle.cluster.streams import *; write_file(Path('/dev/stdout'), b'new')"
    (tmp_path / "out").write_bytes(OLD)
    with (tmp_path / "out").open("ab") as out:
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=out, check=True)
    assert (tmp_path / "out").read_bytes() == OLD + b"new"


ASCII = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}


@pytest.mark.parametrize(
    ("arguments", "environment", "drawn"),
    daily(
        [
            (SHOW, ASCII, ["|----+----|", "| T  | A  |"]),
            (
                SHOW,
                {**ASCII, "PYTHONUTF8": "0", "PYTHONIOENCODING": ""},
                ["|----+----|", "| T  | A  |"],
            ),
            (("wordlist", "list"), ASCII, ["\\xe9"]),
        ],
        [
            (("bound", "t e a r", "--tree"), ASCII, ["all words  sum ", "   cell 1.1  max "]),
            (("show", "é"), ASCII, []),
            (("climb", "--dims", "2x2", "--pool", "9", "--runs", "1"), ASCII, ["|----+----|"]),
        ],
    ),
)
def test_an_ascii_terminal_gets_ascii(tmp_path, arguments, environment, drawn):
    (tmp_path / "é.txt").write_text("tea\neat\n")
    codes, out, err = in_shell('"$@"', *arguments, ORDERLY_WORDLISTS=str(tmp_path), **environment)
    assert codes == ("0" if drawn else "2")
    assert "internal error" not in err
    assert all(any(line.startswith(start) for line in out) for start in drawn)
    assert "".join((*out, err)).isascii()


def colours(data):
    """Return the escape sequences that set a colour."""
    codes = [code for codes in re.findall(rb"\x1b\[([0-9;]*)m", data) for code in codes.split(b";")]
    return [code for code in codes if code and (30 <= int(code) < 50 or 90 <= int(code) < 108)]


@pytest.mark.parametrize(
    ("arguments", "seen"),
    daily(
        [
            (("climb", "--dims", "3x3", "--pool", "20"), ["━", " of 5, round ", "found"]),
            (
                ("run", "2x2", "--cutoff", "14", "--workers", "0", "--out", "RUN"),
                ["board classes", "━", "Proven."],
            ),
        ],
        [
            (("show", "tear"), ["14 points"]),
            (("show", "tea"), ["has 3 cells"]),
            (("run", "--workers", "many"), ["'many'"]),
        ],
    ),
)
def test_no_color_is_respected_on_a_terminal(terminal_of, tmp_path, arguments, seen):
    terminal = terminal_of(
        *(tmp_path / "run" if word == "RUN" else word for word in arguments), NO_COLOR="1"
    )
    terminal.end()
    assert all(text in terminal.raw.decode() for text in seen)
    assert not colours(terminal.raw)
    hidden, shown = (terminal.raw.count(code) for code in (b"\x1b[?25l", b"\x1b[?25h"))
    assert hidden == shown, "the cursor"


def test_watching_without_colours_and_in_ascii(terminal_of, proven):
    colourful = terminal_of("watch", proven)
    plain = terminal_of("watch", proven, NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert "┌────┬────┐" in colourful.wait_for("proven", "aert")
    assert colours(colourful.raw)
    assert "|----+----|" in plain.wait_for("proven", "aert")
    assert not colours(plain.raw)
    assert plain.raw.isascii()


def test_a_terminal_shows_how_far_it_is_in_one_line_that_goes_away(terminal_of):
    terminal = terminal_of("plan", "3x3", "--cutoff", 500, "--seconds", 8)
    assert "━" in terminal.wait_for("probing random classes for 8 s", " s of 8 s")
    shown = terminal.wait_for("of one core")
    assert "━" not in shown
    assert terminal.end() == 0
