"""results: what a run leaves behind, so that it can be resumed, queried and believed.

    Store.open -> append -> flush          store.py     the one writer; index.py knows what is done
      folder.py, storage.py, objects.py    where it is kept: a directory or an object store; atomic publishing
      files.py, lock.py, lease.py, owner.py   names; one driver per run
      repair.py, extend.py                 what was damaged is taken out; verdicts of another cutoff
      parts.py, documents.py, schema.py    Parquet parts and manifest, sealed JSON, the row
    open_run -> Run                        run.py       everything read back with checksums
      check_coverage                       coverage.py  is every board in exactly one unit with a verdict?
      rescore                              rescore.py   exact scores, canonical boards
      prove                                proof.py     what the rows prove; suspects.py: verdicts in doubt
      make_claim, result_digest            claim.py     the sentence, and the record of it
      verify, record                       verify.py    all of it from the files, scored twice over
        boards_by_sql                      crosscheck.py   the boards a second way
      write_certificates                   certificates.py  shapes of the search, one row per class or part
    audit -> record_audit                  audit.py, audits.py  the checker, imports nothing of ours; what it found
      boards, top, summary                 query.py     for people
      EventLog, live                       eventlog.py, live.py   what happened, and what goes on now
      connect -> Database.query            sql.py       SQL over runs, sealed off from files
      render                               report.py    one HTML page; charts.py, board_svg.py, stages.py, templates/

The only folder that imports pyarrow and duckdb.  The names below load their module when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from results.query import boards, summary, top
    from results.run import Run, open_run
    from results.schema import Row
    from results.sql import connect

__all__ = ["Row", "Run", "boards", "connect", "open_run", "summary", "top"]

_HOMES = {"boards": "query", "summary": "query", "top": "query", "Run": "run", "open_run": "run", "Row": "schema"}
_HOMES["connect"] = "sql"


def __getattr__(name: str) -> Any:
    """Load the module of a name.  Not by boardclass.lazy: the checker in results.audit is to load nothing of ours."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
