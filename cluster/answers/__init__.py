"""What the program answers about classes and runs: as records, and as text for a terminal.

    classes.py      classes: as they are named
    run_view.py     a run as one record, from its rows, lock and log: its question, its answer, how
                    far it is, who works on it
    status.py       the words for that record; whether some runs are proven, what published ones
                    prove
    told.py         what pages get, as types
    render.py       tables, JSON, CSV, boards as text

The command line, the terminal view and the web pages show these.  Of ``cluster`` it uses
``streams`` only.
"""
