"""Any text that a user types and any file that a user names becomes a value or a typed error, never
anything else.

What a run directory holds: tests/cluster/forge.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from orderly_boggle.boardclass.board import Board, dims_of_length, read_board
from orderly_boggle.boardclass.errors import InputError, OrderlyError
from orderly_boggle.boardclass.geometry import Dims, geometry, parse_dims
from orderly_boggle.boardclass.partition import Partition, parse_class, parse_partition
from orderly_boggle.boardclass.parts import parse_path
from orderly_boggle.boardclass.scores import ScoreTable, parse_scores
from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.cluster.boards.comparison import read_boards
from orderly_boggle.cluster.boards.dicesets import DiceSet, load_dice
from orderly_boggle.cluster.cli.boards import parse_cells
from orderly_boggle.cluster.cli.check import named_classes
from orderly_boggle.cluster.planning.shares import Share, parse_share
from orderly_boggle.configs.model import RunConfig, load_config
from orderly_boggle.results.proof.nodes import SearchNodes
from orderly_boggle.results.storage.local import open_folder
from orderly_boggle.results.storage.lock import Owner, describe_owner, parse_owner
from orderly_boggle.results.store.parts import parse_part
from orderly_boggle.search.local.moves import parse_alphabet
from orderly_boggle.search.params import Rules
from orderly_boggle.search.question import ask
from tests.results.helpers import BUCKETS

SHAPE = geometry("2x2")
PARTITION = parse_partition(BUCKETS, "2x2")
RULES = Rules(force_groups=("aeiou", "bcdfghjklmnpqrstvwxyz"))
NODES = SearchNodes(ask("2x2", "0" * 64, "words", 1, BUCKETS, rules=RULES))


def check(
    parse: Callable[..., Any], given_value: Any, returned: type, allowed: type[Exception]
) -> None:
    """Check that a parser returns what it should, or raises an error of the allowed type: short,
    and not empty.
    """
    try:
        assert isinstance(parse(given_value), returned)
    except allowed as error:
        said = str(error)
    else:
        return
    assert 0 < len(said) < 1500


def texts(pieces: str) -> st.SearchStrategy[str]:
    """Return any text, and texts of pieces that the parser knows, separated by spaces here."""
    return st.text(max_size=30) | st.lists(
        st.sampled_from([*pieces.split(), " ", ""]), max_size=12
    ).map("".join)


def again(parse: Callable[[str], Any], format_value: Callable[[Any], str]) -> Callable[[str], Any]:
    """Return the parser, which must give the same value for the text of what it gives."""

    def checked(text: str) -> Any:
        value = parse(text)
        assert parse(format_value(value)) == value
        return value

    return checked


def typed(board: str) -> str:
    """Return a board as people type it."""
    return "/".join(map(" ".join, Board(board).rows))


OPTIONS = st.dictionaries(
    st.sampled_from(
        [*RunConfig.model_fields, "cutof", "search.fused", "[search]\nnode_budget", "a.b"]
    ),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers()),
)
# What a user types: (function, texts, what it returns).
TYPED = {
    "dimensions": (again(parse_dims, str), texts("2 3 4 5 x X 12 2x3 ٣"), Dims),
    "typed board": (
        again(lambda text: read_board(text)[1], typed),
        st.text("abQu/ ,\n[-].*1é", max_size=30),
        str,
    ),
    "letters of a board": (lambda text: dims_of_length(len(text)), texts("abc"), Dims),
    "class": (again(lambda text: parse_class(text, "2x2"), " ".join), texts("a b ab yx"), tuple),
    "points": (
        again(parse_scores, attrgetter("name")),
        texts("0 1 , - 12 99999999999 words"),
        ScoreTable,
    ),
    "buckets": (
        again(lambda text: parse_partition(text, "3x3"), attrgetter("text")),
        texts("center: edge: corner: abc defghijklm nopqrstuvwxyz ,"),
        Partition,
    ),
    "cells": (
        lambda text: parse_cells(text, parse_dims("4x4"), "--end"),
        texts("0 15 16 1.4 4.5 . , - ٣"),
        tuple,
    ),
    "classes": (
        lambda text: named_classes(PARTITION, text),
        texts("0 3 15 99999999999999999999 , ٣"),
        list,
    ),
    "share": (parse_share, texts("0 1 2 5 / 99999999 - ٣"), Share),
    "alphabet": (parse_alphabet, texts("a b z A é"), object),
    "path": (lambda text: parse_path(text, 4), texts("0 3 = aei / 4 99 bb"), tuple),
    "part of a class": (
        lambda text: NODES.parts(3, text, 0),
        texts("0 1 = aeiou bcdfghjklmnpqrstvwxyz /"),
        tuple,
    ),
    "dice": (load_dice, texts("classic new . / nwe .toml"), DiceSet),
    "folder": (open_folder, texts("file:// / runs @ ? = a ftp:// %"), object),
    "options": (lambda options: load_config("3x3", options), OPTIONS, RunConfig),
    "manifest line": (parse_part, texts('{ } "name" : "check" , 1 null'), object),
}


@pytest.mark.parametrize("kind", TYPED)
@given(st.data())
def test_any_text_is_a_value_or_a_typed_error(kind, data):
    parse, some, returned = TYPED[kind]
    check(parse, data.draw(some), returned, ValueError if kind == "manifest line" else OrderlyError)


PIECES = ["tear", "TEAR", "te", ": 5", ",7", "\n", "\r", "#", "Qu", "é", "\0", " "]
LISTED = st.lists(st.sampled_from(PIECES)).map("".join)
TOML = st.lists(
    st.tuples(
        st.sampled_from(["title", "dims", "dice", "name", "x", "[a]\nb"]),
        st.sampled_from(
            ['"2x2"', '"a b c d"', '["abc", "Qu", "d", "e"]', "[1]", "3", '""', '"', "{}", "1e999"]
        ),
    ),
    max_size=5,
).map(lambda rows: "\n".join(f"{key} = {value}" for key, value in rows))


@pytest.mark.parametrize(
    ("suffix", "parse", "some", "returned"),
    [
        (".csv", lambda path: read_boards(str(path), SHAPE), LISTED, dict),
        (".toml", lambda path: load_dice(str(path)), TOML, DiceSet),
        (".cfg.toml", load_config, TOML, RunConfig),
        *((suffix, load_wordlist, LISTED, object) for suffix in (".txt", ".txt.gz", ".txt.xz")),
    ],
)
@given(data=st.data())
def test_any_file_is_a_value_or_a_typed_error(
    tmp_path_factory, suffix, parse, some, returned, data
):
    path = tmp_path_factory.getbasetemp() / f"fuzz{suffix}"
    path.write_bytes(data.draw(st.binary(max_size=60) | some.map(str.encode)))
    check(parse, path, returned, InputError)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**30)
    | st.floats()
    | st.text()
    | st.just("é\ud800")
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
OWNER = st.dictionaries(st.sampled_from(["user", "host", "pid", "since", "claim"]), JSON).map(
    json.dumps
)


@given(st.none() | st.binary(max_size=40) | OWNER.map(str.encode))
@example(b'{"user": "a", "host": "b", "pid": Infinity, "since": 1}')
@example(b'{"user": "a", "host": "b", "pid": 1, "since": -Infinity}')
@example(b"[" * 5000)
def test_any_note_of_an_owner(note):
    found = parse_owner(note)
    assert found is None or isinstance(found, Owner)
    assert describe_owner(note)
