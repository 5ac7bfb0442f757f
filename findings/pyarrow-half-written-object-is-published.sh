#!/usr/bin/env bash
# pyarrow: an exception within `with filesystem.open_output_stream(...)` publishes what was written so far as a whole object.
#
# Guess: an object store shows an object when its upload is complete; a block that is left by an exception gives the upload up,
#   so there is no object.
# Seen: pyarrow 26.0.1 and moto 5.2.5: after ValueError within the block the object is there with the bytes written before, 100 as
#   well as 25,000,000 (of several parts).  The stream has no way to give up.
# What orderly does: publishes an object by one write of all its bytes, which are complete and checked before the stream is opened.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyarrow==26.0.1 'moto[server,s3]==5.2.5'
cat >write.py <<'PYTHON'
import os

from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
os.environ |= {"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "me", "AWS_EC2_METADATA_DISABLED": "true"}
from pyarrow import __version__, fs

store = fs.S3FileSystem(endpoint_override=f"http://{host}:{port}", region="us-east-1", allow_bucket_creation=True)
store.create_dir("box")


def write(name, n_bytes):
    try:
        with store.open_output_stream(f"box/{name}") as stream:
            stream.write(b"x" * n_bytes)
            raise ValueError("the rest could not be made")
    except ValueError:
        info = store.get_file_info(f"box/{name}")
        return info.size if info.is_file else None


small, large = write("small", 100), write("large", 25_000_000)
print(f"pyarrow {__version__}: of 100 bytes there are {small}, of 25,000,000 there are {large}")
assert (small, large) == (100, 25_000_000), "this has changed"
server.stop()
PYTHON
timeout 120 env/bin/python write.py
echo "as found: the torn object is there, whole"
