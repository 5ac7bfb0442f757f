"""A run directory as it stands on disk, for everybody who only reads: verify, rescore, claim,
status, top.

open_run -> read_identity (run.json), read_manifest
  Run.index          which units have a verdict (few columns: fast)
  Run.verdict_table  every row checked, equal duplicates merged, conflicting units left out and
  named
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from orderly_boggle.boardclass.arrays import Int32s, Int64s
from orderly_boggle.boardclass.errors import InputError, StoreError, quote
from orderly_boggle.boardclass.partition import Partition, among
from orderly_boggle.results.errors import ConflictError, DamagedError, RowError
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import Folder, open_folder
from orderly_boggle.results.store.identity import read_identity
from orderly_boggle.results.store.made import Made, list_name
from orderly_boggle.results.store.parts import REMEDY, Manifest, Part, read_manifest, read_parts
from orderly_boggle.results.store.places import BUFFERED, Places
from orderly_boggle.results.store.rows import (
    CANDIDATES,
    ELIMINATED,
    QUARANTINED,
    SCHEMA,
    SPLIT,
    VERDICT_COLUMNS,
    VERDICTS,
    Key,
    Row,
    Verdict,
    check_table,
    from_table,
    keys_of,
    scalar,
    verdicts_of,
)
from orderly_boggle.search.question import Question

INDEX_COLUMNS = (
    *("fingerprint", "class_id", "path", "status", "children", "candidates", "host", "message"),
)
_DECIDED = pa.array([ELIMINATED, CANDIDATES])


class Index:
    """What the rows tell at first sight: which units have a verdict, and where it stands."""

    def __init__(self) -> None:
        self.places = Places(np.empty(0, np.int64), np.empty(0, np.int32))
        # units with a verdict in several rows, and the numbers of all parts
        self.repeated: dict[Key, set[int]] = {}
        # units that were split, and the paths of their children
        self.splits: dict[Key, tuple[str, ...]] = {}
        self.quarantined: set[Key] = set()  # units that failed too often and have no verdict
        # hosts that quarantined rows name: replicas contradicted them
        self.doubted_hosts: set[str] = set()
        self.with_candidates: set[int] = set()  # numbers of the loaded parts that list candidates
        self.with_messages: set[int] = set()  # and of those with a message
        self.n_loaded: Counter[str] = Counter()  # loaded rows by status
        # int64[n], ascending: classes that loaded rows of any status are about
        self.class_ids = np.empty(0, np.int64)

    def load(self, parts: Iterable[tuple[Part, pa.Table]]) -> None:
        """Take in the rows of parts (:data:`INDEX_COLUMNS`)."""
        ids = [np.empty(0, np.int64)]
        numbers = [np.empty(0, np.int32)]
        others: list[tuple[int, pa.Table]] = []
        for part, table in parts:
            status = table.column("status")
            # most rows settle a whole class: they go into arrays, the rest one by one into dicts
            is_whole = pc.equal(table.column("path"), scalar(""))
            is_class = pc.and_(is_whole, pc.is_in(status, _DECIDED))
            ids.append(table.column("class_id").filter(is_class).to_numpy())
            numbers.append(np.full(len(ids[-1]), part.number, np.int32))
            others.append((part.number, table.filter(pc.invert(is_class))))
            for item in pc.value_counts(status).to_pylist():
                self.n_loaded[item["values"]] += item["counts"]
            # which parts to read again for boards or messages: most have none
            lengths = pc.list_value_length(table.column("candidates"))
            if pc.any(pc.greater(lengths, scalar(0))).as_py():
                self.with_candidates.add(part.number)
            has_message = pc.not_equal(table.column("message"), scalar(""))
            if pc.any(has_message).as_py():
                self.with_messages.add(part.number)
        # first: a row below with a verdict on the same class is then noticed as a repetition
        self._settle(np.concatenate(ids), np.concatenate(numbers))
        for number, table in others:
            columns = table.select(["status", "children", "host"]).to_pydict()
            for key, status, children, host in zip(keys_of(table), *columns.values(), strict=True):
                self.add(key, status, children, host, number)
        done_ids = self.done_ids()
        # quarantined rows count too: a class that is named but not canonical is damage
        more = set()
        for _, table in others:
            for class_id, _ in keys_of(table):
                more.add(class_id)
        more_ids = np.array(sorted(more), np.int64)
        not_done = more_ids[~among(more_ids, done_ids)]
        self.class_ids = np.sort(np.append(done_ids, not_done))

    def _settle(self, ids: Int64s, numbers: Int32s) -> None:
        """Note in which parts the verdicts of whole classes stand; some may have several."""
        # stable: of several verdicts the first in the order of the parts counts as the first
        order = np.argsort(ids, kind="stable")
        ids = ids[order]
        numbers = numbers[order]
        # the slice is for a run without any rows, where there is no first one either
        is_first = np.append(True, ids[1:] != ids[:-1])[: len(ids)]
        for place in np.flatnonzero(~is_first):
            several = self.repeated.setdefault((int(ids[place]), ""), set())
            several.update(numbers[place - 1 : place + 1].tolist())
        self.places = Places(ids[is_first], numbers[is_first])

    def add(
        self, key: Key, status: str, children: Sequence[str], host: str, number: int = BUFFERED
    ) -> None:
        """Note a row of part ``number``, or one that was appended and is not in a part yet."""
        if status in VERDICTS:
            self.place(key, number)
            # somebody else managed it, now or earlier: a verdict ends the quarantine
            self.quarantined.discard(key)
            if status == SPLIT:
                self.splits[key] = tuple(children)
        elif status == QUARANTINED:
            self.doubted_hosts |= {host} - {""}
            if key not in self.places:
                self.quarantined.add(key)

    def place(self, key: Key, number: int) -> None:
        """Note that a verdict of ``key`` stands in part ``number``."""
        # a second place is remembered: both must say the same
        if before := self.places.get(key):
            self.repeated.setdefault(key, {before}).add(number)
        else:
            self.places.noted[key] = number

    def parts_of(self, key: Key) -> set[int]:
        """Return the numbers of all parts with a verdict of ``key``; empty when there is none."""
        number = self.places.get(key)
        return self.repeated.get(key, {number} if number else set())

    def done_ids(self) -> Int64s:
        """Return the sorted ids of the classes whose root unit has a verdict (a split one
        included).
        """
        return self.places.class_ids()

    def orphans(self) -> set[Key]:
        """Return the units with a verdict that no stored split leads to, because the row of the
        split is lost.
        """
        orphans = self.places.parts()
        for (class_id, _), children in self.splits.items():
            orphans.difference_update((class_id, child) for child in children)
        return orphans

    def pending(self) -> list[Key]:
        """Return the children of split units that have no verdict yet, in a fixed order."""
        pending = []
        # a fixed order: a run that is resumed gives units out as one that was not stopped
        for class_id, path in sorted(self.splits):
            for child in self.splits[class_id, path]:
                if (class_id, child) not in self.places.noted:
                    pending.append((class_id, child))
        return pending


REMEDY_OF_CONFLICT = (
    "Find out which is wrong, move the part file with it away, and run again with --drop-damaged."
)
KEPT_ROWS = 50_000  # a run with no more stays in memory once it was read


class Run:
    """A run directory, read only; made by :func:`open_run`.

    ``question`` is what it was asked, ``made`` what the driver recorded when it began.
    ``manifest`` lists the parts that count at the moment of opening.  Threads may share a run:
    nothing in it changes but what was read already.
    """

    def __init__(self, folder: Folder, question: Question, made: Made, manifest: Manifest) -> None:
        self.folder = folder
        self.question = question
        self.made = made
        self.manifest = manifest
        self._kept: dict[str, pa.Table] = {}
        self._sound: set[str] = set()
        self._doubted: dict[frozenset[str], list[Key]] = {}
        self._keeps = sum(part.n_rows for part in manifest.parts) <= KEPT_ROWS

    def __repr__(self) -> str:
        return f"open_run({self.folder.where('')!r})"

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows: what is stored, not what it proves."""
        from orderly_boggle.boardclass.printable import html_table

        listed = list_name(self.made.words.name, self.question.words_sha256)
        facts: list[tuple[str, object]] = [
            ("board", self.question.dims),
            ("word list", listed),
            ("its SHA-256", self.question.words_sha256),
            ("cutoff", self.question.cutoff),
            ("letter buckets", self.question.buckets),
            ("classes", self.partition.n_canonical),
            ("parts", len(self.manifest.parts)),
        ]
        try:
            for status, n in self.index.n_loaded.items():
                if n:
                    facts.append((f"rows, {status}", n))
        # a display must not fail: a notebook would show a traceback instead of the run
        except StoreError as error:
            facts.append(("rows", f"cannot be read: {error}"))
        return html_table(
            f"{self.folder.where('')}: what is stored; summary() says what it proves", (), facts
        )

    @property
    def partition(self) -> Partition:
        """The letter buckets, which make the board classes."""
        return self.question.partition

    @cached_property
    def index(self) -> Index:
        """The keys that have a verdict."""
        index = Index()
        # few columns: whoever only counts need not decode boards and counters
        index.load(self._own(self._read(self.manifest.parts, INDEX_COLUMNS)))
        return index

    def _own(self, parts: Iterable[tuple[Part, pa.Table]]) -> Iterator[tuple[Part, pa.Table]]:
        for part, table in parts:
            # with every reading of the index, though rows are checked whole only where they are
            # believed
            digests = pc.unique(table.column("fingerprint")).to_pylist()
            foreign = set(digests) - {self.question.digest}
            if foreign:
                raise DamagedError(
                    f"{self.folder.where(part.name)} holds rows of another run "
                    f"({min(foreign)!r}); {REMEDY}"
                )
            yield part, table

    @cached_property
    def foreign(self) -> Int64s:
        """Classes that rows are about and that are not canonical ones of the run, ascending."""
        return np.array(self.partition.foreign(self.index.class_ids), np.int64)

    @cached_property
    def conflicts(self) -> dict[Key, str]:
        """What to say of each unit for which stored rows give different verdicts."""
        repeated = self.index.repeated
        # nearly always: without repetitions there is nothing to compare, and no part is read
        if not repeated:
            return {}
        numbers = set().union(*repeated.values())
        parts = []
        for part in self.manifest.parts:
            if part.number in numbers:
                parts.append(part)
        first: dict[Key, Verdict] = {}
        # first which units differ, then all rows of those: the places of a million repetitions are
        # not kept
        differing = set()
        for _, row in self.rows_on(repeated, parts):
            if row.verdict != first.setdefault(row.key, row.verdict):
                differing.add(row.key)
        rows: dict[Key, list[tuple[str, Row]]] = {}
        for place, row in self.rows_on(differing, parts):
            rows.setdefault(row.key, []).append((place, row))
        return {key: describe_conflict(rows[key]) for key in sorted(rows)}

    @property
    def doubted(self) -> list[Key]:
        """The units whose verdicts all come from hosts that a replica contradicted, sorted: to be
        searched again.

        A replica that differs leaves a quarantined row that names the host not to be believed.
        That is a fact about the host, wherever the row lies.  What the host finds later is stored
        under another name (``Store.append``): a single machine can do no more.  So what is in doubt
        follows from the set of rows, whatever a claim says.
        """
        # a store may have taken in a doubt since the last look
        hosts = frozenset(self.index.doubted_hosts)
        if hosts and hosts not in self._doubted:
            self._doubted[hosts] = self._in_doubt(pa.array(sorted(hosts)))
        return self._doubted.get(hosts, [])

    def _in_doubt(self, hosts: pa.Array) -> list[Key]:
        theirs = set[Key]()
        sound = set[Key]()
        for table in self.columns(("class_id", "path", "status", "host")):
            verdicts = verdicts_of(table)
            is_theirs = pc.is_in(verdicts.column("host"), hosts)
            # a unit is sound once any host that nobody doubts has said the same
            theirs.update(keys_of(verdicts.filter(is_theirs)))
            by_others = keys_of(verdicts.filter(pc.invert(is_theirs)))
            sound.update(self.index.repeated.keys() & by_others)
        return sorted(theirs - sound)

    def rows_on(self, units: Collection[Key], parts: Sequence[Part]) -> Iterator[tuple[str, Row]]:
        """Yield the rows with a verdict on one of some units, and the files they are in; reads each
        part once.
        """
        # Arrow filters by class; paths are looked at only in what is left
        wanted = sorted({class_id for class_id, _ in units})
        class_ids = pa.array(wanted, pa.int64())
        for part, table in self.checked(parts if units else ()):
            is_wanted = pc.is_in(table.column("class_id"), class_ids)
            for row in from_table(table.filter(is_wanted)):
                if row.is_verdict and row.key in units:
                    yield self.folder.where(part.name), row

    def checked(self, parts: Sequence[Part] | None = None) -> Iterator[tuple[Part, pa.Table]]:
        """Yield some parts, by default all, and their rows, every one checked.

        Raises DamagedError, RowError, naming the file.
        """
        if parts is None:
            parts = self.manifest.parts
        for part, table in self._read(parts):
            if part.name not in self._sound:  # one look is enough, its bytes do not change
                try:
                    check_table(table, self.question, self.folder.where(part.name))
                except RowError as error:
                    raise RowError(f"{error}; {REMEDY}") from error
                self._sound.add(part.name)
            yield part, table

    def columns(
        self, names: Sequence[str], numbers: Container[int] | None = None
    ) -> Iterator[pa.Table]:
        """Yield some columns of all rows, or of the parts of some numbers, part by part: bytes
        verified, rows not checked; for counting.
        """
        parts = self.manifest.parts
        if numbers is not None:
            parts = tuple(part for part in parts if part.number in numbers)
        for _, table in self._read(parts, names):
            yield table

    def arrays(self, names: Sequence[str]) -> list[NDArray[Any]]:
        """Return some columns of all rows, one array each, as :meth:`columns` reads them."""
        none = SCHEMA.empty_table().select(names)
        whole = pa.concat_tables([none, *self.columns(names)])
        return [column.to_numpy() for column in whole]

    def _read(
        self, parts: Sequence[Part], columns: Sequence[str] | None = None
    ) -> Iterator[tuple[Part, pa.Table]]:
        """Yield some parts with some columns, as they were when this run first read them."""
        # a large run is read again each time: it would fill the memory of a server
        if not self._keeps:
            yield from read_parts(self.folder, parts, columns)
            return
        new = [part for part in parts if part.name not in self._kept]
        for part, table in read_parts(self.folder, new):
            self._kept[part.name] = table
        for part in parts:
            table = self._kept[part.name]
            yield part, table if columns is None else table.select(columns)

    def rows(self) -> Iterator[Row]:
        """Yield all rows, error and quarantined ones included."""
        for _, table in self.checked():
            yield from from_table(table)

    def candidates(self) -> list[tuple[str, int, int]]:
        """Return board, stored score and class of every candidate; units in conflict are left out.

        It reads no parts but those that list some.
        """
        candidates = []
        seen = set(self.conflicts)
        parts = []
        for part in self.manifest.parts:
            if part.number in self.index.with_candidates:
                parts.append(part)
        for _, table in self.checked(parts):
            n_listed = pc.list_value_length(table.column("candidates"))
            table = table.filter(pc.greater(n_listed, scalar(0)))
            lists = table.column("candidates").to_pylist()
            for key, listed in zip(keys_of(table), lists, strict=True):
                for item in () if key in seen else listed:
                    candidates.append((item["board"], item["score"], key[0]))
                # only a repeated unit may come again; the set stays small in a large run
                seen |= {key} & self.index.repeated.keys()
        return candidates

    @cached_property
    def verdict_table(self) -> pa.Table:
        """One row per unit with :data:`VERDICT_COLUMNS`; units in conflict are left out, see
        :attr:`conflicts`.
        """
        names = list(VERDICT_COLUMNS)
        kept = []
        for _, table in self.checked():
            kept.append(verdicts_of(table).select(names))
        table = pa.concat_tables([SCHEMA.empty_table().select(names), *kept])
        if not self.index.repeated:
            return table
        seen = set(self.conflicts)
        keep = []
        for key in keys_of(table):
            # the first row of a unit stands for the others, which say the same; one in conflict
            # never does
            keep.append(key not in seen)
            if key in self.index.repeated:
                seen.add(key)
        return table.filter(pa.array(keep))


def open_run(location: str | Path | Folder | Run) -> Run:
    """Open a run directory for reading, also while a driver writes to it; a run that is open
    already stays as it is.

    location : a directory, the URI of one, or the name of a run that comes with the program

    Raises InputError when it is none of these; StoreError when there is no run, or its ``run.json``
    or manifest is damaged.

    Examples
    --------
    >>> run = open_run("runs/2x2-scowl70-14")  # made by: orderly run 2x2 --cutoff 14
    >>> run.question.dims, run.question.cutoff
    ('2x2', 14)
    >>> sorted({row.status for row in run.rows()})
    ['candidates', 'eliminated']
    """
    if isinstance(location, Run):
        return location
    if isinstance(location, str):
        location = files.named_run(location)
    if isinstance(location, str | Path):
        folder = open_folder(location)
    # by its method: to import the object store's class would load pyarrow.fs for nothing
    elif hasattr(location, "where"):
        folder = location
    else:
        raise InputError(
            f"{quote(location)} is no run: expected a directory, or a name like '3x3-scowl70'"
        )
    identity = read_identity(folder)
    if identity is None:
        folder.names("")  # a bucket that is not there is said
        raise StoreError(
            f"{str(location)!r} holds no run: {files.RUN} is missing; start one with: orderly run "
            f"CONFIG --out {location}"
        )
    return Run(folder, identity.question, identity.made, read_manifest(folder))


def describe_conflict(rows: Sequence[tuple[str, Row]], remedy: str = REMEDY_OF_CONFLICT) -> str:
    """Return what to say about rows of one unit that contradict each other, with the full name of
    each one's place.
    """
    lines = [
        f"  {place}: {row.status}, {row.n_boards} boards, {len(row.candidates)} candidates, "
        f"{len(row.children)} children, by host {row.host!r} kernels {row.kernel_hash!r}"
        for place, row in rows
    ]
    class_id, path = rows[0][1].key
    fault = "a machine or the program is at fault"
    # how much of a unit is left to its children is no matter of truth
    if any(row.status == SPLIT for _, row in rows):
        fault += (
            ", or it was split sooner in one of them: by another budget ([search] of the config), "
            "or because workers were idle"
        )
    return (
        f"class {class_id} path {path!r} has different verdicts; {fault}:\n"
        + "\n".join(lines)
        + f"\n{remedy}"
    )


def raise_conflicts(conflicts: dict[Key, str]) -> None:
    """Stop when stored rows contradict each other; raises ConflictError with the first few
    messages.
    """
    if conflicts:
        more = ""
        if len(conflicts) > 3:
            more = f"\n... and {len(conflicts) - 3} more units"
        first = list(conflicts.values())[:3]
        raise ConflictError("\n".join(first) + more)
