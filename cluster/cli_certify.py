"""``orderly certify`` and ``audit``: certificates of classes written, and checked by a program that shares no code."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from boardclass.errors import InputError, MismatchError, StoreError, quote
from boardclass.partition import Partition, parse_partition
from boardclass.wordlist import available_names
from cluster.cli_query import check_run_directory
from cluster.cli_verify import run_wordlist
from cluster.render import Format, console, write_record

if TYPE_CHECKING:
    from results.run import Run


def certify(
    directory: str, classes: str | None, sample: int | None, seed: int, wordlist: str | None, fmt: Format
) -> None:
    """Record the shape of the search of some classes of a run, all of them by default.

    Each class is published when it is done: what a stopped command did need not be done again.
    """
    check_run_directory(directory)
    from boardclass.scores import ScoreTable
    from results.certificates import certified_classes, write_certificates
    from results.lock import RunLock
    from results.run import open_run
    from search.certificate import class_shape
    from search.scorer import Scorer

    run = open_run(directory)
    partition = parse_partition(run.fingerprint.partition, run.fingerprint.dims)
    chosen = chosen_classes(run, partition, classes, sample, seed)
    words = run_wordlist(run, wordlist)
    scorer = Scorer(run.fingerprint.dims, words.words, ScoreTable("run", run.fingerprint.scores))
    lock = RunLock(run.folder)
    lock.acquire()
    try:
        done = certified_classes(run)
        record = dict.fromkeys(("classes", "classes_from_before", "splits", "leaves", "boards", "bytes"), 0)
        record["classes_from_before"] = len(done & set(chosen))
        for class_id in sorted(set(chosen) - done):
            shape = class_shape(partition.class_letters(class_id), scorer, run.fingerprint.cutoff)
            record["classes"] += 1
            record["bytes"] += write_certificates(run, [(class_id, shape)])
            counts = {"splits": shape.n_splits, "leaves": shape.n_leaves, "boards": shape.n_boards}
            record |= {name: record[name] + count for name, count in counts.items()}
            _tell(f"class {class_id}: " + ", ".join(f"{count:,} {name}" for name, count in counts.items()))
    finally:
        lock.release()
    write_record(record, fmt)


def chosen_classes(run: Run, partition: Partition, classes: str | None, sample: int | None, seed: int) -> list[int]:
    """Return the canonical classes to certify, ascending.

    Raises
    ------
    InputError
        If one named is no canonical class, or both ways to choose are given.
    """
    if classes is not None and sample is not None:
        raise InputError("give --classes or --sample, not both")
    if classes is None:
        every = np.concatenate([*partition.canonical_ranks(), np.empty(0, np.int64)])
        if sample is None:
            return [int(rank) for rank in every]
        if sample > len(every):
            raise InputError(f"cannot sample {sample:,} of {len(every):,} classes of {run.folder.where('')}")
        return sorted(int(rank) for rank in np.random.default_rng(seed).choice(every, sample, replace=False))
    chosen = []
    for part in classes.replace(",", " ").split():
        known = part.isascii() and part.isdigit() and len(part) <= 19 and int(part) < partition.n_classes
        if not known or not partition.is_canonical(int(part)):
            raise InputError(f"{quote(part)} in --classes is no canonical class of the run: expected ids such as 0,17")
        chosen.append(int(part))
    return sorted(set(chosen))


def audit(directory: str, wordlist: str | None, fmt: Format) -> None:
    """Check the certificates of a run and print what that covers.

    Raises
    ------
    MismatchError
        When the checker rejects a certificate or the list of boards.
    StoreError
        When it cannot read what it needs.
    """
    check_run_directory(directory)
    from results import audit as checker

    try:
        found = checker.audit(Path(directory), _path_of_wordlist(directory, wordlist), _tell)
    except checker.Rejected as error:
        raise MismatchError(f"rejected: {error}; do not believe it before the reason is known") from error
    except checker.Unreadable as error:
        raise StoreError(str(error)) from error
    record = {"complete": found.complete, **asdict(found)}
    if fmt is Format.table:
        what = "every board there is" if found.complete else f"{found.n_boards / found.n_boards_all:.3%} of all boards"
        console().print(
            f"Audited: {what} ({found.n_classes:,} classes): each scores less than the cutoff or is listed.",
            style="bold",
            markup=False,
        )
        console().print()
    write_record(record, fmt)


def _path_of_wordlist(directory: str, wordlist: str | None) -> Path:
    """Return the file of the word list, by default the one that the run names; the checker reads it by itself."""
    from results.run import open_run

    name = wordlist or str(open_run(directory).info.get("config", {}).get("wordlist"))
    path = available_names().get(name) or Path(name)
    if not path.is_file():
        raise InputError(f"no word list {quote(name)}: name its file with --wordlist")
    return path


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
