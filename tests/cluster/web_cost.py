"""What watching costs a search: clients poll a run that goes on, then nobody does, in turn.

    python -m tests.cluster.web_cost [--clients 20] [--turns 4] [--seconds 20] [--workers 0]

Printed are the processor time of the server and all its processes, as a share of one processor, and how many verdicts
the driver found a second of its own processor time and of the clock.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

from results.log import read_events
from results.storage import files
from results.storage.local import open_folder
from tests.cluster.processes import descendants
from tests.cluster.web import Client
from tests.conftest import COMMAND, ROOT

QUESTION = ("--dims", "3x3", "--cutoff", "430", "--buckets", "bdfgjqvwxz aeiou lnrsy chkmpt")
POLL_S = 2.0  # static/run.js


def cpu_s(process: int) -> float:
    """Return the processor time of a process and what it started, children that ended included."""
    total = 0
    for one in descendants(process):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def n_verdicts(folder: Path) -> int:
    """Return how many verdicts the driver said it has."""
    said = [event for event in read_events(open_folder(folder)) if event["event"] == "progress"]
    return int(said[-1]["n_verdicts"]) if said else 0


def polls(client: Client, path: str, until_s: float, waits: float) -> int:
    """Ask as the page does until a moment; return how often."""
    n, tag = 0, ""
    time.sleep(waits)
    while time.monotonic() < until_s:
        reply = client.ask(path, {**client.cookie, **({"If-None-Match": tag} if tag else {})})
        assert reply.status in (200, 304), reply
        tag = reply.headers.get("etag", "")
        n += 1
        time.sleep(POLL_S)
    return n


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="cost of watching")
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--workers", default="0")
    asked = parser.parse_args()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as top:
        run = Path(top) / "runs" / "one"
        run.parent.mkdir()
        driver = subprocess.Popen(
            [*COMMAND, "run", *QUESTION, "--workers", asked.workers, "--out", str(run)],
            env=environment,
            stderr=subprocess.DEVNULL,
        )
        server = subprocess.Popen(
            [*COMMAND, "serve", str(run.parent), "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        try:
            client = Client(server.stdout.readline().strip())
            while not (run / files.EVENTS).exists() or n_verdicts(run) < 100:
                time.sleep(0.5)
            key = client.ask("/api/runs").json[0]["key"]
            time.sleep(10)  # kernels and word list of the server are loaded
            for watched in (False, True) * asked.turns:
                turn(watched, asked, client, f"/api/runs/{key}", (driver.pid, server.pid), run)
        finally:
            for process in (driver, server):
                process.kill()
                process.wait()
    for watched in (False, True):
        kept = [row[1:] for row in ROWS if row[0] == watched]
        means = [median(column) for column in zip(*kept, strict=True)]
        sys.stdout.write(
            f"{asked.clients if watched else 0:>3} clients: server {means[0]:.2%} of a processor, driver "
            f"{means[1]:,.1f} verdicts a second of its own, {means[2]:,.1f} of the clock (medians of {len(kept)})\n"
        )


ROWS: list[tuple[bool, float, float, float]] = []


def turn(
    watched: bool, asked: argparse.Namespace, client: Client, path: str, processes: tuple[int, int], run: Path
) -> None:
    """Measure one stretch of time."""
    driver, server = processes
    began_s, until_s = time.monotonic(), time.monotonic() + asked.seconds
    before = cpu_s(driver), cpu_s(server), n_verdicts(run)
    clients = [
        threading.Thread(target=polls, args=(client, path, until_s, POLL_S * i / asked.clients))
        for i in range(asked.clients if watched else 0)
    ]
    for thread in clients:
        thread.start()
    time.sleep(max(0.0, until_s - time.monotonic()))
    for thread in clients:
        thread.join()
    seconds = time.monotonic() - began_s
    spent, served, found = (
        now - then for now, then in zip((cpu_s(driver), cpu_s(server), n_verdicts(run)), before, strict=True)
    )
    ROWS.append((watched, served / seconds, found / spent, found / seconds))
    sys.stdout.write(
        f"{'watched' if watched else 'alone  '}  {served / seconds:.2%}  {found / spent:,.1f}  {found / seconds:,.1f}\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
