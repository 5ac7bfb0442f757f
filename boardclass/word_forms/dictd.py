"""The index of a dictionary of dictd (``.index``): a headword, then place and length of what is
said of it, in digits of base 64, with tabs between.

>>> from orderly_boggle.boardclass.word_forms.form import Given
>>> read(Given("tea\\tBFGy7\\tB8\\nad hoc\\tChL\\tC/\\n", None, "eng.index")).words
['tea', 'ad hoc']
"""

import re
from string import ascii_lowercase, ascii_uppercase, digits

from orderly_boggle.boardclass.word_forms.form import Entries, Form, Given

_DIGITS = ascii_uppercase + ascii_lowercase + digits + "+/"
_FILLED = 0.5  # of the file is what is said of some word
_is_line = re.compile(r"[^\t]*\t[A-Za-z0-9+/]+\t[A-Za-z0-9+/]+(?:\t[^\t]*)?").fullmatch


def fits(given: Given) -> bool:
    """Whether each line is one of an index, and what is said of the words fills a file from its
    beginning: none begins in the middle of another, and there is little between.
    """
    if given.column is not None or not given.lines or not all(map(_is_line, given.lines)):
        return False
    end = 0
    before = -1
    n_said = 0
    spans = [_span(*line.split("\t")[1:3]) for line in given.lines]
    for place, length in sorted(spans):
        if place < end and place != before:
            return False
        if place != before:
            n_said += length
        end = place + length
        before = place
    return n_said >= _FILLED * end


def _span(place: str, length: str) -> tuple[int, int]:
    return _number(place), _number(length)


def _number(text: str) -> int:
    number = 0
    for digit in text:
        number = 64 * number + _DIGITS.index(digit)
    return number


def read(given: Given) -> Entries:
    """Return the headwords."""
    words = []
    others = []
    for line in given.lines:
        head, *places = line.split("\t")
        words.append(head)
        others += places
    if others:
        found = {"place or length of a definition": others}
    else:
        found = {}
    return Entries(words, ["headwords of an index of dictd"], found)


FORM = Form(
    "dictd",
    "the index of a dictionary of dictd",
    fits,
    read,
    "rates\tA\tB8\ntea\tB8\tBy\ntree\tDu\t/\n",
    ("rates", "tea", "tree"),
)
