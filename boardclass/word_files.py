"""Files of words as people have them: compressed, in some encoding.

    read_file      the bytes, unpacked  (also for the strict loader, which needs no more of this)
    decoded        their text

What the text holds is for ``word_entries.py`` to say.

>>> decoded("naïve".encode("latin-1"), None, "mylist.txt")[0]
'naïve'
"""

import bz2
import contextlib
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

from orderly_boggle.boardclass.errors import GIT_POINTER, WordListError, quote

# a small archive may unpack to anything
MAX_FILE_BYTES = 64 * 2**20
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_OFFICE = {"xl/workbook.xml", "content.xml", "word/document.xml"}


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
        return partial(_all_streams, lzma.LZMADecompressor)
    if start.startswith(b"BZh"):
        return partial(_all_streams, bz2.BZ2Decompressor)
    return contextlib.nullcontext


def _all_streams(make: Callable[[], Any], raw: IO[bytes]) -> IO[bytes]:
    """Return what the streams of a file hold that stand one behind the other, as some programs
    write it; at most one byte more than is allowed.

    lzma.open and bz2.open pass over what is no stream: one with a damaged beginning would be
    missing in silence, with all words behind it.
    """
    packed = raw.read(MAX_FILE_BYTES + 1)
    if not packed:
        raise EOFError("it is empty")
    unpacked = bytearray()
    while packed and len(unpacked) <= MAX_FILE_BYTES:
        stream = make()
        try:
            unpacked += stream.decompress(packed, MAX_FILE_BYTES + 1 - len(unpacked))
        except (OSError, lzma.LZMAError) as error:
            raise EOFError(f"behind {len(unpacked):,} unpacked bytes: {error}") from error
        if not stream.eof and len(unpacked) <= MAX_FILE_BYTES:
            raise EOFError("its end is missing")
        packed = stream.unused_data.lstrip(b"\0")  # zeros may fill up a block
    return io.BytesIO(unpacked)


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
