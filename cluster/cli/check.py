"""``orderly verify``, ``repeat``, ``certify`` and ``audit``: what a run proves, and what is checked
of it.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from boardclass.errors import IncompleteError, InputError, MismatchError, StoreError, quote
from cluster.answers.render import Format, write_json, write_record, write_table
from cluster.answers.status import run_wordlist
from cluster.cli import options
from cluster.streams import console, tell

if TYPE_CHECKING:
    from boardclass.geometry import Dims
    from boardclass.partition import Partition
    from boardclass.scores import ScoreTable
    from cluster.driver.repeat import RepeatResult
    from results.proof.audit import Audit
    from results.store.run import Run
    from search.certificate import Certifier, Shape

_MAX_TOLD = 5
_PUBLISH_EVERY_S = 60.0
Part = tuple[int, str]  # class and the letters forced on its first cells


def verify(
    directory: options.Run = options.LATEST,
    wordlist: options.RunWordlist = None,
    write: Annotated[
        bool,
        Option(
            "--write", help="Also write claim.json and the list of boards; else nothing is written."
        ),
    ] = False,
    quick: Annotated[
        bool,
        Option(
            "--quick", help="Do not search verdicts again, nor climb: coverage and boards only."
        ),
    ] = False,
    fmt: options.Format = Format.table,
) -> None:
    """Check a run from its files, score its boards twice over, search some of it again, and say
    what is proven.

    All of the coverage and all boards are checked.  Of the eliminations a few easy ones, drawn anew
    each time, are searched again, and a climb looks for boards that are not listed.  orderly repeat
    searches more of them.
    """
    from boardclass.scores import ScoreTable
    from cluster.driver.repeat import spot_check
    from results.proof.claim import question_of
    from results.proof.nodes import run_spec
    from results.proof.verify import record as record_claim
    from results.proof.verify import verify as verify_run
    from results.store.run import open_run
    from search.scoring.scorer import Scorer

    run = open_run(directory)
    words = run_wordlist(run, wordlist)
    table = ScoreTable(question_of(run).scores, run.fingerprint.scores)
    scorer, spec = Scorer(run.fingerprint.dims, words.words, table), run_spec(run, words.words)
    found = verify_run(
        run,
        scorer,
        Referee(scorer.dims, words.words, table),
        replace(
            question_of(run),
            wordlist=words.name,
            n_words=len(words),
            scores=table.name,
            letters=words.letters,
        ),
        None
        if quick
        else lambda listed: spot_check(run, spec, scorer, listed, secrets.randbits(31)),
    )
    if write:
        record_claim(run, found)
    for note in () if write else found.notes:
        tell(f"orderly: {note}")
    claim = found.claim
    if fmt is Format.json:
        write_json({"directory": directory, **asdict(claim)})
        return
    record = {
        "strength": claim.strength,
        "classes": claim.n_classes,
        "verdicts": claim.n_units,
        "boards covered": claim.n_boards_covered,
        "candidates": claim.n_candidates,
        "boards": claim.n_canonical,
        "boards with images": claim.n_raw,
        "result digest": claim.result_digest,
        "verdict digest": claim.verdict_digest,
    }
    if fmt is Format.csv:
        record = {"statement": claim.statement, **record}
    else:
        title = f"Verified in part ({found.searched})" if quick else "Verified"
        console().print(f"{title}. {claim.statement}\n", style="bold", markup=False)
    write_record(record, fmt)


class Referee:
    """Exact scores by the solver ``words``."""

    def __init__(self, dims: Dims, words: Sequence[str], table: ScoreTable) -> None:
        from search.solvers import WordsSolver

        self._dims = (dims.w, dims.h)
        self._solver = WordsSolver(word for word in words if len(word) <= dims.n)
        self._points = table.points

    def scores(self, boards: Sequence[str]) -> list[int]:
        """Return the exact score of each board."""
        from boardclass.scores import n_letters
        from search.solvers import Grid

        solved = (self._solver.solve(Grid(board, self._dims)) for board in boards)
        return [sum(self._points[n_letters(word)] for word in words) for words in solved]


def repeat(
    directory: options.Run = options.LATEST,
    classes: Annotated[
        str | None,
        Option(metavar="IDS", help="Class ids, such as 0,17; all their parts are searched."),
    ] = None,
    sample: Annotated[int | None, Option(metavar="N", min=1, help="N verdicts at random.")] = None,
    seed: Annotated[
        int, Option(metavar="S", min=0, help="Seed of --sample, images and cell orders.")
    ] = 0,
    workers: Annotated[int, Option(metavar="N", min=1, help="Processes that search.")] = 1,
    wordlist: options.RunWordlist = None,
    fmt: options.Format = Format.table,
) -> None:
    """Search classes of a run again, turned and in another cell order, and compare with the stored
    verdicts.
    """
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
    found: list[RepeatResult] = []
    for item in repeated(run_spec(run, words.words), rows, seed, workers):
        found.append(item)
        outcome = (
            "NOT found again"
            if item.difference
            else "took too long"
            if item.gave_up
            else "found again"
        )
        tell(
            f"{len(found)}/{len(rows)} {item.name}: {item.status}, {outcome}, {item.seconds:.1f} s"
        )
    _judge(found)
    if fmt is Format.table:
        verdicts = "1 verdict was" if len(found) == 1 else f"All {len(found):,} verdicts were"
        console().print(
            f"{verdicts} found again, by another cell order.", style="bold", markup=False
        )
    elif fmt is Format.json:
        write_json(
            {"directory": directory, "seed": seed, "repeated": [asdict(item) for item in found]}
        )
    else:
        write_table(list(asdict(found[0])), [list(asdict(item).values()) for item in found], fmt)


def _judge(found: list[RepeatResult]) -> None:
    differing, left = (
        [item for item in found if item.difference],
        [item for item in found if item.gave_up],
    )
    told = [f"{item.name}: {item.difference or item.gave_up}" for item in differing or left]
    named = "; ".join(told[:_MAX_TOLD]) + ", ..." * (len(told) > _MAX_TOLD)
    if differing:
        raise MismatchError(
            f"{len(differing):,} of {len(found):,} verdicts are not found again; the run, this "
            f"machine or the program is at fault: {named}"
        )
    if left:
        raise IncompleteError(
            f"{len(found) - len(left):,} of {len(found):,} verdicts were found again; "
            f"{len(left):,} took too long in another cell order: {named}; another --seed draws "
            "another order"
        )


def certify(
    directory: options.Run = options.LATEST,
    classes: Annotated[str | None, Option(metavar="IDS", help="Class ids, such as 0,17.")] = None,
    sample: Annotated[int | None, Option(metavar="N", min=1, help="N classes at random.")] = None,
    seed: Annotated[int, Option(metavar="N", min=0, help="Seed of --sample.")] = 0,
    hot: Annotated[
        bool,
        Option(
            "--hot", help="Classes that list a candidate, and the tenth that took the most pushes."
        ),
    ] = False,
    force: Annotated[
        int | None,
        Option(
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

    They are published once a minute and at the end; what a stopped command published need not be
    done again.
    """
    from boardclass.geometry import geometry
    from results.proof.certificates import certified_parts, write_certificates
    from results.storage.lock import take_lock
    from results.store.run import open_run
    from search.certificate import Certifier

    run = open_run(directory)
    asked = run.fingerprint
    words = run_wordlist(run, wordlist)
    certifier = Certifier(
        geometry(asked.dims, asked.cell_order), words.words, asked.scores, asked.cutoff
    )
    if sum([classes is not None, sample is not None, hot]) > 1:
        raise InputError("give one of --classes, --sample and --hot, not several")
    if force is not None and force > run.partition.dims.n:
        raise InputError(
            f"--force {force}: expected at most the {run.partition.dims.n} cells of the board"
        )
    parts = _parts(run, certifier, classes, hot, force)
    if sample is not None:
        parts = _drawn_parts(run, certifier, sample, seed, force)
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
                    f"class {class_id} is certified in smaller parts than {quote(forced)}: "
                    f"certify the rest of it with --force {max(map(len, done[class_id]))}"
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


def _parts(
    run: Run, certifier: Certifier, named: str | None, hot: bool, force: int | None
) -> Iterable[Part]:
    """Yield the parts of the classes named, of the hot ones, or of all.

    ``force`` cells of a part have one letter each; None: as few as make one tree small enough.
    """
    classes: Iterable[int] = (
        int(rank) for ranks in run.partition.canonical_ranks() for rank in ranks
    )
    if named is not None:
        classes = named_classes(run.partition, named)
    elif hot:
        from results.proof.certificates import hot_classes

        classes = hot_classes(run)
        if not classes:
            raise InputError(
                f"{run.folder.where('')} has no verdict yet: run it first, or choose "
                "classes by --sample"
            )
    return (
        (class_id, "".join(letters))
        for class_id in classes
        for letters in product(*_forced_letters(run, certifier, class_id, force))
    )


def _forced_letters(run: Run, certifier: Certifier, class_id: int, force: int | None) -> list[str]:
    letters = run.partition.class_letters(class_id)
    n = certifier.n_to_force(letters) if force is None else force
    return [letters[cell] for cell in certifier.geometry.cell_order[:n]]


def _drawn_parts(
    run: Run, certifier: Certifier, sample: int, seed: int, force: int | None
) -> list[Part]:
    """Return so many parts: a canonical class is drawn, then a letter for each cell that is
    forced.
    """
    import numpy as np

    n_parts = sum(1 for _ in islice(_parts(run, certifier, None, False, force), sample))
    if n_parts < sample:
        raise InputError(
            f"cannot sample {sample:,} of {n_parts:,} parts of the run: --force with a larger "
            "number makes more"
        )
    every, rng = np.concatenate(list(run.partition.canonical_ranks())), np.random.default_rng(seed)
    drawn: set[Part] = set()
    while len(drawn) < sample:
        class_id = int(rng.choice(every))
        letters = _forced_letters(run, certifier, class_id, force)
        drawn.add((class_id, "".join(cell[int(rng.integers(len(cell)))] for cell in letters)))
    return sorted(drawn)


def named_classes(partition: Partition, text: str) -> list[int]:
    """Return the classes that ``--classes`` names, ascending. Raises InputError when one is not a
    canonical class.
    """
    chosen = []
    for part in text.replace(",", " ").split():
        known = (
            part.isascii()
            and part.isdigit()
            and len(part) <= 19
            and int(part) < partition.n_classes
        )
        if not known or not partition.is_canonical(int(part)):
            raise InputError(
                f"{quote(part)} in --classes is not a canonical class of the run: expected ids "
                "such as 0,17"
            )
        chosen.append(int(part))
    return sorted(set(chosen))


def audit(
    directory: options.Run = options.LATEST,
    leaves: Annotated[
        int | None,
        Option(
            metavar="K",
            min=1,
            help="Check K leaves and boards, drawn at random.",
            show_default="all of them",
        ),
    ] = None,
    seed: Annotated[int, Option(metavar="S", min=0, help="Seed of --leaves.")] = 0,
    wordlist: options.RunWordlist = None,
    fmt: options.Format = Format.table,
) -> None:
    """Check certificates and boards by a program that shares no code with the search."""
    from boardclass.wordlist import available_names
    from results.proof import audit as checker
    from results.proof.certificates import check_files, record_audit
    from results.store.run import open_run

    run = open_run(directory)
    check_files(run)
    # the checker reads the file itself, without limits: size and digest are checked first
    run_wordlist(run, wordlist)
    name = wordlist or str(run.info.get("config", {}).get("wordlist"))
    path = available_names().get(name) or Path(name)
    if not path.is_file():
        raise InputError(f"no word list {quote(name)}: name its file with --wordlist")
    try:
        found = checker.audit(Path(directory), path, tell, leaves, seed)
    except checker.Rejected as error:
        raise MismatchError(
            f"rejected: {error}; do not believe it before the reason is known"
        ) from error
    except checker.Unreadable as error:
        raise StoreError(str(error)) from error
    record_audit(run, found, leaves, seed)
    if fmt is Format.table:
        console().print(f"{_sentence(found)}\n", style="bold", markup=False, soft_wrap=True)
    write_record({"complete": found.complete, **asdict(found)}, fmt)


def _sentence(found: Audit) -> str:
    every, share = found.n_boards_all, "every board there is"
    if found.n_boards < every:
        share = f"{100 * found.n_boards / every:.2g} % of all boards"
    trees = f"{found.n_parts:,} trees over {share}"
    drawn, there = found.n_leaves_checked + found.n_scored, found.n_leaves + found.n_left
    end = "no board reaches the cutoff that is not listed"
    if found.n_listed < 0:
        end = (
            f"{found.n_reaching:,} boards reach the cutoff; the run claims nothing yet to compare "
            "them with"
        )
    if drawn == there:
        return f"Audited: {trees}, all {there:,} leaves and boards in them: {end}."
    return f"Audited: {drawn:,} leaves and boards drawn at random from {there:,} in {trees}: {end}."
