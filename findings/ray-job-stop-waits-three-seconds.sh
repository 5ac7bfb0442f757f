#!/usr/bin/env bash
# `ray job stop` kills after three seconds what has not ended by then, however long the one who submits or stops the job says
# that it may take.
#
# Guess: RAY_JOB_STOP_WAIT_TIME_S=30 in the environment of `ray job submit` and of `ray job stop` gives the job 30 seconds.
# Seen: Ray 2.60.0: a job that stores for eight seconds after SIGTERM is killed before it has, with the variable set for both
#   commands as well as without it.  It stores when the variable is in the job's runtime_env (env_vars), or was in the environment
#   of `ray start`: the process that stops the job reads it, on the cluster.
# What orderly does: rayjob.yaml sets it where the head starts, and docs/clusters.md says where it is read.
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
cat >job.sh <<'JOB' # takes eight seconds to store what it has
trap 'sleep 8; touch "$1.stored"; exit' TERM
touch "$1.up"
while :; do sleep 0.2; done
JOB
head() { # NAME VARIABLE=VALUE...: a head of its own, not on 127.0.0.1, which Ray replaces by the public address
    local name=$1
    shift
    dashboard=$(free)
    setsid env "$@" env/bin/ray start --head --block --node-ip-address 127.0.0.2 --port "$(free)" --num-cpus 1 \
        --dashboard-host 127.0.0.2 --dashboard-port "$dashboard" --dashboard-agent-listen-port "$(free)" \
        --dashboard-agent-grpc-port "$(free)" --object-store-memory 80000000 --temp-dir "$work/$name" >"$name.log" 2>&1 &
    groups+=($!)
    timeout 120 sh -c "until grep -q 'Ray runtime started' $name.log; do sleep 1; done"
    export RAY_API_SERVER_ADDRESS="http://127.0.0.2:$dashboard"
    timeout 120 sh -c 'until env/bin/ray job list >/dev/null 2>&1; do sleep 2; done'
}
stopped() { # NAME OPTIONS...: whether a job has stored when it was stopped
    local name=$1
    shift
    env/bin/ray job submit --no-wait --submission-id "$name" "$@" -- bash "$work/job.sh" "$work/$name" >"$name.out" 2>&1
    timeout 120 sh -c "until [ -e $name.up ]; do sleep 1; done"
    env/bin/ray job stop "$name" >>"$name.out" 2>&1
    if [ -e "$name.stored" ]; then echo stored; else echo killed; fi
}
head plain
none=$(stopped none)
shell=$(RAY_JOB_STOP_WAIT_TIME_S=30 stopped shell)
own=$(stopped own --runtime-env-json '{"env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": "30"}}')
kill -KILL -- "-${groups[0]}"
head patient RAY_JOB_STOP_WAIT_TIME_S=30
at_head=$(stopped at_head)
echo "not set: $none; where it is submitted and stopped: $shell; in the job's runtime_env: $own; where the head was started: $at_head"
[ "$none $shell $own $at_head" = "killed killed stored stored" ] || { echo "this has changed" && exit 1; }
