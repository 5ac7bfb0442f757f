#!/usr/bin/env bash
# pyarrow: to delete an object of S3 puts one, even where the client is told to look for a directory before it makes it.
#
# Guess: delete_file of one of several objects is one DELETE, perhaps after a look; an empty "directory" object is put at most when
#   the last one goes, and with check_directory_existence_before_creation never where there is one already.
# Seen: pyarrow 26.0.1 and moto 5.2.5: HEAD, DELETE, and a PUT of the empty object "a/x/", each time, with others beside it, with
#   that object there, and with the option on or off.  A PUT costs what twelve reads cost.
# What orderly does: in a store fewer and larger parts are written, since each small one is deleted when it is put together.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyarrow==26.0.1 'moto[server,s3]==5.2.5'
cat >delete.py <<'PYTHON'
import os
from unittest import mock

from moto.server import ThreadedMotoServer
from werkzeug.serving import WSGIRequestHandler

asked = []
mock.patch.object(
    WSGIRequestHandler, "log_request", lambda handler, *_: asked.append(f"{handler.command} {handler.path}")
).start()
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
os.environ |= {"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "me", "AWS_EC2_METADATA_DISABLED": "true"}
from pyarrow import __version__, fs

print(f"pyarrow {__version__}")
for looks_first in (False, True):
    store = fs.S3FileSystem(
        endpoint_override=f"http://{host}:{port}",
        region="us-east-1",
        allow_bucket_creation=True,
        check_directory_existence_before_creation=looks_first,
    )
    store.create_dir("box")
    for name in ("1", "2", "3"):
        with store.open_output_stream(f"box/a/x/{name}") as stream:
            stream.write(b"hello")
    for name in ("1", "2"):
        asked.clear()
        store.delete_file(f"box/a/x/{name}")
        print(f"check_directory_existence_before_creation={looks_first}, delete a/x/{name}: {asked}")
        expected = [f"HEAD /box/a/x/{name}", f"DELETE /box/a/x/{name}", "PUT /box/a/x/"]
        assert asked == expected, "this has changed"
server.stop()
PYTHON
timeout 120 env/bin/python delete.py
echo "as found: each delete puts an empty object"
