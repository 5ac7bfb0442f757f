"""A script of somebody who has installed the program: mypy and pyright read it in test_typed.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_type

from orderly_boggle import (
    Board,
    Bounds,
    Find,
    Found,
    Run,
    Scorer,
    ScoreTable,
    Spec,
    UnitResult,
    WordList,
    boards,
    bounds,
    break_class,
    load_wordlist,
    local_search,
    open_run,
    parse_scores,
    score,
    solve,
    summary,
    top,
)
from orderly_boggle.results.proof.summary import ListedBoard, Summary

words = load_wordlist("scowl70")
assert_type(words, WordList)
assert_type(score(Board("berlatdes"), words), int)
assert_type(score("berlatdes", ["tea", "eat"], {3: 1, 4: 2}), int)
table = parse_scores("standard")
assert_type(table, ScoreTable)
scorer = Scorer("3x3", words, table)
assert_type(scorer.score("berlatdes"), int)
assert_type(scorer.words("berlatdes")[0], Found)
found: Sequence[str] = solve("berlatdes", words, method="trie")
assert_type(bounds("rst rst ae ae", "scowl70"), Bounds)
assert_type(local_search(scorer, pool=5, runs=1)[0], Find)
spec = Spec.of("2x2", "scowl70", "standard", cutoff=14, buckets="aeiou bcdfghjklmnpqrstvwxyz")
assert_type(break_class(spec, 0), UnitResult)


def best_of(folder: str) -> tuple[str, int]:
    run = open_run(folder)
    assert_type(run, Run)
    assert_type(summary(run), Summary)
    assert_type(boards(run), list[ListedBoard])
    first = top(run, 1)[0]
    assert_type(first.score, int)
    return first.board, first.score


print(best_of("runs/2x2-scowl70-14"), found)  # noqa: T201
