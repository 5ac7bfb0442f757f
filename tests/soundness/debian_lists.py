"""Word lists of Debian, imported each by one command: ``python -m tests.soundness.debian_lists
[PACKAGE ...]``.

The packages are downloaded by apt and unpacked into a folder of their own; nothing is installed.
Each line of a list must be counted: a word of the new list, or left out with a reason.  Lists in
another alphabet must be named as such. The lists of the published runs must come out of their own
commands with the SHA-256 that is known; another version of the package is told, no fault.  Exit
code 1 when one is not as it should be.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from boardclass.errors import WordListError
from boardclass.word_files import read_entries
from boardclass.word_import import Rules, import_words, parse_letters
from boardclass.wordlist import KNOWN_SHA256
from configs.sources import sources

GERMAN = {"wngerman", "wogerman", "wswiss", "wgerman-medical"}  # nouns have capitals
OTHER_ALPHABETS = {"wbulgarian", "wukrainian"}
NAMES = """french spanish italian portuguese dutch swedish danish norwegian catalan
    brazilian gaelic irish manx faroese esperanto polish galician-minimos"""
SIZES = ("", "-small", "-large", "-huge", "-insane")
ENGLISH = [f"w{name}{size}" for name in ("american", "british", "canadian") for size in SIZES]
PACKAGES = [*(f"w{name}" for name in NAMES.split()), *sorted(GERMAN | OTHER_ALPHABETS), *ENGLISH]


def lists_of(package: str, folder: Path) -> list[Path]:
    """Return the word lists in a Debian package."""
    subprocess.run(
        ["apt-get", "download", "-qq", package], cwd=folder, check=True, capture_output=True
    )
    (archive,) = folder.glob(f"{package}_*.deb")
    subprocess.run(["dpkg-deb", "-x", archive, folder / package], check=True)
    found = (folder / package / "usr" / "share" / "dict").glob("*")
    return sorted(
        path
        for path in found
        if path.is_file() and not path.is_symlink() and "README" not in path.name
    )


def told_of(package: str, path: Path) -> str:
    """Return what became of a list; raise AssertionError if a line is lost uncounted."""
    entries, rules = read_entries(path), Rules(names="keep" if package in GERMAN else "drop")
    try:
        found = import_words(entries, rules, path.name, path.name)
    except WordListError as error:
        if package in OTHER_ALPHABETS and "another alphabet" in str(error):
            return "another alphabet"
        raise
    assert package not in OTHER_ALPHABETS
    left_out = sum(step.lines for step in found.steps if step.what.startswith("left out"))
    assert left_out + len(found.words) == len(entries.words)
    assert not any(found.words.counts.values())
    told = (
        f"{len(found.words):,} words of {len(entries.words):,} lines, SHA-256 "
        f"{found.words.sha256[:16]}"
    )
    for source in sources().values():
        if Path(source.file).name == path.name:
            options = source.options.split()
            letters = parse_letters([text for text in options if "=" in text])
            made = import_words(
                entries,
                Rules("keep" if "keep" in options else "drop", letters=letters),
                "made",
                "made",
            )
            is_known = made.words.sha256 == KNOWN_SHA256[source.name]
            told += f", {'is' if is_known else 'ANOTHER VERSION of'} {source.name} ({source.note})"
    return told


def main() -> None:
    """Import the lists; exit code 1 when one is not as it should be."""
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for package in sys.argv[1:] or PACKAGES:
            try:
                for path in lists_of(package, Path(folder)):
                    sys.stdout.write(f"{package} {path.name}: {told_of(package, path)}\n")
            except (
                AssertionError,
                WordListError,
                OSError,
                ValueError,
                subprocess.CalledProcessError,
            ) as error:
                sys.stdout.write(f"{package}: FAILED, {error}\n")
                failed.append(package)
    sys.stdout.write(f"{len(failed)} packages failed\n")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
