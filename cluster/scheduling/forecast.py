"""How long what is open should take: what is likely, corrected by what classes really took.

Expensive classes come first, so one factor for all classes, learnt from those, would make the rest
look cheap or dear wherever the likely costs lean to one side.  So classes are put into bands by
their likely cost, and each band learns from its own classes and as many neighbours as it takes to
know enough.  What a band should cost then, and how far it may be off, ``search/costs.py`` tells, as
for a plan.

What a class costs is measured by its effort, which does not depend on the machine, so that classes
that earlier calls searched count as well: without them a run that goes on has few to judge by.
This call's verdicts tell how many seconds that is here, and before the first of them the seconds
that were stored.
"""

from collections import deque
from collections.abc import Sequence
from math import inf
from statistics import median
from typing import NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import Float64s, Int8s
from orderly_boggle.search.costs import Measured, Variance, interval

N_BANDS = 8
_ENOUGH = 6  # measured classes on which the factor of a band rests, if there are so many
# verdicts on which the pace of a band rests: it scatters, by what else the machine does
_ENOUGH_FOR_PACE = 15
_ENOUGH_TO_SCATTER = 30  # measured classes before an interval is told
# Expensive classes end first, and the others do not cost for their likely costs what those did:
# forecasts of published runs are off by this much (standard deviation of the logarithm), apart from
# the scatter of their classes (python -m tests.bench.left).
_DRIFT = 1 / 3
_KNOWN_WELL = 1e6  # degrees of freedom of that
# what a verdict keeps of its weight with each later one of its band: machines become slower or
# faster
_FADE = 0.999
_CHILD_FADE = 0.99
_MIN_SECONDS = 1e-4
_LAST = 101  # verdicts that say how much clock time goes with CPU time
_FAR = 3.0  # times what is usual: then the worker was stopped
_SHORT_S = 0.1  # clock time: what takes less is told by the turns of other work


class History(NamedTuple):
    """The classes that earlier calls searched to the end."""

    # likely cost of each, float64[n], in the unit of the open classes
    costs: Float64s
    # terms, pushes and splits of each, float64[n], those of its parts included
    efforts: Float64s
    seconds: float = 0.0  # what all of them took
    child_s: float = 0.0  # what a part of one took, on average; 0: there was none


NO_HISTORY = History(np.empty(0), np.empty(0))  # no earlier call


class _Known(NamedTuple):
    """What a band and its neighbours know."""

    efforts: Measured  # of classes, for their likely costs
    pace: float  # seconds for an effort


class Forecast:
    """What is open, in seconds of one worker.

    ``costs``, float64[n], are the likely costs of the open classes, in any unit; a class is
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
        # of each band, the efforts of its measured classes
        self._efforts = [Measured() for _ in range(N_BANDS)]
        for band, measured in enumerate(self._efforts):
            is_of_band = bands_past == band
            measured.note_all(past[is_of_band], history.efforts[is_of_band])
        # of each band, the seconds of this call's verdicts for their efforts; later ones weigh more
        self._paces = [Measured() for _ in range(N_BANDS)]
        # spread over all bands, since the seconds of a class were not stored by band
        if history.seconds:  # as much as one class counts
            share = 1 / len(past) / N_BANDS
            effort = float(history.efforts.sum())
            for pace in self._paces:
                pace.likely = effort * share
                pace.cost = history.seconds * share
        self._known: dict[int, _Known] = {}  # of each band, until a verdict comes
        self._child_times = Measured()  # seconds of children, each as likely as any other
        if history.child_s > 0:
            self._child_times.note(1.0, history.child_s)

    def close_class(self, place: int) -> None:
        """Note that a class itself has its verdict, or gets none; parts of it may be open."""
        band = int(self._bands[place])
        self._n_left[band] -= 1
        self._cost_left[band] -= float(self.costs[place])

    def note_class(self, place: int, effort: float) -> None:
        """Learn from a class with all its parts."""
        # computed anew only when somebody asks
        self._known.clear()
        self._efforts[self._bands[place]].note(float(self.costs[place]), effort)

    def note_verdict(self, place: int, seconds: float, effort: float) -> None:
        """Learn how fast this machine is from the verdict on a class or a part of one."""
        self._known.clear()
        pace = self._paces[self._bands[place]]
        # the ratio of two faded sums: no verdict is divided by a time near zero
        pace.fade(_FADE)
        pace.note(effort, seconds)

    def note_child(self, seconds: float) -> None:
        """Learn from the verdict on a child of a split."""
        self._child_times.fade(_CHILD_FADE)
        self._child_times.note(1.0, seconds)

    @property
    def is_measured(self) -> bool:
        """Whether :meth:`remaining_s` rests on verdicts of this run, for all kinds of units that
        are open.
        """
        if any(self._n_left) and not self._is_known:
            return False
        # children are smaller than classes, and what classes took does not tell by how much
        return self._child_times.n > 0 or not self.n_children

    def class_s(self, place: int) -> float:
        """Return the seconds that a class should take, its parts included."""
        cost = float(self.costs[place])
        seconds, _ = self._of_band(int(self._bands[place]), cost, 1)
        # a batch of units that cost nothing would have no end
        return max(seconds, _MIN_SECONDS)

    def child_s(self) -> float:
        """Return the seconds that a child of a split should take."""
        if not self._child_times.n:
            return 1.0
        return max(self._child_times.ratio, _MIN_SECONDS)

    def remaining_s(self) -> float:
        """Return the seconds that everything open should take."""
        total_s, _ = self._of_bands(self._cost_left, self._n_left)
        return total_s + self.n_children * self.child_s()

    def elsewhere_s(self) -> float:
        """Return the seconds that the classes should take that others search."""
        total_s, _ = self._of_bands(self._elsewhere, [0] * N_BANDS)
        return total_s

    def range_s(self) -> tuple[float, float] | None:
        """Return the interval of :meth:`remaining_s`, in 95 % of the cases (docs/running.md: in how
        many replays of published runs); None where too little is known.
        """
        n_measured = sum(efforts.n for efforts in self._efforts)
        if not self._is_known or n_measured < _ENOUGH_TO_SCATTER:
            return None
        of_classes_s, variances = self._of_bands(self._cost_left, self._n_left)
        if of_classes_s:
            variances.append(Variance((_DRIFT * of_classes_s) ** 2, _KNOWN_WELL))
        if self.n_children:
            _, variance = self._child_times.of(self.n_children, self.n_children)
            variances.append(variance)
        low, high = interval(self.remaining_s(), variances)
        if high == inf:
            return None
        return low, high

    @property
    def _is_known(self) -> bool:
        """Whether at least one class has been measured, and how fast this machine is."""
        has_effort = any(efforts.n for efforts in self._efforts)
        has_pace = any(pace.likely for pace in self._paces)
        return has_effort and has_pace

    def _of_bands(self, costs: Sequence[float], n: Sequence[int]) -> tuple[float, list[Variance]]:
        """Return the seconds of classes, parts included, given the sum of their likely costs in
        each band and their number, and the variances.
        """
        total_s = 0.0
        variances = []
        for band, cost in enumerate(costs):
            if cost > 0:
                seconds, variance = self._of_band(band, cost, n[band])
                total_s += seconds
                variances.append(variance)
        return total_s, variances

    def _of_band(self, band: int, cost: float, n: int) -> tuple[float, Variance]:
        """Return the same of one band; its likely cost, without a variance, if nothing is known."""
        if not self._is_known:
            return cost, Variance(0.0, 1.0)
        known = self._know(band)
        effort, variance = known.efforts.of(cost, n)
        return effort * known.pace, Variance(variance.value * known.pace**2, variance.freedom)

    def _know(self, band: int) -> _Known:
        if band not in self._known:
            efforts = _near(band, self._efforts, _ENOUGH)
            pace = _near(band, self._paces, _ENOUGH_FOR_PACE)
            self._known[band] = _Known(efforts, pace.ratio)
        return self._known[band]


class Stops:
    """Takes out of the times of verdicts those in which a worker was stopped, as by a batch system
    that suspends a job for hours: they say nothing of what is left.
    """

    def __init__(self) -> None:
        # clock time for CPU time of the last verdicts: more than 1 beside other work
        self._ratios: deque[float] = deque(maxlen=_LAST)

    def without(self, seconds: float, cpu_s: float | None) -> float:
        """Return the seconds that a verdict would have taken at the pace of those before it, if it
        took far longer for its CPU time.
        """
        if cpu_s is None or seconds < _SHORT_S:
            return seconds
        cpu_s = max(cpu_s, _MIN_SECONDS)
        ratio = seconds / cpu_s
        usual = inf
        if len(self._ratios) >= _ENOUGH and ratio > _FAR:
            usual = max(1.0, median(self._ratios))
        # one that is no accident is soon the usual one
        self._ratios.append(ratio)
        if ratio > _FAR * usual:
            return usual * cpu_s
        return seconds


def _near(band: int, measured: list[Measured], enough: int) -> Measured:
    """Return what a band knows, with as many neighbours as it takes to have enough units."""
    near = measured[band : band + 1]
    reach = 0
    while sum(each.n for each in near) < enough and len(near) < len(measured):
        reach += 1
        # to both sides, so that what is learnt leans neither to cheap nor to expensive classes
        near = measured[max(0, band - reach) : band + reach + 1]
    return sum(near, Measured())


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
    if usable.any():
        usable /= usable.mean()
    return np.maximum(usable, 1e-6)
