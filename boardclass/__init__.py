"""What a board is: geometry, the one canonicaliser, letter buckets, word lists, score tables.

    parse_dims -> geometry -> canonical            cells, neighbours, symmetries
    parse_board -> format_rows                     one board as text
    parse_partition -> Partition -> canonical_ranks (kernel in enumeration.py)
    load_wordlist -> WordList ;  parse_scores -> ScoreTable -> check_overflow
    trace ;  assign_dice, roll                     one word on one board (tracing.py); dice (rolling.py)
    reaches                                        the only comparison with the cutoff (cutoff.py)

Exports nothing here: import from the modules, so that a command which needs no kernel never loads numba.
Only jit.py, cutoff.py and enumeration.py import numba.
"""
