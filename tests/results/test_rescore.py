"""The exact pass and the claim: scores checked twice, symmetric boards merged, one sentence only with coverage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from boardclass.errors import IncompleteError, MismatchError
from boardclass.geometry import geometry
from results.errors import DamagedError
from results.proof.claim import (
    COMPLETE,
    Board,
    BoardList,
    Claim,
    Question,
    digest_of,
    read_claim,
    scored_again,
    statement_of,
)
from results.proof.prove import boards, summary, top
from results.proof.verify import verify
from results.storage import files
from results.store.run import open_run
from results.store.store import Store
from tests.results.helpers import ToyScorer, all_rows, claimed, fingerprint, make_run, toy_score


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path, fingerprint()) as opened:
        opened.append(all_rows())
        yield opened


def expected() -> list[Board]:
    """Canonical images by hand from the symmetries, for the boards in the rows."""
    shape = geometry("2x2")
    found = set()
    for board in ("xyzw", "wzyx", "tvzy"):
        images = {"".join(board[cell] for cell in symmetry) for symmetry in shape.symmetries.tolist()}
        found.add(Board(min(images), toy_score(board), len(images)))
    return sorted(found, key=lambda item: (-item.score, item.board))


def test_symmetric_candidates_are_one_board(store, tmp_path):
    listed = scored_again(store.snapshot(), ToyScorer())
    assert list(listed.boards) == expected()
    assert (listed.n_candidates, listed.n_canonical) == (3, len(expected()))
    assert listed.n_raw == sum(board.n_images for board in expected())
    assert boards(tmp_path) == expected()
    assert top(tmp_path, 1) == expected()[:1]
    assert top(tmp_path, 0) == []


class Lopsided(ToyScorer):
    """Disagrees with itself about the images of a board."""

    def scores(self, boards):
        return super().scores(boards) + np.array([board == expected()[0].board for board in boards])


def test_a_wrong_stored_score_and_a_scorer_that_is_not_symmetric_are_mismatches(store, tmp_path):
    with pytest.raises(MismatchError, match="symmetric image"):
        scored_again(store.snapshot(), Lopsided())
    bad = replace(all_rows()[-1], candidates=(("xyzw", 95),))
    with Store.open(tmp_path / "bad", fingerprint()) as other:
        other.append([*all_rows()[:-1], bad])
        with pytest.raises(MismatchError, match=rf"class {bad.class_id}.*xyzw scores 95, it scores 94"):
            scored_again(other.snapshot(), ToyScorer())


class OneMore(ToyScorer):
    """Disagrees about every board."""

    def scores(self, boards):
        return super().scores(boards) + 1


@pytest.mark.parametrize("doubter", ["production scorer", "independent scorer"])
def test_each_of_the_two_scorers_is_listened_to(tmp_path, doubter):
    location = make_run(tmp_path / "run")
    before = read_claim(open_run(location))
    scorers = {"production scorer": ToyScorer(), "independent scorer": ToyScorer(), doubter: OneMore()}
    with pytest.raises(MismatchError, match="class"):
        verify(open_run(location), *scorers.values(), Question("toy", 1, "custom"))
    assert read_claim(open_run(location)) == before, "nothing is claimed anew"
    assert verify(open_run(location), ToyScorer(), ToyScorer(), Question("toy", 1, "custom")).claim


def claim_of(location, rows) -> Claim:
    with Store.open(location, fingerprint()) as store:
        store.append(rows)
        return claimed(store)


def test_the_sentence_and_the_file(tmp_path):
    claim = claim_of(tmp_path, all_rows())
    assert claim.strength == COMPLETE
    assert claim.statement.startswith("Of all 456,976 2x2 boards")
    for text in ("12 words of toy", "custom points", "80 or more", "highest score is 94"):
        assert text in claim.statement
    assert (claim.best_score, claim.n_canonical, claim.n_raw, claim.n_candidates) == (94, 2, 16, 3)
    assert read_claim(open_run(tmp_path)) == claim
    found = summary(tmp_path)
    assert (found.proven, found.notes, found.result_digest) == (True, (), claim.result_digest)
    assert found.n_rows == {"eliminated": 5, "candidates": 1, "split": 0, "error": 0, "quarantined": 0}
    claim_of(tmp_path / "other", [replace(r, host="other", seconds=3.0) for r in reversed(all_rows())])
    assert (tmp_path / "other" / files.CLAIM).read_bytes() == (tmp_path / files.CLAIM).read_bytes()
    Store.open(tmp_path / "b", fingerprint(cutoff=81)).close()
    (tmp_path / "b" / files.CLAIM).write_bytes((tmp_path / files.CLAIM).read_bytes())
    with pytest.raises(DamagedError, match="another run"):
        read_claim(open_run(tmp_path / "b"))


def test_no_claim_without_coverage(tmp_path):
    with pytest.raises(IncompleteError, match="proves nothing yet"):
        claim_of(tmp_path, all_rows()[1:])
    assert not (tmp_path / files.CLAIM).exists()
    assert not summary(tmp_path).proven
    listed = scored_again(open_run(tmp_path), ToyScorer())
    assert summary(tmp_path).result_digest == digest_of(fingerprint(), listed, complete=False)


def test_the_digest_depends_on_the_answer_alone():
    def digest(boards, complete=True, **changes):
        listed = BoardList(tuple(Board(board, score, 8) for board, score in boards), 0)
        return digest_of(fingerprint(**changes), listed, complete=complete)

    two = [("wxyz", 94), ("tvyz", 89)]
    base = digest(two)
    assert digest(two[::-1], partition="other", cell_order=(0, 1, 2, 3)) == base
    changes = ({"cutoff": 79}, {"dims": "2x3"}, {"wordlist_sha256": "1" * 64}, {"scores": (0, 0, 0, 1)})
    different = [
        *(digest(two, complete=False), digest(two[:1]), digest([("wxyz", 95), two[1]])),
        *(digest(two, **change) for change in changes),
    ]
    assert len({base, *different}) == 1 + len(different)


ONE, TWO = Board("wxyz", 94, 8), Board("wyxz", 94, 8)
SENTENCES = [
    ([], {}, "none scores 80 or more."),
    ([ONE], {}, "exactly 1 up to symmetry (8 counting every rotation and reflection) scores 80"),
    ([ONE, TWO], {}, "94, reached by wxyz and wyxz."),
    ([Board(f"aaa{c}", 94, 4) for c in "bcdefgh"], {}, "aaab, aaac, aaad, aaae, aaaf and 2 more."),
    ([], {"left_out": None}, "words of toy (SHA-256 0000000000000000) and"),  # an older run
    ([], {"left_out": {"too short": 0}}, "(SHA-256 0000000000000000; 0 lines left out) and"),
    (
        [],
        {"left_out": {"too short": 2, "duplicate": 0, "q without u": 1}},
        "; 3 lines left out: 2 too short, 1 q without u) and",
    ),
    (
        [],
        {"left_out": {"duplicate": 1}, "stands_for": {"w": "\u00f1"}},
        "0000; w stands for \u00f1; 1 line left out: 1 duplicate) and",
    ),
]


@pytest.mark.parametrize(("boards", "asked", "text"), SENTENCES)
def test_the_sentence_says_what_there_is_and_with_which_words(boards, asked, text):
    listed = BoardList(tuple(boards), len(boards))
    assert text in statement_of(fingerprint(), listed, Question("toy", 12, "custom", *asked.values()))
