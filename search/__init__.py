"""search: one class of boards in, the boards at or above the cutoff out; and everything that scores.

    Breaker.break_unit                        breaker.py  Spec, Unit -> UnitResult
      class_node, split, force                node.py     letters per cell, bare cells, residual symmetry (params.py)
      Forest.grow, grow_on_layers             forest.py   terms -> sorted keys -> tree
        shape_terms  <- path_table            shapes.py, paths.py   nodes with open cells, whole or what forcing changes
        walk                                  walk.py     nodes with few letters on a cell
        sort                                  radix.py    terms by their keys
        group, build                          tree.py     the orderly tree
        merge                                 merge.py    what forcing changes, put into the tree of the node above
      orderly_bound                           bound.py    letter-synchronised OrderlyBound
      Scorer.scores                           scorer.py   exact scores; scorer_simd.py, scorer_kernels.py, trie.py

    basic.py, teaching.py                     the paper's older bounds and plain trees: for twins, `bound` and `explain`
    climb.py, anneal.py, genetic.py, ...      local search; hamilton.py  words that use every cell
    solvers/                                  four independent solvers, referees of the scorer
    certificate.py                            the shape of a search, for the checker in results/audit.py

Importing this package loads nothing heavy; the names below load their module when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boardclass.lazy import lazy

if TYPE_CHECKING:
    from search.breaker import Breaker, Spec, Unit, UnitResult, break_class
    from search.local import Find, local_search
    from search.params import Params
    from search.scorer import Found, Scorer, score
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
        "breaker": ["Breaker", "Spec", "Unit", "UnitResult", "break_class"],
        "local": ["Find", "local_search"],
        "params": ["Params"],
        "scorer": ["Found", "Scorer", "score"],
        "solvers": ["solve"],
    },
)
