"""``orderly certify`` and ``audit``: write certificates of classes, and check them by a program that shares no code."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boardclass.errors import InputError, MismatchError, StoreError, quote
from cluster.answers.render import Format, write_record
from cluster.answers.status import run_wordlist
from cluster.cli import options
from cluster.streams import console, tell

if TYPE_CHECKING:
    from boardclass.partition import Partition
    from results.proof.audit import Audit
    from results.store.run import Run
    from search.certificate import Certifier, Shape

_PUBLISH_EVERY_S = 60.0
Part = tuple[int, str]  # class and the letters forced on its first cells


def certify(
    directory: options.Run = None,
    classes: Annotated[str | None, typer.Option(metavar="IDS", help="Class ids, such as 0,17.")] = None,
    sample: Annotated[int | None, typer.Option(metavar="N", min=1, help="N classes at random.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of --sample.")] = 0,
    hot: Annotated[
        bool, typer.Option("--hot", help="Classes that list a candidate, and the tenth that took the most pushes.")
    ] = False,
    force: Annotated[
        int | None,
        typer.Option(
            metavar="M",
            min=0,
            help="Certify parts of classes: those whose first M cells have one letter each.",
            show_default="as few as it takes",
        ),
    ] = None,
    wordlist: options.RunWordlist = None,
    fmt: options.Format = Format.table,
) -> None:
    """Record the shape of the search, so that others can check it; all classes by default.

    They are published once a minute and at the end; what a stopped command published need not be done again.
    """
    directory = options.chosen_run(directory)
    from boardclass.geometry import geometry
    from results.proof.certificates import certified_parts, write_certificates
    from results.storage.lock import take_lock
    from results.store.run import open_run
    from search.certificate import Certifier

    run = open_run(directory)
    asked = run.fingerprint
    words = run_wordlist(run, wordlist)
    certifier = Certifier(geometry(asked.dims, asked.cell_order), words.words, asked.scores, asked.cutoff)
    parts = _chosen_parts(run, certifier, classes, sample, seed, hot, force)
    lock = take_lock(run.folder)
    record = dict.fromkeys(("parts", "parts_from_before", "splits", "leaves", "boards", "bytes"), 0)
    waiting: list[tuple[int, Shape]] = []
    began = time.monotonic()
    try:
        done = certified_parts(run)
        for class_id, forced in parts:
            if any(forced.startswith(other) for other in done.get(class_id, ())):
                record["parts_from_before"] += 1
                continue
            if any(other.startswith(forced) for other in done.get(class_id, ())):
                raise InputError(
                    f"class {class_id} is certified in smaller parts than {quote(forced)}: certify the rest of it with "
                    f"--force {max(map(len, done[class_id]))}"
                )
            shape = certifier.shape(run.partition.class_letters(class_id), forced)
            waiting.append((class_id, shape))
            counts = {"splits": shape.n_splits, "leaves": shape.n_leaves, "boards": shape.n_boards}
            record |= {name: record[name] + count for name, count in counts.items()}
            record["parts"] += 1
            name = f"class {class_id} {forced}".rstrip()
            tell(f"{name}: " + ", ".join(f"{count:,} {kind}" for kind, count in counts.items()))
            if time.monotonic() - began > _PUBLISH_EVERY_S:
                record["bytes"] += write_certificates(run, waiting)
                waiting, began = [], time.monotonic()
    finally:
        if waiting:
            record["bytes"] += write_certificates(run, waiting)
        lock.release()
    write_record(record, fmt)


def _chosen_parts(
    run: Run, certifier: Certifier, named: str | None, sample: int | None, seed: int, hot: bool, force: int | None
) -> Iterable[Part]:
    """Return the classes to certify: those named, so many parts at random, the hot ones, or all.

    They are cut into parts: ``force`` cells have one letter each, or as few as make one tree small enough.

    Raises InputError if a class named is not canonical, there are too few classes, or more than one way to choose is
    given.
    """
    if sum([named is not None, sample is not None, hot]) > 1:
        raise InputError("give one of --classes, --sample and --hot, not several")
    partition = run.partition
    if force is not None and force > partition.dims.n:
        raise InputError(f"--force {force}: expected at most the {partition.dims.n} cells of the board")
    classes: Iterable[int] = (int(rank) for ranks in partition.canonical_ranks() for rank in ranks)
    if named is not None:
        classes = named_classes(partition, named)
    elif hot:
        from results.proof.certificates import hot_classes

        classes = hot_classes(run)
        if not classes:
            raise InputError(f"{run.folder.where('')} has no verdict yet: run it first, or choose classes by --sample")

    def forced_letters(class_id: int) -> list[str]:
        letters = partition.class_letters(class_id)
        n = certifier.n_to_force(letters) if force is None else force
        return [letters[cell] for cell in certifier.geometry.cell_order[:n]]

    parts = ((class_id, "".join(forced)) for class_id in classes for forced in product(*forced_letters(class_id)))
    if sample is None:
        return parts
    n_parts = sum(1 for _ in islice(parts, sample))
    if n_parts < sample:
        raise InputError(
            f"cannot sample {sample:,} of {n_parts:,} parts of the run: --force with a larger number makes more"
        )
    import numpy as np

    every, rng = np.concatenate(list(partition.canonical_ranks())), np.random.default_rng(seed)
    drawn: set[Part] = set()
    while len(drawn) < sample:  # a canonical class, then a letter for each cell that is forced
        class_id = int(rng.choice(every))
        drawn.add((class_id, "".join(letters[int(rng.integers(len(letters)))] for letters in forced_letters(class_id))))
    return sorted(drawn)


def named_classes(partition: Partition, text: str) -> list[int]:
    """Return the classes that ``--classes`` names, ascending. Raises InputError when one is not a canonical class."""
    chosen = []
    for part in text.replace(",", " ").split():
        known = part.isascii() and part.isdigit() and len(part) <= 19 and int(part) < partition.n_classes
        if not known or not partition.is_canonical(int(part)):
            raise InputError(
                f"{quote(part)} in --classes is not a canonical class of the run: expected ids such as 0,17"
            )
        chosen.append(int(part))
    return sorted(set(chosen))


def audit(
    directory: options.Run = None,
    leaves: Annotated[
        int | None,
        typer.Option(
            metavar="K", min=1, help="Check K leaves and boards, drawn at random.", show_default="all of them"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Seed of --leaves.")] = 0,
    wordlist: options.RunWordlist = None,
    fmt: options.Format = Format.table,
) -> None:
    """Check certificates and boards by a program that shares no code with the search."""
    directory = options.chosen_run(directory)
    from results.proof import audit as checker
    from results.proof.certificates import check_files, record_audit
    from results.store.run import open_run

    run = open_run(directory)
    check_files(run)
    try:
        found = checker.audit(Path(directory), _path_of_wordlist(run, wordlist), tell, leaves, seed)
    except checker.Rejected as error:
        raise MismatchError(f"rejected: {error}; do not believe it before the reason is known") from error
    except checker.Unreadable as error:
        raise StoreError(str(error)) from error
    record_audit(run, found, leaves, seed)
    record = {"complete": found.complete, **asdict(found)}
    if fmt is Format.table:
        console().print(_sentence(found), style="bold", markup=False, soft_wrap=True)
        console().print()
    write_record(record, fmt)


def _sentence(found: Audit) -> str:
    every, share = found.n_boards_all, "every board there is"
    if found.n_boards < every:
        share = f"{100 * found.n_boards / every:.2g} % of all boards"
    trees = f"{found.n_parts:,} trees over {share}"
    drawn, there = found.n_leaves_checked + found.n_scored, found.n_leaves + found.n_left
    if found.n_listed < 0:
        end = f"{found.n_reaching:,} boards reach the cutoff; the run claims nothing yet to compare them with"
    else:
        end = "no board reaches the cutoff that is not listed"
    if drawn == there:
        return f"Audited: {trees}, all {there:,} leaves and boards in them: {end}."
    return f"Audited: {drawn:,} leaves and boards drawn at random from {there:,} in {trees}: {end}."


def _path_of_wordlist(run: Run, wordlist: str | None) -> Path:
    """Return the file of the word list, by default the one that the run names; the checker reads it by itself."""
    from boardclass.wordlist import available_names

    run_wordlist(run, wordlist)  # the checker reads it without limits, so its size and digest are checked first
    name = wordlist or str(run.info.get("config", {}).get("wordlist"))
    path = available_names().get(name) or Path(name)
    if not path.is_file():
        raise InputError(f"no word list {quote(name)}: name its file with --wordlist")
    return path
