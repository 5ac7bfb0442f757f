"""results: what a run leaves behind, so that it can be resumed, queried and believed.

    reading/      for people: boards, SQL, the report
    upkeep/       what changes a run as a whole: repair, extend, derive, merge
    proof/        coverage, rescoring, claim, verify, certificates and their checker
    store/        rows in Parquet parts: the one writer, the reader, the row
    log.py        the event log; log_events.py: the events
    storage/      a directory or an object store; the lock
    errors.py
    published/    complete runs that come with the program

Each uses only what stands below it (tests/test_house.py).  The only folder that imports pyarrow and
duckdb.  ``__init__.pyi`` lists the names that the package exports; each loads its module when it
is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
