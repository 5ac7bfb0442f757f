"""The terms of a node: every way a word can lie on its boards, reduced to the letters that free
cells must have.

    path_table     path_table.py  all simple paths of a board (paths.py), grouped by the bare cells
                                  that they use, with marks for terms that are not needed; the words
    shape_terms    shapes.py      terms from these groups: whole nodes, or what forcing a letter
                                  changes; emit.py writes them
    walk           walk.py        the same along the word trie; any letters on any cell

Uses ``scoring`` (the trie) and what lies under it.
"""
