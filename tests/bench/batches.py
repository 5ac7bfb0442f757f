"""How many part files a run of many batches ends with, and what `orderly status` of it takes.

python -m tests.bench.batches [N]    a run of N batches (30,000) in a temporary folder; CPU seconds

Each batch is flushed by itself, as when a verdict comes every thirty seconds for eleven days: the
verdicts of the published 4x4 run, then failures, of which a run may have any number.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from orderly_boggle.results.store.rows import ERROR, Row
from orderly_boggle.results.store.run import Run, open_run
from orderly_boggle.results.store.store import Store


def rows_for(run: Run) -> Iterator[Row]:
    """Yield the rows of a run, then failures without end."""
    last = None
    for row in run.rows():
        yield row
        last = row
    assert last is not None, "it has rows"
    for attempt in count(2):
        yield replace(
            last,
            status=ERROR,
            candidates=(),
            children=(),
            settled=(),
            message="measured",
            attempt=attempt,
        )


def main(n_batches: int = 30_000) -> None:
    """Write the run, read it, and print a line."""
    source = open_run("4x4-enable2k")
    with tempfile.TemporaryDirectory() as folder:
        began_s = time.process_time()
        with Store.open(folder, source.question, source.made) as store:
            for _, row in zip(range(n_batches), rows_for(source), strict=False):
                store.append([row], copied=True)
                store.flush()
            n_going_on = len(store.snapshot().manifest.parts)
            store.compact()
            n_ended = len(store.snapshot().manifest.parts)
        writing_s = time.process_time() - began_s
        command = [
            sys.executable,
            "-c",
            "from orderly_boggle.cluster.cli.start import main; main()",
        ]
        process = subprocess.Popen([*command, "status", folder], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        sys.stdout.write(
            f"{n_batches:,} batches: {writing_s:.0f} s to write; {n_going_on} parts before the "
            f"end, {n_ended} after; status {used.ru_utime + used.ru_stime:.2f} s, exit "
            f"{process.returncode}\n"
        )


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main(*map(int, sys.argv[1:]))
