"""One file to look at a board and to play on it: ``orderly show BOARD --out FILE.html``, and *Save
as page*.

It has the panel of the Board page (templates/play.html, static/play.js, tiles.js, site.css), and
asks for nothing.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from html import escape
from itertools import groupby, pairwise
from pathlib import Path
from string import Template
from typing import Any

from boardclass.board_svg import SCRIPT, board_svg
from boardclass.printable import counted, printable

_FOLDER = Path(__file__).resolve().parent
MAX_WORD_BYTES = 212_000  # of words in the data and in the text; the rest of a page takes 75,000
_SCRIPTS = (
    _FOLDER / "static" / "lib.js",
    SCRIPT,
    _FOLDER / "static" / "tiles.js",
    _FOLDER / "static" / "play.js",
    _FOLDER / "static" / "file.js",
)
# between modules, and types for those who read the source
_not_in_a_page = re.compile(
    r"^import [^;]*;\n|^export (?=async|const|function)|/\*\*.*?\*/\s*", re.M | re.S
).sub


@dataclass(frozen=True)
class Game:
    """How a board is played: minutes (0: no limit), letters of a word that counts, words to find
    (0: as many as one can).
    """

    minutes: float = 3
    least: int = 3
    goal: int = 0


def board_page(told: dict[str, Any], *, hidden: bool = False, game: Game | None = None) -> str:
    """Return the page of a board as ``Asked.told`` tells of it; with ``hidden`` its words come
    after the game.
    """
    packed = _packed(told["words"], len(told["rows"]))
    words, left_out = told["words"][: len(packed)], len(told["words"]) - len(packed)
    common = set(told.get("common", ()))
    data: dict[str, Any] = {
        name: told[name] for name in ("rows", "heat", "values", "bonus") if name in told
    }
    data |= {
        "wordlist": printable(told["wordlist"]),
        "hidden": hidden,
        "leftOut": left_out,
        "words": packed,
        # by their places: they are among the words
        "common": [at for at, item in enumerate(words) if item["word"] in common],
        "game": asdict(game or Game()),
    }
    head = f"{counted(told['score'], 'point')} in {counted(told['n_words'], 'word')}"
    groups = groupby(words, key=lambda item: item["letters"])
    listed = (
        ""
        if hidden
        else "".join(
            f"<p>{n}: {', '.join(item['word'] for item in same)}</p>" for n, same in groups
        )
    )
    note = (
        f"This page and its game have the {len(words):,} longest of them; {left_out:,} are left "
        "out."
    )
    return Template(_read("templates/file.html")).substitute(
        head=f"Find {head}" if hidden else head,
        text=escape(printable(f"Board {told['board']}, word list {told['wordlist']}.")),
        place=escape(
            printable(" ".join(filter(None, (told.get("place"), note if left_out else ""))))
        ),
        drawn=board_svg(told["rows"]),
        listed=printable(listed),
        style=_read("static/site.css"),
        play=_read("templates/play.html"),
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        script="".join(_not_in_a_page("", path.read_text("utf-8")) for path in _SCRIPTS),
    )


def _packed(words: list[dict[str, Any]], h: int) -> list[str]:
    """Return each word with its points, letters, first cell and a digit a step (of dx columns and
    dy rows: 3 dx + dy + 4), as many of the longest as the page may hold.
    """
    packed: list[str] = []
    n_bytes = 0
    for item in words:
        path, word = item["path"], item["word"]
        steps = [3 * (b // h - a // h) + b % h - a % h + 4 for a, b in pairwise(path)]
        packed.append(
            f"{word} {item['points']} {item['letters']} {path[0]} {''.join(map(str, steps))}"
        )
        n_bytes += len(json.dumps(packed[-1])) + len(word.encode()) + 3
        if n_bytes > MAX_WORD_BYTES:
            return packed[:-1]
    return packed


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
