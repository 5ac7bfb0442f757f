from .board import LETTERS, Board, format_rows, in_symbols, read_board, with_letters
from .geometry import Dims, parse_dims
from .partition import Partition, parse_class, parse_partition
from .scores import ScoreTable, parse_scores
from .wordlist import WordList, load_wordlist

__all__ = [
    "LETTERS",
    "Board",
    "Dims",
    "Partition",
    "ScoreTable",
    "WordList",
    "format_rows",
    "in_symbols",
    "load_wordlist",
    "parse_class",
    "parse_dims",
    "parse_partition",
    "parse_scores",
    "read_board",
    "with_letters",
]
