"""What ``run.json`` tells: the question of a run, and how it was made.

read_identity   of this format, or of the first one (format_1.py)
check_identity  whether a place may hold the run that is asked for
refuse_another  the one comparison of a question that is asked with one that is stored

>>> from dataclasses import replace
>>> from orderly_boggle.search.question import ask
>>> asked = ask("2x2", "0" * 64, "words", 14, "abcdefghijklmnopqrstuvwxyz")
>>> refuse_another(asked, asked, "runs/mine")
>>> refuse_another(asked, replace(asked, cutoff=13), "runs/mine", "Choose another --out.")
Traceback (most recent call last):
    ...
orderly_boggle.results.errors.FingerprintError: runs/mine holds another run; these differ:
  cutoff: asked for 14, stored 13
Choose another --out.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import ConfigDict, with_config

from orderly_boggle.boardclass.errors import StoreError
from orderly_boggle.results.errors import DamagedError, FingerprintError
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import Folder, open_folder
from orderly_boggle.results.store import format_1
from orderly_boggle.results.store.documents import format_document, read_versions, reader_of
from orderly_boggle.results.store.made import Made
from orderly_boggle.search.params import Rules
from orderly_boggle.search.question import Question

# a value of a question that this version does not know may change what its rows mean
for _kind in (Question, Rules):
    with_config(ConfigDict(strict=True, extra="forbid"))(_kind)

RUN_REMEDY = (
    "restore it from a copy, or give the same command, its cutoff as a number, with "
    "--drop-damaged; or choose another --out"
)
_REMEDY = "Use another --out, or the same settings."
_REMEDY_OF_CUTOFF = (
    f"{_REMEDY} With another --out, --extend takes over what a run proves at another cutoff."
)


@with_config(ConfigDict(strict=True))
@dataclass(frozen=True)
class Identity:
    """What a run is asked, and how it was made."""

    question: Question
    made: Made


def format_identity(question: Question, made: Made) -> bytes:
    """Return the ``run.json`` of a run; :func:`read_identity` reads it."""
    return format_document({"format": 2, "question": question.stored, "made": asdict(made)})


def read_identity(folder: Folder) -> Identity | None:
    """Return what the ``run.json`` in a folder tells, or None when there is none.

    Raises DamagedError, naming the first field that is missing or of another type or size, with its
    value; NewerError, naming one that this version does not know.
    """
    readers = {1: _read_format_1, 2: reader_of(Identity)}
    return read_versions(folder, files.RUN, readers, RUN_REMEDY)


def _read_format_1(text: str) -> Identity:
    return Identity(*format_1.read_run(text))


@dataclass(frozen=True)
class Place:
    """Where a run is, or will be; opened once and handed on."""

    folder: Folder
    identity: Identity | None  # None: there is no ``run.json``, or it cannot be read
    fault: DamagedError | None = None  # why it cannot be read

    @property
    def question(self) -> Question | None:
        """What the run there is asked."""
        if self.identity:
            return self.identity.question
        return None

    def must_be_readable(self) -> None:
        """Raise DamagedError when what is there cannot be read."""
        if self.fault:
            raise self.fault


def open_place(location: str | Path) -> Place:
    """Look at a directory or object store once: whether there are links in it, and which run it
    holds.
    """
    folder = open_folder(location)
    try:
        return Place(folder, read_identity(folder))
    except DamagedError as error:
        return Place(folder, None, error)


def check_identity(place: Place, question: Question) -> bool:
    """Return whether a place holds this run already (False: it is empty).

    Raises FingerprintError when it holds another run; DamagedError when it lost its ``run.json`` or
    that cannot be read; StoreError when other files are there.
    """
    folder = place.folder
    where = folder.where("")
    place.must_be_readable()
    if place.question is not None:
        refuse_another(question, place.question, where)
        return True
    if not folder.exists():
        return False
    # another driver may have begun it since the place was opened
    identity = read_identity(folder)
    if identity is not None:
        refuse_another(question, identity.question, where)
        return True
    # results without run.json are a run that lost it, not an empty place to begin in
    if folder.names(files.RESULTS):
        raise DamagedError(f"{folder.where(files.RUN)} is missing: {RUN_REMEDY}")
    raise StoreError(
        f"{where} is not empty and holds no {files.RUN}: not a run; choose another --out"
    )


def refuse_another(asked: Question, stored: Question, where: str, remedy: str = "") -> None:
    """Refuse to mix runs; ``where`` names the one that is there, ``remedy`` a way out if not that
    of ``orderly run``.

    Raises FingerprintError, naming each value that differs.
    """
    differing = asked.differences(stored)
    if not differing:
        return
    what = f"{where} holds another run"
    if asked.digest == stored.digest:
        what = f"{where} cuts its classes into parts in another way (search section of the config)"
    if not remedy and replace(asked, cutoff=stored.cutoff) == stored:
        remedy = _REMEDY_OF_CUTOFF
    lines = [f"  {line}" for line in differing]
    raise FingerprintError("\n".join([f"{what}; these differ:", *lines, remedy or _REMEDY]))
