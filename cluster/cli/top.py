"""``orderly top``: the best boards of one or more runs, and its filters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated

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
    wordlist: options.RunWordlist = None,  # for --words and --min-words
    fmt: options.Format = Format.table,
) -> None:
    """List the best boards of one or more runs."""
    chosen = list(map(options.chosen_run, directories or (None,)))
    from boardclass.board import with_letters
    from results.proof.prove import named_runs, summary

    runs = dict(named_runs(chosen))
    filters: dict[str, _Filter] = {}
    if contains or min_words or rollable is not None or words:
        filters = {
            name: _Filter(run, contains or (), min_words, rollable, words, wordlist) for name, run in runs.items()
        }
    summaries = {name: summary(run) for name, run in runs.items()}
    kept: list[tuple[str, Board]] = []
    for name, found in summaries.items():
        passing = filter(filters[name].passes, found.listed.boards) if filters else found.listed.boards
        kept += [(name, item) for item in islice(passing, n)]
    kept.sort(key=lambda pair: (-pair[1].score, pair[1].board, pair[0]))
    columns = ["run", "board", "score", *(["words"] if words else []), "proven"]
    rows: list[list[object]] = []
    for name, item in kept[:n]:
        found = summaries[name]
        n_words = [filters[name].n_words(item)] if words else []
        rows.append([name, with_letters(item.board, found.question.letters), item.score, *n_words, found.proven])
    left, right = len(runs) == 1, fmt is Format.table  # one run need not be named, and people are told in a sentence
    if right:
        tell_so_far(summaries)
    cut = slice(left, -1 if right else None)
    write_table(columns[cut], [row[cut] for row in rows], fmt)
    require_all_proven(summaries)


class _Filter:
    """Keeps boards of a run on which words can be traced, with enough words, that some dice can show.

    The word list is loaded only when words are counted.
    """

    def __init__(
        self, run: Run, contains: Sequence[str], min_words: int, dice: str | None, counts: bool, wordlist: str | None
    ) -> None:
        from boardclass.geometry import geometry
        from boardclass.scores import parse_scores
        from results.proof.claim import question_of

        self._geometry = geometry(run.fingerprint.dims)
        letters = question_of(run).letters
        self._words = tuple(_spelling(word, letters) for word in contains)
        self._min_words = min_words
        self._dice = None
        if dice is not None:
            from configs.dicesets import dice_for

            self._dice = dice_for(dice, self._geometry.n).dice
        self._scorer = None
        if min_words > 0 or counts:
            from search.scoring.scorer import Scorer

            self._scorer = Scorer(self._geometry.dims, run_wordlist(run, wordlist).words, parse_scores("words"))

    def passes(self, item: Board) -> bool:
        from boardclass.board import trace
        from boardclass.rolling import assign_dice

        if any(trace(word, item.board, self._geometry) is None for word in self._words):
            return False
        if self._dice is not None and assign_dice(item.board, self._dice) is None:
            return False
        return self._min_words == 0 or self.n_words(item) >= self._min_words

    def n_words(self, item: Board) -> int:
        """Return how many words of the list can be traced on a board."""
        assert self._scorer is not None, "loaded when words are counted"
        return self._scorer.score(item.board)


def _spelling(word: str, letters: Mapping[str, str]) -> str:
    from boardclass.board import in_symbols

    spelled = in_symbols(word.strip().lower(), letters)
    if not re.fullmatch(r"[a-z]+", spelled):
        raise InputError(f"--contains {quote(word)}: expected a word of letters a-z")
    return spelled.replace("qu", "q")
