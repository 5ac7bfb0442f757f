#!/usr/bin/env bash
# pyarrow on Azure: to open an object for writing empties it; what was there is gone, and readers see nothing, until it is closed.
#
# Guess: as with S3, open_output_stream shows nothing under the name before the stream is closed, and an object that is written
#   anew keeps its old content until then.
# Seen: pyarrow 26.0.1 and Azurite 3.37.0: the object is there with 0 bytes as soon as the stream is open (one PUT), and is
#   written when it is closed (PUT of a block, PUT of the list of blocks).  The old content comes back to nobody in between, and
#   never if the writer dies.  On S3, in the same program, readers have the old content until the new one is complete.
# What orderly does: on abfss:// an empty line of the manifest is one that is not there yet; docs/running.md says it.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyarrow==26.0.1 'moto[server,s3]==5.2.5'
npm install --silent --no-fund --no-audit --prefix azure azurite@3.37.0 >npm.log 2>&1
port=$(python3 -c "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])")
node azure/node_modules/.bin/azurite-blob --inMemoryPersistence --skipApiVersionCheck --disableTelemetry \
    --blobHost 127.0.0.1 --blobPort "$port" >server.log 2>&1 &
server=$!
timeout 60 sh -c "until grep -q 'successfully listens' server.log; do sleep 0.2; done"
cat >write.py <<'PYTHON'
import os
import sys

from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
os.environ |= {"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "me", "AWS_EC2_METADATA_DISABLED": "true"}
from pyarrow import __version__, fs

# the account that every Azurite has, with the key that its documentation prints
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
azure = fs.AzureFileSystem(
    "devstoreaccount1",
    account_key=KEY,
    blob_storage_authority=f"127.0.0.1:{sys.argv[1]}",
    dfs_storage_authority=f"127.0.0.1:{sys.argv[1]}",
    blob_storage_scheme="http",
    dfs_storage_scheme="http",
)
amazon = fs.S3FileSystem(endpoint_override=f"http://{host}:{port}", region="us-east-1", allow_bucket_creation=True)


def content(store):
    if not store.get_file_info("box/name").is_file:
        return None
    with store.open_input_stream("box/name") as stream:
        return stream.read()


def seen(store):
    """What a reader finds while an object is written for the first time, and then anew."""
    store.create_dir("box")
    found = []
    for new in (b"old", b"new"):
        stream = store.open_output_stream("box/name")
        stream.write(new)
        found.append(content(store))
        stream.close()
        found.append(content(store))
    return found


on_azure, on_amazon = seen(azure), seen(amazon)
print(f"pyarrow {__version__}: written, closed, written anew, closed")
print("  Azure:", on_azure)
print("  S3:   ", on_amazon)
assert on_azure == [b"", b"old", b"", b"new"], "this has changed"
assert on_amazon == [None, b"old", b"old", b"new"], "this has changed"
server.stop()
PYTHON
timeout 120 env/bin/python write.py "$port" 2>/dev/null
echo "as found: an object of Azure is empty while it is written"
