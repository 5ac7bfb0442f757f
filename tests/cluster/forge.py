"""Run directories tampered with: nonsense in any place, sealed anew for the checks behind the
seals; plain damage.
"""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from orderly_boggle.results.proof import audit
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.documents import format_document
from orderly_boggle.results.store.parts import describe, serialise

WORDS = ["tea", "ate", "eat", "rat", "tar", "art", "rate", "tear", "quit"]
DOCUMENTS = (files.RUN, files.CLAIM, files.AUDITS)
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\u2066\r\nProven. It is so."

# What a JSON value is replaced by.
NONSENSE: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        -1,
        0,
        1,
        2,
        2**31,
        2**62,
        2**63,
        2**64,
        10**40,
        -(10**40),
        0.5,
        1e308,
        -1e308,
    ),
    *("", "x", "2x2", "9x9", "auto", "0" * 64, ESCAPES, "\ud800", "é"),
    *("x" * 5000, "[" * 300, "/dev/zero", "nosuch.txt"),
    *(
        [],
        [[]],
        [None],
        [0] * 70,
        [10**40],
        ["\ud800"],
        {},
        {"a": []},
        {"name": []},
        {ESCAPES: ESCAPES},
    ),
)
TEXTS = (
    *(
        b"",
        b"\xff\xfe",
        b"a\xed\xa0\x80",
        ESCAPES.encode(),
        b"x" * 3999,
        b"x" * 100_000,
        b"eliminated",
        b"split",
    ),
    *(b"9" * 40, b"9" * 39, b"0", b"-1", b"1" * 400, b"zzzz", b"abc", "é".encode(), b"\0"),
    *(
        b"0=a",
        b"0=a/1=b",
        b"9=a",
        b"0=aa",
        b"/".join([b"0=a"] * 900),
        b"/".join([b"3=abcdefghijklm"] * 200),
    ),
)
NUMBERS = {
    pa.int32(): (-(2**31), -1, 0, 1, 2**31 - 1),
    pa.int64(): (-(2**63), -1, 0, 1, 3, 255, 2**31, 2**53 + 1, 2**62, 2**63 - 1),
    pa.float64(): (float("nan"), float("inf"), float("-inf"), -1.0, -0.0, 1e308, 5e-324),
}


class Forger:
    """Tampers with a run directory in one place at random; each of ``KINDS`` renews the seals and
    tells what it did.
    """

    KINDS = ("document", "manifest", "row", "certificate", "event")

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def document(self, run: Path) -> str:
        name = self.rng.choice(DOCUMENTS)
        where, changed = self._altered(unsealed(run / name))
        if isinstance(changed, dict):
            seal(run / name, changed)
        else:
            (run / name).write_text(json.dumps(changed))
        return name + where

    def manifest(self, run: Path) -> str:
        lines = read_lines(run / files.MANIFEST)
        line = self.rng.choice(lines)
        name = self.rng.choice([key for key in line if key != "check"])
        line[name] = self.rng.choice(NONSENSE)
        write_manifest(run, lines)
        return f"{files.MANIFEST}: {name} = {line[name]!r}"

    def row(self, run: Path) -> str:
        what, changed = self._altered_table(read_part(run, files.RESULTS))
        write_part(run, changed)
        return what

    def certificate(self, run: Path) -> str:
        what, changed = self._altered_table(read_part(run, files.CERTIFICATES), keep=("sha256",))
        write_certificates(run, sealed_certificates(changed))
        return what

    def event(self, run: Path) -> str:
        lines = read_lines(run / files.EVENTS)
        line = self.rng.choice(lines)
        name = self.rng.choice(list(line))
        line[name] = self.rng.choice(NONSENSE)
        if self.rng.random() < 0.5:
            lines.append({**line, "time": lines[-1]["time"]} if name != "time" else line)
        write_lines(run / files.EVENTS, lines)
        return f"{files.EVENTS}: {line['event']}.{name} = {line[name]!r}"

    def damage(self, run: Path, kind: str) -> list[Path]:
        """Flip a bit, cut off the end, swap two files, or lose one; return the files."""
        victim, other = self.rng.sample(files_of(run), 2)
        data = bytearray(victim.read_bytes())
        at = self.rng.randrange(len(data))
        if kind == "flip":
            data[at] ^= 1 << self.rng.randrange(8)
            victim.write_bytes(data)
        elif kind == "cut":
            victim.write_bytes(data[:at])
        elif kind == "swap":
            victim.write_bytes(other.read_bytes())
            other.write_bytes(data)
            return [victim, other]
        else:
            victim.unlink()
        return [victim]

    def _altered(self, values: Any, where: str = "") -> tuple[str, Any]:
        """Return JSON values with one of them, however deep, replaced or taken away, and what was
        done.
        """
        keys: Any = list(values) if isinstance(values, dict) else ()
        if isinstance(values, list):
            keys = range(len(values))
        if keys and self.rng.random() < 0.8:
            key = self.rng.choice(keys)
            if isinstance(values, dict) and self.rng.random() < 0.1:
                return f"{where}.{key} taken away", {
                    name: value for name, value in values.items() if name != key
                }
            told, inner = self._altered(values[key], f"{where}.{key}")
            changed = values.copy()
            changed[key] = inner
            return told, changed
        new = self.rng.choice(NONSENSE)
        return f"{where} = {new!r:.80}", new

    def _altered_table(self, table: pa.Table, keep: tuple[str, ...] = ()) -> tuple[str, pa.Table]:
        name = self.rng.choice([name for name in table.column_names if name not in keep])
        at = self.rng.randrange(table.num_rows)
        value = self._value(table.schema.field(name).type)
        return f"{name} of row {at} = {value!r:.80}", with_value(table, name, at, value)

    def _value(self, kind: pa.DataType) -> Any:
        if pa.types.is_list(kind):
            n = self.rng.choice((0, 1, 2, 3))
            values = [self._value(kind.value_type) for _ in range(n)]
            return values + values[:1] if self.rng.random() < 0.2 else values
        if pa.types.is_struct(kind):
            return {"board": self._value(pa.string()), "score": self._value(pa.int32())}
        return self.rng.choice(NUMBERS.get(kind, TEXTS))


def files_of(run: Path) -> list[Path]:
    """Return the files of a run but those of its lock and its log, which proves nothing."""
    kept = (files.LOCK, files.OWNER, files.EVENTS)
    return sorted(path for path in run.rglob("*") if path.is_file() and path.name not in kept)


def unsealed(path: Path) -> dict[str, Any]:
    """Return what a document says, without its digest."""
    values = json.loads(path.read_text())
    del values["sha256"]
    return values


def seal(path: Path, values: dict[str, Any]) -> None:
    """Write a document with a digest that fits; lone surrogates stand in it as escapes."""
    body = json.loads(
        format_document(json.loads(json.dumps(values).replace("\\ud800", "_SURROGATE_")))
    )
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
    path.write_text(
        json.dumps({**values, "sha256": digest if "_SURROGATE_" in str(body) else body["sha256"]})
    )


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line, sort_keys=True) + "\n" for line in lines))


def write_manifest(run: Path, lines: list[dict[str, Any]]) -> None:
    """Write manifest lines with checks that fit."""
    for line in lines:
        line.pop("check", None)
        line["check"] = hashlib.sha256(json.dumps(line, sort_keys=True).encode()).hexdigest()[:16]
    write_lines(run / files.MANIFEST, lines)


def read_part(run: Path, folder: str) -> pa.Table:
    """Return the one part of a folder; its texts may be no UTF-8."""
    return pq.ParquetFile(next((run / folder).iterdir())).read()


def write_part(run: Path, table: pa.Table, data: bytes | None = None, **changes: Any) -> None:
    """Make a table, or any bytes, the one part of a run; ``changes`` are fields of the manifest
    line.
    """
    for old in (run / files.RESULTS).iterdir():
        old.unlink()
    data = serialise(table) if data is None else data
    name = files.part_name(files.RESULTS, 1)
    (run / name).write_bytes(data)
    ids = table.column("class_id").to_pylist() if table.num_rows else [0]
    write_manifest(
        run, [json.loads(describe(name, data, ids).format()) | {"n_rows": table.num_rows} | changes]
    )


def write_certificates(run: Path, table: pa.Table) -> None:
    next((run / files.CERTIFICATES).iterdir()).write_bytes(serialise(table))


def sealed_certificates(table: pa.Table) -> pa.Table:
    """Return certificates with digests that fit, where their texts are texts."""
    try:
        digests = [audit.row_digest(row) for row in table.to_pylist()]
    except UnicodeDecodeError:
        digests = ["0" * 64] * table.num_rows
    return table.set_column(
        table.schema.get_field_index("sha256"), table.schema.field("sha256"), pa.array(digests)
    )


def with_value(table: pa.Table, name: str, at: int, value: Any) -> pa.Table:
    """Return a table with another value in one place."""
    field = table.schema.field(name)
    values = table.column(name).to_pylist()
    values[at] = value
    return table.set_column(
        table.schema.get_field_index(name), field, raw_array(values, field.type)
    )


def raw_array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Return values as an array of a type; texts may be bytes that are no UTF-8."""
    if kind == pa.string():
        raw = [value if isinstance(value, bytes) else str(value).encode() for value in values]
        return pa.array(raw, pa.binary()).view(pa.string())
    if pa.types.is_list(kind):
        offsets = [0]
        for value in values:
            offsets.append(offsets[-1] + len(value))
        flat = raw_array([item for value in values for item in value], kind.value_type)
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat, type=kind)
    if pa.types.is_struct(kind):
        columns = [raw_array([value[field.name] for value in values], field.type) for field in kind]
        return pa.StructArray.from_arrays(columns, fields=list(kind))
    return pa.array(values, kind)
