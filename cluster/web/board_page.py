"""One file to look at a board and to play on it: ``orderly show BOARD --out FILE.html``, and *Save as page*.

It has the panel of the Board page (templates/play.html, static/play.js, words.js, site.css), and asks for nothing.
"""

from __future__ import annotations

import json
import re
from html import escape
from itertools import groupby
from pathlib import Path
from string import Template
from typing import Any

from boardclass.board_svg import board_svg
from boardclass.printable import counted, printable

_FOLDER = Path(__file__).resolve().parent
_SCRIPTS = ("lib.js", "words.js", "play.js", "file.js")
_between_modules = re.compile(r"^import .*\n|^export (?=async|const|function)", re.M).sub


def board_page(told: dict[str, Any], *, hidden: bool = False) -> str:
    """Return the page of a board.

    Parameters
    ----------
    told : dict
        As :func:`cluster.web.jobs.score_board` returns it.
    hidden : bool
        The game comes first, the words afterwards.
    """
    words = [[item[name] for name in ("word", "points", "letters", "path")] for item in told["words"]]
    data = {"rows": told["rows"], "heat": told["heat"], "wordlist": printable(told["wordlist"]), "words": words}
    head = f"{counted(told['score'], 'point')} in {counted(told['n_words'], 'word')}"
    groups = groupby(told["words"], key=lambda item: item["letters"])
    listed = "" if hidden else "".join(f"<p>{n}: {', '.join(item['word'] for item in same)}</p>" for n, same in groups)
    page = Template(_read("templates/file.html"))
    return page.substitute(
        head=f"Find {head}" if hidden else head,
        text=escape(printable(f"Board {told['board']}, word list {told['wordlist']}.")),
        place=escape(printable(told.get("place") or "")),
        drawn=board_svg(told["rows"]),
        listed=printable(listed),
        style=_read("static/site.css"),
        play=_read("templates/play.html"),
        data=json.dumps(data | {"hidden": hidden}, separators=(",", ":")).replace("<", "\\u003c"),
        script="".join(_between_modules("", _read(f"static/{name}")) for name in _SCRIPTS),
    )


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
