"""The events of a run's log, one class each; log.py writes and reads them.

A field of an event is added with a default value, which stands for it in older logs; none is
removed.  ``time`` and ``session`` are set by the log, and ``event`` is the name of the class in the
file.  docs/format.md says the same for other programs.

>>> Started(dims="2x2", cutoff=14).event
'started'
>>> EVENT.validate_json('{"event": "best", "time": 1.0, "score": 14, "board": "aert"}')
BestBoard(time=1.0, session='', event='best', score=14, board='aert')
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeVar, dataclass_transform

from pydantic import Field, TypeAdapter

Count = Annotated[int, Field(ge=0, lt=2**63)]
Seconds = Annotated[float, Field(ge=0, lt=1e12)]  # later than any clock
MAX_MESSAGE = 500
# a line without a time is no event
_Time = Annotated[Seconds, Field(validate_default=True)]
_Class = TypeVar("_Class")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def _event(kind: type[_Class]) -> type[_Class]:
    """Make a class a frozen dataclass whose values go by name."""
    return dataclass(frozen=True, kw_only=True)(kind)


@_event
class Logged:
    """What every event has."""

    time: _Time = -1.0  # seconds since 1970, by the clock of the driver
    session: str = ""  # eight hex digits, one value for each call of ``orderly run``


@_event
class Explained(Logged):
    """An event with words for people, of which only the beginning is kept."""

    message: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", self.message[:MAX_MESSAGE])


@_event
class Started(Logged):
    """A driver begins; ``n_classes_done`` and ``n_verdicts`` are from before."""

    event: Literal["started"] = "started"
    dims: str = ""
    wordlist: str = ""
    cutoff: Count = 0
    n_workers: Count = 0
    n_classes: Count = 0
    n_classes_done: Count = 0
    n_verdicts: Count = 0
    host: str = ""
    pid: Count = 0
    version: str = ""
    kernel_hash: str = ""
    share: str = ""  # such as 2/5; empty: all classes


@_event
class Dropped(Explained):
    """A damaged file was taken out or rewritten."""

    event: Literal["dropped"] = "dropped"
    name: str = ""


@_event
class Reused(Logged):
    """Verdicts of another run were taken over."""

    event: Literal["reused"] = "reused"
    location: str = ""
    cutoff: Count = 0
    n_reused: Count = 0
    n_verdicts: Count = 0


@_event
class WorkerStarted(Logged):
    """A worker waits for work."""

    event: Literal["worker_up"] = "worker_up"
    worker: Count = 0
    host: str = ""
    kernel_hash: str = ""


@_event
class WorkerLost(Explained):
    """A worker is gone: died, oom, node or unfit."""

    event: Literal["worker_down"] = "worker_down"
    worker: Count = 0
    host: str = ""
    reason: str = ""


@_event
class WorkerRetired(Explained):
    """The scheduler ended a worker."""

    event: Literal["worker_retired"] = "worker_retired"
    worker: Count = 0
    host: str = ""


@_event
class UnitTried(Explained):
    """A worker could not break a unit."""

    event: Literal["unit_failed"] = "unit_failed"
    class_id: Count = 0
    path: str = ""
    worker: Count = 0
    host: str = ""
    oom: bool = False


@_event
class UnitGivenUp(Explained):
    """A unit failed too often, or its verdicts differ."""

    event: Literal["unit_quarantined"] = "unit_quarantined"
    class_id: Count = 0
    path: str = ""
    attempts: Count = 0


@_event
class HostFlagged(Logged):
    """A replica contradicted a host: it is no longer trusted."""

    event: Literal["host_flagged"] = "host_flagged"
    host: str = ""


@_event
class MachineBarred(Explained):
    """No worker came up on a machine, three times: none is started there any more."""

    event: Literal["machine_barred"] = "machine_barred"
    machine: str = ""


@_event
class BestBoard(Logged):
    """A board better than all before."""

    event: Literal["best"] = "best"
    score: Count = 0
    board: str = ""


@_event
class PartStored(Logged):
    """A part counts from now on."""

    event: Literal["stored"] = "stored"
    name: str = ""
    n_rows: Count = 0


@_event
class Report:
    """How far a run is: the scheduler's figures, completed by the driver's."""

    n_classes: Count = 0  # of the run
    n_classes_done: Count = 0
    n_open: Count = 0  # units without a verdict
    n_in_flight: Count = 0  # those of them that a worker has
    n_split: Count = 0
    n_requeued: Count = 0  # units that came back without a verdict
    n_quarantined: Count = 0  # units that were given up
    n_strikes: Count = 0  # failures held against units
    n_duplicates: Count = 0  # verdicts that came twice
    n_workers: Count = 0  # that are up
    n_deaths: Count = 0  # workers lost
    # None until a unit of each kind that is open (root, part) was measured
    remaining_s: Seconds | None = None
    # these two: the interval; how often it holds the truth is in docs/running.md
    remaining_low_s: Seconds | None = None
    remaining_high_s: Seconds | None = None
    # seconds of one worker that the open classes of other shares should take
    elsewhere_s: Seconds = 0.0
    n_agreed: Count = 0  # replicas that agreed
    flagged: tuple[str, ...] = ()  # hosts that are not to be believed
    n_verdicts: Count = 0  # accepted by this call
    n_measured: Count = 0  # classes finished by this call
    n_candidates: Count = 0  # boards found, before symmetric ones are merged
    best_score: Count | None = None
    best_board: str = ""
    elapsed_s: Seconds = 0.0  # since this call began
    # if not the whole run is searched: n_open and remaining_s are of the share only
    share: str = ""
    n_own: Count = 0  # classes of the share
    n_own_done: Count = 0
    n_free_bytes: Count = (
        0  # memory of the driver's machine; both 0 where the workers are elsewhere
    )
    n_total_bytes: Count = 0

    @property
    def done(self) -> float:
        """Share of the classes that is done, 0 to 1."""
        return self.n_classes_done / max(1, self.n_classes)


@_event
class Busy:
    """What a worker is working on: the first of its units, and how many there are."""

    worker: Count
    host: str
    class_id: Count
    path: str
    n_units: Count
    seconds: Seconds  # for how long
    n_bytes: Count = 0  # its peak of memory


@_event
class Reported(Report, Logged):
    """The figures, now and then; ``busy`` lists few workers, the longest at work first."""

    event: Literal["progress"] = "progress"
    hosts: dict[str, Count] = field(default_factory=dict)  # workers that are up, by host
    busy: tuple[Busy, ...] = ()


@_event
class MemoryLow(Explained):
    """Less than a sixteenth of the memory is free."""

    event: Literal["memory_low"] = "memory_low"
    n_free_bytes: Count = 0
    n_total_bytes: Count = 0


RESCORING = "rescoring"


@_event
class Stage(Logged):
    """What is done outside the search."""

    event: Literal["stage"] = "stage"
    name: str = RESCORING
    text: str = ""


@_event
class Finished(Explained):
    """The session came to its end; ``complete``: with a claim."""

    event: Literal["finished"] = "finished"
    complete: bool = False
    digest: str = ""
    n_verdicts: Count = 0
    seconds: Seconds = 0.0


@_event
class Stopped(Explained):
    """The session ended by an error, ``reason``, an interruption included."""

    event: Literal["stopped"] = "stopped"
    reason: str = ""


@_event
class Merged(Logged):
    """``orderly merge`` added rows and parts of other runs."""

    event: Literal["merged"] = "merged"
    sources: tuple[str, ...] = ()
    n_rows: Count = 0
    n_parts: Count = 0


Event = (
    Started
    | Dropped
    | Reused
    | WorkerStarted
    | WorkerLost
    | WorkerRetired
    | UnitTried
    | UnitGivenUp
    | HostFlagged
    | MachineBarred
    | BestBoard
    | PartStored
    | Reported
    | MemoryLow
    | Stage
    | Finished
    | Stopped
    | Merged
)
EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="event")])
