"""Regenerate scowl70.txt and its licence notice from the Debian package ``scowl``.

    apt-get update
    apt-get download scowl=2020.12.07-2
    python configs/wordlists/regenerate.py scowl_2020.12.07-2_all.deb            # writes both files
    python configs/wordlists/regenerate.py --check scowl_2020.12.07-2_all.deb    # compares with the
                                                                                 committed ones

The list: every word of english-words.* and american-words.* of size 10 to 70 that can be played,
that is three or more letters a-z, all lower case, every q followed by u.  Sorted, unique, LF line
ends.  The notice is the package's own copyright file, word for word.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import lzma
import re
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

DEBIAN_VERSION = "2020.12.07-2"
DEB_SHA256 = "de692546df9b169f2cbdf4d8d88111a374733a9c382b820a6f943914ca705718"
# of scowl70.txt itself
LIST_SHA256 = "78050fceaf1aa78ba263872072dc972b8460b82843a579ca5e31d5a91d2c260c"
MAX_SIZE = 70

FOLDER = Path(__file__).resolve().parent
_SOURCE = re.compile(r"\./usr/share/dict/scowl/(?:english|american)-words\.(\d+)", re.ASCII)
_NOTICE = "./usr/share/doc/scowl/copyright"
_PLAYABLE = re.compile(r"(?:[a-pr-z]|qu)+", re.ASCII)


def data_members(deb: bytes) -> dict[str, bytes]:
    """Return the regular files of a Debian package (an ar archive with a data.tar.xz inside)."""
    if not deb.startswith(b"!<arch>\n"):
        raise SystemExit("not a Debian package")
    at = 8
    while at < len(deb):
        name, size = deb[at : at + 16].decode().strip().rstrip("/"), int(deb[at + 48 : at + 58])
        if name == "data.tar.xz":
            with tarfile.open(
                fileobj=io.BytesIO(lzma.decompress(deb[at + 60 : at + 60 + size]))
            ) as tar:
                files = ((member.name, tar.extractfile(member)) for member in tar if member.isreg())
                return {name: file.read() for name, file in files if file is not None}
        at += 60 + size + size % 2
    raise SystemExit("no data.tar.xz in the package")


def playable_words(members: Mapping[str, bytes]) -> list[str]:
    """Return the words of the chosen SCOWL files that can be played, sorted and unique."""
    words: set[str] = set()
    for name, data in members.items():
        match = _SOURCE.fullmatch(name)
        if match and int(match[1]) <= MAX_SIZE:
            words.update(data.decode("iso-8859-1").split("\n"))
    return sorted(word for word in words if len(word) >= 3 and _PLAYABLE.fullmatch(word))


def main() -> int:
    """Write or compare the two files; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "deb", type=Path, help=f"the Debian package scowl, version {DEBIAN_VERSION}"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing, exit 1 if a committed file differs"
    )
    arguments = parser.parse_args()
    deb = arguments.deb.read_bytes()
    digest = hashlib.sha256(deb).hexdigest()
    if digest != DEB_SHA256:
        raise SystemExit(
            f"{arguments.deb} has SHA-256 {digest}, expected {DEB_SHA256} (scowl {DEBIAN_VERSION})"
        )
    members = data_members(deb)
    words = playable_words(members)
    files = {
        "scowl70.txt": "".join(f"{word}\n" for word in words).encode(),
        "scowl70.LICENSE": members[_NOTICE],
    }
    list_digest = hashlib.sha256(files["scowl70.txt"]).hexdigest()
    if list_digest != LIST_SHA256:
        raise SystemExit(f"{len(words)} words with SHA-256 {list_digest}, expected {LIST_SHA256}")
    committed = {path.name: path.read_bytes() for path in FOLDER.glob("scowl70.*")}
    different = [name for name, data in files.items() if committed.get(name) != data]
    print(f"{len(words)} words, SHA-256 {list_digest}; different: {', '.join(different) or 'none'}")
    for name in () if arguments.check else different:
        (FOLDER / name).write_bytes(files[name])
    return int(bool(different) and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
