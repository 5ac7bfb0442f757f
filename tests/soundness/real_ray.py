"""What real Ray clusters do to a run: several ``ray start`` machines on the loopback, and Ray's own
fake provider as the autoscaler.

python -m tests.soundness.real_ray [--only NAME ...]

Each case starts a cluster, plays one fault, looks at what the driver said, stored and ended with,
and ends everything by its process id.  A line for each case; exit code 1 when one fails.  Minutes.
"""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import venv
from pathlib import Path

import ray

from orderly_boggle.results.log import read_events
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.store.run import open_run
from tests.cluster.ray_start import HEAD, ROOT, Cable, RealCluster, free_port, until

FOLDERS = ("orderly_boggle", "boardclass", "cluster", "configs", "results", "search")
_START_S = 600.0  # kernels may have to be compiled, on a loaded machine
_CALM_S = 120.0


def rows(folder):
    """Return how many rows are stored."""
    return sum(1 for _ in open_run(str(folder / "run")).rows())


def told(folder, kind):
    """Return the events of a kind in the log of a run."""
    log = LocalFolder(folder / "run")
    return [event for event in read_events(log) if event.event == kind]


def said(folder):
    """Return what a driver has said."""
    return (folder / "said").read_text()


def is_at_work(folder, n_workers=1):
    """Return whether so many workers are up."""
    if not (folder / "run" / "events.jsonl").exists():
        return False
    return len(told(folder, "worker_up")) >= n_workers


def has_rows(folder):
    """Return whether something is stored."""
    return any((folder / "run" / "results").glob("*.parquet"))


def wait_for_work(folder, driver, n_workers=1):
    """Wait until workers are up; an ended driver is told at once."""

    def is_so():
        assert driver.poll() is None, said(folder)
        return is_at_work(folder, n_workers)

    until(is_so, _START_S, f"{n_workers} workers")


def demand(cluster):
    """Return how many processors are asked of the autoscaler, and how many machines there are."""
    status = cluster.ask("status")
    pending = re.search(r"\{'CPU': 1(?:\.0)?\}: (\d+)\+? pending", status)
    active = re.search(r"^ (\d+) machine", status, re.MULTILINE)
    has_request = re.search(r"\{'CPU': 1(?:\.0)?\}: \d+\+? from request_resources", status)
    n_asked = int(pending[1]) if pending else 0
    return n_asked + bool(has_request), int(active[1]) if active else 0


# --- the cases


def killed_driver(folder):
    """An autoscaler is asked for nothing two minutes after its driver was killed."""
    with RealCluster() as cluster:
        cluster.start_autoscaling_head(idle_minutes=0.2, most=2)
        driver = cluster.drive(folder, "--workers", "3")
        wait_for_work(folder, driver, 2)
        until(lambda: demand(cluster) == (1, 2), _START_S, "two machines, and one more is asked")
        driver.kill()
        began_s = time.monotonic()
        until(lambda: demand(cluster) == (0, 0), _CALM_S, "nothing asked, no machine left")
        return f"0 asked and 0 machines of 2 after {time.monotonic() - began_s:.0f} s"


def two_drivers(folder):
    """What one driver asks for stays when another one ends."""
    with RealCluster() as cluster:
        cluster.start_autoscaling_head(idle_minutes=5, most=1)
        first = cluster.drive(folder / "first", "--workers", "2")
        wait_for_work(folder / "first", first)
        second = cluster.drive(folder / "second", "--workers", "3")
        until(lambda: demand(cluster)[0] == 4, _START_S, "both are asked for")
        second.send_signal(signal.SIGTERM)
        assert second.wait(120) == 4, said(folder / "second")
        time.sleep(10)
        n_asked, _ = demand(cluster)
        assert n_asked == 1, f"{n_asked} asked after the second has ended"
        return "the first asks for 1 more before and after the end of the second, which asked for 3"


def head_replaced(folder):
    """A head that is replaced within the grace: stored, and a code that is tried again."""
    with RealCluster() as cluster:
        head = cluster.start_head()
        cluster.add()
        driver = cluster.drive(folder, "--workers", "0")
        until(lambda: has_rows(folder), _START_S, "the first rows")
        cluster.end(head)
        cluster.start_head()
        code = driver.wait(120)
        text = said(folder)
        assert code == 6, f"exit code {code}\n{text}"
        assert "the same command resumes" in text, text
        n_told, n_stored = n_settled(folder), rows(folder)
        assert n_stored >= n_told, (n_stored, n_told)
        cluster.add()
        again = cluster.drive(folder, "--workers", "0")
        until(lambda: is_at_work(folder, 2), _START_S, "the same command goes on")
        again.send_signal(signal.SIGTERM)
        assert again.wait(120) == 4
        return f"exit code 6, {n_stored} rows stored, {n_told} were told; goes on on the new one"


def strange_machines(folder):
    """A machine without the package and one with other code are barred, a good one works on."""
    with RealCluster() as cluster:
        cluster.start_head()
        driver = cluster.drive(folder, "--workers", "0")
        cluster.add(python=_bare_python(folder), settings={"PYTHONPATH": ""})
        until(lambda: told(folder, "machine_barred"), _START_S, f"barred\n{said(folder)}")
        cluster.add(settings={"PYTHONPATH": str(_edited_copy(folder))})
        until(lambda: len(told(folder, "machine_barred")) == 2, _START_S, "barred")
        cluster.add()
        wait_for_work(folder, driver)
        until(lambda: has_rows(folder), _START_S, "rows of the good machine")
        driver.send_signal(signal.SIGTERM)
        assert driver.wait(120) == 4, said(folder)
        without, other = (event.message for event in told(folder, "machine_barred"))
        assert "No module named 'orderly_boggle'" in without, without
        assert "\x1b" not in said(folder)
        assert "its sources" in other, other
        n_lost = len(told(folder, "worker_down"))
        assert n_lost <= 6, n_lost
        assert said(folder).count("no worker is started on") == 2
        return f"{n_lost} workers lost in all; {without!r}; {other.partition(':')[2].strip()!r}"


def busy_cluster(folder):
    """Who waits for processors says so, and who has them."""
    with RealCluster() as cluster:
        cluster.start_head()
        first = cluster.drive(folder / "first", "--workers", "0")
        until(lambda: "waiting for" in said(folder / "first"), _START_S, "it says that it waits")
        lone = said(folder / "first")
        assert "no machine with processors has joined yet" in lone, lone
        cluster.add()
        wait_for_work(folder / "first", first)
        second = cluster.drive(folder / "second", "--workers", "2")
        until(lambda: "taken by others" in said(folder / "second"), _START_S, "it says who")
        line = next(x for x in said(folder / "second").splitlines() if "taken by" in x)
        assert f"process {first.pid} on 127.0.0." in line, line
        for driver in (second, first):
            driver.send_signal(signal.SIGTERM)
            assert driver.wait(120) == 4
        return repr(line)


def draining_machine(folder):
    """Free processors of a machine that drains are no room: nobody is asked for there."""
    with RealCluster() as cluster:
        cluster.start_head()
        cluster.add(2)
        first = cluster.drive(folder / "first", "--workers", "1")
        wait_for_work(folder / "first", first)
        reason = ["--reason", "DRAIN_NODE_REASON_PREEMPTION", "--reason-message", "test"]
        (machine,) = _machines(cluster)
        cluster.ask(
            "drain-node", "--node-id", machine, *reason, "--deadline-remaining-seconds", "900"
        )
        second = cluster.drive(folder / "second", "--workers", "0")
        until(
            lambda: "about to leave" in said(folder / "second"), _START_S, said(folder / "second")
        )
        time.sleep(20)
        assert not told(folder / "second", "worker_down")
        for driver in (second, first):
            driver.send_signal(signal.SIGTERM)
            assert driver.wait(120) == 4
        line = next(x for x in said(folder / "second").splitlines() if "about to leave" in x)
        return repr(line)


def client_cut_off(folder):
    """A client (ray://) that is cut off for eight seconds goes on, and prints nothing of Ray's."""
    with RealCluster() as cluster:
        cluster.install("grpcio")
        port = free_port(HEAD)
        cluster.start_head(client_port=port)
        cluster.add()
        cable = Cable(HEAD, port)
        driver = cluster.drive(folder, "--workers", "0", address=f"ray://127.0.0.1:{cable.port}")
        wait_for_work(folder, driver)
        until(lambda: has_rows(folder), _START_S, "the first rows")
        n_before = n_settled(folder)
        cable.cut()
        time.sleep(8)
        cable.mend()
        until(lambda: n_settled(folder) > n_before + 100, 120, f"more verdicts\n{said(folder)}")
        driver.send_signal(signal.SIGTERM)
        assert driver.wait(120) == 4, said(folder)
        text = said(folder)
        assert "channel" not in text, text
        assert "ray." not in text, text
        return f"{n_before} verdicts before the cut, {rows(folder)} stored in the end"


def n_settled(folder):
    """Return how many verdicts the driver says have arrived."""
    return max((event.n_verdicts for event in told(folder, "progress")), default=0)


def _machines(cluster):
    """Return the ids of the machines that have processors, asked by a process of its own."""
    program = (
        "import ray, sys\n"
        "ray.init(address=sys.argv[1], log_to_driver=False, logging_level='CRITICAL')\n"
        "print(*[n['NodeID'] for n in ray.nodes() if n['Alive'] and n['Resources'].get('CPU')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, cluster.address],
        env=cluster.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.split()


def _bare_python(folder):
    """Return a Python that has all that this one has, but not this program."""
    place = folder / "bare"
    venv.create(place, symlinks=True)
    library = next((place / "lib").glob("python3.*")) / "site-packages"
    # a folder in a .pth file is searched, but what .pth files in that say is not done
    (library / "others.pth").write_text(f"{Path(ray.__file__).parent.parent}\n")
    return str(place / "bin" / "python")


def _edited_copy(folder):
    """Return a copy of this program with other code outside the kernels."""
    copy = folder / "copy"
    for name in FOLDERS:
        skipped = shutil.ignore_patterns("published", "__pycache__")
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=skipped)
    changed = copy / "cluster" / "streams.py"
    changed.write_text(changed.read_text() + "\nEDITED = True\n")
    return copy


CASES = {
    case.__name__.replace("_", " "): case
    for case in (
        killed_driver,
        two_drivers,
        head_replaced,
        strange_machines,
        busy_cluster,
        draining_machine,
        client_cut_off,
    )
}


def main():
    """Play the cases and print a line for each; exit code 1 when one fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    failed = 0
    for name in parser.parse_args().only:
        began_s = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="orderly-ray-") as folder:
            try:
                outcome = CASES[name](Path(folder))
            except Exception:  # noqa: BLE001 - the other cases are played all the same
                failed += 1
                texts = [path.read_text()[-2000:] for path in Path(folder).rglob("said")]
                outcome = "\n".join(["FAILED", traceback.format_exc(), *texts])
        passed_s = time.monotonic() - began_s
        sys.stdout.write(f"Ray {ray.__version__}, {name}, {passed_s:.0f} s: {outcome}\n")
        sys.stdout.flush()
    sys.stdout.write(f"in all: {failed} of the cases failed\n")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
