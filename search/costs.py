"""What classes and their parts are expected to cost, by their letters alone: the one owner of these
figures, for plans, shares, the order of the classes and the time left.

They compare; what they are in seconds is measured, by probes before a run
(``cluster/planning/estimate.py``) and by verdicts during it (``cluster/scheduling/forecast.py``).

>>> from orderly_boggle.search.question import ask
>>> question = ask("2x2", "0" * 64, "words", 14, "jqxzvwk fybughmpcdlnorstiae")
>>> predicted_costs(question, question.class_ids()).astype(int).tolist()
[2401, 33124, 8918, 33124, 123032, 456976]
>>> likely_cost(question, 15, "0=e") < likely_cost(question, 15, "")
True
"""

from math import exp

import numpy as np

from orderly_boggle.boardclass.arrays import Float64s, Int64s
from orderly_boggle.boardclass.parts import parse_path
from orderly_boggle.search.params import Rules
from orderly_boggle.search.question import Question


def predicted_costs(question: Question, class_ids: Int64s) -> Float64s:
    """Return float64[n]: figures that grow with the expected cost of a class, because strong
    letters cost more.

    Each is the product, over the cells, of one more than the place of the cell's last letter in
    ``letter_order``.
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


def likely_costs(predicted: Float64s) -> Float64s:
    """Return the likely costs of classes, float64[n], by :func:`predicted_costs`.

    Predicted costs differ more than true ones; this power of them fits 3x4 and 4x4.
    """
    return predicted**0.7


def likely_cost(question: Question, class_id: int, path: str) -> float:
    """Return the likely cost of a class, or of a part of it, which has a share of that of its
    class.
    """
    letters = question.partition.class_letters(class_id)
    predicted = predicted_costs(question, np.array([class_id]))
    cost = likely_costs(predicted)[0]
    for cell, left in dict(parse_path(path, len(letters))).items():
        cost *= _strength(left, question.rules) / _strength(letters[cell], question.rules)
    return float(cost)


def _strength(letters: str, rules: Rules) -> float:
    """Return what some letters of a cell cost: on 4x4 the strongest about 16 times the weakest."""
    return sum((rules.letter_order.index(letter) + 4) ** 1.4 for letter in letters)


def log_interval(total: float, half_width: float) -> tuple[float, float]:
    """Return the ends of an interval about a positive cost, on a logarithmic scale, because costs
    are skewed; ``half_width`` in the unit of the cost.
    """
    factor = exp(min(half_width / total, 700.0))
    return total / factor, total * factor
