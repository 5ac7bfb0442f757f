"""results: what a run leaves behind, so that it can be resumed, queried and believed.

    Store.open -> append -> flush          store.py     the one writer; index.py knows what is done
      storage.py, files.py, lock.py        atomic publishing, names, one driver per run
      parts.py, documents.py, schema.py    Parquet parts and manifest, sealed JSON, the row
    open_run -> Run                        run.py       everything read back with checksums
      check_coverage                       coverage.py  is every board in exactly one unit with a verdict?
      rescore                              rescore.py   exact scores, canonical boards
      write_claim, result_digest           claim.py     the sentence
      boards, top, summary                 query.py     for people

The only folder that imports pyarrow and duckdb.
"""
