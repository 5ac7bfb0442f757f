"""The best boards known: points and words by two solvers, proofs that are there, one table."""

from __future__ import annotations

import pytest

from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import available_names, load_wordlist
from orderly_boggle.results.proof.best_known import WHOLE, best_known
from orderly_boggle.results.proof.packaged import recorded
from orderly_boggle.search import Scorer, solve
from orderly_boggle.search.question import Scored
from tests.conftest import ROOT
from tests.field.records import MOST_CELLS, SIZES

STANDARD = parse_scores("standard")
LISTS = sorted({item.wordlist for item in best_known()})


def test_every_size_of_every_list_stands_there_once():
    asked = [(item.wordlist, item.dims) for item in best_known()]
    assert asked == [(name, dims) for name in LISTS for dims in SIZES]
    assert {"enable2k", "scowl35", "scowl70", "yawl"} <= set(LISTS)


@pytest.mark.parametrize("name", LISTS)
def test_points_words_and_proofs_are_right(name):
    if name not in available_names():
        pytest.skip(f"no list {name} here")
    words = load_wordlist(name)
    for item in (item for item in best_known() if item.wordlist == name):
        board = geometry(item.dims)
        assert item.board == canonical_board(item.board, board)
        assert Scorer(item.dims, words.words, STANDARD).score(item.board) == item.points
        found = solve(item.board, words, method="words")
        assert len(found) == item.words
        assert sum(STANDARD.points[len(word)] for word in found) == item.points
        assert 0 <= item.found <= item.runs
        proofs = dict(recorded(Scored(item.dims, words.sha256, STANDARD.points)))
        if proofs or board.n <= MOST_CELLS:
            assert item.proof, item
        if item.proof and item.proof != WHOLE:
            listed = proofs[item.proof].listed
            assert (item.board, item.points) in [tuple(each[:2]) for each in listed.boards]
            assert item.points == listed.best_score


def test_the_page_says_what_the_file_says():
    text = (ROOT / "docs" / "records.md").read_text()
    for item in best_known():
        row = (
            f"| {item.dims} | {item.wordlist} | `{item.board}` | {item.points:,} | {item.words:,} |"
        )
        assert row in text
    rows = [line for line in text.splitlines() if line.startswith("| ") and "x" in line[:5]]
    assert len(rows) == len(best_known())
