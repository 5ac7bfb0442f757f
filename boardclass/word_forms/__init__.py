"""The words in a text: a registry of forms, each a file with its signature, its reader and an
example.

    entries_of -> Entries    what may be a word, and what else the text holds
      FORMS                  the special before the general: the first whose signature fits is it
        file_names           JSON: a word for each name of a file (GCompris)
        from_json            any other JSON
        markup               XML with the words in one element (KVTML)
        wordnet, dictd       their indices
        capitals             words in capitals with their spellings (Tanglet)
        stems                a spelling dictionary without what its flags mean: only if told
        columns              tabs, commas, semicolons, bars; words with numbers
        several              the forms of a word on each line; one line
        plain                one word a line
    form.py                  what a form is

A title above words in capitals (Tux Typing) is none of them, whatever the form.

No line, cell, key or value is passed over: each is an entry, or stands in ``others`` for the
importer to count.  A text of no form is refused with its first lines and the options that fit;
``form`` says which it is.

>>> entries_of("word;points\\nquit;13\\ntie;3\\n", None, "mine.csv").words
['quit', 'tie']
"""

import re

from orderly_boggle.boardclass.errors import WordListError, quote
from orderly_boggle.boardclass.word_forms import (
    capitals,
    columns,
    dictd,
    file_names,
    from_json,
    markup,
    plain,
    several,
    stems,
    wordnet,
)
from orderly_boggle.boardclass.word_forms.form import TITLE, Entries, Form, Given, title_of

__all__ = ["FORMS", "Entries", "Form", "Given", "entries_of"]

_MODULES = (
    *(file_names, from_json, markup, wordnet, dictd),
    *(capitals, stems, columns, several, plain),
)
FORMS: dict[str, Form] = {module.FORM.name: module.FORM for module in _MODULES}
_SHOWN = 3  # lines of a text that is refused


def entries_of(text: str, column: str | None, source: str, form: str | None = None) -> Entries:
    """Return the entries of a text.

    column : number (from 1) or heading of the column that holds the words, a key of JSON, an
        element of XML; ``all`` takes every cell, ``keys`` and ``values`` those of a JSON object
    source : names the file in messages
    form : of ``FORMS``, instead of the one whose signature the text has

    Raises WordListError if it is of no form, or has no such column.
    """
    if title := title_of(text):
        line = rf"(?<![^\r\n]){re.escape(title)}(?:\r\n|\r|\n)"
        found = _of_form(Given(re.sub(line, "", text, count=1), column, source), form)
        return found._replace(others={**found.others, TITLE: [title]})
    return _of_form(Given(text, column, source), form)


def _of_form(given: Given, form: str | None) -> Entries:
    if form is not None:
        if form not in FORMS:
            raise WordListError(f"--form {quote(form)}: expected one of {', '.join(FORMS)}")
        return FORMS[form].read(given)
    for candidate in FORMS.values():
        if candidate.fits(given):
            if candidate is stems.FORM:
                raise stems.refused(given)
            if candidate is plain.FORM and given.column is not None:
                return _of_column(given)
            return candidate.read(given)
    raise _refused(given)


def _of_column(given: Given) -> Entries:
    """Return the words of a text without columns of which one was asked for."""
    if given.column == "all":
        return plain.FORM.read(given)
    raise WordListError(
        f"--column {quote(given.column)}, but {quote(given.source)} has no columns: leave it out"
    )


def _refused(given: Given) -> WordListError:
    """Return the error for a text of no form: its first lines, and what would take it."""
    shown = [quote(line, 60) for line in given.content[:_SHOWN]]
    first = ", ".join(shown)
    ways = "--form plain takes each line as a word"
    if any(len(row) > 1 for row in given.rows):
        ways = "--column 1 takes the first word of each line, --column all every word"
    return WordListError(
        f"{quote(given.source)} is no list of words in a form that is known: it begins {first}; "
        f"{ways}, --form says what it is: {', '.join(FORMS)}"
    )
