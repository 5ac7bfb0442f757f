"""Verification: reads everything that a run left behind again and checks it; writes only when asked
to.

    verify -> prove               every board in exactly one unit with a verdict, none in doubt
                                  (prove.py)
           -> scored_again        every candidate by the production scorer
           -> check_scores        and by an independent one
           -> confirming          which runs that come with the program have the same boards
                                  (known.py)
           -> search_again        verdicts and a climb, if the caller can
           -> statistics          sums and a digest that do not depend on the order of the verdicts
           -> audited             what certificates and audits add (certificates.py)
           -> make_claim          with a label that says how much was checked
    record -> claim.json

What to do about a fault decides the error: 3 stored data cannot be trusted, 4 something is missing,
5 stored evidence contradicts itself or an independent computation.

>>> from orderly_boggle.results.store.run import open_run
>>> sorted(statistics(open_run("runs/2x2-scowl70-14")))[:3]
['max_tree_bytes', 'n_nodes', 'n_pushes']
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orderly_boggle.boardclass.errors import IncompleteError, MismatchError, StoreError
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.boardclass.wordlist import WordList
from orderly_boggle.results.proof import packaged
from orderly_boggle.results.proof.claim import (
    COMPLETE,
    Claim,
    ScorerLike,
    check_scores,
    disagreement,
    make_claim,
    publish_claim,
    read_claim,
    scored_again,
    settling,
    wording_of,
)
from orderly_boggle.results.proof.known import confirming
from orderly_boggle.results.proof.prove import Proof, prove
from orderly_boggle.results.proof.summary import BoardList, Wording
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.lock import say_once, take_lock
from orderly_boggle.results.store.made import list_name
from orderly_boggle.results.store.parts import read_manifest
from orderly_boggle.results.store.rows import COUNTERS, scalar, verdicts_of
from orderly_boggle.results.store.run import Run, open_run, raise_conflicts
from orderly_boggle.results.store.words import run_wordlist


@dataclass(frozen=True)
class Searched:
    """What was searched again of a run."""

    n_repeated: int = 0  # verdicts that were found again
    n_climbed: int = 0  # boards that a climb scored; all that reach the cutoff are listed
    best: int = 0  # the highest score of these


@dataclass(frozen=True)
class VerifyResult:
    """The result of a verification: nothing contradicts the claim; ``verified`` tells whether that
    confirms it.
    """

    claim: Claim
    n_verdicts: int  # eliminations and lists of boards, not splits
    n_repeated: int  # of these were searched again
    checked: str  # what was looked at
    # whether all verdicts were searched again, or a known run has the same boards and a climb
    # found no other
    verified: bool
    proof: Proof
    notes: tuple[str, ...] = ()  # which records are out of date


def verify(
    run: Run | str | Path,
    words: WordList | str | None = None,
    n_sampled: int | None = None,
    n_workers: int = 1,
    *,
    quick: bool = False,
) -> VerifyResult:
    """Check a run from its files, see :func:`verify_files`; unless it has to
    be ``quick``, climb, and search verdicts again.  Nothing is written.

    run : an open one, or what :func:`orderly_boggle.results.open_run` takes
    words : its list, or the name or path of it; by default the one that it recorded
    n_sampled : so many of all verdicts are searched again, whatever it takes; by default those that
        take little, for 15 seconds of the processor
    n_workers : processes that search again; in a script they need ``if __name__ == "__main__"``

    Raises MismatchError when a verdict is not found again, or a board that reaches the cutoff is
    not listed; IncompleteError when one of ``n_sampled`` takes too long; and what ``verify_files``
    raises.

    Examples
    --------
    >>> found = verify("runs/2x2-scowl70-14", quick=True)  # made by: orderly run 2x2 --cutoff 14
    >>> found.claim.n_canonical, found.n_verdicts > 0
    (6, True)
    """
    # what compiles kernels is loaded when something is verified
    from orderly_boggle.results.proof.nodes import run_spec
    from orderly_boggle.results.proof.referee import Referee
    from orderly_boggle.results.proof.repeat import (
        climb_again,
        easy_first,
        repeat_easy,
        repeated,
        require_found,
        sampled_rows,
    )
    from orderly_boggle.search.scoring.scorer import Scorer

    run = open_run(run)
    if not isinstance(words, WordList):
        words = run_wordlist(run, words)
    packaged.check(run.folder.where(""))
    name = list_name(words.name, words.sha256)
    wording = replace(wording_of(run), wordlist=name, n_words=len(words), letters=words.letters)
    scorer = Scorer.of(run.question, words)
    referee = Referee(scorer.dims, words.words, scorer.table)
    spec = run_spec(run, words)

    def search_again(listed: BoardList) -> Searched:
        seed = secrets.randbits(31)  # nobody knows beforehand which verdicts it draws
        climb = climb_again(run, scorer, listed, seed)
        if n_sampled is None:
            return Searched(repeat_easy(run, spec, easy_first(run, seed), seed), *climb)
        for item in repeated(spec, sampled_rows(run, n_sampled, seed), seed, n_workers):
            require_found(run, item)
            if item.gave_up:
                raise IncompleteError(f"{item.name}: {item.gave_up}; verify draws others each time")
        return Searched(n_sampled, *climb)

    return verify_files(run, scorer, referee, wording, None if quick else search_again)


def verify_files(
    run: Run,
    scorer: ScorerLike,
    referee: ScorerLike,
    wording: Wording,
    search_again: Callable[[BoardList], Searched] | None = None,
) -> VerifyResult:
    """Check a run from its files and return its claim; nothing is written.

    The ``referee`` is a scorer that shares no code with the production ``scorer``.
    ``search_again`` looks for boards that are not listed; without it no verdict is searched again.

    Raises StoreError when a file is damaged or foreign, or verdicts contradict each other;
    IncompleteError when a board lies in no unit with a verdict, or a verdict is in doubt;
    MismatchError when rows do not add up, a score is wrong, or the stored claim says something
    else.
    """
    from orderly_boggle.results.proof.certificates import audited  # loads numba

    # first: with verdicts that contradict each other no further sentence has a meaning
    raise_conflicts(run.conflicts)
    proof = prove(run, thorough=True)
    proof.require_proven()
    # by an algorithm that shares nothing with the search: a common bug would agree with itself
    n_checked = check_scores(run, referee, "an independent solver finds")
    listed = scored_again(run, scorer)
    claim = make_claim(proof, wording)
    notes = _notes_on_record(run, claim)
    same = confirming(run, listed)
    if search_again:
        searched = search_again(listed)
    else:
        searched = Searched()
    n = settling(run.verdict_table).num_rows
    checked = _checked(searched, n, same)
    twice = f"double-checked 100 % of {n_checked:,} candidates by an independent solver"
    strength = (
        f"{COMPLETE} (coverage and boards; {checked}), "
        f"{twice if n_checked else 'no candidates to double-check'}{audited(run, listed)}"
    )
    claim = replace(
        claim, strength=strength, statistics=statistics(run), verdict_digest=verdict_digest(run)
    )
    # a climb alone confirms nothing: it finds good boards, not the absence of better ones
    verified = searched.n_repeated == n or bool(same and searched.n_climbed)
    return VerifyResult(claim, n, searched.n_repeated, checked, verified, proof, notes)


def _notes_on_record(run: Run, claim: Claim) -> tuple[str, ...]:
    """Return in what a record is out of date; raise MismatchError if it is about the same rows."""
    recorded = read_claim(run)
    objection = ""
    if recorded:
        objection = disagreement(recorded, claim, "")
    where = run.folder.where(files.CLAIM)
    # about fewer verdicts it is merely old; about as many, somebody changed one of the two
    if recorded and objection and recorded.n_units == claim.n_units:
        raise MismatchError(
            f"{where} is not about these rows: {objection}; one of them was altered: restore "
            "the run from a copy, or remove the claim if the rows are right"
        )
    if objection:
        return (f"{where} is out of date: {objection}; --write rewrites it",)
    return ()


def _checked(searched: Searched, n_verdicts: int, same: Sequence[str]) -> str:
    """Return what was looked at besides coverage and boards; ``same`` names the known runs that
    have the same boards.
    """
    verdicts = counted(n_verdicts, "verdict")
    checked = [f"{searched.n_repeated:,} of {verdicts} searched again"]
    if searched.n_climbed:
        checked.append(
            f"a climb over {searched.n_climbed:,} boards, up to {counted(searched.best, 'point')}, "
            "found none that is not listed"
        )
    checked += [f"the boards are those of {name}, which comes with orderly" for name in same]
    return "; ".join(checked)


def record(run: Run, result: VerifyResult) -> None:
    """Write the claim of a run that was verified.

    Raises StoreError when somebody else writes to the run, or has written since it was opened.
    """
    # only now: a verification takes minutes, during which a driver may go on
    lock = take_lock(run.folder, wait=say_once())
    try:
        # the claim would be about rows that nobody verified
        if read_manifest(run.folder) != run.manifest:
            raise StoreError(
                f"{run.folder.where('')} was written to while it was verified: verify it again"
            )
        publish_claim(result.proof, result.claim)
    finally:
        lock.release()


def statistics(run: Run) -> dict[str, int]:
    """Return the work done, summed over the verdicts: the largest tree, all other counters added
    up.

    Only counts, because times differ from machine to machine.  A unit that was settled twice counts
    twice.
    """
    totals = dict.fromkeys(COUNTERS, 0)
    for table in run.columns(["status", *COUNTERS]):
        verdicts = verdicts_of(table)
        for name in COUNTERS:
            if name.startswith("max_"):
                most = pc.max(verdicts.column(name)).as_py() or 0
                totals[name] = max(totals[name], most)
            else:  # a sum of int64 would overflow silently
                exact = verdicts.column(name).cast(pa.decimal128(38))
                totals[name] += int(pc.sum(exact).as_py() or 0)
    return totals


def verdict_digest(run: Run) -> str:
    """Return the SHA-256 over all verdicts sorted by unit, whatever order, machine or part files
    they came in.
    """
    table = run.verdict_table.sort_by([("class_id", "ascending"), ("path", "ascending")])
    digest = hashlib.sha256()
    for batch in table.to_batches(max_chunksize=10_000):
        lengths = [pc.list_value_length(batch.column(name)) for name in _LISTS]
        # one JSON text for each verdict took 1.45 s of 108,345 rows; this way it is 0.05 s
        has_lists = pc.greater(pc.max_element_wise(*lengths), scalar(0))
        others = list(map(_line, batch.filter(has_lists).to_pylist()))
        lines = pc.replace_with_mask(_lines(batch), has_lists, pa.array(others, pa.string()))
        digest.update("".join(lines.to_pylist()).encode())
    return digest.hexdigest()


_LISTS = ("candidates", "children", "settled")


def _line(row: dict[str, Any]) -> str:
    """Return what is hashed of a verdict."""
    boards = [[item["board"], item["score"]] for item in row["candidates"]]
    row["candidates"] = sorted(boards)
    row["children"] = sorted(row["children"])
    row["settled"] = sorted(row["settled"])
    return json.dumps(row, sort_keys=True) + "\n"


def _lines(rows: pa.RecordBatch) -> Any:
    """Return the same of verdicts without lists, of which a large run has millions."""
    return pc.binary_join_element_wise(
        '{"candidates": [], "children": [], "class_id": ',
        rows.column("class_id").cast(pa.string()),
        ', "n_boards": "',
        rows.column("n_boards"),
        '", "path": "',
        rows.column("path"),
        '", "settled": [], "status": "',
        rows.column("status"),
        '"}\n',
        "",
    )
