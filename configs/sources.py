"""Where the well-known word lists come from: ``configs/wordlists/sources.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple


class Source(NamedTuple):
    """A word list that people speak of by name."""

    name: str
    title: str
    licence: str
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


def sources() -> dict[str, Source]:
    """Return the known lists by name."""
    text = (Path(__file__).resolve().parent / "wordlists" / "sources.toml").read_text("utf-8")
    return {name: Source(name, **values) for name, values in tomllib.loads(text).items()}
