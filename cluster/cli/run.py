"""``orderly run``: options to config, the run itself, and what is said at its end."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boardclass.errors import ConfigError, IncompleteError
from cluster.answers.render import draw_board, heat_of_cells
from cluster.cli import options
from cluster.streams import console

if TYPE_CHECKING:
    from cluster.driver.session import RunOutcome
    from configs.model import RunConfig

MAX_DRAWN = 3


def run(
    config: options.Config = None,
    dims: options.Size = None,
    wordlist: options.Wordlist = None,
    cutoff: Annotated[
        str | None, typer.Option(metavar="N|auto", help="Lowest score to report; auto: the best of a hill climb.")
    ] = None,
    buckets: options.Buckets = None,
    order: options.Order = None,
    scores: options.Scores = None,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Worker processes; 0: this process, faster for a search of seconds.",
            show_default="config",
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="auto|HOST:PORT|ray://HOST:PORT|local",
            help="Work on this Ray cluster, on every processor or --workers of them.",
        ),
    ] = None,
    memory: options.Memory = None,
    replicate: Annotated[
        float | None,
        typer.Option(metavar="PERCENT", help="Verdicts to find a second time in another way.", show_default="1"),
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of the hill climb.")] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Run directory.", show_default="runs/DIMS-WORDLIST-CUTOFF")
    ] = None,
    extend: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Take over verdicts of a run at another cutoff that hold at this one."),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(
            metavar="K/N",
            help="Search the K-th of N equal shares of the classes only; `orderly merge` puts them together.",
        ),
    ] = None,
    drop_damaged: Annotated[
        bool, typer.Option("--drop-damaged", help="Compute again what damaged files held, instead of stopping.")
    ] = False,
) -> None:
    """Find every board at or above the cutoff and prove there is no other; run it again to resume."""
    asked = options.given(
        memory,
        dims=dims,
        wordlist=wordlist,
        cutoff=cutoff,
        buckets=buckets,
        order=order,
        scores=scores,
        workers=workers,
        address=address,
        replicate=replicate,
        seed=seed,
        out=out,
    )
    from cluster.planning.shares import parse_share

    began = time.monotonic()
    mine = parse_share(share) if share is not None else None
    resolved = resolve(config, asked)
    try:
        from cluster.driver import driver  # compiles the kernels the first time: long enough to be interrupted
        from cluster.driver.progress import make_progress

        outcome = driver.run(resolved, progress=make_progress(), drop_damaged=drop_damaged, extends=extend, share=mine)
    except KeyboardInterrupt as error:  # outside the search, where the driver does not catch signals
        raise IncompleteError("stopped; the same command goes on from what is stored") from error
    outcome = replace(outcome, seconds=time.monotonic() - began)  # with what it took to compile the kernels
    if outcome.share_done:
        _print_share(outcome)
        return
    if outcome.claim is None:
        raise IncompleteError(f"the run in {outcome.location} is incomplete: {outcome.message}")
    _print_claim(resolved, outcome)


def resolve(source: str | None, asked: Mapping[str, Any]) -> RunConfig:
    """Return the config that the command line asks for; nothing has been written yet."""
    if source is None and "dims" not in asked:
        raise ConfigError("nothing to run: name a config, such as configs/3x3.toml or 3x3, or give --dims")
    from boardclass.geometry import DIMS
    from configs.model import load_config, preset_names

    if source in DIMS and source not in preset_names():  # a size that no preset has
        source, asked = None, {"dims": source, **asked}
    return load_config(source, asked)


def _print_share(outcome: RunOutcome) -> None:
    out = console()
    out.print(f"Not proven. In {outcome.location}, {outcome.message}", markup=False, soft_wrap=True)
    again = f", {outcome.n_reused:,} from before" if outcome.n_reused else ""
    out.print(f"{outcome.n_computed:,} verdicts computed{again}, {outcome.seconds:,.1f} s", markup=False)


def _print_claim(config: RunConfig, outcome: RunOutcome) -> None:
    from boardclass.board import format_rows, with_letters
    from boardclass.scores import parse_scores
    from boardclass.wordlist import load_wordlist
    from search.scoring.scorer import Scorer

    assert outcome.claim is not None, "checked by the caller"
    out = console()
    best = [item for item in outcome.listed.boards if item.score == outcome.listed.boards[0].score]
    if best:
        words = load_wordlist(config.wordlist)
        scorer = Scorer(outcome.dims, words.words, parse_scores(config.scores))
    for item in best[:MAX_DRAWN]:
        found = scorer.words(item.board)
        rows = format_rows(item.board, outcome.dims, words.letters)
        out.print(draw_board(rows, heat_of_cells(len(item.board), ((word.points, word.path) for word in found))))
        typed = with_letters(item.board, words.letters)
        out.print(f"{typed}: {item.score:,} points, {len(found):,} words", markup=False)
        out.print()
    out.print(f"Proven. {outcome.claim.statement}", style="bold", markup=False)
    out.print()
    again = f", {outcome.n_reused:,} from before" if outcome.n_reused else ""
    out.print(f"{outcome.n_computed:,} verdicts computed{again}, {outcome.seconds:,.1f} s", markup=False)
    out.print(f"digest {outcome.digest}", markup=False, soft_wrap=True)
    out.print(f"more: orderly top {outcome.location}", markup=False, soft_wrap=True)
