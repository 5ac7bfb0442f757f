"""search: one class of boards in, the boards at or above the cutoff out; and everything that
scores.

    Breaker.break_unit     breaker.py     Spec, Unit -> UnitResult; replicate: the same another way
      NodeSearch.search    node_search.py one node: its trees are searched, what survives is scored
    Certifier              certificate.py the shape of a search, for the checker in
                           results/proof/audit.py
    trees/                 orderly trees: grown, merged, searched by OrderlyBound
    terms/                 the terms of a node, from path shapes or by a walk over the trie
    local/                 local search: good boards without proof
    class_bounds.py        the bounds of the paper as published, to look at
    solvers/               four independent solvers, referees of the scorer
    scoring/               exact scores
    node.py, params.py     letters per cell and how a node splits; parameters
    keys.py, bits.py       literals in one integer; bit instructions

Each uses only what stands below it (tests/test_house.py).  Importing this package loads nothing
heavy; the names below load their module when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boardclass import lazy

if TYPE_CHECKING:
    from search.breaker import Breaker, Spec, Unit, UnitResult, break_class
    from search.local.methods import Find, local_search
    from search.params import Params
    from search.scoring.scorer import Found, Scorer, score
    from search.solvers import solve

__all__ = [
    "Breaker",
    "Find",
    "Found",
    "Params",
    "Scorer",
    "Spec",
    "Unit",
    "UnitResult",
    "break_class",
    "local_search",
    "score",
    "solve",
]

__getattr__ = lazy(
    __name__,
    {
        "Breaker": "breaker",
        "Find": "local.methods",
        "Found": "scoring.scorer",
        "Params": "params",
        "Scorer": "scoring.scorer",
        "Spec": "breaker",
        "Unit": "breaker",
        "UnitResult": "breaker",
        "break_class": "breaker",
        "local_search": "local.methods",
        "score": "scoring.scorer",
        "solve": "solvers",
    },
)
