"""``orderly climb`` and ``longest``: good boards fast, with progress on standard error."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orderly_boggle import boardclass, search
from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.boardclass.scores import n_letters
from orderly_boggle.cluster.answers.render import Format, draw_board, write_table
from orderly_boggle.cluster.cli import options
from orderly_boggle.cluster.cli.app import EXIT_INTERRUPTED
from orderly_boggle.cluster.cli.options import numeric, option
from orderly_boggle.cluster.streams import Move, console, moving, tell

if TYPE_CHECKING:
    from orderly_boggle.boardclass.geometry import Dims
    from orderly_boggle.boardclass.scores import ScoreTable
    from orderly_boggle.boardclass.wordlist import WordList
    from orderly_boggle.search.local.batches import BatchScorer
    from orderly_boggle.search.local.hamilton import Longest
    from orderly_boggle.search.local.methods import Climbing, Find, Start


@dataclass(frozen=True)
class SearchOptions(options.Group):
    """How to climb, from where, over which boards."""

    method: Annotated[
        Literal["pool", "anneal", "genetic"] | None,
        option(
            "Pool hill climb, simulated annealing, or a genetic algorithm.",
            show_default="pool; without --from on more than 16 cells: anneal",
        ),
    ] = None
    pool: Annotated[
        int | None,
        numeric(
            "Number of boards kept, chains, or population, over all runs.",
            min=1,
            max=10**6,
            show_default="500; chains: 32",
        ),
    ] = None
    seed: options.Seed = 0
    runs: Annotated[
        int | None,
        numeric(
            "Searches that share the pool and are counted together.",
            min=1,
            show_default="5; with --from or another method: 1",
        ),
    ] = None
    workers: options.Threads = 0
    exclude: Annotated[
        str, option("Letters that boards must not use.", metavar="LETTERS", show_default=False)
    ] = ""
    start: Annotated[
        str | None,
        option("Start from this board instead of random ones.", "--from", metavar="BOARD"),
    ] = None
    contains: Annotated[
        str | None, option("Only boards on which this word can be traced.", metavar="WORD")
    ] = None


@options.grouped
def climb(
    listed: options.ListOptions,
    how: SearchOptions,
    dims: options.Size = None,
    n: options.Limit = 10,
    min_letters: options.MinLetters = None,
    fmt: options.Format = "table",
) -> None:
    """Look for good boards by local search: fast, but without proof.

    Boards are canonical (one of their rotations and reflections).  The column "found" says how
    often a board was found: for annealing by how many chains, otherwise in how many of the --runs.
    Ctrl-C prints the best boards so far (exit code 130); a second one prints nothing.

    For the board with the most words use --scores words.  With --scores powers points double with
    every letter; climbing then misses boards with one very long word, such as rpqaselinifcoita, but
    orderly longest --letters 17 --scores powers finds them.

    Boards have only letters and Qu, and words score by length: climbing scores hundreds of
    thousands of boards, and the solver for other tiles, letter values and bonus cells (orderly
    show) takes milliseconds for each.
    """
    from orderly_boggle.cluster.driver.signals import StopSignals
    from orderly_boggle.search.local.methods import default_method, default_runs, local_search

    words, table = listed.load()
    size, board = _start(how.start, dims, words)
    # before the scorer: it is compiled into the points of its trie
    table = table.at_least(min_letters)
    scorer, origin = _scorer(size, words, table, how.workers, board, how.contains)
    method = how.method or default_method(size.w * size.h, origin)
    runs = how.runs or default_runs(method, origin)
    # a flag, not an exception: whatever was found so far is still to be shown
    with StopSignals() as signals, moving(runs if runs > 1 else None) as move:
        finds = local_search(
            scorer,
            method,
            seed=how.seed,
            runs=runs,
            pool=how.pool,
            letters=allowed_letters(boardclass.in_symbols(how.exclude.lower(), words.letters)),
            start=origin,
            progress=partial(_tell_round, move, runs),
            stop=lambda: bool(signals.reason),
        )
    if signals.reason:
        tell(f"stopped by {signals.reason}: the best boards so far")
    # a board without a word is no find, even if nothing better came
    _show([find for find in finds if find.score > 0][:n], size, words, fmt)
    if signals.reason:
        # after the boards: a script sees that there might have been more
        raise typer.Exit(EXIT_INTERRUPTED)


def _tell_round(move: Move, runs: int, now: Climbing) -> None:
    which = ""
    if runs > 1:
        which = f"run {now.run + 1} of {runs}, "
    figures = f"best {now.best:,}, {now.n_scored:,} boards scored"
    move(f"{which}round {now.n_rounds:,}, {figures}", now.run)


def _start(start: str | None, dims: str | None, words: WordList) -> tuple[Dims, str | None]:
    """Return the size, and the board to start from if one is named."""
    if start is not None:
        from orderly_boggle.cluster.boards.typed import read_board

        return read_board(start, dims, tell, words.letters)
    if dims is None:
        raise InputError("which size? give --dims, such as --dims 4x4, or a board with --from")
    return boardclass.parse_dims(dims), None


def _scorer(
    size: Dims,
    words: WordList,
    table: ScoreTable,
    threads: int,
    board: str | None,
    contains: str | None,
) -> tuple[BatchScorer, Start | None]:
    """Return what scores boards, only those that hold a word if one is named, and where to
    start.
    """
    from orderly_boggle.search.local.batches import HoldingScorer, ParallelScorer

    plain = search.Scorer(size, words, table)
    scorer = ParallelScorer(plain, threads)
    if contains is None:
        return scorer, board
    word = options.typed_word(contains, words.letters)
    holding = HoldingScorer(scorer, word)
    if board and not search.holds(board, size, {word}):
        raise InputError(
            f"--from {quote(board)} does not hold the word {quote(word)}: start from one that does"
        )
    return holding, board or holding.first


def _show(finds: list[Find], size: Dims, words: WordList, fmt: Format) -> None:
    if not finds:
        tell("no board with any points was found")
    elif fmt == "table":
        console().print(draw_board(boardclass.format_rows(finds[0].board, size, words.letters)))
    rows = [
        tuple(find._replace(board=boardclass.with_letters(find.board, words.letters)))
        for find in finds
    ]
    write_table(("board", "score", "found"), rows, fmt)


def allowed_letters(exclude: str) -> str:
    """Return the letters that are left; InputError if anything but a-z is excluded, or
    everything.
    """
    wrong = sorted(set(exclude) - set(boardclass.LETTERS))
    if wrong:
        raise InputError(
            f"--exclude {quote(exclude)}: {wrong[0]!r} is not a letter; expected "
            "letters such as jqxz"
        )
    allowed = "".join(letter for letter in boardclass.LETTERS if letter not in exclude)
    if not allowed:
        raise InputError("--exclude leaves no letter: expected fewer than 26")
    return allowed


@options.grouped
def longest(
    listed: options.ListOptions,
    dims: options.SmallSize = "4x4",
    word: Annotated[
        str | None, option("Use only this word, which need not be in the list.")
    ] = None,
    letters: Annotated[
        int | None, numeric("Use only words of N letters; on 4x4, 17 means one Qu.")
    ] = None,
    workers: options.Threads = 0,
    n: options.Limit = 10,
    fmt: options.Format = "table",
) -> None:
    """Find the best boards with a word that uses every cell: every such word on every path through
    the board.

    The search is exhaustive, so the answer is proven.  For good boards with a shorter word, or of
    more than 16 cells, use climb --dims WxH --contains WORD.
    """
    from orderly_boggle.boardclass.geometry import geometry
    from orderly_boggle.search.local import hamilton
    from orderly_boggle.search.local.batches import ParallelScorer

    shape = geometry(dims or "4x4")
    words, table = listed.load()
    if word is not None:
        word = options.typed_word(word, words.letters)
    targets = _targets(words.words, shape.n, word, letters)
    tell("listing the paths through all cells")
    paths = hamilton.hamiltonian_paths(shape)
    tell(f"{len(targets):,} words on {len(paths):,} paths")
    scorer = ParallelScorer(search.Scorer(shape.dims, words.words, table), workers)
    with moving(len(targets)) as move:
        progress = partial(_tell_word, move, words, len(targets), time.monotonic())
        best = hamilton.best_boards(targets, paths, scorer, progress)
    rows = []
    for item in best[:n]:
        board = boardclass.with_letters(item.board, words.letters)
        rows.append((words.spell(item.word), n_letters(item.word), board, item.score))
    write_table(("word", "letters", "board", "score"), rows, fmt)


def _tell_word(
    move: Move, words: WordList, n: int, began_s: float, number: int, best: Longest | None
) -> None:
    """Say how many of ``n`` words are done, the best board, and the time left."""
    if best is not None:
        # words take alike: each is tried on the same paths
        minutes = (time.monotonic() - began_s) / number * (n - number) / 60
        board = f"best {best.score:,} {best.board} ({words.spell(best.word)})"
        move(f"{number:,}/{n:,} words, {board}, about {minutes:.0f} min left", number)


def _targets(
    words: tuple[str, ...], n_cells: int, word: str | None, letters: int | None
) -> list[str]:
    if word is not None:
        if len(word) != n_cells:
            raise InputError(f"word {quote(word)}: expected {n_cells} cells, qu being one")
        return [word]
    targets = [
        item for item in words if len(item) == n_cells and letters in (None, n_letters(item))
    ]
    if not targets:
        raise InputError(
            f"the list has no word of {n_cells} cells{f' and {letters} letters' if letters else ''}"
        )
    return targets
