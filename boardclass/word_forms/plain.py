"""One word a line."""

import unicodedata

from orderly_boggle.boardclass.errors import quote
from orderly_boggle.boardclass.word_forms.form import HEADING, HEADINGS, Entries, Form, Given, share

READ_AS = "one word a line"
_LEAST = 0.5  # of the lines must be one word, or the file is something else
_INSIDE = frozenset("'’ʼʻ‘`´·•∙⋅‧-‐‑–_.&")
_BESIDE = '"“”„«»,;%!&#<^=+~*()[]'


def fits(given: Given) -> bool:
    """Whether the lines are words, but for some that are several, or none."""
    are_words = [is_one(line) for line in given.content]
    return not given.content or share(are_words) >= _LEAST


def is_one(line: str) -> bool:
    """Return whether a line is one word, of whatever alphabet, perhaps with marks beside it.

    >>> [is_one(line) for line in ("tea", "naïve,", "tea's", "- tea", "ad hoc", "a=3", "tea/S")]
    [True, True, True, True, False, False, False]
    """
    if line.isalpha():
        return True  # most lines of most lists
    cells = line.split()
    if len(cells) == 2 and cells[0] in ("-", "*", "+", "•", "–"):
        cells.pop(0)
    if len(cells) != 1:
        return False
    word = cells[0].strip(_BESIDE)
    is_lettered = any(map(str.isalpha, word))
    return is_lettered and all(sign in _INSIDE or _is_of_word(sign) for sign in word)


def _is_of_word(sign: str) -> bool:
    # letters, marks on them, and what nobody sees
    return sign.isalpha() or unicodedata.category(sign) in ("Mn", "Mc", "Me", "Cf", "Lm", "So")


def read(given: Given) -> Entries:
    """Return each line; what is no word is for the importer to say.

    A first line ``word`` may be a heading or a word: it is taken, and said.
    """
    read_as = [READ_AS]
    first = _first(given)
    if len(given.content) > 1 and first.lower() in HEADINGS:
        read_as.append(f"its first line {quote(first)} too; --column {first} leaves it out")
    return Entries(given.lines, read_as)


def _first(given: Given) -> str:
    """Return the first line of content, without quotes; empty if there is none."""
    return next(iter(given.content), "").strip().strip('"')


def has_heading(given: Given, heading: str | None) -> bool:
    """Return whether the first line is a heading that a person names."""
    return len(given.content) > 1 and heading == _first(given)


def below_heading(given: Given) -> Entries:
    """Return each line below the first one, which is a heading."""
    lines = list(given.lines)
    heading = given.content[0]
    lines.remove(heading)
    return Entries(lines, [READ_AS, "below its heading"], {HEADING: [heading]})


FORM = Form(
    "plain", "one word a line", fits, read, "tea\nrates\nlinos\n", ("tea", "rates", "linos")
)
