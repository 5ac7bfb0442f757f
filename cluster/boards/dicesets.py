"""Sets of dice as TOML: the bundled ones in the folder ``dice`` beside this file, or a file of
one's own.

A file has ``title``, ``dims`` and ``dice``: the faces of each die as one word, ``Qu``, ``Th``,
``In``, ``Er``, ``He`` or ``An`` for a face of two letters, brackets for any other of several
(``[ch]``), a dot for a blank; ``scores`` if the game has points of its own, and ``language`` if it
is not English.

>>> dice_for("classic", 16).dice[0]
'aaciot'
>>> dice_names()
['big', 'classic', 'german', 'german-big', 'german-box', 'new', 'spanish', 'spanish-big', 'super']
"""

import re
import unicodedata
from pathlib import Path
from string import ascii_lowercase

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orderly_boggle.boardclass.errors import ConfigError, quote
from orderly_boggle.boardclass.wordlist import WordList
from orderly_boggle.configs.model import bundled_names, read_toml, telling_fault

_FOLDER = Path(__file__).resolve().parent / "dice"


class DiceSet(BaseModel):
    """A set of dice."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str  # file stem
    title: str = Field(min_length=1, max_length=200)
    dims: str = Field(pattern=r"^[1-9]x[1-9]$")  # as many cells as dice
    scores: str = "standard"  # points by length, as ``--scores`` takes them
    language: str = Field(default="English", min_length=1, max_length=40)
    dice: tuple[str | tuple[str, ...], ...]  # faces of each die in q-form: ``q`` is a Qu face

    @property
    def letters(self) -> set[str]:
        """The letters on all faces, without blanks."""
        faces = set().union(*self.dice)
        return set("".join(faces).replace(".", ""))

    def check_letters(self, words: WordList) -> None:
        """Refuse dice that show a letter which the words of a list cannot have."""
        letters = set(ascii_lowercase) - words.letters.keys()
        letters |= set("".join(words.letters.values()))
        if others := sorted(self.letters - letters):
            if self.language == "English":
                language = ""
            else:
                language = f"{self.language} "
            raise ConfigError(
                f"dice {self.name!r} show {', '.join(others)}, which no word of {words.name} has: "
                f"take a {language}list that has such letters, or other dice"
            )

    @property
    def n(self) -> int:
        """Number of dice."""
        return len(self.dice)


def dice_names() -> list[str]:
    """Return the names of the bundled sets."""
    return bundled_names(_FOLDER)


def all_dice() -> list[DiceSet]:
    """Return the bundled sets."""
    return [load_dice(name) for name in dice_names()]


def dice_for(source: str, n_cells: int) -> DiceSet:
    """Return the named set, which must have as many dice as a board has cells.

    Raises ConfigError if it has not, or as in :func:`load_dice`.
    """
    dice_set = load_dice(source)
    if dice_set.n != n_cells:
        fitting = [dice.name for dice in all_dice() if dice.n == n_cells]
        raise ConfigError(
            f"dice {dice_set.name!r} has {dice_set.n} dice, but the board has {n_cells} cells: "
            f"expected {' or '.join(fitting) or 'a TOML file with as many dice'}"
        )
    return dice_set


def load_dice(source: str) -> DiceSet:
    """Return a bundled set by name, or the set in a TOML file.

    Raises ConfigError if there is no such set, or the file is not a set of dice.
    """
    where = f"dice {quote(source)}"
    name, _, values = read_toml(source, _FOLDER, "dice", "TOML with title, dims and dice")
    faces = values.get("dice", "")
    words = faces.split() if isinstance(faces, str) else faces
    dice = [_die(str(word), where) for word in words] if isinstance(words, list) else words
    try:
        dice_set = DiceSet.model_validate({**values, "dice": dice, "name": name})
    except ValidationError as error:
        first = telling_fault(error)
        if first["type"] == "missing":
            fault = "is missing"
        else:
            fault = f"= {quote(first['input'])}"
        raise ConfigError(
            f"{where}: {first['loc'][0]} {fault}: expected title, dims such as 4x4, dice (the "
            "faces of each die as one word) and, if the game has points of its own, scores, and "
            "language; see cluster/boards/dice"
        ) from error
    width, height = map(int, dice_set.dims.split("x"))
    if dice_set.n != width * height:
        raise ConfigError(
            f"{where}: {dice_set.n} dice for {dice_set.dims}, expected {width * height}"
        )
    return dice_set


_faces = re.compile(r"\[[^\[\]]*\]|Qu|Th|In|Er|He|An|.").findall


def _die(word: str, where: str) -> str | tuple[str, ...]:
    """Return the faces of a die in q-form: a text, if each has one letter."""
    faces = []
    for face in _faces(unicodedata.normalize("NFC", word)):
        text = face.strip("[]").lower()
        if not (text == "." or (0 < len(text) <= 8 and text.isalpha())):
            raise ConfigError(
                f"{where}: die {quote(word)}: expected its faces as letters, such as aaciot; one "
                "of several letters is Qu, Th, In, Er, He, An, or in brackets, such as [ch]"
            )
        faces.append(text)
    if not 1 <= len(faces) <= 20:
        raise ConfigError(f"{where}: die {quote(word)}: expected 1 to 20 faces, such as aaciot")
    die = tuple("q" if face == "qu" else face for face in faces)
    if all(map(str.isalpha, die)) and len("".join(die)) == len(die):
        return "".join(die)
    return die
