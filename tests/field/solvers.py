"""General solvers on the question of this project, side by side with orderly: docs/solvers.md.

    python -m tests.field.solvers [--python PYTHON] [--only TEXT ...] [--results FILE]

PYTHON has the packages of PACKAGES; without it an environment is made for them.  Every answer is
added to FILE as soon as it is there, answers that it has are not asked for again, and the tables of
the page are made from it.  Needs ENABLE2K; one thread, 6 GiB.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np

from orderly_boggle.boardclass import load_wordlist
from orderly_boggle.boardclass.arrays import Int64s
from orderly_boggle.boardclass.partition import letter_mask
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.configs.model import load_config
from orderly_boggle.search import Scorer
from orderly_boggle.search.breaker import Breaker, Spec, Unit
from orderly_boggle.search.class_bounds import Terms, Walk, n_nodes, orderly_bounds, walk_class
from orderly_boggle.search.models import MAX_NODES, cfn_lines, linear_program, lp_lines, mps_lines
from orderly_boggle.search.node import class_node
from orderly_boggle.search.tally import Tally
from tests.field import pages

PACKAGES = (
    "pytoulbar2==1.4.0.1",
    "highspy==1.16.0",
    "ortools==9.15.6755",
    "pyscipopt==6.3.0",
    "clingo==5.8.3",
    "python-sat==1.9.dev24",
    "z3-solver==5.4.1",
    "didppy==0.11.1",
)
ASK = Path(__file__).with_name("ask.py")
STANDARD = parse_scores("standard")
_MANY = 1 << 26  # terms: more than any class here has
_NO_BUDGET = 1 << 62
_MAX_TABLE = 1 << 23  # boards of a class whose diagram is made


class Class(NamedTuple):
    """A class of boards."""

    letters: str
    dims: str
    words: str
    best: int  # or a little less
    told: str  # what it is, for the table


def _whole(n: int, letters: str = ascii_lowercase) -> str:
    return " ".join([letters] * n)


CLASSES = {
    "A": Class(_whole(4), "2x2", "scowl70", 14, "whole 2x2"),
    "W": Class(_whole(6), "2x3", "scowl70", 104, "whole 2x3"),
    "S": Class(_whole(4, "adeinorst"), "2x2", "enable2k", 13, "2x2 of nine letters, all symmetric"),
    "C2": Class("ls hp nr ae ei ao ct rs dg", "3x3", "enable2k", 352, "two letters a cell"),
    "C3": Class(
        "lrs hpt nrs aei aei aeo cmt nrs bdg", "3x3", "enable2k", 476, "three letters a cell"
    ),
    "C4": Class(
        "lnrs hmpt lnrs aeio aeio aeio chpt lnrs bdgw",
        "3x3",
        "enable2k",
        545,
        "four letters a cell",
    ),
    "P": Class(
        "lnrsy chkmpt lnrsy aeiou aeiou aeiou chkmpt lnrsy bdfgjvwxz",
        "3x3",
        "enable2k",
        545,
        "a class of the paper's buckets",
    ),
    "F": Class(
        " ".join([ascii_lowercase] * 4 + ["j"] + [ascii_lowercase] * 4),
        "3x3",
        "scowl35",
        97,
        "class j of the 3x3 preset, scowl35",
    ),
}

# class, solver, form, limit in CPU seconds, what the solver is given
ASKED = (
    ("C2", "toulbar2", "cfn", 10, ""),
    ("C2", "toulbar2", "cfn", 10, "above=352"),
    ("C2", "toulbar2_root", "cfn", 10, ""),
    ("C2", "didp", "cfn", 10, ""),
    ("C2", "clingo", "cfn", 10, ""),
    ("C2", "highs", "lp", 10, ""),
    ("C2", "highs", "lp", 10, "solve_relaxation=true"),
    ("C2", "highs", "relaxed.lp", 10, ""),
    ("C2", "highs", "cfn", 10, "form=scopes"),
    ("C2", "scip", "lp", 10, ""),
    ("C2", "cp_sat_mps", "mps", 10, ""),
    ("C2", "cp_sat", "cfn", 10, "form=equivalence"),
    ("C2", "rc2", "cfn", 10, ""),
    ("C2", "z3", "cfn", 10, ""),
    ("A", "toulbar2", "cfn", 10, ""),
    ("A", "toulbar2", "cfn", 10, "order=1,2,3"),
    ("A", "toulbar2_root", "cfn", 10, ""),
    ("A", "didp", "cfn", 10, ""),
    ("A", "clingo", "cfn", 10, ""),
    ("A", "highs", "lp", 10, ""),
    ("A", "highs", "relaxed.lp", 10, ""),
    ("A", "highs", "cfn", 10, "form=scopes"),
    ("A", "scip", "lp", 10, ""),
    ("A", "cp_sat", "cfn", 10, "form=equivalence"),
    ("C3", "toulbar2", "cfn", 10, ""),
    ("C3", "toulbar2_root", "cfn", 10, ""),
    ("C3", "toulbar2", "cfn", 10, "above=476"),
    ("C3", "didp", "cfn", 10, ""),
    ("C3", "clingo", "cfn", 10, ""),
    ("C3", "highs", "lp", 10, ""),
    ("C3", "highs", "lp", 10, "solve_relaxation=true"),
    ("C3", "highs", "relaxed.lp", 10, ""),
    ("C3", "scip", "lp", 10, ""),
    ("C3", "cp_sat_mps", "mps", 10, ""),
    ("C3", "cp_sat", "cfn", 10, "form=equivalence"),
    ("C4", "toulbar2", "cfn", 10, ""),
    ("C4", "toulbar2_root", "cfn", 10, ""),
    ("C4", "didp", "cfn", 10, ""),
    ("C4", "clingo", "cfn", 10, ""),
    ("C4", "scip", "lp", 10, ""),
    ("C4", "highs", "relaxed.lp", 10, ""),
    ("P", "toulbar2", "cfn", 90, ""),
    ("P", "toulbar2", "cfn", 90, "above=545"),
    ("P", "toulbar2_root", "cfn", 10, ""),
    ("P", "didp", "cfn", 10, ""),
    ("P", "clingo", "cfn", 10, ""),
    ("P", "scip", "lp", 10, ""),
    ("S", "toulbar2", "cfn", 10, ""),
    ("S", "toulbar2", "cfn", 10, "order=1,2,3"),
    ("S", "highs", "cfn", 10, "form=scopes"),
    ("S", "highs", "lp", 10, "mip_detect_symmetry=true"),
    ("S", "highs", "lp", 10, "mip_detect_symmetry=false"),
    ("S", "scip", "lp", 10, "usesymmetry=7"),
    ("S", "scip", "lp", 10, "usesymmetry=0"),
    ("S", "cp_sat", "cfn", 10, "form=equivalence symmetry_level=2"),
    ("S", "cp_sat", "cfn", 10, "form=equivalence symmetry_level=0"),
    ("W", "toulbar2_root", "cfn", 20, ""),
    ("W", "toulbar2", "cfn", 30, ""),
    ("W", "clingo", "cfn", 10, ""),
    ("F", "toulbar2_root", "cfn", 20, ""),
    ("F", "toulbar2", "cfn", 30, ""),
)


class Question:
    """A class with its terms; its models are files of a folder."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.asked, self.folder = name, CLASSES[name], folder
        self.letters = self.asked.letters.split()
        words = load_wordlist(self.asked.words).words
        self.scorer = Scorer(self.asked.dims, words, STANDARD)
        self.walk: Walk = walk_class(self.letters, self.scorer, max_terms=_MANY)

    @property
    def terms(self) -> Terms:
        return self.walk.terms

    def model(self, form: str) -> Path:
        """Return the file of a form, written when it is first asked for."""
        path = self.folder / f"{self.name}.{form}"
        if not path.exists():
            with path.open("w") as file:
                file.writelines(f"{line}\n" for line in self._lines(form))
        return path

    def _lines(self, form: str) -> Iterator[str]:
        if form == "cfn":
            return cfn_lines(self.terms, self.letters, self.name, max_terms=_MANY)
        if form == "relaxed.lp":
            return lp_lines(linear_program(self.terms), self.name)
        write = {"lp": lp_lines, "mps": mps_lines}[form]
        return write(linear_program(self.terms, self.letters), self.name)

    def figures(self) -> dict[str, Any]:
        """Return the bounds of orderly, sizes of the models, and how long orderly takes."""
        nodes = n_nodes(self.terms)
        found: dict[str, Any] = {
            "boards": int(np.prod([len(group) for group in self.letters])),
            "sum": self.walk.sum_bound,
            "max": self.walk.max_bound,
            "orderly": int(orderly_bounds(self.terms)[0]),
            "terms": len(self.terms.points),
            "nodes": nodes,
            "cfn_bytes": self.model("cfn").stat().st_size,
        }
        if nodes <= MAX_NODES:
            found["lp_bytes"] = self.model("lp").stat().st_size
        if found["boards"] <= _MAX_TABLE:
            found |= diagram(self.terms, self.letters)
        return found | self._search()

    def _search(self) -> dict[str, Any]:
        """Return the best score of the class as orderly finds it, and CPU seconds, kernels warm."""
        search = self._search_preset if self.name == "F" else self._search_class
        boards, _ = search(self.asked.best)
        best = max(score for _, score in boards)
        nothing, used_s = search(best + 1)
        assert not nothing, f"class {self.name}: the best of it is better than {best}"
        return {"best": best, "search_s": used_s}

    def _search_class(self, cutoff: int) -> tuple[set[tuple[str, int]], float]:
        breaker = self._breaker(cutoff, ascii_lowercase)
        masks = [letter_mask(group) for group in self.letters]
        rules = breaker.question.rules
        used_s = 0.0
        for _ in range(2):
            # the second is warm
            began, tally = time.process_time(), Tally(cutoff)
            root = class_node(masks, breaker.geometry, rules)
            open_parts = breaker._search_down(root, None, tally, _NO_BUDGET)
            assert not open_parts
            used_s = time.process_time() - began
        return tally.candidates, used_s

    def _search_preset(self, cutoff: int) -> tuple[set[tuple[str, int]], float]:
        breaker = self._breaker(cutoff, load_config("3x3").buckets)
        masks = [letter_mask(group) for group in self.letters]
        partition = breaker.partition
        number = next(
            k for k in range(partition.n_classes) if partition.class_masks(k).tolist() == masks
        )
        used_s = 0.0
        for _ in range(2):
            began = time.process_time()
            result = breaker.break_unit(Unit(number))
            assert not result.children
            used_s = time.process_time() - began
        return set(result.candidates), used_s

    def _breaker(self, cutoff: int, buckets: str) -> Breaker:
        words = load_wordlist(self.asked.words)
        return Breaker(Spec.of(self.asked.dims, words, STANDARD, cutoff, buckets))


def diagram(terms: Terms, letters: Sequence[str]) -> dict[str, int]:
    """Return the size of the exact decision diagram of the multi-score, and its largest value.

    A layer for each cell, in the order of the terms; an edge for each letter carries points, and
    nodes that differ only by a constant are one.  Made from a table of all boards, into which the
    points of every term are added: nothing of the search is used.
    """
    values = table_of(terms, letters)
    best = int(values.max())
    n_nodes = widest = 0
    nodes: Int64s = np.zeros(values.size, np.int64)
    points = values.reshape(-1)
    for cell in reversed(terms.cells):
        size = len(letters[cell])
        below, worth = nodes.reshape(-1, size), points.reshape(-1, size)
        most = worth.max(axis=1)
        rows = np.concatenate([below, worth - most[:, None]], axis=1)
        distinct, nodes = np.unique(rows, axis=0, return_inverse=True)
        nodes, points = nodes.reshape(-1), most
        n_nodes += len(distinct)
        widest = max(widest, len(distinct))
    return {"diagram": n_nodes, "widest": widest, "multi": best}


def table_of(terms: Terms, letters: Sequence[str]) -> Int64s:
    """Return the multi-score of every board, an axis for each cell in the order of the terms."""
    groups = [sorted(set(letters[cell])) for cell in terms.cells]
    values = np.zeros([len(group) for group in groups], np.int64)
    place = np.zeros((len(groups), 27), np.int64)
    for axis, group in enumerate(groups):
        for at, letter in enumerate(group):
            place[axis, ord(letter) - 96] = at
    for key, points in zip(terms.keys, terms.points.tolist(), strict=True):
        boards: list[int | slice] = []
        for axis, code in enumerate(key):
            if code:
                boards.append(int(place[axis, code]))
            else:
                boards.append(slice(None))
        values[tuple(boards)] += points
    return values


def ask(python: Path, question: Question, solver: str, form: str, limit_s: int, given: str) -> Any:
    """Return the answer of a solver in a process of its own."""
    words = given.split()
    listed = question.folder / "boards"
    if "above" in given:
        words.append(f"out={listed}")
    # some look at their limit seldom, and the wall may be much slower than the processor
    most_s = 3 * limit_s
    call = shlex.join([*map(str, (python, ASK, solver, question.model(form), limit_s)), *words])
    command = ["sh", "-c", f"ulimit -t {most_s}; exec {call}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    if done.returncode < 0:
        return {"status": f"(nothing in {most_s})"}
    if done.returncode or not lines:
        return {"status": f"exit code {done.returncode}: {done.stderr[-100:]}"}
    answer = json.loads(lines[-1])
    if "above" in given:
        scores = question.scorer.scores(listed.read_text().split())
        answer["best_of_boards"] = int(scores.max()) if len(scores) else None
    return answer


def asked(results: Path) -> dict[str, dict[str, Any]]:
    """Return what a file of results has, by what was asked."""
    if not results.exists():
        return {}
    records = map(json.loads, results.read_text().splitlines())
    return {record["asked"]: record for record in records}


def run(python: Path, results: Path, only: Sequence[str]) -> None:
    """Ask everything that is not answered yet, class by class."""
    for name in CLASSES:
        own = [item for item in ASKED if item[0] == name]
        todo = [f"{name} figures", *(" ".join(map(str, item)).strip() for item in own)]
        known = asked(results)
        todo = [text for text in todo if text not in known and text.startswith(tuple(only))]
        if not todo:
            continue
        with tempfile.TemporaryDirectory() as folder:
            question = Question(name, Path(folder))
            for text in todo:
                pages.say(text)
                if text == f"{name} figures":
                    answer = question.figures()
                else:
                    _, solver, form, limit, given = own[[*map(_text, own)].index(text)]
                    answer = ask(python, question, solver, form, limit, given)
                pages.say(f"  {answer}")
                with results.open("a") as file:
                    file.write(
                        json.dumps({"asked": text, "commit": pages.commit(), **answer}) + "\n"
                    )


def _text(item: Sequence[object]) -> str:
    return " ".join(map(str, item)).strip()


def main() -> None:
    """Ask the solvers, and write the tables of the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", type=Path, help="of an environment with the solvers")
    parser.add_argument("--only", nargs="*", default=[""], help="what begins with one of these")
    parser.add_argument("--results", type=Path, default=Path("build/solvers.jsonl"))
    given = parser.parse_args()
    given.results.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        python = given.python or pages.environment(Path(folder, "env"), PACKAGES)
        run(python, given.results, given.only)
    from tests.field.solver_tables import write

    write(asked(given.results))


if __name__ == "__main__":
    main()
