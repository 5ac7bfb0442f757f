"""A 2x2 run of few classes: whole, cut up by splits, in three shares; and a run written anew with other rows."""

from __future__ import annotations

from pathlib import Path

from cluster.driver.driver import run
from cluster.planning.shares import Share
from configs.model import load_config
from results.store.run import open_run
from results.store.store import Store

SMALL = {"dims": "2x2", "cutoff": 12, "workers": 0, "buckets": "aeiou bcdfg hjklmnp qrstvwxyz"}
CUT_UP = {"search": {"unit_budget": 1, "node_budget": 1}}


def config(folder, **changes):
    return load_config(None, {**SMALL, "out": str(folder), **changes})


def make_small_runs(folder: Path) -> Path:
    """Make the runs ``whole``, ``cut_up``, ``share1`` to ``share3`` in a folder."""
    assert run(config(folder / "whole")).complete
    assert run(config(folder / "cut_up", **CUT_UP)).complete
    for number in (1, 2, 3):
        assert run(config(folder / f"share{number}"), share=Share(number, 3)).share_done
    return folder


def rewritten(old, folder, change, **info):
    """Write a run anew with other rows: a store whose checksums are right."""
    found = open_run(old)
    with Store.open(folder, found.fingerprint, found.info | info) as there:
        there.append(change(list(found.rows())))
    return folder
