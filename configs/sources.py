"""Where the well-known word lists come from: ``configs/wordlists/sources.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).resolve().parent / "wordlists" / "sources.toml"


class Source(NamedTuple):
    """A word list that people speak of by name.

    Attributes
    ----------
    url : where a copy can be downloaded; empty where that is not permitted or not needed
    upper : the file is in capitals
    note : how else to come by it
    """

    name: str
    title: str
    licence: str
    url: str = ""
    upper: bool = False
    note: str = ""


def sources() -> dict[str, Source]:
    """Return the known lists by name."""
    return {name: Source(name, **values) for name, values in tomllib.loads(_FILE.read_text("utf-8")).items()}
