"""``orderly top``: the best boards of one or more runs, and its filters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from boardclass.errors import InputError, quote
from cluster.answers.render import Format, write_table
from cluster.answers.status import require_all_proven, run_wordlist, tell_so_far
from cluster.cli import options

if TYPE_CHECKING:
    from results.proof.claim import Board
    from results.store.run import Run


def top(
    directories: options.RunList = None,
    n: options.Limit = 10,
    contains: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="Only boards on which WORD can be traced; may be repeated.")
    ] = None,
    min_words: Annotated[int, typer.Option(metavar="N", min=0, help="Only boards with at least N words.")] = 0,
    rollable: Annotated[
        str | None,
        typer.Option(
            metavar="DICE",
            help="Only boards that these dice can show: classic, new, big, or a TOML file.",
            autocompletion=options.complete_dice,
        ),
    ] = None,
    words: Annotated[bool, typer.Option("--words", help="Show the number of words as well.")] = False,
    wordlist: Annotated[
        str | None,
        typer.Option(
            "-w",
            metavar="NAME|PATH",
            help="For --words and --min-words.",
            show_default="that of the run",
            autocompletion=options.complete_wordlists,
        ),
    ] = None,
    fmt: options.Format = Format.table,
) -> None:
    """List the best boards of one or more runs."""
    chosen = options.chosen_runs(directories)
    filters = _Filters(tuple(contains or ()), min_words, rollable, words)
    from boardclass.board import with_letters
    from results.proof.prove import named_runs, summary

    runs = named_runs(chosen)
    passing = {name: _Passing(run, filters, wordlist) for name, run in runs}
    summaries = {name: summary(run) for name, run in runs}
    kept: list[tuple[str, Board]] = []
    for name, found in summaries.items():
        kept += [(name, item) for item in _first(found.listed.boards, n, passing[name])]
    kept.sort(key=lambda pair: (-pair[1].score, pair[1].board, pair[0]))
    proven = {name: found.proven for name, found in summaries.items()}
    counted = ("words",) if filters.n_words else ()
    columns: tuple[str, ...] = ("run", "board", "score", *counted, "proven")
    rows: list[tuple[object, ...]] = [
        (
            name,
            with_letters(item.board, summaries[name].question.letters),
            item.score,
            *(passing[name].n_words(item.board) for _ in counted),
            proven[name],
        )
        for name, item in kept[:n]
    ]
    if len(runs) == 1:
        columns, rows = columns[1:], [row[1:] for row in rows]
    if fmt is Format.table:  # people are told in a sentence
        columns, rows = columns[:-1], [row[:-1] for row in rows]
        tell_so_far(summaries)
    write_table(columns, rows, fmt)
    require_all_proven(summaries)


def _first(items: Sequence[Board], n: int, passing: _Passing) -> list[Board]:
    found: list[Board] = []
    for item in items:
        if len(found) == n:
            break
        if passing(item.board):
            found.append(item)
    return found


class _Filters(NamedTuple):
    """What ``top`` keeps: boards on which words can be traced, with enough words, that some dice can show.

    With ``n_words``, the number of words is listed.
    """

    contains: tuple[str, ...] = ()
    min_words: int = 0
    rollable: str | None = None
    n_words: bool = False


class _Passing:
    """Whether a board of a run passes the filters; loads the word list only when it takes one."""

    def __init__(self, run: Run, filters: _Filters, wordlist: str | None) -> None:
        from boardclass.geometry import geometry
        from boardclass.scores import parse_scores
        from results.proof.claim import question_of

        self._geometry = geometry(run.fingerprint.dims)
        letters = question_of(run).letters
        self._words = tuple(_spelling(word, letters) for word in filters.contains)
        self._min_words = filters.min_words
        self._dice = None
        if filters.rollable is not None:
            from configs.dicesets import dice_for

            self._dice = dice_for(filters.rollable, self._geometry.n).dice
        self._scorer = None
        if filters.min_words > 0 or filters.n_words:
            from search.scoring.scorer import Scorer

            self._scorer = Scorer(self._geometry.dims, run_wordlist(run, wordlist).words, parse_scores("words"))

    def __call__(self, board: str) -> bool:
        from boardclass.rolling import assign_dice
        from boardclass.tracing import trace

        if any(trace(word, board, self._geometry) is None for word in self._words):
            return False
        if self._dice is not None and assign_dice(board, self._dice) is None:
            return False
        return self._min_words == 0 or self.n_words(board) >= self._min_words

    def n_words(self, board: str) -> int:
        """Return how many words of the list can be traced on a board."""
        assert self._scorer is not None, "loaded when words are counted"
        return self._scorer.score(board)


def _spelling(word: str, letters: Mapping[str, str]) -> str:
    """Return the q-form of a word that boards are to contain."""
    from boardclass.board import in_symbols

    spelled = in_symbols(word.strip().lower(), letters)
    if not re.fullmatch(r"[a-z]+", spelled):
        raise InputError(f"--contains {quote(word)}: expected a word of letters a-z")
    return spelled.replace("qu", "q")
