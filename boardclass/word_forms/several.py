"""Several words a line, all of them words of the list: what ``aspell expand`` prints, one line, or
a block with as many words in each line.

Prose is not of this form: its words come again, and its lines have different lengths.

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
    is_word,
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
    if share([bool(is_word(cell)) for cell in cells]) < _DISTINCT:
        return False
    are_distinct = len(set(cells)) >= _DISTINCT * len(cells)
    if not are_distinct or len(several) < _LEAST * len(given.rows):
        return False
    n_alike = sum(map(_are_alike, several))
    return len(given.rows) == 1 or _is_block(given.rows) or 2 * n_alike > len(several)


def _is_block(rows: Rows) -> bool:
    """Return whether each line has as many words, at least three, but for the last one."""
    n = len(rows[0])
    are_full = all(len(row) == n for row in rows[:-1])
    return n >= 3 and are_full and len(rows[-1]) <= n


def _are_alike(row: list[str]) -> bool:
    return len({cell[:2].lower() for cell in row}) == 1


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
