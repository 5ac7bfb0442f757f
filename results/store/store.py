"""The writer of a run: one driver appends rows, and whatever is acknowledged survives a kill.

    Store.open -> lock, run.json (created or compared), manifest, index, conflicts, leftovers
    append     -> check rows, leave out repetitions, buffer; flush when due
    flush      -> part file published, then its manifest line: a reader sees both or neither;
                  now and then the last parts are put together (compaction.py)

A row buffered is not yet acknowledged: a kill loses at most ``FLUSH_SECONDS`` of work, in an object
store ``STORE_FLUSH_SECONDS``, or ``FLUSH_ROWS`` rows; of a large run one row in ``PARTS``.

>>> rows_of_next_part(1_000_000)
10000
"""

from __future__ import annotations

import contextlib
import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from orderly_boggle.boardclass.errors import OrderlyError, StoreError
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.results.errors import (
    ConflictError,
    DamagedError,
    StoreLockedError,
    UnreachableError,
)
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import Folder, LocalFolder
from orderly_boggle.results.storage.lock import Lease, Pace, Wait, take_lock
from orderly_boggle.results.storage.outage import OutageNews, in_haste
from orderly_boggle.results.store.compaction import MANY, Whole, due, fitting, gather, keep
from orderly_boggle.results.store.identity import (
    Identity,
    Place,
    check_identity,
    format_identity,
    open_place,
    read_identity,
)
from orderly_boggle.results.store.made import Made
from orderly_boggle.results.store.parts import (
    Part,
    describe,
    holding,
    read_manifest,
    remove_leftovers,
    serialised,
)
from orderly_boggle.results.store.rows import (
    QUARANTINED,
    Checked,
    Key,
    Row,
    checked,
    keys_of,
    one_by_one,
    row_of,
    verdicts_of,
)
from orderly_boggle.results.store.run import Index, Run, describe_conflict, raise_conflicts
from orderly_boggle.search.question import Question

FLUSH_ROWS = 2000
FLUSH_SECONDS = 30.0
STORE_FLUSH_SECONDS = 60.0  # in an object store, where each part costs some requests
LOOK_S = 30.0  # between two looks at what must not go missing
PARTS = 100
_AGAIN = re.compile(r"(.*?)(?: \(([0-9]{1,9})\))?", re.DOTALL)

NOT_LISTED = (
    f"no line of {files.MANIFEST} lists it: a driver was killed while it stored it, or the last "
    "line was lost"
)


class RepairResult(NamedTuple):
    """What a repair, or opening alone, took out or rewrote."""

    # names of parts whose rows are to be computed again, and what was wrong with each
    parts: dict[str, str]
    others: dict[str, str]  # other files likewise


class _Begun(NamedTuple):
    """A part that is to be stored."""

    part: Part
    table: pa.Table
    data: bytes


# the bytes: a run.json to put in the place of one that is lost
Recover = Callable[[Folder, Question, bytes], RepairResult]


class Store:
    """An open run directory; made by :meth:`open`, closed by :meth:`close` or a ``with`` block.

    Attributes
    ----------
    run : Run
        What was on disk when the store was opened.
    index : Index
        What is done: loaded rows and those appended since.
    repaired : RepairResult
        What was damaged and was taken off the manifest, removed or rewritten on opening; also the
        part that the manifest did not list yet.
    last_part : (str, int)
        Name and number of rows of the last part that this store wrote; an empty name before the
        first.
    """

    def __init__(
        self,
        run: Run,
        lock: Lease,
        repaired: RepairResult,
        clock: Callable[[], float],
    ):
        self.run = run
        self.index: Index = run.index
        self.repaired = repaired
        self.last_part = ("", 0)
        self.lock = lock
        self._clock = clock
        self._folder = run.folder
        self._is_directory = isinstance(run.folder, LocalFolder)
        self._every_s = FLUSH_SECONDS if self._is_directory else STORE_FLUSH_SECONDS
        self._n_bytes = run.manifest.n_bytes
        self._last_number = run.manifest.last_number
        self._parts = list(run.manifest.parts)
        self._begun: _Begun | None = None
        # a part that is to replace the last ones, while the manifest does not list it yet
        self._whole: Whole | None = None
        self._at_hand: dict[str, bytes] = {}  # by name, small parts of this store
        # what failed once would otherwise be tried again with each part
        self._compact_from = 0  # no attempt before there is a part of this number
        self._news = OutageNews()
        self._looked_at = clock()
        self._tables: list[pa.Table] = []
        self._n_buffered = 0  # rows of these
        self._buffered: dict[Key, list[Row]] = {}
        self._flushed_at = clock()
        self._closed = False

    @classmethod
    def open(
        cls,
        location: str | Path | Place,
        question: Question,
        made: Made | None = None,
        *,
        recover: Recover | None = None,
        clock: Callable[[], float] = time.monotonic,
        pace: Pace | None = None,
        wait: Wait | None = None,
    ) -> Store:
        """Create a run in a directory or object store, or go on with the one that is there.

        ``made`` is recorded in the ``run.json`` of a new run.  ``recover``
        (``results.upkeep.repair``) takes out what is damaged before anything is read.  ``clock``
        gives monotonic seconds; ``pace`` is that of the claim on the run.  ``wait`` is told of a
        claim that is waited for (``take_lock``).

        Raises FingerprintError when the run there answers another question; StoreLockedError when
        another driver writes to it; DamagedError, ConflictError, StoreError when it is damaged,
        contradicts itself, or is not a run.
        """
        made = made or Made()
        document = format_identity(question, made)
        # whoever planned the run has opened it already: it is not read twice
        if isinstance(location, Place):
            place = location
        else:
            place = open_place(location)
        folder = place.folder
        try:
            # before the lock: whoever names the wrong folder is refused at once and changes nothing
            check_identity(place, question)
        except DamagedError:
            if recover is None:
                raise
        # everything below may write
        lock = take_lock(folder, pace, wait)
        try:
            if recover:
                # the rows that are there may come from a run that promised nothing of its bounds
                unpromised = format_identity(question, replace(made, covers=""))
                repaired = recover(folder, question, unpromised)
            else:
                repaired = RepairResult({}, {})
            # what was there before the lock was taken may have changed
            identity = read_identity(folder)
            if not check_identity(Place(folder, identity), question):
                folder.publish(files.RUN, document)
            # an older run is described by what it stored, not by what this driver was given
            stored = identity or Identity(question, made)
            run = Run(folder, stored.question, stored.made, read_manifest(folder))
            # before the first part: a manifest that is missing beside parts was lost
            if isinstance(folder, LocalFolder) and not folder.has(files.MANIFEST):
                folder.publish(files.MANIFEST, b"")
            # reads every part that is listed
            raise_conflicts(run.conflicts)
            # only now: whoever left them may have been writing until the lock was free, and beside
            # an older manifest, of a copy, what is not listed has the only rows that there are
            for name in remove_leftovers(folder, run.manifest):
                repaired.parts[name] = NOT_LISTED
            store = cls(run, lock, repaired, clock)
        # Ctrl-C included: a lock that stays would keep the next driver waiting
        except BaseException:
            lock.release()
            raise
        return store

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def question(self) -> Question:
        """What the run is asked."""
        return self.run.question

    def append(self, rows: Iterable[Row | Checked], *, copied: bool = False) -> None:
        """Take rows in, those that were not checked yet are; flush when enough have come or enough
        time has passed.

        A verdict that is not in doubt is not stored again.  A host that was contradicted goes on
        under another name, such as ``box (2)``: its contradiction is not about what it finds from
        now on.  Rows of another run (``copied``) keep the names of their hosts, and a verdict is
        stored for each host.

        Raises RowError when a row breaks the schema; none of ``rows`` is taken; ConflictError when
        a row contradicts a stored verdict.  It is stored as evidence: the run stops until that is
        resolved; StoreError when the disk refuses; the rows stay buffered and a later flush tries
        again.
        """
        self._check_open()
        self._look_after_document()
        # rows that came in one batch are judged one by one: one repetition does not spoil the
        # others
        offered = one_by_one(rows)
        if not copied:
            offered = self._named(offered)
        new, conflict = self._sort_out(self._checked(offered), copied)
        if new:
            self._tables.append(new)
            self._n_buffered += new.num_rows
        # the evidence has to be on disk before anybody hears of it, and apart from other parts:
        # whoever finds it wrong moves its part away
        if conflict:
            self._compact_from = sys.maxsize
            self.flush()
            raise ConflictError(conflict)
        self.flush_if_due()

    def _named(self, offered: Sequence[Row | Checked]) -> list[Row | Checked]:
        """Return rows with the names under which their hosts go on; one that gets another name is
        to be checked again.
        """
        doubted = set(self.index.doubted_hosts)
        named = list[Row | Checked]()
        for item in offered:
            row = row_of(item)
            host = row.host
            while host in doubted:
                host = _next_name(host)
            # within one batch as well: rows after the contradiction get the new name
            if host and row.status == QUARANTINED:
                doubted.add(host)
            if host == row.host:
                named.append(item)
            else:
                named.append(replace(row, host=host))
        return named

    def _checked(self, offered: Sequence[Row | Checked]) -> list[tuple[Row, pa.Table]]:
        """Return each row with its table; those are checked that were not, or not for this run."""
        digest = self.question.digest
        ready: list[tuple[Row, pa.Table] | None] = []
        new: list[Row] = []
        for item in offered:
            row = row_of(item)
            # a worker checks its rows; that they belong to this run only the store can say
            if isinstance(item, Checked) and row.fingerprint == digest:
                ready.append((row, item.table))
            else:
                ready.append(None)
                new.append(row)
        if not new:
            return [pair for pair in ready if pair]
        # all at once: most of what a check costs does not depend on the number of rows
        rest = checked(new, self.question, "row offered to the store").each()
        pairs = []
        for pair in ready:
            if pair is None:
                one = next(rest)
                pairs.append((row_of(one), one.table))
            else:
                pairs.append(pair)
        return pairs

    def _sort_out(
        self, rows: Sequence[tuple[Row, pa.Table]], copied: bool
    ) -> tuple[pa.Table | None, str]:
        """Return the table of the rows that are not repetitions, and what to say of the first
        conflict.
        """
        # the index says which units may be stored; for all others no part is read
        places = self.index.places
        maybe = {row.key for row, _ in rows if row.is_verdict and row.key in places}
        stored = self._stored(maybe)
        new: list[pa.Table] = []
        conflict = ""
        doubted = self.index.doubted_hosts
        for row, table in rows:
            if row.is_verdict:
                known = stored.setdefault(row.key, [])
            else:
                known = []
            # order and circumstances may differ, the verdict may not
            differing = [item for item in known if item[1].verdict != row.verdict]
            hosts = {other.host for _, other in known}
            if copied:
                is_stored = row.host in hosts
            else:
                is_stored = bool(hosts - doubted)
            if not differing and is_stored:
                continue
            new.append(table)
            if differing:
                # the row is stored all the same: it is the evidence
                conflict = conflict or describe_conflict([differing[0], ("new row", row)])
            # only the first verdict opens children or settles a class; others confirm it
            elif not known:
                self.index.add(row.key, row.status, row.children, row.host)
            if row.is_verdict:
                self._buffered.setdefault(row.key, []).append(row)
                known.append(("buffered row", row))
        if new:
            return pa.concat_tables(new), conflict
        return None, conflict

    def _stored(self, keys: set[Key]) -> dict[Key, list[tuple[str, Row]]]:
        """Return the rows with verdicts on some units, each with where it stands; each part is read
        once.
        """
        stored = {}
        for key in keys:
            stored[key] = [("buffered row", row) for row in self._buffered.get(key, ())]
        numbers = set[int]()
        in_parts = set[Key]()
        for key in keys:
            found = self.index.parts_of(key)
            if found:
                numbers |= found
                in_parts.add(key)
        for name, row in self.run.rows_on(in_parts, holding(self._parts, numbers)):
            stored[row.key].append((name, row))
        return stored

    def flush_if_due(self) -> bool:
        """Flush when enough rows have gathered, or long enough; the driver's loop calls this even
        when nothing arrives.
        """
        # time counts from the first row that waits
        if not self._n_buffered:
            self._flushed_at = self._clock()
            return False
        many = rows_of_next_part(len(self.index.places))
        # of a large run more rows gather: each part costs every later reader some 5 ms
        if self._n_buffered < many and self._clock() - self._flushed_at < self._every_s:
            return False
        return self._flush_in_haste()

    def _look_after_document(self) -> None:
        """Put ``run.json`` back when it is gone; what purges old files from a disk takes it first.

        A store is asked in the end only: requests cost money, and nothing goes there by itself.
        """
        if self._is_directory:
            every_s = LOOK_S
        else:
            every_s = math.inf
        if self._clock() - self._looked_at < every_s:
            return
        self._looked_at = self._clock()
        try:
            with in_haste():
                if not self._folder.has(files.RUN):
                    self.lock.require()
                    document = format_identity(self.question, self.run.made)
                    self._folder.publish(files.RUN, document)
                    self._folder.patience.tell(
                        f"{self._folder.where(files.RUN)} was removed during the run: it was put "
                        "back; see to it that nothing else of the run is removed"
                    )
        except UnreachableError:  # an outage is told of where the rows are flushed
            return

    def _flush_in_haste(self) -> bool:
        """Flush; while the place does not answer, keep the rows and return False at once.

        Raises UnreachableError when it has not answered for longer than the patience that it is
        worth.
        """
        outage = self._folder.outage
        patience = self._folder.patience
        # workers must not wait for a disk that is known not to answer
        if outage.is_pausing:
            return False
        try:
            with in_haste():
                self.flush()
        except UnreachableError as error:
            if not outage.is_pausing:
                outage.failed()
            # rows in memory are lost if the driver dies, so they do not wait for ever
            if outage.lasts_s >= patience.limit_s:
                raise
            keeps = f"; {counted(self._n_buffered, 'row')} and what is found meanwhile are kept"
            self._news.fails(outage, patience, error, keeps)
            return False
        outage.answered()  # of a directory nobody else notes it: the next outage is one of its own
        self._news.answers(patience, self._folder.where(""))
        return True

    def flush(self) -> None:
        """Publish what is buffered; once this returns, a kill or a power cut does not lose it.

        Raises StoreError when the disk refuses.  The rows stay buffered, readers still see the old
        state.
        """
        self._check_open()
        # a part whose fate is unknown goes first, under the same name and with the same bytes
        if self._begun:
            self._publish(self._begun)
        if self._tables:
            # the tables shrink with each part that counts: a failure leaves what is not stored
            whole = pa.concat_tables(self._tables)
            for table, data in serialised(whole.combine_chunks()):
                name = files.part_name(files.RESULTS, self._last_number + 1)
                class_ids = table.column("class_id").to_pylist()
                part = describe(name, data, class_ids)
                self._begun = _Begun(part, table, data)
                self._publish(self._begun)
            self._buffered.clear()
        self._flushed_at = self._clock()
        if self._whole or self._last_number >= self._compact_from:
            self._compact(due(self._parts))

    def compact(self) -> None:
        """Put the last parts together, as many as fit into one; a run that ended has few then.

        What goes wrong is no reason to stop: the rows are stored already.
        """
        self.flush()
        self._compact(fitting(self._parts))

    def _compact(self, parts: Sequence[Part]) -> None:
        """Put parts together, the last ones; when it cannot be done, it is tried again later.

        Raises StoreLockedError when somebody else writes to the run.
        """
        try:
            with in_haste():
                if not self._whole and parts:
                    self._whole = gather(self._folder, parts, self._last_number, self._at_hand)
                if self._whole:
                    self._replace(self._whole)
        # combining parts can wait, but another writer must stop this one at once
        except StoreLockedError:
            raise
        except OrderlyError:
            self._compact_from = self._last_number + MANY

    def _replace(self, whole: Whole) -> None:
        """Let a stored part take the place of others in the manifest; then remove their files.

        Nothing else may be listed before this is done: of a write that failed nobody knows whether
        it arrived, or will.
        """
        self.lock.require()
        self._n_bytes = self._folder.change_lines(files.MANIFEST, whole.replaced, self.lock.require)
        self._parts[-len(whole.old) :] = [whole.part]
        self._whole = None
        self._at_hand.clear()
        with contextlib.suppress(StoreError):  # who opens the run next removes them
            for part in whole.old:
                self._folder.remove(part.name)

    def _publish(self, begun: _Begun) -> None:
        """Make the first rows that are buffered a part that counts.

        When this fails it is done again with the same part: a write of which nobody knows whether
        it arrived may still arrive later.
        """
        part, table, data = begun
        if self._whole:
            self._replace(self._whole)
        # a driver that slept and lost the run must not add to it
        self.lock.require()
        # the file before its line: a reader never meets a line whose file is missing
        self._folder.publish(part.name, data)
        self._n_bytes = self._folder.append_line(
            files.MANIFEST, part.format(), self._n_bytes, self.lock.require
        )
        self._begun = None
        if not self._is_directory:
            keep(self._at_hand, part.name, data)
        self._last_number = part.number
        self._parts.append(part)
        self.last_part = part.name, part.n_rows
        keys = keys_of(verdicts_of(table))
        for key in keys:
            self.index.place(key, part.number)
        # millions of classes: a dict of them would not fit beside the trees
        self.index.places.gather(keys, part.number)
        rest = pa.concat_tables(self._tables).slice(table.num_rows)
        if rest.num_rows:
            self._tables = [rest]
        else:
            self._tables = []
        self._n_buffered = rest.num_rows

    def close(self) -> None:
        """Flush and give the lock back, even when the flush fails."""
        if not self._closed:
            try:
                with contextlib.suppress(StoreError):  # of a directory that was taken away
                    self._looked_at = -math.inf
                    self._look_after_document()
                if self._folder.outage.lasts_s:  # the run has waited already: one last try
                    self._folder.outage.ask_now()
                    with in_haste():
                        self.flush()
                else:
                    self.flush()
            finally:
                self._closed = True
                self.lock.release()

    def snapshot(self) -> Run:
        """Flush and read the run again from disk: what verification and rescoring work on.

        Raises DamagedError when what this store wrote is not there.
        """
        self.flush()
        if self._whole:
            self._replace(self._whole)
        manifest = read_manifest(self._folder)
        # the claim is made from what is read here: it must be all that was acknowledged
        if (manifest.n_bytes, manifest.last_number) != (self._n_bytes, self._last_number):
            raise DamagedError(
                f"{self._folder.where(files.MANIFEST)} has {manifest.n_bytes:,} bytes and ends at "
                f"part {manifest.last_number:,}; {self._n_bytes:,} bytes up to part "
                f"{self._last_number:,} were written: the store does not list all that it took, "
                "or somebody else writes; nothing was concluded: run again"
            )
        return Run(self._folder, self.question, self.run.made, manifest)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self._folder.where('')} is closed: open it again to append")


def rows_of_next_part(n_rows: int) -> int:
    """Return how many rows of a run with so many gather at most before they become a part."""
    return max(FLUSH_ROWS, n_rows // PARTS)


def _next_name(host: str) -> str:
    """Return the name under which a host goes on that was contradicted."""
    parts = _AGAIN.fullmatch(host)
    assert parts  # any text fits
    name, number = parts.groups()
    return f"{name} ({int(number or 1) + 1})"
