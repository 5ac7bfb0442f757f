"""Local search: good boards without any proof.

    local_search   methods.py   one method by name, or several in parallel processes (parallel.py)
                   climb.py, anneal.py, genetic.py
    hamilton       hamilton.py  words that use every cell of a board

Uses ``scoring`` and what lies under it.
"""
