"""The launch file of Grid Engine on a real one: master and one node on loopback, as root.

python -m tests.schedulers.grid_engine [CASE ...]
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from tests.schedulers.part import LAUNCH, Cases, Scheduler, cancelled, install, merged, play

SHARE = Path("/usr/share/gridengine")
ENVIRONMENT = """
pe_name smp
slots 99
user_lists NONE
xuser_lists NONE
start_proc_args NONE
stop_proc_args NONE
allocation_rule $pe_slots
control_slaves FALSE
job_is_first_task TRUE
urgency_slots min
accounting_summary FALSE
qsort_args NONE
"""
GROUP = """
group_name @allhosts
hostlist localhost
"""
QUEUE = {  # what differs from the template of a queue
    "qname": "all.q",
    "hostlist": "@allhosts",
    "pe_list": "smp",
    "rerun": "TRUE",
    "slots": "4",
    "notify": "00:00:30",
    "shell_start_mode": "unix_behavior",
    "load_thresholds": "NONE",
}


class GridEngine(Scheduler):
    """Grid Engine's daemons, and what is asked of them."""

    def __init__(self) -> None:
        super().__init__("grid-engine")

    def bring_up(self) -> None:
        """Configure and start master and node."""
        root, spool = self.folder / "root", self.folder / "spool"
        common = root / "default" / "common"
        for folder in (common, spool / "qmaster", spool / "spooldb", spool / "execd"):
            folder.mkdir(parents=True)
        (root / "util").symlink_to(SHARE / "util")
        for name in ("bin", "lib", "utilbin"):
            (root / name).symlink_to(Path("/var/lib/gridengine") / name)
        text = (SHARE / "default-bootstrap").read_text()
        (common / "bootstrap").write_text(text.replace("/var/spool/gridengine", str(spool)))
        host = socket.gethostname()
        (common / "act_qmaster").write_text(f"{host}\n")
        (common / "host_aliases").write_text(f"localhost {host}\n")
        for path in (self.folder, *root.rglob("default*"), *root.rglob("common*"), spool):
            shutil.chown(path, "sgeadmin", "sgeadmin")
        for path in (*common.iterdir(), *spool.iterdir()):
            shutil.chown(path, "sgeadmin", "sgeadmin")
        self.environment |= {
            "SGE_ROOT": str(root),
            "SGE_CELL": "default",
            "SGE_ARCH": "lx-amd64",
            "SGE_QMASTER_PORT": "17820",
            "SGE_EXECD_PORT": "17821",
            "SGE_QMASTER_PIDFILE": str(self.folder / "qmaster.pid"),
            "SGE_EXECD_PIDFILE": str(self.folder / "execd.pid"),
            "SGE_ND": "1",  # daemons stay in the foreground
        }
        script = SHARE / "scripts" / "init_cluster"
        self._as_admin(f"{script} {root} default {spool / 'spooldb'} sgeadmin")
        self.start("sge_qmaster")
        self.wait("the master", lambda: self._answers("qconf", "-sm"), 60)
        self._as_admin("qconf -am root; qconf -ah localhost; qconf -as localhost")
        self.wait("the manager", lambda: self._answers("qconf", "-ah", "localhost"), 30)
        conf = self.run("qconf", "-sconf", "global")
        conf = re.sub(r"^(min_.id) .*", r"\1 0", conf, flags=re.MULTILINE)  # root may run jobs
        self._give("-Mconf", "global", re.sub(r"^#.*\n", "", conf))
        self.start("sge_execd")
        self._give("-Ap", "pe", ENVIRONMENT.lstrip())
        self._give("-Ahgrp", "group", GROUP.lstrip())
        queue = self.run("qconf", "-sq")
        for name, value in QUEUE.items():
            queue = re.sub(rf"^{name} .*", f"{name} {value}", queue, flags=re.MULTILINE)
        self._give("-Aq", "queue", queue)
        self.wait("the node", lambda: "lx-amd64" in self.run("qhost"), 90)

    def _as_admin(self, command: str) -> None:
        subprocess.run(
            ["su", "-s", "/bin/sh", "-m", "-c", command, "sgeadmin"],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            check=False,
        )

    def _answers(self, *command: str) -> bool:
        done = subprocess.run(command, env=self.environment, capture_output=True, check=False)
        return done.returncode == 0

    def _give(self, option: str, name: str, text: str) -> None:
        (self.folder / name).write_text(text)
        self.run("qconf", option, name)

    def submit(self, *options: str, question: str = "2x2", n_shares: int = 1) -> str:
        """Submit the launch file as an array and return the number of the job."""
        common = ("-terse", "-V", "-pe", "smp", "1", "-t", f"1-{n_shares}")
        variables = ("-v", f"QUESTION={question}")
        said = self.run("qsub", *common, *variables, *options, LAUNCH / "orderly.sge")
        return said.strip().splitlines()[-1].partition(".")[0]

    def cancel(self, job: str) -> None:
        """Have a job ended."""
        self.run("qdel", job)

    def clear(self) -> None:
        """Delete all jobs and wait until they are gone."""
        self.run("sh", "-c", "qdel -u root || true")
        self.wait("no job", lambda: not self.run("qstat").strip(), 180)

    def is_over(self, job: str) -> bool:
        """Return whether nothing of a job waits or runs."""
        return not re.search(rf"^\s*{job} ", self.run("qstat"), re.MULTILINE)

    def said(self, job: str) -> str:
        """Return what the tasks of a job said."""
        paths = sorted(self.folder.glob(f"orderly.o{job}.*"))
        return "".join(path.read_text() for path in paths)


def at_the_hard_limit(engine: GridEngine, came: list[str]) -> None:
    """h_rt: SIGUSR2, and after the time to notify a kill."""
    engine.ends(engine.begin("-l", "h_rt=0:2:0"), came)


def at_the_soft_limit(engine: GridEngine, came: list[str]) -> None:
    """s_rt: SIGUSR1, and another start."""
    begun = engine.begin("-l", "s_rt=0:1:30,h_rt=0:10:0")
    engine.wait("the warning", lambda: "stopped by SIGUSR1" in engine.said(begun.job), 300)
    engine.goes_on(begun, engine.kept(begun), came)


CASES: Cases[GridEngine] = {
    "an array of two shares, merged": merged,
    "qdel": cancelled,
    "h_rt": at_the_hard_limit,
    "s_rt": at_the_soft_limit,
}


def main() -> int:
    """Run all cases, or those that are named."""
    install("gridengine-master", "gridengine-exec", "gridengine-client")
    return play(GridEngine(), CASES, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
