"""The words that a Hunspell spelling dictionary stands for: stems with their affixes.

The library ``spylls`` reads the two files, with all their encodings, flag types and aliases; its own ``lookup`` is the
referee of this module in the tests.  Compound words are not formed: there is no end of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from boardclass.errors import WordListError, quote

MAX_WORDS = 10_000_000


class _Form(NamedTuple):
    """A stem with suffixes; ``flags`` of the last suffix, which allow more affixes."""

    text: str
    flags: frozenset[str]
    crosses: bool  # prefixes may be added


def expanded(path: Path) -> list[str]:
    """Return the words of the dictionary ``path`` (.dic) with the affixes of the .aff file beside it.

    Raises WordListError if ``spylls`` is missing, the files cannot be read, or there are more than ``MAX_WORDS`` words.
    """
    try:
        from spylls.hunspell import Dictionary
    except ImportError as error:
        raise WordListError(
            f"{quote(str(path))} is a spelling dictionary: "
            f"install what reads it, pip install 'orderly-boggle[spelling]'"
        ) from error
    try:
        dictionary = Dictionary.from_files(str(path.with_suffix("")))
    except Exception as error:  # the library names no errors of its own
        raise WordListError(
            f"the spelling dictionary {quote(str(path))} cannot be read "
            f"({type(error).__name__}: {error}): fetch it again"
        ) from error
    words: set[str] = set()
    forbidden: set[str] = set()
    for entry in dictionary.dic.words:
        is_forbidden = dictionary.aff.FORBIDDENWORD in entry.flags
        (forbidden if is_forbidden else words).update([entry.stem] if is_forbidden else forms(entry, dictionary.aff))
        if len(words) > MAX_WORDS:
            raise WordListError(f"the spelling dictionary {quote(str(path))} stands for more than {MAX_WORDS:,} words")
    return sorted(words - forbidden)


def forms(entry: Any, aff: Any) -> Iterator[str]:
    """Yield the words that one entry of a dictionary stands for, some more than once."""
    stem = _Form(entry.stem, frozenset(entry.flags), True)
    if aff.ONLYINCOMPOUND in stem.flags:
        return
    once = list(_suffixed(stem, aff))
    for form in [stem, *once, *(longer for shorter in once for longer in _suffixed(shorter, aff))]:
        if aff.ONLYINCOMPOUND in form.flags and form is not stem:
            continue
        if aff.NEEDAFFIX not in form.flags and aff.CIRCUMFIX not in form.flags:
            yield form.text
        if form.crosses:
            yield from _prefixed(form, stem, aff)


def _suffixed(form: _Form, aff: Any) -> Iterator[_Form]:
    for suffix in _affixes(aff.SFX, form.flags):
        if form.text.endswith(suffix.strip) and suffix.cond_regexp.search(form.text):
            kept = form.text.removesuffix(suffix.strip)
            if kept or aff.FULLSTRIP:
                yield _Form(kept + suffix.add, frozenset(suffix.flags), suffix.crossproduct)


def _prefixed(form: _Form, stem: _Form, aff: Any) -> Iterator[str]:
    for prefix in _affixes(aff.PFX, stem.flags | form.flags):
        if form is not stem and not prefix.crossproduct:
            continue
        if (aff.CIRCUMFIX in prefix.flags) != (aff.CIRCUMFIX in form.flags):
            continue
        if form.text.startswith(prefix.strip) and prefix.cond_regexp.search(form.text):
            yield prefix.add + form.text.removeprefix(prefix.strip)


def _affixes(table: dict[str, list[Any]], flags: Iterable[str]) -> Iterator[Any]:
    for flag in flags:
        yield from table.get(flag, ())
