"""Puts small parts of a run together, so that a run of weeks stays quick to read.

    due      which parts are to be put together by now: as a rule the last ones
    gather   their rows into one file, which is read back; nothing counts yet
    Whole    that file, and the manifest in which it takes their place

Rows keep their order and every byte of theirs: what is digested, verified or audited is the same.

The order of the operations makes it safe to be killed between any two of them.  The new file is
stored and read back while the old ones still count.  Then the manifest is replaced in one step: a
reader sees the old parts or the new one, never both and never neither.  Only then the old files go.
A file that no manifest lists is removed when the run is opened next (``remove_leftovers``).

A reader that has the old manifest in its hands may miss a file in the middle of its work.  The new
manifest says where the rows are (``Part.counts``, ``parts.read_parts``).

>>> from orderly_boggle.results.store.parts import Part
>>> name = "results/part-{0:08d}-{0:032x}.parquet"
>>> small = [Part(name.format(n), 1, n, n, "", False) for n in range(1, 9)]
>>> len(due(small)), len(due(small[:7]))
(8, 0)
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from orderly_boggle.results.errors import DamagedError
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import Folder
from orderly_boggle.results.store.parts import (
    MAX_DECODED_BYTES,
    MAX_ROWS,
    Part,
    describe,
    parse_parquet,
    parse_part,
    read_parts,
    serialise,
)
from orderly_boggle.results.store.rows import SCHEMA

MANY = 8  # parts that are worth the work
# half of what readers take: they reckon with the bytes that a footer tells, which are some more
MAX_BYTES = MAX_DECODED_BYTES // 2
# parts whose bytes are kept, and the largest of them
_AT_HAND = 2 * MANY
_AT_HAND_BYTES = 2**20


def keep(at_hand: dict[str, bytes], name: str, data: bytes) -> None:
    """Keep the bytes of a small part, by its name, besides those of the last few: they are put
    together soon, and in a store each read is a request.
    """
    if len(data) <= _AT_HAND_BYTES:
        at_hand[name] = data
    if len(at_hand) > _AT_HAND:
        del at_hand[next(iter(at_hand))]


class Whole(NamedTuple):
    """A part that is stored and is to take the place of others."""

    part: Part
    old: tuple[Part, ...]

    def replaced(self, lines: Sequence[str]) -> list[str]:
        """Return the lines of a manifest with it; the same for lines that it is in already.

        Lines about dropped parts stay, too: they say that their numbers are spent.
        """
        kept = [line for line in lines if parse_part(line).number < self.old[0].first_number]
        return [*kept, self.part.format()]


def due(parts: Sequence[Part]) -> Sequence[Part]:
    """Return the last parts as far back as it pays to put them together now; none, if they are too
    few.

    A part is taken in once those behind it have as many rows.  So a row is copied once for each
    doubling of the rows that are behind it, and the parts of a run become about as many as its rows
    have binary digits, besides those that are full.
    """
    n_rows = 0
    begin = len(parts)
    for place in reversed(range(len(parts))):
        if n_rows + parts[place].n_rows > MAX_ROWS:
            break
        # only then: a large part is not copied for the sake of a few rows behind it
        if parts[place].n_rows <= n_rows:
            begin = place
        n_rows += parts[place].n_rows
    few = len(parts) - begin < MANY
    if few:
        return ()
    return parts[begin:]


def fitting(parts: Sequence[Part]) -> Sequence[Part]:
    """Return the last parts that fit into one; none, if it is only one."""
    n_rows = 0
    begin = len(parts)
    while begin and n_rows + parts[begin - 1].n_rows <= MAX_ROWS:
        begin -= 1
        n_rows += parts[begin].n_rows
    if len(parts) - begin > 1:
        return parts[begin:]
    return ()


def gather(
    folder: Folder, parts: Sequence[Part], last_number: int, at_hand: Mapping[str, bytes]
) -> Whole | None:
    """Store the rows of the last parts of a run as one file, which does not count yet; None when
    no two of them fit into one.

    last_number : of the manifest; the last of its parts may have been dropped
    at_hand : by name, the bytes of parts that need not be read

    Raises StoreError when a part cannot be read, or is damaged, or the place refuses the file.
    """
    taken: list[tuple[Part, pa.Table]] = []
    n_bytes = 0
    # from the end: what does not fit stays as it is, in front of the new part
    for part, table in read_parts(folder, parts[::-1], at_hand=at_hand):
        # bytes are known only now: the rows of a part may list many boards
        n_bytes += table.nbytes
        if n_bytes > MAX_BYTES:
            break
        taken.append((part, table))
    if len(taken) < 2:
        return None
    taken.reverse()
    old = tuple(part for part, _ in taken)
    rows = pa.concat_tables(table for _, table in taken).combine_chunks()
    counts = _counts(old, last_number)
    data = serialise(rows)
    # under the last number: the next part goes on from there, as if nothing had been put together
    name = files.part_name(files.RESULTS, last_number)
    part = replace(describe(name, data, rows.column("class_id").to_pylist()), counts=counts)
    folder.publish(name, data)
    _check_copy(folder, name, rows)
    return Whole(part, old)


def _counts(parts: Sequence[Part], last_number: int) -> tuple[int, ...]:
    """Return the rows of every number from that of the first part on; a dropped part has none."""
    first_number = parts[0].first_number
    counts = [0] * (last_number + 1 - first_number)
    for part in parts:
        begin = part.first_number - first_number
        end = begin + len(part.numbers)
        counts[begin:end] = part.counts or (part.n_rows,)
    return tuple(counts)


def _check_copy(folder: Folder, name: str, rows: pa.Table) -> None:
    """Read a file again: after this the only other copy of its rows is removed."""
    data = folder.read(name)
    where = folder.where(name)
    if data is None or not parse_parquet(data, where, SCHEMA).equals(rows):
        raise DamagedError(f"{where} does not hold what was written: nothing was replaced by it")
