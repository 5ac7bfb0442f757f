from .board import Board
from .geometry import Dims, parse_dims
from .partition import Partition, parse_class, parse_partition
from .scores import ScoreTable, parse_scores
from .wordlist import WordList, load_wordlist

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
