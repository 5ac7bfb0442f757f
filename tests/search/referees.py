"""Referee agreement: the production scorer against the four independent solvers on seeded boards of every kind.

Nightly: python -m tests.search.referees --boards 100000 --wordlist enable2k --seed 1
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from boardclass.geometry import parse_dims
from boardclass.scores import parse_scores
from boardclass.wordlist import load_wordlist
from search.scoring.scorer import Scorer
from search.solvers import Grid, HeapSolver, PathsSolver, TrieSolver, WordsSolver

SIZES = ("2x2", "2x3", "3x3", "3x4", "4x4")
SHARES = (0.1, 0.1, 0.4, 0.2, 0.2)
PATHS_EVERY = {"2x2": 1, "2x3": 1, "3x3": 4, "3x4": 100, "4x4": 4000}  # paths looks at 12 million of 4x4
COMMON = "eeeeaaariinnoossttlldrcpmhgubqu"  # boards with words on them, and a q now and then


def planted(word: str, moves: Sequence[Sequence[int]], rng: np.random.Generator) -> str | None:
    """Return a board with a word along a random path, the other cells random; None if the path ran into a corner."""
    path = [int(rng.integers(len(moves)))]
    while len(path) < len(word):
        free = [cell for cell in moves[path[-1]] if cell not in path]
        if not free:
            return None
        # Few ways on first: such a path seldom gets stuck, even when it has to visit every cell.
        ways = [sum(other not in path for other in moves[cell]) + rng.random() for cell in free]
        path.append(free[int(np.argmin(ways))])
    board = rng.choice(list(COMMON), len(moves))
    board[path] = list(word)
    return "".join(board)


def boards(n: int, size: str, words: Sequence[str], rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Yield (kind, board): uniform letters, common letters, with a q, and with a planted word as long as can be."""
    cells = parse_dims(size).n
    moves = Grid("a" * cells, tuple(parse_dims(size))).moves
    lengths = [length for length in range(cells, 2, -1) if any(len(word) == length for word in words)]
    longest = [word for word in words if len(word) in lengths[:1]]
    for i in range(n):
        kind = ("uniform", "common", "q", "planted")[i % 4]
        if kind == "planted":
            board = None
            while board is None:
                board = planted(longest[int(rng.integers(len(longest)))], moves, rng)
        else:
            letters = "abcdefghijklmnopqrstuvwxyz" if kind == "uniform" else COMMON
            cells_of = rng.choice(list(letters), cells)
            if kind == "q":
                cells_of[int(rng.integers(cells))] = "q"
            board = "".join(cells_of)
        yield kind, board


def referee(n_boards: int, wordlist: str, seed: int) -> tuple[Counter[str], list[str]]:
    """Return how many boards each solver agreed on, and a line for each disagreement."""
    words = load_wordlist(wordlist).words
    table = parse_scores("standard")
    solvers = {"trie": TrieSolver(words), "words": WordsSolver(words), "heap": HeapSolver(words)}
    paths = PathsSolver(words, n_processes=1)
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    faults: list[str] = []
    for size, share in zip(SIZES, SHARES, strict=True):
        listed = list(boards(round(n_boards * share), size, words, rng))
        scorer = Scorer(size, words, table)
        scores = scorer.scores([board for _, board in listed])
        dims = tuple(parse_dims(size))
        for i, ((kind, board), score) in enumerate(zip(listed, scores.tolist(), strict=True)):
            grid = Grid(board, dims)
            found = {name: solver.solve(grid) for name, solver in solvers.items()}
            if i % PATHS_EVERY[size] == 0 and (size != "4x4" or n_boards >= 1000):
                found["paths"] = paths.solve(grid)
                counts[f"paths_{size}"] += 1
            found["scorer_words"] = [item.word for item in scorer.words(board)]
            for name, solved in found.items():
                counts[name] += 1
                if solved != found["trie"] or sum(map(table.of, solved)) != score:
                    faults.append(f"{size} {board} ({kind}): {name} disagrees")
            counts[f"boards_{size}"] += 1
            counts[f"boards_{kind}"] += 1
            counts["boards_with_a_word_of_16_cells"] += any(len(word) == 16 for word in found["trie"])
            counts["boards_with_a_word_with_q"] += any("q" in word for word in found["trie"])
    return counts, faults


def main() -> None:
    """Print the counts; exit code 1 on any disagreement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--boards", type=int, default=100_000)
    parser.add_argument("--wordlist", default="enable2k")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.process_time()
    counts, faults = referee(given.boards, given.wordlist, given.seed)
    for name, count in counts.items():
        sys.stdout.write(f"{name:32} {count:>9,}\n")
    sys.stdout.write(f"{len(faults)} disagreements, {time.process_time() - began:,.0f} CPU s\n")
    sys.stdout.writelines(f"{line}\n" for line in faults[:20])
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
