"""Any input to any parser becomes a value or a typed error, never anything else.

Texts that a user types, files that a user names, and what a run directory holds.  Stored JSON gets its seal anew after
the damage, so that the checks behind the seal have to notice.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from boardclass.board import dims_of_length
from boardclass.errors import InputError, OrderlyError
from boardclass.geometry import Dims, geometry
from boardclass.partition import Partition, parse_partition
from boardclass.wordlist import load_wordlist
from cluster.cli.certify import named_classes
from cluster.cli.compare import read_boards
from cluster.cli.solve import parse_cells
from cluster.planning.shares import Share, parse_share
from configs.dicesets import DiceSet, load_dice
from configs.model import RunConfig, load_config
from results.log import FIELDS, read_events
from results.proof import audit as checker
from results.proof.nodes import SearchNodes
from results.reading.report import read_stages
from results.storage import files
from results.storage.local import LocalFolder, open_folder
from results.storage.lock import Owner, describe_owner, parse_owner
from results.store.documents import format_document
from results.store.parts import parse_part, serialise
from results.store.rows import parse_path
from results.store.run import open_run
from search.local.climb import parse_alphabet
from search.params import Params
from tests.results.helpers import BUCKETS, fingerprint, make_run

SHAPE = geometry("2x2")
PARTITION = parse_partition(BUCKETS, "2x2")
NODES = SearchNodes(PARTITION, Params(force_groups=("aeiou", "bcdfghjklmnpqrstvwxyz")))
DIMS = st.sampled_from(["1x1", "2x2", "2x3", "3x3", "4x4", "5x5"])
CERTIFICATES = "certificates/part-00000001-00.parquet"


class Message(str):
    """What a typed error says."""


def value_or_message(parse: Callable[..., Any], given_value: Any, *allowed: type[Exception]) -> Any:
    """Return what a parser returns, or the message of an error of the allowed types: short, and not empty."""
    try:
        return parse(given_value)
    except allowed as error:
        message = Message(error)
    assert 0 < len(message) < 1500
    return message


def texts(pieces: str) -> st.SearchStrategy[str]:
    """Return any text, and texts of pieces that the parser knows, separated by spaces here."""
    return st.text(max_size=30) | st.lists(st.sampled_from([*pieces.split(), " ", ""]), max_size=12).map("".join)


# What a user types: (function, texts, what it returns).
TYPED = {
    "letters of a board": (lambda text: dims_of_length(len(text)), texts("abc"), Dims),
    "buckets": (
        lambda text: parse_partition(text, "3x3"),
        texts("center: edge: corner: abc defghijklm z ,"),
        Partition,
    ),
    "cells": (lambda text: parse_cells(text, 16, "--end-only"), texts("0 5 15 16 , - ٣"), tuple),
    "classes": (lambda text: named_classes(PARTITION, text), texts("0 3 15 99999999999999999999 , ٣"), list),
    "share": (parse_share, texts("0 1 2 5 / 99999999 - ٣"), Share),
    "alphabet": (parse_alphabet, texts("a b z A é"), object),
    "path": (lambda text: parse_path(text, 4), texts("0 3 = aei / 4 99 bb"), tuple),
    "part of a class": (lambda text: NODES.parts(3, text), texts("0 1 = aeiou bcdfghjklmnpqrstvwxyz /"), tuple),
    "dice": (load_dice, texts("classic new . / nwe .toml"), DiceSet),
    "folder": (open_folder, texts("file:// / runs @ ? = a ftp:// %"), object),
    "manifest line": (parse_part, texts('{ } "name" : "check" , 1 null'), object),
}


@pytest.mark.parametrize("kind", TYPED)
@given(st.data())
def test_any_text_is_a_value_or_a_typed_error(kind, data):
    parse, some, returned = TYPED[kind]
    text = data.draw(some)
    value = value_or_message(parse, text, ValueError if kind == "manifest line" else OrderlyError)
    assert isinstance(value, (returned, Message))


LISTED = st.lists(st.sampled_from(["tear", "TEAR", "te", ": 5", ",7", "\n", "\r", "#", "Qu", "é", "\0", " "])).map(
    "".join
)
TOML = st.lists(
    st.tuples(
        st.sampled_from(["title", "dims", "dice", "name", "x", "[a]\nb"]),
        st.sampled_from(['"2x2"', '"a b c d"', '["abc", "Qu", "d", "e"]', "[1]", "3", '""', '"', "{}", "1e999"]),
    ),
    max_size=5,
).map(lambda rows: "\n".join(f"{key} = {value}" for key, value in rows))


@pytest.mark.parametrize(
    ("suffix", "parse", "some", "returned"),
    [
        (".csv", lambda path: read_boards(str(path), SHAPE), LISTED, dict),
        (".toml", lambda path: load_dice(str(path)), TOML, DiceSet),
        (".cfg.toml", load_config, TOML, RunConfig),
        (".txt", load_wordlist, LISTED, object),
        (".txt.gz", load_wordlist, LISTED, object),
        (".txt.xz", load_wordlist, LISTED, object),
    ],
)
@given(data=st.data())
def test_any_file_is_a_value_or_a_typed_error(tmp_path_factory, suffix, parse, some, returned, data):
    path = tmp_path_factory.getbasetemp() / f"fuzz{suffix}"
    path.write_bytes(data.draw(st.binary(max_size=60) | some.map(str.encode)))
    assert isinstance(value_or_message(parse, path, InputError), (returned, Message))


# ---- what a run directory holds

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.just(10**30) | st.floats(allow_nan=False, allow_infinity=False)
) | st.sampled_from(["", "2x2", "0" * 64, "eliminated", "results/part-00000001-00.parquet", "é\ud800", "x" * 99])
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


@st.composite
def altered(draw: Any, values: Any) -> Any:
    """Return JSON values with one of them, however deep, replaced, taken away or added."""
    if isinstance(values, dict) and values and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(values)))
        return {**values, key: draw(altered(values[key]))}
    if isinstance(values, list) and values and draw(st.booleans()):
        at = draw(st.integers(0, len(values) - 1))
        return [*values[:at], draw(altered(values[at])), *values[at + 1 :]]
    if isinstance(values, dict) and draw(st.booleans()):
        gone = draw(st.sampled_from([*sorted(values), "new"]))
        return {key: value for key, value in values.items() if key != gone} | ({"new": 1} if gone == "new" else {})
    return draw(JSON)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the toy world with an audit in it."""
    run = make_run(tmp_path_factory.mktemp("parsers") / "run")
    numbers = dict.fromkeys(("n_leaves_checked", "n_scored", "n_boards", "n_boards_all", "n_parts"), 1)
    audit = {**numbers, "certificates": "", "boards": ""}
    (run / files.AUDITS).write_bytes(format_document({"format": 1, "audits": [audit]}))
    return run


@pytest.fixture(scope="module")
def scratch(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(finished, tmp_path_factory.mktemp("scratch") / "run"))


EVENT = st.fixed_dictionaries(
    {"event": st.sampled_from(sorted(FIELDS)) | JSON},
    optional={"time": SCALARS, "session": JSON, "text": JSON, "seconds": SCALARS | st.just("9" * 400)},
)


@given(
    st.lists(EVENT.map(json.dumps) | st.text(max_size=20) | st.just('{"event": "stage", "time": 1e999}'), max_size=6)
)
@example(['{"event": [], "time": 1}'])
@example(["[" * 5000])
def test_any_event_log_is_read(scratch, finished, lines):
    (scratch / files.EVENTS).write_text("\n".join(lines) + "\n", "utf-8", "backslashreplace")
    assert all(event["event"] in FIELDS for event in read_events(LocalFolder(scratch)))
    assert all(seconds >= 0 for seconds in read_stages(open_run(scratch)).values())


OWNER = st.dictionaries(st.sampled_from(["user", "host", "pid", "since", "claim"]), JSON).map(json.dumps)


@given(st.none() | st.binary(max_size=40) | OWNER.map(str.encode))
@example(b'{"user": "a", "host": "b", "pid": Infinity, "since": 1}')
@example(b'{"user": "a", "host": "b", "pid": 1, "since": NaN}')
@example(b'{"user": "a", "host": "b", "pid": 1, "since": -Infinity}')
@example(b"[" * 5000)
def test_any_note_of_an_owner(note):
    found = parse_owner(note)
    assert found is None or isinstance(found, Owner)
    assert describe_owner(note)


# ---- certificates: everything in a row may be something else of its type, with a digest that fits


@pytest.fixture(scope="module")
def claimed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run without rows, and its word list: enough to audit certificates against."""
    folder = tmp_path_factory.mktemp("claimed")
    (folder / CERTIFICATES).parent.mkdir()
    words = folder / "list.txt"
    words.write_text("".join(f"{word}\n" for word in ("ate", "eat", "rate", "tea", "tear")))
    asked = fingerprint(wordlist_sha256=load_wordlist(words).sha256, cutoff=3)
    (folder / "run.json").write_bytes(format_document({"format": 2, "fingerprint": asked.to_json(), "info": {}}))
    return folder, words


def certificate(folder: Path, **changes: Any) -> dict[str, Any]:
    digest = json.loads((folder / "run.json").read_text())["fingerprint"]
    row = {
        "version": checker.VERSION,
        "fingerprint": hashlib.sha256(json.dumps(digest, sort_keys=True).encode()).hexdigest(),
        "class_id": 15,
        "order": bytes(SHAPE.cell_order),
        "forced": "",
        "n_leaves": 21,
        "n_boards": 0,
        "body": b"\0\0\0\0",
        **changes,
    }
    return {**row, "sha256": checker.row_digest(row)}


def audit_of(folder: Path, words: Path, rows: list[dict[str, Any]]) -> checker.Audit:
    data = serialise(pa.Table.from_pylist(rows, schema=checker.SCHEMA))
    (folder / CERTIFICATES).write_bytes(data)
    return checker.audit(folder, words)


def test_a_sound_certificate_passes_and_one_too_short_does_not(claimed):
    assert audit_of(*claimed, [certificate(claimed[0])]).n_leaves == 21
    with pytest.raises(checker.Rejected, match="the bound of a leaf reaches the cutoff"):
        audit_of(*claimed, [certificate(claimed[0], class_id=3)])  # the same tree, but words go through its leaves


CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "version": st.integers(-1, 5),
        "fingerprint": st.text(max_size=70),
        "class_id": st.integers(-(2**63), 2**63 - 1) | st.integers(0, 20),
        "order": st.binary(max_size=6) | st.permutations(range(4)).map(bytes),
        "forced": st.text(max_size=5) | st.text("bcdtxyz", max_size=5),
        "n_leaves": st.integers(-(2**63), 2**63 - 1) | st.integers(0, 100),
        "n_boards": st.integers(-(2**63), 2**63 - 1) | st.integers(0, 2),
        "body": st.binary(max_size=12)
        | st.lists(st.sampled_from([0, 2, 1 << 25, 1 << 26, 0x1FFFFFE])).map(
            lambda splits: b"".join(value.to_bytes(4, "little") for value in splits)
        ),
    },
)


@given(st.lists(CHANGES, min_size=1, max_size=3))
def test_any_certificate_is_audited_or_rejected(claimed, changes):
    rows = [certificate(claimed[0], **change) for change in changes]
    found = value_or_message(lambda given_rows: audit_of(*claimed, given_rows), rows, checker.Rejected)
    assert isinstance(found, Message) or found.n_parts == len(rows)


@given(data=st.data())
def test_any_run_json_is_audited_or_refused(claimed, tmp_path_factory, data):
    folder = Path(shutil.copytree(claimed[0], tmp_path_factory.mktemp("audited"), dirs_exist_ok=True))
    values = json.loads((folder / "run.json").read_text())
    changed = {**values, "fingerprint": data.draw(altered(values["fingerprint"]))}
    (folder / "run.json").write_text(json.dumps(changed))
    rows = [certificate(folder)]
    value_or_message(lambda where: audit_of(where, claimed[1], rows), folder, checker.Rejected, checker.Unreadable)


@given(data=st.binary(max_size=80), at=st.integers(0, 3000))
def test_damaged_files_of_certificates(claimed, data, at):
    folder, words = claimed
    sound = audit_of(folder, words, [certificate(folder)])
    good = (folder / CERTIFICATES).read_bytes()
    at %= len(good)
    (folder / CERTIFICATES).write_bytes(good[:at] + data + good[at + len(data) :])
    found = value_or_message(lambda where: checker.audit(where, words), folder, checker.Unreadable, checker.Rejected)
    assert isinstance(found, Message) or found == sound


def test_certificates_with_other_columns(claimed):
    folder, words = claimed
    pq.write_table(pa.table({"a": [1]}), folder / CERTIFICATES)
    with pytest.raises(checker.Unreadable):
        checker.audit(folder, words)
