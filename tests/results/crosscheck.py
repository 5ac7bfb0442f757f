"""The boards of a run in a directory found a second way: from the part files that its manifest
lists, by DuckDB alone.

It shares only the bytes and the table of symmetries with the program: which parts count, which rows
list candidates, what is repeated, and which image is canonical is all decided here in SQL.
"""

from __future__ import annotations

import json

import duckdb

from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.results.proof.summary import BoardList, ListedBoard
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.run import Run

_BOARDS = """
    WITH found AS (SELECT class_id, path, unnest(candidates) AS c FROM read_parquet(?)),
    turned AS (SELECT DISTINCT score, [{images}] AS images
        FROM (SELECT c.board AS board, c.score AS score FROM found))
    SELECT list_min(images) AS board, score, len(list_distinct(images)) AS n_images,
        (SELECT count(*) FROM (SELECT DISTINCT class_id, path, c.board, c.score FROM found))
    FROM turned GROUP BY ALL ORDER BY score DESC, board
"""


def boards_by_sql(run: Run) -> BoardList:
    """Return the boards that the part files of a run list."""
    dropped = {}
    for line in run.folder.read_lines(files.MANIFEST)[0]:
        values = json.loads(line)
        dropped[values["name"]] = values["dropped"]
    parts = [run.folder.where(name) for name, is_dropped in dropped.items() if not is_dropped]
    symmetries = geometry(run.question.dims).symmetries.tolist()
    images = ", ".join(" || ".join(f"board[{cell + 1}]" for cell in row) for row in symmetries)
    with duckdb.connect(":memory:") as connection:
        rows = connection.execute(_BOARDS.format(images=images), [parts]).fetchall()
    return BoardList.of([ListedBoard(*row[:3]) for row in rows], rows[0][3] if rows else 0)
