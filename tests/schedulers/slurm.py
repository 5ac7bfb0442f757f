"""The launch file of Slurm on a real one: two nodes of this machine, on loopback, as root; memory
limits that kill, preemption, time limits.

python -m tests.schedulers.slurm [CASE ...]
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from tests.schedulers.part import (
    LAUNCH,
    Part,
    end_on_sigterm,
    install,
    last_end,
    n_sessions,
    n_stored,
    recipe_of,
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


SUBMITIT = "submitit==1.5.4"
CHANGES = {  # of the example in the page, for a small machine
    "4x4-enable2k --workers 8": "long.toml --workers 1",
    "/64": "/1",
    "range(1, 65)": "[1]",
    "timeout_min=240, cpus_per_task=8, mem_gb=20": "timeout_min=4, cpus_per_task=1, mem_gb=1",
}


class Slurm(Part):
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

    def submit(self, *options: str, question: str = "2x2", script: Path | None = None) -> str:
        """Submit the launch file and return the number of the job."""
        self.environment["QUESTION"] = question
        common = ("--parsable", "--cpus-per-task=1", "--mem=900M")
        return self.run("sbatch", *common, *options, script or LAUNCH / "orderly.sbatch").strip()

    def states(self, job: str) -> list[str]:
        """Return the states of the tasks of a job that are not over."""
        return self.run("squeue", "-h", "-r", "-j", job, "-o", "%T").split()

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
        return all(state in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT") for state in known)


def main() -> int:
    """Run all cases, or those that are named."""
    install("slurmctld", "slurmd", "slurm-client", "munge", "libmunge2")
    end_on_sigterm()
    slurm = Slurm()
    try:
        slurm.bring_up()
        for name, try_it in CASES.items():
            if name in sys.argv[1:] or not sys.argv[1:]:
                with slurm.case(name) as came:
                    try_it(slurm, came)
    finally:
        code = slurm.close()
    return code


def merged(slurm: Slurm, came: list[str]) -> None:
    """Two shares, put together."""
    job = slurm.submit("--array=1-2")
    slurm.wait("shares", lambda: slurm.is_over(job))
    slurm.run("orderly", "merge", "runs/all", "runs/2x2-1-of-2", "runs/2x2-2-of-2")
    said = slurm.run("orderly", "run", "2x2", "--out", "runs/all")
    digest = said.partition("digest ")[2].split()[0]
    assert digest in slurm.run("orderly", "run", "2x2", "--workers", "0", "--out", "alone")
    came.append("proven, the digest of one machine")


def cancelled(slurm: Slurm, came: list[str]) -> None:
    """scancel while it searches."""
    share = slurm.folder / "runs" / "long-1-of-1"
    n_starts = n_sessions(share)
    job = slurm.submit("--array=1-1", question="long.toml")
    arrived = slurm.wait_for_rows(share, n_starts)
    slurm.run("scancel", job)
    slurm.wait("end", lambda: slurm.is_over(job), 90)
    stored = n_stored(share)
    assert stored >= arrived, (stored, arrived)
    assert slurm.restarts(job) == 0
    came.append(f"{stored:,} verdicts stored ({last_end(share)}), not started again")


def preempted(slurm: Slurm, came: list[str]) -> None:
    """A job of a partition of higher priority wants its node."""
    share = slurm.folder / "runs" / "long-1-of-1"
    before, n_starts = n_stored(share), n_sessions(share)
    job = slurm.submit("--array=1-1", "--mem=3900M", question="long.toml")
    arrived = slurm.wait_for_rows(share, n_starts)
    script = slurm.folder / "other.sh"
    script.write_text("#!/bin/sh\nsleep 20\n")
    other = slurm.submit("-p", "high", "-N2", "--mem=3900M", script=script)
    slurm.wait("preemption", lambda: "RUNNING" in slurm.states(other), 120)
    stored, end = n_stored(share), last_end(share)
    assert stored >= before + arrived, (stored, before, arrived)
    slurm.wait_for_rows(share, n_starts + 1)
    came.append(f"{stored - before:,} verdicts stored ({end}), started again")
    slurm.run("scancel", job)
    slurm.wait("end", lambda: slurm.is_over(job), 90)


def at_its_time_limit(slurm: Slurm, came: list[str]) -> None:
    """The warning comes, and it goes on in another start."""
    share = slurm.folder / "runs" / "long-1-of-1"
    before, n_starts = n_stored(share), n_sessions(share)
    job = slurm.submit("--array=1-1", "--time=3", "--signal=B:USR1@60", question="long.toml")
    slurm.wait("the warning", lambda: "stopped by SIGUSR1" in slurm.said(job), 300)
    stored, end = n_stored(share), last_end(share)
    slurm.wait("another start", lambda: n_sessions(share) > n_starts + 1, 300)
    came.append(f"{stored - before:,} verdicts stored ({end}), started again")
    slurm.run("scancel", job)
    slurm.wait("end", lambda: slurm.is_over(job), 120)


def with_its_node_down(slurm: Slurm, came: list[str]) -> None:
    """An administrator takes its node away."""
    share = slurm.folder / "runs" / "long-1-of-1"
    before, n_starts = n_stored(share), n_sessions(share)
    job = slurm.submit("--array=1-1", "-w", "n1", question="long.toml")
    arrived = slurm.wait_for_rows(share, n_starts)
    slurm.run("scontrol", "update", "NodeName=n1", "State=DOWN", "Reason=test")
    slurm.wait("stored", lambda: n_stored(share) >= before + arrived, 60)
    stored, end = n_stored(share), last_end(share)
    # it may be back by itself: its daemon still runs (ReturnToService=2)
    slurm.run("sh", "-c", "scontrol update NodeName=n1 State=RESUME || true")
    slurm.wait_for_rows(share, n_starts + 1)
    came.append(f"{stored - before:,} verdicts stored ({end}), started again")
    slurm.run("scancel", job)
    slurm.wait("end", lambda: slurm.is_over(job), 120)


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
    slurm.wait("the warning", lambda: share.exists() and "SIGUSR2" in last_end(share))
    stored = n_stored(share)
    slurm.wait("another start", lambda: n_sessions(share) > 1)
    assert stored > 0
    came.append(f"{stored:,} verdicts stored ({last_end(share)}), started again")


def without_memory(slurm: Slurm, came: list[str]) -> None:
    """A limit that kills every worker."""
    question = slurm.folder / "large.toml"
    question.write_text('dims = "3x4"\ncutoff = 1400\n')
    job = slurm.submit("--array=1-1", "--mem=260M", question="large.toml")
    slurm.wait("end", lambda: slurm.is_over(job), 300)
    said = slurm.said(job)
    came.append(f"{slurm.restarts(job)} restarts: {said.strip().splitlines()[-1][:160]}")
    assert slurm.restarts(job) == 0, came
    assert "without a verdict" in said or "Killed" in said or "oom" in said.lower(), said


CASES = {
    "an array of two shares, merged": merged,
    "scancel": cancelled,
    "preemption (REQUEUE)": preempted,
    "time limit": at_its_time_limit,
    "node down": with_its_node_down,
    SUBMITIT: by_submitit,
    "too little memory": without_memory,
}

if __name__ == "__main__":
    sys.exit(main())
