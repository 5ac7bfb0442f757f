#!/usr/bin/env bash
# minio: remove_objects(...) removes nothing until somebody reads what it returns.
#
# Guess: as remove_object does, it removes; what it returns are the errors, which one may leave unread.
# Seen: minio 7.2.20 and moto 5.2.5: after remove_objects of two objects both are there, and no request was made; they are gone
#   after list(...) of the result, which is empty.
# What orderly does: removes by pyarrow's client.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check minio==7.2.20 boto3==1.43.117 "moto[server]==5.2.5"
cat >remove.py <<'PYTHON'
import io
import logging

from minio import Minio
from minio.deleteobjects import DeleteObject
from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(port=0, verbose=False)
server.start()
address = "{}:{}".format(*server.get_host_and_port())
client = Minio(address, access_key="a", secret_key="b", secure=False, region="us-east-1")
client.make_bucket("runs")
PARTS = ["part-1", "part-2"]
for name in PARTS:
    client.put_object("runs", name, io.BytesIO(b"rows"), 4)


def listed():
    return [found.object_name for found in client.list_objects("runs")]


errors = client.remove_objects("runs", [DeleteObject(name) for name in PARTS])
found = listed()
read = list(errors)
print("after the call:", found, "after", read, "was read:", listed())
assert found == PARTS and read == [] and listed() == [], "this has changed"
server.stop()
PYTHON
env/bin/python remove.py
echo "as found: both are still there after the call"
