"""cluster.watch: runs seen from outside: where they are, what is going on in them; ``orderly watch``.

    catalog.py      the runs under what was given, by key (also for ``orderly runs`` and ``orderly serve``)
    pulse.py        what is going on in a run, from its lock and event log (also for ``orderly serve``)
    view.py         what ``orderly watch`` knows: the pulse, and what the rows prove, read in a thread
    screen.py       the view as a drawing for a terminal of any size
    terminal.py     keys, resizing, redrawing

Nothing is written.
"""
