"""What the runs that come with the program answer already, so that nobody spends core hours on it
again.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from orderly_boggle import results
from orderly_boggle.boardclass.printable import enumerated
from orderly_boggle.boardclass.scores import reaches
from orderly_boggle.search.question import Question, Scored

_WORTH_NAMING_S = 60.0  # of search; whoever asks for less has the answer as soon


def best_known(scored: Scored) -> str:
    """Return in words which run that comes with the program proves the best boards, and how to ask
    something else; empty without one that took more than a minute of search.
    """
    for place, proof in results.published(scored):
        listed = proof.listed
        if not proof.proven or not listed.best_score or not _was_long(place):
            continue
        best = enumerated(listed.best_boards)
        return (
            f"the run {place.name}, which comes with the program, proves the best of {scored.dims} "
            f"for this list and these points: {best}, {listed.best_score:,} points (orderly top "
            f"{place.name}); --wordlist and --scores ask for others, --cutoff for more boards"
        )
    return ""


def answering(of: Question) -> tuple[Path | None, int]:
    """Return where the run is that comes with the program and proves which boards a question is
    about, and its cutoff: one of the same size, list and points, with no higher cutoff.

    Of several it is the one with the highest cutoff.  Without one the place is None.
    """
    # a place, as a folder at hand may have the same name
    best: tuple[Path | None, int] = (None, 0)
    for place, proof in results.published(of.scored):
        cutoff = proof.question.cutoff
        if proof.proven and reaches(of.cutoff, cutoff) and cutoff > best[1]:
            best = (place, cutoff)
    return best


def where_answered(of: Question) -> str:
    """Return in words which run answers a question and how to ask it; empty without one."""
    place, cutoff = answering(of)
    if place is None:
        return ""
    name = place.name
    if cutoff == of.cutoff:
        return f"the run {name} proves this already: orderly top {name}"
    return (
        f"the run {name}, which comes with the program, answers this: orderly derive {name} "
        f"--cutoff {of.cutoff}"
    )


def worth_naming(of: Question, begun: str) -> str:
    """Return the same if the run took more than a minute of search.

    begun : directory of the run that asks: the command names another one, for this one is taken
    """
    place, cutoff = answering(of)
    if place is None or not _was_long(place):
        return ""
    if cutoff == of.cutoff or "://" in begun:  # derive writes to a disk unless it is told
        return where_answered(of)
    return f"{where_answered(of)} --out {shlex.quote(f'{begun}-derived')}"


def _was_long(place: Path) -> bool:
    """Return whether a run that comes with the program took more than a minute of search."""
    (seconds,) = results.open_run(place).arrays(["seconds"])
    return bool(seconds.sum() >= _WORTH_NAMING_S)
