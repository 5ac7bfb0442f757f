"""``orderly longest``: the best boards with a word that uses every cell."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated

import typer

from boardclass.errors import InputError, quote
from cluster.answers.render import Format, full_spelling, write_table
from cluster.cli import options
from cluster.streams import tell

if TYPE_CHECKING:
    from search.local.hamilton import Longest


def longest(
    dims: options.Size = "4x4",
    word: Annotated[str | None, typer.Option(help="This word only; need not be in the list.")] = None,
    letters: Annotated[
        int | None, typer.Option(metavar="N", help="Words of N letters only: 17 on 4x4 has one Qu.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Try N random paths a word instead of all.")
    ] = None,
    seed: options.Seed = 0,
    workers: Annotated[int, typer.Option(metavar="N", min=0, max=256, help="Threads that score; 0: all cores.")] = 0,
    n: options.Limit = 10,
    wordlist: options.Wordlist = None,
    scores: options.Scores = None,
    fmt: options.Format = Format.table,
) -> None:
    """Find the best boards with a word that uses every cell: all paths through the board times all such words.

    Without --sample the answer is exhaustive, so a proof.  For the best board with a shorter word: climb --contains.
    """
    from boardclass.board import in_symbols, with_letters
    from boardclass.geometry import geometry
    from boardclass.scores import n_letters
    from cluster.answers.boards import words_and_table

    shape = geometry(dims or "4x4")
    words, table = words_and_table(wordlist, scores)
    word = None if word is None else in_symbols(word.strip().lower(), words.letters).replace("qu", "q")
    targets = _targets(words.words, shape.n, word, letters)
    from search.local import hamilton
    from search.local.scorers import ParallelScorer
    from search.scoring.scorer import Scorer

    if sample is not None:
        paths = hamilton.sampled_paths(shape, sample, seed)
    elif shape.n <= hamilton.MAX_CELLS:
        tell("listing the paths through all cells")
        paths = hamilton.hamiltonian_paths(shape)
    else:
        raise InputError(f"{shape.dims} has too many paths to try all: give --sample N, such as --sample 10000")
    told = _Told(len(targets), len(paths))
    scorer = ParallelScorer(Scorer(shape.dims, words.words, table), workers or os.cpu_count() or 1)
    found = hamilton.best_boards(targets, paths, scorer, told)
    rows = [(words.spell(x.word), n_letters(x.word), with_letters(x.board, words.letters), x.score) for x in found[:n]]
    write_table(("word", "letters", "board", "score"), rows, fmt)


def _targets(words: tuple[str, ...], n_cells: int, word: str | None, letters: int | None) -> list[str]:
    from boardclass.board import LETTERS
    from boardclass.scores import n_letters

    if word is not None:
        if len(word) != n_cells or not set(word) <= set(LETTERS):
            raise InputError(f"word {quote(word)}: expected {n_cells} cells of letters a-z, qu being one cell")
        return [word]
    found = [item for item in words if len(item) == n_cells and letters in (None, n_letters(item))]
    if not found:
        raise InputError(f"the list has no word of {n_cells} cells{f' and {letters} letters' if letters else ''}")
    return found


class _Told:  # a plain line per 30 s on standard error
    def __init__(self, n_words: int, n_paths: int) -> None:
        self._n_words = n_words
        self._began_s = self._shown_at_s = time.monotonic()
        tell(f"{n_words:,} words on {n_paths:,} paths")

    def __call__(self, number: int, best: Longest | None) -> None:
        from cluster.driver.progress import LINE_S

        now = time.monotonic()
        if now - self._shown_at_s < LINE_S or best is None:
            return
        self._shown_at_s = now
        left_min = (now - self._began_s) / number * (self._n_words - number) / 60
        tell(
            f"{number:,}/{self._n_words:,} words, best {best.score:,} {best.board} ({full_spelling(best.word)}), "
            f"about {left_min:.0f} min left"
        )
