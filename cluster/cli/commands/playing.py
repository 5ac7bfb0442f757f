"""Boards and classes: climb, longest, neighbours, roll, show, score, solve, lists, bound, explain."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cluster.answers.render import Format
from cluster.cli import complete as cli_complete
from cluster.cli.options import (
    BoardArgument,
    BucketsOption,
    DimsOption,
    FormatOption,
    LimitOption,
    ScoresOption,
    SeedOption,
    WordlistOption,
)


class Method(StrEnum):
    """How ``climb`` searches."""

    pool = "pool"
    anneal = "anneal"
    genetic = "genetic"


def climb(
    dims: DimsOption = None,
    method: Annotated[
        Method, typer.Option("--method", help="Pool hill climb, simulated annealing, genetic algorithm.")
    ] = Method.pool,
    pool: Annotated[
        int,
        typer.Option(metavar="N", min=2, max=10**6, help="Boards kept, chains, or population, of all runs together."),
    ] = 500,
    seed: SeedOption = 0,
    runs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Searches that share the pool and are counted together.",
            show_default="5; others, and --from: 1",
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=256, help="Threads that score; never changes the result; 0: all cores."),
    ] = 0,
    exclude: Annotated[
        str, typer.Option("--exclude", metavar="LETTERS", help="Letters that boards must not use.", show_default=False)
    ] = "",
    start: Annotated[
        str | None, typer.Option("--from", metavar="BOARD", help="Start from this board, not from random ones.")
    ] = None,
    contains: Annotated[
        str | None, typer.Option("--contains", metavar="WORD", help="Only boards on which this word can be traced.")
    ] = None,
    n: LimitOption = 10,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Look for good boards by local search: fast, but without proof.

    Boards are canonical (one of their rotations and reflections).  The column "found" says how often a board was found:
    for annealing by how many chains, otherwise in how many of the --runs.  Ctrl-C prints the best boards so far (exit
    code 130); a second one prints nothing.

    The wordiest board: --scores words.  Points that double with every letter: --scores powers; climbing then misses
    boards with one very long word, such as rpqaselinifcoita: orderly longest --letters 17 --scores powers finds it.
    """
    from cluster.cli import climb as cli_climb

    asked = cli_climb.Asked(dims, method.value, pool, seed, runs, workers, exclude, start, contains, n)
    cli_climb.climb(asked, wordlist, scores, fmt)


def longest(
    dims: Annotated[
        str, typer.Option("--dims", "-d", metavar="WxH", help="Board size.", autocompletion=cli_complete.sizes)
    ] = "4x4",
    word: Annotated[str | None, typer.Option("--word", help="This word only; need not be in the list.")] = None,
    letters: Annotated[
        int | None, typer.Option(metavar="N", help="Words of N letters only: 17 on 4x4 has one Qu.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Try N random paths a word instead of all.")
    ] = None,
    seed: SeedOption = 0,
    workers: Annotated[int, typer.Option(metavar="N", min=0, max=256, help="Threads that score; 0: all cores.")] = 0,
    n: LimitOption = 10,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Find the best boards with a word that uses every cell: all paths through the board times all such words.

    Without --sample the answer is exhaustive, so a proof.  For the best board with a shorter word: climb --contains.
    """
    from cluster.answers import longest as cli_longest

    cli_longest.longest(dims, word, letters, sample, seed, workers, n, wordlist, scores, fmt)


def neighbours(
    board: BoardArgument,
    dims: DimsOption = None,
    n: LimitOption = 10,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """List the best boards one letter or one swap away."""
    from cluster.answers import longest as cli_longest

    cli_longest.neighbours(board, dims, n, wordlist, scores, fmt)


def roll(
    dice: Annotated[
        str,
        typer.Option(
            "--dice",
            metavar="NAME|FILE",
            help="classic, new, big, or a TOML file.",
            autocompletion=cli_complete.dice,
        ),
    ] = "new",
    n: LimitOption = 1,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", min=0, help="Repeats the same rolls.", show_default="random")
    ] = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Roll dice: random boards with their scores."""
    from cluster.answers import dice as cli_dice

    cli_dice.roll_boards(dice, n, seed, wordlist, scores, fmt)


def show(
    board: BoardArgument,
    dims: DimsOption = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    word: Annotated[
        str | None, typer.Option("--word", metavar="WORD", help="Draw the path of this word into the picture.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE.svg|FILE.png", help="Draw the board into a file instead.")
    ] = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Draw a board and list its words by length."""
    from cluster.answers import boards as cli_boards

    cli_boards.show(board, dims, wordlist, scores, word, out, fmt)


def score(
    dims: DimsOption = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Score the boards on standard input: one a line, or the CSV that top, climb, roll, compare or score print."""
    from cluster.answers import boards as cli_boards

    cli_boards.score(dims, wordlist, scores, fmt)


def solve(
    board: BoardArgument,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            metavar="trie|words|heap|paths",
            help="Which independent solver.",
            autocompletion=cli_complete.solvers,
        ),
    ] = "trie",
    dims: DimsOption = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    begin_only: Annotated[
        str | None, typer.Option(metavar="CELLS", help="Cells that may only begin a word, such as 0,5.")
    ] = None,
    end_only: Annotated[str | None, typer.Option(metavar="CELLS", help="Cells that may only end a word.")] = None,
    fmt: FormatOption = Format.table,
) -> None:
    """List the words on a board by a solver that shares no code with the scorer."""
    from cluster.cli import solve as cli_solve

    cli_solve.solve(board, method, dims, wordlist, scores, begin_only, end_only, fmt)


def lists(
    board: BoardArgument,
    dims: DimsOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Score a board under every word list that can be named."""
    from cluster.answers import longest as cli_longest

    cli_longest.lists(board, dims, scores, fmt)


def bound(
    board_class: Annotated[
        str,
        typer.Argument(
            metavar="CLASS",
            help="A class number (with --dims, --buckets), or one group of letters per cell: 'lnrsy aeiou ...'.",
            show_default=False,
        ),
    ],
    dims: DimsOption = None,
    buckets: BucketsOption = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    tree: Annotated[
        bool, typer.Option("--tree", help="Draw the Sum/Choice tree and the orderly tree of a small class.")
    ] = False,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE.svg|FILE.dot", help="Write the trees to files instead.")
    ] = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Print upper bounds on the score of every board of a class."""
    from cluster.answers import boards as cli_boards
    from cluster.answers import explain as cli_explain

    if tree or out is not None:
        cli_explain.tree(board_class, dims, buckets, wordlist, scores, out)
        return

    cli_boards.bound(board_class, dims, buckets, wordlist, scores, fmt)


def explain(
    board_class: Annotated[
        str,
        typer.Argument(
            metavar="CLASS", help="A number, or one group of letters per cell, as for bound.", show_default=False
        ),
    ],
    dims: DimsOption = None,
    buckets: BucketsOption = None,
    cutoff: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Show where this cutoff eliminates the class.")
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="DIR", help="Show what this run stored about class number CLASS.")
    ] = None,
    wordlist: WordlistOption = None,
    scores: ScoresOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Explain one class: terms, bounds by forced cell, where it is eliminated."""
    from cluster.answers import explain as cli_explain

    cli_explain.explain(board_class, dims, buckets, wordlist, scores, cutoff, run, fmt)


COMMANDS = (climb, longest, neighbours, roll, show, score, solve, lists, bound, explain)
