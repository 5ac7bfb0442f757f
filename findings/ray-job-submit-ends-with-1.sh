#!/usr/bin/env bash
# `ray job submit` ends with 1 whatever code the job has ended with.
#
# Guess: as srun, ssh and docker run do, it ends with the code of the command that it has followed, so that a loop around it can
#   tell what to try again.
# Seen: Ray 2.60.0: of jobs that end with 4 and with 6 it says so ("failed with exit code 4"), and ends with 1.  Another program
#   finds the code in get_job_info(...).driver_exit_code of the client in Python.
# What orderly does: again.sh, which looks at exit codes, stands within the job (rayjob.yaml); docs/clusters.md says it.
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
env/bin/pip install --quiet --disable-pip-version-check 'ray[default]==2.60.0' 'setuptools<81'
export RAY_AUTH_MODE=token RAY_USAGE_STATS_ENABLED=0
RAY_AUTH_TOKEN=$(env/bin/python -c 'import secrets; print(secrets.token_hex(32))')
export RAY_AUTH_TOKEN
free() { env/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.2", 0)); print(s.getsockname()[1])'; }
dashboard=$(free)
ports="--port $(free) --dashboard-port $dashboard --dashboard-agent-listen-port $(free) --dashboard-agent-grpc-port $(free)"
: >head.log
# not on 127.0.0.1, which Ray replaces by the public address
setsid env/bin/ray start --head --block --node-ip-address 127.0.0.2 --dashboard-host 127.0.0.2 $ports --num-cpus 1 \
    --object-store-memory 80000000 --temp-dir "$work/ray" >head.log 2>&1 &
groups+=($!)
timeout 120 sh -c "until grep -q 'Ray runtime started' head.log; do sleep 1; done"
export RAY_API_SERVER_ADDRESS="http://127.0.0.2:$dashboard"
timeout 120 sh -c 'until env/bin/ray job list >/dev/null 2>&1; do sleep 2; done'
found=
for code in 0 4 6; do
    ended=0
    env/bin/ray job submit --submission-id "job$code" -- sh -c "exit $code" >"$code.out" 2>&1 || ended=$?
    found="$found $ended"
done
grep -h "failed with exit code" 4.out 6.out | grep -o "entrypoint command failed with exit code ."
cat >ask.py <<'PYTHON'
import os

from ray.job_submission import JobSubmissionClient

client = JobSubmissionClient(os.environ["RAY_API_SERVER_ADDRESS"])
print(*(client.get_job_info(f"job{code}").driver_exit_code for code in (0, 4, 6)))
PYTHON
codes=$(env/bin/python ask.py 2>/dev/null)
echo "jobs that end with 0 4 6: the command ends with$found; driver_exit_code: $codes"
[ "$found; $codes" = " 0 1 1; 0 4 6" ] || { echo "this has changed"; exit 1; }
