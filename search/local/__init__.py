"""Local search: good boards without any proof.

    local_search   methods.py   pool hill climb, annealing, genetic algorithm: several runs, results merged
                   boards.py    boards as arrays: neighbours, canonical images, the way up to a local optimum
                   scorers.py   several threads for one batch; boards that must hold a word
    best_boards    hamilton.py  words that use every cell of a board

Uses ``scoring`` and what lies under it.
"""
