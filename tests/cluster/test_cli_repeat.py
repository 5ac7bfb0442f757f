"""``repeat``: verdicts that are right are found again, and one that is not is named."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from cluster.driver.driver import run
from configs.model import load_config
from results.store.rows import SPLIT
from results.store.run import open_run
from results.store.store import Store
from search import replica

SMALL = {"dims": "2x2", "cutoff": 12, "workers": 0, "buckets": "aeiou bcdfg hjklmnp qrstvwxyz"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A finished 2x2 run whose classes are split again and again."""
    folder = tmp_path_factory.mktemp("made") / "run"
    budgets = {"unit_budget": 1, "node_budget": 1}
    assert run(load_config(None, {**SMALL, "out": str(folder), "search": budgets})).complete
    return folder


def ids_of(folder):
    return sorted({row.class_id for row in open_run(folder).rows()})


def altered(made, folder, key, **changes):
    """Write the run anew with one row changed."""
    found = open_run(made)
    with Store.open(folder, found.fingerprint, found.info) as there:
        there.append([replace(row, **changes) if row.key == key else row for row in found.rows()])
    return folder


@pytest.mark.parametrize("seed", [0, 1])
def test_every_verdict_of_a_run_is_found_again(orderly, made, seed):
    everything = ",".join(map(str, ids_of(made)))
    answer = orderly("repeat", made, "--classes", everything, "--seed", seed)
    assert answer.code == 0, answer.err
    assert f"All {len(list(open_run(made).rows())):,} verdicts were found again" in answer.out


def test_the_draw_is_one_that_anybody_can_repeat(orderly, made):
    drawn = [orderly("repeat", made, "--sample", 7, "--seed", 5, "--workers", n, "--format", "json") for n in (1, 2)]
    told = [[(item["class_id"], item["path"]) for item in json.loads(answer.out)["repeated"]] for answer in drawn]
    keys = [row.key for row in open_run(made).rows() if row.status != SPLIT or row.settled]
    by_hand = sorted(keys, key=lambda key: hashlib.sha256(f"5 {key[0]} {key[1]}".encode()).hexdigest())[:7]
    assert told[0] == told[1] == by_hand
    other = orderly("repeat", made, "--sample", 7, "--seed", 6, "--format", "csv").out
    assert other.splitlines()[0] == "class_id,path,status,difference,gave_up,seconds"
    assert len(other.splitlines()) == 8


@pytest.mark.parametrize("fault", ["lost board", "one more", "score", "size", "lost part"])
def test_a_false_verdict_is_named(orderly, made, tmp_path, fault):
    rows = list(open_run(made).rows())
    if fault == "lost part":
        row = next(row for row in rows if len(row.children) > 1)
        changes: dict[str, Any] = {"children": row.children[1:]}
    else:
        row = next(row for row in rows if row.candidates and row.status != SPLIT)
        first, *rest = row.candidates
        faults: dict[str, dict[str, Any]] = {
            "lost board": {
                "candidates": tuple(rest),
                "status": "candidates" if rest else "eliminated",
                "counters": {**row.counters, "n_survivors": 1},
            },
            "one more": {"candidates": (*row.candidates, (first[0][::-1], first[1] + 1))},
            "score": {"candidates": ((first[0], first[1] + 1), *rest)},
            "size": {"n_boards": row.n_boards + 1},
        }
        changes = faults[fault]
    folder = altered(made, tmp_path / "altered", row.key, **changes)
    answer = orderly("repeat", folder, "--classes", row.class_id)
    assert (answer.code, answer.out) == (5, "")
    assert f"class {row.class_id} {row.path}".rstrip() in answer.err
    others = [x for x in ids_of(made) if x != row.class_id]
    assert orderly("repeat", folder, "--classes", ",".join(map(str, others[:3]))).code == 0


def test_what_cannot_be_compared_is_incomplete_and_says_so(orderly, made, tmp_path, monkeypatch):
    found = open_run(made)
    rows = [row for row in found.rows() if not row.path]
    with Store.open(tmp_path / "begun", found.fingerprint, found.info) as there:
        there.append(rows)
    split = next(row.class_id for row in rows if row.status == SPLIT)
    answer = orderly("repeat", tmp_path / "begun", "--classes", split)
    assert (answer.code, answer.out) == (4, "")
    assert f"class {split} is not settled" in answer.err
    monkeypatch.setattr(replica, "_PATIENCE", 0)
    answer = orderly("repeat", made, "--sample", 3)
    assert (answer.code, answer.out) == (4, "")
    assert "took too long" in answer.err
