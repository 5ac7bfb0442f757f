"""Word lists: where they are found, and the strict loader.

A word list with words missing gives lower bounds, and so a false proof, silently.  So the loader
refuses a file if one line is anything but a word of letters a-z in lower case.  It leaves out only
lines that can be on no board, and counts them by reason.  A list whose SHA-256 is known must have
it under its name.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from itertools import filterfalse
from pathlib import Path
from typing import NamedTuple

from orderly_boggle.boardclass.errors import WordListError, quote
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.boardclass.scores import MAX_LETTERS, MIN_LETTERS
from orderly_boggle.boardclass.word_files import read_file

DEFAULT_WORDLIST = "scowl70"  # comes with the program
COMMON_WORDLIST = "scowl35"  # those of its words that most people know
SUFFIXES = (".txt", ".txt.gz", ".txt.xz")
_BUNDLED = Path(__file__).resolve().parent.parent / "configs" / "wordlists"
REASONS = ("too short", "too long", "q without u", "duplicate")

_UTF8_BOM = b"\xef\xbb\xbf"
_is_word = re.compile(rb"[a-z]*").fullmatch
_are_words = re.compile(rb"[a-z\n]*").fullmatch  # with no newline in any of them
_is_usable = re.compile(
    rf"(?=.{{{MIN_LETTERS},{MAX_LETTERS}}}\Z)[a-pr-z]*(?:qu[a-pr-z]*)*"
).fullmatch
_is_usable_plain = re.compile(rf"[a-z]{{{MIN_LETTERS},{MAX_LETTERS}}}").fullmatch
_PLAIN_Q = "# q is a plain q"
# of its own in a list: one sign or more, such as ij, c'h, l·l
LETTER = r"[^\W\d_](?:[^\W\d_]|['·\u0300-\u036f]){0,2}"
_LETTER_LINE = re.compile(rf"# letter ([a-z]) is ({LETTER})").fullmatch
_EXPECTED = "one word a line, lower case a-z"


@dataclass(frozen=True)
class WordList:
    """The usable words of a list; iterate over it for the words.

    name : file stem, such as ``enable2k``
    words : sorted, unique, in q-form: ``qu`` is written ``q``
    sha256 : of the words joined by one newline, no trailing newline: the identity of the list
    counts : lines left out, by reason (one of ``REASONS``, all present)
    n_lines : lines of the file
    letters : letters beyond a-z, or pairs of letters, by the symbol a-z that stands for them in
        ``words``
    plain_q : ``q`` in ``words`` is a plain q, not Qu: no word is in q-form
    """

    name: str
    words: tuple[str, ...]
    sha256: str
    counts: dict[str, int] = field(compare=False)
    n_lines: int = field(compare=False)
    letters: dict[str, str] = field(default_factory=dict)
    plain_q: bool = False

    def __repr__(self) -> str:
        return f"<WordList {self.name}: {counted(len(self), 'word')}>"

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)

    def spell(self, word: str) -> str:
        """Return one of the words as people write it."""
        return (word if self.plain_q else word.replace("q", "qu")).translate(self._letters)

    def without(self, spelled: Collection[str]) -> WordList:
        """Return the list without some words, as people write them; it is another list, by its
        SHA-256 and its name.  Raises WordListError if none is left.
        """
        kept = tuple(word for word in self.words if self.spell(word) not in spelled)
        if not kept:
            raise WordListError(f"no word of {self.name} is left: leave out fewer of them")
        n_less = len(self.words) - len(kept)
        name = self.name
        if n_less:
            name += f" without {counted(n_less, 'word')}"
        return replace(self, name=name, words=kept, sha256=_sha256(kept, self.plain_q))

    @cached_property
    def _letters(self) -> dict[int, str]:
        return str.maketrans(self.letters)


class Source(NamedTuple):
    """A word list that people speak of by name, of ``configs/wordlists/sources.toml``."""

    name: str
    title: str
    sha256: str  # of the list that goes by this name
    n_words: int  # usable ones, of that list
    # lines of its file that can be on no board, by reason; None: nobody here has seen the file
    left_out: dict[str, int] | None = None
    url: str = ""  # where a copy can be downloaded; empty where that is not permitted or not needed
    upper: bool = False  # the file is in capitals
    note: str = ""  # how else to come by it
    # this, ``letters`` and ``options`` are what ``orderly wordlist import`` makes the list of
    file: str = "FILE"
    letters: dict[str, str] | None = None  # beyond a-z, by the symbol that stands for them
    options: str = ""
    language: str = "English"  # of its words
    contains: str = ""  # what is or is not in it that a game would see otherwise

    @property
    def command(self) -> str:
        """What makes the list of a file."""
        letters = []
        for symbol, letter in (self.letters or {}).items():
            letters.append(f"--letter {letter}={symbol}")
        parts = ("orderly wordlist import", self.file, "--name", self.name, *letters, self.options)
        return " ".join(filter(None, parts))


@cache
def sources() -> dict[str, Source]:
    """Return the well-known lists by name.

    >>> sources()["enable2k"].n_words
    173402
    >>> print(sources()["debian-spanish"].command)
    orderly wordlist import /usr/share/dict/spanish --name debian-spanish --letter ñ=w
    """
    text = (_BUNDLED / "sources.toml").read_text("utf-8")
    found = {}
    for name, values in tomllib.loads(text).items():
        found[name] = Source(name, **values)
    return found


def known_name(sha256: str) -> str | None:
    """Return the name of the well-known list with this normalised SHA-256, if there is one."""
    for name, source in sources().items():
        if source.sha256 == sha256:
            return name
    return None


def load_wordlist(name_or_path: str | Path, *, plain_q: bool | None = False) -> WordList:
    """Find and read a word list.

    name_or_path : a path (anything with a separator or a dot in it) or a name such as ``enable2k``
    plain_q : False: every q is that of a Qu cell, as in the search.  True: q is a letter like any
        other.  None: as the list says.

    Raises WordListError if the list is not found, has a line that is no word of letters a-z, has no
    usable word, or carries the name of a known list without being it, or has a plain q that was not
    asked for.

    Examples
    --------
    >>> words = load_wordlist("scowl70")
    >>> len(words)
    111460
    >>> [word for word in words if word.startswith("qi") and len(word) < 4]  # a q stands for qu
    ['qid', 'qin', 'qip', 'qit', 'qiz']
    """
    path = find_wordlist(name_or_path)
    data = read_file(path)
    wordlist = parse_wordlist(data, name=_stem(path), source=str(path))
    # the list has its identity; now the words that no Qu cell spells are wanted, too
    if plain_q and not wordlist.plain_q:
        symbols = {letter: symbol for symbol, letter in wordlist.letters.items()}
        header = header_of(symbols, plain_q=True)
        spelled = parse_wordlist(header.encode() + data.removeprefix(_UTF8_BOM), "", str(path))
        return replace(spelled, name=wordlist.name, sha256=wordlist.sha256)
    if plain_q is False:
        _refuse_plain_q(wordlist, str(path))
    return wordlist


def _refuse_plain_q(wordlist: WordList, named: str) -> None:
    """Raise WordListError for a list whose q is no Qu."""
    if wordlist.plain_q:
        raise WordListError(
            f"word list {quote(named)} has a plain q, and here a q is a Qu cell: "
            "only orderly show, score, solve, roll and play take it; for proofs import it without "
            "--plain-q, and q as no symbol"
        )


def words_in_q_form(
    words: str | Path | WordList | Iterable[str], *, spelled: bool = True
) -> tuple[str, ...]:
    """Return the words that a caller means, in q-form, in the order given.

    words : name or path of a word list, a WordList, or words
    spelled : whether such words are as people write them, not in q-form already

    Raises WordListError if there is no such list, or it has a plain q, or something is no word of
    letters a-z with a u after each q.
    """
    if isinstance(words, (str, Path)):
        words = load_wordlist(words)
    if isinstance(words, WordList):
        _refuse_plain_q(words, words.name)
        return words.words
    given = tuple(words) if isinstance(words, Iterable) else (words,)
    is_word = re.compile(r"(?:[a-pr-z]|qu)+" if spelled else "[a-z]+").fullmatch
    form = "q-form, like 'qit'"
    if spelled:
        form = "letters a-z as people write them, with a u after each q"
    for word in given:
        if not isinstance(word, str) or not is_word(word):
            raise WordListError(f"{quote(word)} is not a word: expected {form}")
    if spelled:
        return tuple(word.replace("qu", "q") for word in given)
    return given


def user_folder() -> Path:
    """Return the folder of the user's own lists; WordListError when the user has no home."""
    try:
        from platformdirs import user_data_path

        return user_data_path("orderly") / "wordlists"
    except RuntimeError as error:
        raise WordListError(
            f"no folder for your own word lists: {error}; $ORDERLY_WORDLISTS names another"
        ) from error


def default_search_paths() -> list[Path]:
    """Return the folders of names: $ORDERLY_WORDLISTS, the user's data, shared beside the project,
    the bundled one.
    """
    named = []
    for part in os.environ.get("ORDERLY_WORDLISTS", "").split(os.pathsep):
        if part:
            named.append(Path(part))
    shared = _BUNDLED.parents[2] / "shared" / "wordlists"
    with contextlib.suppress(WordListError):
        named.append(user_folder())
    return [*named, shared, _BUNDLED]


def available_names() -> dict[str, Path]:
    """Return the lists that can be loaded by name, each with the file that would be read."""
    files: dict[str, Path] = {}
    # the user's own lists hide the bundled ones of the same name
    for folder in default_search_paths():
        try:
            paths = sorted(folder.glob("*.txt*"))
        except OSError:  # no access, or not a possible name: treated as missing
            continue
        for path in paths:
            if path.name.endswith(SUFFIXES):
                files.setdefault(_stem(path), path)
    return dict(sorted(files.items()))


def _fault(word: str) -> str:
    """Return why a word can be on no board."""
    if len(word) < MIN_LETTERS:
        return "too short"
    if len(word) > MAX_LETTERS:
        return "too long"
    return "q without u"


@lru_cache(8)  # a notebook, a server or a test asks for the same list again and again
def parse_wordlist(data: bytes, name: str, source: str) -> WordList:
    """Return the word list in ``data``, the (uncompressed) bytes of a file; ``source`` names it in
    messages.
    """
    lines = data.removeprefix(_UTF8_BOM).split(b"\n")
    # a newline at the end begins no line
    if not lines[-1]:
        lines.pop()
    # lists from Windows have a carriage return on each line
    words = [line.strip() for line in lines]
    letters, plain_q = _take_header(words)
    _refuse_what_is_no_word(words, len(lines) - len(words), source)
    if words:
        spelled = b"\n".join(words).decode("ascii").split("\n")
    else:
        spelled = []
    if plain_q:
        is_usable = _is_usable_plain
    else:
        is_usable = _is_usable
    fitting = list(filter(is_usable, spelled))
    usable = dict.fromkeys(fitting)  # in order: a set would be sorted from scratch
    counts = dict.fromkeys(REASONS, 0) | Counter(map(_fault, filterfalse(is_usable, spelled)))
    counts["duplicate"] = len(fitting) - len(usable)
    if not usable:
        left_out = (
            "; ".join(f"{count:,} {reason}" for reason, count in counts.items() if count)
            or "it is empty"
        )
        raise WordListError(
            f"word list {quote(source)} has no usable word ({left_out}): expected {_EXPECTED}"
        )
    kept = list(usable)
    if not plain_q:
        kept = [word.replace("qu", "q") for word in usable]
    ordered = tuple(sorted(kept))
    sha256 = _sha256(ordered, plain_q)
    # a claim names its list: under a known name it must be the known list
    if name in sources() and sha256 != sources()[name].sha256:
        raise WordListError(
            f"word list {quote(source)} has {len(ordered)} usable words with SHA-256 {sha256}, "
            f"but {name!r} means the list with {sources()[name].sha256}: the file is cut off or "
            "another edition; rename it to use it"
        )
    return WordList(name, ordered, sha256, counts, len(words), letters, plain_q)


def sha256_of(words: Iterable[str]) -> str:
    """Return the SHA-256 of the list that has some words, in q-form."""
    return _sha256(tuple(sorted(set(words))), plain_q=False)


def _sha256(words: tuple[str, ...], plain_q: bool) -> str:
    lines = list(words)
    if plain_q:
        lines.insert(0, _PLAIN_Q)
    return hashlib.sha256("\n".join(lines).encode("ascii")).hexdigest()


def header_of(letters: Mapping[str, str], plain_q: bool) -> str:
    """Return the first lines of a list whose symbols do not all mean themselves; ``letters``:
    symbol by letter.
    """
    lines = [f"# letter {symbol} is {letter}\n" for letter, symbol in letters.items()]
    return "".join([*lines, *[f"{_PLAIN_Q}\n"] * plain_q])


def _take_header(lines: list[bytes]) -> tuple[dict[str, str], bool]:
    """Remove the lines of ``header_of`` and return letters by symbol, and whether q is plain."""
    letters: dict[str, str] = {}
    plain_q = False
    while lines and lines[0].startswith(b"# "):
        line = lines[0].decode("utf-8", "backslashreplace")
        if (match := _LETTER_LINE(line)) and _fits(letters, *match.groups()):
            symbol, letter = match.groups()
            letters[symbol] = letter
            # a cell cannot be Qu and that letter
            plain_q |= symbol == "q"
        elif line == _PLAIN_Q:
            plain_q = True
        else:
            break
        del lines[0]
    return letters, plain_q


def _fits(letters: Mapping[str, str], symbol: str, letter: str) -> bool:
    """Return whether a symbol may mean a letter: none means two, no two mean the same."""
    if symbol in letters:
        return letters[symbol] == letter
    return letter not in letters.values()


def _refuse_what_is_no_word(lines: Sequence[bytes], n_before: int, source: str) -> None:
    if not _are_words(b"\n".join(lines)):
        strange = [number for number, line in enumerate(lines, 1) if not _is_word(line)]
        value = lines[strange[0] - 1].decode("utf-8", "backslashreplace")
        others = ""
        if len(strange) > 1:
            others = f" (the first of {len(strange):,} such lines)"
        raise WordListError(
            f"word list {quote(source)}, line {strange[0] + n_before}: {quote(value)} is not a "
            f"word of letters a-z{others}; so that no word is lost, make a list of it: orderly "
            f"wordlist import {shlex.quote(source)}"
        )


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".xz").removesuffix(".txt")


def find_wordlist(name_or_path: str | Path) -> Path:
    """Return the file of a word list; see :func:`load_wordlist`.  Raises WordListError."""
    text = str(name_or_path)
    # a dot or a slash makes it a file: a name never hides one in the current folder
    if isinstance(name_or_path, Path) or "/" in text or os.sep in text or "." in text:
        return Path(name_or_path)
    files = available_names()
    if text in files:
        return files[text]
    # known but absent is another mistake than unknown, and has another way out
    if text in sources():
        raise WordListError(
            f"the word list {text} is not here: orderly wordlist get {text} "
            "fetches it, or says how to"
        )
    raise WordListError(
        f"no word list named {quote(text)}: expected one of {', '.join(files) or 'none'}; for a "
        "file of your own write ./FILE, or put it into a folder that $ORDERLY_WORDLISTS names"
    )
