"""What a form of word file is, and what reading one gives.

>>> Given("tea\\n\\n# a remark\\n", None, "mine.txt").content
['tea']
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from orderly_boggle.boardclass.errors import WordListError, quote

ALL = "all"  # instead of a column: every cell is a word
# of a JSON object
KEYS = "keys"
VALUES = "values"
HEADING = "heading"
TITLE = "title above words in capitals"
OTHER_CELL = "cell of another column"
# how the column of the words is called
HEADINGS = {"word", "words", "headword", "lemma", "wordform", "mot", "palabra", "palavra"}
HEADINGS |= {"parola", "ord", "wort", "woord", "słowo"}
is_number = re.compile(r"[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?%?").fullmatch
_WORD = r"[^\W\d_]+(?:['’·-][^\W\d_]+)*"
is_bare_word = re.compile(_WORD).fullmatch
is_word = re.compile(rf"{_WORD}\W?").fullmatch  # a sign may follow
# beside a word: bullets, quotes, signs of lists such as 12dicts
marks = re.compile(r'^(?:[*+•–-]\s+|["“”„«»]+)|["“”«»,;%!&#<^=+~*]+$')
_is_rule = re.compile(r"[-+|:=\s]*[-=]{2}[-+|:=\s]*").fullmatch  # between the rows of a drawn table

_LEAST_BELOW = 3  # lines below a title
_MOST_BELOW = 0.9  # how many of them are in capitals

Rows = list[list[str]]
NONE: Mapping[str, Sequence[str]] = MappingProxyType({})


class NoFormError(WordListError):
    """A text that has not the form that it seemed to have, or none.  Where it was opened, its first
    lines and the options that take words out of it are added.
    """


class Entries(NamedTuple):
    """What a file holds.

    words : as the file spells them, repeated ones too; a line that is no word is among them
    read_as : how the file was read, for people
    others : what else it holds, by what it is
    """

    words: list[str]
    read_as: list[str]
    others: Mapping[str, Sequence[str]] = NONE

    @property
    def n_entries(self) -> int:
        """Lines, cells, keys and values of the file."""
        return len(self.words) + sum(map(len, self.others.values()))


@dataclass(frozen=True)
class Given:
    """A text, and what a person said of it.

    column : number (from 1) or heading of the column that holds the words, a key of JSON, an
        element of XML; ``all``, ``keys``, ``values``
    source : names the file in messages
    """

    text: str
    column: str | None
    source: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, whatever ends them."""
        lines = re.split(r"\r\n|\r|\n", self.text)
        if not lines[-1]:
            lines.pop()
        return lines

    @cached_property
    def content(self) -> list[str]:
        """The lines that are not blank, a comment, or a line of a drawn table."""
        return [line for line in self.lines if _is_content(line)]

    @cached_property
    def beside(self) -> list[str]:
        """The other lines, for the importer to count."""
        return [line for line in self.lines if not _is_content(line)]

    @cached_property
    def start(self) -> str:
        """The first sign that can be seen."""
        return self.text.lstrip()[:1]

    @cached_property
    def rows(self) -> Rows:
        """The lines of content, cut at their blanks."""
        return [line.split() for line in self.content]


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#") and not _is_rule(line)


@dataclass(frozen=True)
class Form:
    """A way to write words into a file.

    name : what ``--form`` calls it
    what : for people
    fits : the signature: whether a text is of this form, and of no general one
    read : the words of a text of this form
    example : a text of this form; it has the words ``words``
    """

    name: str
    what: str
    fits: Callable[[Given], bool]
    read: Callable[[Given], Entries]
    example: str
    words: tuple[str, ...]


def share(answers: Sequence[bool]) -> float:
    """Return which share of some answers is yes."""
    if answers:
        return sum(answers) / len(answers)
    return 0.0


def title_of(text: str) -> str:
    """Return the title that stands above words in capitals, a line with small letters; or nothing.

    >>> title_of("Trees\\nASH\\nELM\\nOAK\\n"), title_of("ash\\nelm\\noak\\nfir\\n")
    ('Trees', '')
    """
    first, *others = Given(text, None, "").content or [""]
    if len(others) < _LEAST_BELOW or not any(map(str.islower, first)):
        return ""
    capitals = [line.strip().isalpha() and line.isupper() for line in others]
    if share(capitals) >= _MOST_BELOW:
        return first
    return ""


def no_column(given: Given, why: str) -> WordListError:
    """Return the error for a column that is not there."""
    return WordListError(f"--column {quote(given.column)}, but {quote(given.source)} {why}")


def first_of_each_line(given: Given, what: str, beside: str) -> Entries:
    """Return the first word of each line; what follows it is told as ``beside``."""
    words: list[str] = []
    others: list[str] = []
    for row in given.rows:
        words.append(row[0])
        others += row[1:]
    found = NONE
    if others:
        found = {beside: others}
    return Entries([*words, *given.beside], [what], found)
