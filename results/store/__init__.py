"""What a run holds: rows, in Parquet parts that a manifest lists, read back with checksums.

    Store.open -> append -> flush   store.py         the one writer
    open_run -> Run                 run.py           the reader of everything; its Index: which
                                    units are done
      Row, SCHEMA, check_table      rows.py          the row, and what every row must obey
      read_manifest, read_parts     parts.py
      due, gather                   compaction.py  small parts put together
      read_identity                 identity.py      run.json: the question, and how the run was
      Made                          made.py          made
                                    format_1.py      the same of older runs
      read_model                    documents.py     sealed JSON

Uses ``storage``.
"""
