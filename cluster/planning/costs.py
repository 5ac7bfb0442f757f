"""What classes are expected to cost, by their letters alone.

>>> from orderly_boggle.search.question import ask
>>> question = ask("2x2", "0" * 64, "words", 14, "jqxzvwk fybughmpcdlnorstiae")
>>> predicted_costs(question, question.class_ids()).astype(int).tolist()
[2401, 33124, 8918, 33124, 123032, 456976]
"""

import numpy as np

from orderly_boggle.boardclass.arrays import Float64s, Int64s
from orderly_boggle.search.question import Question


def predicted_costs(question: Question, class_ids: Int64s) -> Float64s:
    """Return float64[n]: figures that grow with the expected cost of a class, because strong
    letters cost more.

    Each is the product, over the cells, of one more than the place of the cell's last letter in
    ``letter_order``.
    """
    weights = {letter: 1.0 + place for place, letter in enumerate(question.rules.letter_order)}
    costs, rest = np.ones(len(class_ids)), np.array(class_ids, np.int64)
    for buckets in question.partition.cell_buckets:
        heaviest = np.array([max(map(weights.__getitem__, bucket)) for bucket in buckets])
        above = rest // len(buckets)  # numpy is slow at remainders
        costs *= heaviest[rest - above * len(buckets)]
        rest = above
    return costs
