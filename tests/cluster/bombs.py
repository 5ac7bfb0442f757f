"""Parts of a few kilobytes that would become hundreds of megabytes or more: sealed, one with a footer that lies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from results.store.rows import SCHEMA, Row, to_table
from tests.cluster.forge import write_part

_LONG = 2**22


def many_rows(row: Row) -> bytes:
    """Return a million equal rows."""
    return _written(_repeated(row, 1_000_000))


def shared_text(row: Row) -> bytes:
    """Return 2,000 rows that share one message of 4 MiB: 8 GiB without the dictionary."""
    n = 2_000
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array(["x" * _LONG]))
    return _written(_repeated(row, n, message=text))


def large_page(row: Row) -> bytes:
    """Return a row with a message of 512 MiB that compresses well."""
    return _written(_repeated(row, 1, message=pa.array(["x" * 2**29])), use_dictionary=False)


def long_list(row: Row) -> bytes:
    """Return a row with thirty million children that are all the same text."""
    n = 30_000_000
    children = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int8)), pa.array(["0=a"]))
    lists = pa.ListArray.from_arrays(pa.array([0, n], pa.int32()), children)
    return _written(_repeated(row, 1, children=lists))


BOMBS: dict[str, Callable[[Row], bytes]] = {
    "many rows": many_rows,
    "shared text": shared_text,
    "large page": large_page,
    "long list": long_list,
}


def plant(run: Path, data: bytes, class_id: int) -> None:
    """Make a bomb of a class the one part of a run, with a manifest that lists what it says."""
    metadata = pq.ParquetFile(pa.BufferReader(data)).metadata
    line = {"n_rows": metadata.num_rows, "first_id": class_id, "last_id": class_id}
    write_part(run, SCHEMA.empty_table(), data, **line)


def _repeated(row: Row, n: int, **columns: pa.Array) -> pa.Table:
    """Return a row ``n`` times, texts as dictionaries."""
    table = to_table([row])
    nothing = pa.array(np.zeros(n, np.int32))
    made = []
    for field in table.schema:
        array = columns.get(field.name)
        if array is None and field.type == pa.string():
            array = pa.DictionaryArray.from_arrays(nothing, table.column(field.name).combine_chunks())
        made.append(table.column(field.name).combine_chunks().take(nothing) if array is None else array)
    fields = [pa.field(field.name, array.type, nullable=False) for field, array in zip(table.schema, made, strict=True)]
    return pa.Table.from_arrays(made, schema=pa.schema([_required(field) for field in fields]))


def _required(field: pa.Field) -> pa.Field:
    if pa.types.is_list(field.type):
        inner = pa.field("element", field.type.value_type, nullable=False)
        return pa.field(field.name, pa.list_(inner), nullable=False)
    return field


def _written(table: pa.Table, **options: object) -> bytes:
    """Return Parquet bytes without Arrow's own schema, so that a dictionary reads as the text it stands for."""
    sink = pa.BufferOutputStream()
    fields = [_required(field) for field in table.schema]
    arrays = [
        column.combine_chunks().cast(field.type) if pa.types.is_list(field.type) else column
        for column, field in zip(table.columns, fields, strict=True)
    ]
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True, store_schema=False, **options)
    return bytes(sink.getvalue())
