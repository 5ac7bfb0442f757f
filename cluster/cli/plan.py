"""``orderly plan`` and ``tune``: what a run would cost, and what it would cost if it were searched in other ways."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Any

import typer

from boardclass.printable import counted, duration
from cluster.answers.render import Format, write_json, write_record, write_table
from cluster.cli import options
from cluster.cli.run import resolve
from cluster.streams import console


def plan(
    config: options.Config = None,
    dims: options.Size = None,
    wordlist: options.Wordlist = None,
    cutoff: options.Cutoff = None,
    buckets: options.Buckets = None,
    order: options.Order = None,
    scores: options.Scores = None,
    seconds: Annotated[
        float,
        typer.Option(metavar="S", min=0, help="Time to spend on probes; less if every class has been searched before."),
    ] = 300,
    price: Annotated[float, typer.Option(metavar="P", min=0, help="Price of one core for an hour.")] = 0.02,
    memory: options.Memory = None,
    seed: options.Seed = 0,
    workers: options.Probes = 1,
    fmt: options.Format = Format.table,
) -> None:
    """Estimate what a run will cost, from random classes: core hours, memory, price."""
    asked = options.given(
        memory, dims=dims, wordlist=wordlist, cutoff=cutoff, buckets=buckets, order=order, scores=scores
    )
    resolved = resolve(config, {**asked, "workers": 0})
    from cluster.planning.estimate import estimate
    from cluster.planning.plan import make_plan

    with _progress(seconds) as tell:
        found = estimate(make_plan(resolved), seconds, seed, processes=workers, tell=tell)
    record = {**asdict(found), "price": found.cpu_hours * price, "price_per_core_hour": price}
    if fmt is Format.json:
        write_json(record)
        return
    strata = record.pop("strata")
    if fmt is Format.csv:
        write_record(record, fmt)
        return
    out = console()
    times_s = (3600 * hours for hours in (found.cpu_hours, found.low, found.high))
    cost, low, high = (duration(seconds) if seconds >= 10 else f"{seconds:.2g} s" for seconds in times_s)
    within = f"95 %: {low} to {high}"
    out.print(
        f"about {cost} of one core ({'every class was searched' if found.is_known else within}), "
        f"{found.memory_mb:,} MiB per worker; at {price:g} per core hour: {record['price']:,.2f}",
        style="bold",
        soft_wrap=True,
    )
    out.print("classes from weak to strong:")
    for n_classes, n_probes, mean in strata:
        out.print(
            f"  {counted(n_classes, 'class', 'classes')}, {n_probes:,} probed, {mean:,.3g} s each", soft_wrap=True
        )


@contextmanager
def _progress(seconds: float) -> Iterator[Callable[[float], None]]:
    """Show on a terminal how much of the time for probes has passed; yield what is to be told the seconds passed."""
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        TextColumn("probing random classes"),
        BarColumn(),
        TextColumn("{task.fields[gone]} of {task.fields[all]}"),
    )
    shown = console(sys.stderr)
    with Progress(
        *columns, console=shown, transient=True, refresh_per_second=4, disable=not shown.is_terminal
    ) as bar:  # elsewhere it would leave an empty line
        task = bar.add_task("", total=max(seconds, 1), gone=duration(0), all=duration(seconds))
        yield lambda gone: bar.update(task, completed=gone, gone=duration(gone))


def tune(
    config: options.Config = None,
    dims: options.Size = None,
    wordlist: options.Wordlist = None,
    cutoff: options.Cutoff = None,
    buckets: options.Buckets = None,
    scores: options.Scores = None,
    rounds: Annotated[
        int, typer.Option(metavar="N", min=2, help="Random classes of each stratum of predicted cost.")
    ] = 4,
    seed: options.Seed = 0,
    workers: options.Probes = 1,
    fmt: options.Format = Format.table,
) -> None:
    """Compare partitions, budgets and cell orders on the same random classes."""
    asked = options.given(dims=dims, wordlist=wordlist, cutoff=cutoff, buckets=buckets, scores=scores)
    resolved = resolve(config, {**asked, "workers": 0})
    from cluster.planning.estimate import estimate, variants

    rows: list[dict[str, Any]] = []
    for name, variant in variants(resolved):
        found = estimate(variant, 0, seed, processes=workers, least=rounds)
        first = rows[0]["cpu_hours"] if rows else found.cpu_hours
        figures = asdict(found)
        columns = ("cpu_hours", "ratio", "low", "high", "n_classes", "n_probes", "memory_mb")
        rows.append(
            {"variant": name} | {column: (figures | {"ratio": found.cpu_hours / first})[column] for column in columns}
        )
        if fmt is Format.table:  # each takes minutes: shown as it comes
            console().print(
                f"{name:32}{found.cpu_hours:12.4g} h  [{found.low:.4g} to {found.high:.4g}]"
                f"{rows[-1]['ratio']:8.2f}  {found.n_classes:,} classes",
                soft_wrap=True,
                highlight=False,
                markup=False,
            )
    if fmt is not Format.table:
        write_table(list(rows[0]), [list(row.values()) for row in rows], fmt)
