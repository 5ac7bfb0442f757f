"""``orderly verify``: a run from its files alone to a claim, with two scorers that share no code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from boardclass.errors import InputError
from boardclass.geometry import parse_dims
from boardclass.scores import ScoreTable, n_letters
from boardclass.wordlist import WordList, load_wordlist
from cluster.answers.query import check_run_directory
from cluster.answers.render import Format, write_json, write_record
from cluster.streams import console, tell
from search.solvers import Grid, WordsSolver

if TYPE_CHECKING:
    from results.proof.verify import Verified
    from results.store.run import Run


class Referee:
    """Exact scores by the solver ``words``."""

    def __init__(self, dims: str, words: Sequence[str], table: ScoreTable) -> None:
        size = parse_dims(dims)
        self._dims = (size.w, size.h)
        self._solver = WordsSolver(word for word in words if len(word) <= math.prod(self._dims))
        self._points = table.points

    def scores(self, boards: Sequence[str]) -> list[int]:
        """Return the exact score of each board."""
        solved = (self._solver.solve(Grid(board, self._dims)) for board in boards)
        return [sum(self._points[n_letters(word)] for word in words) for words in solved]


def run_wordlist(run: Run, name: str | None) -> WordList:
    """Return the word list of a run: the one recorded, or the one named, if it is the same.

    Raises
    ------
    InputError
        When it cannot be found or read.
    FingerprintError
        When it is another list.
    """
    from results.errors import FingerprintError

    config = run.info.get("config")
    recorded = config.get("wordlist") if isinstance(config, dict) else None
    if name is None and not isinstance(recorded, str):
        raise InputError(f"{run.folder.where('')} does not say which word list it used: name it with --wordlist")
    try:
        words = load_wordlist(name or str(recorded))
    except InputError as error:
        raise InputError(f"{error}; --wordlist names another place") from error
    if words.sha256 != run.fingerprint.wordlist_sha256:
        raise FingerprintError(
            f"word list {words.name!r} has SHA-256 {words.sha256}, the run in {run.folder.where('')} used "
            f"{run.fingerprint.wordlist_sha256}: name the list it used with --wordlist"
        )
    return words


def verify(directory: str, wordlist: str | None, fmt: Format, *, write: bool = False) -> None:
    """Check everything that a run left behind and print its claim; write the claim as well if asked to."""
    check_run_directory(directory)
    from cluster.planning.nodes import run_nodes
    from results.proof.sentence import Question, question_of
    from results.proof.verify import record
    from results.proof.verify import verify as verify_run
    from results.store.run import open_run
    from search.scoring.scorer import Scorer

    run = open_run(directory)
    print_of = run.fingerprint
    words = run_wordlist(run, wordlist)
    table = ScoreTable(question_of(run).scores, print_of.scores)
    found = verify_run(
        run,
        run_nodes(run),
        Scorer(print_of.dims, words.words, table),
        Referee(print_of.dims, words.words, table),
        Question(words.name, len(words.words), table.name, question_of(run).left_out),
    )
    if write:
        record(run, found)
    for note in () if write else found.notes:
        tell(f"orderly: {note}")
    _print(directory, found, fmt)


def _print(directory: str, found: Verified, fmt: Format) -> None:
    claim = found.claim
    if fmt is Format.json:
        write_json({"directory": directory, **asdict(claim)})
        return
    record = {
        "strength": claim.strength,
        "classes": claim.n_classes,
        "verdicts": claim.n_units,
        "boards covered": claim.n_boards_covered,
        "candidates": claim.n_candidates,
        "boards": claim.n_canonical,
        "boards with images": claim.n_raw,
        "result digest": claim.result_digest,
        "verdict digest": claim.verdict_digest,
    }
    if fmt is Format.csv:
        write_record({"statement": claim.statement, **record}, fmt)
        return
    console().print(f"Verified. {claim.statement}", style="bold", markup=False)
    console().print()
    write_record(record, fmt)
