"""The independent solvers: pinned numbers, special tiles by brute force, agreement with the scorer
and each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st

from orderly_boggle.boardclass.errors import BoardError, InputError, WordListError, quote
from orderly_boggle.boardclass.geometry import parse_dims
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.cluster.boards.solver import Rules
from orderly_boggle.cluster.boards.tiles import Tile, Tiles
from orderly_boggle.search.scoring.scorer import Scorer, score
from orderly_boggle.search.solvers import (
    METHODS,
    Grid,
    HeapSolver,
    PathsSolver,
    TrieSolver,
    WordsSolver,
    make_solver,
    solve,
    texts_of_paths,
)
from tests.samples import daily
from tests.search.test_tiles import by_definition

WORDS = ("bee", "beef", "fee", "ebe", "quit", "noon", "tat", "tattat")


@pytest.mark.parametrize(
    ("dims", "n_paths"), [((3, 3), 10_305), ((3, 4), 193_924), ((4, 2), 2_904), ((2, 4), 2_904)]
)
def test_paths_looks_up_every_simple_path_of_the_king_graph(dims, n_paths):
    assert sum(1 for _ in texts_of_paths(Grid("x" * (dims[0] * dims[1]), dims))) == n_paths


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dims", "n_paths"),
    daily([((5, 3), 3_244_045)], [((4, 4), 12_029_640)]),
)
def test_paths_finds_the_large_numbers_too(dims, n_paths):
    assert sum(1 for _ in texts_of_paths(Grid("x" * (dims[0] * dims[1]), dims))) == n_paths


@pytest.mark.parametrize("method", METHODS)
def test_the_pinned_board(method):
    assert solve("ebeefe", WORDS, method=method) == ["bee", "beef", "ebe", "fee"]
    assert solve("qx/it", WORDS, method=method) == ["quit"]
    assert solve("aaaa", (), method=method) == []


@given(
    st.sampled_from([(2, 2), (2, 3), (3, 2), (1, 4)]),
    st.lists(st.sampled_from("abeq"), min_size=6, max_size=6),
    st.sets(st.text("abeq", min_size=3, max_size=5), max_size=12),
    st.sets(st.integers(0, 3), max_size=3),
    st.sets(st.integers(0, 3), max_size=3),
)
def test_special_tiles_by_definition(size, letters, words, begin_only, end_only):
    board = "".join(letters[: size[0] * size[1]])
    spelled = {word.replace("q", "qu") for word in words}
    tiles = [
        Tile((x.replace("q", "qu"),), cell in begin_only, cell in end_only)
        for cell, x in enumerate(board)
    ]
    expected = sorted(by_definition(Tiles(*size, tuple(tiles)), spelled, Rules()))
    for method in METHODS:
        grid = Grid(board, size, begin_only, end_only)
        found = make_solver(words, method).solve(grid)
        assert sorted(word.replace("q", "qu") for word in found) == expected, method


@pytest.mark.parametrize(
    ("board", "options", "error"),
    [
        ("abc", {}, BoardError),
        ("ab1d", {}, BoardError),
        ("abcd", {"method": "magic"}, InputError),
        ("a" * 25, {"method": "paths"}, InputError),
    ],
)
def test_bad_input_is_named(board, options, error):
    with pytest.raises(error):
        solve(board, WORDS, **options)


@pytest.mark.parametrize(
    "words", [["qit"], ["Quit"], ["caf\u00e9"], [3], ["cat", ""], [b"cat"], "no-such-list"]
)
def test_what_is_no_word_is_refused(words):
    for ask in (solve, score):
        with pytest.raises(
            WordListError, match=re.escape(quote(words if isinstance(words, str) else words[-1]))
        ):
            ask("berlatdes", words)
    for board in (None, 7, ["berlatdes"]):
        with pytest.raises(BoardError):
            ask(board, ["cat"])


def test_words_are_taken_by_name_by_path_and_as_people_write_them(tmp_path):
    (tmp_path / "mine.txt").write_text("quite\ntie\n")
    for words in (
        str(tmp_path / "mine.txt"),
        tmp_path / "mine.txt",
        ["quite", "tie"],
        load_wordlist(tmp_path / "mine.txt"),
    ):
        assert solve("Qu i/t e", words) == ["quite", "tie"]
        assert score("Qu i/t e", words) == score("qtie", words) == 3
    assert score("bld eae rts", "scowl70") == 430


SIZES = ("2x2", "2x3", "3x3", "3x4", "4x4")
SHARES = (0.1, 0.1, 0.4, 0.2, 0.2)
# paths looks at 12 million of 4x4
PATHS_EVERY = {"2x2": 1, "2x3": 1, "3x3": 4, "3x4": 100, "4x4": 4000}
COMMON = "eeeeaaariinnoossttlldrcpmhgubqu"  # boards with words on them, and a q now and then


def path_of(n: int, moves: Sequence[Sequence[int]], rng: np.random.Generator) -> list[int]:
    """Return a random path of ``n`` cells, drawn again when it runs into a corner."""
    path: list[int] = []
    while len(path) < n:
        free = [cell for cell in moves[path[-1]] if cell not in path] if path else range(len(moves))
        # Few ways on first: such a path seldom gets stuck, even when it has to visit every cell.
        ways = [
            rng.random() + bool(path) * sum(other not in path for other in moves[cell])
            for cell in free
        ]
        path = [*path, free[int(np.argmin(ways))]] if ways else []
    return path


def boards(
    n: int, size: str, words: Sequence[str], rng: np.random.Generator
) -> Iterator[tuple[str, str]]:
    """Yield (kind, board): uniform letters, common letters, with a q, and with a planted word as
    long as can be.
    """
    cells = parse_dims(size).n
    moves = Grid("a" * cells, tuple(parse_dims(size))).moves
    lengths = [
        length for length in range(cells, 2, -1) if any(len(word) == length for word in words)
    ]
    longest = [word for word in words if len(word) in lengths[:1]]
    for i in range(n):
        kind = ("uniform", "common", "q", "planted")[i % 4]
        letters = rng.choice(
            list("abcdefghijklmnopqrstuvwxyz" if kind == "uniform" else COMMON), cells
        )
        if kind == "q":
            letters[int(rng.integers(cells))] = "q"
        if kind == "planted":
            word = longest[int(rng.integers(len(longest)))]
            letters[path_of(len(word), moves, rng)] = list(word)
        yield kind, "".join(letters)


def referee(n_boards: int, wordlist: str, seed: int) -> tuple[Counter[str], list[str]]:
    """Return how many boards each solver looked at, and a line for each disagreement."""
    words = load_wordlist(wordlist).words
    table = parse_scores("standard")
    solvers = {"trie": TrieSolver(words), "words": WordsSolver(words), "heap": HeapSolver(words)}
    paths = PathsSolver(words)
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    faults: list[str] = []
    for size, share in zip(SIZES, SHARES, strict=True):
        listed = list(boards(round(n_boards * share), size, words, rng))
        scorer = Scorer(size, words, table)
        scores = scorer.scores([board for _, board in listed])
        dims = tuple(parse_dims(size))
        for i, ((kind, board), exact) in enumerate(zip(listed, scores.tolist(), strict=True)):
            grid = Grid(board, dims)
            found = {name: solver.solve(grid) for name, solver in solvers.items()}
            if i % PATHS_EVERY[size] == 0 and (size != "4x4" or n_boards >= 1000):
                found["paths"] = paths.solve(grid)
                counts[f"paths_{size}"] += 1
            found["scorer_words"] = [item.word for item in scorer.words(board)]
            for name, solved in found.items():
                counts[name] += 1
                if solved != found["trie"] or sum(map(table.of, solved)) != exact:
                    faults.append(f"{size} {board} ({kind}): {name} disagrees")
            counts[f"boards_{size}"] += 1
            counts[f"boards_{kind}"] += 1
            counts["boards_with_a_word_of_16_cells"] += any(
                len(word) == 16 for word in found["trie"]
            )
            counts["boards_with_a_word_with_q"] += any("q" in word for word in found["trie"])
    return counts, faults


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("n", daily([60], [100_000]))
def test_boards_agree_with_the_scorer(enable2k, n):
    counts, faults = referee(n, "enable2k", seed=20)
    assert not faults
    assert counts["trie"] == counts["words"] == counts["heap"] == counts["scorer_words"] == n
    assert counts["paths"] > 0.3 * n
    assert bool(counts["paths_4x4"]) == (n > 60)
    assert counts["boards_with_a_word_of_16_cells"] >= 0.05 * n
    assert counts["boards_with_a_word_with_q"] > 0.05 * n
