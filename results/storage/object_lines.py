"""Lines of a manifest in an object store: each an object of its own, put together and judged.

    manifest.jsonl/0000000000000000-WRITER    the first line: no bytes before it
    manifest.jsonl/0000000000000120-WRITER    the next one, behind 120 bytes
    manifest.jsonl/0000000000000240-all-ID    all lines written anew; it stands for all before it

The place in the name lets a reader notice a line that is missing, torn or doubled.  A *fence* is an
object that closes a place: whatever else is put there, or has been, does not count.

>>> first, second = line_name("m", 0, "ann"), line_name("m", 3, "ann")
>>> joined({first: b"ab\\n", second: b"cd\\n"})
Joined(lines=['ab', 'cd'], n_bytes=6, fault='')
>>> joined({second: b"cd\\n"}).fault
'm/0000000000000003-ann'
"""

from collections.abc import Mapping
from typing import NamedTuple

FENCE = b"from here on another driver writes\n"  # shorter than any line of a manifest
_ALL = "-all-"  # in the name of an object that stands for all lines before it


class Joined(NamedTuple):
    """The lines that objects hold, their bytes, and the first object that does not fit."""

    lines: list[str]
    n_bytes: int
    fault: str


def line_name(name: str, number: int, writer: str) -> str:
    """Return the name of a line: the same for the same writer and place."""
    return f"{name}/{number:016d}-{writer}"


def name_of_all(name: str, number: int, unique: str) -> str:
    """Return the name of an object that stands for all lines before it."""
    return f"{name}/{number:016d}{_ALL}{unique}"


def stands_for_all(item: str) -> bool:
    """Return whether an object stands for all lines before it."""
    return _ALL in item


def writers_of(items: Mapping[str, object]) -> list[str]:
    """Return who put single lines, sorted."""
    writers = set()
    for item in items:
        if not stands_for_all(item):
            writers.add(item.rpartition("-")[2])
    return sorted(writers)


def number_of(item: str) -> int:
    """Return the number in the name of an object, of lines the bytes before it; -1 for another
    name.
    """
    base = item.rpartition("/")[2]
    number = base.partition("-")[0]
    if number.isdecimal():
        return int(number)
    return -1


def next_place(read: Mapping[str, bytes | None]) -> int:
    """Return where the next line may stand, whatever is missing before it."""
    put_together = joined(read)
    if not put_together.fault:
        return put_together.n_bytes
    ends = [number_of(item) + len(data or b"") for item, data in read.items()]
    return max(ends, default=0)


def joined(read: Mapping[str, bytes | None]) -> Joined:
    """Put the lines of objects together; one that was taken back after it was listed (None) is left
    out.
    """
    lines: list[str] = []
    n_bytes = 0
    there = {item: data for item, data in sorted(read.items()) if data is not None}
    whole = _last_whole(there)
    if whole:
        data = there[whole]
        lines = _split(data)
        n_bytes = number_of(whole) + len(data)
    places: dict[int, dict[str, bytes]] = {}
    for item, data in there.items():
        place = number_of(item)
        is_replaced = bool(whole) and place <= number_of(whole)
        if not is_replaced and not stands_for_all(item):
            places.setdefault(place, {})[item] = data
    for place, puts in places.items():
        is_fenced = FENCE in puts.values()
        if is_fenced:
            line = FENCE
        else:
            line = next(iter(puts.values()))
        is_single = is_fenced or len(puts) == 1
        if place != n_bytes or not is_single or not line.endswith(b"\n"):
            return Joined(lines, n_bytes, max(puts))
        if not is_fenced:
            lines += _split(line)
        n_bytes += len(line)
    return Joined(lines, n_bytes, "")


def _last_whole(there: Mapping[str, bytes]) -> str:
    """Return the last object that stands for all lines before it; an empty text without one."""
    fenced = {number_of(item) for item, data in there.items() if data == FENCE}
    whole = ""
    for item in there:
        # the last one counts; behind a fence it came too late
        if stands_for_all(item) and number_of(item) not in fenced:
            whole = item
    return whole


def _split(data: bytes) -> list[str]:
    return data.decode(errors="replace").split("\n")[:-1]
