"""The solver of any tiles against all paths of a board, against the fast scorer, and against values
from elsewhere.
"""

from __future__ import annotations

import itertools
import random

import pytest

from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.cluster.boards.solver import (
    SCRABBLE,
    Rules,
    parse_bonus,
    parse_values,
    solve_tiles,
)
from orderly_boggle.cluster.boards.tiles import Tile, Tiles, read_tiles
from orderly_boggle.search.scoring.scorer import Scorer
from tests.samples import daily

STANDARD = parse_scores("standard")


@pytest.fixture(scope="module")
def spelled():
    return load_wordlist("scowl70", plain_q=True).words


def by_definition(board, words, rules):
    """Return the best points of each word over all simple paths and all that their tiles may
    spell.
    """
    best = {}

    def touch(a, b):
        return max(abs(a // board.h - b // board.h), abs(a % board.h - b % board.h)) == 1

    for length in range(1, len(board.tiles) + 1):
        for path in itertools.permutations(range(len(board.tiles)), length):
            tiles = [board.tiles[cell] for cell in path]
            if not all(map(touch, path, path[1:])):
                continue
            if any(tile.begins for tile in tiles[1:]) or any(tile.ends for tile in tiles[:-1]):
                continue
            bonus = [rules.bonus.get(cell) for cell in path]
            for letters in itertools.product(*(tile.spellings for tile in tiles)):
                word = "".join(letters)
                if word not in words:
                    continue
                points = (
                    rules.table.points[len(word)] * 2 ** bonus.count("dw") * 3 ** bonus.count("tw")
                )
                if rules.values is not None:
                    points *= sum(
                        {"dl": 2, "tl": 3}.get(kind, 1) * rules.values.get(letter, 0)
                        for kind, part in zip(bonus, letters, strict=True)
                        for letter in part
                    )
                if points:
                    best[word] = max(best.get(word, 0), points)
    return best


def random_board(rng):
    w, h = rng.choice([(1, 1), (1, 4), (4, 1), (2, 2), (3, 2), (2, 3), (1, 6)])
    kinds = [
        lambda: Tile((rng.choice("abeqt"),)),
        lambda: Tile(("qu",)),
        lambda: Tile((rng.choice(["th", "in", "ab"]),)),
        lambda: Tile(()),
        lambda: Tile(tuple(rng.sample("abet", 2))),
        lambda: Tile((rng.choice(["a", "be"]),), begins=True),
        lambda: Tile((rng.choice(["a", "ta"]),), ends=True),
        lambda: Tile(tuple("abcdefghijklmnopqrstuvwxyz")),
    ]
    tiles = [rng.choices(kinds, [8, 1, 1, 1, 1, 1, 1, 0.5])[0]() for _ in range(w * h)]
    if sum(len(tile.spellings) == 26 for tile in tiles) > 1:
        tiles = [tile if len(tile.spellings) < 26 else kinds[0]() for tile in tiles]
    return Tiles(w, h, tuple(tiles))


@pytest.mark.parametrize("seed", daily(range(10), range(40)))
def test_any_board_under_any_rules_by_definition(seed):
    rng = random.Random(seed)
    for _ in range(100):
        board = random_board(rng)
        words = sorted(
            {"".join(rng.choices("abetqu", k=rng.randint(3, 6))) for _ in range(400)}
            | {"thin", "quit", "bet"}
        )
        n = board.w * board.h
        rules = Rules(
            parse_scores(rng.choice(["standard", "words", "0,1,2"])).at_least(
                rng.choice([3, 3, 4])
            ),
            rng.choice([None, SCRABBLE, {"a": 1, "b": 7}]),
            {
                cell: rng.choice(["dl", "tl", "dw", "tw"])
                for cell in rng.sample(range(n), rng.randint(0, n))
            },
        )
        found = solve_tiles(board, words, rules)
        assert {item.word: item.points for item in found} == by_definition(board, set(words), rules)
        assert [item.word for item in found] == sorted(item.word for item in found)
        assert read_tiles(str(board), f"{board.w}x{board.h}") == board


@pytest.mark.parametrize("name", ["3x3", "3x4", "4x4"])
def test_on_boards_of_the_proof_it_agrees_with_the_fast_scorer(name, spelled):
    scorer = Scorer(name, load_wordlist("scowl70").words, STANDARD)
    rng = random.Random(3)
    for _ in range(30):
        board = "".join(rng.choices("aaeeiioounnssttrrllddgmpbcqh", k=scorer.dims.n))
        fast = sorted(
            (found.word.replace("q", "qu"), found.points, found.path)
            for found in scorer.words(board)
        )
        assert solve_tiles(read_tiles(board, name), spelled) == fast


def test_letter_values(spelled):
    board = read_tiles("bld/eae/rts")
    rules = Rules(parse_scores("1,1,2,3,4,5,6"), values=parse_values("scrabble"))
    assert sum(item.points for item in solve_tiles(board, spelled, rules)) == 2671
    assert sorted(SCRABBLE) == list("abcdefghijklmnopqrstuvwxyz")


def test_the_best_path_counts_and_is_the_smallest_of_equals():
    board = read_tiles("te/ee")
    (found,) = solve_tiles(board, ["tee"])
    assert (found.points, found.path) == (1, (0, 1, 2))
    (found,) = solve_tiles(board, ["tee"], Rules(bonus={3: "tw"}))
    assert (found.points, found.path) == (3, (0, 1, 3))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: parse_values("a=x"), "letter values 'a=x'"),
        (lambda: parse_values("1=3"), "letter values '1=3'"),
        (lambda: parse_bonus("9=dl", 3, 3), "bonus '9=dl': expected ROW.COLUMN up to 3.3"),
        (lambda: parse_bonus("1.1=xx", 3, 3), "bonus '1.1=xx'"),
        (lambda: parse_bonus("1.4=dl", 3, 3), "bonus '1.4=dl'"),
    ],
)
def test_rules_that_cannot_be_read(ask, said):
    with pytest.raises(InputError, match=said):
        ask()
