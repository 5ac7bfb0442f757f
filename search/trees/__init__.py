"""Orderly trees: grown from terms, merged, and searched by OrderlyBound.

    Forest         forest.py   the trees of a node, layer by layer; decides how each is grown
    build          tree.py     one pass over sorted keys; the only owner of the layout of a tree node
    merge          merge.py    two trees and sorted terms into one that shares what they leave alone
    orderly_bound  bound.py    the search itself; sums.py adds up the letters of a level

Uses ``terms``, ``scoring`` and what lies under them.
"""
