"""What the files of people hold: words in some form, or a spelling dictionary.

    read_entries   what a file holds (word_forms/), and how it was read  -> word_import.py
    expanded       the words that a Hunspell dictionary stands for: stems with their affixes

Nothing is judged here: what an entry is worth is for the importer to say.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     file = Path(folder, "mine.csv")
...     _ = file.write_text("word;points\\nquit;13\\ntie;3\\n")
...     read_entries(file).words
['quit', 'tie']
"""

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from orderly_boggle.boardclass.errors import WordListError, quote
from orderly_boggle.boardclass.word_files import decoded, read_file
from orderly_boggle.boardclass.word_forms import Entries, Given, entries_of, stems
from orderly_boggle.boardclass.word_forms.form import NoFormError

MAX_WORDS = 10_000_000
_SHOWN_EACH = 256  # stems
_LOOKED_AT = 400  # stems, spread over a dictionary
_SURELY = 1.5  # times MAX_WORDS by those: a few of their forms are those of other stems, too
Judge = Callable[[list[str]], None]
Move = Callable[[str, float], None]  # is told which share of the stems is done

# what is no text, by its first bytes, and what to make of it
_STRANGE = {
    b"%PDF": "a PDF: save its words as text",
    b"\xd0\xcf\x11\xe0": "a document of an office program: save it as CSV or text",
    b"7z\xbc\xaf": "an archive (7z): unpack it first",
    b"Rar!": "an archive (RAR): unpack it first",
    b"\x28\xb5\x2f\xfd": "packed by zstd: unpack it first, unzstd FILE",
    b"qres": "a resource file of Qt (.rcc), files of a program packed into one: import one of them "
    "from its source, such as src/activities/wordsgame/resource/default-en.json of GCompris",
    b"\x02": "a list of aspell: aspell dump master | aspell expand > FILE makes a text of it",
}
_PACKED = (".gz", ".bz2", ".xz")


def read_entries(
    path: Path,
    encoding: str | None = None,
    column: str | None = None,
    form: str | None = None,
    *,
    judge: Judge | None = None,
    move: Move | None = None,
) -> Entries:
    """Return the words of a file in any of the forms of ``word_forms``.

    encoding : instead of the one that the bytes suggest
    column : number (from 1) or heading of the column that holds the words
    form : instead of the one whose signature the text has
    judge : looks at the stems of a spelling dictionary before they are expanded, which may take
        minutes, and refuses what cannot become a list
    move : is told how far that is

    Raises WordListError if the file cannot be read, decoded or taken apart.
    """
    is_dictionary = _base(path).endswith(".dic")
    if is_dictionary and affixes_of(path) and form is None:
        if judge:
            judge(stems_of(path))
        return Entries(
            expanded(path, move),
            ["spelling dictionary with its affixes; compound words are not formed"],
        )
    # dictzip is gzip, so it would unpack to prose, and every word of it would become an entry
    if path.suffix.lower() == ".dz" and form is None:
        raise WordListError(
            f"{quote(str(path))} holds what a dictionary says of its words: import the .index "
            "beside it"
        )
    if _base(path).endswith(".aff"):
        has_words = path.with_suffix(".dic").is_file()
        way = f"import {quote(f'{path.stem}.dic')} beside it"
        raise WordListError(
            f"{quote(str(path))} holds the affixes of a spelling dictionary: "
            f"{way if has_words else 'import the list of its words (a .dic, or of ispell a .mwl)'}"
        )
    data = read_file(path)
    for start, what in _STRANGE.items():
        # by the bytes: people rename files, and a PDF decoded as Latin-1 has "words"
        if data.startswith(start):
            raise WordListError(f"{quote(str(path))} is {what}")
    text, how = decoded(data, encoding, str(path))
    # a binary file has letters in any encoding, but no text has a NUL
    if "\0" in text:
        raise WordListError(
            f"{quote(str(path))} has a NUL character: it is not text; save it as text or CSV"
        )
    if is_dictionary and form is None and stems.fits(Given(text, column, str(path))):
        raise WordListError(
            f"{quote(str(path))} is a spelling dictionary, and "
            f"{quote(path.name[: len(_base(path)) - 4] + '.aff')}, which says what its flags mean, "
            "is missing: put it beside it, or --form stems takes the stems alone"
        )
    try:
        entries = entries_of(text, column, str(path), form)
    except NoFormError as error:
        if "guess" in how:  # in another encoding it may be of a form
            raise WordListError(f"{error}; read as {how}") from error
        raise
    return entries._replace(read_as=[how, *entries.read_as])


def _base(path: Path) -> str:
    """Return the name of a file in small letters, without the ending that packing adds."""
    name = path.name.lower()
    if path.suffix.lower() in _PACKED:
        return name.removesuffix(path.suffix.lower())
    return name


def affixes_of(path: Path) -> Path | None:
    """Return the .aff file beside a .dic file, whatever the case of their names."""
    wanted = _base(path).removesuffix(".dic") + ".aff"
    try:
        beside = sorted(path.parent.iterdir())
        return next((file for file in beside if _base(file) == wanted), None)
    except OSError:
        return None


class _Form(NamedTuple):
    """A stem with suffixes; ``flags`` of the last suffix, which allow more affixes."""

    text: str
    flags: frozenset[str]
    crosses: bool  # prefixes may be added


def stems_of(path: Path) -> list[str]:
    """Return the stems of the dictionary ``path``, without looking at its affixes."""
    affixes = read_file(affixes_of(path) or path.with_suffix(".aff"))
    # some begin with a byte order mark
    # the affix file names the encoding of both
    told = re.search(rb"^(?:\xef\xbb\xbf)?\s*SET\s+(\S+)", affixes, re.MULTILINE)
    try:
        text = read_file(path).decode(told[1].decode("ascii") if told else "latin-1", "replace")
    except (LookupError, UnicodeError):  # the reader of the dictionary says it
        return []
    lines = text.splitlines()[1:]  # the first one is their number
    stems = []
    for line in lines:
        if line.strip():
            stem = line.partition("/")[0].partition("\t")[0]
            stems.append(stem.strip())
    return stems


def expanded(path: Path, move: Move | None = None) -> list[str]:
    """Return the words of the dictionary ``path`` (.dic) with the affixes of the .aff file beside
    it.

    The library ``spylls`` reads the two files, with all their encodings, flag types and aliases;
    its own ``lookup`` is the referee of this function in the tests.  Compound words are not formed:
    there is no end of them.

    Raises WordListError if ``spylls`` is missing, the files cannot be read, or there are more than
    ``MAX_WORDS`` words.
    """
    try:
        from spylls.hunspell import Dictionary
    except ImportError as error:
        raise WordListError(
            f"{quote(str(path))} is a spelling dictionary: "
            f"install what reads it, pip install 'orderly-boggle[spelling]'"
        ) from error
    files = {"list.dic": path, "list.aff": affixes_of(path) or path.with_suffix(".aff")}
    try:
        with tempfile.TemporaryDirectory() as folder:  # it reads plain files of such names only
            for name, file in files.items():
                (Path(folder) / name).write_bytes(read_file(file))
            dictionary = Dictionary.from_files(str(Path(folder) / "list"))
    except WordListError:
        raise
    except Exception as error:  # the library names no errors of its own
        raise WordListError(
            f"the spelling dictionary {quote(str(path))} cannot be read "
            f"({type(error).__name__}: {error}): fetch it again"
        ) from error
    words: set[str] = set()
    forbidden: set[str] = set()
    n_stems = len(dictionary.dic.words)
    step = n_stems // _LOOKED_AT
    if step > 1:  # said at once: to come to the limit takes a minute
        spread = dictionary.dic.words[::step]
        found = set(chain.from_iterable(forms(stem, dictionary.aff) for stem in spread))
        if step * len(found) > _SURELY * MAX_WORDS:
            about = f"some {step * len(found):,} words, by {len(spread)} of its stems"
            raise _too_many(path, f"{about}; at most {MAX_WORDS:,} are taken")
    for number, entry in enumerate(dictionary.dic.words):
        if move and number % _SHOWN_EACH == 0:
            move(f"{number:,} of {n_stems:,} stems, {len(words):,} words", number / n_stems)
        # collected, not skipped: a forbidden word may be a form of another stem
        is_forbidden = dictionary.aff.FORBIDDENWORD in entry.flags
        if is_forbidden:
            forbidden.add(entry.stem)
        else:
            words.update(forms(entry, dictionary.aff))
        if len(words) > MAX_WORDS:
            raise _too_many(path, f"more than {MAX_WORDS:,} words")
    return sorted(words - forbidden)


def _too_many(path: Path, words: str) -> WordListError:
    return WordListError(
        f"the spelling dictionary {quote(str(path))} stands for {words}: take a plain list of its "
        "language, one word a line"
    )


def forms(entry: Any, aff: Any) -> Iterator[str]:
    """Yield the words that one entry of a dictionary stands for, some more than once."""
    stem = _Form(entry.stem, frozenset(entry.flags), True)
    # such stems are no words by themselves, and compounds are not formed
    if aff.ONLYINCOMPOUND in stem.flags:
        return
    # two suffixes at most, as Hunspell does: more would never end with some flags
    once = list(_suffixed(stem, aff))
    twice = chain.from_iterable(_suffixed(shorter, aff) for shorter in once)
    for form in chain([stem], once, twice):
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
        # both halves or neither: German ge-...-t
        if (aff.CIRCUMFIX in prefix.flags) != (aff.CIRCUMFIX in form.flags):
            continue
        if form.text.startswith(prefix.strip) and prefix.cond_regexp.search(form.text):
            yield prefix.add + form.text.removeprefix(prefix.strip)


def _affixes(table: dict[str, list[Any]], flags: Iterable[str]) -> Iterator[Any]:
    for flag in flags:
        yield from table.get(flag, ())
