"""What is wrong with a run: exact counts, with the first few examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from results.store.index import Key

MAX_EXAMPLES = 10


@dataclass
class Faults:
    """What is missing, and what cannot be true.

    Attributes
    ----------
    n_missing, n_problems : int
    missing, problems : list of str
        The first :data:`MAX_EXAMPLES` of each.
    """

    n_missing: int = 0
    n_problems: int = 0
    missing: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add_missing(self, text: str, n: int = 1) -> None:
        """Note ``n`` units without a verdict that ``text`` names."""
        self.n_missing += n
        if len(self.missing) < MAX_EXAMPLES:
            self.missing.append(text)

    def add_problem(self, text: str) -> None:
        """Note something that cannot be true."""
        self.n_problems += 1
        if len(self.problems) < MAX_EXAMPLES:
            self.problems.append(text)


def listed(items: Sequence[object]) -> str:
    """Return the first few items as text, with dots instead of the others."""
    return ", ".join(map(str, items[:MAX_EXAMPLES])) + ", ..." * (len(items) > MAX_EXAMPLES)


def unit_name(key: Key) -> str:
    """Return how to name a unit in messages."""
    return f"class {key[0]} path {key[1]}" if key[1] else f"class {key[0]}"
