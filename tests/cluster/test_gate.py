"""One gate to the word "Proven": of a run that a run refutes which comes with the program, no
command says it, writes a claim, or takes a verdict over.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import shutil
import time
from dataclasses import replace
from importlib import import_module
from typing import get_type_hints

import pytest

from orderly_boggle.cluster.cli import options
from orderly_boggle.cluster.cli.app import PLACES
from orderly_boggle.cluster.watch.view import Watcher
from orderly_boggle.results.proof.claim import digest_of, unscored_boards
from orderly_boggle.results.proof.prove import summary
from orderly_boggle.results.proof.summary import REFUTED, State
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.files import PUBLISHED
from orderly_boggle.results.store.run import open_run
from tests.cluster.test_forged_published import without_best
from tests.cluster.web import serving
from tests.cluster.whole_run import seal_claim
from tests.conftest import ROOT
from tests.results.helpers import write_rows

NAME, BEST = "3x3-scowl70", "berlatdes"
# what is asked of each command; the code that it ends with
READERS = {
    "status": (0, ["status", "RUN"]),
    "runs": (0, ["runs", "RUN"]),
    "top": (5, ["top", "RUN"]),
    "query": (5, ["query", "RUN", "SELECT * FROM runs"]),
    "compare": (5, ["compare", "RUN", "FILE"]),
    "explain": (5, ["explain", "0", "--run", "RUN"]),
    "report": (5, ["report", "RUN", "--out", "NEW"]),
}
CLAIMERS = {
    "run": (5, ["run", "3x3", "--workers", "0", "--out", "RUN"]),
    "run --extend": (
        5,
        ["run", "3x3", "--cutoff", "420", "--workers", "0", "--extend", "RUN", "--out", "NEW"],
    ),
    "derive": (5, ["derive", "RUN", "--cutoff", "420", "--out", "NEW"]),
    "merge": (5, ["merge", "NEW", "RUN"]),
    "verify": (5, ["verify", "RUN", "--quick", "--write"]),
}
# they search again, and make evidence of what they find: no word about the run
SEARCHERS = {
    "repeat": (0, ["repeat", "RUN", "--sample", "1"]),
    "certify": (0, ["certify", "RUN", "--classes", "0"]),
    "audit": (None, ["audit", "RUN"]),
}
SCREENS = {"watch", "serve"}  # tests of their own below
RUN_OPTIONS = (options.Run, options.RunList, options.Runs)
OF_NO_RUN = {
    *("plan", "tune", "climb", "longest", "neighbours", "roll", "show", "score", "solve"),
    *("lists", "play", "paths", "bound", "export", "wordlist"),
}


@pytest.fixture(scope="module")
def refuted(tmp_path_factory):
    """A published run without its best boards, every seal renewed and with a claim that fits."""
    folder = without_best(NAME, tmp_path_factory.mktemp("refuted") / "run", n_kept=1)
    seal(folder)
    return folder


def seal(folder):
    run = open_run(folder)
    listed = unscored_boards(run)
    digest = digest_of(run.question, listed, complete=True)
    counts = {
        "n_candidates": listed.n_candidates,
        "n_canonical": listed.n_canonical,
        "n_raw": listed.n_raw,
        "best_score": listed.best_score,
        "best_boards": listed.best_boards,
        "boards": [[item.board, item.score] for item in listed.boards],
    }
    seal_claim(folder, PUBLISHED / NAME, result_digest=digest, **counts)
    (folder / files.LOCK).unlink(missing_ok=True)


def test_every_command_is_asked():
    """A command that is added must say here what it does with a run."""
    asked = {name.split()[0] for name in (*READERS, *CLAIMERS, *SEARCHERS)}
    assert asked | SCREENS | OF_NO_RUN == set(PLACES)
    for name in OF_NO_RUN - {"wordlist"}:
        function = getattr(import_module(f"orderly_boggle.cluster.cli.{PLACES[name]}"), name)
        function = inspect.unwrap(function)
        hints = get_type_hints(function, include_extras=True)
        assert not hints.keys() & {"run", "directory", "directories", "sources", "extend"}, name
        assert not any(hint in RUN_OPTIONS for hint in hints.values()), name
        assert options.RunWords not in hints.values(), name


@pytest.mark.parametrize("name", [*READERS, *CLAIMERS, *SEARCHERS])
def test_no_command_believes_a_run_that_a_published_one_refutes(orderly, refuted, tmp_path, name):
    folder, new, file = tmp_path / "run", tmp_path / "new", tmp_path / "boards.txt"
    shutil.copytree(refuted, folder)
    file.write_text(f"{BEST}\n")
    code, asked = (READERS | CLAIMERS | SEARCHERS)[name]
    before = (folder / files.CLAIM).read_bytes()
    if name in CLAIMERS:
        (folder / files.CLAIM).unlink()
    given = {"RUN": folder, "NEW": new, "FILE": file}
    answer = orderly(*[given.get(word, word) for word in asked])
    told = f"{answer.out} {answer.err}"
    assert "Proven." not in told
    assert not re.search(r"^state +proven|\bTrue\b", told, re.MULTILINE)
    if name == "audit":
        return
    assert answer.code == code, answer
    if name in READERS:
        words = "refuted" if name in ("runs", "query") else REFUTED
        assert words in " ".join(told.split())
        assert (folder / files.CLAIM).read_bytes() == before
    if name == "report":
        assert "Proven." not in new.read_text()
        assert REFUTED in " ".join(new.read_text().split())
    if name in CLAIMERS:
        assert f"{REFUTED}: {NAME} lists " in answer.err
        assert not (folder / files.CLAIM).exists()
        assert not new.exists(), "nothing is written"


def test_formats_for_programs_say_it_too(orderly, refuted):
    status = orderly.json("status", refuted)
    assert (status["state"], status["proven"], status["statement"]) == ("refuted", False, None)
    assert status["why_not_proven"].startswith(f"{REFUTED}: {NAME} lists {BEST}, which scores 430")
    (run,) = orderly.json("runs", refuted)
    assert (run["state"], run["proven"]) == ("refuted", False)
    assert not any(
        item["proven"] for item in json.loads(orderly("top", refuted, "--format", "json").out)
    )


def test_the_screens_say_it(refuted):
    watcher = Watcher(str(refuted))
    for _ in range(600):
        if watcher.look().is_current:
            break
        time.sleep(0.05)
    view = watcher.look().view()
    assert (view.state, view.proven) == (State.REFUTED, False)
    with serving(refuted) as client:
        for _ in range(600):
            (run,) = client.ask("/api/runs").json
            if run["version"] and run["state"] != "reading":
                break
            time.sleep(0.1)
    assert run["state"] == "refuted"
    assert run["claim"].startswith("Not proven: what is shown was found so far. Why: refuted by ")
    assert run["said"] == f"The best found so far; it is {REFUTED}."


def test_an_unfinished_run_is_refuted_as_soon_as_it_can_be(orderly, refuted, tmp_path):
    """The class of the best board has a verdict; others have none."""
    old = open_run(refuted)
    rows = list(old.rows())
    lost = [row for row in rows if row.counters["n_survivors"] == 1 and not row.candidates]
    write_rows(tmp_path / "lost", lost, old.question, old.made)
    assert orderly.json("status", tmp_path / "lost")["state"] == "refuted"
    others = [row for row in rows if row not in lost]
    write_rows(tmp_path / "open", others, old.question, old.made)
    assert orderly.json("status", tmp_path / "open")["state"] == "incomplete"


def test_a_score_that_a_published_run_knows_better_is_refuted(tmp_path):
    """Nobody scores the boards of a run whose claim fits its rows."""
    old = open_run(PUBLISHED / NAME)
    rows = [
        replace(row, candidates=tuple((board, score + 7) for board, score in row.candidates))
        for row in old.rows()
    ]
    write_rows(tmp_path / "run", rows, old.question, old.made)
    seal(tmp_path / "run")
    found = summary(tmp_path / "run")
    assert (found.state, found.proven) == (State.REFUTED, False)
    assert f"{NAME} has 430 points for {BEST}, its rows say 437" in found.why_not


def test_two_runs_that_contradict_each_other_are_named_with_both_rows(orderly, refuted, tmp_path):
    answer = orderly("merge", tmp_path / "new", refuted, PUBLISHED / NAME)
    assert (answer.code, answer.out) == (3, "")


def test_a_directory_that_was_refuted_gets_no_more_rows(orderly, refuted, tmp_path):
    folder = shutil.copytree(refuted, tmp_path / "run")
    rows = list(open_run(folder).rows())
    part = tmp_path / "part"
    old = open_run(PUBLISHED / NAME)
    write_rows(part, list(old.rows())[:3], old.question, old.made)
    answer = orderly("merge", folder, part)
    assert answer.code in (3, 5)
    assert list(open_run(folder).rows()) == rows


def test_the_word_stands_in_one_place():
    """Only what prove.py made may say it: not in a template, not in another module."""
    found = set()
    for path in sources_of_the_program():
        tree = ast.parse(path.read_text())
        told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if is_text and id(node) not in told and re.search(r"\bProven\b", node.value):
                found.add(path.name)
    assert found == {"summary.py"}
    for path in ROOT.glob("*/**/*.*"):
        if path.suffix in (".j2", ".js", ".html") and "node_modules" not in path.parts:
            assert not re.search(r"\bProven\b", path.read_text()), path


def test_what_is_proven_is_made_in_one_place():
    """No other module makes a summary, or calls anything proven."""
    makers, claims, callers = set(), set(), set()
    for path in sources_of_the_program():
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func).rpartition(".")[2]
            if name in ("Summary", "Proof"):
                makers.add(path.name)
            if name == "Claim":
                claims.add(path.name)
            for keyword in node.keywords:
                said = ast.unparse(keyword.value)
                if keyword.arg in ("proven", "statement") and said not in ("False", "None"):
                    callers.add(path.name)
    assert makers == {"prove.py"}
    assert claims == {"claim.py"}
    assert callers == {"prove.py", "claim.py"}


def sources_of_the_program():
    for floor in ("boardclass", "search", "configs", "results", "cluster"):
        yield from sorted((ROOT / floor).rglob("*.py"))
