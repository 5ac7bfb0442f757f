"""Exact scores: the word trie and the batched scorer over it, with a vector kernel and its portable
twin.

    Scorer.scores        scorer.py          boards in, scores out; picks the kernel that the
                         processor can run
      score kernels      scorer_simd.py     AVX-512, many boards at once; scorer_kernels.py, one at
                         a time
      Trie               trie.py            words as one flat array
    Scorer.walk,         walks.py           what moves of a board score: as whole boards
    scores_after
      walk_board         moves_simd.py      the vector kernel of it: looks only at what changes
    best_neighbours      scorer.py          what one step makes of a board

Uses ``search.bits`` and ``search.question`` only.  Scores are what everything else is measured
against, so four solvers referee them.
"""
