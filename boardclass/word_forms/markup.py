"""XML with the words in one element, such as the vocabularies of KDE (KVTML).

>>> from orderly_boggle.boardclass.word_forms.form import Given
>>> read(Given("<list><w>tea</w><note>hot</note><w>tree</w></list>", "w", "mine.xml")).words
['tea', 'tree']
"""

import xml.etree.ElementTree as ET
from collections import Counter

from orderly_boggle.boardclass.errors import WordListError, quote
from orderly_boggle.boardclass.word_forms.form import Entries, Form, Given, NoFormError

_KVTML = "kvtml"
_TRANSLATION = "translation"
_TEXT = "text"
_STARTS = ("<?xml", "<!doctype", f"<{_KVTML}")
OTHER = "text of another element"
ATTRIBUTE = "attribute of an element"


def fits(given: Given) -> bool:
    """Whether a text says that it is XML, or is one element, without words around it."""
    text = given.text.lstrip("\ufeff \t\r\n")
    if text[:20].lower().startswith(_STARTS):
        return True
    if not text.startswith("<"):
        return False
    try:
        _parsed(given)
    except NoFormError:
        return False
    return True


def read(given: Given) -> Entries:
    """Return the texts of one element: of a KVTML file those of one language."""
    root = _parsed(given)
    if _name(root) == _KVTML:
        column = given.column
        if column is None or column.isdecimal() or column in _languages(root).values():
            return _from_vocabulary(root, given)
    texts = []
    for item in root.iter():
        text = item.text or ""
        texts.append((_name(item), text.strip()))
    words = [text for name, text in texts if name == given.column and text]
    if not words:
        held = Counter(name for name, text in texts if text)
        if not held:
            raise WordListError(
                f"{quote(given.source)} is XML without text in its elements: expected one word a "
                "line, or elements with the words as their texts"
            )
        names = ", ".join(f"{name} ({n:,})" for name, n in held.most_common(8))
        raise WordListError(
            f"{quote(given.source)} is XML: say which element holds the words, --column NAME, one "
            f"of {names}"
        )
    return _entries(root, words, f"XML, element {given.column}")


def _parsed(given: Given) -> ET.Element:
    if "<!ENTITY" in given.text:
        raise NoFormError(f"{quote(given.source)} is XML that defines entities, which is not read")
    try:
        # as text: the encoding that it names is that of the file
        return ET.fromstring(given.text.lstrip("\ufeff \t\r\n"))
    except (ET.ParseError, ValueError, LookupError) as error:
        raise NoFormError(f"{quote(given.source)} looks like XML and is not: {error}") from error


def _name(item: ET.Element) -> str:
    """Return the name of an element without its namespace."""
    return str(item.tag).rpartition("}")[2].lower()


def _languages(root: ET.Element) -> dict[str, str]:
    """Return the language of each number that an identifier names."""
    found = {}
    for identifier in root.iter("identifier"):
        found[identifier.get("id", "0")] = identifier.findtext("locale") or "?"
    return found


def _from_vocabulary(root: ET.Element, given: Given) -> Entries:
    """Return the words of a KVTML file: those of the only language, or of the one that is told.

    Only translations whose number an identifier names are of a language: older files keep remarks
    as one more translation.
    """
    languages = _languages(root)
    words: dict[str, list[str]] = {}
    for translation in root.iter(_TRANSLATION):
        number = translation.get("id", "0")
        text = (translation.findtext(_TEXT) or "").strip()
        if text and (number in languages or not languages):
            words.setdefault(number, []).append(text)
    if not words:
        raise WordListError(f"{quote(given.source)} is a vocabulary without words")
    if given.column is None and len(words) > 1:
        names = [languages.get(number, "?") for number in words]
        told = ", ".join(f"{n} {name}" for n, name in enumerate(names, 1))
        raise WordListError(
            f"{quote(given.source)} is a vocabulary of {len(words)} languages: say which, "
            f"--column N ({told})"
        )
    names = [languages.get(number, "?") for number in words]
    if given.column in names:
        place = names.index(given.column) + 1
    else:
        place = int(given.column or 1)
    if not 1 <= place <= len(words):
        raise WordListError(
            f"--column {quote(given.column)}, but {quote(given.source)} has {len(words)} languages"
        )
    return _entries(root, list(words.values())[place - 1], "KVTML, the words of one language")


def _entries(root: ET.Element, words: list[str], read_as: str) -> Entries:
    """Return words, and the other texts of a file, and its attributes, as what else there is."""
    texts = Counter(text.strip() for text in root.itertext() if text.strip())
    others = {OTHER: list((texts - Counter(words)).elements()), ATTRIBUTE: []}
    for item in root.iter():
        others[ATTRIBUTE] += item.attrib.values()
    return Entries(words, [read_as], {what: found for what, found in others.items() if found})


FORM = Form(
    "xml",
    "XML with the words in one element (--column NAME; KVTML needs none)",
    fits,
    read,
    '<?xml version="1.0"?><kvtml><entries><entry><translation id="0"><text>tea</text>'
    "<comment>hot</comment></translation></entry></entries></kvtml>",
    ("tea",),
)
