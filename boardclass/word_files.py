"""Files of words as people have them: compressed, in some encoding, with columns, as JSON, or a
spelling dictionary.

    read_file      the bytes, unpacked                                     (also for the strict
                   loader)
    read_entries   the words as the file spells them, and how it was read  -> word_import.py
    expanded       the words that a Hunspell spelling dictionary stands for: stems with their
                   affixes

Nothing is judged here: what an entry is worth is for the importer to say.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from boardclass.errors import WordListError, quote

MAX_FILE_BYTES = 64 * 2**20
MAX_WORDS = 10_000_000

_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas"}
_MOST = 0.8  # of the lines must have a delimiter, or it is none
_is_number = re.compile(r"[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?%?").fullmatch


class Entries(NamedTuple):
    """What a file holds.

    words : as the file spells them, repeated ones too; a line that is no word is among them
    read_as : how the file was read, for people
    """

    words: list[str]
    read_as: list[str]


def read_entries(path: Path, encoding: str | None = None, column: str | None = None) -> Entries:
    """Return the words of a file in any of the forms that this module knows.

    encoding : instead of the one that the bytes suggest
    column : number (from 1) or heading of the column that holds the words

    Raises WordListError if the file cannot be read, decoded or taken apart.
    """
    if path.suffix == ".dic" and path.with_suffix(".aff").is_file():
        return Entries(
            expanded(path), ["spelling dictionary with its affixes; compound words are not formed"]
        )
    text, told = _decoded(read_file(path), encoding, str(path))
    if "\0" in text:
        raise WordListError(f"{quote(str(path))} has a NUL character: it is not text")
    words, form = _entries(text, column, str(path))
    if path.suffix == ".dic" and _share(["/" in word for word in words]) > 0.1:
        raise WordListError(
            f"{quote(str(path))} is a spelling dictionary, and "
            f"{quote(path.with_suffix('.aff').name)}, which says what its flags mean, is missing: "
            "put it beside it"
        )
    return Entries(words, [told, form])


def read_file(path: Path) -> bytes:
    """Return the bytes of a regular file, unpacked if it is compressed, at most ``MAX_FILE_BYTES``.

    Raises WordListError if it cannot be read, is damaged or too large.
    """
    try:
        path = path.expanduser()
        if path.exists() and not path.is_file():
            raise WordListError(
                f"word list {quote(str(path))} is not a regular file: expected a text file"
            )
        with path.open("rb") as raw, _unpacker(raw, path)(raw) as file:
            data: bytes = file.read(MAX_FILE_BYTES + 1)
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile) as error:
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
    start = raw.read(6)
    raw.seek(0)
    if start.startswith(b"PK\x03\x04"):
        return _only_text
    if start.startswith(b"\x1f\x8b") or path.suffix == ".gz":
        return gzip.open
    if start.startswith(b"\xfd7zXZ") or path.suffix == ".xz":
        return lzma.open
    return bz2.open if start.startswith(b"BZh") else lambda file: file


def _only_text(raw: IO[bytes]) -> IO[bytes]:
    archive = zipfile.ZipFile(raw)
    names = [
        name
        for name in archive.namelist()
        if not name.endswith("/") and not name.startswith("__MACOSX/")
    ]
    if len(names) != 1:
        raise WordListError(
            f"the archive holds {len(names)} files, {quote(names[:5])}: expected "
            "one; unpack it first"
        )
    return archive.open(names[0])


def _decoded(data: bytes, encoding: str | None, source: str) -> tuple[str, str]:
    """Return the text, and how it was decoded."""
    if encoding is not None:
        try:
            return data.decode(encoding).removeprefix("\ufeff"), f"{encoding}, as told"
        except (LookupError, UnicodeError) as error:
            raise WordListError(
                f"{quote(source)} cannot be read with --encoding {quote(encoding)}: {error}"
            ) from error
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            text = data.decode(name, "replace")
            return text, f"{name.removesuffix('-sig').upper()}, as its byte order mark says"
    if data[:1000].count(b"\0") > len(data[:1000]) // 4:
        name = "utf-16-be" if data[:1] == b"\0" else "utf-16-le"
        return data.decode(name, "replace"), f"{name.upper()}, guessed from its zero bytes"
    try:
        return data.decode("utf-8"), "ASCII" if data.isascii() else "UTF-8"
    except UnicodeDecodeError:
        return _western(data), "Latin-1, a guess, as it is not UTF-8; --encoding names another"


def _western(data: bytes) -> str:
    try:
        # Latin-1 with quotes and œ where Latin-1 has control characters
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _entries(text: str, column: str | None, source: str) -> tuple[list[str], str]:
    """Return the entries of a text, and what form it has."""
    if text.lstrip()[:1] in ("[", "{"):
        return _from_json(text, column, source), "JSON"
    lines = re.split(r"\r\n|\r|\n", text)
    if not lines[-1]:
        lines.pop()
    told = [line for line in lines if line.strip() and not line.startswith("#")]
    # for the importer to count
    others = [line for line in lines if not line.strip() or line.startswith("#")]
    for delimiter, name in _DELIMITERS.items():
        if _share([delimiter in line for line in told]) >= _MOST:
            rows = list(
                csv.reader(
                    told, delimiter=delimiter, quoting=csv.QUOTE_NONE if delimiter == "\t" else 0
                )
            )
            words, form = _from_column(rows, column, f"columns with {name} between", source)
            return words + others, form
    fields = [line.split() for line in told]
    if _share([len(row) > 1 and any(map(_is_number, row)) for row in fields]) >= _MOST:
        words, form = _from_column(fields, column, "columns with blanks between", source)
        return words + others, form
    if column is not None:
        raise WordListError(
            f"--column {quote(column)}, but {quote(source)} has no columns: leave it out"
        )
    if _share([len(row) >= 5 for row in fields]) >= _MOST:
        return [word for row in fields for word in row] + others, "words with blanks between"
    return lines, "one word a line"


def _from_json(text: str, column: str | None, source: str) -> list[str]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WordListError(
            f"{quote(source)} looks like JSON and is not: {error}; check the file"
        ) from error
    found = [value.get(column) if isinstance(value, dict) and column else value for value in values]
    words = [word for word in found if isinstance(word, str)]
    if strange := [word for word in found if not isinstance(word, str)]:
        raise WordListError(
            f"{quote(source)} is JSON with {quote(strange[0])} in it: expected an array of words, "
            "an object with the words as its keys, or --column NAME for an array of objects"
        )
    return words


def _from_column(
    rows: list[list[str]], column: str | None, form: str, source: str
) -> tuple[list[str], str]:
    """Return one column: the one asked for, or else the first that holds no numbers; a heading is
    left out.
    """
    width = max(map(len, rows))
    cells = [[row[place] if place < len(row) else "" for row in rows] for place in range(width)]
    numeric = [
        _share([bool(_is_number(cell.strip())) for cell in values[1:]]) >= _MOST for values in cells
    ]
    headings = [heading.strip() for heading in rows[0]]
    has_headings = any(
        is_all and not _is_number(heading)
        for is_all, heading in zip(numeric, headings, strict=False)
    )
    if column is None:
        place = next((place for place, is_all in enumerate(numeric) if not is_all), 0)
    elif column in headings:
        place, has_headings = headings.index(column), True
    elif column.isdecimal() and 1 <= int(column) <= width:
        place = int(column) - 1
    else:
        named = ", ".join(map(quote, headings[:8]))
        raise WordListError(
            f"{quote(source)} has no column {quote(column)}: expected 1 to "
            f"{width}, or one of {named}"
        )
    return cells[place][
        has_headings:
    ], f"{form}, words from column {place + 1}{' below its heading' * has_headings}"


def _share(told: Sequence[bool]) -> float:
    return sum(told) / len(told) if told else 0.0


class _Form(NamedTuple):
    """A stem with suffixes; ``flags`` of the last suffix, which allow more affixes."""

    text: str
    flags: frozenset[str]
    crosses: bool  # prefixes may be added


def expanded(path: Path) -> list[str]:
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
        (forbidden if is_forbidden else words).update(
            [entry.stem] if is_forbidden else forms(entry, dictionary.aff)
        )
        if len(words) > MAX_WORDS:
            raise WordListError(
                f"the spelling dictionary {quote(str(path))} stands for more than "
                f"{MAX_WORDS:,} words"
            )
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
