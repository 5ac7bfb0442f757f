"""Local search: good boards without any proof.

    local_search   methods.py   several runs of one method, results merged
    climb          pool.py      the pool hill climb
    anneal         annealing.py simulated annealing
    breed          genetic.py   a genetic algorithm
    Search         moves.py     one search: neighbours, equal boards, the best
    BatchScorer    batches.py   scorers in threads, and of boards that must hold a word
    best_boards    hamilton.py  words that use every cell of a board

Uses ``scoring``, ``terms`` and what lies under them.
"""
