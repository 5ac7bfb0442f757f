"""The bounds of the paper as published, by plain means: twins of the fast kernels, and what `bound` and `explain` show.

    basic.py, basic_kernels.py   max/no-mark, sum/union, and the orderly tree without any trick
    teaching.py                  small trees as Python objects, for pictures

Uses ``scoring`` and what lies under it.
"""
