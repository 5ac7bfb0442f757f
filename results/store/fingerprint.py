"""The fingerprint: everything that determines the answer and the meaning of a class id, and nothing else.

Budgets, workers and seeds are left out: they change how long a run takes and how units are split, never what is true.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

from boardclass.errors import InputError, StoreError, quote
from boardclass.geometry import parse_dims
from boardclass.partition import parse_partition
from boardclass.scores import MAX_LETTERS, MIN_LETTERS, SUM_LIMIT
from results.errors import FingerprintError

_ANOTHER = "Use another --out, or the same settings."
_EXTEND = " With another --out, --extend takes over what this run proves at the other cutoff."


@dataclass(frozen=True)
class Fingerprint:
    """Identity of a run.

    Attributes
    ----------
    dims : str
        Such as ``"3x4"``.
    wordlist_sha256 : str
        Digest of the normalised word list.
    scores : tuple of int
        Points by number of letters, from 0.
    cutoff : int
        Inclusive.
    partition : str
        Normalised text of the letter buckets.
    cell_order : tuple of int
        Order in which cells are forced.
    """

    dims: str
    wordlist_sha256: str
    scores: tuple[int, ...]
    cutoff: int
    partition: str
    cell_order: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "dims", str(self.dims))
        for name in ("scores", "cell_order"):
            object.__setattr__(self, name, tuple(int(value) for value in getattr(self, name)))

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all fields, 64 hex digits; stored with every row."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    @property
    def n_cells(self) -> int:
        """Number of cells of the board."""
        return len(self.cell_order)

    def to_json(self) -> dict[str, Any]:
        """Return plain values for ``run.json``; :meth:`from_json` reads them back."""
        return {**asdict(self), "scores": list(self.scores), "cell_order": list(self.cell_order)}

    @classmethod
    def from_json(cls, values: object) -> Fingerprint:
        """Return the fingerprint that :meth:`to_json` wrote.

        Raises
        ------
        StoreError
            When a field is missing, unknown, of another type, or not that of any run.
        """
        names = [field.name for field in fields(cls)]
        if not isinstance(values, dict) or sorted(values) != sorted(names):
            raise StoreError(f"a fingerprint has the fields {', '.join(names)}; found {quote(values, 200)}")
        texts = all(isinstance(values[name], str) for name in ("dims", "wordlist_sha256", "partition"))
        lists = all(
            isinstance(values[name], list) and all(type(value) is int for value in values[name])
            for name in ("scores", "cell_order")
        )
        sha = isinstance(values["wordlist_sha256"], str) and re.fullmatch(r"[0-9a-f]{64}", values["wordlist_sha256"])
        if not (texts and lists and sha and type(values["cutoff"]) is int):
            raise StoreError(f"a field of the fingerprint has the wrong type: {quote(values, 200)}")
        _check_values(values)
        return cls(**values)

    def differences(self, other: Fingerprint) -> list[tuple[str, object, object]]:
        """Return ``(field, mine, theirs)`` for each field that differs."""
        pairs = ((field.name, getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return [(name, mine, theirs) for name, mine, theirs in pairs if mine != theirs]


def _check_values(values: dict[str, Any]) -> None:
    """Refuse a board size, order, partition, score table or cutoff that no command would have accepted."""
    try:
        dims = parse_dims(values["dims"])
        partition = parse_partition(values["partition"], dims)
    except InputError as error:
        raise StoreError(f"the fingerprint is not that of any run: {error}") from error
    if (str(dims), partition.text) != (values["dims"], values["partition"]):
        raise StoreError(f"the fingerprint's dims or partition are not spelled as a run does: {quote(values, 200)}")
    if sorted(values["cell_order"]) != list(range(dims.n)):
        raise StoreError(f"the fingerprint's cell_order does not name each cell once: {quote(values['cell_order'])}")
    if not MIN_LETTERS < len(values["scores"]) <= MAX_LETTERS + 1 or not all(
        0 <= points < SUM_LIMIT for points in values["scores"]
    ):
        raise StoreError(f"the fingerprint's scores are not points by number of letters: {quote(values['scores'])}")
    if not 0 < values["cutoff"] < SUM_LIMIT:
        raise StoreError(f"the fingerprint's cutoff is {quote(values['cutoff'])}: expected 1 to {SUM_LIMIT - 1}")


def check_same(asked: Fingerprint, stored: Fingerprint, where: str, remedy: str = "") -> None:
    """Refuse to mix runs.

    Parameters
    ----------
    asked, stored : Fingerprint
    where : str
        Name of the run that is there.
    remedy : str
        A way out, if it is not that of ``orderly run``.

    Raises
    ------
    FingerprintError
        Naming each field that differs with both values.
    """
    differences = asked.differences(stored)
    if differences:
        lines = [f"  {name}: asked for {_brief(mine)}, stored {_brief(theirs)}" for name, mine, theirs in differences]
        raise FingerprintError(
            f"{where} holds another run; these differ:\n"
            + "\n".join(lines)
            + "\n"
            + (remedy or _ANOTHER + _EXTEND * ([name for name, _, _ in differences] == ["cutoff"]))
        )


def check_same_structure(asked: Mapping[str, Any], run_info: Mapping[str, Any], where: str, remedy: str = "") -> None:
    """Refuse a run whose classes were cut into parts by other rules.

    Parameters
    ----------
    asked : mapping
        The structural parameters, as ``run.json`` holds them.
    run_info : mapping
        What the run that is there recorded.
    where, remedy : str
        As for :func:`check_same`.

    Raises
    ------
    FingerprintError
        Naming each structural parameter that differs with both values.
    """
    stored = run_info.get("structure")
    stored = stored if isinstance(stored, dict) else {}
    lines = [
        f"  {name}: asked for {asked.get(name)!r}, stored {stored.get(name)!r}"
        for name in sorted(asked.keys() | stored.keys())
        if asked.get(name) != stored.get(name)
    ]
    if lines:
        raise FingerprintError(
            f"{where} cuts its classes into parts in another way; these differ:\n"
            + "\n".join(lines)
            + "\n"
            + (remedy or "Use another --out, or the same settings (search section of the config).")
        )


def _brief(value: object) -> str:
    """Return ``repr``, a score table without the repetitions at its end: both values must fit a message."""
    if isinstance(value, tuple) and len(value) > 3 and value[-1] == value[-2]:
        n_kept = len(value)
        while n_kept > 1 and value[n_kept - 2] == value[-1]:
            n_kept -= 1
        return f"{list(value[:n_kept])!r} (last repeats, {len(value)} in all)"
    return repr(list(value) if isinstance(value, tuple) else value)
