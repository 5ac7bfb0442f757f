"""Dice: whether a board can be rolled, and random rolls.  A die is the text of its faces in q-form,
``q`` for a Qu face.
"""

import random
from collections.abc import Sequence

Die = str | tuple[str, ...]  # its faces: a text if each has one letter


def assign_dice(board: Sequence[str], dice: Sequence[Die]) -> tuple[int, ...] | None:
    """Return for each cell the number of the die that shows its letter, or None if the dice cannot
    show the board.

    Exact: a maximum matching of cells and dice (augmenting paths), each die on one cell at most.

    board : one face a cell: a letter, or several where the dice have tuples of faces
    dice : at least as many as cells; the faces of each

    Examples
    --------
    >>> assign_dice("aab", ["ab", "ac", "ad"])
    (2, 1, 0)
    >>> assign_dice("bb", ["ab", "ac"]) is None
    True
    """
    cell_of: dict[int, int] = {}
    for cell in range(len(board)):
        if not _augment(board, dice, cell, cell_of, set()):
            return None
    die_of = {cell: die for die, cell in cell_of.items()}
    return tuple(die_of[cell] for cell in range(len(board)))


def _augment(
    board: Sequence[str], dice: Sequence[Die], cell: int, cell_of: dict[int, int], tried: set[int]
) -> bool:
    """Give a cell a die, moving cells that have one already; the depth is at most the number of
    dice.
    """
    for die, faces in enumerate(dice):
        if die in tried or board[cell] not in faces:
            continue
        tried.add(die)
        if die not in cell_of or _augment(board, dice, cell_of[die], cell_of, tried):
            cell_of[die] = cell
            return True
    return False


def roll(dice: Sequence[Die], rng: random.Random) -> str:
    """Return a random board as it is typed: the dice shuffled over the cells, each with a random
    face up.
    """
    order = list(dice)
    rng.shuffle(order)
    cells = []
    for face in map(rng.choice, order):
        if len(face) > 1:
            face = f"[{face}]"
        cells.append(face)
    return "".join(cells)
