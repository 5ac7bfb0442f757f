"""How large the program is, how much of it a small answer takes, and how often a row is checked on
its way to a claim.

    python -m tests.bench.size

Prints what tests/bench/prose.py and house.py count; files and functions of ours that a command
calls; checks per row of a whole run; and CPU seconds of a command that has next to nothing to do.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from tests.bench.house import table
from tests.bench.prose import PRODUCT, Text, files, private_names, replaced_names, text_of

ROOT = Path(__file__).resolve().parent.parent.parent
RUN = ("run", "2x2", "--workers", "0", "--cutoff", "14")
# (folder, function): what checks whole rows; its first argument is a table
CHECKS = (("results", "check_table"),)
N_STARTS = 5


class Calls(NamedTuple):
    """What a command called: files and functions of ours, and how many rows went through a
    check.
    """

    files: set[str]
    functions: set[tuple[str, str, int]]
    checked: list[int]


@contextlib.contextmanager
def calls() -> Iterator[Calls]:
    """Collect what all threads of this process call, bodies of modules and classes left out."""
    seen = Calls(set(), set(), [])
    ours = tuple(f"{ROOT / folder}{os.sep}" for folder in PRODUCT)

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        # CO_NEWLOCALS
        if event != "call" or not code.co_filename.startswith(ours) or not code.co_flags & 0x02:
            return
        # they are imported by way of the links in the package
        name = str(Path(code.co_filename).relative_to(ROOT)).removeprefix(f"orderly_boggle{os.sep}")
        seen.files.add(name)
        seen.functions.add((name, code.co_qualname, code.co_firstlineno))
        if (name.partition(os.sep)[0], code.co_name) in CHECKS:
            seen.checked.append(frame.f_locals[code.co_varnames[0]].num_rows)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def traced(*arguments: str) -> Calls:
    """Run a command in this process and return what it called; its output goes nowhere."""
    from orderly_boggle.cluster.cli.start import main

    sys.argv = ["orderly", *arguments]
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        calls() as seen,
    ):
        try:
            main()
        except SystemExit as left:
            if left.code:
                raise
    return seen


def in_process(call: str, folder: str) -> str:
    """Return what a process of its own prints, which has imported nothing yet."""
    code = f"from tests.bench.size import *; {call}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{call}: {done.stderr}")
    return done.stdout.strip()


def cpu_s(folder: str, *arguments: str) -> float:
    """Return the median CPU seconds of a command in a process of its own."""
    command = [
        sys.executable,
        "-c",
        "from orderly_boggle.cluster.cli.start import main; main()",
        *arguments,
    ]
    taken = []
    for _ in range(N_STARTS):
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{' '.join(arguments)}: exit code {process.returncode}")
        taken.append(used.ru_utime + used.ru_stime)
    return statistics.median(taken)


def main() -> None:
    """Measure and print."""
    texts = {folder: text_of(folder) for folder in (*PRODUCT, "tests")}
    product = sum((texts[folder] for folder in PRODUCT), Text())
    lines = [f"{'':40}{'product':>10}{'tests':>10}"]
    for name in (field.name for field in fields(Text)):
        of_product = getattr(product, name)
        of_tests = getattr(texts["tests"], name)
        lines.append(f"{name.replace('_', ' '):40}{of_product:10,}{of_tests:10,}")
    lines.append(f"{'characters a code line':40}{product.width:10.1f}{texts['tests'].width:10.1f}")
    modules = [path for path in files("tests") if path.suffix == ".py"]
    lines.append(f"{'private names used':50}{private_names(modules):10,}")
    lines.append(f"{'names replaced (setattr)':50}{replaced_names(modules):10,}")
    lines += [f"{'tokens of ' + folder:40}{text.tokens:10,}" for folder, text in texts.items()]
    with tempfile.TemporaryDirectory() as folder:
        count = "seen = traced(*{}); "
        told = "print(len(seen.files), len(seen.functions), sum(seen.checked))"
        n_files, n_functions, n_checked = in_process(
            count.format((*RUN, "--out", "run")) + told, folder
        ).split()
        rows = "from orderly_boggle import open_run; print(len(list(open_run(Path('run')).rows())))"
        n_rows = int(in_process(rows, folder))
        lines.append(f"{'orderly ' + ' '.join(RUN):40}{n_files:>8} files, {n_functions} functions")
        n_files, n_functions, _ = in_process(count.format(("top", "run")) + told, folder).split()
        lines.append(f"{'orderly top RUN':40}{n_files:>8} files, {n_functions} functions")
        lines.append(
            f"{'checks of a row, worker to claim':40}{int(n_checked) / n_rows:8.2f} ({n_rows} rows)"
        )
        for command in (("status", "run"), ("show", "tear")):
            lines.append(f"{'start-up of ' + command[0]:40}{cpu_s(folder, *command):8.2f} CPU s")
    with tempfile.TemporaryDirectory() as folder:
        lines += ["", *table(Path(folder))]
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
