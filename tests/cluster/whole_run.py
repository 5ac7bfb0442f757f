"""A real run with all that real runs have, and the tools of somebody who forges one: rows
rewritten, everything sealed.

The run: 2x2, budgets of almost nothing, so that units split four levels deep and settle parts out
of turn; candidates in several parts and several in one row.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.configs.model import SearchConfig
from orderly_boggle.results.proof.claim import digest_of, unscored_boards, wording_of
from orderly_boggle.results.proof.prove import summary
from orderly_boggle.results.proof.verify import VerifyResult, record, verify_files
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.documents import format_document
from orderly_boggle.results.store.made import Made
from orderly_boggle.results.store.rows import Row
from orderly_boggle.results.store.run import Run, open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.search.scoring.scorer import Scorer
from tests.cluster.small import WORDS, tiny

GROUPS = ["bcdfghjklm", "pqrvwxyz", "iu", "aeo", "nst"]
PER_PART = 20
Rows = list[Row]


def make_whole_run(folder: Path) -> Path:
    """Make the run in ``folder``, a part for every twenty rows, with the claim that ``verify``
    gives it.
    """
    search = SearchConfig(
        memory_mb=16,
        unit_budget=1,
        node_budget=1,
        least_budget=1,
        force_groups=GROUPS,
        product_limit=1,
    )
    config = tiny(folder, search=search, workers=0)
    made = Path(config.out)
    assert run(config).complete
    whole = store_rows(
        folder / "whole", open_run(made), sorted(open_run(made).rows(), key=lambda row: row.key)
    )
    record(open_run(whole), verified(whole))
    shutil.rmtree(made)
    return whole


def verified(folder: Path) -> VerifyResult:
    """Return what ``verify`` comes to, with one scorer in both places."""
    asked = open_run(folder)
    scorer = Scorer("2x2", WORDS, parse_scores("words"))
    return verify_files(asked, scorer, scorer, wording_of(asked))


def store_rows(folder: Path, old: Run, rows: Iterable[Row], made: Made | None = None) -> Path:
    """Write rows as a run like an older one: the store checks them one by one, so each is valid by
    itself.
    """
    with Store.open(folder, old.question, made or old.made) as store:
        waiting = list(rows)
        for first in range(0, len(waiting), PER_PART):
            store.append(waiting[first : first + PER_PART])
            store.flush()
    (folder / files.LOCK).unlink(missing_ok=True)
    return folder


def forge(folder: Path, whole: Path, change: Callable[[Rows], Rows], **claimed: Any) -> Path:
    """Write a run anew with its rows changed, and its claim sealed to fit."""
    old = open_run(whole)
    store_rows(folder, old, change(list(old.rows())))
    forged = open_run(folder)
    listed = unscored_boards(forged)
    n_units = len(forged.index.places)
    digest = digest_of(forged.question, listed, complete=True)
    seal_claim(
        folder,
        whole,
        n_units=n_units,
        result_digest=digest,
        n_candidates=listed.n_candidates,
        **claimed,
    )
    return folder


def seal_claim(folder: Path, whole: Path, **changes: Any) -> None:
    """Put the claim of a whole run into another one, with some values changed and its seal
    renewed.
    """
    values = json.loads((whole / files.CLAIM).read_text())
    del values["sha256"]
    (folder / files.CLAIM).write_bytes(format_document({**values, **changes}))


def seal_run(folder: Path, **made: Any) -> None:
    """Change what ``run.json`` records, its seal renewed."""
    values = json.loads((folder / files.RUN).read_text())
    del values["sha256"]
    values["made"] |= made
    (folder / files.RUN).write_bytes(format_document(values))


def without_boards(row: Row) -> Row:
    """Return a row as if its candidates had been refuted one by one."""
    status = "eliminated" if row.status == "candidates" else row.status
    return replace(row, candidates=(), status=status, counters={**row.counters, "n_survivors": 1})


def is_proven(folder: Path) -> bool:
    return summary(folder).proven


def depth(row: Row) -> int:
    return row.path.count("/") + bool(row.path)
