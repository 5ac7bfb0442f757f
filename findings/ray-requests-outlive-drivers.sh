#!/usr/bin/env bash
# Ray's request_resources is one number of the whole cluster: a second driver replaces that of the first, and it stays when
# both are gone, even killed.
#
# Guess: the request of a driver ends with the driver, and those of two drivers add up.
# Seen: Ray 2.60.0: after requests of 3 and then 5 processors by two drivers, `ray status` shows 5; it still does when the
#   second has ended and the first was killed by SIGKILL.  An autoscaler goes on renting for it.
# What orderly does: it asks by actors that wait for a processor.  Each driver has its own, and Ray forgets them with it.
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
# not 127.0.0.1, which Ray replaces by the public address
setsid env/bin/ray start --head --block --node-ip-address 127.0.0.2 --port "$port" --num-cpus 0 --include-dashboard false \
    --object-store-memory 80000000 --temp-dir "$work/ray" >head.log 2>&1 &
groups+=($!)
timeout 120 sh -c 'until grep -q "Ray runtime started" head.log; do sleep 1; done'
cat >ask.py <<'PYTHON'
import sys
import time

import ray
from ray.autoscaler.sdk import request_resources

ray.init(address=sys.argv[1], log_to_driver=False)
request_resources(num_cpus=int(sys.argv[2]))
print("asked", flush=True)
time.sleep(float(sys.argv[3]))
PYTHON
setsid env/bin/python ask.py "127.0.0.2:$port" 3 600 >first.log 2>&1 &
first=$!
groups+=("$first")
timeout 120 sh -c 'until grep -q asked first.log; do sleep 1; done'
asked() { # waits until the status, made anew every 5 s, has been made
    sleep 20
    env/bin/ray status --address "127.0.0.2:$port" | sed -n '/request_resources/,/Pending/p' | grep CPU || echo none
}
one=$(asked)
env/bin/python ask.py "127.0.0.2:$port" 5 5 >second.log 2>&1
two=$(asked)
kill -KILL "$first"
none=$(asked)
printf 'first: %s\nand a second, that has ended: %s\nand the first was killed: %s\n' "$one" "$two" "$none"
case "$one|$two|$none" in
*": 3 from"*"|"*": 5 from"*"|"*": 5 from"*) ;;
*) echo "this has changed" && exit 1 ;;
esac
