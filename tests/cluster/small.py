"""2x2 runs of few classes.

A run with the bundled list: whole, cut up by splits, in three shares; one with a list of fifteen
words, ``tiny``; and a run written anew with other rows.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.cluster.planning.shares import Share
from orderly_boggle.cluster.workers.executors import InProcessExecutor
from orderly_boggle.configs.model import RunConfig, SearchConfig, load_config
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from tests.results.helpers import write_rows

SMALL = {"dims": "2x2", "cutoff": 12, "workers": 0, "buckets": "aeiou bcdfg hjklmnp qrstvwxyz"}
CUT_UP = {"search": {"unit_budget": 1, "node_budget": 1}}
WORDS = [
    "ate",
    "east",
    "eat",
    "eta",
    "sat",
    "sea",
    "seat",
    "tea",
    "teas",
    "toe",
    "tone",
    "note",
    "one",
    "eon",
    "sot",
]
BUCKETS = "aeiou bcdfghjklm npqrst vwxyz"


def tiny(folder: Path, **changes: Any) -> RunConfig:
    """Return a run with fifteen words that takes no time."""
    path = folder / "tiny.txt"
    path.write_text("\n".join(WORDS) + "\n")
    values = {
        "dims": "2x2",
        "wordlist": str(path),
        "cutoff": 4,
        "scores": "words",
        "buckets": BUCKETS,
    }
    values |= {"out": str(folder / "run"), "search": SearchConfig(memory_mb=16)}
    return RunConfig.model_validate(values | changes)


def config(folder, **changes):
    return load_config(None, {**SMALL, "out": str(folder), **changes})


def make_small_runs(folder: Path) -> Path:
    """Make the runs ``whole``, ``cut_up``, ``share1`` to ``share3`` in a folder."""
    assert run(config(folder / "whole")).complete
    assert run(config(folder / "cut_up", **CUT_UP)).complete
    for number in (1, 2, 3):
        assert run(config(folder / f"share{number}"), share=Share(number, 3)).share_done
    return folder


def with_breaker(kind):
    """Return what makes an executor in this process, with breakers of this kind."""
    return partial(InProcessExecutor, make_breaker=kind)


@contextmanager
def parts_apart() -> Iterator[None]:
    """Let stores leave their small parts as they are, as those of older versions did."""
    with (
        mock.patch("orderly_boggle.results.store.store.due", return_value=()),
        mock.patch("orderly_boggle.results.store.store.fitting", return_value=()),
    ):
        yield


def cut_into_parts(run, n_rows=1):
    """Write a run anew, in its place, in parts of few rows; its log stays, its claim goes."""
    old = run.rename(run.with_name(f"{run.name}-old"))
    found = open_run(old)
    rows = list(found.rows())
    with parts_apart(), Store.open(run, found.question, found.made) as there:
        for begin in range(0, len(rows), n_rows):
            there.append(rows[begin : begin + n_rows], copied=True)
            there.flush()
    shutil.copy(old / files.EVENTS, run)
    shutil.rmtree(old)


def rewritten(old, folder, change, **made):
    """Write a run anew with other rows: a store whose checksums are right."""
    found = open_run(old)
    write_rows(folder, change(list(found.rows())), found.question, replace(found.made, **made))
    return folder
