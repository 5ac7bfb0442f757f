"""results: what a run leaves behind, so that it can be resumed, queried and believed.

    Store.open -> append -> flush          store.py     the one writer; index.py knows what is done
      storage.py, files.py, lock.py        atomic publishing, names, one driver per run
      parts.py, documents.py, schema.py    Parquet parts and manifest, sealed JSON, the row
    open_run -> Run                        run.py       everything read back with checksums
      check_coverage                       coverage.py  is every board in exactly one unit with a verdict?
      rescore                              rescore.py   exact scores, canonical boards
      write_claim, result_digest           claim.py     the sentence
      verify                               verify.py    all of it from the files, scored twice over, then the claim
      write_certificates                   certificates.py  shapes of the search, one row per class or part
    audit -> record_audit                  audit.py, audits.py  the checker, imports nothing of ours; what it found
      boards, top, summary                 query.py     for people
      connect -> Database.query            sql.py       SQL over runs, sealed off from files
      render                               report.py    one HTML page; charts.py, templates/

The only folder that imports pyarrow and duckdb.
"""
