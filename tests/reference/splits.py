"""Slow twin of how a part is split: plain Python, letters as text, nothing from the package.

A cell is *free* if its letter is still looked for, *fused* if all of its letters count as there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple


class Rules(NamedTuple):
    """What decides a split."""

    letter_order: str
    unfuse_parts: int  # a fused cell is cut into so many groups
    force_groups: Sequence[str]  # the groups of a free cell
    max_free: int  # with more free cells the next one is fused, into
    coarse_groups: Sequence[str]  # these groups; none: it is not


def slow_split(
    letters: Sequence[str], bare: Collection[int], order: Sequence[int], rules: Rules
) -> dict[int, list[str]]:
    """Return the cells that a part may be split at, each with the letter groups it is cut into."""
    free = [cell for cell in order if cell not in bare]
    fused = [cell for cell in order if cell in bare and len(letters[cell]) > 1]
    if rules.coarse_groups and len(free) > rules.max_free:
        return {free[0]: _within(rules.coarse_groups, letters[free[0]])}
    if fused:
        return {cell: _cut(_sorted(letters[cell], rules), rules.unfuse_parts) for cell in fused}
    return {cell: _within(rules.force_groups, letters[cell]) for cell in free[:1]}


def _sorted(letters: str, rules: Rules) -> str:
    return "".join(sorted(letters, key=rules.letter_order.index))


def _within(groups: Sequence[str], letters: str) -> list[str]:
    kept = ["".join(x for x in group if x in letters) for group in groups]
    return [group for group in kept if group]


def _cut(letters: str, n_parts: int) -> list[str]:
    n = min(n_parts, len(letters))
    return [letters[len(letters) * i // n : len(letters) * (i + 1) // n] for i in range(n)]
