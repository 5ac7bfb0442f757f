"""Writes some rows of the run of :mod:`tests.results.helpers`: ``python -m tests.results.writer RUN
CLASS ...``.  Says "stored", and ends when its standard input does.
"""

from __future__ import annotations

import sys

from orderly_boggle.boardclass.errors import StoreError
from orderly_boggle.results.store.store import Store
from tests.results.helpers import row, toy_question

if __name__ == "__main__":
    location, *class_ids = sys.argv[1:]
    try:
        with Store.open(location, toy_question()) as store:
            for class_id in map(int, class_ids):
                store.append([row(class_id)])
                store.flush()
            sys.stdout.write("stored\n")
            sys.stdout.flush()
            sys.stdin.read()
    except StoreError as error:
        sys.exit(str(error))
