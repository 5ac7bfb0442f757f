"""JSON: an array of words, of rows or of objects, an object with the words as its keys or below
them, or one such value a line.

>>> from orderly_boggle.boardclass.word_forms.form import Given
>>> read(Given('{"tie": 3, "quit": 13}', None, "mine.json")).words
['tie', 'quit']
"""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

from orderly_boggle.boardclass.errors import WordListError, quote
from orderly_boggle.boardclass.word_forms.columns import from_rows
from orderly_boggle.boardclass.word_forms.form import (
    ALL,
    HEADINGS,
    KEYS,
    NONE,
    VALUES,
    Entries,
    Form,
    Given,
    no_column,
)

OTHER_VALUE = "key or value that is no word of the list"
_RECORD = 10  # keys: an object with fewer is no list of words if one of them is called ``word``
_DISTINCT = 0.9  # of the words below the keys


def fits(given: Given) -> bool:
    """Whether a text begins as JSON does."""
    return given.start in ("[", "{")


def parsed(given: Given) -> Any:
    """Return the value of a text, or the list of those of its lines.

    Raises WordListError if it is not JSON.
    """
    try:
        try:
            return json.loads(given.text)
        except ValueError:
            lines = given.text.splitlines()
            return [json.loads(line) for line in lines if line.strip()]
    except (ValueError, RecursionError) as error:
        raise WordListError(
            f"{quote(given.source)} looks like JSON and is not: {error}; check the file"
        ) from error


def read(given: Given) -> Entries:
    """Return the words, and every other key and value as what else there is."""
    value = parsed(given)
    try:
        return entries(value, _words_below(value, given), "JSON")
    except RecursionError as error:
        raise WordListError(
            f"{quote(given.source)} is JSON with too many levels: take the words out of it"
        ) from error


def entries(value: Any, words: list[str], read_as: str) -> Entries:
    """Return words of a value; its other keys and values are what else there is."""
    rest = Counter(_leaves(value)) - Counter(words)
    return Entries(words, [read_as], {OTHER_VALUE: list(rest.elements())} if rest else NONE)


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
    if isinstance(value, str):
        return value
    return json.dumps(value)


def _words_below(value: Any, given: Given) -> list[str]:
    if isinstance(value, dict):
        return _words_of_object(value, given)
    values = [value] if isinstance(value, str) else value
    if isinstance(values, list):
        if all(isinstance(item, str) for item in values):
            if given.column not in (None, ALL, KEYS, VALUES):
                raise no_column(given, "has no such key or column: leave it out")
            return values
        if all(isinstance(item, list) for item in values):
            return _words_of_rows(values, given)
        if all(isinstance(item, dict) for item in values):
            return _words_of_records(values, given)
        value = next(item for item in values if not isinstance(item, str))
    raise WordListError(
        f"{quote(given.source)} is JSON with {quote(value)} in it: expected an array of words, "
        "an object with the words as its keys, or --column NAME for an array of objects"
    )


def _words_of_rows(rows: list[list[Any]], given: Given) -> list[str]:
    flat = list(chain.from_iterable(rows))
    if any(isinstance(item, (list, dict)) for item in flat):
        return _words_below(flat, given)
    if not flat or (given.column in (None, ALL) and all(isinstance(item, str) for item in flat)):
        return flat
    filled = [list(map(_text_of, row)) for row in rows if row]
    return from_rows(filled, given, "JSON").words


def _words_of_records(records: list[dict[str, Any]], given: Given) -> list[str]:
    names = list(dict.fromkeys(chain.from_iterable(records)))
    named = [name for name in names if name.lower() in HEADINGS]
    if given.column is None:
        chosen = next(iter(named), None)
    else:
        chosen = given.column
    if len(names) == 1:
        chosen = names[0]
    if chosen not in names:
        raise WordListError(
            f"{quote(given.source)} is JSON with {quote(records[0])} in it: say which key holds "
            f"the words, --column NAME, one of {', '.join(map(quote, names[:8]))}"
        )
    values = []
    for record in records:
        if record.get(chosen) is not None:
            values.append(record[chosen])
    return _words_below(values, _without_column(given))


def _without_column(given: Given) -> Given:
    return Given(given.text, None, given.source)


def _words_of_object(value: dict[str, Any], given: Given) -> list[str]:
    """Return its keys if they are the words, or what one of them, or each, holds."""
    if given.column in value:
        return _words_below(value[given.column], _without_column(given))
    if given.column == KEYS:
        return list(value)
    if given.column == VALUES:
        return list(_texts_below(value))
    nested = [below for below in value.values() if isinstance(below, (dict, list))]
    if not nested:
        return _words_of_flat(value, given)
    if len(nested) == 1:
        return _words_below(nested[0], given)
    if len(nested) == len(value):
        words = _words_of_groups(value, given)
        if words is not None:
            return words
    names = ", ".join(map(quote, list(value)[:8]))
    raise WordListError(
        f"{quote(given.source)} is a JSON object with words among its keys or below them: say "
        f"where, --column {KEYS}, {ALL} for what is below them, or NAME for one of {names}"
    )


def _texts_below(value: Any) -> Iterator[str]:
    """Yield every text in a value that is no key."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for below in value.values() if isinstance(value, dict) else value:
            yield from _texts_below(below)


def _words_of_flat(value: dict[str, Any], given: Given) -> list[str]:
    """Return the words of an object without objects or arrays in it: its keys, or what the key
    ``word`` of a record holds; the values if all is asked for and they are texts.
    """
    named = [key for key in value if key.lower() in HEADINGS]
    if named and len(value) < _RECORD:
        return _words_below(value[named[0]], given)
    if given.column == ALL and all(isinstance(below, str) for below in value.values()):
        return list(value.values())
    return _words_below(list(value), given)


def _words_of_groups(value: dict[str, Any], given: Given) -> list[str] | None:
    """Return the words of an object with an array or an object below each key: the keys, if what is
    said of them comes again and again; else what is below them, if the keys are no words or are
    far fewer.  None: it may be either.
    """
    items = list(chain.from_iterable(value.values()))
    are_texts = all(isinstance(item, str) for item in items)
    if given.column not in (None, ALL) or not are_texts:
        return None
    has_words = any(len(key) > 2 and key.isalpha() for key in value)
    if given.column == ALL or not has_words:
        return items
    if len(set(items)) < _DISTINCT * len(items):
        return list(value)
    if len(items) >= 2 * len(value):
        return items
    return None


FORM = Form(
    "json",
    "JSON (--column NAME, keys or values says where the words are)",
    fits,
    read,
    '{"words": ["tea", "tree"], "n": 2}',
    ("tea", "tree"),
)
