"""What is asked of Ray about its cluster, part of which it does not promise to keep; and what
follows from it for us.

    look         processors by machine: how many, how many free; a machine that drains has none
      room       how many workers there is room for
      describe   who has the others
    cluster_id   which cluster answers at an address

Behind Ray's client (ray://), and with versions of Ray that keep this elsewhere, only the sums are
known: they count as one machine without a name.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from orderly_boggle.boardclass.printable import counted

_MAX_OTHERS = 3
_MAX_ENTRY = 60


@dataclass(frozen=True)
class Processors:
    """Processors of a cluster, by machine: Ray's hexadecimal id of its node."""

    every: dict[str, int]
    free: dict[str, int]
    draining: frozenset[str] = frozenset()  # these end soon, and nothing is placed there
    others: tuple[str, ...] = field(default=())  # the other drivers, in words

    def usable(self, barred: Collection[str]) -> set[str]:
        """Return the machines where a worker may be started."""
        return self.every.keys() - self.draining - set(barred)

    def room(self, ours: Counter[str], barred: Collection[str]) -> int:
        """Return how many workers there is room for: free processors, and those that ours have.

        ours : number of our workers that have a processor, by machine

        >>> there = Processors({"a": 2, "b": 4, "c": 8}, {"a": 2, "b": 1, "c": 8}, frozenset("c"))
        >>> there.room(Counter(b=2), {"a"})
        3
        """
        usable = self.usable(barred)
        every = sum(self.every[machine] for machine in usable)
        free = sum(self.free.get(machine, 0) for machine in usable)
        n_usable = sum(n for machine, n in ours.items() if machine in usable or not machine)
        return min(every, free + n_usable) + ours.total() - n_usable

    def describe(
        self, ours: Counter[str], barred: Collection[str], *, starting: bool = False
    ) -> str:
        """Return in words how many there are and who has them.

        starting : whether some of ours may have a processor without having said so yet

        >>> there = Processors({"a": 4}, {"a": 1}, others=("process 7 on 10.0.0.2: trainer",))
        >>> print(there.describe(Counter(a=1), ()))
        of 4 processors there 1 are ours, 1 free, 2 taken by others (process 7 on 10.0.0.2: trainer)
        """
        usable = self.usable(barred)
        every = sum(self.every[machine] for machine in usable)
        free = sum(self.free.get(machine, 0) for machine in usable)
        n_ours = sum(ours[machine] for machine in usable)
        if not every:
            parts = ["no machine with processors has joined yet"]
            if self.draining or barred:
                parts = ["no other machine with processors is there"]
        else:
            parts = [f"of {counted(every, 'processor')} there {n_ours:,} are ours, {free:,} free"]
        taken = every - free - n_ours
        if taken > 0:
            or_ours = ""
            if starting:
                or_ours = ", or by ours that are starting"
            parts.append(f"{taken:,} taken by others{or_ours}")
        if taken > 0 and self.others:
            parts[-1] += f" ({'; '.join(self.others)})"
        if self.draining:
            parts.append(f"{counted(len(self.draining), 'machine')} about to leave")
        if barred:
            parts.append(f"{counted(len(barred), 'machine')} barred")
        return ", ".join(parts)


def look(ray: Any, own_job: str) -> Processors:
    """Return the processors of the cluster that ``ray`` is connected to.

    own_job : the id of our job, in hexadecimal digits
    """
    try:
        if ray.util.client.ray.is_connected():
            raise NotImplementedError
        from ray._private import state

        every = state.total_resources_per_node()
        free = state.available_resources_per_node()
        draining = frozenset(state.state.get_draining_nodes())
        others = _others(state.jobs(), own_job)
    except (ImportError, AttributeError, NotImplementedError):
        every, free = {"": ray.cluster_resources()}, {"": ray.available_resources()}
        draining, others = frozenset(), ()
    return Processors(_whole(every), _whole(free), draining, others)


def _whole(resources: dict[str, dict[str, float]]) -> dict[str, int]:
    """Return whole processors: two halves of different machines are none."""
    return {machine: int(there.get("CPU", 0)) for machine, there in resources.items()}


def _others(jobs: list[dict[str, Any]], own_job: str) -> tuple[str, ...]:
    alive = [job for job in jobs if not job["IsDead"] and job["JobID"] != own_job]
    words = []
    for job in alive[:_MAX_OTHERS]:
        entry = " ".join(str(job.get("Entrypoint") or "").split())[:_MAX_ENTRY]
        words.append(f"process {job['DriverPid']} on {job['DriverIPAddress']}: {entry}")
    if len(alive) > _MAX_OTHERS:
        words.append(f"and {len(alive) - _MAX_OTHERS:,} more")
    return tuple(words)


def own_cluster_id(ray: Any) -> str:
    """Return the id of the cluster that this process has joined; empty if Ray keeps it
    elsewhere.
    """
    try:
        return str(ray._private.worker.global_worker.gcs_client.cluster_id)
    except AttributeError:
        return ""


def cluster_id(address: str) -> str:
    """Return the id of the cluster whose head listens at this address; empty if it cannot be told.

    Any other call that meets a cluster that is not its own ends the process (Ray 2.60).

    Raises ConnectionError when it does not say.
    """
    try:
        from ray._raylet import GcsClient  # type: ignore[attr-defined]
        from ray.exceptions import RpcError
    except ImportError:
        return ""
    try:
        return str(GcsClient(address=address).cluster_id)
    except RpcError as error:
        raise ConnectionError(str(error)) from error
    except (AttributeError, TypeError):
        return ""
