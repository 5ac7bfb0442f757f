"""How long what is open should take: predictions, corrected by what classes really took.

``search.costs.predicted_costs`` knows which classes cost more, but overstates by how much: of the
classes of 4x4 it gives the strongest twelfth 39 times the cost of the weakest, and they take 12
times as long.  Expensive classes come first, so one factor for all classes, learnt from those,
would make the rest look cheap.  So classes are put into bands by their predicted cost, and each
band learns from its own classes and as many neighbours as it takes to know enough.

What a class costs is measured by its effort, which does not depend on the machine, so that classes
that earlier calls searched count as well: without them a run that goes on has few to judge by.
This call's verdicts tell how many seconds that is here, and before the first of them the seconds
that were stored.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import Float64s, Int8s
from orderly_boggle.search.costs import log_interval

N_BANDS = 8
_ENOUGH = 6  # measured classes on which the factor of a band rests, if there are so many
# verdicts on which the pace of a band rests: it scatters, by what else the machine does
_ENOUGH_FOR_PACE = 15
_ENOUGH_TO_SCATTER = 30  # measured classes before an interval is told
# what a verdict keeps of its weight with each later one of its band: machines become slower or
# faster
_FADE = 0.999
_CHILD_FADE = 0.99
_MIN_SECONDS = 1e-4


class History(NamedTuple):
    """The classes that earlier calls searched to the end."""

    # predicted cost of each, float64[n], in the unit of the open classes
    costs: Float64s
    # terms, pushes and splits of each, float64[n], those of its parts included
    efforts: Float64s
    seconds: float = 0.0  # what all of them took
    child_s: float = 0.0  # what a part of one took, on average; 0: there was none


NO_HISTORY = History(np.empty(0), np.empty(0))  # no earlier call


class _Knowledge(NamedTuple):
    """What a band and its neighbours know."""

    n: float  # measured classes
    cost: float  # predicted, of these
    factor: float  # seconds per unit of predicted cost
    variance: float  # of the seconds of a class about its prediction


class Forecast:
    """What is open, in seconds of one worker.

    ``costs``, float64[n], are the predicted costs of the open classes, in any unit; a class is
    named by its place among them.  ``elsewhere``, float64[m], are those of classes that others
    search.  A class is measured when all its parts are.
    """

    def __init__(
        self,
        costs: Float64s,
        history: History,
        elsewhere: Float64s,
    ) -> None:
        # scaled together: predictions are compared across all three, their unit has no meaning
        every = _mean_one(np.concatenate([costs, elsewhere, history.costs]))
        cuts = np.cumsum([len(costs), len(elsewhere)])
        self.costs, costs_elsewhere, past = np.split(every, cuts)
        self._bands, bands_elsewhere, bands_past = np.split(_bands_of(every), cuts)
        self.n_children = 0  # parts of classes that are open
        self._n_left = np.bincount(self._bands, minlength=N_BANDS).tolist()
        self._cost_left = _sums(self._bands, self.costs)
        self._elsewhere = _sums(bands_elsewhere, costs_elsewhere)
        # of each band, sums over its measured classes: see _moments
        of_bands = [_sums(bands_past, values) for values in _moments(past, history.efforts)]
        self._measured = [list(row) for row in zip(*of_bands, strict=True)]
        # of each band: verdicts of this call, their seconds and efforts; later ones weigh more
        self._pace = [[0.0, 0.0, 0.0] for _ in range(N_BANDS)]
        # spread over all bands, since the seconds of a class were not stored by band
        if history.seconds:  # as much as one class counts
            share = 1 / len(past) / N_BANDS
            effort = float(history.efforts.sum())
            self._pace = [[0.0, history.seconds * share, effort * share] for _ in range(N_BANDS)]
        self._known: dict[int, _Knowledge] = {}  # of each band, until a verdict comes
        self._child_s = history.child_s
        self._n_children = float(history.child_s > 0)

    def close_class(self, place: int) -> None:
        """Note that a class itself has its verdict, or gets none; parts of it may be open."""
        band = int(self._bands[place])
        self._n_left[band] -= 1
        self._cost_left[band] -= float(self.costs[place])

    def note_class(self, place: int, effort: float) -> None:
        """Learn from a class with all its parts."""
        # computed anew only when somebody asks
        self._known.clear()
        sums = self._measured[self._bands[place]]
        for k, value in enumerate(_moments(float(self.costs[place]), effort)):
            sums[k] += value

    def note_verdict(self, place: int, seconds: float, effort: float) -> None:
        """Learn how fast this machine is from the verdict on a class or a part of one."""
        self._known.clear()
        pace = self._pace[self._bands[place]]
        for k, value in enumerate((1.0, seconds, effort)):
            # the ratio of two faded sums: no verdict is divided by a time near zero
            pace[k] = pace[k] * _FADE + value

    def note_child(self, seconds: float) -> None:
        """Learn from the verdict on a child of a split."""
        self._child_s = self._child_s * _CHILD_FADE + seconds
        self._n_children = self._n_children * _CHILD_FADE + 1

    @property
    def is_measured(self) -> bool:
        """Whether :meth:`remaining_s` rests on verdicts of this run, for all kinds of units that
        are open.
        """
        # children are smaller than classes, and no prediction knows by how much
        knows_children = self._n_children > 0
        return (self._is_known or not any(self._n_left)) and (knows_children or not self.n_children)

    def class_s(self, place: int) -> float:
        """Return the seconds that a class should take, its parts included."""
        factor = self._factor(int(self._bands[place]))
        seconds = float(self.costs[place]) * factor
        # a batch of units that cost nothing would have no end
        return max(seconds, _MIN_SECONDS)

    def child_s(self) -> float:
        """Return the seconds that a child of a split should take."""
        return max(self._child_s / self._n_children if self._n_children else 1.0, _MIN_SECONDS)

    def remaining_s(self) -> float:
        """Return the seconds that everything open should take."""
        return self._classes_s(self._cost_left) + self.n_children * self.child_s()

    def elsewhere_s(self) -> float:
        """Return the seconds that the classes should take that others search."""
        return self._classes_s(self._elsewhere)

    def range_s(self) -> tuple[float, float] | None:
        """Return the 95 % interval of :meth:`remaining_s`; None where too little is known."""
        spread_s = self._spread_s()
        total_s = self.remaining_s()
        if spread_s is None or total_s <= 0:
            return None
        # so wide an interval says nothing any more; wider ones would overflow
        return log_interval(total_s, min(1.96 * spread_s, 30.0 * total_s))

    def _spread_s(self) -> float | None:
        """Return the standard deviation of :meth:`remaining_s`, None where too little is known.

        The efforts of the classes of a band scatter about a multiple of their predicted costs.
        What is left scatters likewise, and so does the multiple, which rests on those that are
        known.
        """
        n_measured = sum(sums[0] for sums in self._measured)
        if not self._is_known or n_measured < _ENOUGH_TO_SCATTER:
            return None
        variance = 0.0
        for band, n_left in enumerate(self._n_left):
            if n_left:
                know = self._know(band)
                # the classes that are left, and the error of the factor, which is the same for all
                # of them
                n_like_it = n_left + know.n * (self._cost_left[band] / know.cost) ** 2
                variance += know.variance * n_like_it
        return sqrt(variance)

    @property
    def _is_known(self) -> bool:
        """Whether at least one class has been measured, and how fast this machine is."""
        has_cost = any(sums[0] for sums in self._measured)
        has_pace = any(pace[2] for pace in self._pace)
        return has_cost and has_pace

    def _classes_s(self, costs: list[float]) -> float:
        """Return the seconds of classes, parts included, given their costs' sum in each band."""
        return sum(cost * self._factor(band) for band, cost in enumerate(costs) if cost > 0)

    def _factor(self, band: int) -> float:
        """Return the seconds per unit of predicted cost: effort per cost, times seconds per effort;
        1 if nothing is known.
        """
        if self._is_known:
            return self._know(band).factor
        return 1.0

    def _know(self, band: int) -> _Knowledge:
        if band not in self._known:
            n, cost, effort, *squares = _near(band, self._measured, _ENOUGH)
            _, seconds, its_effort = _near(band, self._pace, _ENOUGH_FOR_PACE)
            multiple = effort / cost
            pace = seconds / its_effort
            # the sum of (effort - multiple * cost)**2, from sums: the classes themselves are not
            # kept
            residues = squares[0] * multiple**2 - 2 * multiple * squares[1] + squares[2]
            # rounding may take a sum of squares below zero
            variance = max(0.0, residues) / max(n - 1, 1) * pace**2
            self._known[band] = _Knowledge(n, cost, multiple * pace, variance)
        return self._known[band]


def _near(band: int, sums: list[list[float]], enough: int) -> list[float]:
    """Return the sums of a band and as many neighbours as it takes to have enough of the first."""
    near = sums[band : band + 1]
    reach = 0
    while sum(row[0] for row in near) < enough and len(near) < len(sums):
        reach += 1
        # to both sides, so that what is learnt leans neither to cheap nor to expensive classes
        near = sums[max(0, band - reach) : band + reach + 1]
    if len(near) == 1:
        return near[0]
    return [sum(column) for column in zip(*near, strict=True)]


def _moments(costs: Any, efforts: Any) -> tuple[Any, ...]:
    """Return what is summed up of classes that were measured."""
    return costs**0, costs, efforts, costs**2, costs * efforts, efforts**2


def _sums(bands: Int8s, values: Float64s) -> list[float]:
    return [float(value) for value in np.bincount(bands, values, N_BANDS)]


def _bands_of(costs: Float64s) -> Int8s:
    """Return the band of each class, int8[n]: bands have (nearly) equally many classes, from cheap
    to expensive.
    """
    bands = np.empty(len(costs), np.int8)
    # by rank, not by cost: each band is to have classes to learn from
    n = len(costs)
    from_weak_to_strong = np.argsort(costs, kind="stable")
    bands[from_weak_to_strong] = np.arange(n) * N_BANDS // max(1, n)
    return bands


def _mean_one(costs: Float64s) -> Float64s:
    """Return the costs scaled to a mean of 1 (a second each, until one has been measured), without
    absurd ones.
    """
    usable = np.where(np.isfinite(costs) & (costs > 0), costs, 0.0)
    if len(usable):
        mean = float(usable.mean())
    else:
        mean = 0.0
    return np.maximum(usable / mean if mean > 0 else usable, 1e-6)
