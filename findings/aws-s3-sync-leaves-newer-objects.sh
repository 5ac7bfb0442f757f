#!/usr/bin/env bash
# `aws s3 sync` from a bucket does not fetch an object that was replaced there by one of the same size.
#
# Guess: what is newer in the bucket than on the disk is fetched; a tool for mirroring looks at size and time, as rsync does.
# Seen: awscli 1.46.3 and moto 5.2.5: run.json is fetched once; two seconds later it is replaced in the bucket by another one of
#   four bytes, and a sync says nothing, exits with 0, and leaves the old one.  From the bucket only a local file that is newer
#   than the object is fetched again.  With --exact-timestamps, and by `aws s3 cp --recursive`, the new one comes.
# What orderly does: `orderly merge` reads a run in a store itself; docs/running.md says it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check awscli==1.46.3 boto3==1.43.117 "moto[server]==5.2.5"
cat >sync.py <<'PYTHON'
import logging
import os
import subprocess
import time

os.environ |= {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1"}
import boto3
from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(port=0, verbose=False)
server.start()
os.environ["AWS_ENDPOINT_URL"] = "http://{}:{}".format(*server.get_host_and_port())
client = boto3.client("s3")
client.create_bucket(Bucket="runs")


def put(content):
    client.put_object(Bucket="runs", Key="2x2/run.json", Body=content)
    time.sleep(2)


def fetched(*command):
    subprocess.run(["env/bin/aws", "s3", *command, "s3://runs/2x2", "2x2"], check=True, stdout=subprocess.DEVNULL)
    with open("2x2/run.json") as file:
        return file.read()


put(b"old1")
found = [fetched("sync")]
put(b"new2")
found.append(fetched("sync"))
found.append(fetched("sync", "--exact-timestamps"))
put(b"new3")
found.append(fetched("cp", "--recursive"))
with open("2x2/run.json", "w") as file:
    file.write("mine")
found.append(fetched("sync"))
put(b"longer")
found.append(fetched("sync"))
print("first, sync, with --exact-timestamps, cp, after a change on the disk, another size:", found)
server.stop()
assert found == ["old1", "old1", "new2", "new3", "new3", "longer"], "this has changed"
PYTHON
env/bin/python sync.py
echo "as found: the newer object stays in the bucket"
