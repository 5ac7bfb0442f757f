"""search: one class of boards in, the boards at or above the cutoff out; and everything that
scores.

    Breaker.break_unit     breaker.py     Spec, Unit -> UnitResult; replicate: the same another way
      NodeSearch.search    node_search.py one node: its trees are searched, what survives is scored
    Certifier              certificate.py the shape of a search, for the checker in
                           results/proof/audit.py
    trees/                 orderly trees: grown, merged, searched by OrderlyBound
    local/                 local search: good boards without proof
    terms/                 the terms of a node, from path shapes or by a walk over the trie
    explain.py             the story of a class, and its trees, drawn
    models.py              a class as a model for general solvers
    class_bounds.py        the bounds of the paper as published, to look at
    solvers/               four independent solvers, referees of the scorer
    scoring/               exact scores
    costs.py               what classes and their parts should cost, by letters and by what is known
    question.py            what a run is asked, and how it is spelled, compared and identified
    node.py, params.py     letters per cell and how a node splits; the rules of that, and budgets
    tally.py               what the nodes of a unit add up to
    keys.py, bits.py       literals in one integer; bit instructions
    one_thread.py          what a second thread is told of an object that is at work

Each uses only what stands below it (tests/test_house.py).  ``__init__.pyi`` lists the names that
the package exports; each loads its module when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
