"""Where the verdicts of a run stand: for each unit the number of a part that has it.

>>> places = Places(np.array([3, 5]), np.array([1, 2], np.int32))
>>> places[5, ""], (4, "") in places
(2, False)
>>> places.noted[4, ""] = 3
>>> places.gather([(4, "")], 3)
>>> places[4, ""], places.noted
(3, {})
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from orderly_boggle.boardclass.arrays import Int32s, Int64s
from orderly_boggle.results.store.rows import Key

BUFFERED = 0  # in place of a part number, for rows not yet in a part


class Places(Mapping[Key, int]):
    """The number of the first part with a verdict of each unit, or BUFFERED.

    A large run has millions of classes that were settled at once: they stand in arrays, and
    whatever is noted one by one in a dict, until :meth:`gather`.

    ids : int64[n], ascending, each once
    numbers : int32[n], their parts
    """

    def __init__(self, ids: Int64s, numbers: Int32s) -> None:
        self._ids = ids
        self._numbers = numbers
        self.noted: dict[Key, int] = {}

    def __getitem__(self, key: Key) -> int:
        class_id, path = key
        place = int(self._ids.searchsorted(class_id))
        if path or place == len(self._ids) or self._ids[place] != class_id:
            return self.noted[key]
        return int(self._numbers[place])

    def __len__(self) -> int:
        return len(self._ids) + len(self.noted)

    def __iter__(self) -> Iterator[Key]:
        yield from ((class_id, "") for class_id in self._ids.tolist())
        yield from self.noted

    def gather(self, keys: Iterable[Key], number: int) -> None:
        """Move the classes among the units of a new part from the dict, where they take some 300
        bytes each, to the arrays, where they take 12.
        """
        noted = set()
        for key in keys:
            class_id, path = key
            if not path and self.noted.get(key) == number:
                noted.add(class_id)
        ids = sorted(noted)
        for class_id in ids:
            del self.noted[class_id, ""]
        places = self._ids.searchsorted(ids)
        self._ids = np.insert(self._ids, places, ids)
        self._numbers = np.insert(self._numbers, places, number)

    def class_ids(self) -> Int64s:
        """Return the classes with a verdict of their own, ascending."""
        whole_classes = [class_id for class_id, path in self.noted if not path]
        noted = np.array(whole_classes, np.int64)
        return np.sort(np.append(self._ids, noted))

    def parts(self) -> set[Key]:
        """Return the parts of classes with a verdict."""
        return {key for key in self.noted if key[1]}
