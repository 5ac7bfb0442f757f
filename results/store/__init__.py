"""What a run holds: rows, in Parquet parts that a manifest lists, read back with checksums.

    Store.open -> append -> flush   store.py         the one writer
    open_run -> Run                 run.py           the reader of everything
      Row, SCHEMA                   schema.py        the row
      check_table                   rules.py         what every row must obey
      Index                         index.py         which units are done
      read_manifest, read_parts     parts.py
      read_document                 documents.py     sealed JSON; info.py checks what run.json tells
      Fingerprint                   fingerprint.py   what a run was asked

Uses ``storage``.
"""
