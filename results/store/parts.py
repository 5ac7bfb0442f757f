"""Part files and the manifest that makes them count: bytes <-> checked tables.

A part exists for a reader when the manifest lists it.  Every byte of it is covered twice: by the
SHA-256 in the manifest, and by the page checksums inside the file, which hold even when a file is
read without its manifest.

A part may stand for several that were put together (``compaction.py``), whose files are gone.  Its
line says how many rows each of them had, so that whoever read the manifest before still finds the
rows of each.

>>> from orderly_boggle.results.storage.local import open_folder
>>> manifest = read_manifest(open_folder("runs/2x2-scowl70-14"))
>>> [part.number for part in manifest.parts], manifest.last_number
([1], 1)
"""

import bisect
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from orderly_boggle.boardclass.errors import StoreError
from orderly_boggle.results.errors import DamagedError, LimitError, NewerError
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import Folder, LocalFolder
from orderly_boggle.results.store.documents import (
    UPGRADE,
    first_fault,
    json_digest,
    unknown_field,
)
from orderly_boggle.results.store.rows import SCHEMA

REMEDY = "restore the file from a copy, or run again with --drop-damaged to recompute its rows"
_REMEDY = (
    "restore the file from a copy, or run again with --drop-damaged to recompute the parts that "
    "it does not list"
)
_FAULTS = (pa.ArrowException, OSError, ValueError)
# the default pool keeps up to 100 MB of what was read of a million rows and let go
pa.set_memory_pool(pa.system_memory_pool())
_WORTH_THREADS = 10_000  # rows: reading fewer takes less time than starting threads
_THREADS = 4  # hashing and reading Parquet leave Python's lock to the others
# a few kilobytes of Parquet may decode to gigabytes; so much a reader gives any part
MAX_ROWS = 100_000
_ROWS_AHEAD = 50_000  # read at once, in as many threads
MAX_DECODED_BYTES = 2**28
_VALUE_BYTES = 24  # a number or an offset, and two levels, with room to spare
_FOOTER_LIMITS = {"thrift_string_size_limit": 2**20, "thrift_container_size_limit": 2**16}


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Part:
    """One line of the manifest: a part file that counts, or one that no longer does
    (``dropped``).

    ``counts`` are the rows of each part that this one stands for, the last of which has its number;
    empty for a part that was written as it is.
    """

    name: Annotated[str, Field(pattern=files.PART_PATTERN)]
    n_rows: int
    first_id: int
    last_id: int
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    dropped: bool
    counts: tuple[Annotated[int, Field(ge=0)], ...] = ()

    def format(self) -> str:
        """Return the manifest line, with a check of its own; :func:`parse_part` reads it."""
        # parts that were never put together keep the line, and so the check, of earlier versions
        values = asdict(self)
        if not self.counts:
            del values["counts"]
        return json.dumps({**values, "check": _check(values)}, sort_keys=True)

    @property
    def number(self) -> int:
        """Number of the part, from 1; of several that it stands for, that of the last."""
        return files.part_number(self.name, files.RESULTS) or 0

    @property
    def first_number(self) -> int:
        """Number of the first part that this one stands for."""
        return self.number - max(0, len(self.counts) - 1)

    @property
    def numbers(self) -> range:
        """The numbers of all parts that this one stands for."""
        return range(self.first_number, self.number + 1)


@dataclass(frozen=True)
class Manifest:
    """The parts that count, in order, and what a writer must know to go on."""

    parts: tuple[Part, ...]
    n_bytes: int
    last_number: int


_PART = TypeAdapter(Part)


def parse_part(line: str) -> Part:
    """Return the part of a manifest line.

    Raises ValueError when the line is not one that :meth:`Part.format` wrote; NewerError when it
    has a key that this version does not know.
    """
    values = json.loads(line)
    # before the schema: a line that was damaged is not called one of another version
    if not isinstance(values, dict) or values.pop("check", None) != _check(values):
        raise ValueError("its content does not match its own check")
    try:
        part = _PART.validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        # it is what was written: a repair must not take the part off the list
        if unknown := unknown_field(error):
            raise NewerError(
                f"a line of {files.MANIFEST} tells what this version does not know: {unknown}; "
                f"{UPGRADE}"
            ) from error
        raise ValueError(first_fault(error)) from error
    # a reader that looks for one of the old parts cuts its rows out by these counts
    is_off = sum(part.counts) != part.n_rows or part.first_number < 1
    if part.counts and is_off:
        raise ValueError(f"counts has {len(part.counts)} parts that are not those of {part.name}")
    return part


def _check(values: dict[str, Any]) -> str:
    return json_digest(values)[:16]


def read_manifest(folder: Folder) -> Manifest:
    """Return what the manifest of a run lists; a torn last line was never acknowledged and does not
    count.

    Raises DamagedError when another line is unreadable, missing or repeated, or all of them are
    lost.
    """
    where = folder.where(files.MANIFEST)
    lines, n_bytes = folder.read_lines(files.MANIFEST)
    if not lines:
        _check_not_lost(folder)
    parts: dict[str, Part] = {}
    last = 0
    for index, line in enumerate(lines, start=1):
        try:
            part = parse_part(line)
        except (ValueError, RecursionError) as error:
            raise DamagedError(f"{where} line {index} is damaged: {error}; {_REMEDY}") from error
        if part.dropped:
            if parts.pop(part.name, None) is None:
                raise DamagedError(
                    f"{where} line {index} drops {part.name!r}, which is not listed; {_REMEDY}"
                )
        # numbers have no gaps: a line that was lost with its newline would otherwise not be
        # missed
        elif part.first_number != last + 1:
            raise DamagedError(
                f"{where} line {index} lists part {part.first_number}, part {last + 1} is due: a "
                f"line is missing or repeated; {_REMEDY}"
            )
        else:
            last = part.number
            parts[part.name] = part
    return Manifest(tuple(parts.values()), n_bytes, last)


def _check_not_lost(folder: Folder) -> None:
    """Raise DamagedError when a directory has parts and no manifest: that is there first."""
    # in this order: a driver may store the first part meanwhile
    has_parts = any(files.part_number(name, files.RESULTS) for name in folder.names(files.RESULTS))
    if has_parts and isinstance(folder, LocalFolder) and not folder.has(files.MANIFEST):
        raise DamagedError(f"{folder.where(files.MANIFEST)} is missing; {_REMEDY}")


def holding(parts: Sequence[Part], numbers: Iterable[int]) -> list[Part]:
    """Return which of some parts, in the order of their numbers, stand for parts of some numbers,
    each of which one of them does.
    """
    last_numbers = [part.number for part in parts]
    places = {bisect.bisect_left(last_numbers, number) for number in numbers if number}
    return [parts[place] for place in sorted(places)]


def unlisted(folder: Folder, manifest: Manifest) -> list[str]:
    """Return the files in the results folder that do not count: left by a writer that died, or
    foreign.

    Raises DamagedError when a part numbered beyond the next one exists: then the manifest has lost
    its end.
    """
    listed = {part.name for part in manifest.parts}
    found = []
    for name in folder.names(files.RESULTS):
        if name not in listed:
            found.append(name)
    numbers = [files.part_number(name, files.RESULTS) or 0 for name in found]
    # one more is a writer's that died between the file and its line; two cannot come about so
    if any(number > manifest.last_number + 1 for number in numbers):
        raise DamagedError(
            f"{folder.where(files.MANIFEST)} ends at part {manifest.last_number}, but part "
            f"{max(numbers)} exists: its end is lost; {_REMEDY}"
        )
    return found


def remove_leftovers(folder: Folder, manifest: Manifest) -> list[str]:
    """Remove what a dead writer left: temporary files, and the part that it had not listed yet;
    other files stay.

    Returns the names of the removed parts whose rows are nowhere else.
    """
    left = []
    for name in itertools.chain.from_iterable(map(folder.names, files.FOLDERS)):
        if files.is_temporary(name):
            left.append(name)
    lost = []
    for name in unlisted(folder, manifest):
        number = files.part_number(name, files.RESULTS)
        if number:
            left.append(name)
        # an earlier number was listed once: others stand for it, or it was dropped
        if number and number > manifest.last_number:
            lost.append(name)
    for name in left:
        folder.remove(name)
    return lost


def serialise(table: pa.Table) -> bytes:
    """Return a table as Parquet bytes with page checksums."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    return sink.getvalue().to_pybytes()


def serialised(table: pa.Table) -> Iterator[tuple[pa.Table, bytes]]:
    """Yield a table in as many pieces as it takes for readers to accept each of them, as Parquet
    bytes.

    Raises StoreError when a single row is too large.
    """
    if table.num_rows <= MAX_ROWS and table.nbytes <= MAX_DECODED_BYTES:
        # cut by what a reader accepts: whatever is written can be read again
        yield table, serialise(table)
    elif table.num_rows < 2:
        raise StoreError(
            f"a row of {table.nbytes:,} bytes cannot be stored; a higher cutoff makes rows smaller"
        )
    else:
        # by rows, since nobody knows beforehand what they take: lists of boards may be long
        half = table.num_rows // 2
        yield from serialised(table.slice(0, half))
        yield from serialised(table.slice(half))


def describe(name: str, data: bytes, class_ids: Sequence[int]) -> Part:
    """Return the manifest entry of a part with rows of these classes."""
    return Part(
        name,
        len(class_ids),
        min(class_ids),
        max(class_ids),
        hashlib.sha256(data).hexdigest(),
        dropped=False,
    )


def read_parts(
    folder: Folder,
    parts: Sequence[Part],
    columns: Sequence[str] | None = None,
    at_hand: Mapping[str, bytes] = MappingProxyType({}),
) -> Iterator[tuple[Part, pa.Table]]:
    """Yield each part with its table, or some columns of it, after checking that its bytes are
    those that were written.

    Some are read ahead of time, in threads; those ``at_hand``, by name, are not read again.

    Raises DamagedError when a file is missing, altered, or not what the manifest says.
    """
    found = _with_bytes(folder, parts, at_hand)
    wholes: dict[str, pa.Table] = {}

    def parsed(part: Part, data: bytes | None) -> pa.Table:
        if data is None:
            return _part_of_whole(folder, part, columns, wholes)
        return _parsed(folder, part, data, columns)

    if sum(part.n_rows for part in parts) < _WORTH_THREADS:
        for part, data in found:
            yield part, parsed(part, data)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_THREADS, thread_name_prefix="orderly-parts") as pool:
        for batch in ahead(found):
            tables = [pool.submit(parsed, *each) for each in batch]
            for (part, _), table in zip(batch, tables, strict=True):
                yield part, table.result()


def ahead(
    found: Iterator[tuple[Part, bytes | None]],
) -> Iterator[list[tuple[Part, bytes | None]]]:
    """Yield a few parts at a time: all at once would be in memory together."""
    batch: list[tuple[Part, bytes | None]] = []
    n_rows = 0
    for part, data in found:
        batch.append((part, data))
        n_rows += part.n_rows
        if len(batch) == 2 * _THREADS or n_rows >= _ROWS_AHEAD:
            yield batch
            batch = []
            n_rows = 0
    if batch:
        yield batch


def _with_bytes(
    folder: Folder, parts: Sequence[Part], at_hand: Mapping[str, bytes]
) -> Iterator[tuple[Part, bytes | None]]:
    """Yield each part with the bytes of its file, None if there is none; ``at_hand`` are not
    read.
    """
    # fetched ahead: an object store answers many requests in the time of one
    read = folder.read_all([part.name for part in parts if part.name not in at_hand])
    for part in parts:
        if part.name in at_hand:
            yield part, at_hand[part.name]
        else:
            yield part, next(read)


_TRIES = 5


def _part_of_whole(
    folder: Folder,
    part: Part,
    columns: Sequence[str] | None,
    wholes: dict[str, pa.Table],
) -> pa.Table:
    """Return the rows of a part whose file is gone, because it was put together with others since
    the manifest was read.

    wholes : by name, what was read for other parts already; the last one is kept
    """
    for _ in range(_TRIES):  # meanwhile the whole may go into a larger one
        whole = _whole_with(folder, part)
        if whole is None:
            break
        table = wholes.get(whole.name)
        if table is None:
            data = folder.read(whole.name)
            if data is None:
                continue
            table = _parsed(folder, whole, data, columns)
            # one is enough: parts are asked for in their order, and a whole may be large
            wholes.clear()
            wholes[whole.name] = table
        begin = part.first_number - whole.first_number
        n_before = sum(whole.counts[:begin])
        n_rows = sum(whole.counts[begin : begin + len(part.numbers)])
        # the whole must know this very part: rows of another run are not taken for it
        if n_rows == part.n_rows:
            rows = table.slice(n_before, n_rows)
            _check_ids(folder, part, rows)
            return rows
        break
    raise DamagedError(f"{folder.where(part.name)} is listed but missing; {REMEDY}")


def _whole_with(folder: Folder, part: Part) -> Part | None:
    """Return what now stands for a part, and is not that part itself."""
    for whole in read_manifest(folder).parts:
        if part.number in whole.numbers and part.first_number in whole.numbers:
            if whole.name != part.name:
                return whole
            return None
    return None


def _parsed(folder: Folder, part: Part, data: bytes, columns: Sequence[str] | None) -> pa.Table:
    where = folder.where(part.name)
    found = hashlib.sha256(data).hexdigest()
    if found != part.sha256:
        raise DamagedError(
            f"{where} was altered: its SHA-256 is {found}, the manifest says "
            f"{part.sha256}; {REMEDY}"
        )
    table = parse_parquet(data, where, SCHEMA, columns, part.n_rows)
    _check_ids(folder, part, table)
    return table


def _check_ids(folder: Folder, part: Part, table: pa.Table) -> None:
    ids = None
    if "class_id" in table.column_names:
        ids = table.column("class_id").to_numpy()
    listed_ids = (part.first_id, part.last_id)
    if ids is not None and (ids.min(), ids.max()) != listed_ids:
        raise DamagedError(
            f"{folder.where(files.MANIFEST)}: the line of {part.name} does not describe that "
            f"file; {REMEDY}"
        )


def parse_parquet(
    data: bytes,
    where: str,
    schema: pa.Schema,
    columns: Sequence[str] | None = None,
    n_rows: int | None = None,
) -> pa.Table:
    """Return columns of Parquet bytes: page checksums and texts verified.

    A footer that says too much is refused; it may lie, so who reads the run of a stranger limits
    the memory.  Raises DamagedError when a page is damaged, or the bytes are not a Parquet file of
    ``schema``, are larger than what is written here, or do not have ``n_rows`` rows (if given: one
    at least); LimitError when there is not enough memory.
    """
    try:
        file: Any = pq.ParquetFile(
            pa.BufferReader(data), page_checksum_verification=True, **_FOOTER_LIMITS
        )
        # before anything is decoded: nested types of a stranger's file are not even tried
        if not file.schema_arrow.equals(schema):
            raise ValueError("its columns are not those of a run")
        if n_rows is not None and (file.metadata.num_rows != n_rows or not n_rows):
            raise ValueError(
                f"its line in {files.MANIFEST} does not describe it: it has "
                f"{file.metadata.num_rows:,} rows, not {n_rows:,}; a part has at least one"
            )
        n_bytes = 0
        for group in map(file.metadata.row_group, range(file.metadata.num_row_groups)):
            # what the footer admits to; a lie is caught by the limit on the memory of the process
            n_bytes += group.total_byte_size
            for number in range(group.num_columns):
                n_bytes += _VALUE_BYTES * group.column(number).num_values
        if file.metadata.num_rows > MAX_ROWS or not 0 <= n_bytes <= MAX_DECODED_BYTES:
            raise ValueError(
                f"it would become {file.metadata.num_rows:,} rows with {n_bytes:,} bytes, at most "
                f"{MAX_ROWS:,} with {MAX_DECODED_BYTES:,} are read"
            )
        table = file.read(columns=None if columns is None else list(columns), use_threads=False)
        # offsets too: Arrow follows them without looking when the columns are used
        table.validate(full=True)  # texts are UTF-8
    except MemoryError as error:
        raise LimitError(
            f"no memory is left to read {where}: allow more, or do not read a run of a stranger"
        ) from error
    except _FAULTS as error:
        raise DamagedError(f"{where} is damaged or foreign: {error}; {REMEDY}") from error
    # what others wrote into the footer goes no further
    return table.replace_schema_metadata(None)
