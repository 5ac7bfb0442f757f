"""One file to look at a board and to play on it: ``orderly show BOARD --out FILE.html``, and *Save
as page*.

It has the panel of the Board page (templates/play.html, static/play.js, tiles.js, site.css), and
asks for nothing.
"""

import json
import re
from dataclasses import asdict, dataclass
from html import escape
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from string import Template

from orderly_boggle.boardclass.board_svg import SCRIPT, board_svg
from orderly_boggle.boardclass.printable import counted, printable
from orderly_boggle.cluster.answers.told import Playable, Told

_FOLDER = Path(__file__).resolve().parent
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


def board_page(board: Told, *, hidden: bool = False, game: Game | None = None) -> str:
    """Return the page of a board, given what ``Scoring.described`` says of it; with ``hidden`` its
    words come after the game.
    """
    data = {}
    for name, value in board.items():
        if name in Playable.__annotations__:
            data[name] = value
    data["wordlist"] = printable(board["wordlist"])
    data["hidden"] = hidden
    data["game"] = asdict(game or Game())
    head = f"{counted(board['score'], 'point')} in {counted(board['n_words'], 'word')}"
    listed = []
    words = [] if hidden else board["words"]
    for n, group in groupby(words, key=itemgetter("letters")):
        listed.append(f"<p>{n}: {', '.join(item['word'] for item in group)}</p>")
    return Template(_read("templates/file.html")).substitute(
        head=f"Find {head}" if hidden else head,
        text=escape(printable(f"Board {board['board']}, word list {board['wordlist']}.")),
        place=escape(printable(board["place"])),
        drawn=board_svg(board["rows"]),
        listed=printable("".join(listed)),
        style=_read("static/site.css"),
        play=_read("templates/play.html"),
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        script="".join(_not_in_a_page("", path.read_text("utf-8")) for path in _SCRIPTS),
    )


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
