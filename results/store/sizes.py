"""Sizes before contents: how large a Parquet file would be in memory, found before a page of it is decoded.

A few thousand bytes can stand for as many gigabytes: pages compress, a dictionary holds a text once for all its rows,
and a run of equal values is a count.  The footer may lie about all of that, but a reader takes its sizes from the
headers of the pages, and so does this module.  It knows what ``parts.serialise`` writes and refuses the rest.

The headers are a Thrift struct each, in the compact protocol, which pyarrow does not show:

    1 type  2 bytes decompressed  3 bytes compressed  5 data page {1 values, 2 encoding}  7 dictionary page {1 values}
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

MAX_ROWS = 100_000
MAX_DECODED_BYTES = 2**28
_BASE_BYTES, _RATIO = 2**23, 512  # a file may become 8 MiB and this many times its size
_MAX_FOOTER_BYTES = 2**20
_MAX_COLUMN_CHUNKS = 1000
_CODECS = ("ZSTD", "UNCOMPRESSED")
_WRITER = "parquet-cpp"  # for others a reader adds bytes to the end of a column
_DATA, _DICTIONARY = 0, 2
_PLAIN, _PLAIN_DICTIONARY, _RLE, _RLE_DICTIONARY = 0, 2, 3, 8
_VALUE_BYTES = 24  # a number or an offset, and two levels, with room to spare

_I32, _STRUCT, _MAX_FIELD, _MAX_DEPTH = 5, 12, 100, 4
_Struct = dict[int, tuple[int, Any]]


def check_footer(data: bytes) -> None:
    """Refuse a footer that is too long to be ours, before it is parsed.

    Raises
    ------
    ValueError
        Saying so; also when the file is cut off.
    """
    if len(data) < 12:
        raise ValueError(f"it has {len(data)} bytes")
    (n_bytes,) = struct.unpack("<I", data[-8:-4])
    if n_bytes > min(_MAX_FOOTER_BYTES, len(data)):
        raise ValueError(f"its footer claims {n_bytes:,} bytes")


def check_sizes(data: bytes, metadata: Any, columns: Iterable[str] | None = None) -> None:
    """Refuse a file that would take too much memory.

    Parameters
    ----------
    data : bytes
        The whole file.
    metadata : pyarrow.parquet.FileMetaData
        Its footer.
    columns : iterable of str, optional
        Top-level columns that are to be read; default all.

    Raises
    ------
    ValueError
        Naming the sizes, or what the file has that ours do not have.
    """
    if metadata.num_rows > MAX_ROWS:
        raise ValueError(f"it has {metadata.num_rows:,} rows, at most {MAX_ROWS:,} are read")
    if metadata.num_row_groups * metadata.num_columns > _MAX_COLUMN_CHUNKS:
        raise ValueError(f"it has {metadata.num_row_groups:,} row groups")
    if not str(metadata.created_by).startswith(_WRITER):
        raise ValueError(f"it was written by {str(metadata.created_by)!r:.60}, not by {_WRITER}")
    most = min(MAX_DECODED_BYTES, _BASE_BYTES + _RATIO * len(data))
    asked = None if columns is None else set(columns)
    total = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(metadata.num_columns)):
            if asked is None or column.path_in_schema.partition(".")[0] in asked:
                total += _decoded_bytes(data, column, most - total)
                if total > most:
                    raise ValueError(
                        f"its {len(data):,} bytes would become {total:,} or more, at most {most:,} are read"
                    )


def _decoded_bytes(data: bytes, column: Any, most: int) -> int:
    """Return a bound on the memory that one column takes, or any number above ``most``."""
    if not column.num_values:  # then a reader does not look at its pages
        return 0
    if column.compression not in _CODECS:
        raise ValueError(f"it is compressed by {column.compression}")
    at = column.data_page_offset
    if column.has_dictionary_page and 0 < column.dictionary_page_offset < at:
        at = column.dictionary_page_offset
    end = at + column.total_compressed_size
    if not 0 <= at <= end <= len(data):
        raise ValueError("a column lies outside the file")
    total, n_coded, dictionary = 0, 0, (0, 0, 0, 0)
    while at < end and total <= most:
        header, at = _struct(data, at, 0)
        kind, n_decoded, n_stored = (_i32(header, number) for number in (1, 2, 3))
        total += n_decoded
        if kind == _DATA:
            page = _inner(header, 5)
            n_values, encoding = _i32(page, 1), _i32(page, 2)
            if encoding not in (_PLAIN, _PLAIN_DICTIONARY, _RLE, _RLE_DICTIONARY):
                raise ValueError(f"a page has encoding {encoding}")
            total += _VALUE_BYTES * n_values
            n_coded += n_values if encoding in (_PLAIN_DICTIONARY, _RLE_DICTIONARY) else 0
        elif kind == _DICTIONARY:
            if dictionary[0]:
                raise ValueError("a column has two dictionaries")
            dictionary = (_i32(_inner(header, 7), 1), n_decoded, at, n_stored)
            total += _VALUE_BYTES * dictionary[0]
        else:
            raise ValueError(f"a page is of type {kind}")
        at += n_stored
        if at > end:
            raise ValueError("a page ends outside its column")
    if column.physical_type != "BYTE_ARRAY" or total + n_coded * dictionary[1] <= min(most, _BASE_BYTES):
        return total + (n_coded * dictionary[1] if column.physical_type == "BYTE_ARRAY" else 0)
    return total if total > most else total + n_coded * _longest(data, column.compression, *dictionary)


def _longest(data: bytes, codec: str, n_values: int, n_decoded: int, at: int, n_stored: int) -> int:
    """Return the length of the longest text of a dictionary page."""
    page = data[at : at + n_stored]
    if codec != "UNCOMPRESSED":
        page = pa.Codec(codec.lower()).decompress(page, decompressed_size=n_decoded, asbytes=True)
    place = longest = 0
    for _ in range(n_values):
        if place + 4 > len(page):
            raise ValueError("a dictionary is cut off")
        (n_bytes,) = struct.unpack_from("<I", page, place)
        longest = max(longest, n_bytes)
        place += 4 + n_bytes
    return longest


def _i32(found: _Struct, number: int) -> int:
    """Return a field of a struct that must be there, a number from 0 to 2**31 - 1."""
    kind, value = found.get(number, (0, -1))
    if kind != _I32 or not 0 <= value < 2**31:
        raise ValueError(f"a page header has no valid field {number}")
    return int(value)


def _inner(found: _Struct, number: int) -> _Struct:
    kind, value = found.get(number, (0, None))
    if kind != _STRUCT:
        raise ValueError(f"a page header lacks field {number}")
    inner: _Struct = value
    return inner


def _struct(data: bytes, at: int, depth: int) -> tuple[_Struct, int]:
    """Return the fields of a Thrift struct, each with its type, and where it ends.

    A field may not come twice, and a number may not be out of range: another reader might take another of them.
    """
    found: _Struct = {}
    number = 0
    try:
        while head := data[at]:
            at += 1
            if head >> 4:
                number += head >> 4
            else:
                number, at = _varint(data, at)
                number = (number >> 1) ^ -(number & 1)
            if number in found or not 0 < number <= _MAX_FIELD or depth > _MAX_DEPTH:
                raise ValueError("a page header is not one that this program writes")
            value, at = _value(data, at, head & 15, depth)
            found[number] = head & 15, value
    except IndexError as error:
        raise ValueError("a page header is cut off") from error
    return found, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (1, 2):
        return kind == 1, at
    if kind in (4, _I32, 6):
        value, at = _varint(data, at)
        return (value >> 1) ^ -(value & 1), at
    if kind == 8:
        n_bytes, at = _varint(data, at)
        return None, at + n_bytes
    if kind == _STRUCT:
        return _struct(data, at, depth + 1)
    raise ValueError(f"a page header has a field of type {kind}")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError("a page header has a number that is too long")
