"""The bounds of the paper as published, by plain means: twins of the fast kernels, and what `bound` and `explain` show.

    basic.py      sum, max and orderly bound, and all boards that reach a cutoff
    terms.py      the terms of a class
    teaching.py   small trees as Python objects, for pictures
    *_kernels.py  their kernels

Uses ``scoring`` and what lies under it.
"""
