"""Files of words as people have them: compressed, in some encoding, or a spelling dictionary.

    read_file      the bytes, unpacked  (also for the strict loader)
    decoded        their text
    read_entries   what it holds (word_forms/), and how it was read  -> word_import.py
    expanded       the words that a Hunspell dictionary stands for: stems with their affixes

Nothing is judged here: what an entry is worth is for the importer to say.

>>> decoded("naïve".encode("latin-1"), None, "mylist.txt")[0]
'naïve'
"""

import bz2
import contextlib
import gzip
import io
import lzma
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from orderly_boggle.boardclass.errors import GIT_POINTER, WordListError, quote
from orderly_boggle.boardclass.word_forms import Entries, Given, entries_of, stems

# a small archive may unpack to anything
MAX_FILE_BYTES = 64 * 2**20
MAX_WORDS = 10_000_000
_SHOWN_EACH = 256  # stems
_LOOKED_AT = 400  # stems, spread over a dictionary
_SURELY = 1.5  # times MAX_WORDS by those: a few of their forms are those of other stems, too
Judge = Callable[[list[str]], None]
Move = Callable[[str, float], None]  # is told which share of the stems is done

_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
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
_OFFICE = {"xl/workbook.xml", "content.xml", "word/document.xml"}
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
    entries = entries_of(text, column, str(path), form)
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


def read_file(path: Path) -> bytes:
    """Return the bytes of a regular file, unpacked if it is compressed, at most ``MAX_FILE_BYTES``.

    Raises WordListError if it cannot be read, is damaged or too large.
    """
    try:
        path = path.expanduser()
        # a pipe or a device might never end
        if path.exists() and not path.is_file():
            raise WordListError(
                f"word list {quote(str(path))} is not a regular file: expected a text file"
            )
        with path.open("rb") as raw, _unpacker(raw, path)(raw) as file:
            # one more than allowed says that there is too much, however large it is
            data: bytes = file.read(MAX_FILE_BYTES + 1)
        # the magic of tar stands behind its first name, not at the beginning
        if data[257:262] == b"ustar" and len(data) <= MAX_FILE_BYTES:
            data = _only_member(data)
    except (
        EOFError,
        zlib.error,
        lzma.LZMAError,
        gzip.BadGzipFile,
        zipfile.BadZipFile,
        tarfile.TarError,
    ) as error:
        raise WordListError(
            f"word list {quote(str(path))} is cut off or damaged ({error}): fetch it again"
        ) from error
    except (
        OSError,
        ValueError,
        RuntimeError,
        NotImplementedError,
    ) as error:  # RuntimeError: ~ of an unknown user
        reason = getattr(error, "strerror", None) or str(error)
        raise WordListError(
            f"cannot read the word list {quote(str(path))}: {reason}; check the path"
        ) from error
    if len(data) > MAX_FILE_BYTES:
        limit = MAX_FILE_BYTES // 2**20
        raise WordListError(
            f"word list {quote(str(path))} has more than {limit} MiB: expected one word a line"
        )
    return data


def _unpacker(raw: IO[bytes], path: Path) -> Callable[[IO[bytes]], Any]:
    """Return what opens the content of a file: the name or the first bytes tell how it is
    packed.
    """
    start = raw.read(len(GIT_POINTER))
    raw.seek(0)
    # also where the name says that it is packed
    if start == GIT_POINTER:
        raise WordListError(
            f"word list {quote(str(path))} is a pointer of git-lfs, not the file itself: fetch it "
            "with `git lfs pull`"
        )
    # the bytes first: what a browser saved is often packed under another name
    if start.startswith(b"PK\x03\x04"):
        return _only_text
    if start.startswith(b"\x1f\x8b") or path.suffix == ".gz":
        return gzip.open
    if start.startswith(b"\xfd7zXZ") or path.suffix == ".xz":
        return lzma.open
    if start.startswith(b"BZh"):
        return bz2.open
    return contextlib.nullcontext


def _only_text(raw: IO[bytes]) -> IO[bytes]:
    archive = zipfile.ZipFile(raw)
    names = []
    for name in archive.namelist():
        if not name.endswith("/") and not name.startswith("__MACOSX/"):
            names.append(name)
    # an .xlsx is a zip of XML: taken as a text it would give the words of the markup
    if _OFFICE & set(names):
        raise WordListError("this is a document of an office program: save it as CSV or text")
    return archive.open(_only(names))


def _only_member(data: bytes) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = {}
        for member in archive:
            if member.isfile():
                members[member.name] = member
        file = archive.extractfile(members[_only(list(members))])
        return file.read() if file else b""


def _only(names: list[str]) -> str:
    if len(names) != 1:
        raise WordListError(
            f"the archive holds {len(names)} files, {quote(names[:5])}: expected "
            "one; unpack it first"
        )
    return names[0]


def decoded(data: bytes, encoding: str | None, source: str) -> tuple[str, str]:
    """Return the text of a file, and how it was decoded."""
    if encoding is not None:
        try:
            return data.decode(encoding).removeprefix("\ufeff"), f"{encoding}, as told"
        except (LookupError, UnicodeError) as error:
            raise WordListError(
                f"{quote(source)} cannot be read with --encoding {quote(encoding)}: {error}"
            ) from error
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            # replaced, not refused: one bad byte should cost one line, which the report then
            # counts
            text = data.decode(name, "replace")
            return text, f"{name.removesuffix('-sig').upper()}, as its byte order mark says"
    # half of the bytes of Western text are zero in UTF-16, and none in an encoding of 8 bits
    begin = data[:1000]
    if begin.count(b"\0") > len(begin) // 4:
        name = "utf-16-le"
        if data[:1] == b"\0":
            name = "utf-16-be"
        return data.decode(name, "replace"), f"{name.upper()}, guessed from its zero bytes"
    try:
        return data.decode("utf-8"), "ASCII" if data.isascii() else "UTF-8"
    except UnicodeDecodeError:
        return _western(data), "Latin-1, a guess, as it is not UTF-8; --encoding names another"


def _western(data: bytes) -> str:
    try:
        # Latin-1 with quotes and œ where Latin-1 has control characters
        # tried strictly: five bytes are none of its characters, and then it is plain Latin-1
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


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
