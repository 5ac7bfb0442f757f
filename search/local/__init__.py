"""Local search: good boards without any proof.

    local_search   methods.py   pool hill climb, annealing: several runs, results
                                merged; scorers in threads, and of boards that must hold a word
    best_boards    hamilton.py  words that use every cell of a board

Uses ``scoring`` and what lies under it.
"""
