"""``orderly merge``: what several drivers found is put into one run directory."""

from __future__ import annotations

from collections.abc import Sequence

from boardclass.partition import parse_partition
from boardclass.printable import counted
from cluster.answers.query import check_run_directory
from cluster.answers.render import Format, write_record
from cluster.streams import console


def merge(target: str, sources: Sequence[str], fmt: Format) -> None:
    """Check the sources, append to the target what it lacks and print how far it is.

    Raises
    ------
    InputError
        When a source is not a directory, or is the target itself.
    StoreError
        When a run is damaged, of another question, or contradicts another; nothing has been written.
    MismatchError
        When the rows of a source do not fit together; nothing has been written.
    """
    for source in sources:
        check_run_directory(source)
    from cluster.planning.nodes import SearchNodes, run_params
    from results.reading.query import summary
    from results.store.run import open_run
    from results.upkeep import merging

    runs = [open_run(source) for source in sources]
    asked = runs[0].fingerprint
    partition = parse_partition(asked.partition, asked.dims)
    nodes = SearchNodes(partition, run_params(runs[0].info), asked.cell_order)
    checked = merging.check_sources(runs, partition, nodes)
    done = merging.merge(target, checked)
    found = summary(target)
    record = {
        "target": target,
        "verdicts added": done.n_added,
        "verdicts there already": done.n_there,
        "failures added": done.n_other,
        "new parts": len(done.parts),
        "lines of the log added": done.n_lines,
        "classes settled": found.n_classes_done,
        "classes": partition.n_canonical,
    }
    if fmt is not Format.table:
        write_record({name.replace(" ", "_"): value for name, value in record.items()}, fmt)
        return
    if found.n_classes_done == partition.n_canonical:
        text = "All classes have verdicts; `orderly verify` checks whether that proves it."
    else:
        text = "Nothing is proven yet."
    console().print(f"Merged {counted(len(runs), 'run')}. {text}", style="bold", markup=False)
    console().print()
    write_record(record, fmt)
