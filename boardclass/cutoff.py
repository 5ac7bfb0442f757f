"""The only comparison with the cutoff: a bound or score *reaches* the cutoff when it is at least as
large.

A state whose bound does not reach the cutoff is eliminated; a board whose score reaches it belongs
to the result. One rule in one place, so that no pruning step can differ from another by ``<`` and
``<=``; kernels call it as well.

>>> reaches(430, 430), reaches(429, 430)
(True, False)
"""

from __future__ import annotations


def reaches(value: int, cutoff: int) -> bool:
    """Return whether ``value`` (a bound or an exact score, points) is at or above ``cutoff``."""
    return value >= cutoff
