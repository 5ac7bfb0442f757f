"""``orderly roll``, and whether a board can be rolled."""

from __future__ import annotations

import random
from typing import Any

from boardclass.board import format_rows
from boardclass.geometry import parse_dims
from boardclass.rolling import assign_dice, roll
from cluster.answers.boards import score_boards, words_and_table
from cluster.answers.render import Format, draw_board, write_table
from cluster.streams import console


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


def roll_boards(source: str, n: int, seed: int | None, wordlist: str | None, scores: str | None, fmt: Format) -> None:
    """Print random rolls of a set of dice with their scores, in the order rolled."""
    from configs.dicesets import load_dice

    dice = load_dice(source)
    dims = parse_dims(dice.dims)
    words, table = words_and_table(wordlist, scores)
    rng = random.Random(seed)
    boards = [roll(dice.dice, rng) for _ in range(n)]
    rows: list[tuple[Any, ...]] = [*score_boards([(dims, board) for board in boards], words, table)]
    if fmt is Format.table and n == 1:
        console().print(draw_board(format_rows(boards[0], dims)))
    write_table(("board", "score"), rows, fmt)
