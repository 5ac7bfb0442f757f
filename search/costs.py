"""What classes and their parts cost: by their letters alone, and by those that were searched.  The
one owner of both, for ``plan``, the line of ``run``, ``status``, shares and the order of the
classes.

    likely_costs, likely_cost    figures to compare, from letters alone
    Measured                     what searched units cost beside that: it tells what others should
                                 cost, and the variance
    interval                     the 95 % interval of a cost

Before a run the searched units are random probes (``cluster/planning/estimate.py``), during it they
are its verdicts (``cluster/scheduling/forecast.py``).

>>> from orderly_boggle.search.question import ask
>>> question = ask("2x2", "0" * 64, "words", 14, "jqxzvwk fybughmpcdlnorstiae")
>>> predicted_costs(question, question.class_ids()).astype(int).tolist()
[2401, 33124, 8918, 33124, 123032, 456976]
>>> likely_cost(question, 15, "0=e") < likely_cost(question, 15, "")
True
>>> measured = Measured()
>>> measured.note(likely=2.0, cost=5.0)
>>> measured.note(likely=3.0, cost=5.0)
>>> measured.of(likely=100.0, n=20)[0]
200.0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, sqrt
from typing import NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import Float64s, Int64s
from orderly_boggle.boardclass.parts import parse_path
from orderly_boggle.search.params import Rules
from orderly_boggle.search.question import Question

_WIDEST = 100.0  # an interval that says less is none


def predicted_costs(question: Question, class_ids: Int64s) -> Float64s:
    """Return float64[n]: figures that grow with the expected cost of a class, because strong
    letters cost more.

    Each is the product, over the cells, of one more than the place of the cell's last letter in
    ``letter_order``.  Shares are cut by them, so they never change.
    """
    weights = {}
    for place, letter in enumerate(question.rules.letter_order):
        weights[letter] = 1.0 + place
    costs = np.ones(len(class_ids))
    rest = np.array(class_ids, np.int64)
    for buckets in question.partition.cell_buckets:
        heaviest_of = [max(map(weights.__getitem__, bucket)) for bucket in buckets]
        heaviest = np.array(heaviest_of)
        above = rest // len(buckets)  # numpy is slow at remainders
        costs *= heaviest[rest - above * len(buckets)]
        rest = above
    return costs


def likely_costs(question: Question, class_ids: Int64s) -> Float64s:
    """Return the likely costs of classes, float64[n], in a unit of their own.

    Predicted costs differ more than true ones; this power of them fits 3x4 and 4x4.
    """
    return predicted_costs(question, class_ids) ** 0.7


def likely_cost(question: Question, class_id: int, path: str) -> float:
    """Return the likely cost of a class, or of a part of it, which has a share of that of its
    class.
    """
    letters = question.partition.class_letters(class_id)
    cost = likely_costs(question, np.array([class_id]))[0]
    for cell, left in dict(parse_path(path, len(letters))).items():
        cost *= _strength(left, question.rules) / _strength(letters[cell], question.rules)
    return float(cost)


def _strength(letters: str, rules: Rules) -> float:
    """Return what some letters of a cell cost: on 4x4 the strongest about 16 times the weakest."""
    return sum((rules.letter_order.index(letter) + 4) ** 1.4 for letter in letters)


class Variance(NamedTuple):
    """A part of the variance of a cost, estimated."""

    value: float
    freedom: float  # degrees of freedom


@dataclass
class Measured:
    """What units cost that were searched, beside what was likely: sums, for there may be millions
    of them.
    """

    n: float = 0.0
    likely: float = 0.0
    cost: float = 0.0
    likely_squared: float = 0.0
    product: float = 0.0
    cost_squared: float = 0.0

    def note(self, likely: float, cost: float, times: float = 1.0) -> None:
        """Add a unit, as if it were so many."""
        self.n += times
        self.likely += times * likely
        self.cost += times * cost
        self.likely_squared += times * likely**2
        self.product += times * likely * cost
        self.cost_squared += times * cost**2

    def note_all(self, likely: Float64s, costs: Float64s) -> None:
        """Add units by their likely costs and their costs, float64[n] each."""
        self.n += len(likely)
        self.likely += float(likely.sum())
        self.cost += float(costs.sum())
        self.likely_squared += float(likely @ likely)
        self.product += float(likely @ costs)
        self.cost_squared += float(costs @ costs)

    def fade(self, weight: float) -> None:
        """Let what is known count for less than what comes: it keeps so much of its weight."""
        self.n *= weight
        self.likely *= weight
        self.cost *= weight
        self.likely_squared *= weight
        self.product *= weight
        self.cost_squared *= weight

    def __add__(self, other: Measured) -> Measured:
        return Measured(
            self.n + other.n,
            self.likely + other.likely,
            self.cost + other.cost,
            self.likely_squared + other.likely_squared,
            self.product + other.product,
            self.cost_squared + other.cost_squared,
        )

    @property
    def ratio(self) -> float:
        """The cost for what is likely; 0 if nothing was measured."""
        if not self.likely:
            return 0.0
        return self.cost / self.likely

    def of(self, likely: float, n: float) -> tuple[float, Variance]:
        """Return what others should cost that are likely to cost ``likely`` together, and the
        variance of that; ``n`` is their number, 0 where the measured ones are drawn from them all.

        Each of them scatters about the ratio as the measured ones do, and the ratio is wrong by as
        much for all of them.
        """
        if not self.likely:
            return 0.0, Variance(0.0, 1.0)
        ratio = self.ratio
        # the sum of (cost - ratio * likely)**2
        squares = self.likely_squared * ratio**2 - 2 * ratio * self.product + self.cost_squared
        freedom = max(self.n - 1.0, 1.0)
        # rounding may take a sum of squares below zero
        each = max(0.0, squares) / freedom
        n_like_it = n + self.n * (likely / self.likely) ** 2
        return ratio * likely, Variance(each * n_like_it, freedom)


def interval(total: float, variances: Sequence[Variance]) -> tuple[float, float]:
    """Return the lower and upper end of the 95 % interval of a cost; 0 and infinity for one that
    says next to nothing.

    It is Student's, because costs vary more than a few units show.
    """
    whole = sum(value for value, _ in variances)
    # a single unit, or none that cost anything: no interval can be told
    if not whole or not total:
        return 0.0, inf
    freedom = whole**2 / sum(value**2 / n for value, n in variances)  # Satterthwaite 1946
    low, high = log_interval(total, student(freedom) * sqrt(whole))
    if high < _WIDEST * total:
        return low, high
    return 0.0, inf


def student(freedom: float) -> float:
    """Return the half-width that holds 95 % of Student's distribution, within 1 % from 2 degrees on
    (Hill 1970).
    """
    return float(np.polyval((1.5895, 2.5558, 2.8225, 2.3723, 1.96), 1 / freedom))


def log_interval(total: float, half_width: float) -> tuple[float, float]:
    """Return the ends of an interval about a positive cost, on a logarithmic scale, because costs
    are skewed; ``half_width`` in the unit of the cost.
    """
    factor = exp(min(half_width / total, 700.0))
    return total / factor, total * factor
