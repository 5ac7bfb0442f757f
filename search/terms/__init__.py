"""The terms of a node: every way a word can lie on its boards, reduced to the letters that free cells must have.

    path_table     paths.py    all simple paths of a board, grouped by the bare cells that they use
    shape_terms    shapes.py   terms from these groups: whole nodes, or what forcing a letter changes
    walk           walk.py     the same along the word trie; any letters on any cell
    radix_sort     radix.py    terms by their keys

Uses ``scoring`` (the trie) and what lies under it.
"""
