"""``orderly verify``: a run from its files alone to a claim, with two scorers that share no code."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from boardclass.errors import ConfigError, InputError, quote
from boardclass.geometry import parse_dims
from boardclass.partition import parse_partition
from boardclass.scores import ScoreTable, n_letters
from boardclass.wordlist import WordList, load_wordlist
from cluster.cli_query import check_run_directory
from cluster.render import Format, console, write_json, write_record
from results.errors import DamagedError
from search.solvers import Grid, WordsSolver

if TYPE_CHECKING:
    from results.run import Run
    from results.verify import Verified
    from search.params import Params


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

    recorded = run.info.get("config", {}).get("wordlist")
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


def run_params(info: Mapping[str, Any]) -> Params:
    """Return the search parameters that a run recorded, those it left out at their defaults.

    Raises
    ------
    DamagedError
        When they are none.
    """
    from configs.model import SearchConfig
    from search.params import Params

    known = set(SearchConfig.model_fields)
    given: dict[str, Any] = {}
    for place in (info.get("config", {}).get("search"), info.get("structure")):
        if isinstance(place, Mapping):
            given |= {name: value for name, value in place.items() if name in known and value is not None}
    try:
        found = SearchConfig.model_validate(given).model_dump(exclude_none=True)
        values: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in found.items()}
        return Params(**values)
    except (ConfigError, ValueError) as error:
        raise DamagedError(
            f"run.json records rules of the search that cannot be: {quote(given, 200)}; restore it from a copy"
        ) from error


def verify(directory: str, wordlist: str | None, fmt: Format) -> None:
    """Check everything a run left behind, write its claim and print it."""
    check_run_directory(directory)
    from cluster.nodes import SearchNodes
    from results.run import open_run
    from results.verify import Question
    from results.verify import verify as verify_run
    from search.scorer import Scorer

    run = open_run(directory)
    print_of = run.fingerprint
    words = run_wordlist(run, wordlist)
    table = ScoreTable(str(run.info.get("scores", "custom")), print_of.scores)
    partition = parse_partition(print_of.partition, print_of.dims)
    found = verify_run(
        run,
        partition,
        SearchNodes(partition, run_params(run.info), print_of.cell_order),
        Scorer(print_of.dims, words.words, table),
        Referee(print_of.dims, words.words, table),
        Question(words.name, len(words.words), table.name),
    )
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
