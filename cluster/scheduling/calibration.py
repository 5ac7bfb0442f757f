"""How long a unit should take: what verdicts took, set against what was predicted.

``Plan.predicted_costs`` knows which classes cost more, but overstates by how much: of the classes of 4x4 it gives the
strongest twelfth 39 times the cost of the weakest, and they take 12 times as long.  Expensive classes come first, so
one factor for all classes, learnt from those, would make the rest look cheap.  So classes are put into bands by their
predicted cost, and each band learns from its own classes and as many neighbours as it takes to know enough.

Classes that earlier calls searched count as well, by their effort, which does not depend on the machine: this call's
verdicts tell how many seconds that is here.  Without them a run that goes on has few to judge by.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

N_BANDS = 8
_ENOUGH = 6  # measured classes on which the factor of a band rests, if there are so many
_FADE = 0.999  # what a verdict keeps of its weight with each later one of its band: machines become slower or faster
_MIN_SECONDS = 1e-4


class Past(NamedTuple):
    """The classes that earlier calls searched to the end.

    Attributes
    ----------
    costs : float64[n]
        Predicted cost of each, in the unit of the open classes.
    efforts : float64[n]
        Its terms, pushes and splits, those of its parts included.
    """

    costs: npt.NDArray[np.float64]
    efforts: npt.NDArray[np.float64]


NOTHING = Past(np.empty(0), np.empty(0))  # no earlier call


def bands_of(costs: npt.NDArray[np.float64]) -> npt.NDArray[np.int8]:
    """Return the band of each class, int8[n]: bands have (nearly) equally many classes, from cheap to expensive."""
    bands = np.empty(len(costs), np.int8)
    bands[np.argsort(costs, kind="stable")] = np.arange(len(costs)) * N_BANDS // max(1, len(costs))
    return bands


class Calibration:
    """Seconds per unit of predicted cost in each band, learnt from verdicts.

    There is one factor for the class root (batch sizes) and one with all its children (time left).

    Parameters
    ----------
    past : Past
    bands : int8[n]
        The band of each of its classes.
    """

    def __init__(self, past: Past, bands: npt.NDArray[np.int8]) -> None:
        self._n_past = np.bincount(bands, minlength=N_BANDS)
        self._past_predicted = np.bincount(bands, past.costs, N_BANDS)
        self._past_effort = np.bincount(bands, past.efforts, N_BANDS)
        self._seconds = 0.0
        self._effort = 0.0
        self._n_roots = np.zeros(N_BANDS, np.int64)
        self._predicted = np.zeros(N_BANDS)
        self._root_s = np.zeros(N_BANDS)
        self._total_s = np.zeros(N_BANDS)
        self._child_s = 0.0
        self._n_children = 0.0

    def note_root(self, band: int, predicted: float, seconds: float, effort: int) -> None:
        """Learn from the verdict on a class root."""
        self._note_pace(seconds, effort)
        for sums, amount in ((self._predicted, predicted), (self._root_s, seconds), (self._total_s, seconds)):
            sums[band] = sums[band] * _FADE + amount
        self._n_roots[band] += 1

    def note_child(self, band: int | None, seconds: float, effort: int) -> None:
        """Learn from the verdict on a child of a split; ``band`` is None if its root is of an earlier call."""
        self._note_pace(seconds, effort)
        if band is not None:
            self._total_s[band] += seconds
        self._child_s = self._child_s * 0.99 + seconds
        self._n_children = self._n_children * 0.99 + 1

    def _note_pace(self, seconds: float, effort: int) -> None:
        self._seconds = self._seconds * _FADE + seconds
        self._effort = self._effort * _FADE + effort

    @property
    def is_known(self) -> bool:
        """Whether at least one class root has been measured, here or, with a verdict here to compare with, before."""
        return bool(self._n_roots.any() or (self._n_past.any() and self._effort))

    @property
    def knows_children(self) -> bool:
        """Whether at least one child of a split has been measured."""
        return self._n_children > 0

    def root_s(self, band: int, predicted: float) -> float:
        """Return the seconds that breaking a class root with this prediction should take."""
        return max(predicted * self._factor(band, self._n_roots, self._predicted, self._root_s), _MIN_SECONDS)

    def classes_s(self, predicted: npt.NDArray[np.float64]) -> float:
        """Return the seconds that classes should take, children included, given their predictions' sum in each band."""
        known, costs, seconds = self._n_roots, self._predicted, self._total_s
        if self._effort:
            known, costs = known + self._n_past, costs + self._past_predicted
            seconds = seconds + self._past_effort * (self._seconds / self._effort)
        return sum(
            float(left) * self._factor(band, known, costs, seconds) for band, left in enumerate(predicted) if left > 0
        )

    def child_s(self) -> float:
        """Return the seconds that a child of a split should take."""
        return max(self._child_s / self._n_children if self._n_children else 1.0, _MIN_SECONDS)

    @staticmethod
    def _factor(
        band: int, known: npt.NDArray[np.int64], predicted: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64]
    ) -> float:
        """Return the seconds per unit of predicted cost in a band, 1 if nothing is known."""
        for reach in range(N_BANDS):
            near = slice(max(0, band - reach), band + reach + 1)
            if known[near].sum() >= _ENOUGH:
                break
        return float(seconds[near].sum() / predicted[near].sum()) if known[near].any() else 1.0
