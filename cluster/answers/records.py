"""The published runs, which come with the program, and what they prove about a board: the one place that looks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from boardclass.cutoff import reaches

if TYPE_CHECKING:
    from results.proof.prove import Summary

PUBLISHED = Path(__file__).resolve().parents[2] / "results" / "published"


def proven_place(board: str, dims: str, score: int, sha256: str, points: Sequence[int]) -> str:
    """Return where a board stands among all boards of its size, in a sentence; empty where no published run proves it.

    ``score`` is exact, with the word list of this SHA-256 and these points by number of letters.
    """
    found = _proof(dims, sha256, tuple(points))
    if found is None or not found.listed.boards:
        return ""
    from boardclass.board import with_letters
    from boardclass.canonical import canonical_board
    from boardclass.geometry import geometry
    from results.proof.claim import standing

    name, listed = found.question.wordlist, found.listed.boards
    best = f"The best score is {listed[0].score:,}, that of {with_letters(listed[0].board, found.question.letters)}."
    if not reaches(score, found.fingerprint.cutoff):
        n, n_all = found.listed.n_raw, 26**found.fingerprint.n_cells
        return f"Proven. With {name} at least {n:,} of all {n_all:,} {dims} boards score more. {best}"
    if not any((item.board, item.score) == (canonical_board(board, geometry(dims)), score) for item in listed):
        return ""
    scores = [item.score for item in listed]
    rank = 1 + sum(other > score for other in scores)
    place = standing(dims, name, found.question.scores, rank, scores.count(score))
    return f"Proven. {place}{f' {best}' if rank > 1 else ''}"


@lru_cache
def _proof(dims: str, sha256: str, points: tuple[int, ...]) -> Summary | None:
    """Return what the rows of the published run of a question prove; None where there is no such run."""
    folders = sorted(PUBLISHED.glob(f"{dims}-*"))
    if not folders:  # most sizes: nothing need be loaded that reads runs
        return None
    from results.proof.prove import summary
    from results.store.run import open_run

    for folder in folders:
        run = open_run(folder)
        asked = run.fingerprint
        if (asked.dims, asked.wordlist_sha256, asked.scores) == (dims, sha256, points):
            found = summary(run)
            return found if found.proven else None
    return None
