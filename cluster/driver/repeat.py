"""Finds stored verdicts again in another way: each part anew, as a symmetric image and in another
cell order.

    chosen      units by class, or drawn at random: those whose SHA-256 with the seed is smallest
    spot_check  some easy verdicts, and a climb: what `orderly verify` does beside reading
    repeat      Breaker.replicate on each, compared as the replicas of a run are
                (SearchNodes.difference)

A repetition trusts the word list and the kernels.  It trusts nothing that the run stored.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from boardclass.cutoff import reaches
from boardclass.errors import IncompleteError, InputError, MismatchError
from boardclass.partition import parse_partition
from boardclass.printable import counted
from boardclass.processes import pool
from results.errors import RowError
from results.proof.claim import BoardList
from results.proof.coverage import uncovered
from results.proof.nodes import SearchNodes, paths_of
from results.store.rows import CANDIDATES, ELIMINATED, Key, Row
from results.store.run import Run
from search.breaker import Breaker, Spec, Unit, UnitResult
from search.local.methods import local_search
from search.params import Params
from search.scoring.scorer import Scorer

SPOT_VERDICTS, SPOT_SEARCH_S, SPOT_CLIMB_S = 5, 10.0, 3.0


@dataclass(frozen=True)
class RepeatResult:
    """The result for one verdict."""

    class_id: int  # of the verdict
    path: str
    status: str
    difference: str  # in what the verdict and its repetition differ; empty when they agree
    gave_up: str  # why it could not be found again; empty when it was found
    seconds: float

    @property
    def name(self) -> str:
        """What the verdict is called."""
        return f"class {self.class_id} {self.path}".rstrip()


def rows_of_classes(run: Run, class_ids: Sequence[int]) -> list[Row]:
    """Return the verdicts on classes and all their parts, in order of class and path.

    Raises IncompleteError when one of the classes is not settled down to its leaves.
    """
    wanted = set(class_ids)
    done = set(run.index.done_ids().tolist()) - {class_id for class_id, _ in run.index.pending()}
    if missing := sorted(wanted - done):
        raise IncompleteError(
            f"class {missing[0]} is not settled in {run.folder.where('')} yet: there is nothing "
            "to compare with"
        )
    return _verdicts(row for row in run.rows() if row.class_id in wanted)


def drawn_rows(run: Run, n: int, seed: int) -> list[Row]:
    """Return ``n`` verdicts drawn at random, of those that settle boards, in the order of the draw.

    They are those with the smallest SHA-256 of the text ``SEED CLASS PATH``: anybody can draw them
    again.  Raises InputError when there are fewer.
    """
    rows = _verdicts(row for row in run.rows() if row.settled or not row.children)
    if n > len(rows):
        raise InputError(f"cannot draw {n:,} of {len(rows):,} verdicts in {run.folder.where('')}")
    return sorted(rows, key=lambda row: _drawn(seed, row.key))[:n]


def spot_check(run: Run, spec: Spec, scorer: Scorer, listed: BoardList, seed: int) -> str:
    """Search some easy verdicts again and climb for some seconds; return what was done.

    ``listed`` are the boards of the run.  The ``seed`` draws the verdicts: one that nobody knows
    beforehand.

    Raises MismatchError when a verdict is not found again, or a board that reaches the cutoff is
    not listed.
    """
    where, at_fault = (
        run.folder.where(""),
        "the run, this machine or the program is at fault: do not believe this run",
    )
    began_s, found = time.monotonic(), list[RepeatResult]()
    easy = _easy(run)
    drawn = set(sorted(easy, key=lambda key: _drawn(seed, key))[:SPOT_VERDICTS])
    rows = _verdicts(row for _, row in run.rows_on(drawn, run.manifest.parts))
    for item in repeated(spec, rows, seed, 1):
        if item.difference:
            raise MismatchError(
                f"{item.name} in {where} is not found again: {item.difference}; {at_fault}"
            )
        found += [] if item.gave_up else [item]
        if time.monotonic() > began_s + SPOT_SEARCH_S:
            break
    end_s, known = time.monotonic() + SPOT_CLIMB_S, {item.board for item in listed.boards}
    for find in local_search(scorer, seed=seed, stop=lambda: time.monotonic() > end_s):
        if reaches(find.score, spec.cutoff) and find.board not in known:
            raise MismatchError(
                f"{find.board} scores {find.score:,}, which reaches the cutoff {spec.cutoff:,}, "
                f"and is not listed in {where}; {at_fault}"
            )
    verdicts = counted(len(found), "verdict", "verdicts")
    return (
        f"{verdicts} of {run.verdict_table.num_rows:,} searched again, a climb found no other board"
    )


def _easy(run: Run) -> list[Key]:
    """Return the tenth of the verdicts that took the least time, of those that leave nothing to
    other units.
    """
    names = ("seconds", "class_id", "path", "status")
    rows = [
        row
        for table in run.columns(names)
        for row in zip(*(table[name].to_pylist() for name in names), strict=True)
    ]
    whole = sorted(row for row in rows if row[3] in (ELIMINATED, CANDIDATES))
    return [
        (class_id, path) for _, class_id, path, _ in whole[: max(SPOT_VERDICTS, len(whole) // 10)]
    ]


def _drawn(seed: int, key: Key) -> bytes:
    return hashlib.sha256(f"{seed} {key[0]} {key[1]}".encode()).digest()


def _verdicts(rows: Iterable[Row]) -> list[Row]:
    found: dict[Key, Row] = {}
    for row in rows:
        if row.is_verdict:
            found.setdefault(row.key, row)
    return [found[key] for key in sorted(found)]


class Repeater:
    """Finds verdicts of a run with this spec again; the seed is that of images and cell orders."""

    def __init__(self, spec: Spec, seed: int) -> None:
        # a run may hand units back early; a repetition cannot leave anything to children
        patient = replace(
            spec.params, unit_budget=max(spec.params.unit_budget, Params().unit_budget)
        )
        self._breaker = Breaker(replace(spec, params=patient))
        self._nodes = SearchNodes(
            parse_partition(spec.partition, spec.dims), spec.params, spec.cell_order
        )
        self._seed = seed

    def repeat(self, verdict: UnitResult) -> RepeatResult:
        """Search the parts that a verdict settles once more and compare."""
        unit, began, difference, gave_up = verdict.unit, time.monotonic(), "", ""
        try:
            difference = self._compared(verdict)
        except IncompleteError as error:
            gave_up = str(error)
        except (RowError, InputError) as error:
            difference = str(error)
        return RepeatResult(
            unit.class_id, unit.path, verdict.status, difference, gave_up, time.monotonic() - began
        )

    def _compared(self, verdict: UnitResult) -> str:
        key = verdict.unit.class_id, verdict.unit.path
        expected = self._nodes.n_boards(*key)
        if verdict.n_boards != expected:
            return f"the verdict says {verdict.n_boards} boards, the unit has {expected}"
        scores = self._breaker.scorer.scores([board for board, _ in verdict.candidates]).tolist()
        for (board, stored), score in zip(verdict.candidates, scores, strict=True):
            if score != stored:
                return f"the verdict says {board} scores {stored}, it scores {score}"
        parts = [*(child.path for child in verdict.children), *verdict.settled]
        if parts and (lost := uncovered(self._nodes, key, parts)) is not None:
            return f"its part {lost!r} is neither a child nor settled"
        paths = paths_of(verdict)
        if not paths:  # it only split the unit: everything is left to the children
            return ""
        seed = int.from_bytes(_drawn(self._seed, key)[:4], "big")
        return self._nodes.difference(verdict, self._breaker.replicate(verdict.unit, paths, seed))


def _result(row: Row) -> UnitResult:
    unit, children = (
        Unit(row.class_id, row.path),
        tuple(Unit(row.class_id, path) for path in row.children),
    )
    lists = row.candidates, children, row.settled
    return UnitResult(
        unit, row.status, row.n_boards, row.max_bound, *lists, dict(row.counters), row.seconds
    )


def repeated(spec: Spec, rows: Sequence[Row], seed: int, n_workers: int) -> Iterator[RepeatResult]:
    """Yield the result for each verdict, in order; ``n_workers`` processes search side by side."""
    verdicts = map(_result, rows)
    if n_workers == 1:
        yield from map(Repeater(spec, seed).repeat, verdicts)
        return
    with pool(n_workers, _begin, spec, seed) as executor:
        yield from executor.map(_repeat, verdicts)


_repeater: Repeater | None = None  # of this process


def _begin(spec: Spec, seed: int) -> None:
    global _repeater
    _repeater = Repeater(spec, seed)


def _repeat(verdict: UnitResult) -> RepeatResult:
    assert _repeater is not None, "made when the process began"
    return _repeater.repeat(verdict)
