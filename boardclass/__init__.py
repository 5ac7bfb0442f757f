"""What a board is: geometry, the one canonicaliser, letter buckets, word lists, score tables.

    parse_dims -> geometry -> canonical            cells, neighbours, symmetries, cell orders
    Board ;  parse_board, read_board -> format_rows   one board as text; as a picture (board_svg.py,
    board.css) parse_partition -> Partition -> canonical_ranks (kernel in enumeration.py)
    parse_path, join, ancestors                    paths of parts of a class, such as 5=ab/6=t
    (parts.py) load_wordlist -> WordList ;  parse_scores -> ScoreTable -> check_overflow
    read_entries -> import_words                   a list from files as people have them
                                                   (word_files.py)
    trace ;  assign_dice, roll                     one word on one board; dice (rolling.py)
    printable, counted, duration, html_table       text as it is shown (printable.py)
    pool ;  python_path                            processes that a command starts (processes.py)
    reaches                                        the only comparison with the cutoff (cutoff.py,
                                                   cutoff_kernel.py)

The names below load their module when they are first used, so that a command which needs no kernel
never loads numba. Only jit.py, cutoff_kernel.py and enumeration.py import numba.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boardclass.board import Board
    from boardclass.geometry import Dims, parse_dims
    from boardclass.partition import Partition, parse_class, parse_partition
    from boardclass.scores import ScoreTable, parse_scores
    from boardclass.wordlist import WordList, load_wordlist

__all__ = [
    "Board",
    "Dims",
    "Partition",
    "ScoreTable",
    "WordList",
    "load_wordlist",
    "parse_class",
    "parse_dims",
    "parse_partition",
    "parse_scores",
]


def lazy(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package that exports names of its modules (PEP 562).

    homes : the module of each name
    """

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return __getattr__


__getattr__ = lazy(
    __name__,
    {
        "Board": "board",
        "Dims": "geometry",
        "Partition": "partition",
        "ScoreTable": "scores",
        "WordList": "wordlist",
        "load_wordlist": "wordlist",
        "parse_class": "partition",
        "parse_dims": "geometry",
        "parse_partition": "partition",
        "parse_scores": "scores",
    },
)
