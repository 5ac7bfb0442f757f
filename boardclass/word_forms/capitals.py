"""A word in capitals with its spellings beside it, as the lists of the game Tanglet have it.

>>> from orderly_boggle.boardclass.word_forms.form import Given
>>> read(Given("AALAEHNLICH aalähnlich\\nGEHEN\\n", None, "words")).words
['AALAEHNLICH', 'GEHEN']
"""

import unicodedata

from orderly_boggle.boardclass.word_forms.form import (
    Entries,
    Form,
    Given,
    first_of_each_line,
    share,
)

_MOST = 0.9  # of the lines


def fits(given: Given) -> bool:
    """Whether nearly every line begins with capitals, and spellings of them follow."""
    has_columns = any(len(row) > 1 for row in given.rows)
    if given.column is not None or not has_columns:
        return False
    return share([_is_entry(row) for row in given.rows]) >= _MOST


def _is_entry(row: list[str]) -> bool:
    word, *spellings = row
    return word.isalpha() and word.isupper() and all(_is_spelling(word, s) for s in spellings)


def _is_spelling(word: str, spelling: str) -> bool:
    """Return whether a text may be a spelling of a word in capitals: not all capitals itself, and
    with the same first letter.
    """
    return spelling[:1].isalpha() and not spelling.isupper() and _first(spelling) == _first(word)


def _first(text: str) -> str:
    without_ligatures = text.lower().replace("œ", "oe").replace("æ", "ae")
    apart = unicodedata.normalize("NFKD", without_ligatures)
    return apart[:1]


def read(given: Given) -> Entries:
    """Return the words in capitals."""
    what = "words in capitals, with their spellings beside them"
    return first_of_each_line(given, what, "spelling of the word in capitals beside it")


FORM = Form(
    "capitals",
    "words in capitals with their spellings beside them (the game Tanglet)",
    fits,
    read,
    "SCHOEN schön\nGEHEN\nLAUFEN laufen Laufen\n",
    ("SCHOEN", "GEHEN", "LAUFEN"),
)
