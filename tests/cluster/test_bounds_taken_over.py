"""A lower cutoff rests on bounds of another run: a sample is searched again, and the claim says
whose word the rest is.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from orderly_boggle.boardclass.errors import MismatchError
from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.results.proof.claim import unscored_boards
from orderly_boggle.results.proof.nodes import run_spec
from orderly_boggle.results.proof.repeat import climb_again
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.words import run_wordlist
from orderly_boggle.search.breaker import Breaker
from tests.cluster.small import config, rewritten
from tests.cluster.whole_run import seal_claim

TOOK_OVER = "that this run took over from one at cutoff 14"
ONCE_SAID = "that a run at cutoff 14 gave and nobody computed again"
CONDITION = re.compile(rf", if (\d+) bounds are right {TOOK_OVER}")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A run at a higher cutoff than those that take its verdicts over."""
    folder = tmp_path_factory.mktemp("source") / "run"
    assert run(config(folder, cutoff=14)).complete
    return folder


def extended(orderly, source, folder, cutoff=12):
    names = ("--dims", "2x2", "--buckets", config(folder).buckets, "--workers", 0)
    return orderly("run", *names, "--cutoff", cutoff, "--out", folder, "--extend", source)


def test_a_record_is_taken_over_by_its_name(orderly, tmp_path):
    where = ("--workers", 0, "--out", tmp_path / "run", "--extend", "3x3-scowl70")
    assert "reused 26 of 26" in orderly("run", "3x3", "--cutoff", 430, *where).err


def test_a_claim_that_rests_on_bounds_says_so(orderly, source, small_runs, tmp_path):
    lower = tmp_path / "lower"
    answer = extended(orderly, source, lower)
    assert answer.code == 0, answer.err
    told = re.search(r"reused (\d+) of 55 verdicts.*, (\d+) of them searched again", answer.err)
    assert told
    n_taken, n_repeated = map(int, told.groups())
    assert 0 < n_repeated == n_taken < 55
    assert "searched again first; the claim rests on their bounds and says so" in answer.err
    status = orderly.json("status", lower)
    condition = CONDITION.search(status["statement"])
    assert condition
    assert int(condition[1]) == n_taken
    assert status["notes"] == []
    seal_claim(lower, lower, statement=status["statement"].replace(TOOK_OVER, ONCE_SAID))
    assert orderly.json("status", lower)["notes"] == [], "as version 0.1.0 wrote it"
    seal_claim(lower, lower, statement=status["statement"].replace(TOOK_OVER, "that are right"))
    assert "not what the rows give" in str(orderly.json("status", lower)["notes"])
    seal_claim(lower, lower, statement=status["statement"])
    verified = orderly.json("verify", lower)
    assert verified["statement"] == status["statement"]
    page = tmp_path / "lower.html"
    orderly.done("report", lower, "--out", page)
    best, *_, last = re.findall(r"(?:beats it|Number \d+ of)[^.<]*", page.read_text())
    assert CONDITION.search(best)
    assert CONDITION.search(last)
    direct = orderly.json("status", small_runs / "whole")
    assert not CONDITION.search(direct["statement"])
    assert status["digest"] == direct["digest"]
    higher = tmp_path / "higher"
    assert extended(orderly, lower, higher, 13).code == 0
    again = CONDITION.search(orderly.json("verify", higher)["statement"])
    assert again, "the first run had looked at 14 and more only"
    assert int(again[1]) == n_taken
    derived = tmp_path / "derived"
    assert orderly("derive", lower, "--cutoff", 13, "--out", derived).code == 0
    rests_on = CONDITION.search(orderly.json("status", derived)["statement"])
    assert rests_on, "a derived claim rests on the same bounds"
    assert int(rests_on[1]) == n_taken
    orderly.done("derive", lower, "--cutoff", 14, "--out", tmp_path / "no-bounds")
    assert "took over" not in orderly.json("status", tmp_path / "no-bounds")["statement"]
    highest = tmp_path / "highest"
    assert extended(orderly, lower, highest, 14).code == 0
    assert "took over" not in orderly("verify", highest).out


def test_a_directory_that_was_begun_gets_no_rows_that_keep_less_than_it_promises(
    orderly, source, tmp_path
):
    """Its run.json says what the bounds of its rows cover; an older run did not record that."""
    old = rewritten(source, tmp_path / "old", list, covers="")
    orderly.done("verify", old, "--quick", "--write")
    begun = rewritten(source, tmp_path / "begun", lambda rows: rows[:3])
    before = list(open_run(begun).rows())
    for answer in (
        extended(orderly, old, begun, 14),
        orderly("derive", old, "--out", begun),
    ):
        assert (answer.code, answer.out) == (3, "")
        assert "promises that max_bound covers all that was discarded" in answer.err
        assert "another --out" in answer.err
        assert list(open_run(begun).rows()) == before
    assert extended(orderly, old, tmp_path / "new", 14).code == 0
    assert open_run(tmp_path / "new").made.covers == ""


def test_false_bounds_are_not_taken_over(orderly, source, tmp_path):
    def lie(rows):
        return [replace(row, max_bound=1) for row in rows]

    forged = rewritten(source, tmp_path / "forged", lie)
    answer = extended(orderly, forged, tmp_path / "lower")
    assert (answer.code, answer.out) == (5, "")
    assert "is not found again" in answer.err
    assert list(open_run(tmp_path / "lower").rows()) == []


def test_a_run_that_rests_on_bounds_claims_nothing_that_a_climb_refutes(small_runs, tmp_path):
    def lie(rows):
        changes = {
            "status": "eliminated",
            "candidates": (),
            "counters": {"n_survivors": 1},
            "message": "decided at cutoff 14",
        }
        return [replace(row, **changes) if row.candidates else row for row in rows]

    folder = rewritten(small_runs / "whole", tmp_path / "run", lie)
    with pytest.raises(MismatchError, match="is not listed in"):
        run(config(folder))


def test_the_climb_before_the_claim_finds_a_board_that_is_not_listed(small_runs):
    run = open_run(small_runs / "whole")
    scorer = Breaker(run_spec(run, run_wordlist(run, None))).scorer
    listed = unscored_boards(run)
    assert climb_again(run, scorer, listed, 1)[1] == listed.boards[0].score
    with pytest.raises(MismatchError, match="is not listed in"):
        climb_again(run, scorer, replace(listed, boards=listed.boards[1:]), 1)
