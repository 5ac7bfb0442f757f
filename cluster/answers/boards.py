"""What there is to say about boards: scores, words, neighbours, dice; and which class is meant.

The command line and the web pages show these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boardclass.board import dims_of_length
from boardclass.errors import BoardError, InputError, PartitionError, quote
from boardclass.geometry import DIMS, parse_dims
from boardclass.rolling import assign_dice
from boardclass.scores import parse_scores
from boardclass.wordlist import DEFAULT_WORDLIST, load_wordlist

if TYPE_CHECKING:
    from boardclass.geometry import Dims
    from boardclass.scores import ScoreTable
    from boardclass.wordlist import WordList


def words_and_table(
    wordlist: str | None, scores: str | None, *, plain_q: bool | None = False
) -> tuple[WordList, ScoreTable]:
    """Return the word list and the score table that the options name, checked against each other."""
    table = parse_scores("standard" if scores is None else scores)
    words = load_wordlist(DEFAULT_WORDLIST if wordlist is None else wordlist, plain_q=plain_q)
    return words, table


def rollable(board: str) -> dict[str, bool]:
    """Return for each bundled set with as many dice as the board has cells whether it can show the board."""
    from configs.dicesets import all_dice

    return {dice.name: assign_dice(board, dice.dice) is not None for dice in all_dice() if dice.n == len(board)}


def rollable_text(board: str) -> str:
    """Return one sentence about the dice that can show a board; empty where there are none of that number."""
    answers = rollable(board)
    yes = [name for name, can in answers.items() if can]
    no = [name for name, can in answers.items() if not can]
    parts = [f"can be rolled with the {' and the '.join(yes)} dice"] if yes else []
    parts += [f"cannot be rolled with the {' or the '.join(no)} dice"] if no else []
    return ", ".join(parts)


def class_letters(text: str, dims_text: str | None, buckets: str | None) -> tuple[Dims, tuple[str, ...]]:
    """Return the dimensions and the letters of each cell of the class that the command line names."""
    from boardclass.partition import parse_class, parse_partition
    from configs.model import load_config

    groups = text.split()
    if len(groups) == 1 and groups[0].isdecimal():
        if not dims_text:
            raise InputError(f"class {quote(text)} is a number: give --dims as well, or write the letters of each cell")
        size = str(parse_dims(dims_text))
        partition = parse_partition(load_config(None, {"dims": size, "buckets": buckets}).buckets, size)
        return partition.dims, partition.class_letters(int(groups[0]))
    if buckets is not None:
        raise InputError(f"--buckets {quote(buckets)} goes with the number of a class; {quote(text)} has its letters")
    try:
        dims = parse_dims(dims_text) if dims_text else dims_of_length(len(groups))
    except BoardError as error:
        raise PartitionError(
            f"class {quote(text)} has {len(groups)} groups of letters: expected one for each cell of {', '.join(DIMS)}"
        ) from error
    return dims, parse_class(text, dims)
