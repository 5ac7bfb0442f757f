"""What the scheduler is told (events) and what it asks for (instructions): plain immutable values.

Executors make events, the scheduler maps each to instructions, the run loop carries those out.  A worker is named by
the number that the scheduler gave it in :class:`Spawn`; numbers are never used twice, so a late message cannot be
mistaken for one of a newer worker.  Assignments are numbered likewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from results.store.schema import Row
    from search.breaker import Unit, UnitResult


class Death(StrEnum):
    """Why a worker is gone."""

    died = "died"  # its process ended: perhaps the unit's fault, one strike
    oom = "oom"  # killed for its memory: no strike, the unit goes to the big-memory lane
    node = "node"  # its machine went away: no strike
    unfit = "unfit"  # it could not start or failed the self-test: no unit is to blame


@dataclass(frozen=True, slots=True)
class Start:
    """The run begins."""


@dataclass(frozen=True, slots=True)
class Room:
    """The cluster has room for this many workers; without this event, for as many as the policy allows."""

    n_workers: int


@dataclass(frozen=True, slots=True)
class WorkerUp:
    """A spawned worker passed its self-test and waits for work."""

    worker: int
    host: str = ""
    kernel_hash: str = ""


@dataclass(frozen=True, slots=True)
class WorkerDown:
    """A worker is gone, with everything it was doing."""

    worker: int
    reason: Death = Death.died
    message: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict arrived, with its provenance.

    Attributes
    ----------
    worker, assignment : int
        The sender, filled in by the executor: a worker does not say which one it is.
    result : UnitResult
        The verdict; untrusted until there is a row.
    host, cpu : str
        Where it was computed.
    peak_rss_bytes : int
        Largest resident set of the worker process so far.
    kernel_hash : str
        Hash of the kernels that computed it.
    is_replica : bool
        Whether a verdict is only compared with it: it may cover part of the unit, and is never stored.
    row : Row, optional
        The row of the store, made and checked by the ledger when it admitted the answer.
    """

    worker: int
    assignment: int
    result: UnitResult
    host: str = ""
    cpu: str = ""
    peak_rss_bytes: int = 0
    kernel_hash: str = ""
    is_replica: bool = False
    row: Row | None = None


@dataclass(frozen=True, slots=True)
class UnitFailed:
    """A worker lives but could not break a unit: an exception, a verdict that breaks the schema, or out of memory."""

    worker: int
    assignment: int
    unit: Unit
    message: str
    oom: bool = False


@dataclass(frozen=True, slots=True)
class Returned:
    """A worker has finished an assignment; units that it said nothing about were not broken."""

    worker: int
    assignment: int


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A worker answered that it is busy with the assignment."""

    worker: int
    assignment: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passed; leases and delayed spawns are looked at."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop now; what is in flight is given up."""

    message: str = "cancelled"


Event = Start | Room | WorkerUp | WorkerDown | Answer | UnitFailed | Returned | Heartbeat | Tick | Cancel


@dataclass(frozen=True, slots=True)
class Spawn:
    """Start a worker under this number; WorkerUp or WorkerDown follows."""

    worker: int


@dataclass(frozen=True, slots=True)
class Replica:
    """How to search a unit again: which of its parts, and the seed of the symmetric image and the cell order."""

    paths: tuple[str, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Assign:
    """Give units to an idle worker; ``alone``: no other worker of its host is busy meanwhile (big-memory lane).

    With ``replica`` the one unit is searched again instead of broken.
    """

    worker: int
    assignment: int
    units: tuple[Unit, ...]
    alone: bool = False
    replica: Replica | None = None


@dataclass(frozen=True, slots=True)
class Publish:
    """Store an accepted verdict; ``attempt`` counts from 1."""

    answer: Answer
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Retire:
    """End a worker; its late verdicts may still count, but nothing else that it says."""

    worker: int
    message: str = ""


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Give a unit up for this run and record why; ``hosts`` are those that are not to be believed."""

    unit: Unit
    attempt: int
    message: str
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finish:
    """Nothing is left to do, or nothing can be done; ``complete``: every unit has a verdict."""

    complete: bool
    message: str = ""


Instruction = Spawn | Assign | Publish | Retire | Quarantine | Finish
