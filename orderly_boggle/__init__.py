"""Which Boggle board scores highest, with a proof: the names that people use from Python.

    boardclass/   what a board is: boards, classes, word lists, score tables
    search/       one class of boards in, its boards out; scores, bounds, local search
    configs/      what a run is asked: presets, word lists, launch files
    results/      what a run leaves behind, and what it proves
    cluster/      who computes what; the command line

In a checkout these five are links to the folders at its top level; in a wheel they are folders.
Everything is imported by its whole name, such as ``orderly_boggle.search.breaker``.  Comments and
docstrings leave out the first part, and say ``search.breaker``.

``__init__.pyi`` lists the names that the package exports; each loads its module when it is first
used, so that ``import orderly_boggle`` takes no time.

>>> from orderly_boggle import score
>>> score("berlatdes", "scowl70")
430
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
