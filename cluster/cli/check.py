"""``orderly verify``, ``repeat``, ``certify`` and ``audit``: what a run proves, and what is checked
of it.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from boardclass.errors import IncompleteError, InputError, MismatchError, StoreError, quote
from boardclass.printable import counted
from cluster.answers.render import Format, write_json, write_record, write_table
from cluster.answers.status import run_wordlist
from cluster.cli import options
from cluster.streams import console, tell
from results.storage.files import PUBLISHED

if TYPE_CHECKING:
    from boardclass.partition import Partition
    from cluster.driver.repeat import RepeatResult
    from results.proof.audit import Audit
    from results.proof.summary import Summary
    from results.proof.verify import VerifyResult
    from results.store.run import Run

_MAX_TOLD = 5


def verify(
    directory: options.Run = options.LATEST,
    wordlist: options.RunWordlist = None,
    write: Annotated[
        bool,
        Option(
            "--write",
            help="Also write claim.json and the list of boards; otherwise nothing is written.",
        ),
    ] = False,
    quick: Annotated[
        bool,
        Option(
            "--quick",
            help="Check coverage and boards only: search no verdicts again, and do not climb.",
        ),
    ] = False,
    repeat: Annotated[
        int | None,
        Option(
            metavar="N",
            min=1,
            help="Search N verdicts again, drawn from all of them, and print the odds that N draws "
            "miss false verdicts.",
            show_default="easy ones for 15 s",
        ),
    ] = None,
    workers: Annotated[
        int, Option(metavar="N", min=1, help="Processes that search again for --repeat.")
    ] = 1,
    fmt: options.Format = Format.table,
) -> None:
    """Check a run from its files, score its boards with two solvers, search some of it again, and
    say what was checked.

    The whole coverage and all boards are checked.  The run must list the boards of every run that
    comes with orderly and asks about the same size, list and points, and all boards that a climb
    finds.  Eliminations that take little time are searched again for 15 CPU seconds.  The command
    says "Verified" only if it searched all eliminations again, or if a run that comes with orderly
    has the same boards.
    """
    if quick and repeat:
        raise InputError("--quick searches nothing again: leave it out, or --repeat")
    from boardclass.scores import ScoreTable
    from cluster.driver.repeat import overlooked, spot_check
    from results.proof import packaged
    from results.proof.claim import question_of
    from results.proof.nodes import run_spec
    from results.proof.referee import Referee
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
        else lambda listed: spot_check(
            run, spec, scorer, listed, secrets.randbits(31), repeat, workers
        ),
        _known_runs(run),
    )
    packaged.check(directory)
    if write:
        record_claim(run, found)
    for note in () if write else found.notes:
        tell(f"orderly: {note}")
    claim, n = found.claim, found.n_eliminations
    odds = {}
    if repeat:
        odds = {k: overlooked(n, repeat, k) for k in (1, 10, 100, 1000) if k <= n}
    told = {"verified": found.verified, "checked": found.checked}
    if fmt is Format.json:
        more = {"odds_of_overlooking": odds} if repeat else {}
        write_json({"directory": directory, **told, **more, **asdict(claim)})
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
    for k, chance in odds.items():
        name = f"odds that {counted(repeat or 0, 'draw')} overlook {counted(k, 'false verdict')}"
        record[name] = f"{100 * chance:.3g} %"
    if fmt is Format.csv:
        record = {**told, "statement": claim.statement, **record}
    else:
        console().print(f"{_first_words(found)}\n", style="bold", markup=False)
    write_record(record, fmt)


def _first_words(found: VerifyResult) -> str:
    """Return what was checked, then the claim, with what it rests on."""
    if found.verified:
        return f"Verified: {found.checked}. {found.claim.statement}"
    n_left = found.n_eliminations - found.n_repeated
    others = f"If the other {n_left:,} are right" if found.n_repeated else "If they are right"
    return f"Coverage holds; {found.checked}. {others}: {found.claim.statement}"


def _known_runs(run: Run) -> dict[str, Summary]:
    """Return what the runs prove that come with orderly and ask the question of a run, but for the
    cutoff; by name.
    """
    from results.proof.prove import summary
    from results.store.run import open_run

    asked, known = run.fingerprint, {}
    for other in map(open_run, sorted(PUBLISHED.glob(f"{asked.dims}-*"))):
        where, own = Path(other.folder.where("")), other.fingerprint
        is_own = where.resolve() == Path(run.folder.where("")).resolve()
        same = (own.wordlist_sha256, own.scores) == (asked.wordlist_sha256, asked.scores)
        if same and not is_own:  # nobody is his own witness
            known[where.name] = summary(other)
    return known


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
    done: list[RepeatResult] = []
    for item in repeated(run_spec(run, words.words), rows, seed, workers):
        done.append(item)
        outcome = f"{item.status}, {_outcome(item)}, {item.seconds:.1f} s"
        tell(f"{len(done)}/{len(rows)} {item.name}: {outcome}")
    _judge(done)
    _tell_repeats(directory, seed, done, fmt)


def _tell_repeats(directory: str, seed: int, done: list[RepeatResult], fmt: Format) -> None:
    if fmt is Format.table:
        verdicts = "1 verdict was" if len(done) == 1 else f"All {len(done):,} verdicts were"
        said = f"{verdicts} found again, by another cell order."
        console().print(said, style="bold", markup=False)
    elif fmt is Format.json:
        repeats = [asdict(item) for item in done]
        write_json({"directory": directory, "seed": seed, "repeated": repeats})
    else:
        write_table(list(asdict(done[0])), [list(asdict(item).values()) for item in done], fmt)


def _outcome(item: RepeatResult) -> str:
    if item.difference:
        return "NOT found again"
    return "took too long" if item.gave_up else "found again"


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

    Certificates are published once a minute and at the end; the same command continues after those
    that are there.
    """
    if sum([classes is not None, sample is not None, hot]) > 1:
        raise InputError("give one of --classes, --sample and --hot, not several")
    from results.store.run import open_run

    run = open_run(directory)
    from results.proof.certify import Choice
    from results.proof.certify import certify as certify_run

    words = run_wordlist(run, wordlist)
    named = None if classes is None else named_classes(run.partition, classes)
    choice = Choice(named, hot, sample, seed, force)
    write_record(asdict(certify_run(run, words.words, choice, tell)), fmt)


def named_classes(partition: Partition, text: str) -> list[int]:
    """Return the classes that ``--classes`` names, ascending. Raises InputError when one is not a
    canonical class.
    """
    chosen = set()
    for part in text.replace(",", " ").split():
        is_number = part.isascii() and part.isdigit() and len(part) <= 19
        number = int(part) if is_number else partition.n_classes
        if number >= partition.n_classes or not partition.is_canonical(number):
            raise InputError(
                f"{quote(part)} in --classes is not a canonical class of the run: expected ids "
                "such as 0,17"
            )
        chosen.add(number)
    return sorted(chosen)


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
    """Check certificates and boards with a program that shares no code with the search."""
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
