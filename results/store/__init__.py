"""What a run holds: rows, in Parquet parts that a manifest lists, read back with checksums.

    Store.open -> append -> flush   store.py         the one writer
    open_run -> Run                 run.py           the reader of everything; its Index: which
                                    units are done
      Row, SCHEMA, check_table      rows.py          the row, and what every row must obey
      read_manifest, read_parts     parts.py
      read_model, Fingerprint       documents.py     sealed JSON; what a run was asked

Uses ``storage``.
"""
