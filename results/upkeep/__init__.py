"""What changes a run as a whole.

    repair        repair.py    takes out what is damaged
    extend        extend.py    takes over the verdicts of a run with another cutoff
    derived       derive.py    what a proven run says of an easier question
    merge         merging.py   puts runs of one question together

Uses ``proof``, ``log`` and what lies under them.
"""
