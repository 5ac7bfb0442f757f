"""The stems of a spelling dictionary with its flags, ``word/FLAGS``, and without the file that says
what the flags mean (ispell, hunspell, myspell).

The flags stand for most words of the language, so the stems alone are a list only if somebody says
that they are what is wanted.

>>> read(Given("abandon/DGRS\\nabaci\\n", None, "mine.mwl")).words
['abandon', 'abaci']
"""

import re

from orderly_boggle.boardclass.errors import WordListError, quote
from orderly_boggle.boardclass.word_forms.form import Entries, Form, Given, share

_LEAST = 0.1  # of the lines have flags
# the flags may be followed by what hunspell(5) calls morphological fields, such as po:noun
_flagged = re.compile(r"([^\W\d_][^\s/:,;|]*)/([^\s/:]+(?:\s+[a-z]{2}:\S*)*)").fullmatch
_sign = re.compile(r"[A-Z0-9]").search  # of flags: "bed/breakfast" has none


def fits(given: Given) -> bool:
    """Whether a part of the lines are stems with flags."""
    if "/" not in given.text:
        return False
    found = [_flagged(line.strip()) for line in given.content]
    has_sign = any(match and _sign(match[2]) for match in found)
    return has_sign and share([bool(match) for match in found]) >= _LEAST


def refused(given: Given) -> WordListError:
    """Return the error for a file that nobody called stems."""
    flagged = [line for line in given.content if _flagged(line.strip())]
    return WordListError(
        f"{quote(given.source)} has stems with flags of ispell or hunspell ({quote(flagged[0])}): "
        "most words of the language are left to the flags. Import a .dic with its .aff beside it, "
        "or what `ispell -e` or `aspell expand` prints; --form stems takes the stems alone"
    )


def read(given: Given) -> Entries:
    """Return the stems, and the flags as what else there is."""
    words = []
    flags = []
    for line in given.lines:
        found = _flagged(line.strip())
        words.append(found[1] if found else line)
        if found:
            flags.append(found[2])
    what = "stems of a spelling dictionary; the words that their flags stand for are missing"
    return Entries(words, [what], {"flags of a stem": flags} if flags else {})


FORM = Form(
    "stems",
    "stems of a spelling dictionary without what its flags mean (ispell)",
    fits,
    read,
    "abandon/DGRS\nabaci\nabbey/MS\n",
    ("abandon", "abaci", "abbey"),
)
