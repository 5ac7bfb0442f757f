"""``orderly verify``, ``repeat``, ``certify`` and ``audit``: what a run proves, and what is checked
of it.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from orderly_boggle.boardclass.errors import (
    IncompleteError,
    InputError,
    MismatchError,
    StoreError,
    quote,
)
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.cluster.answers.render import Format, write_json, write_record, write_table
from orderly_boggle.cluster.cli import options
from orderly_boggle.cluster.cli.options import numeric, option
from orderly_boggle.cluster.streams import say, tell

if TYPE_CHECKING:
    from orderly_boggle.boardclass.partition import Partition
    from orderly_boggle.results.proof.audit import Audit
    from orderly_boggle.results.proof.repeat import RepeatResult
    from orderly_boggle.results.proof.verify import VerifyResult

_MAX_TOLD = 5


@options.grouped
def verify(
    source: options.RunWords,
    write: Annotated[
        bool,
        option("Also write claim.json; otherwise nothing is written.", "--write"),
    ] = False,
    quick: Annotated[
        bool,
        option(
            "Check coverage and boards only: search no verdicts again, and do not climb.", "--quick"
        ),
    ] = False,
    repeat: Annotated[
        int | None,
        numeric(
            "Search N verdicts again, drawn from all of them, and print the odds that N draws"
            " miss false verdicts.",
            min=1,
            show_default="easy ones for 15 s",
        ),
    ] = None,
    workers: Annotated[int, numeric("Processes that search again for --repeat.", min=1)] = 1,
    fmt: options.Format = "table",
) -> None:
    """Check a run from its files, score its boards with two solvers, search some of it again, and
    say what was checked.

    The whole coverage and all boards are checked.  The run must list the boards of every run that
    comes with orderly and asks about the same size, list and points, and all boards that a climb
    finds.  Verdicts that take little time are searched again for 15 CPU seconds; a class that was
    split counts by the verdicts of its parts.  The command says "Verified" only if it searched all
    verdicts again, or if a run that comes with orderly has the same boards and the climb found no
    other.
    """
    # one of the two would be ignored in silence
    if quick and repeat:
        raise InputError("--quick searches nothing again: leave it out, or --repeat")
    # inside: these load kernels, and --help imports every command
    from orderly_boggle.results.proof.repeat import overlooked
    from orderly_boggle.results.proof.verify import record as record_claim, verify as verify_run

    run, words = source.open()
    result = verify_run(run, words, repeat, workers, quick=quick)
    # before anything is printed: a claim that cannot be written is an error, not a footnote
    if write:
        record_claim(run, result)
    for note in () if write else result.notes:
        tell(f"orderly: {note}")
    n = result.n_verdicts
    odds = {}
    if repeat:
        odds = {k: overlooked(n, repeat, k) for k in (1, 10, 100, 1000) if k <= n}
    if fmt != "json":
        _show_claim(result, repeat or 0, odds, fmt)
        return
    if repeat:
        more = {"odds_of_overlooking": odds}
    else:
        more = {}
    checks = {"verified": result.verified, "checked": result.checked}
    write_json({"directory": source.directory, **checks, **more, **asdict(result.claim)})


def _show_claim(result: VerifyResult, n_repeated: int, odds: dict[int, float], fmt: Format) -> None:
    claim = result.claim
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
    for k, chance in odds.items():
        name = f"odds that {counted(n_repeated, 'draw')} overlook {counted(k, 'false verdict')}"
        record[name] = f"{100 * chance:.3g} %"
    if fmt == "csv":
        first = {"verified": result.verified, "checked": result.checked}
        record = {**first, "statement": claim.statement, **record}
    else:
        # first what was checked, then the claim: whoever reads one line reads the condition
        say(f"{_first_words(result)}\n", "bold")
    write_record(record, fmt)


def _first_words(result: VerifyResult) -> str:
    """Return what was checked, then the claim, with what it rests on."""
    if result.verified:
        return f"Verified: {result.checked}. {result.claim.statement}"
    n_others = result.n_verdicts - result.n_repeated
    others = "If they are right"
    if result.n_repeated:
        others = f"If the other {n_others:,} are right"
    return f"Coverage holds; {result.checked}. {others}: {result.claim.statement}"


Classes = Annotated[str | None, option("Class ids, such as 0,17.", metavar="IDS")]


@options.grouped
def repeat(
    source: options.RunWords,
    classes: Classes = None,
    sample: Annotated[int | None, numeric("N verdicts at random.", min=1)] = None,
    seed: Annotated[
        int, option("Seed of --sample, images and cell orders.", metavar="S", min=0)
    ] = 0,
    workers: Annotated[int, numeric("Processes that search.", min=1)] = 1,
    fmt: options.Format = "table",
) -> None:
    """Search classes of a run again, turned and in another cell order, and compare with the stored
    verdicts.
    """
    # repeating everything is a new run, not a check
    if (classes is None) == (sample is None):
        raise InputError("give either --classes, such as --classes 0,17, or --sample N")
    from orderly_boggle.results.proof.nodes import run_spec
    from orderly_boggle.results.proof.repeat import repeated, rows_of_classes, sampled_rows
    from orderly_boggle.results.store.run import raise_conflicts

    run, words = source.open()
    if classes is not None:
        named = named_classes(run.partition, classes)
        rows = rows_of_classes(run, named)
        # named classes may be in conflict: to find out which row is right is what one repeats for
        for (class_id, _), rivals in run.conflicts.items():
            if class_id in named:
                tell(rivals)  # each is searched again, in this order
    else:
        # a draw of all verdicts must know which these are
        raise_conflicts(run.conflicts)
        rows = sampled_rows(run, sample or 0, seed)
    done: list[RepeatResult] = []
    for item in repeated(run_spec(run, words), rows, seed, workers):
        done.append(item)
        outcome = f"{item.status}, {_outcome(item)}, {item.seconds:.1f} s"
        tell(f"{len(done)}/{len(rows)} {item.name}: {outcome}")
    # after all of them: the message says how many differ, not only the first
    _judge(done)
    _tell_repeats(source.directory, seed, done, fmt)


def _tell_repeats(directory: str, seed: int, done: list[RepeatResult], fmt: Format) -> None:
    if fmt == "table":
        if len(done) == 1:
            verdicts = "1 verdict was"
        else:
            verdicts = f"All {len(done):,} verdicts were"
        said = f"{verdicts} found again, by another cell order."
        say(said, "bold")
    elif fmt == "json":
        repeats = [asdict(item) for item in done]
        write_json({"directory": directory, "seed": seed, "repeated": repeats})
    else:
        rows = [list(asdict(item).values()) for item in done]
        write_table(list(asdict(done[0])), rows, fmt)


def _outcome(item: RepeatResult) -> str:
    if item.difference:
        return "NOT found again"
    if item.gave_up:
        return "took too long"
    return "found again"


def _judge(done: list[RepeatResult]) -> None:
    differing = [item for item in done if item.difference]
    slow = [item for item in done if item.gave_up]
    faults = [f"{item.name}: {item.difference or item.gave_up}" for item in differing or slow]
    named = "; ".join(faults[:_MAX_TOLD]) + ", ..." * (len(faults) > _MAX_TOLD)
    if differing:
        raise MismatchError(
            f"{len(differing):,} of {len(done):,} verdicts are not found again; the run, this "
            f"machine or the program is at fault: {named}"
        )
    if slow:
        raise IncompleteError(
            f"{len(done) - len(slow):,} of {len(done):,} verdicts were found again; "
            f"{len(slow):,} took too long in another cell order: {named}; another --seed draws "
            "another order"
        )


@options.grouped
def certify(
    source: options.RunWords,
    classes: Classes = None,
    sample: Annotated[int | None, numeric("N parts at random.", min=1)] = None,
    seed: Annotated[int, numeric("Seed of --sample.", min=0)] = 0,
    force: Annotated[
        int | None,
        option(
            "Certify parts of classes: those whose first M cells have one letter each.",
            metavar="M",
            min=0,
            show_default="as few as it takes",
        ),
    ] = None,
    fmt: options.Format = "table",
) -> None:
    """Record the shape of the search, so that others can check it; all classes by default.

    Certificates are stored once a minute and at the end, also when Ctrl-C or SIGTERM stops it; the
    same command continues after those that are there.
    """
    if classes is not None and sample is not None:
        raise InputError("give --classes or --sample, not both")
    from orderly_boggle.cluster.driver.signals import StopSignals
    from orderly_boggle.results.proof.certify import Choice, certify as certify_run

    run, words = source.open()
    if classes is None:
        named = None
    else:
        named = named_classes(run.partition, classes)
    choice = Choice(named, sample, seed, force)
    with StopSignals() as signals:
        done = certify_run(run, words.words, choice, tell, stop=lambda: signals.reason)
    write_record(asdict(done), fmt)


def named_classes(partition: Partition, text: str) -> list[int]:
    """Return the classes that ``--classes`` names, ascending. Raises InputError when one is not a
    canonical class.
    """
    import numpy as np

    chosen = set()
    for part in text.replace(",", " ").split():
        # int() also reads signs, blanks and digits of other scripts; 18 of them fit int64
        is_number = part.isascii() and part.isdigit() and len(part) <= 18
        if is_number:
            number = int(part)
        else:
            number = -1
        if partition.foreign(np.array([number])):
            raise InputError(
                f"{quote(part)} in --classes is not a canonical class of the run: expected ids "
                "such as 0,17"
            )
        chosen.add(number)
    return sorted(chosen)


@options.grouped
def audit(
    source: options.RunWords,
    leaves: Annotated[
        int | None,
        option(
            "Check K leaves and boards, drawn at random.",
            metavar="K",
            min=1,
            show_default="all of them",
        ),
    ] = None,
    seed: Annotated[int, option("Seed of --leaves.", metavar="S", min=0)] = 0,
    fmt: options.Format = "table",
) -> None:
    """Check certificates and boards with a program that shares no code with the search."""
    from orderly_boggle.boardclass.wordlist import find_wordlist
    from orderly_boggle.results.proof import audit as checker
    from orderly_boggle.results.proof.certificates import check_files, record_audit

    folder = _folder_here(source.directory)
    # the checker reads the list itself, without limits: size and digest are checked first
    run, _ = source.open()
    check_files(run)
    path = find_wordlist(source.wordlist or run.made.words.source).expanduser()
    try:
        result = checker.audit(folder, path, tell, leaves, seed)
    # the checker has errors of its own: it imports nothing of ours
    except checker.Rejected as error:
        raise MismatchError(
            f"rejected: {error}; do not believe it before the reason is known"
        ) from error
    except checker.Unreadable as error:
        raise StoreError(str(error)) from error
    if fmt == "table":
        say(f"{_sentence(result)}\n", "bold")
        write_record(_in_words(result))
    else:
        write_record({"complete": result.complete, **asdict(result)}, fmt)
    # last: an audit of hours has its result where the run may only be read
    record_audit(run, result, leaves, seed)


def _folder_here(directory: str) -> Path:
    if "://" in directory:
        raise InputError(
            f"the checker reads files of this machine, not {quote(directory)}: bring the run here "
            f"with orderly merge DIR {directory}, then certify and audit DIR"
        )
    return Path(directory)


def _in_words(audit: Audit) -> dict[str, object]:
    """Return what was counted, under names that say what they count."""
    return {
        "everything was checked": audit.complete,
        "classes with a certificate": audit.n_classes,
        "trees in them": audit.n_parts,
        "splits of cells by letters": audit.n_splits,
        "ends with a bound below the cutoff": audit.n_leaves,
        "of these, bounds worked out here": audit.n_leaves_checked,
        "ends that are one board": audit.n_left,
        "of these, scored here": audit.n_scored,
        "of these, at the cutoff or above, up to symmetry": audit.n_reaching,
        "boards that the run lists": audit.n_listed if audit.n_listed >= 0 else "no claim yet",
        "boards in the trees, all images": audit.n_boards,
        "boards that there are": audit.n_boards_all,
    }


def _sentence(audit: Audit) -> str:
    every = audit.n_boards_all
    share = "every board there is"
    if audit.n_boards < every:
        share = f"{100 * audit.n_boards / every:.2g} % of all boards"
    trees = f"{counted(audit.n_parts, 'tree')} over {share}"
    n_checked = audit.n_leaves_checked + audit.n_scored
    n_all = audit.n_leaves + audit.n_left
    # what was not drawn may hold such a board
    if n_checked == n_all:
        where = "in them"
    else:
        where = "among those drawn"
    end = f"no board {where} reaches the cutoff that is not listed"
    if audit.n_listed < 0:
        end = (
            f"{audit.n_reaching:,} boards {where} reach the cutoff; the run claims nothing yet to "
            "compare them with"
        )
    if n_checked == n_all:
        return f"Audited: {trees}, all {n_all:,} leaves and boards in them: {end}."
    sample = f"{n_checked:,} leaves and boards drawn at random from {n_all:,}"
    return f"Audited: {sample} in {trees}: {end}."
