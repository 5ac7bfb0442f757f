"""The launch file of Slurm on a real one: two nodes of this machine, on loopback, as root; memory
limits that kill, preemption, time limits.

python -m tests.schedulers.slurm [CASE ...]
"""

from __future__ import annotations

import os
import socket
import sys
from functools import partial
from pathlib import Path

from tests.schedulers.part import (
    LAUNCH,
    Cases,
    Scheduler,
    cancelled,
    install,
    merged,
    n_sessions,
    n_stored,
    play,
    recipe_of,
    stops,
)

CONF = """
ClusterName=orderly
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock,cred_expire=10
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort=17810
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
ReturnToService=2
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port=17811 CPUs=2 RealMemory=4000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port=17812 CPUs=2 RealMemory=4000
PartitionName=low Nodes=n1,n2 Default=YES PriorityTier=1 PreemptMode=REQUEUE
PartitionName=high Nodes=n1,n2 PriorityTier=2 PreemptMode=OFF
"""
CGROUP = """
CgroupPlugin=cgroup/v1
CgroupAutomount=no
ConstrainRAMSpace=yes
ConstrainSwapSpace=yes
AllowedSwapSpace=0
"""


ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL")
LIMITED = 'dims = "3x4"\ncutoff = 1400\n'
HEAVY = 'dims = "4x4"\ncutoff = 1000\n[search]\nmemory_mb = 256\n'  # minutes for each class
SUBMITIT = "submitit==1.5.4"
CHANGES = {  # of the example in the page, for a small machine
    "4x4-enable2k --workers 8": "long.toml --workers 1",
    "/64": "/1",
    "range(1, 65)": "[1]",
    "timeout_min=240, cpus_per_task=8, mem_gb=20": "timeout_min=4, cpus_per_task=1, mem_gb=1",
}


class Slurm(Scheduler):
    """Slurm's daemons, and what is asked of them."""

    def __init__(self) -> None:
        super().__init__("slurm")

    def bring_up(self) -> None:
        """Start munge, the controller and two nodes."""
        folder, host = self.folder, socket.gethostname().partition(".")[0]
        for name in ("state", "spool-n1", "spool-n2"):
            (folder / name).mkdir()
        (folder / "slurm.conf").write_text(CONF.format(folder=folder, host=host))
        (folder / "cgroup.conf").write_text(CGROUP)
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.environment["SLURM_CONF"] = str(folder / "slurm.conf")
        names = {"key-file": key, "socket": folder / "munge.sock", "seed-file": folder / "seed"}
        names |= {"pid-file": folder / "munged.pid", "log-file": folder / "munged.log"}
        self.start("munged", "--force", "--foreground", *(f"--{k}={v}" for k, v in names.items()))
        self.wait("munged", (folder / "munge.sock").exists, 30)
        self.start("slurmctld", "-D")
        for node in ("n1", "n2"):
            self.start("slurmd", "-D", "-N", node)
        self.wait("nodes", lambda: {*self.run("sinfo", "-h", "-o", "%T").split()} == {"idle"}, 90)

    def clear(self) -> None:
        """Cancel all jobs and wait until they are gone."""
        self.run("scancel", "-u", "root")
        self.wait("no job", lambda: not self.run("squeue", "-h").strip(), 180)

    def submit(self, *options: str, question: str = "2x2", n_shares: int = 1) -> str:
        """Submit the launch file as an array and return the number of the job."""
        self.environment["QUESTION"] = question
        common = ("--parsable", f"--array=1-{n_shares}", "--cpus-per-task=1", "--mem=900M")
        return self.run("sbatch", *common, *options, LAUNCH / "orderly.sbatch").strip()

    def cancel(self, job: str) -> None:
        """Have a job ended."""
        self.run("scancel", job)

    def exit_code(self, job: str) -> int:
        """Return the exit code of a task that has ended."""
        text = self.run("scontrol", "-o", "show", "job", job)
        return int(text.partition(" ExitCode=")[2].partition(":")[0])

    def restarts(self, job: str) -> int:
        """Return how often a job was started again."""
        text = self.run("scontrol", "-o", "show", "job", job)
        return max(int(part.split()[0]) for part in text.split("Restarts=")[1:])

    def said(self, job: str) -> str:
        """Return what the tasks of a job said."""
        paths = sorted(self.folder.glob(f"slurm-{job}_*.out"))
        return "".join(path.read_text() for path in paths)

    def is_over(self, job: str) -> bool:
        """Return whether no task of a job waits or runs."""
        known = self.run("squeue", "-h", "-r", "-t", "all", "-j", job, "-o", "%T").split()
        return all(state in ENDED for state in known)


def preempted(slurm: Slurm, came: list[str]) -> None:
    """A job of a partition of higher priority wants its node."""
    begun = slurm.begin("--mem=3900M")
    script = slurm.folder / "other.sh"
    script.write_text("#!/bin/sh\nsleep 20\n")
    slurm.run("sbatch", "-p", "high", "-N2", "--mem=3900M", script)
    slurm.goes_on(begun, slurm.kept(begun), came)


def at_its_time_limit(slurm: Slurm, came: list[str]) -> None:
    """The warning comes, and it goes on in another start."""
    begun = slurm.begin("--time=3", "--signal=B:USR1@60")
    slurm.wait("the warning", lambda: "stopped by SIGUSR1" in slurm.said(begun.job), 300)
    slurm.goes_on(begun, slurm.kept(begun), came)


def with_its_node_down(slurm: Slurm, came: list[str]) -> None:
    """An administrator takes its node away."""
    begun = slurm.begin("-w", "n1")
    slurm.run("scontrol", "update", "NodeName=n1", "State=DOWN", "Reason=test")
    kept = slurm.kept(begun)
    # it may be back by itself: its daemon still runs (ReturnToService=2)
    slurm.run("sh", "-c", "scontrol update NodeName=n1 State=RESUME || true")
    slurm.goes_on(begun, kept, came)


def by_submitit(slurm: Slurm, came: list[str]) -> None:
    """The example of the page: SIGUSR2 before the time limit."""
    python = slurm.folder / "venv" / "bin" / "python"
    slurm.run(sys.executable, "-m", "venv", slurm.folder / "venv")
    slurm.run(python, "-m", "pip", "install", "-qq", SUBMITIT)
    text = recipe_of("import signal, subprocess, time")
    for old, new in CHANGES.items():
        assert old in text, old
        text = text.replace(old, new)
    (slurm.folder / "shares.py").write_text(text)
    share = slurm.folder / "runs" / "share-1"
    slurm.run(python, "shares.py")
    slurm.wait("the warning", lambda: stops(share))
    stored, stop = n_stored(share), stops(share)[-1]
    slurm.wait("another start", lambda: n_sessions(share) > 1)
    assert stored > 0
    assert "SIGUSR2" in stop
    came.append(f"{stored:,} verdicts stored ({stop}), started again")


def without_memory(slurm: Slurm, came: list[str]) -> None:
    """A limit that kills every worker: the driver ends it with 7."""
    (slurm.folder / "limited.toml").write_text(LIMITED)
    job = slurm.submit("--mem=280M", question="limited.toml")
    slurm.wait("end", lambda: slurm.is_over(job))
    said = slurm.said(job)
    assert "3 workers in a row died without a verdict" in said, said
    assert "the same command would fare no better" in said, said
    assert slurm.restarts(job) == 0
    came.append("3 workers in a row killed, and said so; not started again")


def without_memory_for_the_driver(slurm: Slurm, came: list[str]) -> None:
    """A limit that kills it, too: nobody starts it again."""
    (slurm.folder / "limited.toml").write_text(LIMITED)
    job = slurm.submit("--mem=100M", question="limited.toml")
    slurm.wait("end", lambda: slurm.is_over(job))
    assert "oom" in slurm.said(job).lower(), slurm.said(job)
    assert slurm.restarts(job) == 0
    came.append("killed by the memory limit, not started again")


def without_progress(slurm: Slurm, came: list[str]) -> None:
    """Warned before a single class is done, each time: three starts, then it ends with 7."""
    (slurm.folder / "heavy.toml").write_text(HEAVY)
    share = slurm.folder / "runs" / "heavy-1-of-1"
    job = slurm.submit("--mem=3000M", question="heavy.toml")
    for n_starts in range(3):
        slurm.wait("a start", partial(_has_starts, share, n_starts + 1))
        # the signal that it is sent before its time limit; how much it does until then depends on
        # the machine
        slurm.run("scancel", "--batch", "--signal=USR1", f"{job}_1")
    slurm.wait("end", lambda: slurm.is_over(job))
    said = slurm.said(job)
    assert "3 starts in a row added no verdict" in said, said
    assert slurm.exit_code(job) == 7
    assert slurm.restarts(job) == 2
    came.append("2 restarts, then exit code 7: 3 starts in a row added no verdict")


def _has_starts(share: Path, n_starts: int) -> bool:
    return n_sessions(share) == n_starts


CASES: Cases[Slurm] = {
    "an array of two shares, merged": merged,
    "scancel": cancelled,
    "preemption (REQUEUE)": preempted,
    "time limit": at_its_time_limit,
    "node down": with_its_node_down,
    SUBMITIT: by_submitit,
    "too little memory": without_memory,
    "too little memory for the driver": without_memory_for_the_driver,
    "too little time": without_progress,
}


def main() -> int:
    """Run all cases, or those that are named."""
    install("slurmctld", "slurmd", "slurm-client", "munge", "libmunge2")
    return play(Slurm(), CASES, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
