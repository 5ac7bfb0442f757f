"""The exact pass over all candidates: turns what workers found into the list of boards that a claim is about.

Workers' scores are checked, not believed; boards are made canonical only here, so the rows keep what was found.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, TypeAdapter

from boardclass.board import dims_of_length, format_rows
from boardclass.board_svg import SIZE, board_svg
from boardclass.canonical import canonical, images
from boardclass.errors import MismatchError
from boardclass.geometry import geometry
from results.errors import DamagedError
from results.storage import files
from results.storage.files import Folder
from results.store.documents import publish_document, read_model
from results.store.parts import read_single, serialise
from results.store.run import Run

_REMEDY = "run the search again with --drop-damaged, or remove rescored/manifest.json and run `orderly verify`"
_BATCH = 50_000
BOARD_SCHEMA = pa.schema(
    [
        pa.field("board", pa.string(), nullable=False),
        pa.field("score", pa.int32(), nullable=False),
        pa.field("n_images", pa.int32(), nullable=False),
    ]
)


class ScorerLike(Protocol):
    """An exact scorer."""

    def scores(self, boards: list[str]) -> Any:
        """Return int32[m]: the exact score of each board."""


class _Told(BaseModel):
    """The manifest of the list of boards."""

    model_config = ConfigDict(extra="forbid")
    name: str
    part_sha256: str
    n_candidates: int
    n_manifest_bytes: int
    fingerprint: str


class Board(NamedTuple):
    """A canonical board, its exact score and the number of its distinct symmetric images, itself included."""

    board: str
    score: int
    n_images: int

    def _repr_svg_(self) -> str:
        """Return the drawing that a notebook shows."""
        return board_svg(format_rows(self.board, dims_of_length(len(self.board))), cell_px=SIZE)


@dataclass(frozen=True)
class BoardList:
    """The boards that reach the cutoff, best first, then alphabetically.

    Attributes
    ----------
    boards : tuple of Board
    n_candidates : int
        Candidates in the rows, before symmetric ones were merged.
    """

    boards: tuple[Board, ...]
    n_candidates: int

    @property
    def n_canonical(self) -> int:
        """Boards up to symmetry."""
        return len(self.boards)

    @property
    def n_raw(self) -> int:
        """Distinct boards, every symmetric image counted."""
        return sum(board.n_images for board in self.boards)


def rescore(run: Run, scorer: ScorerLike) -> BoardList:
    """Score every candidate of a run again and store the list, see :func:`scored_again`."""
    listed = scored_again(run, scorer)
    write_rescored(run, listed)
    return listed


def scored_again(run: Run, scorer: ScorerLike) -> BoardList:
    """Score every candidate of a run again and merge symmetric ones; nothing is stored.

    Raises
    ------
    MismatchError
        When a stored score is not the board's score, or symmetric images score differently.
    """
    n_candidates, merged = 0, {}
    shape = geometry(run.fingerprint.dims)
    for batch in _batched(candidates(run)):
        boards = [board for board, _, _ in batch]
        for (board, stored, class_id), score in zip(batch, _scores(scorer, boards), strict=True):
            if score != stored:
                raise MismatchError(
                    f"class {class_id} in {run.folder.where('')}: the row says {board} scores {stored}, it scores "
                    f"{score}; a machine or the program is at fault: do not believe this run"
                )
        n_candidates += len(batch)
        merged.update({"".join(canonical(board, shape)): score for board, score, _ in batch})
    found = [Board(board, score, len(images(board, shape))) for board, score in merged.items()]
    for group in _batched(found):
        for item, score in zip(group, _scores(scorer, [item.board for item in group]), strict=True):
            if score != item.score:
                raise MismatchError(
                    f"{item.board} scores {score}, a symmetric image of it {item.score}: the scorer is at fault"
                )
    return BoardList(tuple(sorted(found, key=lambda item: (-item.score, item.board))), n_candidates)


def read_rescored(run: Run) -> BoardList | None:
    """Return the stored list of boards as it is, or None when there is none or rows were added since.

    Raises
    ------
    DamagedError
        When a file of it was altered.
    """
    told = read_model(run.folder, files.RESCORED_MANIFEST, TypeAdapter(_Told), _REMEDY)
    if told is None:
        return None
    if told.fingerprint != run.fingerprint.digest or files.part_number(told.name, files.RESCORED) is None:
        raise DamagedError(f"{run.folder.where(files.RESCORED_MANIFEST)} belongs to another run; {_REMEDY}")
    if told.n_manifest_bytes != run.manifest.n_bytes:
        return None
    table = read_single(run.folder, told.name, told.part_sha256, BOARD_SCHEMA)
    return BoardList(tuple(Board(*row.values()) for row in table.to_pylist()), told.n_candidates)


def unscored_boards(run: Run) -> BoardList:
    """Return the boards with the scores that the rows give them; nothing is stored."""
    shape = geometry(run.fingerprint.dims)
    reported = list(candidates(run))
    merged = {"".join(canonical(board, shape)): score for board, score, _ in reported}
    found = [Board(board, score, len(images(board, shape))) for board, score in merged.items()]
    return BoardList(tuple(sorted(found, key=lambda item: (-item.score, item.board))), len(reported))


def candidates(run: Run) -> Iterator[tuple[str, int, int]]:
    """Yield ``(board, stored score, class id)`` of every candidate."""
    for row in run.candidate_rows():
        for board, score in row.candidates:
            yield board, score, row.class_id


def _batched(items: Iterable[Any]) -> Iterator[list[Any]]:
    iterator = iter(items)
    while batch := list(itertools.islice(iterator, _BATCH)):
        yield batch


def _scores(scorer: ScorerLike, boards: list[str]) -> list[int]:
    return [int(score) for score in np.asarray(scorer.scores(boards)).tolist()]


def write_rescored(run: Run, listed: BoardList) -> None:
    """Store a list of boards: publish the part, then the document that makes it count, then remove older parts."""
    folder: Folder = run.folder
    table = pa.Table.from_pylist([item._asdict() for item in listed.boards], schema=BOARD_SCHEMA)
    data = serialise(table)
    older = [name for name in folder.names(files.RESCORED) if files.part_number(name, files.RESCORED) is not None]
    name = files.part_name(files.RESCORED, 1)
    folder.publish(name, data)
    document = {
        "name": name,
        "part_sha256": hashlib.sha256(data).hexdigest(),
        "n_candidates": listed.n_candidates,
        "n_manifest_bytes": run.manifest.n_bytes,
        "fingerprint": run.fingerprint.digest,
    }
    publish_document(folder, files.RESCORED_MANIFEST, document)
    for old in older:
        folder.remove(old)
