"""What a driver does to an object store in an hour, counted at the S3-compatible server of the
tests, with the real store, log and lease, on a clock of its own.

    python -m tests.bench.object_store [WORKERS ...]

Every class takes 24 s and is eliminated.  A whole hour is played: small parts are put together
every few minutes, larger ones seldom.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from unittest import mock

import numpy as np
from moto.server import ThreadedMotoServer
from pyarrow.fs import FileSystem
from werkzeug.serving import WSGIRequestHandler

from orderly_boggle.cluster.planning.plan import make_plan
from orderly_boggle.results.log import EventLog
from orderly_boggle.results.log_events import PartStored, Reported
from orderly_boggle.results.proof.prove import summary
from orderly_boggle.results.storage.local import open_folder
from orderly_boggle.results.storage.lock import STORE_PACE, Pace, take_lock
from orderly_boggle.results.store.store import Store
from tests.bench.rows import config_of, rows_of

UNIT_S, TICK_S, REPORT_S, PLAYED_S = 24.0, 5.0, 15.0, 3600.0


class Requests(Counter[str]):
    """Requests by method, and the bytes that were sent with them."""

    def note(self, method: str, n_bytes: int) -> None:
        """Count one."""
        self[method] += 1
        self["bytes"] += n_bytes

    def taken(self) -> Counter[str]:
        """Return what was counted since the last time."""
        counts = Counter(self)
        self.clear()
        return counts


def hour(address: str, n_workers: int, requests: Requests) -> dict[str, Counter[str]]:
    """Return the requests of an hour by what makes them, and those of one ``status``."""
    config = config_of(1_000_000, address)
    plan = make_plan(config)
    ids, rng, now_s = plan.question.class_ids(), np.random.default_rng(1), 0.0
    counts: dict[str, Counter[str]] = {"parts": Counter(), "log": Counter()}
    with Store.open(address, plan.question, clock=lambda: now_s) as store:
        folder, n_rows = store.run.folder, 0
        log = EventLog(folder, clock=lambda: now_s)
        hosts = {f"host{number:04}": 16 for number in range(max(1, n_workers // 16))}
        requests.taken()
        while now_s < PLAYED_S:
            now_s += TICK_S
            n_new = round(n_workers * now_s / UNIT_S) - n_rows
            before = store.last_part
            store.append(rows_of(plan, ids[n_rows : n_rows + n_new].tolist(), rng))
            n_rows += n_new
            if store.last_part != before:
                log.add(PartStored(name=store.last_part[0], n_rows=store.last_part[1]))
            counts["parts"] += requests.taken()
            if now_s % REPORT_S == 0:
                log.add(Reported(n_workers=n_workers, hosts=hosts))
            log.flush()
            counts["log"] += requests.taken()
    requests.taken()
    summary(address)
    return counts | {"a status after it": requests.taken()}


def beats(address: str, requests: Requests) -> Counter[str]:
    """Return the requests by which the claim on a run is renewed in an hour."""
    lease = take_lock(open_folder(address), Pace(beat_s=0.2))
    requests.taken()
    time.sleep(2)
    counts = requests.taken()
    lease.release()
    # the first or the last beat may be counted in part, but each makes the same requests
    n_beats = round(PLAYED_S / STORE_PACE.beat_s)
    return Counter({name: n_beats * round(n / counts["PUT"]) for name, n in counts.items()})


def main() -> None:
    """Print the figures."""
    requests = Requests()

    def count(handler: WSGIRequestHandler, *_: object) -> None:
        sizes = map(handler.headers.get, ("X-Amz-Decoded-Content-Length", "Content-Length"))
        requests.note(handler.command, int(next(filter(None, sizes), 0)))

    with mock.patch.object(WSGIRequestHandler, "log_request", count):
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        os.environ |= {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "tester",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        FileSystem.from_uri("s3://bench?allow_bucket_creation=true")[0].create_dir("bench")
        for n_workers in map(int, sys.argv[1:] or ("16", "256", "4096")):
            address = f"s3://bench/{n_workers}"
            counts = hour(address, n_workers, requests) | {"lease": beats(address, requests)}
            for name, found in counts.items():
                sys.stdout.write(f"{n_workers:5} workers, {name}: {dict(found)}\n")
        server.stop()


if __name__ == "__main__":
    main()
