"""Paths through all cells, and the best boards with a word that uses every cell."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from boardclass.geometry import geometry
from boardclass.scores import parse_scores
from search.local.hamilton import best_boards, hamiltonian_paths, sampled_paths
from search.scoring.scorer import Scorer

STANDARD = parse_scores("standard")


def all_paths(shape):
    return {
        path
        for path in itertools.permutations(range(shape.n))
        if all(b in shape.neighbours[a] for a, b in itertools.pairwise(path))
    }


@pytest.mark.parametrize("dims", ["2x2", "2x3", "3x3"])
def test_one_path_of_each_set_of_images(dims):
    shape = geometry(dims)
    rows = shape.symmetries.tolist()
    expected = {min(tuple(row[cell] for cell in path) for row in rows) for path in all_paths(shape)}
    found = [tuple(path) for path in hamiltonian_paths(shape).tolist()]
    assert len(found) == len(set(found))
    assert set(found) == expected


@pytest.mark.parametrize("dims", ["2x3", "4x4", "5x5"])
def test_sampled_paths_are_paths(dims):
    shape = geometry(dims)
    for path in sampled_paths(shape, 50, seed=3).tolist():
        assert sorted(path) == list(range(shape.n))
        assert all(b in shape.neighbours[a] for a, b in itertools.pairwise(path))
    assert (sampled_paths(shape, 5, seed=1) == sampled_paths(shape, 5, seed=1)).all()


def test_the_best_board_of_a_word_is_the_best_of_all():
    words = ["abcdef", "abc", "ace", "bdf", "fed", "feb", "qbcdea"]
    scorer = Scorer("2x3", words, STANDARD)
    shape = geometry("2x3")
    found = {item.word: item for item in best_boards(["abcdef", "qbcdea"], hamiltonian_paths(shape), scorer)}
    for word, item in found.items():
        boards = []
        for path in all_paths(shape):
            cells = [""] * 6
            for cell, letter in zip(path, word, strict=True):
                cells[cell] = letter
            boards.append("".join(cells))
        assert item.score == scorer.scores(boards).max() == scorer.score(item.board)


@pytest.mark.slow
def test_4x4_has_as_many_paths_as_published():
    paths = hamiltonian_paths(geometry("4x4"))
    assert len(paths) * 8 == 343184
    assert len(np.unique(paths, axis=0)) == len(paths)
