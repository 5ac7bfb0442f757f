"""The solver of boards that no proof takes: any tiles on any grid, letter values, bonus cells.

Depth-first over the tiles; the prefixes of a path are looked up in the sorted word list, so nothing
is built first. Where a board is one of the proof, it agrees with the fast scorer.  Words are
spelled in full: a Qu cell spells ``qu``.

>>> from orderly_boggle.cluster.boards.tiles import read_tiles
>>> solve_tiles(read_tiles("t [e/a]/s ."), ["ate", "east", "sat", "set"])
[TileWord(word='sat', points=1, path=(1, 2, 0)), TileWord(word='set', points=1, path=(1, 2, 0))]
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.boardclass.geometry import read_cell
from orderly_boggle.boardclass.scores import TABLES, ScoreTable
from orderly_boggle.cluster.boards.tiles import Tiles
from orderly_boggle.search.solvers import moves

_WORTH = {1: "aeilnorstu", 2: "dg", 3: "bcmp", 4: "fhvwy", 5: "k", 8: "jx", 10: "qz"}
SCRABBLE: dict[str, int] = {}
for _worth, _letters in _WORTH.items():
    SCRABBLE |= dict.fromkeys(_letters, _worth)
# times the letters of the cell, times the word
BONUSES = {"dl": (2, 1), "tl": (3, 1), "dw": (1, 2), "tw": (1, 3)}
_AFTER_ALL = "\uffff"
_setting = re.compile(r"\s*([^\W\d_]{1,2})\s*=\s*([0-9]{1,4})\s*").fullmatch


class TileWord(NamedTuple):
    """A word on a board, its points, and the best path: most points, then the smallest cells."""

    word: str
    points: int
    path: tuple[int, ...]


@dataclass(frozen=True)
class Rules:
    """How words count.

    table : points by the number of letters; with ``values``, what their sum is multiplied by
    values : points of each letter; a letter without a value has none
    bonus : ``dl``, ``tl``, ``dw`` or ``tw`` by cell: double or triple letter or word
    """

    table: ScoreTable = TABLES["standard"]
    values: Mapping[str, int] | None = None
    bonus: Mapping[int, str] = field(default_factory=dict)

    def points(self, path: Sequence[int], spelled: Sequence[str]) -> int:
        """Return the points of a word along a path, given what each tile spells."""
        value = 0
        times = 1
        for cell, letters in zip(path, spelled, strict=True):
            of_letter, of_word = BONUSES.get(self.bonus.get(cell, ""), (1, 1))
            worth = sum((self.values or {}).get(letter, 0) for letter in letters)
            value += of_letter * worth
            times *= of_word
        by_length = self.table.points[sum(map(len, spelled))]
        if self.values is None:
            return by_length * times
        return by_length * times * value


def parse_values(text: str) -> dict[str, int]:
    """Return letter values: ``scrabble``, or such as ``a=1,b=3``; InputError if the text is
    neither.
    """
    if text.strip().lower() == "scrabble":
        return dict(SCRABBLE)
    matches = [_setting(part) for part in text.lower().split(",")]
    if not all(matches):
        raise InputError(
            f"letter values {quote(text)}: expected scrabble, or values such as a=1,b=3"
        )
    return {match[1]: int(match[2]) for match in matches if match}


def parse_bonus(text: str, w: int, h: int) -> dict[int, str]:
    """Return the bonus cells, by number, that a text such as ``1.1=dl,2.3=tw`` names; InputError if
    it names none.
    """
    bonus: dict[int, str] = {}
    for part in text.lower().split(","):
        place, _, kind = map(str.strip, part.partition("="))
        cell = read_cell(place, w, h)
        if cell is None or kind not in BONUSES:
            raise InputError(
                f"bonus {quote(text)}: expected ROW.COLUMN up to {h}.{w} with dl, tl, dw or tw, "
                "such as 1.1=dl,2.1=tw"
            )
        bonus[cell] = kind
    return bonus


def solve_tiles(board: Tiles, words: Sequence[str], rules: Rules | None = None) -> list[TileWord]:
    """Return the words on a board that are worth points, sorted, each once.

    words : spelled in full, sorted, unique
    """
    rules = rules or Rules()
    best: dict[str, TileWord] = {}
    for word, path, spelled in _spelled(board, words):
        points = rules.points(path, spelled)
        old = best.get(word)
        if points > 0 and (old is None or (-points, path) < (-old.points, old.path)):
            best[word] = TileWord(word, points, path)
    return sorted(best.values())


def _spelled(
    board: Tiles, words: Sequence[str]
) -> Iterator[tuple[str, tuple[int, ...], tuple[str, ...]]]:
    """Yield each way to spell a word: the word, its path, and what each tile on it spells."""
    begins = [cell for cell, tile in enumerate(board.tiles) if tile.begins]
    ends = [cell for cell, tile in enumerate(board.tiles) if tile.ends]
    near = moves(board.w, board.h, begins, ends)
    spellings = [tile.spellings for tile in board.tiles]
    stack: list[tuple[tuple[int, ...], tuple[str, ...], str, tuple[int, int]]] = []
    for cell, texts in enumerate(spellings):
        stack += [((cell,), (text,), text, (0, len(words))) for text in texts]
    while stack:
        path, spelled, prefix, (first, last) = stack.pop()
        first = bisect_left(words, prefix, first, last)
        last = bisect_left(words, prefix + _AFTER_ALL, first, last)
        if first == last:
            continue
        if words[first] == prefix:
            yield prefix, path, spelled
        for cell in near[path[-1]]:
            if cell not in path:
                longer = (*path, cell)
                for text in spellings[cell]:
                    stack.append((longer, (*spelled, text), prefix + text, (first, last)))
