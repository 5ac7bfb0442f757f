"""What is still to do and how long it should take: arrays for classes, Python objects only for the
few exceptions.

Classes that nobody has touched are positions in a permutation (a random sample first, then
expensive first).  Only children of splits and units that came back become Python objects, so a run
of millions of classes stays small.

``Plan.predicted_costs`` knows which classes cost more, but overstates by how much: of the classes
of 4x4 it gives the strongest twelfth 39 times the cost of the weakest, and they take 12 times as
long.  Expensive classes come first, so one factor for all classes, learnt from those, would make
the rest look cheap.  So classes are put into bands by their predicted cost, and each band learns
from its own classes and as many neighbours as it takes to know enough.

What a class costs is measured by its effort, which does not depend on the machine, so that classes
that earlier calls searched count as well: without them a run that goes on has few to judge by.
This call's verdicts tell how many seconds that is here, and before the first of them the seconds
that were stored.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import exp, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from boardclass.parts import depth
from search.breaker import Unit, UnitResult

N_BANDS = 8
_ENOUGH = 6  # measured classes on which the factor of a band rests, if there are so many
# verdicts on which the pace of a band rests: it scatters, by what else the machine does
_ENOUGH_FOR_PACE = 15
_ENOUGH_TO_SCATTER = 30  # measured classes before an interval is told
# what a verdict keeps of its weight with each later one of its band: machines become slower or
# faster
_FADE = 0.999
_MIN_SECONDS = 1e-4
_ENDGAME = 0.5  # at most this part of a worker's share of what is left goes into one batch


class History(NamedTuple):
    """The classes that earlier calls searched to the end."""

    # predicted cost of each, float64[n], in the unit of the open classes
    costs: npt.NDArray[np.float64]
    # terms, pushes and splits of each, float64[n], those of its parts included
    efforts: npt.NDArray[np.float64]
    seconds: float = 0.0  # what all of them took
    child_s: float = 0.0  # what a part of one took, on average; 0: there was none


NO_HISTORY = History(np.empty(0), np.empty(0))  # no earlier call


class Work(NamedTuple):
    """What is to be searched, and what is known about it."""

    # classes whose root has no verdict, int64[n], strictly ascending
    class_ids: npt.NDArray[np.int64]
    costs: npt.NDArray[np.float64]  # predicted cost of each, float64[n], in any unit
    children: Collection[Unit] = ()  # units below roots of earlier calls that still need a verdict
    # units with a verdict, split from one whose own was lost and that is searched again
    known: Collection[Unit] = ()
    history: History = NO_HISTORY  # the cost of the open classes is judged by these as well
    elsewhere: npt.NDArray[np.float64] = (
        NO_HISTORY.costs
    )  # predicted cost of open classes that others search


def _powers(costs: Any, efforts: Any) -> tuple[Any, ...]:
    return costs**0, costs, efforts, costs**2, costs * efforts, efforts**2


def bands_of(costs: npt.NDArray[np.float64]) -> npt.NDArray[np.int8]:
    """Return the band of each class, int8[n]: bands have (nearly) equally many classes, from cheap
    to expensive.
    """
    bands = np.empty(len(costs), np.int8)
    bands[np.argsort(costs, kind="stable")] = np.arange(len(costs)) * N_BANDS // max(1, len(costs))
    return bands


class Calibration:
    """Seconds per unit of predicted cost in each band: effort per cost, times seconds per effort,
    learnt from verdicts.

    Effort does not depend on the machine, so classes that earlier calls searched count as well;
    ``bands``, int8[n], has the band of each.  A class is known when all its parts are.
    """

    def __init__(self, history: History, bands: npt.NDArray[np.int8]) -> None:
        sums = _powers(history.costs, history.efforts)
        self._sums = np.stack([np.bincount(bands, values, N_BANDS) for values in sums]).astype(
            np.float64
        )
        # verdicts of this call, their seconds and effort; later ones weigh more
        self._pace = np.zeros((3, N_BANDS))
        if history.seconds:  # as much as one class counts
            self._pace[1:] = (
                np.array([[history.seconds], [history.efforts.sum()]])
                / len(history.costs)
                / N_BANDS
            )
        self._child_s = history.child_s
        self._n_children = float(history.child_s > 0)
        self._factors: list[float] = []  # none: to be worked out anew

    def note_class(self, band: int, predicted: float, effort: float) -> None:
        """Learn from a class with all its parts."""
        self._sums[:, band] += np.array(_powers(np.float64(predicted), np.float64(effort)))
        self._factors = []

    def note_verdict(self, band: int, seconds: float, effort: float) -> None:
        """Learn how fast this machine is from the verdict on a class or a part of one."""
        self._pace[:, band] = self._pace[:, band] * _FADE + (1.0, seconds, effort)
        self._factors = []

    def note_child(self, seconds: float) -> None:
        """Learn from the verdict on a child of a split."""
        self._child_s = self._child_s * 0.99 + seconds
        self._n_children = self._n_children * 0.99 + 1

    @property
    def is_known(self) -> bool:
        """Whether at least one class has been measured, and how fast this machine is."""
        return bool(self._sums[0].any() and self._pace[2].any())

    @property
    def knows_children(self) -> bool:
        """Whether at least one child of a split has been measured."""
        return self._n_children > 0

    def child_s(self) -> float:
        """Return the seconds that a child of a split should take."""
        return max(self._child_s / self._n_children if self._n_children else 1.0, _MIN_SECONDS)

    def classes_s(self, predicted: npt.NDArray[np.float64]) -> float:
        """Return the seconds that classes should take, children included, given their predictions'
        sum in each band.
        """
        return sum(
            float(predicted[band]) * self.factor(band)
            for band in np.flatnonzero(predicted > 0).tolist()
        )

    def factor(self, band: int) -> float:
        """Return the seconds per unit of predicted cost in a band, 1 if nothing is known."""
        if not self._factors:
            self._factors = [
                self._factor(band) if self.is_known else 1.0 for band in range(N_BANDS)
            ]
        return self._factors[band]

    def _factor(self, band: int) -> float:
        _, cost, effort, *_ = self._near(band, self._sums)
        return float(effort / cost) * self._pace_of(band)

    def spread_s(
        self, n_classes: npt.NDArray[np.int64], predicted: npt.NDArray[np.float64]
    ) -> float | None:
        """Return the standard deviation of :meth:`classes_s`, None where too little is known.

        The efforts of the classes of a band scatter about a multiple of their predicted costs.
        What is left scatters likewise, and so does the multiple, which rests on those that are
        known.
        """
        if not self.is_known or self._sums[0].sum() < _ENOUGH_TO_SCATTER:
            return None
        variance = 0.0
        for band in np.flatnonzero(n_classes).tolist():
            n, cost, effort, *squares = self._near(band, self._sums).tolist()
            factor = effort / cost
            scatter = max(0.0, squares[0] * factor**2 - 2 * factor * squares[1] + squares[2]) / (
                n - 1
            )
            variance += (
                scatter
                * (n_classes[band] + n * (predicted[band] / cost) ** 2)
                * self._pace_of(band) ** 2
            )
        return sqrt(variance)

    def _pace_of(self, band: int) -> float:
        _, seconds, effort = self._near(band, self._pace, _ENOUGH_FOR_PACE)
        return float(seconds / effort)

    @staticmethod
    def _near(
        band: int, sums: npt.NDArray[np.float64], enough: int = _ENOUGH
    ) -> npt.NDArray[np.float64]:
        """Return the sums of a band and as many neighbours as it takes to have enough in the first
        row.
        """
        reaches = (slice(max(0, band - reach), band + reach + 1) for reach in range(N_BANDS))
        near = next((near for near in reaches if sums[0, near].sum() >= enough), slice(None))
        return sums[:, near].sum(axis=1)


@dataclass(slots=True)
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
        self._known, history = work.known, work.history
        self._ids = np.ascontiguousarray(work.class_ids, np.int64)
        n, n_elsewhere = len(self._ids), len(work.elsewhere)
        all_costs = _mean_one(np.concatenate([work.costs, work.elsewhere, history.costs]))
        all_bands = bands_of(all_costs)
        self._costs, self._bands = all_costs[:n], all_bands[:n]
        past = slice(n + n_elsewhere, None)
        if self._ids.shape != np.shape(work.costs) or np.any(self._ids[1:] <= self._ids[:-1]):
            raise ValueError("class ids must be strictly ascending, with one cost each")
        self._order = _order(self._costs, rng, sample)
        self._cursor = 0
        self._settled = np.zeros(len(self._ids), np.bool_)
        self._open_children: set[Unit] = set()
        self._n_open_below: dict[int, int] = {}
        self._efforts: dict[int, float] = {}  # of classes that are not done yet
        self._spoilt: set[int] = set()
        self._stack: list[tuple[int, int, Unit]] = []
        self._retries: list[tuple[int, int, Unit]] = []
        self._big: deque[Unit] = deque()
        self._sequence = 0
        self.trouble: dict[Unit, Trouble] = {}
        self.calibration = Calibration(history._replace(costs=all_costs[past]), all_bands[past])
        self.n_classes_done = 0
        self.n_open = len(self._ids)
        self._n_resumed = 0
        self.n_quarantined = 0
        self._cost_left = np.bincount(self._bands, self._costs, N_BANDS).astype(np.float64)
        self._n_left = np.bincount(self._bands, minlength=N_BANDS)
        others = slice(n, n + n_elsewhere)
        self._elsewhere = np.bincount(all_bands[others], all_costs[others], N_BANDS).astype(
            np.float64
        )
        self._add_children(work.children)

    @property
    def n_classes(self) -> int:
        """Classes of this run: those without a root verdict, and those with children left over from
        earlier runs.
        """
        return len(self._ids) + self._n_resumed

    def is_open(self, unit: Unit) -> bool:
        """Return whether the unit is part of the run and still needs its verdict."""
        if unit.path:
            return unit in self._open_children
        place = self._place(unit.class_id)
        return place >= 0 and not self._settled[place]

    def predicted_s(self, unit: Unit) -> float:
        """Return the seconds that the unit should take."""
        if unit.path:
            return self.calibration.child_s()
        place = self._place(unit.class_id)
        return max(
            float(self._costs[place]) * self.calibration.factor(int(self._bands[place])),
            _MIN_SECONDS,
        )

    def remaining_s(self) -> float:
        """Return the seconds of one worker that everything open should take."""
        return (
            self.calibration.classes_s(self._cost_left)
            + len(self._open_children) * self.calibration.child_s()
        )

    @property
    def elsewhere_s(self) -> float:
        """Seconds of one worker that the classes should take that others search."""
        return self.calibration.classes_s(self._elsewhere)

    def range_s(self) -> tuple[float, float] | None:
        """Return the 95 % interval of :meth:`remaining_s`, on a logarithmic scale; None where too
        little is known.
        """
        spread_s, total_s = (
            self.calibration.spread_s(self._n_left, self._cost_left),
            self.remaining_s(),
        )
        if spread_s is None or total_s <= 0:
            return None
        factor = exp(min(1.96 * spread_s / total_s, 30.0))
        return total_s / factor, total_s * factor

    @property
    def is_measured(self) -> bool:
        """Whether :meth:`remaining_s` rests on verdicts of this run, for all kinds of units that
        are open.
        """
        knows = self.calibration
        has_roots = self.n_open > len(self._open_children)
        return (knows.is_known or not has_roots) and (
            knows.knows_children or not self._open_children
        )

    @property
    def has_big(self) -> bool:
        """Whether a unit waits for the big-memory lane."""
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
        total_s, budget_s = 0.0, batch_s
        while len(units) < max_units and (unit := self._peek()) is not None:
            total_s += self.predicted_s(unit)
            if len(units) == 1 and total_s <= batch_s:
                budget_s = min(batch_s, _ENDGAME * self.remaining_s() / n_workers)
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
        self._sequence += 1
        if trouble.big:
            self._big.append(unit)
        else:
            heapq.heappush(self._retries, (-trouble.strikes, self._sequence, unit))

    def settle(self, result: UnitResult) -> int:
        """Accept the verdict of an open unit; return its attempt, counted from 1."""
        unit, effort = result.unit, max(result.effort, 1)  # none is for nothing
        place = self._place(unit.class_id)
        if place >= 0:
            self.calibration.note_verdict(int(self._bands[place]), result.seconds, effort)
        if unit.path:
            self.calibration.note_child(result.seconds)
        self._efforts[unit.class_id] = self._efforts.get(unit.class_id, 0.0) + effort
        self._close(unit)
        self._add_children(
            [child for child in result.children if child not in self._known], count_class=False
        )
        self._note_class(unit.class_id)
        return self.trouble.pop(unit, Trouble()).attempts + 1

    def quarantine(self, unit: Unit) -> Trouble:
        """Give an open unit up; its class will not be done in this run."""
        self._close(unit)
        self._spoilt.add(unit.class_id)
        self._note_class(unit.class_id)
        self.n_quarantined += 1
        return self.trouble.pop(unit, Trouble())

    def _close(self, unit: Unit) -> None:
        self.n_open -= 1
        if unit.path:
            self._open_children.remove(unit)
            self._n_open_below[unit.class_id] -= 1
        else:
            place = self._place(unit.class_id)
            self._settled[place] = True
            self._cost_left[self._bands[place]] -= self._costs[place]
            self._n_left[self._bands[place]] -= 1

    def _add_children(self, children: Iterable[Unit], count_class: bool = True) -> None:
        for unit in children:
            if unit in self._open_children:  # opened again, by itself and by a split above it
                continue
            self._open_children.add(unit)
            self._n_open_below[unit.class_id] = self._n_open_below.get(unit.class_id, 0) + 1
            self._sequence += 1
            heapq.heappush(self._stack, (-depth(unit.path), self._sequence, unit))
            self.n_open += 1
        if count_class:
            self._n_resumed = sum(self._place(class_id) < 0 for class_id in self._n_open_below)

    def _note_class(self, class_id: int) -> None:
        """Count a class as done when nothing of it is open and nothing was given up."""
        if self._n_open_below.get(class_id, 0) == 0 and not self.is_open(Unit(class_id)):
            self._n_open_below.pop(class_id, None)
            self.n_classes_done += class_id not in self._spoilt
            effort, place = self._efforts.pop(class_id, 0.0), self._place(class_id)
            if place >= 0 and class_id not in self._spoilt:
                self.calibration.note_class(
                    int(self._bands[place]), float(self._costs[place]), effort
                )

    def _place(self, class_id: int) -> int:
        place = int(self._ids.searchsorted(class_id))
        return place if place < len(self._ids) and self._ids[place] == class_id else -1

    def _peek(self) -> Unit | None:
        while self._stack and not self.is_open(self._stack[0][2]):
            heapq.heappop(self._stack)
        if self._stack:
            return self._stack[0][2]
        while self._cursor < len(self._order):
            place = self._order[self._cursor]
            if not self._settled[place]:
                return Unit(int(self._ids[place]))
            self._cursor += 1
        return None


def _mean_one(costs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the costs scaled to a mean of 1 (a second each, until one has been measured), without
    absurd ones.
    """
    usable = np.where(np.isfinite(costs) & (costs > 0), costs, 0.0)
    mean = float(usable.mean()) if len(usable) else 0.0
    return np.maximum(usable / mean if mean > 0 else usable, 1e-6)


def _order(
    costs: npt.NDArray[np.float64], rng: np.random.Generator, sample: float
) -> npt.NDArray[np.int64]:
    n = len(costs)
    first = (
        rng.choice(n, size=min(n, int(np.ceil(n * sample))), replace=False)
        if n
        else np.empty(0, np.int64)
    )
    rest = np.ones(n, np.bool_)
    rest[first] = False
    by_cost = np.argsort(-costs, kind="stable")
    return np.concatenate([first, by_cost[rest[by_cost]]]).astype(np.int64)
