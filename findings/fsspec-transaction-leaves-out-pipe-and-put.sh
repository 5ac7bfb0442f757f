#!/usr/bin/env bash
# fsspec: within `with fs.transaction`, what pipe_file, put_file and cp_file write is there at once, and stays when the block fails.
#
# Guess: all that is written in a transaction appears together at its end, and none of it after an exception.
# Seen: fsspec 2026.9.0, s3fs 2026.9.0 and moto 5.2.5: only what is written by open(), and by write_text, waits for the end.
#   pipe_file, put_file and cp_file publish within the block, and after an exception their three objects are there.  On the local
#   file system put_file and cp_file do so.
# What orderly does: publishes a part by one line of its manifest, which comes last.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check fsspec==2026.9.0 s3fs==2026.9.0 "moto[server]==5.2.5"
cat >write.py <<'PYTHON'
import logging
import os

import fsspec
import s3fs
from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(port=0, verbose=False)
server.start()
url = "http://{}:{}".format(*server.get_host_and_port())
store = s3fs.S3FileSystem(endpoint_url=url, key="a", secret="b")
store.mkdir("runs")
with open("local", "w") as file:
    file.write("rows")


def after_an_exception(fs, folder):
    fs.makedirs(folder, exist_ok=True)
    with fs.open(f"{folder}/first", "wb") as file:
        file.write(b"rows")
    try:
        with fs.transaction:
            with fs.open(f"{folder}/opened", "wb") as file:
                file.write(b"rows")
            fs.pipe_file(f"{folder}/piped", b"rows")
            fs.write_text(f"{folder}/text", "rows")
            fs.put_file("local", f"{folder}/put")
            fs.cp_file(f"{folder}/first", f"{folder}/copied")
            raise ValueError("the last part could not be made")
    except ValueError:
        pass
    fs.invalidate_cache()
    return sorted(path.rpartition("/")[2] for path in fs.find(folder))


found = after_an_exception(store, "runs/2x2"), after_an_exception(fsspec.filesystem("file"), os.path.abspath("2x2"))
server.stop()
print("S3:", found[0], "local:", found[1])
assert found == (["copied", "first", "piped", "put"], ["copied", "first", "put"]), "this has changed"
PYTHON
env/bin/python write.py
echo "as found: half of a transaction is there"
