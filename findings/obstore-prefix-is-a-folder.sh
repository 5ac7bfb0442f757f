#!/usr/bin/env bash
# obstore: list(store, prefix="runs/4x4-en") finds nothing, where S3 and all its clients list what begins with that.
#
# Guess: a prefix is the beginning of a name, as in S3.
# Seen: obstore 0.12.1 and moto 5.2.5: of runs/4x4-enable2k/run.json it lists none for the prefixes "runs/4x4-en" and
#   "runs/4x4-enable2k/run", without a word, and one for "runs/4x4-enable2k"; of two runs the prefix "runs/4x4-enable2k" has one
#   only, and not runs/4x4-enable2k-2.  boto3 1.43.117 lists them.  Its MemoryStore does as its S3Store.
# What orderly does: lists by pyarrow's client, whole folders.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check obstore==0.12.1 boto3==1.43.117 "moto[server]==5.2.5"
cat >list.py <<'PYTHON'
import logging

import boto3
import obstore
from moto.server import ThreadedMotoServer
from obstore.store import MemoryStore, S3Store

logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(port=0, verbose=False)
server.start()
url = "http://{}:{}".format(*server.get_host_and_port())
keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
client = boto3.client("s3", endpoint_url=url, region_name="us-east-1", **keys)
client.create_bucket(Bucket="runs")
store = S3Store("runs", endpoint=url, region="us-east-1", client_options={"allow_http": True}, **keys)
memory = MemoryStore()
for name in ("4x4-enable2k/run.json", "4x4-enable2k-2/run.json"):
    for each in (store, memory):
        obstore.put(each, f"runs/{name}", b"{}")


def n_listed(each, prefix):
    return sum(len(batch) for batch in obstore.list(each, prefix=prefix))


PREFIXES = ["runs/4x4-en", "runs/4x4-enable2k/run", "runs/4x4-enable2k", "runs/4x4-enable2k-2", "runs"]
found = [n_listed(store, prefix) for prefix in PREFIXES]
in_memory = [n_listed(memory, prefix) for prefix in PREFIXES]
by_boto = [client.list_objects_v2(Bucket="runs", Prefix=prefix)["KeyCount"] for prefix in PREFIXES]
server.stop()
for prefix, ours, theirs in zip(PREFIXES, found, by_boto, strict=True):
    print(f"{prefix}: obstore {ours}, boto3 {theirs}")
assert found == in_memory == [0, 0, 1, 1, 2] and by_boto == [2, 1, 2, 1, 2], "this has changed"
PYTHON
env/bin/python list.py
echo "as found: a prefix is a whole folder"
