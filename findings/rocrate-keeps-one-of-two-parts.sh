#!/usr/bin/env bash
# rocrate: of two files of the same name from two folders one is in the crate, and the other is gone without a word.
#
# Guess: both are there, under their folders; or the second is refused.
# Seen: rocrate 0.16.0: add_file("share-1/claim.json") and add_file("share-2/claim.json") both become claim.json; the crate has
#   one file, with the content of the second, and its metadata list one.  With dest_path both are kept.
# What orderly does: a run is published as its folder, whose manifest has the digest of each part.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check rocrate==0.16.0
cat >pack.py <<'PYTHON'
import json
from importlib.metadata import version
from pathlib import Path

from rocrate.rocrate import ROCrate

SHARES = ("share-1", "share-2")
for share in SHARES:
    Path(share).mkdir()
    Path(share, "claim.json").write_text(share)


def packed(name, destination):
    crate = ROCrate()
    for share in SHARES:
        crate.add_file(f"{share}/claim.json", dest_path=destination(share))
    crate.write(name)
    metadata = json.loads(Path(name, "ro-crate-metadata.json").read_text())
    listed = [entity["@id"] for entity in metadata["@graph"] if entity["@type"] == "File"]
    contents = {path.relative_to(name).as_posix(): path.read_text() for path in Path(name).rglob("claim.json")}
    return listed, contents


found = packed("crate", lambda share: None)
kept = packed("other", lambda share: f"{share}/claim.json")
print("rocrate", version("rocrate"), found, "with dest_path:", kept)
assert found == (["claim.json"], {"claim.json": "share-2"}), "this has changed"
assert len(kept[0]) == len(kept[1]) == 2, "this has changed"
PYTHON
env/bin/python pack.py
echo "as found: the first claim is gone"
