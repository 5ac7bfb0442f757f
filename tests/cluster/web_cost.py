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
from results.storage.local import open_folder
from tests.cluster.processes import descendants, stat_of
from tests.cluster.web import Client
from tests.conftest import COMMAND, ROOT

QUESTION = ("--dims", "3x3", "--cutoff", "430", "--buckets", "bdfgjqvwxz aeiou lnrsy chkmpt")
POLL_S = 2.0  # static/run.js


def cpu_s(process):
    """Return the processor time of a process and what it started, children that ended included."""
    found = [sum(map(int, told[11:15])) for told in map(stat_of, descendants(process)) if len(told) > 14]
    return sum(found) / os.sysconf("SC_CLK_TCK")


def n_verdicts(folder):
    """Return how many verdicts the driver said it has."""
    said = [event for event in read_events(open_folder(folder)) if event["event"] == "progress"]
    return int(said[-1]["n_verdicts"]) if said else 0


def poll(client, path, until_s, wait_s):
    """Ask as the page does until a moment."""
    tag = ""
    time.sleep(wait_s)
    while time.monotonic() < until_s:
        reply = client.ask(path, {**client.cookie, **({"If-None-Match": tag} if tag else {})})
        assert reply.status in (200, 304), reply
        tag = reply.headers.get("etag", "")
        time.sleep(POLL_S)


def turn(n_clients, seconds, client, path, driver, server, run):
    """Measure one stretch of time: share of the server, verdicts a second of the driver's time and of the clock."""
    began_s = time.monotonic()
    until_s = began_s + seconds
    before = cpu_s(driver.pid), cpu_s(server.pid), n_verdicts(run)
    waits = [POLL_S * i / n_clients for i in range(n_clients)]
    clients = [threading.Thread(target=poll, args=(client, path, until_s, wait_s)) for wait_s in waits]
    for thread in clients:
        thread.start()
    time.sleep(max(0.0, until_s - time.monotonic()))
    for thread in clients:
        thread.join()
    took_s = time.monotonic() - began_s
    now = cpu_s(driver.pid), cpu_s(server.pid), n_verdicts(run)
    spent, served, found = (one - other for one, other in zip(now, before, strict=True))
    return served / took_s, found / spent, found / took_s


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
        search = [*COMMAND, "run", *QUESTION, "--workers", asked.workers, "--out", str(run)]
        driver = subprocess.Popen(search, env=environment, stderr=subprocess.DEVNULL)
        serve = [*COMMAND, "serve", str(run.parent), "--port", "0"]
        server = subprocess.Popen(serve, env=environment, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            client = Client(server.stdout.readline().strip())
            while not run.exists() or n_verdicts(run) < 100:
                time.sleep(0.5)
            path = f"/api/runs/{client.ask('/api/runs').json[0]['key']}"
            time.sleep(10)  # kernels and word list of the server are loaded
            turns = (0, asked.clients) * asked.turns
            rows = [(n, *turn(n, asked.seconds, client, path, driver, server, run)) for n in turns]
        finally:
            for process in (driver, server):
                process.kill()
                process.wait()
    for n in (0, asked.clients):
        share, own, clock = (median(column) for column in zip(*(row[1:] for row in rows if row[0] == n), strict=True))
        sys.stdout.write(
            f"{n:>3} clients: server {share:.2%} of a processor, driver {own:,.1f} verdicts a second of its own, "
            f"{clock:,.1f} of the clock (medians of {asked.turns})\n"
        )


if __name__ == "__main__":
    main()
