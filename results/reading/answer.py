"""The answer to a question in SQL: rows of plain values, which turn into Arrow and pandas and draw themselves."""

from __future__ import annotations

import importlib.util
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from boardclass.distribution import install
from boardclass.errors import InputError
from boardclass.printable import counted
from boardclass.tables import html_table

_DRAWN = 60  # rows in a notebook
_WHOLE: tuple[Any, ...] = (pa.int64(), pa.decimal128(38), pa.decimal256(39))  # the first that holds all values
_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_WANTED = {name: _WHOLE for sign in ("", "U") for name in (f"{sign}{kind}" for kind in _SIGNED)}
_WANTED |= {"BOOLEAN": (pa.bool_(),), "VARCHAR": (pa.string(),)}
_REAL = ("FLOAT", "DOUBLE", "DECIMAL")


@dataclass(frozen=True)
class Answer:
    """The answer to a query.

    Attributes
    ----------
    columns : tuple of str
        All different.
    rows : list of tuples
        Plain values: numbers, texts, booleans, None, lists, dicts.
    kinds : tuple of str
        The SQL type of each column.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    kinds: tuple[str, ...] = field(repr=False)

    def to_arrow(self) -> pa.Table:
        """Return the answer as an Arrow table.

        Whole numbers become int64, or decimals where one does not fit; other numbers float64; lists and structs become
        what Arrow makes of them, and everything else text.
        """
        values = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        arrays = [_array(kind, list(column)) for kind, column in zip(self.kinds, values, strict=True)]
        return pa.Table.from_arrays(arrays, names=list(self.columns))

    def to_pandas(self) -> Any:
        """Return the answer as a data frame of pandas.

        Raises
        ------
        InputError
            When pandas is not installed.
        """
        if importlib.util.find_spec("pandas") is None:
            raise InputError(f"a data frame needs pandas: {install('notebook')}; to_arrow() does without")
        return self.to_arrow().to_pandas()

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        rows = counted(len(self.rows), "row")
        title = rows if len(self.rows) <= _DRAWN else f"the first {_DRAWN} of {rows}"
        return html_table(title, self.columns, self.rows[:_DRAWN])


def _array(kind: str, values: list[Any]) -> pa.Array:
    if kind.startswith(_REAL):  # what is not finite is a text in an answer
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    for wanted in _WANTED.get(kind, (None, *_WHOLE)):
        with suppress(pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return pa.array(values, wanted)
    return pa.array([None if value is None else str(value) for value in values], pa.string())
