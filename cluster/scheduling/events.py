"""The language of the run loop: events and instructions of the scheduler, its policy, and the
report on progress.

All are plain immutable values.

Executors make events, the scheduler maps each to instructions, the run loop carries those out.  A
worker is named by the number that the scheduler gave it in :class:`Spawn`; numbers are never used
twice, so a late message cannot be mistaken for one of a newer worker.  Assignments are numbered
likewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from orderly_boggle.results.store.rows import Checked
    from orderly_boggle.search.breaker import Unit, UnitResult


# why a worker is gone, and what that says about the unit that it had
Death = Literal[
    "died",  # its process ended: perhaps the unit's fault, one strike
    "oom",  # killed for its memory: no strike, the unit goes to the big-memory lane
    # its machine went away: no strike; likewise whatever else is not, or not surely, the unit's
    # fault
    "node",
    # it could not start or failed the self-test: a strike for what it was given all the same
    "unfit",
]


@dataclass(frozen=True)
class Room:
    """The cluster has room for this many workers; without this event, for as many as the policy
    allows.
    """

    n_workers: int


@dataclass(frozen=True)
class WorkerUp:
    """A spawned worker passed its self-test and waits for work."""

    worker: int
    host: str = ""
    kernel_hash: str = ""
    machine: str = ""  # as the executor names it, for Bar


@dataclass(frozen=True)
class WorkerDown:
    """A worker is gone, with everything it was doing."""

    worker: int
    reason: Death = "died"
    message: str = ""
    machine: str = ""  # where it was to come up, if that is known


@dataclass(frozen=True)
class Unplaced:
    """A spawned worker found no processor: somebody else was faster.  It is given up, and nobody is
    to blame.
    """

    worker: int


@dataclass(frozen=True)
class Answer:
    """A verdict arrived, with where it was computed."""

    worker: int
    assignment: int
    result: UnitResult  # untrusted until there is a row
    host: str = ""
    cpu: str = ""
    peak_rss_bytes: int = 0  # largest resident set of the worker process so far
    kernel_hash: str = ""
    is_replica: bool = False  # only to compare: it may cover part of the unit, and is never stored
    # of the store, made and checked by the ledger when it admitted the answer
    row: Checked | None = None
    n_short_layers: int = 0  # for want of memory; a reason to tell people, no more
    cpu_s: float | None = None  # what the worker worked for it; None: nobody knows


@dataclass(frozen=True)
class UnitFailed:
    """A worker lives but could not break a unit: an exception, a verdict that breaks the schema, or
    out of memory.
    """

    worker: int
    assignment: int
    unit: Unit
    message: str
    oom: bool = False


@dataclass(frozen=True)
class Returned:
    """A worker has finished an assignment; units that it said nothing about were not broken."""

    worker: int
    assignment: int


@dataclass(frozen=True)
class Heartbeat:
    """A worker answered that it is busy with the assignment."""

    worker: int
    assignment: int


@dataclass(frozen=True)
class Tick:
    """Time passed, or the run begins; leases and delayed spawns are looked at."""


@dataclass(frozen=True)
class Cancel:
    """Stop now; what is in flight is given up."""

    message: str = "cancelled"


Event = (
    Room
    | WorkerUp
    | WorkerDown
    | Unplaced
    | Answer
    | UnitFailed
    | Returned
    | Heartbeat
    | Tick
    | Cancel
)


@dataclass(frozen=True)
class Spawn:
    """Start a worker under this number; WorkerUp or WorkerDown follows."""

    worker: int


@dataclass(frozen=True)
class Replica:
    """How to search a unit again: which of its parts, and the seed of the symmetric image and the
    cell order.
    """

    paths: tuple[str, ...]
    seed: int


@dataclass(frozen=True)
class Assign:
    """Give units to an idle worker; ``alone``: no other worker of its host is busy meanwhile
    (big-memory lane).

    With ``replica`` the one unit is searched again instead of broken.  ``hurry``: it is to split
    soon, because workers have nothing to do.  ``split_at``: the effort at which the units are to
    split, whatever their budget, because they did; 0: their budget decides.
    """

    worker: int
    assignment: int
    units: tuple[Unit, ...]
    alone: bool = False
    replica: Replica | None = None
    hurry: bool = False
    split_at: int = 0


@dataclass(frozen=True)
class Publish:
    """Store an accepted verdict; ``attempt`` counts from 1."""

    answer: Answer
    attempt: int = 1


@dataclass(frozen=True)
class Retire:
    """End a worker; its late verdicts may still count, but nothing else that it says."""

    worker: int
    message: str = ""


@dataclass(frozen=True)
class Quarantine:
    """Give a unit up for this run and record why; ``hosts`` are those that are not to be
    believed.
    """

    unit: Unit
    attempt: int
    message: str
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bar:
    """Start no worker on a machine any more, and count no room there."""

    machine: str
    message: str = ""


@dataclass(frozen=True)
class Finish:
    """Nothing is left to do, or nothing can be done; ``complete``: every unit has a verdict;
    ``gave_up``: workers kept dying, or no machine can have any.
    """

    complete: bool
    message: str = ""
    gave_up: bool = False


Instruction = Spawn | Assign | Publish | Retire | Quarantine | Bar | Finish


@dataclass(frozen=True)
class Policy:
    """How the scheduler decides."""

    n_workers: int  # slots, at least 1
    # predicted seconds of work in one assignment; a more expensive unit goes alone
    batch_s: float = 7.0
    # assignments a second, all workers together: the more workers, the larger their batches; each
    # costs the driver 0.8 ms of Ray's (tests/bench/ray_width.py)
    calls_per_s: float = 64.0
    max_batch: int = 4096  # units in one assignment, however cheap
    sample: float = 0.01  # fraction of the classes given out first, at random
    n_strikes: int = 3  # so many failures that may be its own fault quarantine a unit
    n_losses: int = 10  # so many failures that are not its fault quarantine it all the same
    # a worker is given up when it was silent for so long, and lease_factor times the prediction;
    # inf: one that is lost is always heard of
    lease_s: float = inf
    lease_factor: float = 20.0
    # a spawned worker is given up after this; a new machine compiles the kernels first
    spawn_s: float = 900.0
    # the run ends when all machines are barred for so long
    no_machine_s: float = 300.0
    # workers lost without any verdict in between, per slot, before the run stops
    max_deaths: int = 8
    # a worker whose resident set passes this is replaced between assignments; 0: never
    recycle_bytes: int = 0
    kernel_hash: str = ""  # workers with other kernels are refused; empty: any
    # fraction of the verdicts of trusted hosts that get a replica; 0: none of any host
    replicate: float = 0.0
    trust_after: int = 10  # replicas that must agree before a host is trusted
