"""Every command of the README and of the page of examples runs, on boards that are small enough for a test."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import ROOT

SMALLER = {"3x3": "2x2", "3x4": "2x2", "1400": "14", "4x4": "2x2"}
ELSEWHERE = {"watch": "tests/cluster/test_watch.py"}  # needs a terminal
HASTE = {"plan": ("--seconds", "1")}
EXAMPLES = ("show", "roll", "neighbours", "lists", "top")  # those of docs/examples that take seconds as they stand


def commands(page: Path) -> list[list[str]]:
    """Return the commands of the indented blocks of a page, without comments."""
    lines = re.findall(r"^    orderly (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


def smaller(word: str) -> str:
    for old, new in SMALLER.items():
        word = word.replace(old, new)
    return word


def test_the_commands_of_the_readme_run_in_their_order(orderly, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    (tmp_path / "mylist.txt").write_text("tea\neat\nate\neta\nrate\ntear\n")
    ran = []
    for words in commands(ROOT / "README.md"):
        if words[0] in ELSEWHERE:
            continue
        answer = orderly(*map(smaller, words), *HASTE.get(words[0], ()))
        assert answer.code == 0, (words, answer.err)
        assert answer.out, words
        ran.append(words[0])
    assert {"run", "plan", "status", "top", "query", "report", "show", "climb", "bound", "verify", "repeat"} <= set(ran)
    assert {"certify", "audit"} <= set(ran)
    assert (tmp_path / "2x2-scowl70-auto.html").exists()


def test_the_quick_examples_run_as_they_stand(orderly):
    ran = set()
    for words in commands(ROOT / "docs" / "examples" / "README.md"):
        if words[0] in EXAMPLES:
            if "RUN" in words:
                words[words.index("RUN")] = str(ROOT / "results" / "ongoing" / "4x4-enable2k")
            answer = orderly(*words)
            assert answer.code == (4 if words[0] == "top" else 0), answer.err
            assert answer.out
            ran.add(words[0])
    assert ran == set(EXAMPLES)


def test_the_python_of_the_readme_says_what_it_says():
    blocks = re.findall(r"(?:^    .*\n|^\n)+", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    (code,) = (block for block in blocks if "    from search import" in block)
    lines = [line.strip().replace("  #", "\n") for line in code.splitlines() if line.strip()]
    text = "".join(f">>> {line}\n" for line in lines).replace("\n ", "\n")
    examples = doctest.DocTestParser().get_doctest(text, {}, "README", None, 0)
    finished = doctest.DocTestRunner().run(examples)
    assert (finished.failed, finished.attempted, examples.examples[-1].want) == (0, 2, "430\n")


@pytest.mark.parametrize(("page", "slow"), [("README.md", "3x4"), ("docs/examples/README.md", "--letters 16")])
def test_what_takes_minutes_says_so(page, slow):
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = re.findall(rf"^    orderly .*{slow} .*$", text, re.MULTILINE)
    assert lines
    for line in lines:
        assert re.search(r"minute|hour", line), line
