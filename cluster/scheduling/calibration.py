"""How long a unit should take: what verdicts took, set against what was predicted."""

from __future__ import annotations

_MIN_SECONDS = 1e-4


class Calibration:
    """Seconds per unit of predicted cost, learnt from verdicts.

    ``Plan.predicted_costs`` knows which classes cost more, the machine decides how much.  There is one factor for the
    class root (batch sizes) and one with all its children (time left).
    """

    def __init__(self) -> None:
        self._predicted = 0.0
        self._root_s = 0.0
        self._total_s = 0.0
        self._child_s = 0.0
        self._n_children = 0.0

    def note(self, predicted: float, seconds: float, is_root: bool) -> None:
        """Learn from a verdict; older ones fade so that the factor follows the order from expensive to cheap."""
        if is_root:
            self._predicted = self._predicted * 0.999 + predicted
            self._root_s = self._root_s * 0.999 + seconds
            self._total_s = self._total_s * 0.999 + seconds
        else:
            if self.is_known:  # parts that come before any root are left over from an earlier run
                self._total_s += seconds
            self._child_s = self._child_s * 0.99 + seconds
            self._n_children = self._n_children * 0.99 + 1

    @property
    def is_known(self) -> bool:
        """Whether at least one class root has been measured."""
        return self._predicted > 0

    @property
    def knows_children(self) -> bool:
        """Whether at least one child of a split has been measured."""
        return self._n_children > 0

    def root_s(self, predicted: float) -> float:
        """Return the seconds that breaking a class root with this prediction should take."""
        return max(predicted * (self._root_s / self._predicted if self.is_known else 1.0), _MIN_SECONDS)

    def class_s(self, predicted: float) -> float:
        """Return the seconds that classes with this sum of predictions should take, children included."""
        return predicted * (self._total_s / self._predicted if self.is_known else 1.0)

    def child_s(self) -> float:
        """Return the seconds that a child of a split should take."""
        return max(self._child_s / self._n_children if self._n_children else 1.0, _MIN_SECONDS)
