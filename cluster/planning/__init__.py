"""Before a run: what is to be searched and what it will cost.

    make_plan            plan.py       a configuration, validated, with its question and its classes
    Share                shares.py     the K-th of N equal shares of the classes
    best_known           known.py      a run that comes with the program and proves the best boards
    worth_naming         known.py      one that answers the question already
    estimate, variants   estimate.py   cost from random classes, also of other partitions and
                         budgets

Uses nothing else in ``cluster``.
"""
