"""verify and repeat: a sound run gives its claim again; whatever is lost, altered or swapped is
named.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from orderly_boggle.boardclass.errors import InputError, MismatchError
from orderly_boggle.results.errors import ConflictError
from orderly_boggle.results.proof.nodes import run_spec
from orderly_boggle.results.proof.repeat import (
    check_taken,
    easy_first,
    overlooked,
    repeat_easy,
    repeated,
    sampled_rows,
)
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.rows import SPLIT
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.words import run_wordlist
from orderly_boggle.search import breaker
from tests.cluster.small import rewritten
from tests.conftest import ROOT
from tests.results.helpers import write_rows

CUTOFF = 12


@pytest.fixture
def copy(proven, tmp_path):
    return shutil.copytree(proven, tmp_path / "copy")


def test_a_sound_run_is_verified(orderly, proven, copy):
    (copy / files.CLAIM).unlink()
    answer = orderly.done("verify", copy)
    told = " ".join(answer.split())
    assert told.startswith("Verified: 55 of 55 verdicts searched again; a climb over ")
    assert "up to 14 points, found none that is not listed. Of all 456,976 2x2 boards" in told
    assert "double-checked 100 %" in told
    assert not (copy / files.CLAIM).exists(), "a reader unless told otherwise"
    quick = orderly.done("verify", copy, "--quick", "--write")
    assert " ".join(quick.split()).startswith(
        "Coverage holds; 0 of 55 verdicts searched again. If they are right: Of all"
    )
    assert "Verified" not in quick
    claim, first = (json.loads((run / files.CLAIM).read_text()) for run in (copy, proven))
    assert claim["result_digest"] == first["result_digest"]
    assert claim["boards"][0] == [claim["best_boards"][0], claim["best_score"]]
    assert claim["statistics"]["n_terms"] > 0
    assert orderly.json("verify", copy)["verdict_digest"] == claim["verdict_digest"]
    assert orderly.json("status", copy)["state"] == "proven"


@pytest.mark.parametrize(
    "command",
    [
        ("verify", "{copy}", "--quick", "--write"),
        ("certify", "{copy}"),
        ("merge", "{copy}", "{proven}"),
        ("derive", "{proven}", "--cutoff", "13", "--out", "{empty}"),
    ],
    ids=lambda command: command[0],
)
def test_who_writes_waits_for_a_claim_that_is_not_renewed(orderly, proven, copy, tmp_path, command):
    """That of a driver which was killed on another machine counts for 90 s; one is left here."""
    places = {"proven": proven, "copy": copy, "empty": tmp_path / "empty"}
    places["empty"].mkdir()
    note = {"pid": 7, "user": "ann", "since": time.time(), "host": "box", "machine": "another"}
    claim = places["empty" if command[0] == "derive" else "copy"] / files.OWNER
    claim.write_text(json.dumps(note))
    os.utime(claim, 2 * (time.time() - 89,))
    answer = orderly(*(word.format(**places) for word in command))
    assert answer.code == 0, answer.err
    assert answer.err.count("waiting for ann@box (process 7)") == 1
    assert not claim.exists()


def test_status_calls_a_digest_so_far_what_is_not_that_of_the_claim(orderly, copy):
    claimed = orderly.done("status", copy)
    assert re.search(r"^digest +[0-9a-f]{64}$", claimed, re.MULTILINE)
    (copy / files.CLAIM).unlink()
    told = orderly("status", copy).out
    assert re.search(r"^digest so far +[0-9a-f]{64}$", told, re.MULTILINE)


def test_a_known_list_is_called_by_its_name_whatever_its_file_is_called(orderly, proven, tmp_path):
    words = tmp_path / "other.txt"
    words.write_bytes((ROOT / "configs/wordlists/scowl70.txt").read_bytes())
    said = orderly.json("verify", proven, "--quick", "--wordlist", words)
    assert said["wordlist"] == "scowl70"
    assert "words of scowl70 (" in said["statement"]


def test_an_altered_score_is_a_mismatch(orderly, proven, tmp_path):
    def raised(rows):
        at = next(i for i, row in enumerate(rows) if row.candidates)
        (board, score), *rest = rows[at].candidates
        return [
            *rows[:at],
            replace(rows[at], candidates=((board, score + 1), *rest)),
            *rows[at + 1 :],
        ]

    folder = rewritten(proven, tmp_path / "raised", raised)
    answer = orderly.fails(5, "verify", folder)
    assert "class" in answer
    assert not (folder / files.CLAIM).exists()


@pytest.mark.parametrize("n", [1, 20, 55])
def test_the_odds_that_a_draw_overlooks_false_verdicts(orderly, proven, n):
    told = orderly.json("verify", proven, "--repeat", n)
    assert told["checked"].startswith(f"{n} of 55 verdicts searched again; ")
    assert told["verified"] == (n == 55)
    odds = told["odds_of_overlooking"]
    assert list(odds) == ["1", "10"], "there are not a hundred"
    assert odds["1"] == pytest.approx(1 - n / 55)
    answer = orderly("verify", proven, "--repeat", n)
    assert f"{n} draw{'s' * (n > 1)} overlook 10 false verdicts" in answer.out
    assert orderly("verify", proven, "--repeat", 56).code == 2
    assert orderly("verify", proven, "--repeat", 1, "--quick").code == 2


def test_the_odds_are_those_of_every_draw():
    for n, n_drawn, n_false in [(6, 2, 1), (7, 3, 2), (5, 5, 1), (5, 3, 3)]:
        draws = list(combinations(range(n), n_drawn))
        missed = sum(min(draw) >= n_false for draw in draws)
        assert overlooked(n, n_drawn, n_false) == pytest.approx(missed / len(draws))


def test_a_cutoff_that_was_forged_lower_is_found_out(orderly, proven, tmp_path):
    """The rows answer the question at the cutoff of the search; nobody looked for the boards below
    it.
    """
    old = open_run(proven)
    lower = replace(old.question, cutoff=CUTOFF - 3)
    rows = [
        replace(row, fingerprint=lower.digest, max_bound=min(row.max_bound, CUTOFF - 4))
        for row in old.rows()
    ]
    write_rows(tmp_path / "forged", rows, lower, old.made)
    assert "0 of 55 verdicts searched again" in orderly.done(
        "verify", tmp_path / "forged", "--quick"
    )
    answer = orderly.fails(5, "verify", tmp_path / "forged")
    assert "and is not listed in" in answer
    assert "do not believe this run" in answer
    run = open_run(tmp_path / "forged")
    with pytest.raises(MismatchError, match=r"is not found again.*do not believe this run"):
        repeat_easy(run, run_spec(run, run_wordlist(run, None)), rows, 0)


@pytest.fixture
def made(small_runs):
    """A finished run whose classes are split again and again."""
    return small_runs / "cut_up"


def ids_of(folder):
    return sorted({row.class_id for row in open_run(folder).rows()})


@pytest.mark.parametrize("seed", [0, 1])
def test_every_verdict_of_a_run_is_found_again(orderly, made, seed):
    everything = ",".join(map(str, ids_of(made)))
    answer = orderly.done("repeat", made, "--classes", everything, "--seed", seed)
    assert f"All {len(list(open_run(made).rows())):,} verdicts were found again" in answer


def test_the_draw_is_one_that_anybody_can_repeat(orderly, made):
    drawn = [
        orderly("repeat", made, "--sample", 7, "--seed", 5, "--workers", n, "--format", "json")
        for n in (1, 2)
    ]
    told = [
        [(item["class_id"], item["path"]) for item in json.loads(answer.out)["repeated"]]
        for answer in drawn
    ]
    keys = [row.key for row in open_run(made).rows() if row.status != SPLIT or row.settled]
    by_hand = sorted(
        keys, key=lambda key: hashlib.sha256(f"5 {key[0]} {key[1]}".encode()).hexdigest()
    )[:7]
    assert told[0] == told[1] == by_hand
    other = orderly("repeat", made, "--sample", 7, "--seed", 6, "--format", "csv").out
    assert other.splitlines()[0] == "class_id,path,status,difference,gave_up,seconds"
    assert len(other.splitlines()) == 8


def test_more_verdicts_than_there_are_cannot_be_drawn(made):
    run = open_run(made)
    n = sum(row.status != SPLIT or bool(row.settled) for row in run.rows())
    assert len(sampled_rows(run, n, 0)) == n
    with pytest.raises(InputError, match="cannot draw"):
        sampled_rows(run, n + 1, 0)


def test_splits_that_settled_nothing_do_not_count_as_searched_again(made):
    run = open_run(made)
    splits = [replace(row, settled=()) for row in run.rows() if row.status == SPLIT]
    assert splits
    assert check_taken(run, run_spec(run, run_wordlist(run, None)), splits, 0) == 0


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
    folder = rewritten(
        made,
        tmp_path / "altered",
        lambda rows: [replace(x, **changes) if x == row else x for x in rows],
    )
    altered = replace(row, **changes)
    answer = orderly.fails(5, "repeat", folder, "--classes", row.class_id)
    assert f"class {row.class_id} {row.path}".rstrip() in answer
    both = tmp_path / "both"
    with pytest.raises(ConflictError):
        rewritten(made, both, lambda rows: [*rows, altered])
    assert "different verdicts" in orderly.fails(3, "repeat", both, "--sample", 3)
    answer = orderly.fails(5, "repeat", both, "--classes", row.class_id)
    assert "different verdicts" in answer
    assert re.search(r"\b1 of \d+ verdicts are not", answer), "the other one is"
    others = [x for x in ids_of(made) if x != row.class_id]
    orderly.done("repeat", folder, "--classes", ",".join(map(str, others[:3])))


def test_every_false_score_is_named_and_what_no_search_makes(made):
    """Scores of boards that stand for images as well."""
    run = open_run(made)
    spec = run_spec(run, run_wordlist(run, None))
    false = []
    for row in run.rows():
        for board, score in row.candidates:
            others = [item for item in row.candidates if item[0] != board]
            wrong = (board, score + 1)
            false.append(replace(row, candidates=(wrong, *others)))
    no_part = replace(row, path="0=qz")
    for item in repeated(spec, [*false, no_part], 0, 1):
        assert item.difference


def test_a_split_that_leaves_all_to_its_parts_is_found_again(made):
    run = open_run(made)
    row = next(row for row in run.rows() if row.settled)
    left = (*row.children, *row.settled)
    split = replace(row, children=left, settled=(), candidates=())
    spec = run_spec(run, run_wordlist(run, None))
    (found,) = repeated(spec, [split], 0, 1)
    assert (found.difference, found.gave_up) == ("", "")


def test_what_cannot_be_compared_is_incomplete_and_says_so(orderly, made, tmp_path, monkeypatch):
    begun = rewritten(made, tmp_path / "begun", lambda rows: [row for row in rows if not row.path])
    split = next(row.class_id for row in open_run(begun).rows() if row.status == SPLIT)
    answer = orderly.fails(4, "repeat", begun, "--classes", split)
    assert f"class {split} is not settled" in answer
    monkeypatch.setattr(breaker, "_PATIENCE", 0)
    answer = orderly.fails(4, "repeat", made, "--sample", 3)
    assert "took too long" in answer
    rows = open_run(made).rows()
    n_all = sum(row.status != SPLIT or bool(row.settled) for row in rows)
    answer = orderly.fails(4, "verify", made, "--repeat", n_all)
    assert "verify draws others each time" in answer


def test_what_was_given_up_is_not_counted_as_searched_again(made, monkeypatch):
    run = open_run(made)
    spec = run_spec(run, run_wordlist(run, None))
    rows = [row for row in run.rows() if row.status != SPLIT or row.settled]
    assert repeat_easy(run, spec, rows, 0) == len(rows)
    monkeypatch.setattr(breaker, "_PATIENCE", 0)
    n_given_up = sum(bool(item.gave_up) for item in repeated(spec, rows, 0, 1))
    assert n_given_up > 0
    assert repeat_easy(run, spec, rows, 0) == len(rows) - n_given_up


def test_the_seed_draws_which_easy_verdicts_are_searched_again(proven):
    orders = []
    for seed in range(5):
        orders.append([row.key for row in easy_first(open_run(proven), seed)])
    assert len({tuple(order[:5]) for order in orders}) > 1
    assert len({(*sorted(order[:5]), *order[5:]) for order in orders}) == 1
