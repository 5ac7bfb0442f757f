"""What a run that comes with the program knows of another one with the same question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orderly_boggle import results
from orderly_boggle.boardclass.canonical import images
from orderly_boggle.boardclass.errors import IncompleteError, MismatchError
from orderly_boggle.boardclass.partition import parse_partition
from orderly_boggle.boardclass.wordlist import sources
from orderly_boggle.results.proof.claim import digest_of, make_claim, publish_claim, unscored_boards
from orderly_boggle.results.proof.known import confirming, objection_of, rank_of
from orderly_boggle.results.proof.prove import Proof, prove, summary
from orderly_boggle.results.proof.summary import ListedBoard, Wording, proven_word
from orderly_boggle.results.storage.files import PUBLISHED
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.upkeep.extend import reusable, sound_verdicts
from orderly_boggle.search.question import Scored
from tests.results.helpers import POINTS, all_rows, make_run, toy_question, write_rows

TOY = Wording("toy", 12, POINTS)


def other_with(found, *more, lost=0):
    """Return what another run proves: the boards of one, without the best ``lost``, with more."""
    boards = (*more, *found.listed.boards[lost:])
    return replace(found, listed=replace(found.listed, boards=boards))


def test_two_runs_of_one_question_list_the_same_boards(tmp_path):
    location = make_run(tmp_path / "run")
    run, found = open_run(location), summary(location)
    listed = found.listed
    best = listed.boards[0]

    def objection(other):
        return objection_of(run, listed, other)

    assert objection(found) == ""
    missing = other_with(found, ListedBoard("zzzz", 80, 1))
    assert objection(missing).startswith("lists zzzz, which scores 80 and so reaches the cutoff 80")
    assert objection(other_with(found, ListedBoard("zzzz", 79, 1))) == "", "below the cutoff"
    fewer = other_with(found, lost=1)
    assert objection(fewer).startswith(f"does not list {best.board}")
    assert objection(replace(fewer, proven=False)) == "", "it may be found there yet"
    scored = other_with(found, best._replace(score=best.score + 1), lost=1)
    assert objection(scored).startswith(f"has {best.score + 1} points for {best.board}, its rows")
    higher = replace(fewer, question=toy_question(cutoff=best.score + 1))
    assert objection(higher) == "", "it says nothing of boards below its own cutoff"


def test_a_board_of_a_class_without_a_verdict_may_be_found_yet(tmp_path):
    """And one of a class that is settled may not."""
    rows = all_rows()
    at = next(i for i, row in enumerate(rows) if row.candidates)
    class_id = rows[at].class_id
    whole = make_run(tmp_path / "whole")
    found = summary(whole)
    board, score = next(
        (item.board, item.score) for item in found.listed.boards if lies_in(item.board, class_id)
    )
    others = [row for row in rows if row.class_id != class_id]
    write_rows(tmp_path / "open", others)
    run = open_run(tmp_path / "open")
    assert objection_of(run, unscored_boards(run), found) == ""
    without = [
        replace(row, status="eliminated", candidates=(), counters={"n_survivors": 1})
        if row.candidates
        else row
        for row in rows
    ]
    settled = [row for row in without if row.class_id == class_id]
    write_rows(tmp_path / "settled", settled)
    run = open_run(tmp_path / "settled")
    assert f"lists {board}, which scores {score}" in objection_of(run, unscored_boards(run), found)


def lies_in(board, class_id):
    partition = open_partition()
    return class_id in {
        rank_of(partition, "".join(image)) for image in images(board, partition.geometry)
    }


def open_partition():
    return parse_partition(toy_question().buckets, "2x2")


def test_the_class_of_a_board_is_that_whose_letters_it_has():
    partition = open_partition()
    for rank in range(partition.n_classes):
        letters = partition.class_letters(rank)
        assert rank_of(partition, "".join(group[0] for group in letters)) == rank
        assert rank_of(partition, "".join(group[-1] for group in letters)) == rank


def test_published_runs_are_told_apart_by_size_list_and_points():
    """Two of them differ in the points only."""
    sha256 = sources()["enable2k"].sha256
    usual = open_run(PUBLISHED / "4x4-enable2k").question.points
    words = open_run(PUBLISHED / "4x4-enable2k-words").question.points
    for points, name in ((usual, "4x4-enable2k"), (words, "4x4-enable2k-words")):
        same = results.published(Scored("4x4", sha256, points))
        assert [place.name for place, _ in same] == [name]
        run = open_run(PUBLISHED / name)
        assert summary(run).proven, "the other one would refute it"
        assert confirming(run, unscored_boards(run)) == [], "nobody is his own witness"
    assert list(results.published(Scored("4x4", sources()["yawl"].sha256, usual))) == []


def test_only_the_checks_make_a_proof_and_without_one_there_is_no_claim(tmp_path):
    run = open_run(make_run(tmp_path / "run"))
    proof = prove(run, thorough=True)
    with pytest.raises(TypeError, match="which checks a run"):
        Proof(run, proof.listed, proof.coverage, (), (), "", object())
    with pytest.raises(ValueError, match="key"):
        replace(proof, missing=())
    write_rows(tmp_path / "part", all_rows()[:2])
    part = prove(open_run(tmp_path / "part"), thorough=True)
    claim = make_claim(proof, TOY)
    for call in (lambda: make_claim(part, TOY), lambda: publish_claim(part, claim)):
        with pytest.raises(IncompleteError, match="proves nothing yet"):
            call()
    with pytest.raises(ValueError, match="do not prove"):
        publish_claim(proof, replace(claim, result_digest="0" * 64))
    assert proven_word(proof) == "Proven."
    assert proven_word(part) == "Not proven yet."


def test_a_refuted_run_makes_no_claim(tmp_path):
    """With a claim file that fits its rows, as a forger writes it."""
    old = open_run(PUBLISHED / "3x3-scowl70")
    rows = [
        replace(row, candidates=(), status="eliminated", counters={"n_survivors": 1})
        if row.candidates
        else row
        for row in old.rows()
    ]
    write_rows(tmp_path / "run", rows, old.question, old.made)
    run = open_run(tmp_path / "run")
    proof = prove(run, thorough=True)
    claim = replace(
        make_claim(prove(old, thorough=True), TOY),
        result_digest=digest_of(run.question, proof.listed, complete=True),
    )
    for call in (lambda: make_claim(proof, TOY), lambda: publish_claim(proof, claim)):
        with pytest.raises(MismatchError, match="refuted by a run that comes with the program"):
            call()
    assert proven_word(proof) == "Not proven."
    for taken in (sound_verdicts(run), reusable(run, 380), reusable(run, 420)):
        with pytest.raises(MismatchError, match="nothing is taken over from it"):
            next(taken)
