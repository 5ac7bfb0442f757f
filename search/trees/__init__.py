"""Orderly trees: grown from terms, merged, and searched by OrderlyBound.

    Forest         forest.py     the trees of a node, and the layers that they are grown on
                                 (layer.py), step by step (steps.py)
      Generator    generator.py  terms of a node, by path shapes or by the walk, from the words of a
                   run as arrays
      Arrays       arrays.py     the working memory of a worker
      segments     segments.py   trees whose first levels are outside their keys
    merge          merge.py      sorted keys into a tree; two trees and keys into one that shares
                                 what they leave alone; runs.py makes the keys
    expand         lazy_subtree.py    subtrees of few terms: their bound, and building those that a
                   search reaches
    orderly_bound  bound.py      the search itself; state.py is its state, sums.py adds up the
                                 letters of a level
    bound_last_levels    last_levels.py    what the last levels can give together: lower bounds
                   behind a letter of the first level
    Tree           tree.py       the only owner of the layout of a tree node

Uses ``terms``, ``scoring`` and what lies under them.
"""
