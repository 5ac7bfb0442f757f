"""What the nodes of one unit add up to."""

from dataclasses import dataclass, field

# the counters that add up to what the unit budget limits
EFFORT = ("n_terms", "n_pushes", "n_splits")
COUNTERS = ("n_terms", "n_nodes", "n_pushes", "n_splits", "n_survivors", "max_tree_bytes")


@dataclass
class Tally:
    """What the nodes of one unit add up to, and the cutoff that it is searched at.

    Examples
    --------
    >>> Tally(cutoff=14, n_terms=100, n_pushes=20).effort
    120
    """

    cutoff: int
    max_bound: int = 0
    candidates: set[tuple[str, int]] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    n_terms: int = 0
    n_nodes: int = 0
    n_pushes: int = 0
    n_splits: int = 0
    n_survivors: int = 0
    max_tree_bytes: int = 0

    @property
    def effort(self) -> int:
        """What the unit budget limits."""
        return sum(getattr(self, name) for name in EFFORT)

    def counters(self) -> dict[str, int]:
        """Return the counters of a verdict by name."""
        return {name: getattr(self, name) for name in COUNTERS}
