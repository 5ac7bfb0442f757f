"""The best board that is known of each size and word list, proven or found by climbing.

``tests/field/records.py`` writes published/best_known.json; the page of records and docs/records.md
show it.

>>> best = [item for item in best_known() if (item.dims, item.wordlist) == ("3x3", "scowl70")]
>>> best[0].board, best[0].points, best[0].proof
('berlatdes', 430, '3x3-scowl70')
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from orderly_boggle.results.storage.files import PUBLISHED

FILE = PUBLISHED / "best_known.json"
WHOLE = "searched whole"  # all boards of the size as one class, at the score of the best


@dataclass(frozen=True)
class Record:
    """A board, with standard points, and how it is known."""

    dims: str
    wordlist: str
    board: str  # in q-form, column by column
    points: int
    words: int
    # the run that comes with the program and proves it, or WHOLE; empty: no better one is known
    proof: str
    how: str  # method and size of the climbs that were made
    runs: int  # how many climbs, 0 where none was made here,
    found: int  # and how many of them found this board


def best_known() -> list[Record]:
    """Return the best board of each size and list, list by list."""
    if not FILE.exists():
        return []
    return [Record(**item) for item in json.loads(FILE.read_text())]
