"""The boards of a run found a second way: from the Parquet files that the manifest lists, by DuckDB alone.

It shares only the bytes and the table of symmetries with :func:`results.proof.rescore.scored_again`: which parts count,
which rows list candidates, what is repeated, and which image is canonical is all decided here in SQL.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import duckdb

from boardclass.errors import MismatchError
from boardclass.geometry import geometry
from results.errors import DamagedError
from results.proof.rescore import Board, BoardList
from results.storage import files
from results.store.run import Run

_SETTINGS = {"threads": 2, "autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
_FOUND = """
    CREATE TABLE found (class_id BIGINT, path VARCHAR, board VARCHAR, score BIGINT)
"""
_TAKE = """
    INSERT INTO found SELECT class_id, path, candidate.board, candidate.score
    FROM (SELECT class_id, path, unnest(candidates) AS candidate FROM read_parquet(?))
"""
_BOARDS = """
    WITH turned AS (SELECT DISTINCT score, [{images}] AS images FROM found)
    SELECT DISTINCT list_min(images) AS board, score, len(list_distinct(images)) AS n_images
    FROM turned ORDER BY score DESC, board
"""
_COUNT = "SELECT count(*) FROM (SELECT DISTINCT class_id, path, board, score FROM found)"


def boards_by_sql(run: Run) -> BoardList:
    """Return the boards that the part files of a run list.

    Raises
    ------
    DamagedError
        When DuckDB cannot read a part.
    """
    shape = geometry(run.fingerprint.dims)
    images = (" || ".join(f"board[{cell + 1}]" for cell in row) for row in shape.symmetries.tolist())
    connection = duckdb.connect(":memory:", config=_SETTINGS)
    try:
        connection.execute(_FOUND)
        for name in _listed_parts(run):
            _take(run, name, connection)
        rows = connection.execute(_BOARDS.format(images=", ".join(images))).fetchall()
        (n_candidates,) = connection.execute(_COUNT).fetchall()[0]
    finally:
        connection.close()
    return BoardList(tuple(Board(*row) for row in rows), n_candidates)


def require_same(run: Run, listed: BoardList) -> None:
    """Compare a list of boards with :func:`boards_by_sql`.

    Raises
    ------
    MismatchError
        Naming what only one of the two has.
    """
    again = boards_by_sql(run)
    if listed == again:
        return
    first, second = set(listed.boards), set(again.boards)
    lone = [f"only SQL finds {item.board} with {item.score:,} points" for item in sorted(second - first)[:1]]
    lone += [f"SQL does not find {item.board} with {item.score:,} points" for item in sorted(first - second)[:1]]
    counts = f"{listed.n_candidates:,} candidates make {listed.n_canonical:,} boards"
    counts += f", in SQL {again.n_candidates:,} make {again.n_canonical:,}"
    raise MismatchError(
        f"two ways to read {run.folder.where(files.RESULTS)} find different boards: {'; '.join((*lone, counts))}; "
        "the program is at fault: do not believe this run"
    )


def _listed_parts(run: Run) -> list[str]:
    """Return the parts that count: those that the last line about them, as the manifest was then, does not drop."""
    dropped: dict[str, bool] = {}
    n_bytes = 0
    for line in run.folder.read_lines(files.MANIFEST)[0]:
        n_bytes += len(line.encode()) + 1
        if n_bytes <= run.manifest.n_bytes:  # a driver may go on writing meanwhile
            values = json.loads(line)
            dropped[values["name"]] = values["dropped"]
    return [name for name, is_dropped in dropped.items() if not is_dropped]


def _take(run: Run, name: str, connection: duckdb.DuckDBPyConnection) -> None:
    """Add the candidates of one part, from a private copy of the bytes that a reader of the run gets."""
    where = run.folder.where(name)
    data = run.folder.read(name)
    if data is None:
        raise DamagedError(f"{where} is listed but missing; restore it from a copy")
    with tempfile.TemporaryDirectory(prefix="orderly-") as folder:
        copy = Path(folder) / "part.parquet"
        copy.write_bytes(data)
        try:
            connection.execute(_TAKE, [str(copy)])
        except duckdb.Error as error:
            raise DamagedError(f"{where}: DuckDB cannot read it: {error}; restore it from a copy") from error
