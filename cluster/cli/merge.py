"""``orderly merge``: what several drivers found is put into one run directory."""

from __future__ import annotations

from typing import Annotated

import typer

from boardclass.printable import counted
from cluster.answers.render import Format, write_record
from cluster.cli import options
from cluster.streams import console


def merge(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Run directory, old or new.", show_default=False)],
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE...", help="Runs of the same question.", show_default=False)
    ],
    fmt: options.Format = Format.table,
) -> None:
    """Put runs of the same question together: TARGET gets what it lacks, as new files; the sources stay as they are."""
    sources = [options.named_run(source) for source in sources]
    from results.proof.prove import summary
    from results.store.run import open_run
    from results.upkeep import merging

    runs = [open_run(source) for source in sources]
    done = merging.merge(target, merging.check_sources(runs))
    found = summary(target)
    record = {
        "target": target,
        "verdicts added": done.n_added,
        "verdicts there already": done.n_there,
        "failures added": done.n_other,
        "new parts": len(done.parts),
        "lines of the log added": done.n_lines,
        "classes settled": found.n_classes_done,
        "classes": found.n_classes,
    }
    if fmt is not Format.table:
        write_record({name.replace(" ", "_"): value for name, value in record.items()}, fmt)
        return
    if found.n_classes_done == found.n_classes:
        text = "All classes have verdicts; `orderly verify` checks whether that proves it."
    else:
        text = "Nothing is proven yet."
    console().print(f"Merged {counted(len(runs), 'run')}. {text}", style="bold", markup=False)
    console().print()
    write_record(record, fmt)
