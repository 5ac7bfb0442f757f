"""The importer: a strict word list from what people have, with a table of what was done to how many
lines.

    read_entries (word_entries.py) -> import_words: ImportRules -> Imported, whose ``text`` the
    strict loader takes

No word is lost in silence: every entry is counted under one step, and each step has an example.
The order is one for every script: what nobody sees is removed, compatibility characters are taken
apart, capitals made small, letters of their own written by their symbols, accents folded.

>>> entries = Entries(["été", "Paris", "tea", "it"], ["UTF-8"])
>>> made = import_words(entries, ImportRules(), "mine", "mine.txt")
>>> made.words.words
('ete', 'tea')
>>> made.steps[0]
Step(what='accents folded', lines=1, example='été > ete')
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from string import ascii_lowercase
from typing import NamedTuple

from orderly_boggle.boardclass.errors import WordListError, quote
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.boardclass.scores import MAX_LETTERS, MIN_LETTERS
from orderly_boggle.boardclass.word_entries import Move
from orderly_boggle.boardclass.word_forms import Entries, plain
from orderly_boggle.boardclass.word_forms.form import marks
from orderly_boggle.boardclass.wordlist import LETTER, WordList, header_of, parse_wordlist

CHOICES = {"names": ("drop", "keep"), "accents": ("fold", "drop", "keep")}
_NOUNS_SHARE = 0.3  # of the words have a capital: then it is no sign of a name

_ALL_CAPITALS = 0.9
_LOOKED_AT = 2_000  # words spread over a long list, before it is taken word by word
_SURELY = 4  # so many foreign words there for one that is kept: no accident of where one looked
_SHOWN_EACH = 10_000  # entries
_WITHOUT_MARK = str.maketrans(
    {
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ı": "i",
        "ŋ": "n",
        "ħ": "h",
        "ŧ": "t",
        "·": "",
    }
)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
# signs that mean the same: the dots of Catalan, apostrophes, the sigma at the end of a word
_SAME = str.maketrans("•∙⋅‧’‘ʼʻς", "····''''σ")
_is_letter = re.compile(LETTER).fullmatch
# what nobody sees though it counts as a letter, a mark or a sign: fillers, joiners, variants
_is_unseen = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
).match
Fold = Callable[[str], str]


@dataclass(frozen=True)
class ImportRules:
    """What to do with words that are not plain letters a-z.

    names : ``drop`` or ``keep`` words with a capital letter
    accents : ``fold`` é into e, ``drop`` such words, or ``keep`` the letter, which then needs a
        symbol
    letters : letters beyond a-z, of one to three signs, each with the symbol a-z that stands for it
    plain_q : q is one letter like any other, not a part of Qu; so it is where q is a symbol
    """

    names: str = "drop"
    accents: str = "fold"
    letters: Mapping[str, str] = field(default_factory=dict)
    plain_q: bool = False

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise WordListError(
                    f"--{name} {quote(getattr(self, name))}: expected {' or '.join(choices)}"
                )
        for letter, symbol in self.letters.items():
            if not (_is_letter(letter) and symbol in tuple(ascii_lowercase)):
                raise WordListError(
                    f"--letter {quote(f'{letter}={symbol}')}: expected a letter of one to three "
                    "signs and its symbol, one of a-z, such as ñ=w"
                )
        if len(set(self.letters.values())) < len(self.letters):
            raise WordListError(
                f"--letter gives one symbol to two letters: {quote(dict(self.letters))}"
            )
        if "q" in self.letters.values():
            object.__setattr__(self, "plain_q", True)


class Step(NamedTuple):
    """What was done to so many lines; the example is the first of them."""

    what: str
    lines: int
    example: str


@dataclass(frozen=True)
class Imported:
    """What became of a file.

    words : as the strict loader reads ``text``
    text : the strict list
    notes : how the file was read, and what the person may want to know
    """

    words: WordList
    text: str
    steps: list[Step]
    notes: list[str]


def parse_letters(options: list[str]) -> dict[str, str]:
    """Return the map that options such as ``ñ=w`` give.

    Raises WordListError if a letter has two symbols.
    """
    symbols: dict[str, str] = {}
    for option in options:
        before, _, after = option.partition("=")
        letter = _small(_apart(before.strip()))
        symbol = after.strip().lower()
        if symbols.setdefault(letter, symbol) != symbol:
            raise WordListError(
                f"--letter {quote(option)}: {letter} has the symbol {symbols[letter]} already; "
                "give each letter one"
            )
    return symbols


def import_words(
    entries: Entries, rules: ImportRules, name: str, source: str, move: Move | None = None
) -> Imported:
    """Return the strict list that the rules make of the entries of a file.

    name : of the new list
    source : the file, for messages
    move : is told how many entries are done, which takes a minute where there are millions

    Raises WordListError if no word is left, most words are of another alphabet, or a letter that is
    kept has no symbol.
    """
    _look_at(entries.words, rules, source)
    tally = _Tally(rules, entries.words)
    for what, cells in entries.others.items():
        tally.steps[f"left out: {what}"] = Step(f"left out: {what}", len(cells), cells[0])
    n_words = len(entries.words)
    for number, entry in enumerate(entries.words):
        if move and number % _SHOWN_EACH == 0:
            move(f"{number:,} of {n_words:,} entries, {len(tally.kept):,} words", number / n_words)
        tally.take(entry)
    is_plain = plain.READ_AS in entries.read_as
    tally.refuse(source, is_plain)
    header = header_of(rules.letters, rules.plain_q)
    text = header + "".join(f"{word}\n" for word in sorted(tally.kept))
    words = parse_wordlist(text.encode("utf-8"), name, source)
    steps = sorted(tally.steps.values(), key=attrgetter("lines"), reverse=True)
    steps.append(Step("words of the new list", len(words), min(tally.kept)))
    n_entries = counted(entries.n_entries, "entry", "entries")
    read_as = f"read as {', '.join(entries.read_as)}: {n_entries}"
    return Imported(words, text, steps, [read_as, *tally.notes(is_plain)])


def judge_stems(stems: list[str], rules: ImportRules, source: str) -> None:
    """Raise WordListError if most of some words are of another alphabet, as the list would be that
    is made of them: without them nothing is said.
    """
    tally = _Tally(rules, stems)
    for stem in stems:
        tally.take(stem)
    tally.refuse_alphabet(source)


def _look_at(words: list[str], rules: ImportRules, source: str) -> None:
    """Raise WordListError if words spread over a long list say that it is of another alphabet: all
    of them would say the same, half a minute later.
    """
    spread = words[:: max(1, len(words) // _LOOKED_AT)]
    if len(spread) == len(words):
        return
    tally = _Tally(rules, spread)
    for word in spread:
        tally.take(word)
    tally.refuse_alphabet(source, _SURELY, f" of {len(spread):,} words looked at")


def spellings(words: Iterable[str], letters: Collection[str]) -> frozenset[str]:
    """Return how lists may spell some words: in small letters, as they are and without accents.

    letters : of the list, beyond a-z: a word with one of them keeps its accents
    """
    spelled = set()
    for word in words:
        small = _small(_apart(marks.sub("", _visible(word))), letters)
        spelled.add(small)
        if not any(letter in small for letter in letters):
            spelled.add(_latin(_unmarked(small)))
    return frozenset(spelled)


class _Tally:
    """Takes one entry after the other; counts what was done."""

    def __init__(self, rules: ImportRules, entries: list[str]) -> None:
        self.rules = rules
        self.steps: dict[str, Step] = {}
        self.kept: set[str] = set()
        self._symbols = {symbol: letter for letter, symbol in rules.letters.items()}
        # "ch" before "c", or the shorter letter would eat the first half of the longer
        longest_first = sorted(rules.letters, key=len, reverse=True)
        self._split = re.compile(f"({'|'.join(longest_first) or '(?!)'})").split
        self._unmapped: set[str] = set()  # letters beyond a-z without a symbol
        self._folded: set[str] = set()
        with_letters = []
        for word in entries:
            if word.lower() != word.upper():
                with_letters.append(word)
        # a list in capitals says nothing of names: to drop them would leave no word
        n_capital = sum(word == word.upper() for word in with_letters)
        self._n_entries = len(entries)
        self._is_all_capitals = n_capital > _ALL_CAPITALS * len(with_letters)

    def take(self, entry: str) -> None:
        word = entry.strip()
        is_plain = word.isascii() and word.isalpha() and word.islower()
        if is_plain and not self.rules.letters:
            return self._keep(word)  # most words of most lists
        seen = _visible(word)
        # composed first: the same word typed with a combining accent has lost nothing
        if seen != unicodedata.normalize("NFC", word):
            self._count("invisible characters removed", ascii(word)[1:-1], seen)
        if not seen or seen.startswith("#"):
            return self._count("left out: blank line or comment", entry)
        bare = marks.sub("", seen) or seen
        if bare != seen:
            self._count("marks beside a word removed", seen, bare)
        word = _apart(bare)
        if word != bare:
            self._count("compatibility characters taken apart", bare, word)
        # folded only after this: letters of the list's own must still be there to be found
        small = _small(word, self.rules.letters)
        if reason := _not_one_word(self._written(small)[0]):
            return self._count(f"left out: {reason}", word)
        # signs that mean the same are no capitals
        if small != word.translate(_SAME):
            if self.rules.names == "drop" and not self._is_all_capitals:
                return self._count("left out: name or other word with a capital", word)
            self._count("capitals made small", word, small)
        return self._spell(small)

    def _written(self, text: str, folds: Sequence[Fold] = ()) -> tuple[str, str]:
        """Return a text with the letters that have symbols written by them, and the rest of it.

        folds : what is done, one after the other, to what has no symbol, before another look: ά
            may be α, and ǿ first ø and then o
        """
        written = ""
        rest = ""
        for place, piece in enumerate(self._split(text)):
            if place % 2:
                written += self.rules.letters[piece]
            else:
                pair = (piece, piece)
                if folds:
                    pair = self._written(folds[0](piece), folds[1:])
                written += pair[0]
                rest += pair[1]
        return written, rest

    def _spell(self, word: str) -> None:
        """Keep a word in the letters a-z, unless it has others."""
        spelled, rest = self._written(word)
        marked = {c for c in rest if not c.isascii()}
        if marked:
            folded, of_folded = self._written(word, _FOLDS)
        else:
            folded = spelled
            of_folded = rest
        # x for ñ and an x of its own would be one letter on the board, and two words one
        for symbol in sorted(self._symbols.keys() & set(of_folded)):
            return self._count(
                f"left out: {symbol}, which stands for {self._symbols[symbol]} in this list", word
            )
        if spelled != word:
            self._count("letters written by their symbols", word, spelled)
        if not marked:
            return self._keep(spelled)
        if not folded.isascii():
            # collected over the whole file: the message proposes symbols for all of them at once
            self._unmapped.update(c for c in folded if not c.isascii())
            return self._count("left out: letter of another alphabet", word)
        if self.rules.accents == "fold":
            self._folded |= marked
            self._count("accents folded", word, folded)
            return self._keep(folded)
        if self.rules.accents == "keep":
            self._unmapped |= marked
        return self._count("left out: accent", word)

    def _keep(self, word: str) -> None:
        """Keep a word that can be on a board, the first time."""
        if len(word) < MIN_LETTERS:
            return self._count("left out: too short", word)
        if len(word) > MAX_LETTERS:
            return self._count("left out: too long", word)
        has_lone_q = "q" in word.replace("qu", "")
        if has_lone_q and not self.rules.plain_q and "q" not in self.rules.letters:
            return self._count("left out: q without u", word)
        if word in self.kept:
            return self._count("left out: repeated", word)
        self.kept.add(word)
        return None

    def _count(self, what: str, entry: str, becomes: str = "") -> None:
        before = self.steps.get(what) or Step(what, 0, f"{entry} > {becomes}" if becomes else entry)
        self.steps[what] = before._replace(lines=before.lines + 1)

    def _n(self, what: str) -> int:
        if what in self.steps:
            return self.steps[what].lines
        return 0

    def refuse_alphabet(self, source: str, times: int = 1, of: str = " words") -> None:
        """Raise an error if words of another alphabet are more than ``times`` those kept."""
        letters = sorted(self._unmapped)
        n_foreign = self._n("left out: letter of another alphabet")
        # some foreign words are in every list; a list of them is another language
        if n_foreign > times * len(self.kept):
            example = f"{letters[0]!r}, {unicodedata.name(letters[0], 'without a name')}"
            raise WordListError(
                f"word list {quote(source)}: {n_foreign:,}{of} have letters of another alphabet "
                f"({example}), which is not supported: expected letters a-z, with or without "
                "accents"
                + (
                    f"; --letter {letters[0]}=a and so on give symbols"
                    if len(letters) < len(ascii_lowercase)
                    else ""
                )
            )

    def refuse(self, source: str, is_plain: bool) -> None:
        """Raise an error if the list cannot be what the person wants."""
        self.refuse_alphabet(source)
        letters = sorted(self._unmapped)
        if self.rules.accents == "keep" and letters:
            raise WordListError(
                f"--accents keep: {', '.join(letters)} {'has' if len(letters) == 1 else 'have'} "
                f"no symbol in {quote(source)}: add --letter {letters[0]}=X with a letter X that "
                "the list does not use, or --accents fold"
            )
        # with all that was counted: the person sees which rule took the words
        if not self.kept:
            steps = "; ".join(
                f"{step.lines:,} {step.what} ({quote(step.example)})"
                for step in self.steps.values()
            )
            hints = "".join(f"; {note}" for note in self.notes(is_plain))
            raise WordListError(
                f"no word of {quote(source)} is left: {steps or 'it is empty'}; expected one word "
                f"a line{hints}"
            )

    def notes(self, is_plain: bool) -> list[str]:
        """Return remarks; ``is_plain``: each line was taken for a word, so that there is another
        way to read the file.
        """
        notes = []
        if self._folded:
            if "ñ" in self._folded:
                own = "ñ"
            else:
                own = min(self._folded)
            used = set().union(*self.kept)
            # the rarest letters of most languages first: few words lose them
            free = next((symbol for symbol in "wkxzjvy" if symbol not in used), "")
            hint = ""
            if free:
                hint = (
                    f"; --letter {own}={free} would keep {own} as a letter of its own, "
                    f"written {free}"
                )
            notes.append(f"folded: {' '.join(sorted(self._folded))}{hint}")
        n_several = self._n("left out: more than one word")
        if self.kept:
            are_many = n_several * 5 > len(self.kept)
        else:  # lines of other signs give no words either
            are_many = n_several * 2 > self._n_entries
        if is_plain and are_many:
            notes.append(
                "many entries are several words: --column 1 takes the first word of each line, "
                "--column all every word"
            )
        if self._n("left out: q without u") * 100 > len(self.kept):
            notes.append(
                "many words have a q without u: --plain-q takes them, for boards with a plain q"
            )
        n_capital = self._n("left out: name or other word with a capital")
        if n_capital > _NOUNS_SHARE * (n_capital + len(self.kept)):
            notes.append(
                "many words have a capital, as nouns have in German: --names keep takes "
                "them, and names too"
            )
        return notes


def _visible(word: str) -> str:
    """Return a word without what nobody sees: joiners, soft hyphens, controls and such."""
    composed = unicodedata.normalize("NFC", word)
    seen = [c for c in composed if c.isspace() or not _is_hidden(c)]
    return unicodedata.normalize("NFC", "".join(seen)).strip()


def _is_hidden(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cf", "Cc") or bool(_is_unseen(sign))


def _apart(word: str) -> str:
    """Return a word with its compatibility characters taken apart: ĳ is ij, ﬁ is fi."""
    apart = []
    for c in word:
        if c.isalpha():
            c = unicodedata.normalize("NFKC", c)
        apart.append(c)
    return unicodedata.normalize("NFC", "".join(apart))


def _small(word: str, letters: Iterable[str] = ()) -> str:
    """Return a word in small letters; I is the capital of ı where that is a letter of its own."""
    if "ı" in letters:
        word = word.replace("I", "ı")
    return unicodedata.normalize("NFC", word.replace("İ", "i").lower().translate(_SAME))


def _not_one_word(word: str) -> str:
    """Return what an entry has besides letters; empty if nothing."""
    word = word.replace("l·l", "ll")
    if all(c.isalpha() or unicodedata.combining(c) for c in word):
        return ""
    if any(c in "'`´" for c in word):
        return "apostrophe"
    if any(unicodedata.category(c) == "Pd" for c in word):
        return "hyphen"
    if any(map(str.isspace, word)):
        return "more than one word"
    return "digit, dot or other sign"


def _unmarked(word: str) -> str:
    """Return a word without the marks on its letters."""
    apart = unicodedata.normalize("NFKD", word)
    return "".join(c for c in apart if not unicodedata.combining(c))


def _latin(word: str) -> str:
    """Return a word with the letters that are no a-z with a mark, such as ß, written in a-z."""
    return word.translate(_WITHOUT_MARK)


_FOLDS = (_unmarked, _latin)


def readings(typed: str, letters: Container[str] = ()) -> list[str]:
    """Return how a list may spell a word that a person typed: as it is, without accents, and with
    umlauts written out, as some German lists have it; ``letters`` are letters of the list's own.

    >>> readings("käse")
    ['käse', 'kase', 'kaese']
    >>> readings("añádase", letters="ñ")
    ['añádase', 'añadase']
    """
    typed = unicodedata.normalize("NFC", typed)
    found = [typed]
    for text in (typed, typed.translate(_UMLAUTS)):
        folded = "".join(c if c in letters else _latin(_unmarked(c)) for c in text)
        if folded not in found:
            found.append(folded)
    return found
