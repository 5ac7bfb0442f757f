"""Certificates and their checker: sound ones pass, altered ones are rejected, no code is shared with the search."""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardclass.geometry import geometry
from boardclass.scores import parse_scores
from boardclass.wordlist import available_names, load_wordlist
from results import audit as checker
from results import certificates, files
from results.audit import Rejected, Unreadable
from results.errors import DamagedError
from results.parts import serialise
from results.run import open_run
from search.certificate import class_shape
from search.scorer import Scorer
from tests.reference.orderly import deduplicated, orderly_bound, terms_of_class, with_points

CUTOFF = 12
LIST = available_names()["scowl70"]
ALLOWED = {"__future__", "numba", "numpy", "pyarrow", *sys.stdlib_module_names}


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """A finished 2x2 run with certificates of all its classes."""
    from cluster.driver import run
    from configs.model import load_config

    folder = tmp_path_factory.mktemp("certified") / "run"
    given_options = {"dims": "2x2", "cutoff": CUTOFF, "workers": 0, "out": str(folder), "wordlist": "scowl70"}
    assert run(load_config(None, given_options)).complete
    from cluster import cli_certify
    from cluster.render import Format

    cli_certify.certify(str(folder), None, None, 0, None, Format.json)
    return folder


@pytest.fixture
def copy(certified, tmp_path):
    return shutil.copytree(certified, tmp_path / "copy")


def all_rows(folder):
    paths = sorted((folder / files.CERTIFICATES).iterdir())
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def put_rows(folder, rows, *, sealed=True):
    """Replace the certificates of a run; ``sealed`` gives them the digest of what they say now."""
    shutil.rmtree(folder / files.CERTIFICATES)
    (folder / files.CERTIFICATES).mkdir()
    rows = [{**row, "sha256": checker.row_digest(row)} for row in rows] if sealed else rows
    data = serialise(pa.Table.from_pylist(rows, schema=checker.SCHEMA))
    (folder / files.part_name(files.CERTIFICATES, 1)).write_bytes(data)


def put_boards(folder, change):
    """Change the list of rescored boards, digests included."""
    document = json.loads((folder / files.RESCORED_MANIFEST).read_text())
    table = pq.read_table(folder / document["name"])
    data = serialise(pa.Table.from_pylist(change(table.to_pylist()), schema=table.schema))
    (folder / document["name"]).write_bytes(data)
    document["part_sha256"] = hashlib.sha256(data).hexdigest()
    (folder / files.RESCORED_MANIFEST).write_text(json.dumps(document))


def largest(rows):
    return max(rows, key=lambda row: len(row["body"]))


def test_the_checker_imports_nothing_of_ours():
    tree = ast.parse(Path(checker.__file__).read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= ALLOWED
    code = "import sys, results.audit; print([m for m in sys.modules if m.split('.')[0] in sys.argv[1:]])"
    ours = ("boardclass", "search", "cluster", "configs")
    root = Path(checker.__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code, *ours], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"


def test_the_checker_stays_small():
    tree = ast.parse(Path(checker.__file__).read_text())
    for node in ast.walk(tree):  # lines of code: docstrings, comments and blank lines explain it
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    assert sum(bool(line.strip()) for line in ast.unparse(tree).splitlines()) <= 400


def test_a_whole_run_is_audited(orderly, certified):
    found = checker.audit(certified, LIST)
    assert found.complete
    assert found.n_boards == found.n_boards_all == 26**4
    assert found.n_classes == len(all_rows(certified)) > 20
    assert found.n_leaves > found.n_splits > 0
    record = json.loads(orderly("audit", certified, "--format", "json").out)
    assert (record["complete"], record["n_boards"]) == (True, 26**4)


def test_some_classes_of_a_run(orderly, copy):
    shutil.rmtree(copy / files.CERTIFICATES)
    assert orderly("audit", copy).code == 3
    first = json.loads(orderly("certify", copy, "--sample", 3, "--seed", 5, "--format", "json").out)
    again = json.loads(orderly("certify", copy, "--sample", 3, "--seed", 5, "--format", "json").out)
    assert (first["classes"], again["classes"], again["classes_from_before"]) == (3, 0, 3)
    answer = orderly("audit", copy)
    assert answer.code == 0, answer.err
    assert "% of all boards (3 classes)" in answer.out
    one = sorted({row["class_id"] for row in all_rows(copy)})[0]
    assert json.loads(orderly("certify", copy, "--classes", one, "--format", "json").out)["classes_from_before"] == 1


@pytest.mark.parametrize(
    "options", [("--classes", "x"), ("--classes", "99999999"), ("--sample", "999"), ("--classes", "0", "--sample", "1")]
)
def test_bad_choices(orderly, certified, options):
    assert orderly("certify", certified, *options).code == 2


def test_every_flipped_bit_of_a_body_is_rejected(copy):
    rows = all_rows(copy)
    row = largest(rows)
    rng = np.random.default_rng(3)
    for bit in rng.choice(8 * len(row["body"]), 25, replace=False).tolist():
        body = bytearray(row["body"])
        body[bit // 8] ^= 1 << bit % 8
        put_rows(copy, [{**row, "body": bytes(body)}])
        with pytest.raises(Rejected):
            checker.audit(copy, LIST)


def cut(row):
    return {**row, "body": row["body"][:-4]}


def longer(row):
    return {**row, "body": row["body"] + b"\0\0\0\0"}


def torn(row):
    return {**row, "body": row["body"][:-1]}


def cleared(row):
    return {**row, "body": b"\0\0\0\0", "n_leaves": 999, "n_boards": 0}


def other_order(row):
    return {**row, "order": bytes([0, 0, 1, 2])}


@pytest.mark.parametrize(
    "change",
    [
        cut,
        longer,
        torn,
        cleared,
        other_order,
        lambda row: {**row, "n_leaves": row["n_leaves"] + 1},
        lambda row: {**row, "n_boards": row["n_boards"] + 1},
        lambda row: {**row, "n_boards": 2**62},
        lambda row: {**row, "n_boards": -1},
        lambda row: {**row, "version": 2},
        lambda row: {**row, "fingerprint": "0" * 64},
        lambda row: {**row, "class_id": 4**4},
        lambda row: {**row, "class_id": -1},
    ],
)
def test_an_altered_certificate_is_rejected_even_with_its_digest_made_good(copy, change):
    put_rows(copy, [change(largest(all_rows(copy)))])
    with pytest.raises(Rejected):
        checker.audit(copy, LIST)


def test_an_old_digest_and_a_second_certificate_are_rejected(copy):
    rows = all_rows(copy)
    put_rows(copy, [{**rows[0], "n_leaves": rows[0]["n_leaves"] + 1}], sealed=False)
    with pytest.raises(Rejected, match="digest"):
        checker.audit(copy, LIST)
    put_rows(copy, [rows[0], rows[0]])
    with pytest.raises(Rejected, match="before"):
        checker.audit(copy, LIST)


def test_flipped_and_truncated_files_are_refused(orderly, copy):
    rows = all_rows(copy)
    put_rows(copy, rows)
    (path,) = (copy / files.CERTIFICATES).iterdir()
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], data[:-9], bytes([*data[:400], data[400] ^ 1, *data[401:]])):
        path.write_bytes(damaged)
        with pytest.raises((Rejected, Unreadable)):
            checker.audit(copy, LIST)
    assert orderly("audit", copy).code in (3, 5)
    path.write_bytes(data[:-9])
    with pytest.raises(DamagedError):
        certificates.certified_classes(open_run(copy))


def test_a_board_lost_from_the_list_or_with_another_score_is_rejected(orderly, copy):
    put_boards(copy, lambda boards: boards[1:])
    with pytest.raises(Rejected, match="not listed"):
        checker.audit(copy, LIST)
    assert orderly("audit", copy).code == 5


@pytest.mark.parametrize("change", [{"score": 99}, {"board": "zzzz"}, {"board": "abc"}])
def test_a_wrong_board_in_the_list_is_rejected(copy, change):
    put_boards(copy, lambda boards: [{**boards[0], **change}, *boards[1:]])
    with pytest.raises(Rejected, match="listed"):
        checker.audit(copy, LIST)


def test_an_image_listed_twice_is_rejected(copy):
    put_boards(copy, lambda boards: [*boards, {**boards[0], "board": boards[0]["board"][::-1]}])
    with pytest.raises(Rejected, match="image of another"):
        checker.audit(copy, LIST)


def test_another_word_list_is_refused(orderly, certified, tmp_path):
    (tmp_path / "words.txt").write_text("bee\nbeef\n")
    with pytest.raises(Unreadable):
        checker.audit(certified, tmp_path / "words.txt")
    assert orderly("audit", certified, "--wordlist", tmp_path / "words.txt").code == 3
    assert orderly("audit", certified, "--wordlist", "nosuch").code == 2


def test_the_checker_reads_word_lists_scores_and_symmetries_as_the_program_does(certified):
    question = checker._Question(certified, LIST)
    assert checker._words(LIST) == list(load_wordlist("scowl70").words)
    scorer = Scorer("2x2", load_wordlist("scowl70").words, parse_scores("standard"))
    rng = np.random.default_rng(1)
    boards = ["".join(rng.choice(list("aeirstnqx"), 4)) for _ in range(200)]
    assert [question.score(board) for board in boards] == scorer.scores(boards).tolist()
    for dims in ("2x2", "2x3", "3x3", "3x4", "4x4"):
        shape = geometry(dims)
        assert sorted(checker._symmetries(*shape.dims)) == sorted(shape.symmetries.tolist())


@st.composite
def small_classes(draw):
    dims = draw(st.sampled_from(["2x2", "2x3"]))
    n = geometry(dims).n
    letters = draw(st.lists(st.sets(st.sampled_from("abc"), min_size=1).map(sorted), min_size=n, max_size=n))
    words = draw(st.sets(st.text("abc", min_size=2, max_size=4), min_size=1, max_size=8))
    return dims, ["".join(cell) for cell in letters], sorted(words)


@given(small_classes())
def test_terms_and_bound_agree_with_the_slow_twin(case):
    dims, letters, words = case
    shape = geometry(dims)
    question = checker._Question.__new__(checker._Question)
    question.n, question.neighbours = shape.n, shape.neighbour_masks.copy()
    points = [len(word) for word in words]
    question.points_of_code = np.array(sorted(set(points)), np.int64)
    question.codes = np.searchsorted(question.points_of_code, points).astype(np.int64)
    question.letters = np.frombuffer("".join(words).encode(), np.uint8).astype(np.int64) - 97
    question.starts = np.concatenate(([0], np.cumsum([len(word) for word in words]))).astype(np.int64)
    free = [cell for cell in shape.cell_order if len(letters[cell]) > 1]
    keys, values = checker._terms(question, checker._masks(letters), free)
    assert (np.diff(keys) > 0).all()
    slow = {(w, frozenset(x for x in t if x[0] in free)) for w, t in terms_of_class(letters, words, shape.dims)}
    terms = with_points(deduplicated(sorted(slow, key=str)), {word: len(word) for word in words})
    assert values.sum() == sum(worth for _, worth in terms)
    assert checker._nested(keys, values, 0, len(keys), 0, len(free)) == orderly_bound(terms, free)


def test_a_shape_covers_its_class(certified):
    letters = ("aeiou", "bcdfg", "rst", "aeiou")
    scorer = Scorer("2x2", load_wordlist("scowl70").words, parse_scores("standard"))
    shape = class_shape(letters, scorer, 3)
    boards = [a + b + c + d for a in letters[0] for b in letters[1] for c in letters[2] for d in letters[3]]
    assert shape.n_boards >= sum(score >= 3 for score in scorer.scores(boards).tolist()) > 0
    assert shape.order == geometry("2x2").cell_order
