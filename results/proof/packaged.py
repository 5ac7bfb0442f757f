"""What the runs prove that come with the program, worked out when they were published.

    packaged_summary    what it says of a run, if that has the same files
    published           the runs of one size, list and points, with their files as they were
    recorded            what is kept of these runs, whatever became of their files
    check               works it out again, for ``orderly verify``

It stands in proven.json, which tests/bench/packaged.py writes.

Whoever asks about such a run trusts this file as much as the program that it comes with: no row is
read.  It counts only for the very bytes that were looked at; a copy elsewhere is a run like any
other.

>>> packaged_summary(PUBLISHED / "3x3-enable2k").result_digest[:8]
'6a8a2a99'
>>> packaged_summary("runs/2x2-scowl70-14") is None
True
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from orderly_boggle.boardclass.errors import MismatchError
from orderly_boggle.results.proof.summary import Summary
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.files import PUBLISHED
from orderly_boggle.results.storage.local import open_folder
from orderly_boggle.results.store.documents import read_model
from orderly_boggle.search.question import Scored

PROVEN = "proven.json"
_REMEDY = "install orderly again"
_RESTS_ON = (
    "as worked out when the run was published, from the same files; orderly verify works it out "
    "again"
)


@dataclass(frozen=True)
class Packaged:
    """What is kept of a run."""

    files_sha256: str
    summary: Summary


@dataclass(frozen=True)
class _File:
    runs: dict[str, Packaged]


def packaged_summary(location: str | Path) -> Summary | None:
    """Return what was worked out of a run that comes with the program; None when it is none of
    these, or one of its files has changed since.  Raises DamagedError when the record is damaged.
    """
    kept = _kept(PUBLISHED).get(packaged_name(location))
    # by the bytes, not by dates: a copy tool may keep those
    if kept and kept.files_sha256 == files_sha256(Path(location)):
        return kept.summary
    return None


def packaged_name(location: str | Path) -> str:
    """Return the name of a run that lies where those do that come with the program; empty for
    others.
    """
    # a link to such a run is that run
    place = Path(location).resolve()
    if place.parent == PUBLISHED:
        return place.name
    return ""


def published(scored: Scored) -> Iterator[tuple[Path, Summary]]:
    """Yield where the runs are that come with the program and give boards the same scores, and what
    they prove; one whose files have changed is left out.
    """
    for name, proof in recorded(scored):
        if packaged_summary(PUBLISHED / name):
            yield PUBLISHED / name, proof


def recorded(scored: Scored) -> Iterator[tuple[str, Summary]]:
    """Yield the names of the runs that come with the program and give boards the same scores, and
    what was kept of them when they were published.
    """
    for name, kept in sorted(_kept(PUBLISHED).items()):
        if kept.summary.question.scored == scored:
            yield name, kept.summary


def files_sha256(place: Path) -> str:
    """Return the SHA-256 over names and bytes of the files that a run's rows are read from, and its
    claim.
    """
    digest = hashlib.sha256()
    names = sorted(path.name for path in place.joinpath(files.RESULTS).glob("*"))
    parts = [f"{files.RESULTS}/{name}" for name in names]
    # not the log: what is proven does not rest on it
    for name in (files.RUN, files.MANIFEST, files.CLAIM, *parts):
        file = place / name
        if file.is_file():
            data = file.read_bytes()
        else:
            data = b""
        digest.update(f"{name} {hashlib.sha256(data).hexdigest()}\n".encode())
    return digest.hexdigest()


@cache
def _kept(folder: Path) -> dict[str, Packaged]:
    # once for a process: one top of all runs would read it as often as there are runs
    found = read_model(open_folder(folder), PROVEN, _File, _REMEDY)
    if found:
        return found.runs
    return {}


def check(location: str | Path) -> None:
    """Work out again what is kept of a run that comes with the program; of another one nothing is.

    Raises MismatchError when it is not what the rows prove, or is about other files.
    """
    name = packaged_name(location)
    if not name:
        return
    kept = _kept(PUBLISHED).get(name)
    found = worked_out(name)
    if kept != found:
        raise MismatchError(
            f"what {PUBLISHED / PROVEN} says of {name} is not what its rows prove now: do not "
            f"believe what top, status and show say of it; {_REMEDY}"
        )


def worked_out(name: str) -> Packaged:
    """Return what a packaged run proves by its rows."""
    from orderly_boggle.results.proof.prove import summary

    found = replace(summary(PUBLISHED / name), rests_on=_RESTS_ON)
    return Packaged(files_sha256(PUBLISHED / name), found)
