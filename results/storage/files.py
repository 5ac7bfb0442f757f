"""What a run needs of the place it lives in, and the names of its files: their only owner.

RUN/run.json                  configuration and fingerprint, written once
RUN/lock, RUN/owner.json      the driver that writes now (on an object store: RUN/lock/*)
RUN/events.jsonl              what happened, for people and monitoring
RUN/results/part-*.parquet    rows of units          RUN/manifest.jsonl            their names and digests, in order
RUN/certificates/part-*.parquet   shapes of the search, for the checker    RUN/audits.json   what it found
RUN/claim.json                record of what was proven

The place is a local directory (local.py) or part of an object store (objects.py).  A reader sees a published file whole
or not at all.
"""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from boardclass.errors import StoreError
from results.errors import DamagedError, WriteError

RUN = "run.json"
LOCK = "lock"
OWNER = "owner.json"
MANIFEST = "manifest.jsonl"
EVENTS = "events.jsonl"
RESULTS = "results"
CERTIFICATES = "certificates"
AUDITS = "audits.json"
CLAIM = "claim.json"

TEMPORARY_PREFIX = "_tmp."
FOLDERS = ("", RESULTS, CERTIFICATES)
PLAIN = (RUN, LOCK, OWNER, MANIFEST, AUDITS, CLAIM)  # a run goes on without its log

# A file of a run is never larger; a larger one is not read.
MAX_DOCUMENT_BYTES = 2**23
MAX_MANIFEST_BYTES = 2**26
MAX_PART_BYTES = 2**28

_PART = re.compile(r"(results|certificates)/part-([0-9]{8})-[0-9a-f]{32}\.parquet")


def part_name(folder: str, number: int) -> str:
    """Return a new unique name, relative to the run, of part ``number`` (from 1) of ``folder``."""
    return f"{folder}/part-{number:08d}-{uuid.uuid4().hex}.parquet"


def part_number(name: str, folder: str) -> int | None:
    """Return the number in the name of a part of ``folder``, or None when ``name`` is not such a name."""
    match = _PART.fullmatch(name)
    return int(match[2]) if match and match[1] == folder else None


def max_bytes(name: str) -> int:
    """Return the most bytes that a file of this name may have."""
    if _PART.fullmatch(name):
        return MAX_PART_BYTES
    return MAX_MANIFEST_BYTES if name == MANIFEST else MAX_DOCUMENT_BYTES


def temporary_name(name: str) -> str:
    """Return a unique name beside ``name`` for bytes that are not published yet."""
    folder, _, _ = name.rpartition("/")
    return f"{folder}/{TEMPORARY_PREFIX}{uuid.uuid4().hex}".lstrip("/")


def is_temporary(name: str) -> bool:
    """Return whether ``name`` is that of an unpublished file, left behind when a writer died."""
    return name.rpartition("/")[2].startswith(TEMPORARY_PREFIX)


Guard = Callable[[], None]


def nobody_else() -> None:
    """Do nothing: the guard of a writer whose lock cannot be taken away."""


class Folder(Protocol):
    """A run directory; ``name`` is relative to it, with ``/`` between folder and file."""

    def where(self, name: str) -> str:
        """Return the full name for messages."""

    def exists(self) -> bool:
        """Return whether the folder holds anything but leftovers of a run that never began."""

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None when it is not there; DamagedError when it is too large."""

    def read_all(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the content of many files in order, a few of them ahead of time."""

    def names(self, folder: str) -> list[str]:
        """Return the names (relative to the run) of the files directly in ``folder``, sorted."""

    def publish(self, name: str, data: bytes) -> None:
        """Write a file so that it appears whole and survives a crash once this returns; replaces an older one."""

    def publish_new(self, name: str, data: bytes) -> None:
        """Publish a file that must not exist yet (StoreError)."""

    def append_line(self, name: str, line: str, n_valid_bytes: int, guard: Guard = nobody_else) -> int:
        """Append a line after the first ``n_valid_bytes``, dropping what a failed append left; return the new size.

        ``guard`` raises when the caller may not write any more; then the line does not stay.
        """

    def read_lines(self, name: str) -> tuple[list[str], int, bool]:
        """Return the complete lines of a file, their size in bytes and whether a torn line follows."""

    def note(self, name: str, text: str) -> None:
        """Append whole lines to a log at once; do not wait for the disk, nor mend what a kill left half written."""

    def read_tail(self, name: str, n_bytes: int) -> bytes:
        """Return about the last ``n_bytes`` of a log, or all of a shorter one; empty when there is none."""

    def remove(self, name: str) -> None:
        """Remove a file; it may be gone already."""


def check_size(n_bytes: int, name: str, where: str) -> None:
    """Refuse to read a file that is larger than its kind can be.

    Raises
    ------
    DamagedError
        With both sizes.
    """
    most = max_bytes(name)
    if n_bytes > most:
        remedy = "run again with --drop-damaged to recompute its rows" if "/" in name else "remove it"
        raise DamagedError(
            f"{where} has more bytes than the {most:,} that such a file can have: it was not read; "
            f"restore the file from a copy, or {remedy}"
        )


def decode_lines(data: bytes) -> list[str]:
    """Return the lines of UTF-8 text whose every line ends in a newline; damaged bytes are replaced, not refused."""
    return data.decode(errors="replace").split("\n")[:-1]


@contextlib.contextmanager
def explained(verb: str, where: str) -> Iterator[None]:
    """Turn an operating system error into one that says what is safe and what to do."""
    try:
        yield
    except FileExistsError as error:
        raise StoreError(f"{where} exists already: choose another --out") from error
    except NotADirectoryError as error:
        raise StoreError(f"{where} is a file, a run needs a directory: choose another --out") from error
    except OSError as error:
        kind = WriteError if verb == "write" else StoreError
        raise kind(
            f"cannot {verb} {where}: {error}; what was stored before is safe: "
            "make room or repair access, then run again"
        ) from error
