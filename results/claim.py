"""The claim: one sentence about every board there is; written only with full coverage."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from boardclass.geometry import parse_dims
from results import files
from results.coverage import Coverage
from results.documents import format_document, read_document
from results.errors import DamagedError
from results.fingerprint import Fingerprint
from results.rescore import BoardList, Source
from results.run import Run

COMPLETE = "complete"
MAX_LISTED = 1000
_FORMAT = 1
_LATER = {"boards", "statistics", "verdict_digest"}  # claims of the first version lack them
_REMEDY = "remove it and run `orderly run` on the directory again to write it anew"


@dataclass(frozen=True)
class Claim:
    """What a complete run proves.

    Attributes
    ----------
    statement : str
        The sentence.
    strength : str
        ``complete``: every class has a verdict and every candidate was scored exactly; then what was checked beyond.
    result_digest : str
        Equal for equal answers, whatever partition, workers, order or budgets led to them.
    boards : tuple of (str, int)
        The first thousand boards with their scores, best first; all of them are in the rescored list.
    statistics : dict
        Work done, summed over the verdicts: the same in whatever order they came (``orderly verify`` adds them).
    verdict_digest : str
        Digest of all verdicts, the same in whatever order they came; likewise.
    """

    statement: str
    strength: str
    result_digest: str
    fingerprint: dict[str, Any]
    wordlist: str
    n_words: int
    n_classes: int
    n_units: int
    n_boards_covered: int
    n_candidates: int
    n_canonical: int
    n_raw: int
    best_score: int | None
    best_boards: tuple[str, ...]
    boards: tuple[tuple[str, int], ...] = ()
    statistics: dict[str, int] = field(default_factory=dict)
    verdict_digest: str = ""


@dataclass(frozen=True)
class Checked:
    """What ``orderly verify`` adds to a claim; the fields are those of :class:`Claim`."""

    strength: str
    statistics: dict[str, int]
    verdict_digest: str


def result_digest(fingerprint: Fingerprint, boards: Iterable[tuple[str, int]], *, complete: bool) -> str:
    """Return the SHA-256 of the answer: the question asked, whether it is answered, canonical boards with scores.

    Partition and cell order are left out: they are ways, not answers.
    """
    answer = {
        "dims": fingerprint.dims,
        "wordlist_sha256": fingerprint.wordlist_sha256,
        "points": list(fingerprint.scores),
        "cutoff": fingerprint.cutoff,
        "complete": complete,
        "boards": sorted([board, score] for board, score in boards),
    }
    return hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()


def digest_of(fingerprint: Fingerprint, listed: BoardList, *, complete: bool) -> str:
    """Return the result digest of a board list."""
    return result_digest(fingerprint, ((item.board, item.score) for item in listed.boards), complete=complete)


def write_claim(
    source: Source,
    coverage: Coverage,
    listed: BoardList,
    *,
    wordlist: str,
    n_words: int,
    scores: str = "custom",
    checked: Checked | None = None,
) -> Claim:
    """Write ``claim.json`` and return what it says.

    Parameters
    ----------
    source : Store or Run
    coverage : Coverage
        Of this run, as :func:`results.coverage.check_coverage` found it.
    listed : BoardList
        As :func:`results.rescore.rescore` made it.
    wordlist, scores : str
        Names of the word list and of the score table, for the sentence.
    n_words : int
        Usable words of the list.
    checked : Checked, optional
        What verification did beyond coverage and rescoring.

    Raises
    ------
    IncompleteError
        When a class has no verdict; nothing is written.
    """
    coverage.require_complete()
    run = source.snapshot()
    best = listed.boards[0].score if listed.boards else None
    claim = Claim(
        statement=_statement(run.fingerprint, listed, wordlist, n_words, scores),
        strength=COMPLETE,
        result_digest=digest_of(run.fingerprint, listed, complete=True),
        fingerprint=run.fingerprint.to_json(),
        wordlist=wordlist,
        n_words=n_words,
        n_classes=coverage.n_classes,
        n_units=coverage.n_units,
        n_boards_covered=coverage.n_boards,
        n_candidates=listed.n_candidates,
        n_canonical=listed.n_canonical,
        n_raw=listed.n_raw,
        best_score=best,
        best_boards=tuple(item.board for item in listed.boards if item.score == best),
        boards=tuple((item.board, item.score) for item in listed.boards[:MAX_LISTED]),
    )
    if checked:
        claim = replace(claim, **asdict(checked))
    run.folder.publish(files.CLAIM, format_document({"format": _FORMAT, **asdict(claim)}))
    return claim


def read_claim(run: Run) -> Claim | None:
    """Return the claim of a run, or None when it has none.

    Raises
    ------
    DamagedError
        When the file was altered or belongs to another run.
    """
    values = read_document(run.folder, files.CLAIM, _REMEDY)
    if values is None:
        return None
    where = run.folder.where(files.CLAIM)
    names = {item.name for item in fields(Claim)}
    if values.pop("format", None) != _FORMAT or not names - _LATER <= set(values) <= names:
        raise DamagedError(f"{where} is not of this version; {_REMEDY}")
    if values["fingerprint"] != run.fingerprint.to_json():
        raise DamagedError(f"{where} belongs to another run; {_REMEDY}")
    if not _is_claim(values):
        raise DamagedError(f"{where} holds values of other types; {_REMEDY}")
    boards = tuple((board, score) for board, score in values.get("boards", ()))
    return Claim(**{**values, "best_boards": tuple(values["best_boards"]), "boards": boards})


def _is_claim(values: dict[str, Any]) -> bool:
    """Return whether the values of a claim, as JSON has them, have the types that the fields of Claim say."""
    plain = {"str": str, "int": int}
    given = [(values[item.name], str(item.type)) for item in fields(Claim) if item.name in values]
    boards, statistics = values.get("boards", []), values.get("statistics", {})
    return (
        all(type(value) is plain[kind] for value, kind in given if kind in plain)
        and (values["best_score"] is None or type(values["best_score"]) is int)
        and isinstance(values["best_boards"], list)
        and all(isinstance(board, str) for board in values["best_boards"])
        and isinstance(boards, list)
        and all(isinstance(pair, list) and list(map(type, pair)) == [str, int] for pair in boards)
        and isinstance(statistics, dict)
        and all(type(count) is int for count in statistics.values())
    )


def _statement(fingerprint: Fingerprint, listed: BoardList, wordlist: str, n_words: int, scores: str) -> str:
    """Return the sentence; it names everything that the number depends on."""
    n_all = 26 ** parse_dims(fingerprint.dims).n
    cutoff = fingerprint.cutoff
    premise = (
        f"Of all {n_all:,} {fingerprint.dims} boards (one letter a-z per cell, q counting as Qu), "
        f"with the {n_words:,} words of {wordlist} (SHA-256 {fingerprint.wordlist_sha256[:16]}) and {scores} points"
    )
    if not listed.boards:
        return f"{premise}, none scores {cutoff:,} or more."
    best = [item.board for item in listed.boards if item.score == listed.boards[0].score]
    return (
        f"{premise}, exactly {listed.n_canonical:,} up to symmetry "
        f"({listed.n_raw:,} counting every rotation and reflection)"
        f" {'scores' if listed.n_canonical == 1 else 'score'} {cutoff:,} or more; the highest score is "
        f"{listed.boards[0].score:,}, reached by {_enumerate(best)}."
    )


def _enumerate(boards: Sequence[str]) -> str:
    """Return the boards as words, the first few of many."""
    if len(boards) > 5:
        return f"{', '.join(boards[:5])} and {len(boards) - 5:,} more"
    return boards[0] if len(boards) == 1 else f"{', '.join(boards[:-1])} and {boards[-1]}"
