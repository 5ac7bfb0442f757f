#!/usr/bin/env bash
# s3fs: once a folder was listed, an object that somebody else puts there does not exist, for this client and for the next one.
#
# Guess: exists() and ls() ask the store; at least a client that is made anew does.
# Seen: s3fs 2026.9.0 and moto 5.2.5: after ls() of a folder with two objects and a put by another program, exists() of the new
#   one is False, ls() and glob() have two, find() has three.  S3FileSystem(...) made again with the same arguments is the same
#   object, with the same memory.  After invalidate_cache(), or with use_listings_cache=False, all have three.
# What orderly does: asks the store each time by pyarrow's client; docs/running.md tells whoever watches a run by s3fs.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check s3fs==2026.9.0 'moto[server,s3]==5.2.5'
cat >look.py <<'PYTHON'
import boto3
import s3fs
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
address = f"http://{host}:{port}"
other = boto3.client(
    "s3", endpoint_url=address, region_name="us-east-1", aws_access_key_id="me", aws_secret_access_key="me"
)
other.create_bucket(Bucket="box")
FOLDER = "box/run/results"


def put(number):
    other.put_object(Bucket="box", Key=f"run/results/part-{number}.parquet", Body=b"rows")


def client(**options):
    return s3fs.S3FileSystem(endpoint_url=address, key="me", secret="me", **options)


def seen(store):
    return {
        "exists": store.exists(f"{FOLDER}/part-3.parquet"),
        "ls": len(store.ls(FOLDER)),
        "glob": len(store.glob(f"{FOLDER}/*.parquet")),
        "find": len(store.find(FOLDER)),
    }


put(1), put(2)
first = client()
assert len(first.ls(FOLDER)) == 2
put(3)
again = client()
found = {"a client made again": seen(again), "the first": seen(first), "without cache": seen(client(use_listings_cache=False))}
first.invalidate_cache()
found["the first, after invalidate_cache()"] = seen(first)
print("s3fs", s3fs.__version__)
for name, answers in found.items():
    print(f"{name}: {answers}")
stale, fresh = {"exists": False, "ls": 2, "glob": 2, "find": 3}, {"exists": True, "ls": 3, "glob": 3, "find": 3}
assert again is first and list(found.values()) == [stale, stale, fresh, fresh], "this has changed"
server.stop()
PYTHON
timeout 120 env/bin/python look.py 2>/dev/null
echo "as found: what is there does not exist"
