"""Word lists, spelling dictionaries and tables of words, as distributions and registries have them.

    python -m tests.soundness.debian_lists [--from FOLDER] [PACKAGE ...]

The packages (real_lists.toml) are downloaded by apt, npm and pip and unpacked into a folder of
their own, or taken from FOLDER; nothing is installed. Every line, cell and key of a file must be
counted: a word of the new list, or left out with a reason. What cannot be taken must be refused in
one sentence. A package without a file of words is a fault. The lists of the published runs must
come out of their own commands with the SHA-256 that is known; another version of the package is
told, no fault. The table, one line a file, is real_lists.tsv beside this file; packages that are
named have only their own lines written anew. Exit code 1 when a file is not as it should be.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from orderly_boggle.boardclass.errors import WordListError, quote
from orderly_boggle.boardclass.word_entries import read_entries
from orderly_boggle.boardclass.word_import import ImportRules, import_words, judge_stems
from orderly_boggle.boardclass.wordlist import sources

HERE = Path(__file__).resolve().parent
PACKAGES = tomllib.loads((HERE / "real_lists.toml").read_text())
ENDINGS: tuple[str, ...] = (
    ".dic",
    ".txt",
    ".csv",
    ".json",
    ".gz",
    ".tsv",
    ".aff",
    ".dict",
    ".dz",
    ".index",
    ".dat",
)
ENDINGS += (".kvtml", ".noun", ".verb", ".adv", ".adj", ".sense", ".exc")
# of lists without an ending, or packed
FOLDERS = (
    "/dict/",
    "/gamedata/",
    "/wordsgame.rcc",
    "/typespeed/words/",
    "/bsdgames/quiz/",
    "/bsdgames/boggle/dictionary",
)
GERMAN = {"wngerman", "wogerman", "wswiss", "wgerman-medical"}  # nouns have capitals
# what is beside the lists
NO_LISTS = ("package.json", "bower.json", "composer.json", "readme", "license", "copyright")
INSTALLED = ("top_level", "entry_points", "sources", "requires", "direct_url", "metadata")
HEADING = ("package", "file", "entries", "words", "left_out", "told")


class Told(NamedTuple):
    """What became of a file; no entries: it was refused."""

    package: str
    file: str
    entries: int
    words: int
    left_out: int
    told: str


def unpack(package: str, folder: Path) -> None:
    """Download a package and unpack it into ``folder``/PACKAGE."""
    target = folder / package
    if target.is_dir():
        return
    if package in PACKAGES["npm"]:
        command = ["npm", "install", "--ignore-scripts", "--no-save", "--silent", package]
        target.mkdir()
        subprocess.run(command, cwd=target, check=True, capture_output=True)
        return
    if package in PACKAGES["pip"]:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(target)]
        subprocess.run([*command, package], check=True, capture_output=True)
        for archive in list(target.iterdir()):
            shutil.unpack_archive(archive, target, "zip" if archive.suffix == ".whl" else None)
            archive.unlink()
        return
    command = ["apt-get", "download", "-qq", package]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (archive,) = folder.glob(f"{package}_*.deb")
    subprocess.run(["dpkg-deb", "-x", archive, target], check=True)


def lists_of(package: str, folder: Path) -> list[Path]:
    """Return the files of words in a package, the small ones first."""
    found = []
    for path in sorted((folder / package).rglob("*")):
        is_list = path.suffix.lower() in ENDINGS or any(name in str(path) for name in FOLDERS)
        is_beside = path.name.lower().startswith(NO_LISTS + INSTALLED)
        is_beside |= bool({"doc", "man"} & set(path.parts))
        if path.is_file() and not path.is_symlink() and is_list and not is_beside:
            found.append(path)
    return sorted(found, key=lambda path: (path.stat().st_size, path))


def told_of(package: str, path: Path, name: str) -> Told:
    """Return what became of a file; raise AssertionError if an entry is lost uncounted."""
    try:
        rules = ImportRules(names="keep" if package in GERMAN else "drop")
        judge = partial(judge_stems, rules=rules, source=path.name)
        entries = read_entries(path, judge=judge)
        found = import_words(entries, rules, "list", path.name)
    except WordListError as error:
        reason = str(error).replace(quote(str(path)), "the file")
        return Told(package, name, 0, 0, 0, f"refused: {reason}")
    left_out = sum(step.lines for step in found.steps if step.what.startswith("left out"))
    assert left_out + len(found.words) == entries.n_entries, f"{name}: the steps do not add up"
    assert not any(found.words.counts.values()), f"{name}: the loader leaves out more"
    told = ", ".join(entries.read_as)
    for source in sources().values():
        if Path(source.file).name == path.name:
            letters = {letter: symbol for symbol, letter in (source.letters or {}).items()}
            names = "keep" if "keep" in source.options else "drop"
            made = import_words(entries, ImportRules(names, letters=letters), "made", "made")
            is_known = made.words.sha256 == source.sha256
            told += f"; {'is' if is_known else 'ANOTHER VERSION of'} {source.name} ({source.note})"
    return Told(package, name, entries.n_entries, len(found.words), left_out, told)


def rows_of(packages: list[str], folder: Path) -> Iterator[Told | str]:
    """Yield what became of each file, or what went wrong."""
    for package in packages:
        try:
            unpack(package, folder)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            yield f"{package}: {error}"
            continue
        found = lists_of(package, folder)
        if not found:
            yield f"{package}: no file of words in it"
        for path in found:
            name = str(path.relative_to(folder / package))
            try:
                yield told_of(package, path, name)
            except (AssertionError, LookupError, OSError, TypeError, ValueError) as error:
                yield f"{package} {name}: {type(error).__name__}, {error}"


def main() -> None:
    """Import the lists; exit code 1 when one is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="folder", help="where packages are unpacked already")
    parser.add_argument("packages", nargs="*", help="default: all of real_lists.toml")
    given = parser.parse_args()
    everything = [package for group in PACKAGES.values() for package in group]
    rows, n_failed = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(given.folder or scratch)
        for told in rows_of(given.packages or everything, folder):
            if isinstance(told, str):
                n_failed += 1
                sys.stdout.write(f"FAILED {told}\n")
                continue
            rows.append("\t".join(" ".join(str(cell).split()) for cell in told))
            sys.stdout.write(f"{rows[-1]}\n")
            sys.stdout.flush()
    table = HERE / "real_lists.tsv"
    if given.packages:
        known = table.read_text("utf-8").splitlines()[1:]
        rows += [row for row in known if row.partition("\t")[0] not in given.packages]
    lines = "\n".join(["\t".join(HEADING), *sorted(rows)])
    table.write_text(f"{lines}\n", "utf-8")
    sys.stdout.write(f"{len(rows)} files, {n_failed} failed\n")
    sys.exit(bool(n_failed))


if __name__ == "__main__":
    main()
