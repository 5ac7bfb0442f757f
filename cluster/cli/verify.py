"""``orderly verify`` and ``repeat``: what a run proves, from its files alone, and its verdicts found again."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from boardclass.errors import IncompleteError, InputError, MismatchError
from cluster.answers.render import Format, write_json, write_record, write_table
from cluster.answers.status import run_wordlist
from cluster.cli import options
from cluster.cli.certify import named_classes
from cluster.streams import console, tell

if TYPE_CHECKING:
    from boardclass.geometry import Dims
    from boardclass.scores import ScoreTable
    from cluster.driver.repeat import RepeatResult
    from results.proof.verify import VerifyResult


def verify(
    directory: options.Run = None,
    wordlist: options.RunWordlist = None,
    write: Annotated[
        bool, typer.Option("--write", help="Also write claim.json and the list of boards; else nothing is written.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Do not search verdicts again, nor climb: coverage and boards only.")
    ] = False,
    fmt: options.Format = Format.table,
) -> None:
    """Check a run from its files, score its boards twice over, search some of it again, and say what is proven.

    All of the coverage and all boards are checked.  Of the eliminations a few easy ones, drawn anew each time, are
    searched again, and a climb looks for boards that are not listed.  orderly repeat searches more of them.
    """
    directory = options.chosen_run(directory)
    from boardclass.scores import ScoreTable
    from cluster.driver.repeat import spot_check
    from results.proof.claim import question_of
    from results.proof.nodes import run_spec
    from results.proof.verify import record
    from results.proof.verify import verify as verify_run
    from results.store.run import open_run
    from search.scoring.scorer import Scorer

    run = open_run(directory)
    print_of = run.fingerprint
    words = run_wordlist(run, wordlist)
    table = ScoreTable(question_of(run).scores, print_of.scores)
    scorer, spec = Scorer(print_of.dims, words.words, table), run_spec(run, words.words)
    found = verify_run(
        run,
        scorer,
        Referee(scorer.dims, words.words, table),
        replace(question_of(run), wordlist=words.name, n_words=len(words), scores=table.name, letters=words.letters),
        None if quick else lambda listed: spot_check(run, spec, scorer, listed, secrets.randbits(31)),
    )
    if write:
        record(run, found)
    for note in () if write else found.notes:
        tell(f"orderly: {note}")
    _print(directory, found, fmt, quick)


def _print(directory: str, found: VerifyResult, fmt: Format, quick: bool) -> None:
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
        write_record({"statement": claim.statement, **record}, fmt)
        return
    title = f"Verified in part ({found.searched})" if quick else "Verified"
    console().print(f"{title}. {claim.statement}", style="bold", markup=False)
    console().print()
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


_MAX_TOLD = 5


def repeat(
    directory: options.Run = None,
    classes: Annotated[
        str | None, typer.Option(metavar="IDS", help="Class ids, such as 0,17; all their parts are searched.")
    ] = None,
    sample: Annotated[int | None, typer.Option(metavar="N", min=1, help="N verdicts at random.")] = None,
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Seed of --sample, images and cell orders.")] = 0,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Processes that search.")] = 1,
    wordlist: options.RunWordlist = None,
    fmt: options.Format = Format.table,
) -> None:
    """Search classes of a run again, turned and in another cell order, and compare with the stored verdicts."""
    directory = options.chosen_run(directory)
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
    found: list[RepeatResult] = []
    for item in repeated(spec, rows, seed, workers):
        found.append(item)
        outcome = "NOT found again" if item.difference else "took too long" if item.gave_up else "found again"
        tell(f"{len(found)}/{len(rows)} {item.name}: {item.status}, {outcome}, {item.seconds:.1f} s")
    _judge(found)
    if fmt is Format.table:
        verdicts = "1 verdict was" if len(found) == 1 else f"All {len(found):,} verdicts were"
        console().print(f"{verdicts} found again, by another cell order.", style="bold", markup=False)
    elif fmt is Format.json:
        write_json({"directory": directory, "seed": seed, "repeated": [asdict(item) for item in found]})
    else:
        write_table(list(asdict(found[0])), [list(asdict(item).values()) for item in found], fmt)


def _judge(found: list[RepeatResult]) -> None:
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


def _told(items: list[RepeatResult]) -> str:
    told = [f"{item.name}: {item.difference or item.gave_up}" for item in items[:_MAX_TOLD]]
    return "; ".join(told) + ", ..." * (len(items) > _MAX_TOLD)
