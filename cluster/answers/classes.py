"""A class as people name it: by the letters of each cell, or by its number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orderly_boggle import boardclass
from orderly_boggle.boardclass.errors import BoardError, InputError, PartitionError, quote
from orderly_boggle.boardclass.geometry import parse_dims

if TYPE_CHECKING:
    from orderly_boggle.boardclass.geometry import Dims


def class_letters(
    text: str, dims_text: str | None, buckets: str | None
) -> tuple[Dims, tuple[str, ...]]:
    """Return the dimensions and the letters of each cell of the class that the command line
    names.
    """
    from orderly_boggle.boardclass.board import dims_of_length
    from orderly_boggle.configs.model import load_config

    groups = text.split()
    if len(groups) == 1 and groups[0].isdecimal():
        if not dims_text:
            raise InputError(
                f"class {quote(text)} is a number: give --dims as well, or write the "
                "letters of each cell"
            )
        size = str(parse_dims(dims_text))
        partition = boardclass.parse_partition(
            load_config(None, {"dims": size, "buckets": buckets}).buckets, size
        )
        # Python makes no number of thousands of digits
        if len(groups[0]) > 99:
            raise PartitionError(f"no class {quote(groups[0])}: no size has that many classes")
        return partition.dims, partition.class_letters(int(groups[0]))
    if buckets is not None:
        raise InputError(
            f"--buckets {quote(buckets)} goes with the number of a class; "
            f"{quote(text)} has its letters"
        )
    try:
        if dims_text:
            dims = parse_dims(dims_text)
        else:
            dims = dims_of_length(len(groups))
    except BoardError as error:
        raise PartitionError(
            f"class {quote(text)} has {len(groups)} groups of letters: expected one for each cell "
            f"of a board such as 3x4"
        ) from error
    return dims, boardclass.parse_class(text, dims)
