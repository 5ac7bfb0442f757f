"""The best boards known: climbs for every size from 2x2 to 5x5 and every list that is here.

    python -m tests.field.records [--sizes 2x2 3x4 ...] [--lists scowl70 ...] [--method pool]
        [--pool 500] [--seed 0] [--start BOARD]

Writes results/published/best_known.json and the table of docs/records.md.  For each size and list
it climbs as orderly climb does, with five pools or one annealing of several chains, or with a pool
from a given board, and keeps the best board of that, of the runs that come with the program and of
what the file had; a second solver must give it the same points.  A size of ten cells at most is
searched whole, as one class with all letters on each cell, so its board is proven.  What the file
has, and is not asked for, stays.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from operator import itemgetter
from string import ascii_lowercase

from orderly_boggle.boardclass import load_wordlist
from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import WordList, available_names
from orderly_boggle.results.proof.best_known import FILE, WHOLE, Record, best_known
from orderly_boggle.results.proof.packaged import recorded
from orderly_boggle.search import Scorer, Spec, break_class, local_search, solve
from orderly_boggle.search.local.methods import METHODS, POOL, default_method, default_runs
from orderly_boggle.search.question import Scored
from tests.field import pages

SIZES = ("2x2", "2x3", "2x4", "2x5", "3x3", "3x4", "3x5", "4x4", "4x5", "5x5")
STANDARD = parse_scores("standard")
MOST_CELLS = 10  # of a size that is searched whole


def climbed(dims: str, words: WordList, asked: argparse.Namespace) -> Record:
    """Return the best board of the climbs, and how many of them, or of the chains, found it."""
    scorer, began = Scorer(dims, words.words, STANDARD), time.process_time()
    method = asked.method or default_method(scorer.geometry.n, asked.start)
    pool, runs = asked.pool or POOL[method], default_runs(method, asked.start)
    best = local_search(
        scorer, method, seed=asked.seed, runs=runs, pool=pool, start=asked.start, progress=bool
    )[0]
    pages.say(f"{dims} {words.name}: {best}, {time.process_time() - began:.1f} CPU s")
    how = f"{method} of {pool}"
    if method == "anneal":
        runs, how = pool, "chains of one annealing"
    if asked.start:
        how += f" from {asked.start}"
    return Record(dims, words.name, best.board, best.score, 0, "", how, runs, best.n_found)


def proven(dims: str, words: WordList) -> tuple[str, Sequence[str], int] | None:
    """Return the run that proves the best of a size and list, the best boards and their score."""
    for name, summary in recorded(Scored(dims, words.sha256, STANDARD.points)):
        listed = summary.listed
        if listed and listed.best_score:
            return name, listed.best_boards, listed.best_score
    return None


def searched_whole(dims: str, words: WordList, points: int) -> tuple[str, int]:
    """Return the best board of a size and its score, proven, from a board with so many points."""
    began = time.process_time()
    verdict = break_class(Spec.of(dims, words, "standard", points, ascii_lowercase), 0)
    assert not verdict.children, "the budget was spent"
    board, score = max(verdict.candidates, key=itemgetter(1))
    pages.say(f"  searched whole: {board} {score}, {time.process_time() - began:.1f} CPU s")
    return canonical_board(board, geometry(dims)), score


def points_by_another_solver(board: str, words: WordList) -> tuple[int, int]:
    """Return points and number of words of a board, word by word and without a trie."""
    found = solve(board, words, method="words")
    return sum(STANDARD.points[len(word)] for word in found), len(found)


def _with_proof(new: Record, proof: str, boards: Sequence[str], points: int) -> Record:
    """Return a proven board, the one that the climbs found if it is the best or one of these."""
    if new.points == points:
        return Record(**{**asdict(new), "proof": proof})
    text = f"{new.how}, best {new.points:,}"
    return Record(new.dims, new.wordlist, boards[0], points, 0, proof, text, new.runs, 0)


def record(dims: str, words: WordList, before: Record | None, asked: argparse.Namespace) -> Record:
    """Return the best board that is known now."""
    new = climbed(dims, words, asked)
    proof = proven(dims, words)
    if proof:
        name, boards, points = proof
        assert new.points <= points, f"{new} is better than what {name} proves"
        new = _with_proof(new, name, boards, points)
    elif geometry(dims).n <= MOST_CELLS:
        board, points = searched_whole(dims, words, new.points)
        new = _with_proof(new, WHOLE, [board], points)
    elif before and before.points > new.points:
        how = f"{new.how}, best {new.points:,}"
        new = Record(**{**asdict(before), "how": how, "runs": new.runs, "found": 0})
    points, n_words = points_by_another_solver(new.board, words)
    assert points == new.points, f"{new}: another solver says {points}"
    return Record(**{**asdict(new), "words": n_words})


def write(records: list[Record]) -> None:
    """Write the file and the table."""
    records.sort(key=lambda item: (item.wordlist, SIZES.index(item.dims)))
    lines = [json.dumps(asdict(item)) for item in records]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    rows = []
    for item in records:
        proof = f"proven by `{item.proof}`" if item.proof else "found, not proven"
        if item.proof == WHOLE:
            proof = "proven: searched whole"
        found = f"{item.found} of {item.runs} ({item.how})" if item.runs else item.how
        points = [f"{item.points:,}", f"{item.words:,}"]
        rows.append([item.dims, item.wordlist, f"`{item.board}`", *points, proof, found])
    head = ("size", "list", "board", "points", "words", "how it is known", "found by climbs")
    pages.fill("records.md", {"records": pages.table(head, rows)})


def main() -> None:
    """Climb, and write what is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", nargs="*", default=SIZES)
    parser.add_argument("--lists", nargs="*", default=sorted(available_names()))
    parser.add_argument("--method", choices=METHODS)
    parser.add_argument("--pool", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", metavar="BOARD")
    given = parser.parse_args()
    known = {(item.dims, item.wordlist): item for item in best_known()}
    for name in given.lists:
        words = load_wordlist(name)
        for dims in given.sizes:
            key = dims, words.name
            known[key] = record(dims, words, known.get(key), given)
            write(list(known.values()))


if __name__ == "__main__":
    main()
