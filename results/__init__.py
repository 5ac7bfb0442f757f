"""results: what a run leaves behind, so that it can be resumed, queried and believed.

    reading/      for people: boards, SQL, the report
    upkeep/       what changes a run as a whole: repair, extend, merge
    proof/        coverage, rescoring, claim, verify, certificates and their checker
    store/        rows in Parquet parts: the one writer, the reader, the row
    log/          the event log
    storage/      a directory or an object store; the lock
    errors.py
    published/    complete runs that come with the program

Each uses only what stands below it (tests/test_house.py).  The only folder that imports pyarrow and
duckdb.  The names below load their module when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from results.proof.prove import boards, summary, top
    from results.reading.sql import connect
    from results.store.rows import Row
    from results.store.run import Run, open_run

__all__ = ["Row", "Run", "boards", "connect", "open_run", "summary", "top"]

_HOMES = {
    "Row": "store.rows",
    "Run": "store.run",
    "boards": "proof.prove",
    "connect": "reading.sql",
    "open_run": "store.run",
    "summary": "proof.prove",
    "top": "proof.prove",
}


def __getattr__(name: str) -> Any:
    """Load the module of a name.  This is not boardclass.lazy, because results.proof.audit loads no
    other module of ours.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
