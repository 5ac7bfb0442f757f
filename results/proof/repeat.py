"""Finds stored verdicts again in another way: each part anew, as a symmetric image and in another
cell order.

    rows_of_classes, sampled_rows   verdicts by class, or drawn at random: those whose SHA-256 with
                                    the seed is smallest
    climb_again, repeat_easy        what `orderly verify` searches again, beside reading
    repeated                        Breaker.replicate on each, compared as the replicas of a run are
                                    (SearchNodes.difference)

A repetition trusts the word list and the kernels.  It trusts nothing that the run stored.

>>> f"{overlooked(100, 40, 2):.3f}"  # two of a hundred are false, 40 of them are drawn
'0.358'
"""

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import nsmallest
from math import comb
from operator import attrgetter

from orderly_boggle.boardclass.errors import IncompleteError, InputError, MismatchError
from orderly_boggle.boardclass.processes import Pool
from orderly_boggle.boardclass.scores import reaches
from orderly_boggle.results.errors import RowError
from orderly_boggle.results.proof.claim import settling
from orderly_boggle.results.proof.coverage import uncovered
from orderly_boggle.results.proof.nodes import SearchNodes, paths_of
from orderly_boggle.results.proof.summary import BoardList
from orderly_boggle.results.store.rows import Key, Row, keys_of
from orderly_boggle.results.store.run import Run
from orderly_boggle.search.breaker import Breaker, Spec, Unit, UnitResult
from orderly_boggle.search.local.batches import ParallelScorer
from orderly_boggle.search.local.methods import Climbing, local_search
from orderly_boggle.search.params import Budgets
from orderly_boggle.search.scoring.scorer import Scorer

# At most, in seconds of the processor. On 4x4 the five pools of a climb take 70; each reaches 3,000
# points with ENABLE2K in 5 to 9 and, if it gets there, 3,600 in 11 to 14.
SEARCH_S = 15.0
CLIMB_S = 90.0
_MANY = 1000
_AT_FAULT = "the run, this machine or the program is at fault: do not believe this run"


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
    """Return the verdicts on classes and all their parts, in order of class and path; of a unit
    with contradicting verdicts, each of them.

    Raises IncompleteError when one of the classes is not settled down to its leaves.
    """
    wanted = set(class_ids)
    open_ids = {class_id for class_id, _ in run.index.pending()}
    done = set(run.index.done_ids().tolist()) - open_ids
    if missing := sorted(wanted - done):
        raise IncompleteError(
            f"class {missing[0]} is not settled in {run.folder.where('')} yet: there is nothing "
            "to compare with"
        )
    keys = [key for key in run.index.places if key[0] in wanted]
    return _rows(run, sorted(keys))


def sampled_rows(run: Run, n: int, seed: int) -> list[Row]:
    """Return ``n`` verdicts drawn at random, of those that settle boards, in the order of the draw.

    They are those with the smallest SHA-256 of the text ``SEED CLASS PATH``: anybody can draw them
    again.  Raises InputError when there are fewer.
    """
    keys = keys_of(settling(run.verdict_table))
    if n > len(keys):
        raise InputError(f"cannot draw {n:,} of {len(keys):,} verdicts in {run.folder.where('')}")
    return _rows(run, sorted(keys, key=partial(_lot, seed))[:n])


def climb_again(run: Run, scorer: Scorer, listed: BoardList, seed: int) -> tuple[int, int]:
    """Return how many boards a climb scored, and the best score.

    Raises MismatchError when a board that reaches the cutoff is not listed.
    """
    cutoff = run.question.cutoff
    known = {item.board for item in listed.boards}
    scores = {item.score for item in listed.boards}
    n_scored: dict[int, int] = {}
    end_s = time.process_time() + CLIMB_S

    def note(now: Climbing) -> None:
        nonlocal end_s
        n_scored[now.run] = now.n_scored
        if reaches(now.best, cutoff) and now.best not in scores:
            end_s = 0.0  # it is not listed: no need to go on

    threads = ParallelScorer(scorer)
    finds = local_search(
        threads, "pool", seed=seed, progress=note, stop=lambda: time.process_time() > end_s
    )
    for find in finds:
        if reaches(find.score, cutoff) and find.board not in known:
            raise MismatchError(
                f"{find.board} scores {find.score:,}, which reaches the cutoff {cutoff:,}, "
                f"and is not listed in {run.folder.where('')}; {_AT_FAULT}"
            )
    return sum(n_scored.values()), max((find.score for find in finds), default=0)


def check_taken(source: Run, spec: Spec, rows: Iterable[Row], seed: int) -> int:
    """Search some of the ``rows`` again that are to be taken over from another run, at the cutoff
    of ``spec``; return how many were found again.

    Raises MismatchError when one is not.
    """
    whole = (row for row in rows if row.settled or not row.children)
    easy = nsmallest(_MANY, whole, key=attrgetter("seconds", "key"))
    return repeat_easy(source, spec, sorted(easy, key=lambda row: _lot(seed, row.key)), seed)


def repeat_easy(run: Run, spec: Spec, rows: Iterable[Row], seed: int) -> int:
    """Search verdicts of a run again in this order, for :data:`SEARCH_S`; return how many were
    found again.

    Raises MismatchError when one is not.
    """
    n_found = 0
    end_s = time.process_time() + SEARCH_S
    for item in repeated(spec, rows, seed, 1):
        require_found(run, item)
        n_found += not item.gave_up
        if time.process_time() > end_s:
            break
    return n_found


def require_found(run: Run, item: RepeatResult) -> None:
    """Raise MismatchError when a verdict was not found again."""
    if item.difference:
        raise MismatchError(
            f"{item.name} in {run.folder.where('')} is not found again: {item.difference}; "
            f"{_AT_FAULT}"
        )


def easy_first(run: Run, seed: int) -> Iterator[Row]:
    """Yield the verdicts that settle boards: the tenth that took the least time in an order that
    the seed draws, then the others, the easy ones first.
    """
    seconds: dict[Key, float] = {}
    for table in run.columns(("class_id", "path", "status", "settled", "seconds")):
        verdicts = settling(table)
        times = verdicts.column("seconds").to_pylist()
        seconds |= zip(keys_of(verdicts), times, strict=True)
    ordered = sorted(seconds, key=lambda key: (seconds[key], key))
    n_easy = len(ordered) // 10
    ordered[:n_easy] = sorted(ordered[:n_easy], key=partial(_lot, seed))
    for first in range(0, len(ordered), _MANY):
        yield from _rows(run, ordered[first : first + _MANY])


def overlooked(n: int, n_sampled: int, n_false: int) -> float:
    """Return with what probability a draw of ``n_sampled`` of ``n`` verdicts meets none of
    ``n_false``.
    """
    return comb(n - n_false, n_sampled) / comb(n, n_sampled)


def _lot(seed: int, key: Key) -> bytes:
    return hashlib.sha256(f"{seed} {key[0]} {key[1]}".encode()).digest()


def _rows(run: Run, keys: Sequence[Key]) -> list[Row]:
    rows: dict[Key, list[Row]] = {key: [] for key in keys}
    for _, row in run.rows_on(rows, run.manifest.parts):
        others = rows[row.key]
        if row.verdict not in [other.verdict for other in others]:
            others.append(row)
    return [row for of_key in rows.values() for row in of_key]


def _result(row: Row) -> UnitResult:
    children = tuple(Unit(row.class_id, path) for path in row.children)
    return UnitResult(
        unit=Unit(*row.key),
        status=row.status,
        n_boards=row.n_boards,
        max_bound=row.max_bound,
        candidates=row.candidates,
        children=children,
        settled=row.settled,
        counters=dict(row.counters),
        seconds=row.seconds,
    )


class Repeater:
    """Finds verdicts of a run with this spec again; the seed is that of images and cell orders."""

    def __init__(self, spec: Spec, seed: int) -> None:
        # a run may hand units back early; a repetition cannot leave anything to children
        budget = max(spec.budgets.unit_budget, Budgets.unit_budget)
        self._breaker = Breaker(replace(spec, budgets=replace(spec.budgets, unit_budget=budget)))
        self._nodes = SearchNodes(spec.question)
        self._seed = seed

    def repeat(self, verdict: UnitResult) -> RepeatResult:
        """Search the parts that a verdict settles once more and compare."""
        unit = verdict.unit
        began_s = time.monotonic()
        difference = ""
        gave_up = ""
        try:
            difference = self._difference(verdict)
        # not found again is a fault, not finished is none: another order may be a worse one
        except IncompleteError as error:
            gave_up = str(error)
        except (RowError, InputError) as error:
            difference = str(error)
        seconds = time.monotonic() - began_s
        return RepeatResult(unit.class_id, unit.path, verdict.status, difference, gave_up, seconds)

    def _difference(self, verdict: UnitResult) -> str:
        key = verdict.unit.class_id, verdict.unit.path
        n_boards = self._nodes.n_boards(*key)
        # cheap and first: a verdict on another unit needs no search to be found out
        if verdict.n_boards != n_boards:
            return f"the verdict says {verdict.n_boards} boards, the unit has {n_boards}"
        # the replica says nothing of boards that stand for images
        boards = [board for board, _ in verdict.candidates]
        scores = self._breaker.scorer.scores(boards).tolist()
        for (board, stored), score in zip(verdict.candidates, scores, strict=True):
            if score != stored:
                return f"the verdict says {board} scores {stored}, it scores {score}"
        parts = [*(child.path for child in verdict.children), *verdict.settled]
        if parts and (lost := uncovered(self._nodes, key, parts)) is not None:
            return f"its part {lost!r} is neither a child nor settled"
        # of the unit, not of its turn: more workers, or other draws, change no image
        seed = int.from_bytes(_lot(self._seed, key)[:4], "big")
        replica = self._breaker.replicate(verdict.unit, paths_of(verdict), seed)
        return self._nodes.difference(verdict, replica)


def repeated(spec: Spec, rows: Iterable[Row], seed: int, n_workers: int) -> Iterator[RepeatResult]:
    """Yield the result for each verdict, in order; ``n_workers`` processes search side by side."""
    verdicts = map(_result, rows)
    # in this process: another one would load words and kernels once more
    if n_workers == 1:
        yield from map(Repeater(spec, seed).repeat, verdicts)
        return
    with Pool(n_workers, _begin, spec, seed) as pool:
        yield from pool.map(_repeat, verdicts)


_repeaters: list[Repeater] = []  # the one of this process


def _begin(spec: Spec, seed: int) -> None:
    _repeaters.append(Repeater(spec, seed))


def _repeat(verdict: UnitResult) -> RepeatResult:
    return _repeaters[0].repeat(verdict)
