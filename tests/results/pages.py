"""Report pages of the toy run, and of a published run."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from orderly_boggle.boardclass.errors import IncompleteError
from orderly_boggle.boardclass.scores import ScoreTable, parse_scores
from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.results.reading.report import render
from orderly_boggle.results.store.made import ListTold, Made
from orderly_boggle.results.store.rows import Row
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.search.scoring.scorer import Scorer
from tests.conftest import ROOT
from tests.results.helpers import claimed, toy_question

# words on the boards that the toy run holds; its scores are not these words' points
WORDS = ["xyz", "wxy", "tvz", "wxyz", "tvzy"]


def make_page(folder: Path, rows: Sequence[Row], events: str = "") -> Path:
    """Write a run with these rows and events and its report; return the page."""
    made = Made(ListTold("<toy & co>", n_words=3), "standard")
    with Store.open(folder, toy_question(), made) as store:
        store.append(rows)
        store.flush()
        with contextlib.suppress(IncompleteError):
            claimed(store)
    if events:
        (folder / "events.jsonl").write_text(events)
    html = render(
        open_run(folder), Scorer("2x2", WORDS, ScoreTable("toy", (0, 0, 0, 1, 1) + (2,) * 60)), 2
    )[0]
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    return path


def make_published_page(path: Path) -> Path:
    """Write the report of the published 3x3 run for the bundled list: two boards with 200 words
    each.
    """
    run = open_run(ROOT / "results" / "published" / "3x3-scowl70")
    scorer = Scorer("3x3", load_wordlist("scowl70").words, parse_scores("standard"))
    path.write_text(render(run, scorer, 2)[0], encoding="utf-8")
    return path
