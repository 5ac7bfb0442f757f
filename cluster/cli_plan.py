"""``orderly plan``: what a run would cost, before it is started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cluster.cli_run import resolve
from cluster.render import Format, console, write_json, write_record


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
    from cluster.estimate import estimate
    from cluster.plan import make_plan

    found = estimate(make_plan(config), seconds, seed, processes=processes)
    record = {**asdict(found), "price": found.cpu_hours * price, "price_per_core_hour": price}
    if fmt is Format.json:
        write_json(record)
        return
    strata = record.pop("strata")
    if fmt is Format.csv:
        write_record(record, fmt)
        return
    out = console()
    out.print(
        f"about {found.cpu_hours:,.3g} hours of one core (95 %: {found.low:,.3g} to {found.high:,.3g}), "
        f"{found.memory_mb:,} MiB per worker; at {price:g} per core hour: {record['price']:,.2f}",
        style="bold",
        soft_wrap=True,
    )
    for name, (n_classes, n_probes, mean) in zip(("weak", "medium", "strong", "strongest"), strata, strict=False):
        out.print(f"{name}: {n_classes:,} classes, {n_probes:,} probed, {mean:,.3g} s each", soft_wrap=True)
