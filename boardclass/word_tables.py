"""The words in a text: one a line or several, tables, JSON.

    entries_of -> Entries    what may be a word, and what else the text holds

No line, cell, key or value is passed over: each is an entry, or stands in ``others`` for the
importer to count.  Where a text can be read in two ways, what was done is said, and ``column`` is
the other way; a JSON object that mixes lists and values is refused.

>>> entries_of("word;points\\nquit;13\\ntie;3\\n", None, "mine.csv").words
['quit', 'tie']
>>> entries_of('{"tie": 3, "quit": 13}', None, "mine.json").words
['tie', 'quit']
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from types import MappingProxyType
from typing import Any, NamedTuple

from boardclass.errors import WordListError, quote

ALL = "all"  # instead of a column: every cell is a word
KEYS = "keys"  # of a JSON object
HEADING = "heading"
OTHER_CELL = "cell of another column"
OTHER_VALUE = "key or value that is no word of the list"

_DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
_MOST = 0.8  # of the lines must have a delimiter, or it is none
_RECORD = 10  # keys: an object with fewer is no list of words if one of them is called ``word``
_DISTINCT = 0.9  # of the cells at least, where all of them are words
# how the column of the words is called
_HEADINGS = {"word", "words", "headword", "lemma", "wordform", "mot", "palabra", "palavra"}
_HEADINGS |= {"parola", "ord", "wort", "woord", "słowo"}
_is_number = re.compile(r"[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?%?").fullmatch
_is_word = re.compile(r"[^\W\d_]+(?:['’·-][^\W\d_]+)*\W?").fullmatch
_is_rule = re.compile(r"[-+|:=\s]*[-=]{2}[-+|:=\s]*").fullmatch  # between the rows of a drawn table

Rows = list[list[str]]
_NONE: Mapping[str, Sequence[str]] = MappingProxyType({})


class Entries(NamedTuple):
    """What a file holds.

    words : as the file spells them, repeated ones too; a line that is no word is among them
    read_as : how the file was read, for people
    others : what else it holds, by what it is
    """

    words: list[str]
    read_as: list[str]
    others: Mapping[str, Sequence[str]] = _NONE

    @property
    def n_entries(self) -> int:
        """Lines, cells, keys and values of the file."""
        return len(self.words) + sum(map(len, self.others.values()))


def entries_of(text: str, column: str | None, source: str) -> Entries:
    """Return the entries of a text.

    column : number (from 1) or heading of the column that holds the words, or a key of JSON;
        ``all`` takes every cell, ``keys`` those of a JSON object
    source : names the file in messages

    Raises WordListError if there is no such column, or JSON cannot be read or taken apart.
    """
    if text.lstrip()[:1] in ("[", "{"):
        return _from_json(text, column, source)
    lines = re.split(r"\r\n|\r|\n", text)
    if not lines[-1]:
        lines.pop()
    content: list[str] = []
    others: list[str] = []  # for the importer to count
    for line in lines:
        is_content = line.strip() and not line.startswith("#") and not _is_rule(line)
        (content if is_content else others).append(line)
    entries = _from_table(content, column, source)
    if entries is None:
        return Entries(lines, ["one word a line"])
    return entries._replace(words=entries.words + others)


def _from_table(lines: list[str], column: str | None, source: str) -> Entries | None:
    """Return the entries of lines that hold several cells; None: each is a word by itself."""
    for sign, name in _DELIMITERS.items():
        n_lines = sum(sign in line for line in lines)
        if n_lines:
            rows = _split(lines, sign)
            share = n_lines / len(rows)
            if share >= _MOST or (share > 1 - _MOST and _are_all_words(rows)):
                return _from_rows(rows, column, f"{name} between", source)
    rows = [line.split() for line in lines]
    several = [row for row in rows if len(row) > 1]
    if several and (column == ALL or (column is None and _hold_words(rows, several))):
        return _all_of(rows, "blanks between", column)
    with_numbers = _share([len(row) > 1 and any(map(_is_number, row)) for row in rows])
    if several and (column is not None or with_numbers >= _MOST):
        return _from_rows(rows, column, "blanks between", source)
    if column not in (None, ALL):
        raise _no_column(column, source, "has no columns: leave it out")
    return None


def _hold_words(rows: Rows, several: Rows) -> bool:
    """Return whether lines hold words, and not a word that is two, such as ``ad hoc``, or a word
    and what it means: one line, three words a line or more, or the forms of a word on each.
    """
    if 2 * len(several) < len(rows) or not _are_all_words(rows, _DISTINCT):
        return False
    n_alike = sum(map(_are_alike, several))
    n_cells = sum(map(len, several))
    return len(rows) == 1 or n_cells >= 3 * len(several) or 2 * n_alike > len(several)


def _are_alike(row: Sequence[str]) -> bool:
    return len({cell[:2].lower() for cell in row}) == 1


def _no_column(column: str | None, source: str, why: str) -> WordListError:
    return WordListError(f"--column {quote(column)}, but {quote(source)} {why}")


def _split(lines: list[str], delimiter: str) -> Rows:
    if delimiter == "|":
        lines = [line.strip().removeprefix("|").removesuffix("|") for line in lines]
    if delimiter in ",;":
        try:
            ended = (f"{line}\n" for line in lines)  # a quoted cell may have several lines
            return list(csv.reader(ended, delimiter=delimiter, strict=True, skipinitialspace=True))
        except csv.Error:  # a quote without its partner would swallow the lines that follow
            pass
    return [line.split(delimiter) for line in lines]


def _are_all_words(rows: Rows, share: float = 1.0) -> bool:
    """Return whether every cell, or a share of them, is a word, and next to none is twice in a
    column.
    """
    cells: list[str] = []
    for column in zip_longest(*rows, fillvalue=""):
        filled = [cell.strip().lower() for cell in column if cell.strip()]
        if len(set(filled)) < _DISTINCT * len(filled):
            return False
        cells += filled
    return bool(cells) and _share([bool(_is_word(cell)) for cell in cells]) >= share


def _all_of(rows: Rows, between: str, column: str | None) -> Entries:
    words = list(filter(str.strip, chain.from_iterable(rows)))
    hint = "; --column 1 takes the first of each line" if column is None else ""
    return Entries(words, [f"words with {between}{hint}"])


def _from_rows(rows: Rows, column: str | None, between: str, source: str) -> Entries:
    """Return all cells if they are all words, or one column: the one asked for, that of a heading
    such as ``word``, or the first of texts that are not always the same.
    """
    headings = [heading.strip() for heading in rows[0]]
    columns = list(zip_longest(*rows, fillvalue=""))
    numeric = [_is_numeric(cells[1:]) for cells in columns]
    named = [place for place, name in enumerate(headings) if name.lower() in _HEADINGS]
    has_headings = len(rows) > 1 < len(columns) and (
        bool(named)
        or any(
            is_all and not _is_number(name) for is_all, name in zip(numeric, headings, strict=False)
        )
    )
    if column == ALL or (
        column is None and not has_headings and not any(numeric) and _are_all_words(rows)
    ):
        return _all_of(rows, between, column)
    if column is None:
        place = named[0] if has_headings and named else _first_of_texts(columns, numeric)
    elif column in headings:
        place, has_headings = headings.index(column), True
    elif column.isdecimal() and 1 <= int(column) <= len(columns):
        place = int(column) - 1
    else:
        names = ", ".join(map(quote, headings[:8]))
        raise _no_column(column, source, f"has columns 1 to {len(columns)}: {names}")
    others = {HEADING: [name for name in headings if name]} if has_headings else {}
    cells: list[str] = []
    for row in rows[has_headings:]:
        cells += filter(str.strip, row[:place] + row[place + 1 :])
    if cells:
        others[OTHER_CELL] = cells
    where = f"words from column {place + 1}{' below its heading' * has_headings}"
    words = list(columns[place][has_headings:])
    return Entries(words, [f"columns with {between}, {where}"], others)


def _is_numeric(cells: Iterable[str]) -> bool:
    return _share([bool(_is_number(cell.strip())) for cell in cells if cell.strip()]) >= _MOST


def _first_of_texts(columns: list[tuple[str, ...]], numeric: list[bool]) -> int:
    texts = [
        place
        for place, cells in enumerate(columns)
        if not numeric[place] and any(map(str.strip, cells))
    ]
    varied = [place for place in texts if 2 * len(set(columns[place])) >= len(columns[place])]
    return [*varied, *texts, 0][0]


def _share(answers: Sequence[bool]) -> float:
    return sum(answers) / len(answers) if answers else 0.0


# --- JSON ---


def _from_json(text: str, column: str | None, source: str) -> Entries:
    try:
        try:
            value = json.loads(text)
        except ValueError:
            value = [json.loads(line) for line in text.splitlines() if line.strip()]
        words = _words_below(value, column, source)
        rest = Counter(_leaves(value)) - Counter(words)
    except (ValueError, RecursionError) as error:
        raise WordListError(
            f"{quote(source)} looks like JSON and is not: {error}; check the file"
        ) from error
    return Entries(words, ["JSON"], {OTHER_VALUE: list(rest.elements())} if rest else _NONE)


def _leaves(value: Any) -> Iterator[str]:
    """Yield every key and value as a text."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield key
            yield from _leaves(below)
    elif isinstance(value, list):
        for below in value:
            yield from _leaves(below)
    else:
        yield _text_of(value)


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _words_below(value: Any, column: str | None, source: str) -> list[str]:
    if isinstance(value, dict):
        return _words_of_object(value, column, source)
    values = [value] if isinstance(value, str) else value
    if isinstance(values, list):
        if all(isinstance(item, str) for item in values):
            if column not in (None, ALL, KEYS):
                raise _no_column(column, source, "has no such key or column: leave it out")
            return values
        if all(isinstance(item, list) for item in values):
            return _words_of_rows(values, column, source)
        if all(isinstance(item, dict) for item in values):
            return _words_of_records(values, column, source)
        value = next(item for item in values if not isinstance(item, str))
    raise WordListError(
        f"{quote(source)} is JSON with {quote(value)} in it: expected an array of words, "
        "an object with the words as its keys, or --column NAME for an array of objects"
    )


def _words_of_rows(rows: list[list[Any]], column: str | None, source: str) -> list[str]:
    flat = list(chain.from_iterable(rows))
    if any(isinstance(item, (list, dict)) for item in flat):
        return _words_below(flat, column, source)
    if not flat or (column in (None, ALL) and all(isinstance(item, str) for item in flat)):
        return flat
    filled = [list(map(_text_of, row)) for row in rows if row]
    return _from_rows(filled, column, "JSON", source).words


def _words_of_records(records: list[dict[str, Any]], column: str | None, source: str) -> list[str]:
    names = list(dict.fromkeys(chain.from_iterable(records)))
    named = [name for name in names if name.lower() in _HEADINGS]
    chosen = next(iter(named), None) if column is None else column
    if len(names) == 1:
        chosen = names[0]
    if chosen not in names:
        raise WordListError(
            f"{quote(source)} is JSON with {quote(records[0])} in it: say which key holds the "
            f"words, --column NAME, one of {', '.join(map(quote, names[:8]))}"
        )
    values = [record[chosen] for record in records if record.get(chosen) is not None]
    return _words_below(values, None, source)


def _words_of_object(value: dict[str, Any], column: str | None, source: str) -> list[str]:
    """Return its keys if they are the words, or what one of them, or each, holds."""
    if column in value:
        return _words_below(value[column], None, source)
    inner = {key: below for key, below in value.items() if isinstance(below, (dict, list))}
    named = [key for key in value if key.lower() in _HEADINGS]
    if not inner and named and len(value) < _RECORD and column != KEYS:
        return _words_below(value[named[0]], column, source)
    if column == KEYS or not inner:
        return _words_below(list(value), column, source)
    if len(inner) == 1:
        (below,) = inner.values()
        return _words_below(below, column, source)
    items = list(chain.from_iterable(inner.values()))
    is_flat = all(isinstance(item, str) for item in items)
    if len(inner) == len(value) and is_flat and column in (None, ALL):
        is_distinct = len(set(items)) >= _DISTINCT * len(items)
        has_words = any(len(key) > 2 and key.isalpha() for key in value)
        if column or not has_words or (is_distinct and len(items) >= 2 * len(value)):
            return items
        if not is_distinct:  # what is said of each word: its kinds, its forms
            return list(value)
    names = ", ".join(map(quote, list(value)[:8]))
    raise WordListError(
        f"{quote(source)} is a JSON object with words among its keys or below them: say where, "
        f"--column {KEYS}, {ALL} for what is below them, or NAME for one of {names}"
    )
