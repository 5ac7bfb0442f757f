"""Boards and rules that no proof takes, as ``show``, ``score`` and ``solve`` answer them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boardclass.board import read_board
from boardclass.errors import BoardError, DimsError, InputError
from boardclass.geometry import DIMS, parse_dims
from boardclass.scores import MIN_LETTERS
from boardclass.tiles import Tiles, read_tiles
from boardclass.wordlist import DEFAULT_WORDLIST, WordList, load_wordlist

if TYPE_CHECKING:
    from boardclass.scores import ScoreTable
    from search.solvers.tiles import TileWord

_USUAL = [*map(parse_dims, DIMS), (6, 6)]


@dataclass(frozen=True)
class Options:
    """What was asked for beyond board, list and points."""

    plain_q: bool = False
    min_letters: int | None = None
    values: str | None = None
    bonus: str | None = None

    @property
    def are_plain(self) -> bool:
        """Whether the fast scorer does what they say."""
        return (
            not self.plain_q and (self.min_letters or 0) <= MIN_LETTERS and self.values is None and self.bonus is None
        )


def read_special(text: str, dims: str | None, words: WordList, options: Options) -> Tiles | None:
    """Return the board that a person typed; None if board, list and options are those of the fast scorer.

    Raises
    ------
    InputError
        If it is no board at all.
    """
    error: InputError | None = None
    plain_q = options.plain_q or words.plain_q or "q" in words.letters.values()
    if options.are_plain and not words.plain_q and not words.letters:
        try:
            read_board(text, dims)
        except (BoardError, DimsError) as refused:
            error = refused
        else:
            return None
    try:
        return read_tiles(text, dims, plain_q=plain_q, letters="".join(words.letters.values()), usual=_USUAL)
    except InputError as refused:
        raise error or refused from None


def words_on_tiles(
    board: Tiles, wordlist: str | None, table: ScoreTable, options: Options
) -> tuple[WordList, list[TileWord]]:
    """Return the list and its words on a board, the longest first, in the letters that people write."""
    from search.solvers.tiles import Rules, parse_bonus, parse_values, solve_tiles

    words = load_wordlist(DEFAULT_WORDLIST if wordlist is None else wordlist, plain_q=True)
    values = None if options.values is None else parse_values(options.values)
    bonus = {} if options.bonus is None else parse_bonus(options.bonus, len(board.tiles))
    rules = Rules(table, options.min_letters or MIN_LETTERS, values, bonus)
    found = solve_tiles(board, words.spelled, rules)
    return words, sorted(found, key=lambda word: (-len(word.word), word.word))
