"""Regenerate the bundled lists and their licence notice from the Debian package ``scowl``.

    apt-get update
    apt-get download scowl=2020.12.07-2
    python -m tests.soundness.scowl_lists scowl_2020.12.07-2_all.deb          # writes the files
    python -m tests.soundness.scowl_lists --check scowl_2020.12.07-2_all.deb  # compares them

scowl70.txt: every word of english-words.* and american-words.* of size 10 to 70 that can be played,
that is three or more letters a-z, all lower case, every q followed by u.  scowl35.txt: those up to
size 35, which most people know.  Sorted, unique, LF line ends.  The notice is the package's own
copyright file, word for word.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import re
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

from orderly_boggle import configs

DEBIAN_VERSION = "2020.12.07-2"
DEB_SHA256 = "de692546df9b169f2cbdf4d8d88111a374733a9c382b820a6f943914ca705718"
# of the files themselves, by the largest size of SCOWL in them
LIST_SHA256 = {
    35: "e6552eac7e9151e07d8d93fb376cdfa42fd26dbb8b56ad6dcc4311d0aaf90a38",
    70: "78050fceaf1aa78ba263872072dc972b8460b82843a579ca5e31d5a91d2c260c",
}

FOLDER = Path(configs.__file__).parent / "wordlists"
_SOURCE = re.compile(r"\./usr/share/dict/scowl/(?:english|american)-words\.(\d+)", re.ASCII)
_NOTICE = "./usr/share/doc/scowl/copyright"
_PLAYABLE = re.compile(r"(?:[a-pr-z]|qu)+", re.ASCII)


def data_members(deb: Path) -> dict[str, bytes]:
    """Return the regular files of a Debian package."""
    unpacked = subprocess.run(
        ["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE, check=True
    )
    with tarfile.open(fileobj=io.BytesIO(unpacked.stdout)) as tar:
        files = ((member.name, tar.extractfile(member)) for member in tar if member.isreg())
        return {name: file.read() for name, file in files if file is not None}


def playable_words(members: Mapping[str, bytes], size: int) -> list[str]:
    """Return the words of the SCOWL files up to a size that can be played, sorted and unique."""
    words: set[str] = set()
    for name, data in members.items():
        match = _SOURCE.fullmatch(name)
        if match and int(match[1]) <= size:
            words.update(data.decode("iso-8859-1").split("\n"))
    return sorted(word for word in words if len(word) >= 3 and _PLAYABLE.fullmatch(word))


def main() -> int:
    """Write or compare the files; return the exit code."""
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
    digest = hashlib.sha256(arguments.deb.read_bytes()).hexdigest()
    if digest != DEB_SHA256:
        raise SystemExit(
            f"{arguments.deb} has SHA-256 {digest}, expected {DEB_SHA256} (scowl {DEBIAN_VERSION})"
        )
    members = data_members(arguments.deb)
    files = {"scowl70.LICENSE": members[_NOTICE]}
    for size, expected in LIST_SHA256.items():
        words = playable_words(members, size)
        data = "".join(f"{word}\n" for word in words).encode()
        made = hashlib.sha256(data).hexdigest()
        if made != expected:
            raise SystemExit(f"{len(words)} words with SHA-256 {made}, expected {expected}")
        sys.stdout.write(f"scowl{size}: {len(words)} words, SHA-256 {made}\n")
        files[f"scowl{size}.txt"] = data
    committed = {path.name: path.read_bytes() for path in FOLDER.glob("scowl*")}
    different = [name for name, data in files.items() if committed.get(name) != data]
    sys.stdout.write(f"different: {', '.join(different) or 'none'}\n")
    for name in () if arguments.check else different:
        (FOLDER / name).write_bytes(files[name])
    return int(bool(different) and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
