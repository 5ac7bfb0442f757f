"""The files of WordNet: ``index.noun`` and its like, ``data.noun`` and its like, ``index.sense``.

Their format is told in the pages wndb(5WN) and senseidx(5WN) of WordNet 3.0.

>>> from orderly_boggle.boardclass.word_forms.form import Given
>>> read(Given("aah v 1 1 @ 1 0 00865794  \\n", None, "index.verb")).words
['aah']
"""

import re

from orderly_boggle.boardclass.word_forms.form import Entries, Form, Given

_LICENCE = re.compile(r" {2}\d+ ").match
_index = re.compile(r"(\S+) [nvars] \d+ \d+(?: \S+)* \d+ \d+(?: \d{8})+ *").fullmatch
_sense = re.compile(r"([^%\s]+)%\d:\d\d:\d\d:\S*:\S* \d{8} \d+ \d+").fullmatch
_data = re.compile(r"\d{8} \d\d [nvars] ([0-9a-f]{2}) (.*)").fullmatch
LICENCE = "line of the licence"
SAID = "what is said of a word"
OTHER = "line that no file of WordNet has"


def fits(given: Given) -> bool:
    """Whether every line is one of these files, and some are more than the licence."""
    if given.column is not None:
        return False
    lines = [line for line in given.lines if not _LICENCE(line)]
    return bool(lines) and all(_words_of(line) for line in lines)


def _words_of(line: str) -> list[str]:
    """Return the words of a line of an index, or of a set of synonyms; empty if it is neither."""
    line = line.rstrip()
    found = _index(line) or _sense(line)
    if found:
        return [found[1]]
    found = _data(line)
    if not found:
        return []
    n_words = int(found[1], 16)
    cells = found[2].split()
    # each with a number behind it, an adjective with its place in brackets
    words = cells[: 2 * n_words : 2]
    return [word.partition("(")[0] for word in words]


def read(given: Given) -> Entries:
    """Return the words; those of several parts have a line ``_`` between them."""
    words: list[str] = []
    others: dict[str, list[str]] = {LICENCE: [], SAID: [], OTHER: []}
    for line in given.lines:
        found = _words_of(line)
        words += found
        if found:
            others[SAID].append(line)
        elif _LICENCE(line):
            others[LICENCE].append(line)
        else:
            others[OTHER].append(line)
    kept = {what: lines for what, lines in others.items() if lines}
    return Entries(words, ["words of a file of WordNet"], kept)


FORM = Form(
    "wordnet",
    "a file of WordNet, such as index.noun or data.noun",
    fits,
    read,
    "  1 This is the licence\ntea n 5 1 @ 5 2 07575510\ntree n 1 1 @ 1 0 13104059  \n",
    ("tea", "tree"),
)
