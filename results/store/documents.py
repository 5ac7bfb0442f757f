"""JSON documents with their own SHA-256; and what ``run.json`` tells: what was asked, and the
circumstances.

The fingerprint is everything that determines the answer and the meaning of a class id, and nothing
else.  Budgets, workers and seeds are left out: they change how long a run takes and how units are
split, never what is true.

Of the rest of ``run.json`` types and sizes are checked, not truth.  Each field may be missing,
there may be others.

>>> list_name("mine", "0" * 64), list_name("enable2k", "0" * 64)
('mine', 'a list that is not the enable2k that it is said to be')
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict  # that of Python 3.11 is not enough for pydantic

from boardclass.errors import InputError, quote
from boardclass.partition import Partition, parse_partition
from boardclass.scores import MAX_LETTERS, MIN_LETTERS, SUM_LIMIT
from boardclass.wordlist import LETTER, known_name, sources
from configs.model import SearchConfig
from results.errors import DamagedError, FingerprintError
from results.storage import files
from results.storage.local import Folder

_SEAL = "sha256"
_FORMAT = 1
_Model = TypeVar("_Model")


def format_document(values: Mapping[str, Any]) -> bytes:
    """Return ``values`` as JSON text with their SHA-256 added under ``sha256``."""
    sealed = {**values, _SEAL: json_digest(values)}
    return (json.dumps(sealed, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def publish_document(folder: Folder, name: str, values: Mapping[str, Any]) -> None:
    """Write a document of this version into a run."""
    folder.publish(name, format_document({"format": _FORMAT, **values}))


# making one takes ten times as long as using it
_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


def read_model(folder: Folder, name: str, kind: type[_Model], remedy: str) -> _Model | None:
    """Return a document of a run as a model, types and sizes checked; None when there is no such
    file.

    Raises DamagedError when it was altered, or is not of this version.
    """
    data = folder.read(name)
    if data is None:
        return None
    try:
        values = json.loads(data.decode())
        if not isinstance(values, dict):
            raise ValueError("it is not a JSON object")
        json.dumps(values, ensure_ascii=False).encode()  # half a surrogate pair is not text
        seal = values.pop(_SEAL, None)
        if json_digest(values) != seal:
            raise ValueError("its content does not match its own SHA-256")
        if (version := values.pop("format", None)) != _FORMAT:
            raise ValueError(f"it has format {quote(version)}, this version reads {_FORMAT}")
        return _adapter(kind).validate_json(json.dumps(values), strict=True)
    except (ValueError, RecursionError) as error:
        fault = first_fault(error) if isinstance(error, ValidationError) else error
        raise DamagedError(f"{folder.where(name)} is damaged: {fault}; {remedy}") from error


def first_fault(error: ValidationError) -> str:
    """Return the first field that a model refuses, its value, and why."""
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))} is {quote(first['input'])}: {first['msg']}"


def json_digest(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of values, 64 hex digits, whatever the layout of a file of them."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, allow_nan=False).encode()).hexdigest()


_Points = Annotated[int, Field(ge=0, lt=SUM_LIMIT)]


@with_config(ConfigDict(strict=True, extra="forbid"))
@dataclass(frozen=True)
class Fingerprint:
    """Identity of a run."""

    dims: str  # such as "3x4"
    wordlist_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]  # of the normalised word list
    scores: Annotated[  # points by number of letters, from 0
        tuple[_Points, ...], Field(min_length=MIN_LETTERS + 1, max_length=MAX_LETTERS + 1)
    ]
    cutoff: Annotated[int, Field(gt=0, lt=SUM_LIMIT)]  # inclusive
    partition: str  # the normalised text of the letter buckets
    cell_order: tuple[int, ...]  # in which cells are forced

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all fields, 64 hex digits; stored with every row."""
        return json_digest(asdict(self))

    @cached_property
    def parsed_partition(self) -> Partition:
        """The letter buckets, which make the board classes."""
        return parse_partition(self.partition, self.dims)

    @property
    def n_cells(self) -> int:
        """Number of cells of the board."""
        return len(self.cell_order)


def _spelled_as_a_run_does(fingerprint: Fingerprint) -> Fingerprint:
    try:
        parsed = fingerprint.parsed_partition
    except InputError as error:
        raise ValueError(str(error)) from error
    if (str(parsed.dims), parsed.text) != (fingerprint.dims, fingerprint.partition):
        raise ValueError("dims or partition are not spelled as a run does")
    if sorted(fingerprint.cell_order) != list(range(parsed.dims.n)):
        raise ValueError("cell_order does not name each cell once")
    return fingerprint


_Text = Annotated[str, Field(max_length=4000)]
_Count = Annotated[int, Field(ge=0, lt=2**63)]
_Symbol = Annotated[str, Field(pattern="^[a-pr-z]$")]
_Letter = Annotated[str, Field(pattern=f"^{LETTER}$")]


class _Wordlist(TypedDict, total=False):
    name: _Text
    n_words: _Count
    counts: dict[_Text, _Count]  # of older runs, which tolerated lines that are no words
    left_out: dict[_Text, _Count] | None
    letters: dict[_Symbol, _Letter]  # beyond a-z, by the symbol that stands for them


class _Config(TypedDict, total=False):
    wordlist: _Text
    search: dict[_Text, Any]


class _Climbed(TypedDict, total=False):
    board: _Text
    score: _Count


def _possible(structure: dict[str, Any]) -> dict[str, Any]:
    """Refuse rules that no search has."""
    SearchConfig.model_validate(structure)
    return structure


class _Info(TypedDict, total=False):
    wordlist: _Wordlist
    config: _Config
    structure: Annotated[dict[_Text, Any], AfterValidator(_possible)]
    climbed: _Climbed | None
    versions: dict[_Text, _Text]


@with_config(ConfigDict(strict=True, extra="allow"))  # of those inside as well
class _RunFile(TypedDict):
    fingerprint: Annotated[Fingerprint, AfterValidator(_spelled_as_a_run_does)]
    info: _Info


RUN_REMEDY = (
    "restore it from a copy, or give the same command, its cutoff as a number, with "
    "--drop-damaged; or choose another --out"
)


def format_identity(fingerprint: Fingerprint, info: Mapping[str, Any]) -> bytes:
    """Return the ``run.json`` of a run; :func:`read_identity` reads it."""
    return format_document(
        {"format": _FORMAT, "fingerprint": asdict(fingerprint), "info": dict(info)}
    )


def read_identity(folder: Folder) -> tuple[Fingerprint, dict[str, Any]] | None:
    """Return fingerprint and information of the run in a folder, or None when there is no
    ``run.json``.

    Raises DamagedError, naming the first field that is missing or of another type or size, with its
    value.
    """
    document = read_model(folder, files.RUN, _RunFile, RUN_REMEDY)
    return None if document is None else (document["fingerprint"], dict(document["info"]))


def list_name(name: object, sha256: str) -> str:
    """Return how to call a word list: by its SHA-256 if it is well known, else as it is told, but
    not as another.
    """
    if known := known_name(sha256):
        return known
    if not isinstance(name, str) or not name:
        return "a list without a name"
    return f"a list that is not the {name} that it is said to be" if name in sources() else name


def check_same(
    wanted: Fingerprint,
    stored: Fingerprint,
    where: str,
    remedy: str = "Use another --out, or the same settings. With another --out, --extend takes "
    "over what a run proves at another cutoff.",
) -> None:
    """Refuse to mix runs; ``where`` names the one that is there, ``remedy`` a way out if not that
    of ``orderly run``.

    Raises FingerprintError, naming each field that differs with both values.
    """
    _refuse_differences(asdict(wanted), asdict(stored), f"{where} holds another run", remedy)


def check_same_structure(
    wanted: Mapping[str, Any],
    run_info: Mapping[str, Any],
    where: str,
    remedy: str = "Use another --out, or the same settings (search section of the config).",
) -> None:
    """Refuse a run whose classes were cut into parts by other rules than the structural parameters
    ``wanted``.

    Raises FingerprintError, naming each structural parameter that differs with both values.
    """
    stored = run_info.get("structure") or {}
    _refuse_differences(
        wanted, stored, f"{where} cuts its classes into parts in another way", remedy
    )


def _refuse_differences(
    wanted: Mapping[str, Any], stored: Mapping[str, Any], title: str, remedy: str
) -> None:
    lines = [
        f"  {name}: asked for {_brief(wanted.get(name))}, stored {_brief(stored.get(name))}"
        for name in dict.fromkeys((*wanted, *stored))
        if wanted.get(name) != stored.get(name)
    ]
    if lines:
        raise FingerprintError("\n".join([f"{title}; these differ:", *lines, remedy]))


def _brief(value: object) -> str:
    return quote(list(value), 100) if isinstance(value, tuple) else repr(value)
