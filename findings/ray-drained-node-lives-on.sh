#!/usr/bin/env bash
# `ray drain-node` with a deadline ends nothing at that deadline, and the free processors of the node still count as available,
# though nothing is placed there.
#
# Guess: at the deadline the node is ended with what runs on it, and until then its free processors count no more.
# Seen: Ray 2.60.0, a node of two processors with one actor, drained with 5 s left: 25 s later the actor answers,
#   ray.available_resources() says one processor is free, and an actor that asks for it waits.  (An idle node ends at once.)
# What orderly does: it counts the processors of each node itself, without those that are drained, and gives an actor up that
#   has found none after five minutes.
set -euo pipefail
work=$(mktemp -d /tmp/f.XXXXXX) # short: Ray puts sockets into it
groups=()
finish() {
    for group in "${groups[@]}"; do kill -KILL -- "-$group" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check ray==2.60.0 'setuptools<81'
export RAY_AUTH_MODE=token RAY_USAGE_STATS_ENABLED=0
RAY_AUTH_TOKEN=$(env/bin/python -c 'import secrets; print(secrets.token_hex(32))')
export RAY_AUTH_TOKEN
port=$(env/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.2", 0)); print(s.getsockname()[1])')
start() { # NAME OPTIONS...; not on 127.0.0.1, which Ray replaces by the public address
    local name=$1
    shift
    setsid env/bin/ray start --block --object-store-memory 80000000 "$@" >"$name.log" 2>&1 &
    groups+=($!)
    timeout 120 sh -c "until grep -q 'Ray runtime started' $name.log; do sleep 1; done"
}
start head --head --node-ip-address 127.0.0.2 --port "$port" --num-cpus 0 --include-dashboard false --temp-dir "$work/ray"
start node --address "127.0.0.2:$port" --node-ip-address 127.0.0.3 --num-cpus 2
cat >drain.py <<'PYTHON'
import subprocess
import sys
import time

import ray


@ray.remote(num_cpus=1)
class Actor:
    def answer(self):
        return ray.get_runtime_context().get_node_id()


address = sys.argv[1]
ray.init(address=address, log_to_driver=False)
first = Actor.remote()
node = ray.get(first.answer.remote(), timeout=120)
command = f"drain-node --address {address} --node-id {node} --reason DRAIN_NODE_REASON_PREEMPTION"
command += " --reason-message test --deadline-remaining-seconds 5"
subprocess.run(["env/bin/ray", *command.split()], check=True)
time.sleep(25)
still = ray.get(first.answer.remote(), timeout=60) == node
free = ray.available_resources().get("CPU", 0)
second = Actor.remote()
ready, _ = ray.wait([second.answer.remote()], timeout=30)
print(f"20 s after the deadline: actor answers {still}, free {free}, another is placed {bool(ready)}")
assert (still, free, bool(ready)) == (True, 1.0, False), "this has changed"
PYTHON
env/bin/python drain.py "127.0.0.2:$port"
