"""Which units of a run have a verdict, and in which part it stands.

Loaded rows are kept in arrays, rows that came since in dictionaries: a store with a million rows must open in seconds,
so no Python object is made per loaded class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from results.store.schema import QUARANTINED, SPLIT, VERDICTS, Row, scalar

Key = tuple[int, str]
INDEX_COLUMNS = ("fingerprint", "class_id", "path", "status", "children", "candidates", "host")
_VERDICTS = pa.array(VERDICTS)
BUFFERED = 0  # in place of a part number, for rows not yet in a part


class Index:
    """Keys with a verdict, by part number.

    Attributes
    ----------
    splits : dict
        Children's paths of every unit that was split.
    quarantined : set
        Units that failed too often and have no verdict.
    doubted_hosts : set
        Hosts that quarantined rows name: replicas contradicted them.
    repeated : dict
        Keys with a verdict in more than one row, with the numbers of their parts.
    with_candidates : set
        Numbers of the loaded parts that list candidates.
    n_loaded : Counter
        Loaded rows by status.
    class_ids : int64[n]
        Classes that loaded rows of any status are about, ascending.
    """

    def __init__(self) -> None:
        self._ids: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._numbers: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._roots: dict[int, int] = {}
        self._units: dict[Key, int] = {}
        self._loading: list[tuple[npt.NDArray[np.int64], int]] = []
        self.splits: dict[Key, tuple[str, ...]] = {}
        self.quarantined: set[Key] = set()
        self.doubted_hosts: set[str] = set()
        self.repeated: dict[Key, set[int]] = {}
        self.with_candidates: set[int] = set()
        self.n_loaded: Counter[str] = Counter()
        self.class_ids: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._loading_ids: list[npt.NDArray[np.int64]] = []

    def load(self, table: pa.Table, number: int) -> None:
        """Take in the rows of part ``number`` (:data:`INDEX_COLUMNS`); :meth:`seal` follows after the last."""
        for item in pc.value_counts(table.column("status")).to_pylist():
            self.n_loaded[item["values"]] += item["counts"]
        if pc.any(pc.greater(pc.list_value_length(table.column("candidates")), scalar(0))).as_py():
            self.with_candidates.add(number)
        self._loading_ids.append(pc.unique(table.column("class_id")).to_numpy())
        verdict = table.filter(pc.is_in(table.column("status"), _VERDICTS))
        is_root = pc.equal(verdict.column("path"), scalar(""))
        self._loading.append((verdict.column("class_id").filter(is_root).to_numpy(), number))
        for key in keys_of(verdict.filter(pc.invert(is_root))):
            if key in self._units:
                self.repeated.setdefault(key, {self._units[key]}).add(number)
            else:
                self._units[key] = number
        split = verdict.filter(pc.equal(verdict.column("status"), scalar(SPLIT)))
        for key, children in zip(keys_of(split), split.column("children").to_pylist(), strict=True):
            self.splits[key] = tuple(children)
        given_up = table.filter(pc.equal(table.column("status"), scalar(QUARANTINED)))
        self.quarantined.update(keys_of(given_up))
        self.doubted_hosts.update(pc.unique(given_up.column("host")).to_pylist())
        self.doubted_hosts.discard("")

    def seal(self) -> None:
        """Sort what was loaded and note which keys came more than once."""
        if self._loading:
            ids = np.concatenate([part_ids for part_ids, _ in self._loading])
            numbers = np.concatenate([np.full(len(part_ids), number, np.int64) for part_ids, number in self._loading])
            order = np.argsort(ids, kind="stable")
            ids, numbers = ids[order], numbers[order]
            first = np.ones(len(ids), np.bool_)
            first[1:] = ids[1:] != ids[:-1]
            again = np.unique(ids[~first])
            for class_id in again.tolist():
                low, high = np.searchsorted(ids, [class_id, class_id + 1])
                self.repeated[class_id, ""] = set(numbers[low:high].tolist())
            self._ids, self._numbers, self._loading = ids[first], numbers[first], []
        self.class_ids = np.unique(np.concatenate([self.class_ids, *self._loading_ids]))
        self._loading_ids = []
        self.quarantined = {key for key in self.quarantined if self.find(key) is None}

    def find(self, key: Key) -> int | None:
        """Return the number of the part with the verdict of ``key``, BUFFERED, or None."""
        class_id, path = key
        if path:
            return self._units.get(key)
        if class_id in self._roots:
            return self._roots[class_id]
        place = int(np.searchsorted(self._ids, class_id))
        return int(self._numbers[place]) if place < len(self._ids) and self._ids[place] == class_id else None

    def add(self, row: Row, number: int = BUFFERED) -> None:
        """Note a row that was appended."""
        if row.is_verdict:
            self.place(row.key, number)
            self.quarantined.discard(row.key)
            if row.status == SPLIT:
                self.splits[row.key] = row.children
        elif row.status == QUARANTINED:
            self.doubted_hosts |= {row.host} - {""}
            if self.find(row.key) is None:
                self.quarantined.add(row.key)

    def place(self, key: Key, number: int) -> None:
        """Note that a verdict of ``key`` now stands in part ``number``."""
        class_id, path = key
        before = self.find(key)
        if before not in (None, BUFFERED, number):
            self.repeated.setdefault(key, {before}).add(number)
        elif path:
            self._units[key] = number
        else:
            self._roots[class_id] = number

    def parts_of(self, key: Key) -> set[int]:
        """Return the numbers of all parts with a verdict of ``key``; empty when there is none."""
        number = self.find(key)
        return self.repeated.get(key, set() if number in (None, BUFFERED) else {number})

    def done_ids(self) -> npt.NDArray[np.int64]:
        """Return the sorted ids of the classes whose root unit has a verdict (a split one included)."""
        new = np.fromiter(self._roots, np.int64, len(self._roots))
        return np.union1d(self._ids, new) if len(new) else self._ids.copy()

    def done_paths(self) -> set[Key]:
        """Return the units below a root that have a verdict."""
        return set(self._units)

    def done(self) -> set[Key]:
        """Return every unit with a verdict, one Python tuple each: for small runs and tests."""
        return {(class_id, "") for class_id in self.done_ids().tolist()} | self.done_paths()

    def orphans(self) -> set[Key]:
        """Return the units with a verdict that no stored split leads to, because the row of the split is lost."""
        listed = {(class_id, child) for (class_id, _), children in self.splits.items() for child in children}
        return self._units.keys() - listed

    def pending(self) -> Iterator[Key]:
        """Yield the children of split units that have no verdict yet, in a fixed order."""
        for class_id, path in sorted(self.splits):
            for child in self.splits[class_id, path]:
                if (class_id, child) not in self._units:
                    yield class_id, child


def keys_of(table: pa.Table) -> list[Key]:
    """Return class id and path of each row."""
    return list(zip(table.column("class_id").to_pylist(), table.column("path").to_pylist(), strict=True))
