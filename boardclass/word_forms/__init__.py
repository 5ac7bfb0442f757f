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
from collections.abc import Iterator

from orderly_boggle.boardclass.errors import WordListError, quote
from orderly_boggle.boardclass.scores import MIN_LETTERS
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
from orderly_boggle.boardclass.word_forms.form import (
    TITLE,
    Entries,
    Form,
    Given,
    NoFormError,
    marks,
    title_of,
)

__all__ = ["FORMS", "Entries", "Form", "Given", "entries_of"]

_MODULES = (
    *(file_names, from_json, markup, wordnet, dictd),
    *(capitals, stems, columns, several, plain),
)
FORMS: dict[str, Form] = {module.FORM.name: module.FORM for module in _MODULES}
# of a text that is refused
_SHOWN = 3  # lines, and words that an option would take
_TRIED = 1_000  # lines that the options are tried on
_COLUMNS = 4  # that are tried
_LEAST = 0.1  # of what an option takes must be words, or it is no way out
_SIGNS = ":=^/\\"  # between columns if a line such as ``sep=:`` says so


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
    """Return the entries of a text; if it is of no form, say how it begins and what takes words.

    Raises NoFormError then, with these.
    """
    if form is not None and form not in FORMS:
        raise WordListError(f"--form {quote(form)}: expected one of {', '.join(FORMS)}")
    try:
        return _read(given, form)
    except NoFormError as error:
        first = ", ".join(quote(line, 60) for line in given.content[:_SHOWN])
        ways = "; ".join(_ways(given)) or "expected one word a line"
        raise NoFormError(f"{error}; it begins {first}; {ways}") from error


def _read(given: Given, form: str | None) -> Entries:
    if form is not None:
        return FORMS[form].read(given)
    for candidate in FORMS.values():
        if candidate.fits(given):
            if candidate is stems.FORM:
                raise stems.refused(given)
            if candidate is plain.FORM and given.column is not None:
                return _of_column(given)
            return candidate.read(given)
    raise NoFormError(f"{quote(given.source)} is no list of words in a form that is known")


def _of_column(given: Given) -> Entries:
    """Return the words of a text without columns of which one was asked for."""
    if given.column == "all":
        return plain.FORM.read(given)
    if plain.has_heading(given, given.column):
        return plain.below_heading(given)
    raise WordListError(
        f"--column {quote(given.column)}, but {quote(given.source)} has no columns: leave it out"
    )


def _ways(given: Given) -> Iterator[str]:
    """Yield the options that take words out of a text that is refused, each with the first words
    that it would take.  Each is tried: what takes no words is no way out.
    """
    start = "\n".join(given.content[:_TRIED])
    if from_json.fits(given):  # a part of a value is none
        start = given.text
    tried: list[tuple[str, str, str | None, str | None]] = [("--form plain", start, None, "plain")]
    for number in range(1, _COLUMNS + 1):
        tried.append((f"--column {number}", start, str(number), None))
    tried.append(("--column all", start, "all", None))
    for sign in _SIGNS:
        above = f"sep={sign}\n{start}"
        tried.append((f"a line sep={sign} above it", above, None, None))
        tried.append((f"a line sep={sign} above it, --column 1", above, "1", None))
    tried.append(("--form stems", start, None, "stems"))
    found: list[list[str]] = []
    for option, text, column, form in tried:
        words = _words_of(Given(text, column, given.source), form)
        if words and words not in found:
            found.append(words)
            # what the importer leaves out as names is no way out either
            if not any(map(str.islower, words)) and not all(map(str.isupper, words)):
                option += " --names keep"
            shown = ", ".join(quote(word, 20) for word in words[:_SHOWN])
            yield f"{option} takes {shown}"


def _words_of(given: Given, form: str | None) -> list[str]:
    """Return what would be taken of a text, if a part of it are words."""
    try:
        taken = _read(given, form).words
    except WordListError:
        return []
    words = []
    for entry in taken:
        word = marks.sub("", entry.strip())
        if word.isalpha() and len(word) >= MIN_LETTERS:
            words.append(word)
    is_one_again = len(words) > 1 == len(set(words))
    if is_one_again or len(words) < _LEAST * len(taken):
        return []
    return words
