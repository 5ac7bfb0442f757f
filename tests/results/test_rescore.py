"""The exact pass: scores checked twice, symmetric boards merged, the list stored and read back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from boardclass.errors import MismatchError
from boardclass.geometry import geometry
from results.errors import DamagedError
from results.proof import claim as module
from results.proof.claim import Board, Question, read_claim, rescore
from results.proof.prove import boards, summary, top
from results.proof.verify import verify
from results.storage import files
from results.store.run import open_run
from results.store.store import Store
from tests.results.damage import make_run, verified
from tests.results.helpers import ToyScorer, all_rows, fingerprint, row, toy_score


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
    listed = rescore(store.snapshot(), ToyScorer())
    assert list(listed.boards) == expected()
    assert (listed.n_candidates, listed.n_canonical) == (3, len(expected()))
    assert listed.n_raw == sum(board.n_images for board in expected())
    assert boards(tmp_path) == expected()
    assert top(tmp_path, 1) == expected()[:1]
    assert top(tmp_path, 0) == []
    assert summary(tmp_path).rescored


def test_before_rescoring_the_boards_found_so_far_are_shown(store, tmp_path):
    store.flush()
    assert boards(tmp_path) == expected()
    assert not summary(tmp_path).rescored
    rescore(store.snapshot(), ToyScorer())
    store.append([row(9, path="0=a")])
    store.flush()
    assert not summary(tmp_path).rescored, "rows came after the list"


def test_a_wrong_stored_score_is_a_mismatch(tmp_path):
    rows = all_rows()
    bad = replace(rows[-1], candidates=(("xyzw", 95),))
    with Store.open(tmp_path, fingerprint()) as store:
        store.append([*rows[:-1], bad])
        with pytest.raises(MismatchError, match=rf"class {bad.class_id}.*xyzw scores 95, it scores 94") as caught:
            rescore(store.snapshot(), ToyScorer())
    assert caught.value.exit_code == 5
    assert not (tmp_path / files.RESCORED_MANIFEST).exists()


def test_a_scorer_that_is_not_symmetric_is_a_mismatch(store):
    class Lopsided:
        def scores(self, some: list[str]) -> np.ndarray:
            return np.array([toy_score(board) + (board == expected()[0].board) for board in some])

    with pytest.raises(MismatchError, match="symmetric image"):
        rescore(store.snapshot(), Lopsided())


def test_batches_do_not_matter(store, monkeypatch):
    whole = rescore(store.snapshot(), ToyScorer())
    monkeypatch.setattr(module, "_BATCH", 1)
    assert rescore(store.snapshot(), ToyScorer()) == whole


@pytest.mark.parametrize(
    "wrong",
    [
        Board("xyzw", 94, 8),
        Board("abcd", 79, 8),
        Board(expected()[0].board, 94, 4),
        Board("wxyzz", 94, 8),
        Board("WXYZ", 94, 8),
        Board("aaaa", 100, 1),
    ],
)
def test_a_hostile_list_is_not_believed(store, tmp_path, wrong):
    run = store.snapshot()
    good = rescore(store.snapshot(), ToyScorer())
    module.write_rescored(run, replace(good, boards=(*good.boards, wrong)))
    found = summary(tmp_path)
    assert not found.proven
    assert found.listed == good
    assert any(files.RESCORED_MANIFEST in note for note in found.notes)


def test_a_list_of_another_run_is_refused(store, tmp_path):
    rescore(store.snapshot(), ToyScorer())
    other = tmp_path / "other"
    with Store.open(other, fingerprint(cutoff=81)) as another:
        rescore(another.snapshot(), ToyScorer())
    for name in (files.RESCORED_MANIFEST,):
        (tmp_path / name).write_bytes((other / name).read_bytes())
    with pytest.raises(DamagedError, match="another run"):
        summary(open_run(tmp_path))


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
    assert verified(location)
