"""Columns: CSV with commas or semicolons, tabs, bars, or a word and a number with blanks between.

A first line ``sep=;`` is what spreadsheets write there, and says the sign between the columns.

>>> from orderly_boggle.boardclass.word_forms.form import Given
>>> read(Given("sep=;\\nword;points\\nquit;13\\ntie;3\\n", None, "mine.csv")).words
['quit', 'tie']
"""

import csv
import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from orderly_boggle.boardclass.errors import quote
from orderly_boggle.boardclass.word_forms.form import (
    ALL,
    HEADING,
    HEADINGS,
    OTHER_CELL,
    Entries,
    Form,
    Given,
    NoFormError,
    Rows,
    is_number,
    is_word,
    no_column,
    share,
)
from orderly_boggle.boardclass.word_forms.plain import is_one
from orderly_boggle.boardclass.word_forms.several import are_forms

_DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
_MOST = 0.8  # of the lines must have a delimiter, or it is none
_DISTINCT = 0.9  # of the cells at least, where all of them are words
_LEAST = 0.5  # of the cells of the column that nobody chose must be one word
_sep = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE).fullmatch
SEP = "line that says what is between the columns"


def fits(given: Given) -> bool:
    """Whether a sign stands between the columns, a column is asked for, or each word has numbers,
    beside it or in a column of a table.
    """
    if not given.content:
        return False
    if _delimiter(given):
        return True
    is_split = any(len(row) > 1 for row in given.rows)
    return is_split and (given.column is not None or _has_numbers(given.rows))


def _has_numbers(rows: Rows) -> bool:
    is_table = len({len(row) for row in rows}) == 1
    numbered = []
    for row in rows:
        n_numbers = sum(map(bool, map(is_number, row)))
        n_texts = len(row) - n_numbers
        numbered.append(n_numbers > 0 and (n_texts == 1 or (is_table and n_texts > 0)))
    return share(numbered) >= _MOST


def _delimiter(given: Given) -> str:
    """Return the sign between the columns; empty for none."""
    told = _sep(given.content[0])
    if told:
        return str(told[1])
    for sign in filter(given.text.__contains__, _DELIMITERS):
        n_lines = sum(sign in line for line in given.content)
        if not n_lines:  # in a comment only
            continue
        rows = _split(given.content, sign)
        part = n_lines / len(rows)
        # a few lines have several words
        if part >= _MOST or (part > 1 - _MOST and are_all_words(rows)):
            return sign
    return ""


def read(given: Given) -> Entries:
    """Return the cells of the column of words, or all of them."""
    sign = ""
    if given.content:
        sign = _delimiter(given)
    lines = given.content
    others = {}
    if lines and _sep(lines[0]):
        others[SEP] = [lines[0]]
        lines = lines[1:]
    if sign:
        found = from_rows(_split(lines, sign), given, f"{_DELIMITERS.get(sign, sign)} between")
    elif given.column == ALL:
        found = all_of(given.rows, given, "blanks between")
    else:
        found = from_rows(given.rows, given, "blanks between")
    words = [*found.words, *given.beside]
    return Entries(words, found.read_as, {**found.others, **others})


def _split(lines: Sequence[str], delimiter: str) -> Rows:
    if delimiter == "|":
        lines = [line.strip().removeprefix("|").removesuffix("|") for line in lines]
    if delimiter in ",;":
        try:
            ended = (f"{line}\n" for line in lines)  # a quoted cell may have several lines
            return list(csv.reader(ended, delimiter=delimiter, strict=True, skipinitialspace=True))
        except csv.Error:  # a quote without its partner would swallow the lines that follow
            pass
    return [line.split(delimiter) for line in lines]


def are_all_words(rows: Rows) -> bool:
    """Return whether every cell is a word, and next to none is twice in a column."""
    cells: list[str] = []
    for column in zip_longest(*rows, fillvalue=""):
        filled = []
        for cell in column:
            if cell.strip():
                filled.append(cell.strip().lower())
        if len(set(filled)) < _DISTINCT * len(filled):
            return False
        cells += filled
    return bool(cells) and all(map(is_word, cells))


def refuse_pairs(rows: Rows, given: Given) -> None:
    """Raise NoFormError if every row is two words that are no forms of one: the second may be a
    word of the list, too, or a word of another language.
    """
    are_pairs = [len(row) == 2 and all(map(str.strip, row)) for row in rows]
    if len(rows) > 1 and all(are_pairs) and are_all_words(rows) and not are_forms(rows):
        raise NoFormError(
            f"{quote(given.source)} has two columns of words, and either or both may be the list"
        )


def all_of(rows: Rows, given: Given, between: str) -> Entries:
    """Return every cell."""
    words = []
    for row in rows:
        for cell in row:
            if cell.strip():
                words.append(cell)
    hint = ""
    if given.column is None:
        hint = "; --column 1 takes the first of each line"
    return Entries(words, [f"words with {between}{hint}"])


def from_rows(rows: Rows, given: Given, between: str) -> Entries:
    """Return all cells if they are all words, or one column: the one asked for, that of a heading
    such as ``word``, or the first of texts that are not always the same.
    """
    columns = list(zip_longest(*rows, fillvalue=""))
    if not columns:
        return Entries([], [f"columns with {between}"])
    if given.column is None:
        refuse_pairs(rows, given)
    numeric = [_is_numeric(cells[1:]) for cells in columns]
    has_headings = _has_headings(rows, numeric)
    is_plain = not has_headings and not any(numeric)
    if given.column == ALL or (given.column is None and is_plain and are_all_words(rows)):
        return all_of(rows, given, between)
    headings = [heading.strip() for heading in rows[0]]
    place = _place(headings, columns, numeric, given, has_headings=has_headings)
    has_headings = has_headings or given.column in headings
    if has_headings:
        others = {HEADING: [name for name in headings if name]}
    else:
        others = {}
    cells: list[str] = []
    for row in rows[has_headings:]:
        cells += filter(str.strip, row[:place] + row[place + 1 :])
    if cells:
        others[OTHER_CELL] = cells
    where = f"words from column {place + 1}{' below its heading' * has_headings}"
    words = list(columns[place][has_headings:])
    are_words = [is_one(word) for word in words if word.strip()]
    if given.column is None and share(are_words) < _LEAST:
        raise NoFormError(
            f"{quote(given.source)}, cut into columns ({between}), has no single word in most "
            f"cells of column {place + 1}"
        )
    return Entries(words, [f"columns with {between}, {where}"], others)


def _has_headings(rows: Rows, numeric: list[bool]) -> bool:
    """Return whether the first row says what is below it: ``word``, or a text above numbers."""
    headings = [heading.strip() for heading in rows[0]]
    if not len(rows) > 1 < len(numeric):
        return False
    if any(name.lower() in HEADINGS for name in headings):
        return True
    for is_all, name in zip(numeric, headings, strict=False):
        if is_all and name and not is_number(name):
            return True
    return False


def _place(
    headings: list[str],
    columns: list[tuple[str, ...]],
    numeric: list[bool],
    given: Given,
    *,
    has_headings: bool,
) -> int:
    """Return the number of the column of words, from 0."""
    if given.column is None:
        named = []
        for place, name in enumerate(headings):
            if name.lower() in HEADINGS:
                named.append(place)
        if has_headings and named:
            return named[0]
        return _first_of_texts(columns, numeric)
    if given.column in headings:
        return headings.index(given.column)
    if given.column.isdecimal() and 1 <= int(given.column) <= len(columns):
        return int(given.column) - 1
    names = ", ".join(map(quote, headings[:8]))
    raise no_column(given, f"has columns 1 to {len(columns)}: {names}")


def _is_numeric(cells: Iterable[str]) -> bool:
    numeric = []
    for cell in cells:
        if cell.strip():
            numeric.append(bool(is_number(cell.strip())))
    return share(numeric) >= _MOST


def _first_of_texts(columns: list[tuple[str, ...]], numeric: list[bool]) -> int:
    texts = []
    for place, cells in enumerate(columns):
        if not numeric[place] and any(map(str.strip, cells)):
            texts.append(place)
    varied = []
    for place in texts:
        column = columns[place]
        if 2 * len(set(column)) >= len(column):
            varied.append(place)
    return [*varied, *texts, 0][0]


FORM = Form(
    "columns",
    "columns with tabs, commas, semicolons or bars between, or words with numbers",
    fits,
    read,
    "word,points\ntea,1\ntree,1\n",
    ("tea", "tree"),
)
