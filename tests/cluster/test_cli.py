"""The command line itself: help, lazy imports, exit codes, and bad input: one message, nothing
printed or written.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys

import pytest

from orderly_boggle.cluster.cli import app as cli
from orderly_boggle.cluster.cli.app import PLACES, SECTIONS
from orderly_boggle.results.storage import files
from tests.conftest import ROOT, make_in

HEAVY = ("numba", "numpy", "pyarrow", "duckdb", "ray", "pydantic", "rich")


def test_help_shows_every_command_and_exit_code_in_whole_sentences(orderly):
    answer = orderly("--help")
    assert answer.code == 0
    assert all(f"\n  {command} " in answer.out for command in PLACES)
    assert all(f"{code} " in answer.out for code in (0, 2, 3, 4, 5, 6, 7))
    titles = [
        line[:-1]
        for line in answer.out.splitlines()
        if line.endswith(":") and line == line.lstrip()
    ]
    assert [title for title in titles if title in SECTIONS] == list(SECTIONS)
    assert "    orderly run 3x3  " in answer.out
    lists = orderly("wordlist", "--help")
    assert "say what was done to its lines." in lists.out
    assert not any(
        "..." in said.out.partition(title)[2]
        for said, title in ((answer, "Options:"), (lists, "Commands:"))
    )
    for command in PLACES:
        assert orderly(command, "--help").out.startswith(f"Usage: orderly {command}")
    assert orderly("--version").out.startswith("orderly ")


@pytest.mark.parametrize(
    ("command", "option", "default"),
    [
        *(("derive", f"--{name}", "that of the run") for name in ("wordlist", "cutoff")),
        ("derive", "--scores", "those of the run"),
        *((name, "--wordlist", "config, else the bundled list") for name in ("plan", "run")),
        ("run", "--scores", "config, else standard"),
        ("run", "--cutoff", "config, else auto"),
        ("run", "--order", "config, else the best for the size"),
        ("run", "--replicate", "config, else 1"),
        *((name, "--scores", "those of the dice") for name in ("roll", "play")),
        ("roll", "--min-letters", "as --scores says"),
        ("show", "--scores", "standard"),
    ],
)
def test_help_says_what_is_taken_without_an_option(orderly, command, option, default):
    said = " ".join(orderly(command, "--help").out.split())
    about = said.partition("Options:")[2].partition(f"{option} ")[2]
    assert about.partition("[default: (")[2].startswith(f"{default})")


def test_boards_of_any_tiles_may_be_as_large_as_help_says(orderly):
    for command, board in (("show", ["a" * 36]), ("solve", ["a" * 36]), ("score", [])):
        assert "12x12 at most" in " ".join(orderly(command, "--help").out.split())
        assert orderly(command, *board, "--dims", "6x6", stdin="a" * 36).code == 0
    assert orderly("neighbours", "a" * 36, "--dims", "6x6").code == 2


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        (["--help"], HEAVY),
        # most of the time would be theirs
        (["status", "RUN"], ("numba", "pandas", "duckdb", "ray")),
        (["top", "RUN"], ("numba", "pandas", "duckdb", "ray")),
        (["show", "berlatdes"], ("numba", "xml", "orderly_boggle.boardclass.word_forms")),
    ],
)
def test_a_command_imports_nothing_heavy_that_it_does_not_need(proven, arguments, unneeded):
    arguments = [word.replace("RUN", str(proven)) for word in arguments]
    code = (
        f"import sys; sys.argv = {['orderly', *arguments]}\n"
        "from orderly_boggle.cluster.cli.start import main\n"
        "try: main()\n"
        f"finally: print([name for name in {unneeded} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_each_error_is_one_message_and_has_its_exit_code(orderly, small_runs, tmp_path):
    """Exit code 5: see test_forged_runs.py."""
    damaged = shutil.copytree(small_runs / "share1", tmp_path / "run")
    (damaged / files.RUN).write_text("[")
    for run, code in ((damaged, 3), (small_runs / "share1", 4)):
        answer = orderly.fails(code, "verify", run)
        assert answer.startswith("orderly: ")
        assert answer.count("orderly: ") == 1
        assert "Traceback" not in answer


def test_a_bug_is_one_message_and_debug_shows_where(orderly, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("orderly_boggle.cluster.cli.options.ListOptions.load", fail)
    answer = orderly("score")
    assert answer.code == cli.EXIT_BUG
    assert "ZeroDivisionError: oh" in answer.err
    assert "Traceback" not in answer.err
    answer = orderly("score", "--debug")
    assert answer.code == cli.EXIT_BUG
    assert "Traceback" in answer.err


def test_debug_leaves_exit_code_and_message_as_they_are(orderly, tmp_path):
    answer = orderly("status", str(tmp_path / "none"))
    debugged = orderly("status", str(tmp_path / "none"), "--debug")
    assert debugged.code == answer.code == cli.EXIT_INPUT
    assert debugged.err.endswith(answer.err)
    assert debugged.err.startswith("Traceback")


LIST = "tea\nate\neat\nrat\ntar\nart\nrate\ntear\nquit\n"
REFUSED = [
    ("climb -d 0x0", "'0x0'"),
    ("climb", "--dims"),
    ("climb --method luck", "'luck'"),
    ("climb -d 2x2 --exclude a1", "'1'"),
    ("climb -d 2x2 --exclude abcdefghijklmnopqrstuvwxyz", "no letter"),
    ("climb -d 2x2 --from abc", "'abc'"),
    ("climb --from tear --exclude t", "'t'"),
    ("climb --from seatxx --contains quit", "does not hold the word 'qit'"),
    ("climb --from ste/r.a/lin", "has a hole: expected letters a-z and Qu"),
    ("climb -d 2x2 --contains abcde", "'abcde'"),
    ("climb -d 2x2 --contains bad --exclude d", "'d'"),
    ("climb -d 2x2 --pool 4", "5 runs with a pool of 4"),
    ("climb -d 2x2 --pool 9999999", "'9999999', expected 1,000,000 or less"),
    ("longest --word ''", "expected letters a-z"),
    ("longest --word tea", "16 cells"),
    ("longest -d 2x2 --word tea7", "'tea7'"),
    ("longest -d 2x3 --letters 9", "9 letters"),
    ("longest -d 5x5 --word aaaaaaaaaaaaaaaaaaaaaaaaa", "climb --dims 5x5 --contains"),
    ("neighbours ste/r.a/lin", "has a hole: expected letters a-z and Qu"),
    ("neighbours aaaa -d 3x3", "'aaaa'"),
    ("lists é", "which is not a tile"),
    ("roll --dice garbage.bin", "garbage.bin"),
    ("roll --dice nwe", "did you mean 'new'"),
    ("roll --seed 1 --out sheet.html", "'sheet.html': expected the name of a PDF"),
    ("roll --seed 1 --min-words 99", "0 of 1,000 rolls"),
    ("show tear --scores 1,2,-3", "'-3'"),
    ("show tear --out tear.gif", "'tear.gif'"),
    ("show tear --word zz --out tear.svg", "'zz'"),
    ("show tear --word tea", "--out"),
    ("show tear --word tea --out x.html", "--out FILE.svg"),
    ("show tear --words hidden", "--out FILE.html"),
    ("show tear --out nosuch/tear.svg", "nosuch/tear.svg"),
    ("show abcdefgh!", "'!'"),
    ("show", "Error: "),
    ("show tear --format xml", "'xml'"),
    ("score", "line 1"),
    ("solve tear --method magic", "'magic'"),
    ("solve tear --begin-only 9", "9"),
    ("solve tear --end-only x", "--end-only"),
    ("bound 't e a'", "'t e a'"),
    ("bound 1 -d 9x9", "'9x9'"),
    ("bound 7", "--dims"),
    ("bound 999 -d 3x3", "999"),
    ("bound 'a b c d1'", "d1"),
    ("bound 't e a r' --scores stndard", "stndard"),
    ("bound 't e a r' -b 'aeiou bc'", "'aeiou bc'"),
    ("bound 't e a r' --tree --out tree.gif", "'tree.gif'"),
    ("bound 't e a r' --out nosuch/tree.svg", "nosuch"),
    ("bound 'abcdefghijklm abcdefghijklm abcdefghijklm abcdefghijklm' --tree -w scowl70", "nodes"),
    ("nonsense", "nonsense"),
    ("plan 2x2 --seconds soon", "'soon'"),
    ("run --workers -1", "'-1', expected 0 or more"),
    ("run 2x2 --workers 1.5", "'1.5'"),
    ("run --no-such-option", "--no-such-option"),
    ("run --cutoff 12", "--dims"),
    ("run 3x3.tml", "3x3"),
    ("run 2x2 --cutoff most", "'most'"),
    ("run 2x2 --cutoff 99999999999", "99999999999"),
    ("run 2x2 --cutoff 12 --memory 3", "memory_mb"),
    ("run 2x2 --cutoff 12 --order spiral", "'spiral'"),
    ("run 2x2 --scores 2147483647", "31 bits"),
    ("run 2x2 --buckets 'middle: abcdefghijklmnopqrstuvwxyz'", "middle"),
    ("run 2x2 --wordlist ./garbage.bin", "word list 'garbage.bin'"),
    ("run 2x2 --seed -1", "seed"),
    ("run 2x2 --out ''", "out"),
    ("run unknown.toml", "'cutof'"),
    ("run garbage.toml", "'garbage.toml'"),
    ("runs none", "'none'"),
    ("watch RUN", "orderly status"),  # there is no terminal
    ("verify RUN -w nosuch", "nosuch"),
    ("repeat RUN", "--classes"),
    ("repeat RUN --classes 0 --sample 1", "--sample"),
    ("repeat RUN --classes 99999", "99999"),
    ("repeat RUN --sample 1000000", "cannot draw 1,000,000 of"),
    ("certify RUN --classes 99999999", "99999999"),
    ("certify RUN --sample 1 --classes 0", "--sample"),
    ("certify RUN --force 5", "5"),
    ("explain 99 -d 2x2 -b 'aeiou bcdfghjklmnpqrstvwxyz'", "99"),
    ("explain 3 --run RUN --cutoff 5", "--cutoff"),
    ("explain 12345 --run RUN", "12345"),
    ("explain 'a b c d' --run RUN", "number"),
    ("explain HUGE --run RUN", "no verdict on class '777"),
    ("explain HUGE --dims 3x3", "no class '777"),
    ("paths HUGEx2", "expected columns x rows"),
    ("query RUN ''", "''"),
    ("query RUN", "no statement given; expected a statement"),
    ("query RUN nosuch", "'nosuch' is neither a run directory nor a statement"),
    ("query nosuch", "'nosuch' is neither a run directory nor a statement"),
    ("query RUN 'select 1; select 2'", "one statement"),
    ("query RUN 'drop table boards'", "DROP"),
    ("query RUN \"SELECT * FROM '/etc/passwd'\"", "/etc/passwd"),
    ("query RUN 'FROM range(20000)'", "more than 10,000 rows"),
    ("query RUN RUN 'select 1'", "twice"),
    ("query EMPTY 'select 1'", "holds no run"),
    ("compare RUN boards.txt", "line 2"),
    ("compare RUN garbage.bin", "garbage.bin"),
    ("compare RUN EMPTY", "EMPTY"),
    ("compare RUN", "expected RUN and then FILE"),
    ("compare 3x3-scowl70", "expected RUN and then FILE"),
    ("merge '' RUN", "name ''"),
    ("top RUN -n 0", "-n"),
    ("top RUN --contains a1", "'a1'"),
    ("top RUN --rollable dice.toml", "dice.toml"),
    ("top RUN --rollable new", "16"),
    ("top RUN --min-words -1", "--min-words"),
    ("top EMPTY", "holds no run"),
    ("report RUN --out nosuch/page.html", "nosuch/page.html"),
    ("report RUN --wordlist nosuch", "nosuch"),
    ("report EMPTY", "holds no run"),
    ("wordlist check garbage.bin", "NUL"),
    ("wordlist import nosuch", "nosuch"),
    ("wordlist get nosuch", "'nosuch'"),
    ("wordlist get enable2k --url ftp://here", "'ftp://here'"),
    ("wordlist get twl06", "orderly wordlist import FILE --name twl06"),
    ("wordlist", "Usage"),
]
HUGE = 5000 * "7"  # more digits than Python makes a number of
TAKES_NO_LIST = (
    "nonsense",
    "plan",
    "run",
    "runs",
    "watch",
    "lists",
    "query",
    "compare",
    "merge",
    "paths",
    "top",
    "report",
    "wordlist",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a directory with a run and files that are none of what they are taken for."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "EMPTY").mkdir()
    (folder / "list.txt").write_text(LIST)
    (folder / "garbage.bin").write_bytes(bytes(range(256)) * 4)
    (folder / "garbage.toml").write_bytes(b'dims = "\xff"\n')
    (folder / "unknown.toml").write_text('dims = "2x2"\ncutof = 5\n')
    (folder / "boards.txt").write_text("tear\nabc\n")
    (folder / "dice.toml").write_text("title = 3\n")
    make_in(folder, *shlex.split("run 2x2 --wordlist ./list.txt --cutoff 5 --workers 0 --out RUN"))
    return folder


@pytest.mark.parametrize(("line", "quoted"), REFUSED)
def test_bad_input_is_refused(orderly, folder, monkeypatch, line, quoted):
    monkeypatch.chdir(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    words = shlex.split(line.replace("HUGE", HUGE))
    listless = words[0] in TAKES_NO_LIST or "-w" in words or "--run" in words
    answer = orderly(*words, *(() if listless else ("-w", "./list.txt")), stdin=b"\xff\n")
    assert (answer.code, answer.out) == (
        3 if quoted == "holds no run" else 2,
        "",
    ) or line == "wordlist"
    assert quoted in answer.err + answer.out
    unwanted = ("Traceback", "internal error", "Value error", "unable to parse")
    assert all(words not in answer.err for words in unwanted)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
