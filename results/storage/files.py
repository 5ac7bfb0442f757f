"""What a run needs of the place it lives in, and the names of its files: their only owner.

RUN/run.json                  the question, and how the run was made; written once
RUN/owner.json, RUN/lock.*    the driver that writes now, and those that ask to (on an object store:
                              RUN/lock/*)
RUN/events.jsonl              what happened, for people and monitoring
RUN/results/part-*.parquet    rows of units          RUN/manifest.jsonl            their names and
                              digests, in order
RUN/certificates/part-*.parquet   shapes of the search, for the checker    RUN/audits.json   what it
                                  found
RUN/claim.json                record of what was proven

The place is a local directory (local.py) or part of an object store (objects.py).  A reader sees a
published file whole or not at all.

>>> part_number(part_name(RESULTS, 7), RESULTS)
7
>>> is_temporary("results/_tmp.1")
True
"""

import contextlib
import difflib
import errno
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

from orderly_boggle.boardclass.errors import GIT_POINTER, InputError, StoreError, quote
from orderly_boggle.results.errors import DamagedError, UnreachableError, WriteError

PUBLISHED = Path(__file__).resolve().parents[1] / "published"  # the runs that come with the program


def published_places() -> dict[str, Path]:
    """Return the directory of each run that comes with the program, by its name."""
    folders = [path.parent for path in sorted(PUBLISHED.glob("*/run.json"))]
    return {folder.name: folder for folder in folders}


def path_of(text: str) -> Path:
    """Return the path that a person means by a text that may begin with ``~``: shells put the home
    in for an argument, but not in ``--out=~/run``, nor in a config.

    Raises InputError for an empty text, as of a variable of the shell that was never set: it would
    mean the folder in which the command was typed.

    >>> path_of("runs/mine"), path_of("~nobody-has-this-name/mine")
    (PosixPath('runs/mine'), PosixPath('~nobody-has-this-name/mine'))
    """
    if not text:
        raise InputError(
            f"name {quote(text)}: expected that of a file or directory; . is the one you are in"
        )
    path = Path(text)
    with contextlib.suppress(RuntimeError):  # no such user
        path = path.expanduser()
    return path


def is_folder(text: str) -> bool:
    """Return whether a text names a directory; of one that no file can be called, say no.

    >>> is_folder("SELECT " + 300 * "x"), is_folder("")
    (False, False)
    """
    try:
        return path_of(text).is_dir()
    except (OSError, ValueError, InputError):  # longer than a name may be, or empty
        return False


def named_run(name: str) -> str:
    """Return the run directory that is named, or that of the published run of this name.

    Raises InputError, with the names that are nearest, when there is neither.
    """
    if "://" in name:
        return name
    if is_folder(name):
        return str(path_of(name))
    records = published_places()
    if name in records:
        return str(records[name])
    folder = Path(name).parent
    beside = folder.glob("*/run.json") if is_folder(str(folder)) else ()
    names = [*records, *(str(path.parent) for path in beside)]
    near = difflib.get_close_matches(name, names, 3, 0.4) or names[-1:]
    own = _such_as([other for other in near if other not in records])
    known = _such_as([other for other in near if other in records])
    raise InputError(
        f"no run directory {quote(name)}: expected what `orderly run --out DIR` wrote{own}, or a "
        f"record that comes with orderly{known}"
    )


def _such_as(names: list[str]) -> str:
    if not names:
        return ""
    return f", such as {', '.join(names)}"


RUN = "run.json"
LOCK = "lock"
OWNER = "owner.json"
MANIFEST = "manifest.jsonl"
EVENTS = "events.jsonl"
RESULTS = "results"
CERTIFICATES = "certificates"
AUDITS = "audits.json"
CLAIM = "claim.json"

TEMPORARY_PREFIX = "_tmp."  # of a file that is not published yet; it stays when its writer dies
FOLDERS = ("", RESULTS, CERTIFICATES)
PLAIN = (RUN, LOCK, OWNER, MANIFEST, AUDITS, CLAIM)  # a run goes on without its log

# A file of a run is never larger; a larger one is not read.
MAX_DOCUMENT_BYTES = 2**23
MAX_MANIFEST_BYTES = 2**26
MAX_PART_BYTES = 2**28

PART_PATTERN = r"^(results|certificates)/part-([0-9]{8})-[0-9a-f]{32}\.parquet$"
_PART = re.compile(PART_PATTERN)


def part_name(folder: str, number: int) -> str:
    """Return a new unique name, relative to the run, of part ``number`` (from 1) of ``folder``."""
    return f"{folder}/part-{number:08d}-{uuid.uuid4().hex}.parquet"


def part_number(name: str, folder: str) -> int | None:
    """Return the number in the name of a part of ``folder``, or None when ``name`` is not such a
    name.
    """
    match = _PART.fullmatch(name)
    if match and match[1] == folder:
        return int(match[2])
    return None


def is_temporary(name: str) -> bool:
    """Return whether ``name`` is that of an unpublished file, left behind when a writer died."""
    return name.rpartition("/")[2].startswith(TEMPORARY_PREFIX)


def is_claim(name: str) -> bool:
    """Return whether a file says who writes to a run, or wants to; older versions had ``lock``."""
    return name in (OWNER, LOCK) or name.startswith(f"{LOCK}.")


def unguarded() -> None:
    """Let the caller write."""


def check_size(n_bytes: int, name: str, where: str) -> None:
    """Raise DamagedError when a file is larger than its kind can be; then it is not read."""
    if _PART.fullmatch(name):
        most = MAX_PART_BYTES
    else:
        most = MAX_DOCUMENT_BYTES
    if name == MANIFEST:
        most = MAX_MANIFEST_BYTES
    if n_bytes > most:
        remedy = "remove it"
        if "/" in name:
            remedy = "run again with --drop-damaged to recompute its rows"
        raise DamagedError(
            f"{where} has more bytes than the {most:,} that such a file can have: it was not read; "
            f"restore the file from a copy, or {remedy}"
        )


def check_pointer(data: bytes, where: str) -> None:
    """Raise DamagedError when a file is only what git keeps in place of a large one."""
    if data.startswith(GIT_POINTER):
        raise DamagedError(
            f"{where} is a pointer of git-lfs, not the file itself: fetch the files of the run "
            "with `git lfs pull`"
        )


# The disk, the file server or the network is at fault, and may be well again later.
_UNREACHABLE = frozenset(
    (
        errno.EIO,
        errno.EREMOTEIO,
        errno.ESTALE,
        errno.ENODEV,
        errno.ENXIO,
        errno.ENOTCONN,
        errno.ESHUTDOWN,
        errno.ETIMEDOUT,
        errno.ECONNABORTED,
        errno.ECONNREFUSED,
        errno.ECONNRESET,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.ENETDOWN,
        errno.ENETUNREACH,
        errno.ENETRESET,
    )
)


@contextlib.contextmanager
def explained(verb: str, where: str) -> Iterator[None]:
    """Turn an operating system error into one that says what is safe and what to do."""
    try:
        yield
    except FileExistsError as error:
        raise StoreError(f"{where} exists already: choose another --out") from error
    except NotADirectoryError as error:
        raise StoreError(
            f"{where} is a file, a run needs a directory: choose another --out"
        ) from error
    except OSError as error:
        if error.errno in _UNREACHABLE:
            raise UnreachableError(
                f"cannot {verb} {where}: {error}; what was stored before is safe: run again when "
                "the disk or the file server answers"
            ) from error
        kind = WriteError if verb == "write" else StoreError
        raise kind(
            f"cannot {verb} {where}: {error}; what was stored before is safe: "
            "make room or repair access, then run again"
        ) from error
