"""What is asked of Ray about its cluster, part of which it does not promise to keep; and what
follows from it for us.

    look         processors by machine: how many, how many free; a machine that drains has none
      room       how many workers there is room for
      describe   who has the others

Behind Ray's client (ray://), and with versions of Ray that keep this elsewhere, only the sums are
known: they count as one machine without a name.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from orderly_boggle.boardclass.printable import counted

NICENESS = (
    "slowly beside other work: Ray gives them niceness 15, unless RAY_worker_niceness says "
    "otherwise where Ray was started"
)
_MAX_OTHERS = 3
_MAX_ENTRY = 60


class ReplacedError(Exception):
    """The head of the cluster was replaced by that of another one."""


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
        >>> there = Processors({"a": 2}, {"a": 0})
        >>> "Ray gives them niceness 15" in there.describe(Counter(), (), starting=True)
        True
        >>> print(Processors({"a": 1}, {"a": 1}).describe(Counter(a=1), ()))
        of 1 processor there 1 are ours, 0 free
        """
        usable = self.usable(barred)
        every = sum(self.every[machine] for machine in usable)
        n_ours = sum(ours[machine] for machine in usable)
        # the head counts the processor of a worker that has just come as free for a while
        not_ours = {machine: max(0, self.every[machine] - ours[machine]) for machine in usable}
        free = sum(min(self.free.get(machine, 0), n) for machine, n in not_ours.items())
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
                or_ours = f", or by ours that are starting ({NICENESS})"
            parts.append(f"{taken:,} taken by others{or_ours}")
        if taken > 0 and self.others:
            parts[-1] += f" ({'; '.join(self.others)})"
        if self.draining:
            parts.append(f"{counted(len(self.draining), 'machine')} about to leave")
        if barred:
            parts.append(f"{counted(len(barred), 'machine')} barred")
        return ", ".join(parts)


def look(ray: Any, own_job: str, timeout_s: float) -> Processors:
    """Return the processors of the cluster that ``ray`` is connected to.

    Its head is asked by calls that raise.  Those of ray._private.state (and
    ray.available_resources) end this process from inside when the head is replaced while it owes
    an answer (Ray 2.60).

    own_job : the id of our job, in hexadecimal digits

    Raises TimeoutError when the head has not answered in time, ReplacedError when that of another
    cluster answers.
    """
    try:
        if ray.util.client.ray.is_connected():
            raise NotImplementedError
        from ray.core.generated import autoscaler_pb2

        head = ray._private.worker.global_worker.gcs_client
        reply = autoscaler_pb2.GetClusterResourceStateReply()
        reply.ParseFromString(head.get_cluster_resource_state(timeout_s=timeout_s))
        jobs = head.get_all_job_info(
            skip_submission_job_info_field=True,
            skip_is_running_tasks_field=True,
            timeout=timeout_s,
        )
        return _told(reply.cluster_resource_state.node_states, _others(jobs, own_job))
    except (ImportError, AttributeError, TypeError, NotImplementedError):
        every = ray.cluster_resources()
        free = ray.available_resources()
        return Processors({"": _whole(every)}, {"": _whole(free)})
    except ray.exceptions.AuthenticationError as error:
        raise ReplacedError("its head was replaced by that of a new cluster") from error
    except ray.exceptions.RpcError as error:
        raise TimeoutError(str(error)) from error


def _told(machines: Any, others: tuple[str, ...]) -> Processors:
    """Return what the head says of its machines, as messages of Ray's protocol."""
    from ray.core.generated import autoscaler_pb2

    alive = [one for one in machines if one.status != autoscaler_pb2.DEAD]
    return Processors(
        {one.node_id.hex(): _whole(one.total_resources) for one in alive},
        {one.node_id.hex(): _whole(one.available_resources) for one in alive},
        frozenset(one.node_id.hex() for one in alive if one.status == autoscaler_pb2.DRAINING),
        others,
    )


def _whole(resources: Mapping[str, float]) -> int:
    """Return whole processors: two halves of different machines are none."""
    return int(resources.get("CPU", 0))


def _others(jobs: Mapping[Any, Any], own_job: str) -> tuple[str, ...]:
    """Return the other drivers in words, of the jobs by their ids."""
    alive = [job for key, job in jobs.items() if not job.is_dead and key.hex() != own_job]
    words = []
    for job in alive[:_MAX_OTHERS]:
        entry = " ".join(job.entrypoint.split())[:_MAX_ENTRY]
        words.append(f"process {job.driver_pid} on {job.driver_address.ip_address}: {entry}")
    if len(alive) > _MAX_OTHERS:
        words.append(f"and {len(alive) - _MAX_OTHERS:,} more")
    return tuple(words)
