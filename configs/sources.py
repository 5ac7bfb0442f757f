"""Where the well-known word lists come from: ``configs/wordlists/sources.toml``.

>>> sources()["enable2k"].n_words
173402
>>> print(sources()["debian-spanish"].command)
orderly wordlist import /usr/share/dict/spanish --name debian-spanish --letter ñ=w
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Source(NamedTuple):
    """A word list that people speak of by name."""

    name: str
    title: str
    licence: str
    n_words: int  # usable ones, of the list with the SHA-256 that goes by this name
    # lines of its file that can be on no board, by reason; None: nobody here has seen the file
    left_out: dict[str, int] | None = None
    url: str = ""  # where a copy can be downloaded; empty where that is not permitted or not needed
    upper: bool = False  # the file is in capitals
    note: str = ""  # how else to come by it
    # this and ``options`` are what ``orderly wordlist import`` makes the list of
    file: str = "FILE"
    options: str = ""
    language: str = "English"  # of its words
    contains: str = ""  # what is or is not in it that a game would see otherwise

    @property
    def command(self) -> str:
        """What makes the list of a file."""
        return f"orderly wordlist import {self.file} --name {self.name} {self.options}".rstrip()

    @property
    def letters(self) -> dict[str, str]:
        """The letters beyond a-z, by the symbol that stands for them."""
        return {
            symbol: letter for letter, symbol in re.findall(r"--letter (\w+)=(\w)", self.options)
        }


@cache
def sources() -> dict[str, Source]:
    """Return the known lists by name."""
    text = (Path(__file__).resolve().parent / "wordlists" / "sources.toml").read_text("utf-8")
    return {name: Source(name, **values) for name, values in tomllib.loads(text).items()}
