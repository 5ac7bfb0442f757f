"""A JSON object that names the word of each of some files, as the voices of the program GCompris
have it.

>>> from orderly_boggle.boardclass.word_forms.form import Given
>>> read(Given('{"10.ogg": "ten", "bat.ogg": "bat"}', None, "voices.json")).words
['ten', 'bat']
"""

import re

from orderly_boggle.boardclass.errors import WordListError
from orderly_boggle.boardclass.word_forms.form import Entries, Form, Given
from orderly_boggle.boardclass.word_forms.from_json import entries, fits as is_json, parsed

_is_file = re.compile(r"[^/]+\.[A-Za-z][A-Za-z0-9]{1,4}").fullmatch


def fits(given: Given) -> bool:
    """Whether a text is an object whose keys are names of files, and its values texts."""
    if given.column is not None or not is_json(given):
        return False
    try:
        value = parsed(given)
    except WordListError:  # for the form of any JSON to say
        return False
    if not isinstance(value, dict) or not value:
        return False
    return all(map(_is_file, value)) and all(isinstance(item, str) for item in value.values())


def read(given: Given) -> Entries:
    """Return the values."""
    value = parsed(given)
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise WordListError(f"{given.source!r} is no JSON object of names of files and words")
    return entries(value, list(value.values()), "JSON, the words beside names of files")


FORM = Form(
    "files",
    "a JSON object with a word for each name of a file (the voices of GCompris)",
    fits,
    read,
    '{"10.ogg": "ten", "bat.ogg": "bat"}',
    ("ten", "bat"),
)
