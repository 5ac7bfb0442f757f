"""``orderly repeat``: verdicts of a run found again in another way, and compared with what is stored."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from boardclass.errors import IncompleteError, InputError, MismatchError
from cluster.answers.render import Format, write_json, write_table
from cluster.answers.status import run_wordlist
from cluster.cli.certify import named_classes
from cluster.cli.options import FormatOption, RunDirectory, RunWordlistOption, chosen_run
from cluster.streams import console, tell

if TYPE_CHECKING:
    from cluster.driver.repeat import Repeated

_MAX_TOLD = 5


def repeat(
    directory: RunDirectory = None,
    classes: Annotated[
        str | None, typer.Option(metavar="IDS", help="Class ids, such as 0,17; all their parts are searched.")
    ] = None,
    sample: Annotated[int | None, typer.Option(metavar="N", min=1, help="N verdicts at random.")] = None,
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Seed of --sample, images and cell orders.")] = 0,
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Processes that search.")] = 1,
    wordlist: RunWordlistOption = None,
    fmt: FormatOption = Format.table,
) -> None:
    """Search classes of a run again, turned and in another cell order, and compare with the stored verdicts."""
    directory = chosen_run(directory)
    if (classes is None) == (sample is None):
        raise InputError("give either --classes, such as --classes 0,17, or --sample N")
    from cluster.driver.repeat import drawn_rows, repeated, rows_of_classes
    from results.proof.nodes import run_spec
    from results.store.run import open_run, raise_conflicts

    run = open_run(directory)
    raise_conflicts(run.conflicts)
    words = run_wordlist(run, wordlist)
    if classes is not None:
        rows = rows_of_classes(run, named_classes(run.partition, classes))
    else:
        rows = drawn_rows(run, sample or 0, seed)
    spec = run_spec(run, words.words)
    found: list[Repeated] = []
    for item in repeated(spec, rows, seed, workers):
        found.append(item)
        tell(f"{len(found)}/{len(rows)} {_name(item)}: {item.status}, {_outcome(item)}, {item.seconds:.1f} s")
    _judge(found)
    if fmt is Format.table:
        verdicts = "1 verdict was" if len(found) == 1 else f"All {len(found):,} verdicts were"
        console().print(f"{verdicts} found again, by another cell order.", style="bold", markup=False)
    elif fmt is Format.json:
        write_json({"directory": directory, "seed": seed, "repeated": [asdict(item) for item in found]})
    else:
        write_table(list(asdict(found[0])), [list(asdict(item).values()) for item in found], fmt)


def _judge(found: list[Repeated]) -> None:
    """Raise unless every verdict was found again."""
    differing = [item for item in found if item.difference]
    if differing:
        raise MismatchError(
            f"{len(differing):,} of {len(found):,} verdicts are not found again; the run, this machine or the program "
            f"is at fault: {_told(differing)}"
        )
    left = [item for item in found if item.gave_up]
    if left:
        raise IncompleteError(
            f"{len(found) - len(left):,} of {len(found):,} verdicts were found again; {len(left):,} took too long in "
            f"another cell order: {_told(left)}; another --seed draws another order"
        )


def _told(items: list[Repeated]) -> str:
    told = [f"{_name(item)}: {item.difference or item.gave_up}" for item in items[:_MAX_TOLD]]
    return "; ".join(told) + ", ..." * (len(items) > _MAX_TOLD)


def _name(item: Repeated) -> str:
    return f"class {item.class_id} {item.path}".rstrip()


def _outcome(item: Repeated) -> str:
    return "NOT found again" if item.difference else "took too long" if item.gave_up else "found again"
