"""What a board is: geometry, the one canonicaliser, letter buckets, word lists, score tables.

    parse_dims -> geometry -> canonical   cells, neighbours, symmetries, cell orders
    read_board -> Board                   one board as text; as a picture (board_svg.py, board.css)
    parse_partition -> Partition          classes; canonical_ranks
    parse_path, join, ancestors           paths of parts of a class, such as 5=ab/6=t (parts.py)
    load_wordlist -> WordList             the strict loader
    parse_scores -> ScoreTable            points by length; check_overflow; reaches, the only
                                          comparison with the cutoff
    read_entries -> import_words          a list from files as people have them (word_entries.py,
                                          word_forms/, word_import.py)
    printable, counted, duration          text as it is shown (printable.py)
    Pool ;  python_path                   processes that a command starts (processes.py)

``__init__.pyi`` lists the names that the package exports.  Each loads its module when it is first
used, so a command that needs no kernel never loads numba.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
