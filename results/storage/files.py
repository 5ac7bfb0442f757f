"""The names of a run's files: their only owner.

RUN/run.json                  configuration and fingerprint, written once
RUN/lock, RUN/owner.json      the driver that writes now (on an object store: RUN/lock/*)
RUN/events.jsonl              what happened, for people and monitoring
RUN/results/part-*.parquet    rows of units          RUN/manifest.jsonl            their names and digests, in order
RUN/rescored/part-*.parquet   boards                 RUN/rescored/manifest.json    name and digest of the valid one
RUN/certificates/part-*.parquet   shapes of the search, for the checker    RUN/audits.json   what it found
RUN/claim.json                record of what was proven
"""

from __future__ import annotations

import re
import uuid

RUN = "run.json"
LOCK = "lock"
OWNER = "owner.json"
MANIFEST = "manifest.jsonl"
EVENTS = "events.jsonl"
RESULTS = "results"
RESCORED = "rescored"
RESCORED_MANIFEST = "rescored/manifest.json"
CERTIFICATES = "certificates"
AUDITS = "audits.json"
CLAIM = "claim.json"

TEMPORARY_PREFIX = "_tmp."
FOLDERS = ("", RESULTS, RESCORED, CERTIFICATES)
PLAIN = (RUN, LOCK, OWNER, MANIFEST, AUDITS, CLAIM, RESCORED_MANIFEST)  # a run goes on without its log

# A file of a run is never larger; a larger one is not read.
MAX_DOCUMENT_BYTES = 2**23
MAX_MANIFEST_BYTES = 2**26
MAX_PART_BYTES = 2**28

_PART = re.compile(r"(results|rescored|certificates)/part-([0-9]{8})-[0-9a-f]{32}\.parquet")


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
