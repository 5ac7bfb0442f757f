"""``orderly plan`` and ``tune``: what a run would cost, and what it would cost if it were searched in other ways."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from boardclass.printable import counted
from cluster.answers.render import Format, write_json, write_record, write_table
from cluster.cli.run import resolve
from cluster.driver.progress import duration
from cluster.streams import console


def plan(
    source: str | None,
    options: Mapping[str, Any],
    seconds: float,
    price: float,
    seed: int,
    processes: int,
    fmt: Format,
) -> None:
    """Estimate the cost of a run and print it; nothing is written.

    Raises
    ------
    InputError
        For everything wrong with what the user gave.
    """
    config = resolve(source, {**options, "workers": 0})
    from cluster.planning.estimate import estimate
    from cluster.planning.plan import make_plan

    with _progress(seconds) as tell:
        found = estimate(make_plan(config), seconds, seed, processes=processes, tell=tell)
    record = {**asdict(found), "price": found.cpu_hours * price, "price_per_core_hour": price}
    if fmt is Format.json:
        write_json(record)
        return
    strata = record.pop("strata")
    if fmt is Format.csv:
        write_record(record, fmt)
        return
    out = console()
    cost, low, high = (_time(3600 * hours) for hours in (found.cpu_hours, found.low, found.high))
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


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= 10 else f"{seconds:.2g} s"


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


def tune(source: str | None, options: Mapping[str, Any], rounds: int, seed: int, processes: int, fmt: Format) -> None:
    """Estimate the cost of a run in several ways and print them side by side.

    Raises
    ------
    InputError
        For everything wrong with what the user gave.
    """
    config = resolve(source, {**options, "workers": 0})
    from cluster.planning.tune import variants

    rows: list[dict[str, Any]] = []
    for variant in variants(config):
        found = variant.estimate(rounds, seed, processes)
        first = rows[0]["cpu_hours"] if rows else found.cpu_hours
        rows.append(
            {
                "variant": variant.name,
                "cpu_hours": found.cpu_hours,
                "ratio": found.cpu_hours / first,
                "low": found.low,
                "high": found.high,
                "n_classes": found.n_classes,
                "n_probes": found.n_probes,
                "memory_mb": found.memory_mb,
            }
        )
        if fmt is Format.table:  # each takes minutes: shown as it comes
            console().print(
                f"{variant.name:32}{found.cpu_hours:12.4g} h  [{found.low:.4g} to {found.high:.4g}]"
                f"{rows[-1]['ratio']:8.2f}  {found.n_classes:,} classes",
                soft_wrap=True,
                highlight=False,
                markup=False,
            )
    if fmt is not Format.table:
        write_table(list(rows[0]), [list(row.values()) for row in rows], fmt)
