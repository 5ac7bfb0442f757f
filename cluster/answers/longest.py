"""``orderly longest``, ``neighbours`` and ``lists``: single boards and words beyond their score."""

from __future__ import annotations

import itertools
import os
import time
from typing import TYPE_CHECKING, Any

from boardclass.board import LETTERS, read_board
from boardclass.canonical import canonical_board
from boardclass.errors import InputError, WordListError, quote
from boardclass.geometry import geometry, parse_dims
from boardclass.scores import n_letters, parse_scores
from boardclass.wordlist import available_names, load_wordlist
from cluster.answers.boards import words_and_table
from cluster.answers.render import Format, full_spelling, write_table
from cluster.driver.progress import LINE_S
from cluster.streams import tell

if TYPE_CHECKING:
    from search.local.hamilton import Longest
    from search.scoring.scorer import Scorer


def longest(
    dims_text: str,
    word: str | None,
    letters: int | None,
    sample: int | None,
    seed: int,
    workers: int,
    n: int,
    wordlist: str | None,
    scores: str | None,
    fmt: Format,
) -> None:
    """Print the best board of each word that uses every cell, best first.

    Raises
    ------
    InputError
        When there are no such words, or too many paths without ``--sample``.
    """
    shape = geometry(parse_dims(dims_text))
    words, table = words_and_table(wordlist, scores)
    targets = _targets(words.words, shape.n, word, letters)
    from search.local import hamilton
    from search.local.parallel import ParallelScorer
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
    write_table(
        ("word", "letters", "board", "score"),
        [(full_spelling(item.word), n_letters(item.word), item.board, item.score) for item in found[:n]],
        fmt,
    )


def _targets(words: tuple[str, ...], n_cells: int, word: str | None, letters: int | None) -> list[str]:
    """Return the words, in q-form, that use every cell and that the options ask for."""
    if word is not None:
        spelled = word.strip().lower().replace("qu", "q")
        if len(spelled) != n_cells or not set(spelled) <= set(LETTERS):
            raise InputError(f"word {quote(word)}: expected {n_cells} cells of letters a-z, qu being one cell")
        return [spelled]
    found = [item for item in words if len(item) == n_cells and letters in (None, n_letters(item))]
    if not found:
        raise InputError(f"the list has no word of {n_cells} cells{f' and {letters} letters' if letters else ''}")
    return found


class _Told:
    """A plain line per 30 s on standard error."""

    def __init__(self, n_words: int, n_paths: int) -> None:
        self._n_words = n_words
        self._began_s = self._shown_at_s = time.monotonic()
        tell(f"{n_words:,} words on {n_paths:,} paths")

    def __call__(self, number: int, best: Longest | None) -> None:
        now = time.monotonic()
        if now - self._shown_at_s < LINE_S or best is None:
            return
        self._shown_at_s = now
        left_min = (now - self._began_s) / number * (self._n_words - number) / 60
        tell(
            f"{number:,}/{self._n_words:,} words, best {best.score:,} {best.board} ({full_spelling(best.word)}), "
            f"about {left_min:.0f} min left"
        )


def neighbours(text: str, dims_text: str | None, n: int, wordlist: str | None, scores: str | None, fmt: Format) -> None:
    """Print the best boards one change or one swap away, and by how much they differ."""
    dims, board = read_board(text, parse_dims(dims_text) if dims_text else None)
    words, table = words_and_table(wordlist, scores)
    from search.scoring.scorer import Scorer

    rows = best_neighbours(board, Scorer(dims, words.words, table), n)
    write_table(("board", "change", "score", "difference"), rows, fmt)


def best_neighbours(board: str, scorer: Scorer, n: int) -> list[tuple[str, str, int, int]]:
    """Return the ``n`` best boards one step away, up to symmetry: board, what was done, score, difference."""
    changes = one_step(board)
    values = scorer.scores([board, *changes])
    own = int(values[0])
    rows: list[tuple[str, str, int, int]] = []
    seen = {canonical_board(board, scorer.geometry)}
    for (other, change), value in sorted(
        zip(changes.items(), values[1:].tolist(), strict=True), key=lambda item: (-item[1], item[0])
    ):
        image = canonical_board(other, scorer.geometry)
        if image not in seen and len(rows) < n:
            seen.add(image)
            rows.append((other, change, value, value - own))
    return rows


def one_step(board: str) -> dict[str, str]:
    """Return the boards one changed letter or one swap of two cells away, each with what was done."""
    steps: dict[str, str] = {}
    for cell, old in enumerate(board):
        for new in LETTERS:
            if new != old:
                steps[board[:cell] + new + board[cell + 1 :]] = f"cell {cell}: {old} to {new}"
    for left, right in itertools.combinations(range(len(board)), 2):
        if board[left] != board[right]:
            cells = list(board)
            cells[left], cells[right] = cells[right], cells[left]
            steps.setdefault("".join(cells), f"cells {left} and {right} swapped")
    return steps


def lists(text: str, dims_text: str | None, scores: str | None, fmt: Format) -> None:
    """Print the score of a board under every word list that can be named."""
    dims, board = read_board(text, parse_dims(dims_text) if dims_text else None)
    table = parse_scores("standard" if scores is None else scores)
    from search.scoring.scorer import Scorer

    rows: list[tuple[Any, ...]] = []
    for name, path in available_names().items():
        try:
            words = load_wordlist(path)
        except WordListError as error:
            tell(f"left out {name}: {error}")
            continue
        found = Scorer(dims, words.words, table).words(board)
        rows.append((name, len(words.words), sum(word.points for word in found), len(found)))
    write_table(("wordlist", "list_words", "score", "words"), rows, fmt)
