"""What is still to do: arrays for classes, Python objects only for the few exceptions.

Classes that nobody has touched are positions in a permutation (a random sample first, then
expensive first).  Only children of splits and units that came back become Python objects, so a run
of millions of classes stays small.
"""

import heapq
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import Float64s, Int64s
from orderly_boggle.boardclass.parts import depth
from orderly_boggle.cluster.scheduling.forecast import NO_HISTORY, Forecast, History, Stops
from orderly_boggle.search.breaker import Unit, UnitResult

_ENDGAME = 0.5  # at most this part of a worker's share of what is left goes into one batch


class Work(NamedTuple):
    """What is to be searched, and what is known about it."""

    # classes whose root has no verdict, int64[n], strictly ascending
    class_ids: Int64s
    costs: Float64s  # likely cost of each, float64[n], in any unit
    children: Collection[Unit] = ()  # units below roots of earlier calls that still need a verdict
    # units with a verdict, split from one whose own was lost, or is in doubt, and that is searched
    # again
    known: Collection[Unit] = ()
    # units with a verdict in doubt, and the effort at which each was split: another split would
    # contradict it
    doubted: Mapping[Unit, int] = MappingProxyType({})
    history: History = NO_HISTORY  # the cost of the open classes is judged by these as well
    # likely cost of open classes that others search
    elsewhere: Float64s = NO_HISTORY.costs


@dataclass
class Trouble:
    """What became of a unit that came back without a verdict."""

    attempts: int = 0  # how often it was given out and came back
    strikes: int = 0  # failures that may be its own fault
    # failures that are not (machine gone, reply lost), or not surely (others in the same batch)
    losses: int = 0
    big: bool = False  # whether it needs the big-memory lane


class Backlog:
    """Every unit that has no verdict yet and is not given out.

    A ``sample`` of the classes, a fraction chosen by ``rng``, comes first: it calibrates costs and
    the time left.
    """

    def __init__(self, work: Work, rng: np.random.Generator, sample: float) -> None:
        self._known = work.known
        self._split_at = work.doubted
        self._ids = np.ascontiguousarray(work.class_ids, np.int64)
        ids_ascend = np.all(self._ids[1:] > self._ids[:-1])
        if self._ids.shape != np.shape(work.costs) or not ids_ascend:
            raise ValueError("class ids must be strictly ascending, with one cost each")
        self.forecast = Forecast(work.costs, work.history, work.elsewhere)
        self._stops = Stops()
        # expensive classes first: the last one to end then ends soon after the others
        self._order = order_of(self.forecast.costs, rng, sample)
        self._cursor = 0
        self._settled = np.zeros(len(self._ids), np.bool_)
        self._open_children: set[Unit] = set()
        # a class is done when it and all its parts are.  Open parts are counted: otherwise each
        # verdict would look at all of them
        self._n_open_below: Counter[int] = Counter()
        self._efforts: Counter[int] = Counter()  # of classes that are not done yet
        self._spoilt: set[int] = set()
        self._stack: list[tuple[int, int, Unit]] = []
        self._retries: list[tuple[int, int, Unit]] = []
        self._big: deque[Unit] = deque()
        self._sequence = count()  # of equals, the one that came first goes first
        self.trouble: dict[Unit, Trouble] = {}
        self.n_classes_done = 0
        self.n_open = len(self._ids)
        self.n_quarantined = 0
        self._add_children(work.children)

    def is_open(self, unit: Unit) -> bool:
        """Return whether the unit is part of the run and still needs its verdict."""
        if unit.path:
            return unit in self._open_children
        place = self._place(unit.class_id)
        return place >= 0 and not self._settled[place]

    def split_at(self, unit: Unit) -> int:
        """Return the effort at which a unit is to split; 0: its budget decides."""
        return self._split_at.get(unit, 0)

    def predicted_s(self, unit: Unit) -> float:
        """Return the seconds that the unit should take."""
        if unit.path:
            return self.forecast.child_s()
        return self.forecast.class_s(self._place(unit.class_id))

    @property
    def has_big(self) -> bool:
        """Whether a unit waits for the big-memory lane."""
        # a verdict that was thought lost may have come meanwhile
        while self._big and not self.is_open(self._big[0]):
            self._big.popleft()
        return bool(self._big)

    def take_big(self) -> Unit:
        """Remove and return a unit of the big-memory lane; :attr:`has_big` must hold."""
        return self._big.popleft()

    def take(self, batch_s: float, n_workers: int, max_units: int) -> tuple[Unit, ...]:
        """Remove and return the next units, at least one if there is any, worth about ``batch_s``
        together, and towards the end a part of what is left for each of ``n_workers``.

        A unit that came back goes alone, so that whatever happens next is its own doing; then
        children of splits, deepest first, so that few classes are open at a time; then classes.
        """
        while self._retries:
            retry = heapq.heappop(self._retries)[2]
            if self.is_open(retry):  # a late verdict may have settled it
                return (retry,)
        units: list[Unit] = []
        total_s = 0.0
        budget_s = batch_s
        while len(units) < max_units and (unit := self._peek()) is not None:
            # those of a batch split at the same effort
            if units and self.split_at(unit) != self.split_at(units[0]):
                break
            total_s += self.predicted_s(unit)
            # the forecast is asked once for each batch, and only where several units fit
            if len(units) == 1 and total_s <= batch_s:
                budget_s = min(batch_s, _ENDGAME * self.forecast.remaining_s() / n_workers)
            if units and total_s > budget_s:
                break
            units.append(unit)
            if unit.path:
                heapq.heappop(self._stack)
            else:
                self._cursor += 1
        return tuple(units)

    def put_back(self, unit: Unit, trouble: Trouble) -> None:
        """Take back a unit that came without a verdict; the one with most strikes goes out
        first.
        """
        self.trouble[unit] = trouble
        # if memory was short, it would be short again beside other workers
        if trouble.big:
            self._big.append(unit)
        else:
            heapq.heappush(self._retries, (-trouble.strikes, next(self._sequence), unit))

    def settle(self, result: UnitResult, cpu_s: float | None = None) -> int:
        """Accept the verdict of an open unit, which took a worker ``cpu_s``; return its attempt,
        counted from 1.
        """
        unit = result.unit
        effort = max(result.effort, 1)  # the forecast divides by efforts
        seconds = self._stops.without(result.seconds, cpu_s)
        place = self._place(unit.class_id)
        if place >= 0:
            self.forecast.note_verdict(place, seconds, effort)
        if unit.path:
            self.forecast.note_child(seconds)
        # summed over the class and its parts: only the sum compares with a class that was not split
        self._efforts[unit.class_id] += effort
        self._close(unit)
        self._add_children(child for child in result.children if child not in self._known)
        self._note_class(unit.class_id)
        return self.trouble.pop(unit, Trouble()).attempts + 1

    def quarantine(self, unit: Unit) -> Trouble:
        """Give an open unit up; its class will not be done in this run."""
        self._close(unit)
        # what it would have cost is not known: the forecast does not learn from it
        self._spoilt.add(unit.class_id)
        self._note_class(unit.class_id)
        self.n_quarantined += 1
        return self.trouble.pop(unit, Trouble())

    def _close(self, unit: Unit) -> None:
        self.n_open -= 1
        if unit.path:
            self._open_children.remove(unit)
            self._n_open_below[unit.class_id] -= 1
            self.forecast.n_children -= 1
        else:
            place = self._place(unit.class_id)
            self._settled[place] = True
            self.forecast.close_class(place)

    def _add_children(self, children: Iterable[Unit]) -> None:
        for unit in children:
            if unit in self._open_children:  # opened again, by itself and by a split above it
                continue
            self._open_children.add(unit)
            self._n_open_below[unit.class_id] += 1
            # deepest first: a class that was begun is finished before the next one
            number = next(self._sequence)
            heapq.heappush(self._stack, (-depth(unit.path), number, unit))
            self.n_open += 1
            self.forecast.n_children += 1

    def _note_class(self, class_id: int) -> None:
        """Count a class as done when nothing of it is open and nothing was given up."""
        if self._n_open_below[class_id] == 0 and not self.is_open(Unit(class_id)):
            del self._n_open_below[class_id]
            # a class of which a unit was given up is not done, though nothing of it is open
            self.n_classes_done += class_id not in self._spoilt
            effort = self._efforts.pop(class_id, 0)
            place = self._place(class_id)
            if place >= 0 and class_id not in self._spoilt:
                self.forecast.note_class(place, effort)

    def _place(self, class_id: int) -> int:
        place = int(self._ids.searchsorted(class_id))
        if place < len(self._ids) and self._ids[place] == class_id:
            return place
        return -1

    def _peek(self) -> Unit | None:
        """Return the next unit that was never given out: so nothing has settled it."""
        if self._stack:
            return self._stack[0][2]
        if self._cursor < len(self._order):
            return Unit(int(self._ids[self._order[self._cursor]]))
        return None


def order_of(costs: Float64s, rng: np.random.Generator, sample: float) -> Int64s:
    """Return the places of classes in the order in which they are handed out, int64[n]: a random
    ``sample`` of them, then the others, expensive ones first.
    """
    n = len(costs)
    n_first = min(n, int(np.ceil(n * sample)))
    first = rng.choice(np.arange(n), n_first, replace=False)
    by_cost = np.argsort(-costs, kind="stable")
    return np.concatenate([first, by_cost[np.isin(by_cost, first, invert=True)]])
