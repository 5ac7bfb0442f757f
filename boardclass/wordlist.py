"""Word lists: where they are found, and the strict loader.

A word list with words missing gives lower bounds, and so a false proof, silently.  So the loader refuses a file if one
line is anything but a word of letters a-z in lower case.  It leaves out only lines that can be on no board, and counts
them by reason.  A list whose SHA-256 is known must have it under its name.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from platformdirs import user_data_path

from boardclass.errors import WordListError, quote
from boardclass.scores import MAX_LETTERS, MIN_LETTERS
from boardclass.scores import n_letters as _n_letters

DEFAULT_WORDLIST = "scowl70"  # comes with the program
SUFFIXES = (".txt", ".txt.gz", ".txt.xz")
REASONS = ("too short", "too long", "q without u", "duplicate")
MAX_FILE_BYTES = 64 * 2**20

KNOWN_SHA256 = {
    "enable2k": "1c11e988d3b84707444bdf4575cc11e093c3471b73bf39d623cc724d17326a37",
    "naspa2023": "071c957025acf07a10280cd0f47596b360ed3198b02db2f74366c80e32312802",
    "ospd5": "93b1efb65c034369ab86736fe88bef4845cbb2027aee9c879186eec1c757d084",
    "scowl70": "77d297e2980bb842f851716efffa988859a5177c63c7af7cf65d87d843d0610b",
    "sowpods": "0949c114d8a1ba67664636dd5709319e05f791574e7ba479e2bfd5e715f0e9e0",
    "twl06": "941f409df7710062627584a271829c94cc5722196e423406063bfb847c005ec6",
    "yawl": "98c0d10f2d402ed5d063db89fd8f3965f360c328a657480037144ad7bdb422cb",
}

_UTF8_BOM = b"\xef\xbb\xbf"
_is_word = re.compile(rb"[a-z]*").fullmatch
_is_usable = re.compile(rf"(?=.{{{MIN_LETTERS},{MAX_LETTERS}}}\Z)[a-pr-z]*(?:qu[a-pr-z]*)*").fullmatch
_EXPECTED = "one word a line, lower case a-z"


@dataclass(frozen=True)
class WordList:
    """The usable words of a list; iterate over it for the words.

    Attributes
    ----------
    name : str
        File stem, such as ``enable2k``.
    words : tuple of str
        Sorted, unique, in q-form: ``qu`` is written ``q``.
    sha256 : str
        Of the words joined by one newline, no trailing newline: the identity of the list.
    counts : dict
        Lines left out, by reason (one of ``REASONS``, all present).
    n_lines : int
        Lines of the file.
    """

    name: str
    words: tuple[str, ...]
    sha256: str
    counts: dict[str, int] = field(compare=False)
    n_lines: int = field(compare=False)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)

    @staticmethod
    def n_letters(word: str) -> int:
        """Return the number of letters of a word in q-form: a ``q`` stands for two."""
        return _n_letters(word)


def known_name(sha256: str) -> str | None:
    """Return the name of the well-known list with this normalised SHA-256, if there is one."""
    return next((name for name, digest in KNOWN_SHA256.items() if digest == sha256), None)


def normalised_sha256(words: Iterable[str]) -> str:
    """Return the SHA-256 of words in q-form, sorted and unique, joined by one newline."""
    return hashlib.sha256("\n".join(words).encode("ascii")).hexdigest()


def load_wordlist(name_or_path: str | Path, search_paths: Sequence[str | Path] | None = None) -> WordList:
    """Find and read a word list.

    Parameters
    ----------
    name_or_path : str or Path
        A path (anything with a separator or a dot in it) or a name such as ``enable2k``.
    search_paths : sequence of paths, optional
        Folders to look for names in, instead of the usual ones (:func:`default_search_paths`).

    Raises
    ------
    WordListError
        If the list is not found, has a line that is no word of letters a-z, has no usable word, or carries the name of
        a known list without being it.

    Examples
    --------
    >>> words = load_wordlist("scowl70")
    >>> len(words)
    111460
    >>> [word for word in words if word.startswith("qi") and len(word) < 4]  # a q stands for qu
    ['qid', 'qin', 'qip', 'qit', 'qiz']
    """
    path = _find(name_or_path, default_search_paths() if search_paths is None else search_paths)
    data = _read(path)
    return parse_wordlist(data, name=_stem(path), source=str(path))


def user_folder() -> Path:
    """Return the folder of the user's own lists."""
    return user_data_path("orderly") / "wordlists"


def default_search_paths() -> list[Path]:
    """Return the folders of names: $ORDERLY_WORDLISTS, the user's data, shared beside the project, the bundled one."""
    project = Path(__file__).resolve().parent.parent
    given = [Path(part) for part in os.environ.get("ORDERLY_WORDLISTS", "").split(os.pathsep) if part]
    shared = project.parent / "shared" / "wordlists"
    return [*given, user_folder(), shared, project / "configs" / "wordlists"]


def available_names(search_paths: Sequence[str | Path] | None = None) -> dict[str, Path]:
    """Return the lists that can be loaded by name, each with the file that would be read."""
    found: dict[str, Path] = {}
    for folder in default_search_paths() if search_paths is None else search_paths:
        try:
            paths = sorted(Path(folder).glob("*.txt*"))
        except OSError:  # no access, or not a possible name: treated as missing
            continue
        for path in paths:
            if path.name.endswith(SUFFIXES):
                found.setdefault(_stem(path), path)
    return dict(sorted(found.items()))


def parse_wordlist(data: bytes, name: str, source: str) -> WordList:
    """Return the word list in ``data``, the (uncompressed) bytes of a file; ``source`` names it in messages."""
    lines = data.removeprefix(_UTF8_BOM).split(b"\n")
    if not lines[-1]:
        lines.pop()
    words = [line.strip() for line in lines]
    _refuse_what_is_no_word(words, source)
    usable: set[str] = set()
    counts = dict.fromkeys(REASONS, 0)
    for word in (word.decode("ascii") for word in words):
        if _is_usable(word) and word not in usable:
            usable.add(word)
        else:
            counts[_reason(word)] += 1
    if not usable:
        left_out = "; ".join(f"{count:,} {reason}" for reason, count in counts.items() if count) or "it is empty"
        raise WordListError(f"word list {quote(source)} has no usable word ({left_out}): expected {_EXPECTED}")
    ordered = tuple(sorted(word.replace("qu", "q") for word in usable))
    result = WordList(name, ordered, normalised_sha256(ordered), counts, len(lines))
    _refuse_wrong_known(result, source)
    return result


def _refuse_what_is_no_word(lines: Sequence[bytes], source: str) -> None:
    """Refuse the list if a line might be a word that counts, in a spelling that the search cannot read."""
    strange = [number for number, line in enumerate(lines, 1) if not _is_word(line)]
    if strange:
        value = lines[strange[0] - 1].decode("utf-8", "backslashreplace")
        others = f" (the first of {len(strange):,} such lines)" if len(strange) > 1 else ""
        raise WordListError(
            f"word list {quote(source)}, line {strange[0]}: {quote(value)} is not a word of letters a-z{others}; "
            f"expected {_EXPECTED}, so that no word is lost"
        )


def _reason(word: str) -> str:
    """Return why a word can be on no board, or is not counted again."""
    if _is_usable(word):
        return "duplicate"
    if not MIN_LETTERS <= len(word) <= MAX_LETTERS:
        return "too short" if len(word) < MIN_LETTERS else "too long"
    return "q without u"


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".xz").removesuffix(".txt")


def _find(name_or_path: str | Path, search_paths: Sequence[str | Path]) -> Path:
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or "/" in text or os.sep in text or "." in text:
        return Path(name_or_path)
    found = available_names(search_paths)
    if text in found:
        return found[text]
    raise WordListError(
        f"no word list named {quote(text)}: expected one of {', '.join(found) or 'none'}; for a file "
        f"of your own write ./FILE, or put it into a folder that $ORDERLY_WORDLISTS names"
    )


def _open(path: Path) -> IO[bytes] | gzip.GzipFile | lzma.LZMAFile:
    if path.name.endswith(".gz"):
        return gzip.open(path, "rb")
    if path.name.endswith(".xz"):
        return lzma.open(path, "rb")
    return path.open("rb")


def _read(path: Path) -> bytes:
    """Return the uncompressed bytes of a regular file, at most ``MAX_FILE_BYTES``."""
    try:
        path = path.expanduser()
        if path.exists() and not path.is_file():
            raise WordListError(f"word list {quote(str(path))} is not a regular file: expected a text file")
        with _open(path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise WordListError(f"word list {quote(str(path))} is cut off or damaged ({error}): fetch it again") from error
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: ~ of an unknown user
        reason = getattr(error, "strerror", None) or str(error)
        raise WordListError(f"cannot read the word list {quote(str(path))}: {reason}; check the path") from error
    if len(data) > MAX_FILE_BYTES:
        limit = MAX_FILE_BYTES // 2**20
        raise WordListError(f"word list {quote(str(path))} has more than {limit} MiB: expected {_EXPECTED}")
    return data


def _refuse_wrong_known(wordlist: WordList, source: str) -> None:
    expected = KNOWN_SHA256.get(wordlist.name)
    if expected not in (None, wordlist.sha256):
        raise WordListError(
            f"word list {quote(source)} has {len(wordlist.words)} usable words with SHA-256 {wordlist.sha256}, but "
            f"{wordlist.name!r} means the list with {expected}: the file is cut off or another edition; rename it "
            f"to use it"
        )
