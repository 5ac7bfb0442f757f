"""The command line itself: quick help, lazy imports, usage errors, exit codes, one message per error."""

from __future__ import annotations

import subprocess
import sys

import pytest

from boardclass.errors import IncompleteError, MismatchError, StoreError
from cluster.cli import app as cli
from cluster.cli.app import SECTIONS

PROVING = ("run", "status", "top", "show", "score", "bound", "solve", "verify")
WORKBENCH = ("climb", "longest", "neighbours", "lists", "query", "compare", "roll", "report", "explain", "wordlist")
COMMANDS = PROVING + WORKBENCH
HEAVY = ("numba", "numpy", "pyarrow", "duckdb", "ray", "pydantic", "rich")


def test_help_lists_every_command_and_exit_code(orderly):
    answer = orderly("--help")
    assert answer.code == 0
    assert all(f"\n  {command} " in answer.out for command in COMMANDS)
    assert all(f"{code} " in answer.out for code in (0, 2, 3, 4, 5))


def test_help_shows_the_commands_in_sections_with_whole_sentences(orderly):
    answer = orderly("--help")
    titles = [line[:-1] for line in answer.out.splitlines() if line.endswith(":") and line == line.lstrip()]
    assert [title for title in titles if title in SECTIONS] == list(SECTIONS)
    assert "..." not in answer.out.partition("Options:")[2]
    assert "    orderly run 3x3  " in answer.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(orderly, command):
    answer = orderly(command, "--help")
    assert answer.code == 0
    assert answer.out.startswith(f"Usage: orderly {command}")


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        (["--help"], HEAVY),
        (["status", "RUN"], ("numba", "pandas", "duckdb", "ray")),  # most of the time would be theirs
        (["top", "RUN"], ("numba", "pandas", "duckdb", "ray")),
        (["show", "berlatdes"], ("numba",)),
    ],
)
def test_a_command_imports_nothing_heavy_that_it_does_not_need(project_root, proven, arguments, unneeded):
    arguments = [word.replace("RUN", str(proven)) for word in arguments]
    code = (
        f"import sys; sys.argv = {['orderly', *arguments]}\n"
        "from cluster.cli.start import main\n"
        "try: main()\n"
        f"finally: print([name for name in {unneeded} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=project_root, check=False)
    assert (done.returncode, done.stderr) == (0, "[]\n")


@pytest.mark.parametrize(
    ("arguments", "quoted"),
    [
        (["show", "cat", "--format", "xml"], "'xml'"),
        (["climb", "--method", "luck"], "'luck'"),
        (["run", "2x2", "--workers", "many"], "'many'"),
        (["run", "2x2", "--workers", "1.5"], "'1.5'"),
        (["run", "2x2", "--workers", "-1"], "'-1', expected 0 or more"),
        (["climb", "--pool", "9999999"], "'9999999', expected 1,000,000 or less"),
        (["plan", "2x2", "--seconds", "soon"], "'soon'"),
    ],
)
def test_a_bad_value_is_told_in_plain_words(orderly, arguments, quoted):
    answer = orderly(*arguments)
    assert quoted in answer.err
    assert all(words not in answer.err for words in ("Value error", "Input should", "unable to parse"))


def test_the_help_of_word_lists_has_whole_sentences(orderly):
    answer = orderly("wordlist", "--help")
    assert "..." not in answer.out.partition("Commands:")[2]
    assert "what import would make of it." in " ".join(answer.out.split())


@pytest.mark.parametrize(("error", "code"), [(StoreError, 3), (IncompleteError, 4), (MismatchError, 5)])
def test_each_error_has_its_exit_code(orderly, monkeypatch, error, code):
    def fail(*_, **__):
        raise error("part 7 is damaged")

    monkeypatch.setattr("cluster.cli.options.named_run", fail)
    assert orderly("status", "x") == (code, "", "orderly: part 7 is damaged\n")


def test_a_bug_is_one_message_and_debug_shows_where(orderly, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("cluster.answers.boards.words_and_table", fail)
    answer = orderly("score")
    assert answer.code == cli.EXIT_BUG
    assert "ZeroDivisionError: oh" in answer.err
    assert "Traceback" not in answer.err
    monkeypatch.setattr(sys, "argv", ["orderly", "score", "--debug"])
    with pytest.raises(ZeroDivisionError):
        cli.main()


def test_version(orderly):
    answer = orderly("--version")
    assert answer.code == 0
    assert answer.out.startswith("orderly ")
