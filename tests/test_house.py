"""The walls of the house: which folder may use which, what stays light, how long a file may be."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import fields
from importlib import import_module

import pytest

from orderly_boggle.cluster.cli.app import PLACES
from orderly_boggle.configs.model import RunConfig
from orderly_boggle.search.question import Question
from tests.bench.house import question_types
from tests.bench.imports import FLOORS, drawing, imported
from tests.bench.prose import Text, text_of
from tests.conftest import ROOT
from tests.soundness.mutate import NO_HASH, load_mutants

ROOMS = {  # the lowest first: each uses only those before it, and itself
    "search": (
        "bits one_thread keys params question costs node tally scoring solvers class_bounds models "
        "explain terms local trees node_search breaker certificate"
    ),
    "results": "errors storage log_events log store proof upkeep reading",
    "cluster": "streams scheduling planning workers driver answers boards watch web cli",
}
LONGEST, LONG = 600, {"results/proof/audit.py"}  # the checker stays one file
LIGHT = "errors geometry canonical board partition wordlist scores"
SOURCES = [path for floor in FLOORS for path in sorted((ROOT / floor).rglob("*.py"))]


@pytest.mark.parametrize("floor", ROOMS)
def test_every_room_uses_only_those_below_it(floor):
    rooms = ROOMS[floor].split()
    there = {
        path.stem
        for path in (ROOT / floor).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert there - {"__init__"} == set(rooms)
    for path in (ROOT / floor).rglob("*.py"):
        room = path.relative_to(ROOT / floor).with_suffix("").parts[0]
        if room == "__init__":
            continue
        used = {name.split(".")[1] for name in imported(path) if name.startswith(f"{floor}.")}
        above = set(rooms[rooms.index(room) + 1 :]) & used
        assert not above, f"{path.relative_to(ROOT)} uses {above}"


def test_no_floor_uses_one_above_it():
    for path in SOURCES:
        floor = path.relative_to(ROOT).parts[0]
        used = {name.split(".")[0] for name in imported(path)} & set(FLOORS)
        above = {name for name in used if FLOORS.index(name) > FLOORS.index(floor)}
        assert not above, f"{path.relative_to(ROOT)} uses {above}"


def test_the_drawing_of_the_floors_is_the_one_of_their_imports():
    """In it ``results`` does without ``configs``: what was asked stands in the run, which no preset
    of today explains.
    """
    drawn = drawing()
    assert drawn in (ROOT / "CONTRIBUTING.md").read_text()
    marks = {line.split()[0]: line.split()[1:] for line in drawn.splitlines()}
    assert marks["results"][marks["uses"].index("configs")] == "."


def test_nothing_of_the_proof_uses_boards_that_people_play_with():
    """What is no command, page or view does without the folder."""
    doors = ("cluster/boards", "cluster/watch", "cluster/web", "cluster/cli")
    using = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        if any(name.split(".")[:2] == ["cluster", "boards"] for name in imported(path))
    }
    assert any(name.startswith("cluster/cli") for name in using)
    assert {name for name in using if not name.startswith(doors)} == set()


def test_one_type_holds_a_question():
    """A config gets its keys from it; only the reader of older runs has their names, too."""
    held = ["Fingerprint (results/store/format_1.py)", "Question (search/question.py)"]
    assert sorted(question_types()) == held
    keys = [each.metadata["written"].key for each in fields(Question) if each.metadata]
    assert list(RunConfig.model_fields)[: len(keys)] == keys


def test_what_is_private_of_ray_has_one_place():
    """It does without on other versions of Ray."""
    using = {path.name for path in SOURCES if "ray._private" in path.read_text()}
    assert using == {"ray_inside.py"}


@pytest.mark.parametrize("folder", [*FLOORS, "tests"])
def test_no_line_is_wider_than_a_reader_likes(folder):
    """Python, JavaScript and templates; ruff knows only Python."""
    assert text_of(folder).wide_lines == 0


def test_no_conditional_stands_in_another():
    """Everything else that tests/bench/size.py counts is printed there and fails nothing."""
    text = sum(map(text_of, (*FLOORS, "tests")), Text())
    assert text.nested_conditionals == 0


def test_a_command_does_no_work_of_its_own():
    """What it asks for can be had without a terminal: its body has at most 25 lines of code."""
    long = []
    for command, module in PLACES.items():
        text = (ROOT / "cluster/cli" / f"{module}.py").read_text()
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and node.name == command:
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = map(str.strip, text.splitlines()[body[0].lineno - 1 : node.end_lineno])
                n_lines = sum(bool(line) and not line.startswith("#") for line in lines)
                long += [(command, n_lines)] if n_lines > 25 else []
    assert {command for command, _ in long} <= {"verify"}, long


def test_files_are_small():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: n for name, n in lengths.items() if n > LONGEST and name not in LONG} == {}


def test_only_one_place_compares_with_the_cutoff():
    """But for the checker, which shares no code, and an estimate that decides about no board."""
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.GtE | ast.Lt):
                values = [ast.unparse(each) for each in (node.left, *node.comparators)]
                named = any(re.search(r"\bcutoff$", value) for value in values)
                if named and not any(value.isdigit() for value in values):
                    found.add(str(path.relative_to(ROOT)))
    assert found == {"boardclass/scores.py", "results/proof/audit.py", "cluster/planning/plan.py"}


def test_every_seeded_bug_fits_the_code():
    mutants = load_mutants()
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert 60 <= len(mutants) <= 80
    for mutant in (*mutants, NO_HASH):
        assert mutant.applied(ROOT) != (ROOT / mutant.file).read_text()
        assert all((ROOT / test).is_file() for test in mutant.tests)


@pytest.mark.parametrize("folder", ["bench", "soundness", "field"])
def test_what_runs_by_hand_or_at_night_fits_the_code(folder):
    """Its imports are there: mypy does not check that in tests."""
    scripts = [path for path in (ROOT / "tests" / folder).glob("*.py") if path.stem != "__main__"]
    assert len(scripts) > 6
    for path in scripts:
        import_module(f"tests.{folder}.{path.stem}")


def test_only_the_kernel_modules_load_numba():
    modules = ", ".join(f"orderly_boggle.boardclass.{name}" for name in LIGHT.split())
    code = f"import sys, {modules}, orderly_boggle.configs.model; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_tests_of_a_file_run_in_one_process(request):
    """pytest-xdist ignores groups that it does not read in time, or not at all, and says
    nothing.
    """
    assert [mark.args for mark in request.node.iter_markers("xdist_group")] == [("test_house",)]
    if request.config.getoption("loadgroup", False):
        assert request.node.nodeid.endswith("@test_house")
