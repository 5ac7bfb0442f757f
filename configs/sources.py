"""Where the well-known word lists come from: ``configs/wordlists/sources.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).resolve().parent / "wordlists" / "sources.toml"


class Source(NamedTuple):
    """A word list that people speak of by name."""

    name: str
    title: str
    licence: str
    url: str = ""
    upper: bool = False
    note: str = ""
    file: str = "FILE"
    options: str = ""
    language: str = "English"
    contains: str = ""

    @property
    def command(self) -> str:
        """What makes the list of a file."""
        return f"orderly wordlist import {self.file} --name {self.name} {self.options}".rstrip()


def sources() -> dict[str, Source]:
    """Return the known lists by name."""
    return {name: Source(name, **values) for name, values in tomllib.loads(_FILE.read_text("utf-8")).items()}
