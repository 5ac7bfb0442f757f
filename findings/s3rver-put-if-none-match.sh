#!/usr/bin/env bash
# s3rver: a put on the condition that the name is free (If-None-Match: *) replaces what is there, and answers 200.
#
# Guess: since S3 has conditional puts, a server that speaks its protocol obeys the condition, or refuses it (501).
# Seen: s3rver 3.7.1, asked by boto3 1.44.8: both puts succeed and the second content is there. So a lock that is made by a
#   conditional put is no lock on every store.
# What orderly does: puts a claim under a name of its own, lists the claims, and lets nobody in who sees another one.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check boto3==1.44.8
npm install --silent --no-fund --no-audit --prefix s3 s3rver@3.7.1 >npm.log 2>&1
mkdir data
port=$(python3 -c "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])")
node s3/node_modules/.bin/s3rver -d data -a 127.0.0.1 -p "$port" --configure-bucket box >server.log 2>&1 &
server=$!
cat >ask.py <<'PYTHON'
import socket
import sys
import time

import boto3
from botocore.config import Config

port = int(sys.argv[1])
for _ in range(300):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        break
    except OSError:
        time.sleep(0.2)
client = boto3.client(
    "s3",
    endpoint_url=f"http://127.0.0.1:{port}",
    aws_access_key_id="S3RVER",
    aws_secret_access_key="S3RVER",
    region_name="us-east-1",
    config=Config(request_checksum_calculation="when_required", s3={"addressing_style": "path"}),
)
codes = []
for content in (b"first", b"second"):
    answer = client.put_object(Bucket="box", Key="lock", Body=content, IfNoneMatch="*")
    codes.append(answer["ResponseMetadata"]["HTTPStatusCode"])
found = client.get_object(Bucket="box", Key="lock")["Body"].read()
print("boto3", boto3.__version__, "answers:", codes, "there now:", found)
assert codes == [200, 200] and found == b"second", "this has changed"
PYTHON
timeout 120 env/bin/python ask.py "$port"
echo "as found: the condition is ignored"
