#!/usr/bin/env bash
# HyperQueue from Python: two tasks that fail end all others of its job, by SIGINT and one second later by SIGKILL.
#
# Guess: others go on, as in a Slurm array, and what is ended gets SIGTERM and half a minute, as in batch systems.
# Seen: hyperqueue 0.27.0, its default max_fails=1: when a second task has failed, one at work hears SIGINT.  What stores within
#   0.2 s does so, what needs 3 s is killed before.  With max_fails=None nothing is ended.
# What orderly does: its recipe has Job(max_fails=None); SIGINT stores and stops; docs/clusters.md says what a kill a second later
#   costs.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check hyperqueue==0.27.0
cat >task.sh <<'TASK'
for name in INT TERM; do trap "echo $name >>heard; sleep $1; echo >stored; exit" $name; done
echo >up
while :; do sleep 0.1; done
TASK
cat >fail.py <<'PYTHON'
import time
from pathlib import Path

from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig

script = str(Path("task.sh").resolve())


def beside_failures(cluster, name, seconds, **options):
    folder = Path(name).resolve()
    folder.mkdir()
    job = Job(**options)
    job.program(["bash", script, str(seconds)], cwd=str(folder))
    for _ in range(2):
        job.program(["sh", "-c", f"until [ -e {folder}/up ]; do sleep 0.1; done; exit 4"])
    client = cluster.client()
    client.submit(job)
    time.sleep(seconds + 5)
    heard = (folder / "heard").read_text().split() if (folder / "heard").exists() else []
    return heard, (folder / "stored").exists()


with LocalCluster(worker_config=WorkerConfig(cores=2)) as cluster:
    quick = beside_failures(cluster, "quick", 0.2)
    slow = beside_failures(cluster, "slow", 3)
    kept = beside_failures(cluster, "kept", 0.2, max_fails=None)
print("a task beside two that fail: (signals, stored)")
print("  that stores in 0.2 s:", quick)
print("  that stores in 3 s:", slow)
print("  with max_fails=None:", kept)
assert (quick, slow, kept) == ((["INT"], True), (["INT"], False), ([], False)), "this has changed"
PYTHON
timeout 120 env/bin/python fail.py
echo "as found: SIGINT, and a kill a second later"
