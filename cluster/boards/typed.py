"""The boards of the proof as people type them: whatever tiles.py reads, if it has only letters a-z
and Qu and is of a supported size.

>>> read_board("| B | L | D |\\n| E | A | E |\\n| R | T | S |")
(Dims(w=3, h=3), 'berlatdes')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from orderly_boggle.boardclass.board import NO_LETTERS, in_symbols
from orderly_boggle.boardclass.errors import BoardError, quote
from orderly_boggle.boardclass.geometry import SIZES, USUAL, Dims, parse_dims
from orderly_boggle.cluster.boards.tiles import read_tiles

_is_one_group = re.compile(r"[^\s/,]+").fullmatch


def read_board(
    text: str,
    dims: Dims | str | None = None,
    say: Callable[[str], object] = str,
    letters: Mapping[str, str] = NO_LETTERS,
) -> tuple[Dims, str]:
    """Return the size and the letters, down the columns, of the board that a person typed
    (tiles.py).

    Of a board that is wider than high it is the turned one, which is the same game.

    text : such as ``berlatdes`` or ``bld/eae/rts``, which are the same board
    dims : the size that it must have, columns x rows; otherwise the letters tell it
    say : is told when the board was turned, or its letters might be those of another size
    letters : letters beyond a-z of the word list; the board has their symbols

    Raises BoardError if it is not a board, or has a tile that no board of the proof has, which the
    message names; DimsError if there is no such size.
    """
    if dims is not None:
        parse_dims(dims)
    others = "".join(letters.values())
    asked = None if dims is None else str(dims)
    tiles = read_tiles(text, asked, letters=others, sizes=SIZES, usual=USUAL.values())
    if letters:
        one = []
        for tile in tiles.tiles:
            spelling = in_symbols("".join(tile.spellings[:1]), letters)
            one.append(tile._replace(spellings=(spelling,)))
        replaced = []
        for old, new in zip(tiles.tiles, one, strict=True):
            has_one = len(old.spellings) == 1
            replaced.append(new if has_one else old)
        tiles = tiles._replace(tiles=tuple(replaced))
    if tiles.features:
        raise BoardError(
            f"board {quote(text)} has {tiles.features[0]}: expected letters a-z and Qu; orderly "
            "show, solve and score take other tiles"
        )
    if tiles.w > tiles.h:
        upright = tiles.turned
    else:
        upright = tiles
    size = Dims(upright.w, upright.h)
    if upright is not tiles:
        say(f"{tiles.w} wide and {tiles.h} high: turned, the same game as {size}")
    rest = []
    for other in SIZES:
        if other.n == size.n and other != size:
            rest.append(str(other))
    if dims is None and rest and _is_one_group(text.strip()):
        say(f"{size.n} cells, read as {size}: rows, or --dims {rest[0]}, choose another size")
    spelled = [tile.spellings[0] for tile in upright.tiles]
    return size, "".join(spelling[0] for spelling in spelled)
