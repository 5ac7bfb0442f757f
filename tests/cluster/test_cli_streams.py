"""Where the output goes: pipes that close early, full disks, terminals that know ASCII only."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys

import pytest

from cluster.cli import app as cli
from cluster.driver.progress import Progress
from results.storage import local
from tests.conftest import COMMAND, ROOT
from tests.samples import daily

SHOW = ("show", "tear")


def in_shell(line, *arguments, **environment):
    """Run a line of bash in which ``"$@"`` is the command; return the codes of its pipeline and what it printed."""
    done = subprocess.run(
        ["bash", "-c", f'{line}; echo "${{PIPESTATUS[@]}}"', "bash", *COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=False,
    )
    *out, codes = done.stdout.splitlines()
    return codes, out, done.stderr


@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    daily(
        [(("show", "perslatgsineters"), ""), (("show", "tear", "--format", "json"), "1"), (("--help",), "1")],
        lambda arguments, _: "json" not in arguments,
    ),
)
def test_a_reader_that_has_seen_enough_is_no_error(arguments, unbuffered):
    codes, out, err = in_shell('"$@" | (read line; echo "$line")', *arguments, PYTHONUNBUFFERED=unbuffered)
    assert (codes, len(out), err) == ("0 0", 1, "")


def test_a_closed_pipe_in_the_middle_of_much_output_is_no_error(proven):
    sql = "SELECT range FROM range(20000)"
    assert in_shell('"$@" | head -n 2', "query", proven, sql, "--format", "csv")[0] == "0 0"


def test_a_run_goes_on_when_nobody_reads_its_progress(tmp_path):
    options = ("run", "2x2", "--cutoff", "14", "--workers", "0", "--out", tmp_path / "run")
    codes, out, err = in_shell('"$@" 2>/dev/full', *options)
    assert (codes, err) == ("0", "")
    assert any(line.startswith("Proven.") for line in out)


class Full:
    """A file on a full disk."""

    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_progress_lines_are_a_courtesy():
    lines = Progress(Full())
    lines.begin("2x2, scowl70", 55, 0)
    lines.note("dropped")
    lines.end()


@pytest.mark.parametrize(("arguments", "unbuffered"), [((*SHOW, "--format", "json"), "1"), (("--help",), "")])
def test_a_full_disk_is_not_a_bug(arguments, unbuffered):
    codes, out, err = in_shell('"$@" >/dev/full', *arguments, PYTHONUNBUFFERED=unbuffered)
    assert (codes, out) == ("2", [])
    assert err == "orderly: cannot write: No space left on device; make room there, or write elsewhere\n"


def test_a_run_whose_disk_is_full_ends_with_the_code_that_the_page_promises(orderly, tmp_path, monkeypatch):
    write_all = local.write_all

    def full(descriptor, data):
        if data.startswith(b"PAR1"):
            raise OSError(errno.ENOSPC, "No space left on device")
        write_all(descriptor, data)

    monkeypatch.setattr(local, "write_all", full)
    answer = orderly("run", "2x2", "--cutoff", "14", "--workers", "0", "--out", tmp_path / "run")
    assert (answer.code, answer.out) == (2, "")
    assert "cannot write" in answer.err
    page = (ROOT / "docs" / "running.md").read_text()
    assert '| exit code 2, "cannot write" | the disk is full' in page


def test_a_file_that_cannot_be_written_is_named(orderly, monkeypatch):
    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/scratch")

    monkeypatch.setattr("cluster.cli.options.Words.load", fail)
    monkeypatch.setattr(cli, "_drop_output", lambda: None)
    answer = orderly(*SHOW)
    assert answer.code == 2
    assert answer.err.startswith("orderly: cannot write '/tmp/scratch': No space left on device; ")


def test_what_was_printed_before_an_error_comes_before_it(orderly, proven):
    """An error in the end does not hide that the output could not be written."""
    codes, _, err = in_shell('"$@" >/dev/full', "top", "--contains", "zzzz", proven)
    assert (codes, err.count("cannot write")) == ("2", 1)


@pytest.mark.parametrize(
    ("arguments", "drawn"),
    daily(
        [
            (SHOW, ["+----+----+", "| T  | A  |"]),
            (("bound", "t e a r", "--tree"), ["+- cell 1.1  max ", "   +- 1.1=t  sum "]),
            (("show", "é"), []),
            (("wordlist", "check", "/nosuch/é"), []),
            (("climb", "--dims", "2x2", "--pool", "9", "--runs", "1"), ["+----+----+"]),
        ],
        lambda arguments, _: arguments[0] == "show",
    ),
)
def test_an_ascii_terminal_gets_ascii(arguments, drawn):
    for names in ({"PYTHONIOENCODING": "ascii"}, {"PYTHONUTF8": "0", "PYTHONIOENCODING": ""})[: 1 + bool(drawn)]:
        codes, out, err = in_shell('"$@"', *arguments, LC_ALL="C", **names)
        assert codes == ("0" if drawn else "2")
        assert "internal error" not in err
        assert all(any(line.startswith(start) for line in out) for start in drawn)
        assert "".join((*out, err)).isascii()


@pytest.mark.parametrize(
    ("arguments", "seen"),
    daily(
        [
            (("show", "tear"), "14 points"),
            (("climb", "--dims", "2x2", "--pool", "20"), "found"),
            (("run", "2x2", "--cutoff", "14", "--workers", "0", "--out", "RUN"), "Proven."),
            (("show", "tea"), "no board has 3 letters"),
            (("run", "--workers", "many"), "'many'"),
        ],
        lambda arguments, _: arguments[0] == "run",
    ),
)
def test_no_color_is_respected_on_a_terminal(terminal_of, tmp_path, arguments, seen):
    terminal = terminal_of(*(tmp_path / "run" if word == "RUN" else word for word in arguments), NO_COLOR="1")
    terminal.end()
    assert seen in terminal.text
    assert not colours(terminal.raw)


def test_watching_in_ascii_and_without_colours(terminal_of, proven):
    plain = terminal_of("watch", proven, NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert "+----+----+" in plain.wait_for("proven", "aert")
    assert plain.raw.isascii()
    assert not colours(plain.raw)
    colourful = terminal_of("watch", proven)
    colourful.wait_for("proven", "aert")
    assert colours(colourful.raw)


def colours(data):
    """Return the escape sequences that set a colour."""
    codes = [code for codes in re.findall(rb"\x1b\[([0-9;]*)m", data) for code in codes.split(b";")]
    return [code for code in codes if code and (30 <= int(code) < 50 or 90 <= int(code) < 108)]


def test_latin_1_keeps_what_it_knows():
    code = "import sys; from cluster.streams import encodable; encodable(sys.stdout); print('é─漢')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "latin-1"},
        check=True,
    )
    assert done.stdout == b"\xe9-\\u6f22\n"
