"""What the README and the pages say: commands and options exist, examples and pictures show what
comes out.
"""

from __future__ import annotations

import ast
import doctest
import re
import shlex
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from importlib import import_module
from pathlib import Path

import pytest
import typer.main

from orderly_boggle.cluster.cli.app import app
from tests.bench.size import PRODUCT
from tests.cluster.test_cli_sql import GREEDY, MORE
from tests.cluster.test_hostile import NAMED, NAMES
from tests.conftest import ROOT, make_in
from tests.results.test_file_systems import REFUSED
from tests.results.test_sql import OUTSIDE

IMAGES = ROOT / "docs" / "images"
README = ROOT / "README.md"
EXAMPLES = ROOT / "docs" / "examples" / "README.md"
PAGES = sorted((README, *(ROOT / "docs").rglob("*.md"), *(ROOT / "results").rglob("*.md")))
SOURCES = [path for package in PRODUCT for path in sorted((ROOT / package).rglob("*.py"))]
WITH_EXAMPLES = [path for path in (*SOURCES, *PAGES) if ">>> " in path.read_text("utf-8")]
GENERAL = {"--help", "-h", "--debug", "--version", "--install-completion", "--show-completion"}
# those of docs/examples that take seconds as they stand
QUICK = ("show", "roll", "neighbours", "lists", "top")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def module_of(path: Path) -> str:
    """Return the name that a file of the program is imported by."""
    parts = [part for part in path.relative_to(ROOT).with_suffix("").parts if part != "__init__"]
    return ".".join(parts if parts[0] == "orderly_boggle" else ("orderly_boggle", *parts))


def used(page):
    """Yield the words of each use of ``orderly`` in code: in blocks to the end of the line, in text
    to the backtick.
    """
    text = page.read_text(encoding="utf-8")
    inline = re.findall(r"`orderly ([^`]+)`", text)
    blocks = re.findall(r"^(?:    |\$ |.*\| )(?:\.venv/bin/)?orderly (.+)$", text, re.MULTILINE)
    for line in (*inline, *blocks):
        line = re.sub(r"\"[^\"]*\"|'[^']*'", "TEXT", line.partition("  #")[0])
        yield re.split(r" [|<>] ", line)[0].split()


def test_commands_and_options_exist():
    found = [(page, words) for page in PAGES for words in used(page)]
    assert len(found) > 50
    for page, words in found:
        command, rest = typer.main.get_command(app), words
        while (
            rest
            and hasattr(command, "get_command")
            and (inner := command.get_command(None, rest[0]))
        ):
            command, rest = inner, rest[1:]
        if hasattr(command, "get_command") and rest:
            assert not re.fullmatch(r"[a-z]+", rest[0]), (page, words)
        options = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
        known = {name for parameter in command.params for name in getattr(parameter, "opts", ())}
        assert options <= known | GENERAL, (page, words)


def commands(page: Path) -> list[list[str]]:
    """Return the commands of the indented blocks of a page, without comments."""
    lines = re.findall(r"^    orderly (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


def test_the_commands_of_the_readme_run_in_their_order(orderly, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    (tmp_path / "mylist.txt").write_text("tea\neat\nate\neta\nrate\ntear\n")
    ran = []
    # it needs a terminal: test_cli_status.py
    at_hand = [words for words in commands(README) if words[0] != "watch"]
    for words in at_hand:
        smaller = [re.sub("3x3|3x4|4x4", "2x2", word).replace("1100", "14") for word in words]
        answer = orderly(*smaller, *(("--seconds", "1") if words[0] == "plan" else ()))
        assert (answer.code, answer.out != "") == (0, True), (words, answer.err)
        ran.append(words[0])
    asked = "run plan status top query report show climb bound verify repeat certify audit"
    assert set(asked.split()) <= set(ran)
    assert (tmp_path / "2x2-scowl70-auto.html").exists()


def test_the_quick_examples_run_as_they_stand(orderly):
    ran = set()
    for words in commands(EXAMPLES):
        if words[0] in QUICK:
            if "RUN" in words:
                words[words.index("RUN")] = str(ROOT / "results" / "published" / "4x4-enable2k")
            answer = orderly(*words)
            assert (answer.code, answer.out != "") == (0, True), answer.err
            ran.add(words[0])
    assert ran == set(QUICK)


def test_the_python_of_the_readme_says_what_it_says():
    blocks = re.findall(r"(?:^    .*\n|^\n)+", README.read_text(encoding="utf-8"), re.MULTILINE)
    (code,) = (block for block in blocks if "    from orderly_boggle import" in block)
    lines = [line.strip().replace("  #", "\n") for line in code.splitlines() if line.strip()]
    text = "".join(f">>> {line}\n" for line in lines).replace("\n ", "\n")
    examples = doctest.DocTestParser().get_doctest(text, {}, "README", None, 0)
    finished = doctest.DocTestRunner().run(examples)
    assert (finished.failed, finished.attempted, examples.examples[-1].want) == (0, 2, "430\n")


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=name_of)
def test_examples_of_modules_and_pages(path, with_a_run, monkeypatch):
    monkeypatch.chdir(with_a_run)
    if path.suffix == ".py":
        found = doctest.testmod(import_module(module_of(path)))
    else:
        found = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert found.attempted > 0
    assert found.failed == 0


# kernels whose arrays would take more lines than they have, and types
WITHOUT_EXAMPLES = {
    "boardclass/arrays.py",
    "search/scoring/moves_simd.py",
    "search/scoring/scorer_simd.py",
    "search/terms/shapes.py",
    "search/trees/bound.py",
}


def test_each_module_of_the_lower_floors_has_an_example():
    lower = [path for path in SOURCES if not path.is_relative_to(ROOT / "cluster")]
    modules = {name_of(path) for path in lower if path.name != "__init__.py"}
    assert modules - set(map(name_of, WITH_EXAMPLES)) == WITHOUT_EXAMPLES


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_who_says_so_stands_beside_each_claim_of_trust():
    text = (ROOT / "docs" / "trust.md").read_text()
    files = {path.name: name_of(path) for path in (ROOT / "tests").rglob("*.*")}
    lemmas = text.partition("## The lemmas")[2].partition("\n## ")[0]
    parts = re.split(r"^(?:\*\*\d\. |\*More cells)", lemmas, flags=re.MULTILINE)[1:]
    assert len(parts) == 8
    for part in parts:
        tests = re.findall(r"`([\w/]+\.py)::(test_\w+)`", part.partition("*Tests:*")[2])
        assert tests, part
        for file, test in tests:
            assert f"def {test}(" in (ROOT / file).read_text(), (file, test)
    for named in re.findall(r"`([\w/]+\.(?:py|toml))`", text):
        place = files.get(Path(named).name, named)
        assert place.endswith(named)
        assert (ROOT / place).exists(), named
    stages = tomllib.loads((ROOT / "tests/soundness/nightly.toml").read_text())["stage"]
    claims = text.partition("## Who checked what")[2].partition("**The checker**")[0]
    for row in re.findall(r"^\| (?!what \|)\w.*$", claims, re.MULTILINE):
        asked = re.search(r"`(?:tests/|python -m tests\.|orderly (?:verify|audit|repeat))", row)
        in_a_night = re.search(r"nightly stage `([^`]+)`", row)
        assert asked or in_a_night, row
        assert not in_a_night or in_a_night[1] in [stage["name"] for stage in stages]


def test_what_the_table_of_messages_quotes_is_what_the_program_says():
    said = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                said.append(node.value)
    every = "\n".join(said)
    page = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    table = page.partition("| what you see |")[2].partition("\n\n")[0]
    quoted = re.findall(r'"([^"]+)"', " ".join(row.split("|")[1] for row in table.split("\n")[2:]))
    assert len(quoted) > 15
    parts = re.split(r" ?[.;]{3,} ?|\n", "\n".join(quoted))
    assert [part for part in parts if part not in every] == []


def test_attacks_counts_what_the_tests_try():
    text = (ROOT / "docs" / "attacks.md").read_text()
    tried = {
        "nonsense written by hand": f"{len(NAMED)}, 18 each",
        f"a link, pipe or socket in each of {len(NAMES)}": f"{3 * len(NAMES)}, 18 commands each",
        "SQL that writes": f"{len(OUTSIDE)} statements",
        "SQL that needs": f"{len(GREEDY) + len(MORE)}",
        "locks that are refused": f"{len(REFUSED)} error numbers, 3 kinds",
    }
    for what, how_many in tried.items():
        (row,) = re.findall(rf"^\| {what}.*$", text, re.MULTILINE)
        told = row.split(" | ")[1]
        assert told == how_many


@pytest.mark.nightly
def test_the_program_draws_the_pictures(tmp_path, monkeypatch):
    pytest.importorskip(
        "altair", reason="the example needs the extra: pip install 'orderly-boggle[test]'"
    )
    pytest.importorskip(
        "vl_convert", reason="the example needs the extra: pip install 'orderly-boggle[report]'"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(IMAGES)
    monkeypatch.setenv("ORDERLY_WORDLISTS", "")
    regenerate = import_module("regenerate")
    for command in regenerate.COMMANDS:
        make_in(tmp_path, *command)
    subprocess.run([sys.executable, regenerate.EXAMPLE], check=True)
    drawn = {path.name: path.read_text() for path in tmp_path.glob("*.svg")}
    chart = drawn.pop("rolls.svg")  # Altair draws it: the version decides the details
    assert drawn == {
        path.name: path.read_text() for path in IMAGES.glob("*.svg") if path.name != "rolls.svg"
    }
    texts = [item.text for item in ET.fromstring(chart).iter("{http://www.w3.org/2000/svg}text")]
    kept = [
        item.text
        for item in ET.parse(IMAGES / "rolls.svg").iter("{http://www.w3.org/2000/svg}text")
    ]
    assert any(text and text.startswith("111,460 words: ") for text in texts)
    assert texts[-1] == kept[-1]
