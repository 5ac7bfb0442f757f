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
from orderly_boggle.boardclass.word_forms.columns import from_rows, refuse_pairs
from orderly_boggle.boardclass.word_forms.form import (
    ALL,
    HEADINGS,
    KEYS,
    NONE,
    VALUES,
    Entries,
    Form,
    Given,
    NoFormError,
    no_column,
)

_Object = dict[str, Any]  # of JSON: below a key may be anything
OTHER_VALUE = "key or value that is no word of the list"
_RECORD = 10  # keys: an object with fewer is no list of words if one of them is called ``word``
_OFTEN = 2  # keys of which one thing is said: then it is a kind of words, such as noun


def fits(given: Given) -> bool:
    """Whether a text begins as JSON does."""
    return given.start in ("[", "{")


def parsed(given: Given) -> Any:
    """Return the value of a text, or the list of those of its lines.

    Raises WordListError if it is not JSON, or an object has a key twice, of which only one would
    be read.
    """
    try:
        try:
            return json.loads(given.text, object_pairs_hook=_object)
        except ValueError:
            values = []
            for line in given.lines:
                if line.strip():
                    values.append(json.loads(line, object_pairs_hook=_object))
            return values
    except _TwiceError as error:
        raise WordListError(
            f"{quote(given.source)} is JSON with the key {quote(error.args[0])} twice in an "
            "object, of which only one would be read: give each a name of its own"
        ) from error
    except (ValueError, RecursionError) as error:
        raise NoFormError(f"{quote(given.source)} looks like JSON and is not: {error}") from error


class _TwiceError(Exception):
    """An object has a key twice."""


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _TwiceError(counts.most_common(1)[0][0])
    return found


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
        if given.column is None:
            refuse_pairs(rows, given)
        return flat
    filled = [list(map(_text_of, row)) for row in rows if row]
    return from_rows(filled, given, "JSON").words


def _words_of_records(records: list[_Object], given: Given) -> list[str]:
    names = list(dict.fromkeys(chain.from_iterable(records)))
    named = [name for name in names if name.lower() in HEADINGS]
    chosen: str | None
    if given.column is not None:
        chosen = given.column
    elif len(names) == 1:
        chosen = names[0]
    else:
        chosen = next(iter(named), None)
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


def _words_of_object(value: _Object, given: Given) -> list[str]:
    """Return its keys if they are the words, or what one of them, or each, holds."""
    if given.column in value:
        return _words_below(value[given.column], _without_column(given))
    if given.column == KEYS:
        return list(value)
    if given.column == VALUES:
        return list(_texts_below(value))
    nested = [below for below in value.values() if _is_nested(below)]
    if not nested:
        return _words_of_flat(value, given)
    below = _of_record(value, nested, given)
    if below is not None:
        return _words_below(below, given)
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


def _words_of_flat(value: _Object, given: Given) -> list[str]:
    """Return the words of an object without objects or arrays in it: its keys, or what the key
    ``word`` of a record holds; the values if all is asked for and they are texts.
    """
    named = [key for key in value if key.lower() in HEADINGS]
    if named and len(value) < _RECORD:
        return _words_below(value[named[0]], given)
    if given.column == ALL and all(isinstance(below, str) for below in value.values()):
        return list(value.values())
    return _words_below(list(value), given)


def _of_record(value: _Object, nested: list[Any], given: Given) -> Any:
    """Return the one array or object of a record that holds the list and something about it: the
    only array, below a key such as ``words``, or the only array or object, of more texts than there
    are other keys.  None: the keys may be words.
    """
    arrays = [key for key, item in value.items() if isinstance(item, list)]
    if len(arrays) == 1 and arrays[0].lower() in HEADINGS and given.column is None:
        return value[arrays[0]]
    if len(nested) > 1:
        return None
    (below,) = nested
    (name,) = [key for key, item in value.items() if item is below]
    if name.lower() in HEADINGS or given.column == ALL:
        return below
    # an object of texts may be one more record
    is_flat = isinstance(below, dict) and not any(map(_is_nested, below.values()))
    n_texts = sum(1 for _ in _texts_below(below))
    if is_flat or n_texts < len(value):
        return None
    return below


def _is_nested(value: Any) -> bool:
    return isinstance(value, (dict, list))


def _words_of_groups(value: _Object, given: Given) -> list[str] | None:
    """Return the words of an object with an array or an object below each key: the keys, if each is
    a record or few things are said of many keys; what is below them, if no key is a word.  None:
    it may be either.
    """
    items = list(chain.from_iterable(value.values()))
    are_texts = all(isinstance(item, str) for item in items)
    if given.column not in (None, ALL) or not are_texts:
        return None
    # one object below one key may be a record with a name that is no word
    has_words = len(value) == 1 or any(len(key) > 2 and key.isalpha() for key in value)
    if given.column == ALL or not has_words:
        return items
    if _are_records(list(value.values())) or _OFTEN * len(set(items)) <= len(value):
        return list(value)
    return None


def _are_records(values: list[Any]) -> bool:
    """Return whether some values are objects that have a key in common."""
    if len(values) < 2 or not all(isinstance(item, dict) for item in values):
        return False
    return bool(set(values[0]).intersection(*values[1:]))


FORM = Form(
    "json",
    "JSON (--column NAME, keys or values says where the words are)",
    fits,
    read,
    '{"words": ["tea", "tree"], "n": 2}',
    ("tea", "tree"),
)
