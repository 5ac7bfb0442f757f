"""Boards of any kind under any rules: as people type and list them, their scores, words and dice.

Boards of letters and Qu under points by length have the fast scorer, all others the solver of
tiles.
"""

from __future__ import annotations

import csv
import random
import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from orderly_boggle import search
from orderly_boggle.boardclass.board import format_rows, with_letters
from orderly_boggle.boardclass.board_svg import heat_of_cells
from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.errors import BoardError, DimsError, InputError
from orderly_boggle.boardclass.geometry import USUAL, Dims, geometry
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.boardclass.scores import TABLES, ScoreTable, n_letters
from orderly_boggle.boardclass.word_files import decoded
from orderly_boggle.boardclass.wordlist import (
    COMMON_WORDLIST,
    WordList,
    known_name,
    load_wordlist,
    sources,
)
from orderly_boggle.cluster.answers import told
from orderly_boggle.cluster.answers.status import proven_place
from orderly_boggle.cluster.answers.told import BoardRecord, Told
from orderly_boggle.cluster.boards.board_tables import json_boards
from orderly_boggle.cluster.boards.rolling import assign_dice, roll
from orderly_boggle.cluster.boards.tiles import Tiles, read_tiles
from orderly_boggle.cluster.boards.typed import read_board

if TYPE_CHECKING:
    from orderly_boggle.cluster.boards.dicesets import DiceSet
    from orderly_boggle.cluster.boards.solver import Rules
    from orderly_boggle.search.scoring.scorer import Scorer

_USUAL = [*USUAL.values(), (6, 6)]
_BOARD_AND_NUMBERS = re.compile(r"(.*?)[\s,;:]+([0-9]+)(?:[\s,;:]+[0-9]+)*", re.ASCII)
_is_board_file = re.compile(r"[0-9]{1,2}(?:\s+[0-9]{1,2})?", re.ASCII).fullmatch
_CELL = r"(?:[^\W\d_]|[Qq][Uu]|[A-Z][a-z]|\[[^\[\]]+\]|[.*])"
_is_row = re.compile(rf"{_CELL}(?:[\s,;]+{_CELL})+").fullmatch
_is_frame = re.compile(r"[|+\u2500-\u257f]").match
_MAX_ROLLS = 1000  # for each board
_ENGLISH = ("because", "people", "through", "thought")  # a list with all of them is English
AnyBoard = Tiles | tuple[Dims, str]  # tiles; or size and letters, q being Qu
Listed = tuple[int, str, int | None]  # the number of a line, a board, its score


class Word(NamedTuple):
    """A word as people spell it, its points and letters, and a path."""

    word: str
    points: int
    letters: int
    path: tuple[int, ...]

    def told(self) -> told.Word:
        """Return the word as pages and JSON have it."""
        return told.Word(word=self.word, points=self.points, letters=self.letters, path=self.path)


class Solved(NamedTuple):
    """A board as it is typed, its faces row by row, and its words, the longest first."""

    board: str
    dims: str
    rows: list[list[str]]
    words: list[Word]

    @property
    def score(self) -> int:
        """Points of all words."""
        return sum(word.points for word in self.words)

    @property
    def heat(self) -> list[int]:
        """Points of the words through each cell."""
        n = sum(map(len, self.rows))
        return heat_of_cells(n, ((word.points, word.path) for word in self.words))

    @property
    def worth(self) -> str:
        """Points and number of words, in words."""
        return f"{counted(self.score, 'point')}, {counted(len(self.words), 'word')}"

    def record(self, words: WordList) -> BoardRecord:
        """Return what ``show --format json`` holds."""
        return {
            "board": self.board,
            "dims": self.dims,
            "wordlist": words.name,
            "wordlist_sha256": words.sha256,
            "score": self.score,
            "letters": words.letters,
            "n_words": len(self.words),
            "words": [word.told() for word in self.words],
        }


@dataclass(frozen=True)
class Scoring:
    """A word list, where it was found, and the rules that boards are scored by."""

    words: WordList
    source: str | Path
    table: ScoreTable
    plain_q: bool = False
    values: str | None = None
    bonus: str | None = None
    without: frozenset[str] = frozenset()  # words that ``words`` does not have any more

    def read(
        self, text: str, dims: str | None = None, say: Callable[[str], object] = str
    ) -> AnyBoard:
        """Return the board that a person typed: size and letters, in the symbols of the list, if it
        is a usual one; InputError if it is no board at all.
        """
        error: InputError | None = None
        letters_of_list = self.words.letters.values()
        has_plain_q = self.plain_q or self.words.plain_q or "q" in letters_of_list
        if not has_plain_q and self.values is None and self.bonus is None:
            try:
                return read_board(text, dims, say, self.words.letters)
            except (BoardError, DimsError) as refused:
                error = refused
        letters = "".join(letters_of_list)
        try:
            return read_tiles(text, dims, plain_q=has_plain_q, letters=letters, usual=_USUAL)
        except InputError as refused:
            raise error or refused from None

    def scorer(self, dims: Dims) -> Scorer:
        """Return what scores usual boards of a size."""
        return scorer_of(str(dims), self.words.words, self.table)

    def solve(self, board: AnyBoard, *, again: bool = False) -> Solved:
        """Return a board with its words; with ``again`` others of its size will follow."""
        words = []
        if isinstance(board, Tiles):
            for word, points, path in self._on_tiles(board):
                words.append(Word(word, points, len(word), path))
            text = str(board)
            size = f"{board.w}x{board.h}"
            rows = board.rows
        else:
            dims, letters = board
            names = self.words.letters
            if again:
                scorer = self.scorer(dims)
            else:
                scorer = self._near(dims, letters)
            for word, points, path in scorer.words(letters):
                words.append(Word(self.words.spell(word), points, n_letters(word), path))
            text = with_letters(letters, names)
            size = str(dims)
            rows = format_rows(letters, dims, names)
        words.sort(key=lambda word: (-word.letters, word.word))
        return Solved(text, size, rows, words)

    def uncounted(self, board: AnyBoard, solved: Solved) -> list[str]:
        """Return the words of the list on a board that are worth no points, sorted."""
        each_word_counts = replace(self, table=TABLES["words"], values=None, bonus=None)
        every = each_word_counts.solve(board).words
        counted_ones = {item.word for item in solved.words}
        words = [item.word for item in every]
        return sorted(word for word in words if word not in counted_ones)

    def as_listed(self, typed: str, words: Container[str]) -> str:
        """Return the one of ``words`` that a person has typed, maybe with accents that the list
        leaves out; what was typed, if it is none.
        """
        # only a word that somebody types needs the importer
        from orderly_boggle.boardclass.word_import import readings

        for spelled in readings(typed, "".join(self.words.letters.values())):
            if spelled in words:
                return spelled
        return typed

    def refusal(self, word: str, uncounted: Container[str]) -> str:
        """Return why a word that was typed is worth nothing on a board, given those that
        :meth:`uncounted` returns.
        """
        if len(word) < self.table.least:
            return f"too short: words of {self.table.least} letters or more count"
        if word in uncounted:
            return "on this board, but worth no points"
        return f"not a word of {self.words.name} on this board"

    def _near(self, dims: Dims, letters: str) -> Scorer:
        """Return a scorer of the words that can be on this board: it is made much faster."""
        is_near = re.compile(f"[{letters}]+").fullmatch
        words = tuple(filter(is_near, self.words.words))
        return search.Scorer(dims, words, self.table)

    def common(self, words: Iterable[Word]) -> list[str]:
        """Return those of the words that most people know; none if the list is not English."""
        known = _common_words() if self.is_english else ()
        return [item.word for item in words if item.word in known]

    @cached_property
    def is_english(self) -> bool:
        """Whether the list has a few words that every list of English has."""
        words = self.words.words
        for word in _ENGLISH:
            place = bisect_left(words, word)
            if words[place : place + 1] != (word,):
                return False
        return True

    def described(self, board: AnyBoard, solved: Solved) -> Told:
        """Return what a page shows of a board: the record, faces, points through each cell, cells
        as they are typed, the least length of a word that counts and the words that do not count.

        Of a usual board its letters in symbols, its canonical form, the dice that can show it and
        its place among all boards; of another one, where the rules have such, the letter value of
        each cell (None: it has none, or several) and its bonus.
        """
        names = self.words.letters
        plain = solved.record(self.words)
        record: Told = {
            "board": plain["board"],
            "dims": plain["dims"],
            "wordlist": plain["wordlist"],
            "wordlist_sha256": plain["wordlist_sha256"],
            "score": plain["score"],
            "letters": plain["letters"],
            "n_words": plain["n_words"],
            "words": plain["words"],
            "rows": solved.rows,
            "heat": solved.heat,
            "common": self.common(solved.words),
            "least": self.table.least,
            "uncounted": self.uncounted(board, solved),
            "usual": None,
            "place": "",
            "cells": [],
        }
        if not isinstance(board, Tiles):
            dims, letters = board
            about = self.about(board, solved)
            record["place"] = about["place"]
            record["dice"] = about["dice"]
            record["usual"] = letters
            record["cells"] = [with_letters(letter, names) for letter in letters]
            canonical = canonical_board(letters, geometry(dims))
            record["canonical"] = with_letters(canonical, names)
            return record
        record["cells"] = [tile.text for tile in board.tiles]
        rules = self._rules(board)
        if rules.values is not None:
            values = []
            for tile in board.tiles:
                values.append(_worth(tile.spellings, rules.values))
            record["values"] = values
        if rules.bonus:
            cells = range(len(board.tiles))
            record["bonus"] = list(map(rules.bonus.get, cells))
        return record

    def about(self, board: AnyBoard, solved: Solved) -> dict[str, str]:
        """Return what dice can show a usual board, and its place among all boards, in words."""
        if isinstance(board, Tiles):
            return {}
        points = self.table.points
        sha256 = self.words.sha256
        place = proven_place(board[1], solved.dims, solved.score, sha256, points)
        return {"dice": rollable_text(solved.board, self.words), "place": place}

    def scores(self, boards: Sequence[AnyBoard]) -> list[tuple[str, int]]:
        """Return each board as it is typed with its score; usual boards of one size are scored
        together.
        """
        scores: list[tuple[str, int]] = [("", 0)] * len(boards)
        of_size: dict[Dims, list[tuple[int, str]]] = {}
        for place, board in enumerate(boards):
            if isinstance(board, Tiles):
                score = sum(points for _, points, _ in self._on_tiles(board))
                scores[place] = str(board), score
            else:
                size, letters = board
                of_size.setdefault(size, []).append((place, letters))
        for size, some in of_size.items():
            texts = [letters for _, letters in some]
            values = self.scorer(size).scores(texts).tolist()
            for (place, letters), value in zip(some, values, strict=True):
                scores[place] = with_letters(letters, self.words.letters), value
        return scores

    def _rules(self, board: Tiles) -> Rules:
        from orderly_boggle.cluster.boards.solver import Rules, parse_bonus, parse_values

        if self.bonus is None:
            bonus = {}
        else:
            bonus = parse_bonus(self.bonus, board.w, board.h)
        return Rules(self.table, None if self.values is None else parse_values(self.values), bonus)

    def _on_tiles(self, board: Tiles) -> Iterable[tuple[str, int, tuple[int, ...]]]:
        from orderly_boggle.cluster.boards.solver import solve_tiles

        words = load_wordlist(self.source, plain_q=True).without(self.without)
        # a letter that is a symbol elsewhere is in no word
        symbols = dict.fromkeys(words.letters, "\0")
        symbols |= {letter: symbol for symbol, letter in words.letters.items()}
        longest_first = sorted(symbols, key=len, reverse=True)
        pattern = re.compile("|".join(longest_first) or "(?!)")
        tiles = []
        for tile in board.tiles:
            if tile.face != "*":
                texts = []
                for text in tile.spellings:
                    texts.append(pattern.sub(lambda m: symbols[m[0]], text))
                tile = tile._replace(spellings=tuple(texts))
            tiles.append(tile)
        rules = self._rules(board)
        if (values := rules.values) is not None:
            of_symbols = {}
            for symbol, letter in words.letters.items():
                of_symbols[symbol] = values.get(letter, 0)
            rules = replace(rules, values={**values, **of_symbols})
        in_symbols = board._replace(tiles=tuple(tiles))
        for word, points, path in solve_tiles(in_symbols, words.words, rules):
            yield words.spell(word), points, path


def _worth(spellings: Iterable[str], values: Mapping[str, int]) -> int | None:
    """Return what a tile is worth; None if that depends on how it is read."""
    first, *others = (sum(map(values.get, text, repeat(0))) for text in spellings)
    if any(other != first for other in others):
        return None
    return first


def rollable(board: str, words: WordList) -> dict[str, bool]:
    """Return for each bundled set with as many dice as the board has cells, of the language of the
    list as far as that is known, whether it can show the board.
    """
    from orderly_boggle.cluster.boards.dicesets import all_dice

    known = sources().get(known_name(words.sha256) or "")
    language = "English"
    if known:
        language = known.language
    sets = [dice for dice in all_dice() if dice.n == len(board)]
    fitting = [dice for dice in sets if dice.language == language] or sets
    can_show = {}
    for dice in fitting:
        can_show[dice.name] = assign_dice(board, dice.dice) is not None
    return can_show


def rollable_text(board: str, words: WordList) -> str:
    """Return one sentence about the dice that can show a board; empty where there are none of that
    number.
    """
    answers = rollable(board, words)
    parts = []
    if yes := [name for name, can in answers.items() if can]:
        parts.append(f"can be rolled with the {' and the '.join(yes)} dice")
    if no := [name for name, can in answers.items() if not can]:
        parts.append(f"cannot be rolled with the {' or the '.join(no)} dice")
    return ", ".join(parts)


def read_lines(
    data: bytes, say: Callable[[str], object] = str, dims: Dims | str | None = None
) -> Iterator[Listed]:
    """Yield the boards of a list, each with the number of its line and the score behind it, if any.

    Blank lines and ``#`` comments are skipped, and bytes that are not UTF-8 do not stop the
    reading.  A line is a board; numbers behind it are its score and more.  If the first line is a
    CSV header with the column ``board``, whatever its delimiter, that column and the column
    ``score`` are taken instead.  A first line of one or two numbers is that of a board file; lines
    of single cells with blanks between are the rows of a board, and so is what is drawn, and as
    many lines as each has letters.  A blank line ends such a board.  JSON has one board or several,
    which are counted instead of lines; ``say`` is told.

    dims : of the boards, if they are known
    """
    listed = list(_listed(data, say))
    blocks = _blocks([(number, text) for number, text, _ in listed])
    has_scores = any(score for *_, score in listed)
    if not blocks or has_scores or not all(_are_rows(block, dims) for block in blocks):
        yield from listed
    else:
        say("lines of as many letters as there are lines read as the rows of one board")
        yield from map(_joined, blocks)


def _listed(data: bytes, say: Callable[[str], object]) -> Iterator[Listed]:
    text, _ = decoded(data, None, "standard input")
    boards = json_boards(text)
    if boards is not None:
        say(f"read as JSON: {counted(len(boards), 'board')}, lists of letters as rows")
        for number, (board, score) in enumerate(boards, 1):
            yield number, board, score
        return
    lines = []
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if line and not line.startswith("#"):
            lines.append((number, line))
    if not lines:
        return
    _, heading = lines[0]
    split = _csv_of(heading)
    if split is not None:
        columns = split(heading.lower())
        for number, line in lines[1:]:
            named = dict(zip(columns, split(line), strict=False))
            yield number, named.get("board", ""), _score(named.get("score", ""))
        return
    is_drawn = all(_is_frame(line) for _, line in lines)
    if _is_board_file(heading) or is_drawn or all(_is_row(line) for _, line in lines):
        yield from map(_joined, _blocks(lines))
        return
    for number, line in lines:
        match = _BOARD_AND_NUMBERS.fullmatch(line)
        yield (number, match[1], _score(match[2])) if match else (number, line, None)


def _blocks(lines: list[tuple[int, str]]) -> list[list[tuple[int, str]]]:
    """Return lines by the blank ones between them, or as ``show`` draws boards one below the other;
    all together where one would be alone, or all are a square.
    """
    n_cells = [len(re.findall(_CELL, line)) for _, line in lines[:1]]
    blocks: list[list[tuple[int, str]]] = []
    for number, line in lines:
        is_apart = not blocks or number > blocks[-1][-1][0] + 1
        if is_apart or line.startswith("┌"):
            blocks.append([])
        blocks[-1].append((number, line))
    is_whole = n_cells == [len(lines)] or any(len(block) < 2 for block in blocks)
    return [lines] if is_whole else blocks


def _joined(block: list[tuple[int, str]]) -> Listed:
    first, _ = block[0]
    text = "\n".join(line for _, line in block)
    return first, text, None


def _are_rows(block: list[tuple[int, str]], dims: Dims | str | None) -> bool:
    """Return whether lines of letters are the rows of one board, and not boards themselves."""
    lines = [line.replace("Qu", "q") for _, line in block]
    n = len(lines)
    if lines:
        size = len(lines[0])
    else:
        size = 0
    are_rows = all(line.isalpha() and len(line) == size for line in lines)
    if n < 2 or not are_rows:
        return False
    if dims is None:
        return n == size or size not in USUAL
    return f"{size}x{n}" == str(dims)


def _csv_of(heading: str) -> Callable[[str], list[str]] | None:
    """Return what splits the lines of a CSV with a column ``board``; None if this is no heading."""

    def split(line: str, delimiter: str) -> list[str]:
        try:
            row = next(csv.reader([line], delimiter=delimiter))
            return [field.strip() for field in row]
        except csv.Error:  # a field beyond its limit: not a board
            return [line]

    for delimiter in ",;\t|":
        if "board" in split(heading.lower(), delimiter):
            return partial(split, delimiter=delimiter)
    return None


def _score(text: str) -> int | None:
    if re.fullmatch(r"[0-9]{1,10}", text):
        return int(text)
    return None


def rolled(
    scoring: Scoring,
    dice: DiceSet,
    rng: random.Random,
    n: int = 1,
    min_words: int = 0,
    *,
    common: bool = False,
) -> list[AnyBoard]:
    """Return ``n`` boards that dice show, each with at least so many words; with ``common`` only
    words count that most people know, if the list is English.

    Raises InputError when they are too rare.
    """
    dice.check_letters(scoring.words)
    boards: list[AnyBoard] = []
    for _ in range(_MAX_ROLLS * n if min_words else n):
        board = scoring.read(roll(dice.dice, rng), dice.dims)
        if not min_words or _n_words(scoring, board, common) >= min_words:
            boards.append(board)
        if len(boards) == n:
            return boards
    raise InputError(
        f"{len(boards):,} of {_MAX_ROLLS * n:,} rolls have {min_words:,} words or more, {n:,} "
        "wanted: ask for fewer words, or take a larger word list"
    )


def _n_words(scoring: Scoring, board: AnyBoard, common: bool) -> int:
    words = scoring.solve(board, again=True).words
    if common and scoring.is_english:
        return len(scoring.common(words))
    return len(words)


@lru_cache(maxsize=6)
def scorer_of(dims: str, words: tuple[str, ...], table: ScoreTable = TABLES["standard"]) -> Scorer:
    """Return a scorer; the last few are kept."""
    return search.Scorer(dims, words, table)


@lru_cache(maxsize=1)
def _common_words() -> frozenset[str]:
    words = load_wordlist(COMMON_WORDLIST)
    return frozenset(map(words.spell, words))
