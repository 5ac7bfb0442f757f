"""Several words a line, all of them words of the list: what ``aspell expand`` prints, one line, or
a block with as many words in each line.

A text whose words come again, or are followed by other signs, is not of this form.

>>> from orderly_boggle.boardclass.word_forms.form import Given
>>> read(Given("rate rates rated\\ntea teas\\n", None, "mine.txt")).words
['rate', 'rates', 'rated', 'tea', 'teas']
"""

from orderly_boggle.boardclass.word_forms.form import (
    ALL,
    NONE,
    Entries,
    Form,
    Given,
    Rows,
    is_bare_word,
    share,
)

_DISTINCT = 0.9  # of the cells at least
_LEAST = 0.5  # of the lines have several words


def fits(given: Given) -> bool:
    """Whether each line has the forms of a word, or there is one line, or a block of words."""
    several = [row for row in given.rows if len(row) > 1]
    if given.column is not None or not several:
        return False
    cells = []
    for row in given.rows:
        for cell in row:
            cells.append(cell.lower())
    if share([bool(is_bare_word(cell)) for cell in cells]) < _DISTINCT:
        return False
    are_distinct = len(set(cells)) >= _DISTINCT * len(cells)
    if not are_distinct or len(several) < _LEAST * len(given.rows):
        return False
    return len(given.rows) == 1 or _is_block(given.rows) or are_forms(several)


def _is_block(rows: Rows) -> bool:
    """Return whether each line has as many words, at least three; the last of more than two lines
    may have fewer.
    """
    n = len(rows[0])
    full = rows if len(rows) == 2 else rows[:-1]
    are_full = all(len(row) == n for row in full)
    return n >= 3 and are_full and len(rows[-1]) <= n


def are_forms(rows: Rows) -> bool:
    """Return whether the words of most rows begin alike, as the forms of one word do."""
    alike = []
    for row in rows:
        starts = {cell.strip()[:2].lower() for cell in row}
        alike.append(len(starts) == 1)
    return share(alike) > 0.5


def read(given: Given) -> Entries:
    """Return every word."""
    words = []
    for row in given.rows:
        for cell in row:
            words.append(cell)
    hint = ""
    if given.column != ALL:
        hint = "; --column 1 takes the first of each line"
    return Entries([*words, *given.beside], [f"words with blanks between{hint}"], NONE)


FORM = Form(
    "several",
    "several words a line, such as the forms of a word",
    fits,
    read,
    "rate rates rated\ntea teas\n",
    ("rate", "rates", "rated", "tea", "teas"),
)
