"""Certificates and their checker: sound ones pass, altered ones are rejected, no code is shared
with the search.
"""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from orderly_boggle.boardclass.board import LETTERS
from orderly_boggle.boardclass.errors import IncompleteError, InputError, MismatchError
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import available_names, load_wordlist, sha256_of
from orderly_boggle.results.errors import DamagedError
from orderly_boggle.results.proof import audit as checker, certificates
from orderly_boggle.results.proof.audit import Rejected, Unreadable
from orderly_boggle.results.proof.certificates import read_audits
from orderly_boggle.results.proof.certify import Choice, certify
from orderly_boggle.results.proof.claim import unscored_boards
from orderly_boggle.results.proof.prove import boards
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.documents import format_document
from orderly_boggle.results.store.parts import serialise
from orderly_boggle.results.store.run import open_run
from orderly_boggle.search.certificate import Certifier, _Tree
from orderly_boggle.search.node import Node
from orderly_boggle.search.question import Question, ask
from orderly_boggle.search.scoring.scorer import Scorer
from tests.classes import canonical_rank
from tests.conftest import make_in
from tests.reference.orderly import (
    absorb,
    all_scores,
    branch,
    orderly_bound,
    terms_of_class,
    with_points,
)
from tests.results.helpers import question_of, write_rows

LIST = available_names()["scowl70"]
STANDARD = parse_scores("standard")
ALLOWED = {"__future__", "numba", "numpy", "pyarrow", *sys.stdlib_module_names}


@pytest.fixture(scope="module")
def certified(tmp_path_factory, proven):
    """A finished 2x2 run with certificates of all its classes."""
    folder = shutil.copytree(proven, tmp_path_factory.mktemp("certified") / "run")
    make_in(folder, "certify", str(folder), "--format", "json")
    return folder


@pytest.fixture
def copy(certified, tmp_path):
    return shutil.copytree(
        certified, tmp_path / "copy", ignore=shutil.ignore_patterns(files.AUDITS)
    )


@pytest.fixture
def bare(copy):
    """A finished run without certificates."""
    shutil.rmtree(copy / files.CERTIFICATES)
    return copy


def question_about(run):
    asked = checker.identity(json.loads((run / files.RUN).read_text()))
    return checker.RunQuestion(asked, "", checker.read_words(LIST))


def all_rows(folder):
    paths = sorted((folder / files.CERTIFICATES).iterdir())
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def put_rows(folder, rows):
    """Replace the certificates of a run; each gets the digest of what it says now."""
    shutil.rmtree(folder / files.CERTIFICATES)
    (folder / files.CERTIFICATES).mkdir()
    rows = [{**row, "sha256": checker.row_digest(row)} for row in rows]
    data = serialise(pa.Table.from_pylist(rows, schema=checker.SCHEMA))
    (folder / files.part_name(files.CERTIFICATES, 1)).write_bytes(data)


def put_boards(folder, change):
    """Change the lists of boards that rows of the one part have."""
    (path,) = (folder / files.RESULTS).iterdir()
    table = pq.read_table(path)
    rows = [
        {**row, "candidates": row["candidates"] and change(row["candidates"])}
        for row in table.to_pylist()
    ]
    path.write_bytes(serialise(pa.Table.from_pylist(rows, schema=table.schema)))


def largest(rows):
    return max(rows, key=lambda row: len(row["body"]))


def checked(question, row):
    """Check one certificate as the checker does; return the boards that reach the cutoff."""
    part = checker.CertifiedPart(question, row)
    return dict(checker._check(question, part, part.ends(), checker.Audit()))


def test_the_checker_imports_nothing_of_ours_and_stays_small():
    tree = ast.parse(Path(checker.__file__).read_text())
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= ALLOWED
    for node in ast.walk(tree):  # lines of code: docstrings, comments and blank lines explain it
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:] or [ast.Pass()]
    assert sum(bool(line.strip()) for line in ast.unparse(tree).splitlines()) <= 400


# ---- sound certificates


def test_a_whole_run_is_audited(orderly, certified):
    told: list[str] = []
    found = checker.audit(certified, LIST, told.append)
    n_ends = found.n_leaves_checked + found.n_scored
    assert told[-1].endswith(f": {n_ends:,} of {n_ends:,} leaves and boards checked so far")
    assert found.complete
    assert found.n_boards == found.n_boards_all == 26**4
    assert found.n_classes == len(all_rows(certified)) > 20
    assert found.n_leaves > found.n_splits > 0
    assert checker.audit(certified, LIST, n_ends=10**9) == found
    record = orderly.json("audit", certified)
    assert (record["complete"], record["n_boards"]) == (True, 26**4)
    drawn, again, other = (
        checker.audit(certified, LIST, n_ends=100, seed=seed) for seed in (7, 7, 8)
    )
    assert drawn == again != other
    assert (drawn.n_leaves_checked + drawn.n_scored, drawn.complete) == (100, False)


def test_some_classes_of_a_run(orderly, bare):
    assert orderly("audit", bare).code == 3
    good = {row.class_id for row in open_run(bare).rows() if row.candidates}
    found = orderly.json("certify", bare, "--classes", ",".join(map(str, good)))
    assert {row["class_id"] for row in all_rows(bare)} == good
    assert len(good) == found["parts"] < len(open_run(bare).index.done_ids())
    drawn, again = (orderly.json("certify", bare, "--sample", 3, "--seed", 5) for _ in range(2))
    assert drawn["parts"] + drawn["parts_from_before"] == again["parts_from_before"] == 3
    answer = orderly.done("audit", bare)
    assert f"{len(good) + drawn['parts']} trees over" in answer
    assert "no board in them reaches the cutoff that is not listed" in " ".join(answer.split())
    some = " ".join(orderly.done("audit", bare, "--leaves", 3).split())
    assert "3 leaves and boards drawn at random" in some
    assert "no board among those drawn reaches the cutoff that is not listed" in some


def test_the_checker_reads_the_list_that_the_run_was_searched_with(orderly, tmp_path, monkeypatch):
    """A name with a dot in it is that of a file, whatever lists have names."""
    lists = tmp_path / "lists"
    lists.mkdir()
    (lists / "my.list.txt").write_text("toe\n")
    monkeypatch.setenv("ORDERLY_WORDLISTS", str(lists))
    monkeypatch.chdir(tmp_path)
    Path("my.list").write_text("tea\n")
    where = ("--cutoff", 1, "--workers", 0, "--out", "run")
    orderly.done("run", "2x2", "--wordlist", "my.list", *where)
    orderly.done("certify", "run", "--sample", 1)
    assert "Audited" in orderly.done("audit", "run")


def test_parts_of_classes(orderly, bare):
    """Together the parts of a class are the class; sampled ones are some of them; overlapping ones
    are refused.
    """
    # of every cell of class 0
    letters = open_run(bare).question.buckets.split(": ")[1].split()[0]
    orderly("certify", bare, "--classes", 0, "--force", 4)
    found = checker.audit(bare, LIST)  # each part is a board, which is scored
    assert (found.n_splits, found.n_leaves, found.n_scored) == (0, 0, found.n_parts)
    assert found.n_reaching == sum(set(item.board) <= set(letters) for item in boards(bare))
    shutil.rmtree(bare / files.CERTIFICATES)
    parts = orderly.json("certify", bare, "--classes", 0, "--force", 2)["parts"]
    assert parts == len(letters) ** 2
    found = checker.audit(bare, LIST)
    assert (found.n_parts, found.n_classes, found.n_boards) == (parts, 1, len(letters) ** 4)
    answer = orderly("certify", bare, "--classes", 0)
    assert answer.code == 2
    assert "smaller parts" in answer.err
    sampled = orderly.json("certify", bare, "--sample", 5, "--seed", 1, "--force", 3)
    assert sampled["parts"] + sampled["parts_from_before"] == 5
    assert checker.audit(bare, LIST).n_parts == parts + sampled["parts"]
    row = all_rows(bare)[0]
    for other in ({"forced": row["forced"]}, {"order": row["order"][::-1]}):
        put_rows(bare, [row, {**row, **other}])
        with pytest.raises(Rejected):
            checker.audit(bare, LIST)


def test_what_is_certified_is_published_on_the_way_and_counted(bare):
    run, words = open_run(bare), load_wordlist("scowl70").words
    told: list[str] = []
    done = certify(run, words, tell=told.append, publish_every_s=-1)
    where, *parts = told  # the first line says where they go
    assert str(bare) in where
    assert len(list((bare / files.CERTIFICATES).iterdir())) == done.parts == len(parts) == 55
    found = checker.audit(bare, LIST)
    assert found.complete
    assert (done.splits, done.leaves, done.boards) == (found.n_splits, found.n_leaves, found.n_left)
    again = certify(run, words)
    assert (again.parts, again.parts_from_before) == (0, 55)


def test_a_class_that_is_named_twice_is_certified_once(bare):
    run, words = open_run(bare), load_wordlist("scowl70").words
    assert certify(run, words, Choice(classes=[0, 0])).parts == 1
    assert checker.audit(bare, LIST).n_parts == 1


def test_no_certificate_is_made_that_the_checker_refuses(tmp_path):
    words = tuple("a" * n for n in range(3, 20))
    points = (0, 0, 0, *range(1, 63))
    asked = ask("4x5", sha256_of(words), points, 10, LETTERS)
    write_rows(tmp_path, [], asked)
    run = open_run(tmp_path)
    refusal = "more than 16 different values; so no certificate is made"
    with pytest.raises(InputError, match=refusal):
        certify(run, words, stop=lambda: "a signal")
    with pytest.raises(InputError, match="the words are not those of the run"):
        certify(run, words[:-1], stop=lambda: "a signal")


def test_choices_of_parts_that_cannot_be(orderly, bare):
    for said, *options in (
        ("--force 5: expected at most the 4 cells", "--force", 5),
        ("cannot sample 56 of 55 parts", "--sample", 56, "--force", 0),
    ):
        assert said in orderly.fails(2, "certify", bare, *options)


def test_a_run_that_is_not_finished_has_no_boards_to_compare_with(orderly, copy):
    (copy / files.CLAIM).unlink()
    found = checker.audit(copy, LIST)
    assert (found.n_listed, found.complete) == (-1, False)
    assert found.n_reaching > 0
    assert "claims nothing yet" in " ".join(orderly("audit", copy).out.split())


# ---- what a claim says about them


def strength(orderly, folder):
    return orderly.json("verify", folder, "--quick")["strength"]


def test_the_claim_says_how_much_was_audited(orderly, bare):
    assert "certified" not in strength(orderly, bare)
    orderly.done("certify", bare)
    assert strength(orderly, bare).endswith("certified all boards in 55 trees, not audited")
    orderly.done("audit", bare, "--leaves", 30)
    assert "certified all boards in 55 trees, audited 30 random leaves" in strength(orderly, bare)
    n = orderly.json("audit", bare)
    assert f"audited every one of {n['n_leaves'] + n['n_left']:,} leaves" in strength(orderly, bare)
    orderly.done("audit", bare, "--leaves", 30)
    assert len(read_audits(open_run(bare))) == 2, "the same audit is recorded once"
    put_rows(bare, all_rows(bare)[1:])
    assert strength(orderly, bare).endswith("not audited"), (
        "other certificates than those that were audited"
    )
    (bare / files.AUDITS).write_text("{}")
    assert orderly("verify", bare).code == 3


def forge_audit(folder, **changes):
    """Change the last recorded audit to one of the certificates that are there, and seal it."""
    document = json.loads((folder / files.AUDITS).read_text())
    document["audits"][-1] |= {
        "certificates": certificates.certificates_digest(open_run(folder)),
        **changes,
    }
    del document["sha256"]
    (folder / files.AUDITS).write_bytes(format_document(document))


def test_what_is_certified_is_counted_from_the_certificates_that_are_there(orderly, copy):
    """One of 55 certificates left, the record of the audit sealed again to fit it: forged, or
    altered by mistake.
    """
    orderly.done("audit", copy)
    kept = largest(all_rows(copy))
    put_rows(copy, [kept])
    assert strength(orderly, copy).endswith(" % of all boards in 1 trees, not audited")
    forge_audit(copy)
    answer = orderly.fails(5, "verify", copy)
    run = open_run(copy)
    there = checker.count(run.question.identity, [kept])
    told = (
        f"the certificates have 1 trees with {there.n_leaves:,} leaves and {there.n_left:,} boards"
    )
    assert told in answer
    n_ends = there.n_leaves + there.n_left
    honest = {**asdict(there), "n_leaves_checked": there.n_leaves, "n_scored": there.n_left}
    for change in (
        {"n_leaves_checked": 2_000_000_000},  # more leaves than there are
        {"n_leaves_checked": there.n_leaves - 1},  # all of them, it says, and it is fewer
        {"n_leaves_checked": n_ends, "n_scored": 0},  # more leaves checked than there are
        {"n_asked": 1},  # more checked than asked for
        {"n_asked": n_ends, "n_leaves_checked": 0, "n_scored": 0},  # fewer checked than asked for
        {"n_boards": 26**4},  # boards of 55 trees
        {"n_splits": 0},
        {"n_classes": 2},
    ):
        forge_audit(copy, **{**honest, **change})
        with pytest.raises(MismatchError, match=told):
            certificates.audited(run, unscored_boards(run))
        forge_audit(copy, n_asked=n_ends)
    for n_asked, n_leaves_checked in (("all", 0), (0, 0), (-5, -5), (n_ends, -1)):
        forge_audit(copy, **{**honest, "n_leaves_checked": n_leaves_checked}, n_asked=n_asked)
        assert orderly("verify", copy).code == 3, n_asked
    for n_asked in (n_ends, 10 * n_ends):  # all there are, if more were asked for
        forge_audit(copy, **honest, n_asked=n_asked)
        assert f"in 1 trees, audited every one of {n_ends:,} leaves" in strength(orderly, copy)
    forge_audit(copy, boards="0" * 64)
    assert strength(orderly, copy).endswith("in 1 trees, not audited"), "another list of boards"


def test_certificates_that_do_not_hold_together_are_a_mismatch(orderly, copy):
    rows = all_rows(copy)
    for wrong in (
        [*rows, rows[0]],
        [{**rows[0], "body": rows[0]["body"][:-4]}],
        [{**rows[0], "class_id": 10**6}],
    ):
        put_rows(copy, wrong)
        answer = orderly.fails(5, "verify", copy)
        assert files.CERTIFICATES in answer
        with pytest.raises(Rejected):
            checker.audit(copy, LIST)


def test_parts_of_one_class_are_apart_and_split_in_one_order(copy):
    run, whole = open_run(copy), all_rows(copy)[1]
    letters = run.partition.class_letters(whole["class_id"])

    def part(forced, *order):
        n_leaves = len(letters[order[len(forced)]])
        changes = {"forced": forced, "order": bytes(order), "n_leaves": n_leaves}
        row = whole | changes | {"body": bytes(4), "n_boards": 0}  # one split, and all are leaves
        return row | {"sha256": checker.row_digest(row)}

    a, b = list(letters[0])[:2]
    other = letters[1].replace(a, "")[-1]
    question = run.question.identity
    there = checker.count(question, [part(a, 0, 1, 2, 3), part(b, 0, 1, 2, 3)])
    assert (there.n_parts, there.n_classes) == (2, 1)
    for wrong in (
        [part(a, 0, 1, 2, 3), part(other, 1, 0, 2, 3)],
        [part(a, 0, 1, 2, 3), part(a + other, 0, 1, 2, 3)],
        [part(a, 0, 1, 2, 3), part(a, 0, 1, 2, 3)],
    ):
        with pytest.raises(Rejected, match="shares boards"):
            checker.count(question, wrong)
    cut, class_id = run.partition, whole["class_id"]
    image = next(
        rank for rank in range(cut.n_classes) if canonical_rank(cut, rank) == class_id != rank
    )
    forged = part(a, 0, 1, 2, 3) | {"class_id": image, "forced": cut.class_letters(image)[0][0]}
    with pytest.raises(Rejected, match="shares boards"):
        checker.count(question, [whole, forged | {"sha256": checker.row_digest(forged)}])
    for order in ((0, 1, 2), (0, 1, 2, 2), (0, 1, 2, 3, 3)):
        with pytest.raises(Rejected, match="no order of cells"):
            checker.count(question, [part(a, *order)])


# ---- false certificates


def test_a_leaf_that_is_none_is_found_among_all_and_by_chance(copy):
    """Boards that reach the cutoff are declared leaves: an audit of all leaves rejects that, one of
    a few may.
    """
    row = next(row for row in all_rows(copy) if row["n_boards"])
    body = np.frombuffer(row["body"], "<u4").copy()
    part = checker.CertifiedPart(question_about(copy), row)
    for split, (above, _, go_on) in enumerate(part.splits()):
        lost = len(go_on) if part.on_last(above) else 0
        row |= {"n_leaves": row["n_leaves"] + lost, "n_boards": row["n_boards"] - lost}
        body[split] *= not lost
    put_rows(copy, [{**row, "body": body.tobytes()}])
    with pytest.raises(Rejected, match="bound of a leaf"):
        checker.audit(copy, LIST)
    outcomes = set()
    for seed in range(8):
        try:
            checker.audit(copy, LIST, n_ends=row["n_leaves"] // 3, seed=seed)
            outcomes.add("accepted")
        except Rejected:
            outcomes.add("rejected")
    assert outcomes == {"accepted", "rejected"}


def test_a_leaf_whose_points_need_no_letter_of_the_next_cell_is_rejected(copy):
    question, row = question_about(copy), all_rows(copy)[0]
    letters = question.class_letters(row["class_id"])
    e, f = letters[2][0], letters[3][-1]
    question.take_words({f"{e}{f}": question.cutoff})
    forged = row | {"order": bytes([2, 3, 0, 1]), "forced": f"{e}{f}", "body": bytes(4)}
    forged |= {"n_leaves": len(letters[0]), "n_boards": 0}
    with pytest.raises(Rejected, match="bound of a leaf reaches"):
        checked(question, forged | {"sha256": checker.row_digest(forged)})


def test_parts_and_questions_that_the_checker_does_not_take(copy):
    question, row = question_about(copy), all_rows(copy)[0]
    letters = question.class_letters(row["class_id"])
    wrong = next(x for x in LETTERS if x not in letters[row["order"][0]])
    forged = row | {"forced": wrong}
    with pytest.raises(Rejected, match=f"does not have the letter '{wrong}'"):
        checker.CertifiedPart(question, forged | {"sha256": checker.row_digest(forged)})
    halves = f"{LETTERS[:13]} {LETTERS[13:]}"
    asked = {"dims": "4x4", "cutoff": 1}
    asked["partition"] = ", ".join(f"{kind}: {halves}" for kind in ("center", "edge", "corner"))
    wide = checker.RunQuestion(asked, "here")
    forged = row | {"fingerprint": wide.digest, "class_id": 0, "order": bytes(range(16))}
    with pytest.raises(Rejected, match="more than 12 cells"):
        checker.CertifiedPart(wide, forged | {"sha256": checker.row_digest(forged)})
    for points in ([2**31], range(1, 18)):
        with pytest.raises(Unreadable, match="31 bits or have more than 16"):
            question.take_words({f"word{n}": n for n in points})
    for buckets in (f"edge: {LETTERS[1:]}", f"edge: a{LETTERS}"):
        with pytest.raises(Rejected, match="do not hold every letter exactly once"):
            checker.RunQuestion(asked | {"partition": buckets}, "here")
    for dims in ("3x2", "0x5", "5x6", "2x13"):
        with pytest.raises(Unreadable, match=f"no boards of {dims} are audited"):
            checker.RunQuestion(asked | {"dims": dims}, "here")
    # it may change what a board scores
    with pytest.raises(Unreadable, match="here asks wraps = 1, which this checker does not know"):
        checker.RunQuestion(asked | {"wraps": 1}, "here")
    (copy / files.RUN).rename(copy / "elsewhere")
    (copy / files.RUN).symlink_to("elsewhere")
    with pytest.raises(Unreadable, match="not a plain file"):
        checker.audit(copy, LIST)


def test_the_digest_of_certificates_is_over_all_their_files(copy):
    run = open_run(copy)
    digests = [certificates.certificates_digest(run)]
    second = copy / files.part_name(files.CERTIFICATES, 2)
    for data in (b"one", b"two"):
        second.write_bytes(data)
        digests.append(certificates.certificates_digest(run))
    assert len(set(digests)) == 3
    (copy / files.CERTIFICATES / "notes.txt").write_text("of somebody else")
    assert certificates.certificates_digest(run) == digests[-1]


def test_an_altered_certificate_is_rejected_even_with_its_digest_made_good(copy):
    question, row = question_about(copy), largest(all_rows(copy))
    body, flips = row["body"], []
    for bit in np.random.default_rng(3).choice(8 * len(body), 10, replace=False).tolist():
        flipped = bytearray(body)
        flipped[bit // 8] ^= 1 << bit % 8
        flips.append({"body": bytes(flipped)})
    # a tree that ends too early, though its ends are counted right
    part = checker.CertifiedPart(question, row)
    *_, (above, letters, go_on) = part.splits()
    n_boards = row["n_boards"] - (len(go_on) if part.on_last(above) else 0)
    early: dict[str, Any] = {"body": body[:-4], "n_boards": n_boards}
    early["n_leaves"] = row["n_leaves"] + len(go_on) - len(letters)
    for change in (
        *flips,
        early,
        {"body": body[:-4]},
        {"body": body + bytes(4)},
        {"body": body[:-1]},
        {"body": bytes(4), "n_leaves": 999, "n_boards": 0},
        {"order": bytes([0, 0, 1, 2])},
        {"n_leaves": row["n_leaves"] + 1},
        *({"n_boards": n} for n in (row["n_boards"] + 1, 2**62, -1)),
        {"version": 1},
        {"fingerprint": "0" * 64},
        *({"class_id": class_id} for class_id in (4**4, -1)),
    ):
        changed = row | change
        with pytest.raises(
            Rejected, match="ends before the tree does" if change is early else None
        ):
            checked(question, changed | {"sha256": checker.row_digest(changed)})
    with pytest.raises(Rejected, match="digest"):
        checked(question, {**row, "n_leaves": row["n_leaves"] + 1})


def test_flipped_and_truncated_files_are_refused(orderly, copy):
    put_rows(copy, all_rows(copy))
    (path,) = (copy / files.CERTIFICATES).iterdir()
    data = path.read_bytes()
    for damaged in (
        data[: len(data) // 2],
        bytes([*data[:400], data[400] ^ 1, *data[401:]]),
        data[:-9],
    ):
        path.write_bytes(damaged)
        with pytest.raises((Rejected, Unreadable)):
            checker.audit(copy, LIST)
    path.write_bytes(serialise(pq.read_table(pa.BufferReader(data)).drop_columns(["body"])))
    with pytest.raises(Unreadable, match="lacks one of the columns"):
        checker.audit(copy, LIST)
    path.write_bytes(data[:-9])
    with pytest.raises(DamagedError):
        certificates.certified_parts(open_run(copy))
    assert orderly("audit", copy).code == 3


@pytest.mark.parametrize("claims_less", [False, True])
def test_a_board_lost_from_the_rows_is_noticed(copy, claims_less):
    n = len(boards(copy))
    lost = question_about(copy).images(boards(copy)[0].board)
    put_boards(copy, lambda found: [item for item in found if tuple(item["board"]) not in lost])
    if claims_less:
        claim = json.loads((copy / files.CLAIM).read_text())
        (copy / files.CLAIM).write_text(json.dumps({**claim, "n_canonical": n - 1}))
    with pytest.raises(
        Rejected, match="not listed" if claims_less else f"says {n} boards, the rows list {n - 1}"
    ):
        checker.audit(copy, LIST)


@pytest.mark.parametrize("change", [{"score": 99}, {"board": "zzzz"}, {"board": "abc"}])
def test_a_wrong_board_in_the_rows_is_rejected(copy, change):
    put_boards(copy, lambda found: [found[0] | change, *found[1:]])
    with pytest.raises(Rejected, match="listed"):
        checker.audit(copy, LIST)


def test_a_board_below_the_cutoff_may_not_be_listed(copy):
    weak = "bbad"
    score = question_about(copy).score(weak)
    assert 0 < score < open_run(copy).question.cutoff
    put_boards(copy, lambda found: [*found, {"board": weak, "score": score}])
    with pytest.raises(Rejected, match=f"{weak} is listed with {score}, it scores {score}; the c"):
        checker.audit(copy, LIST)


def test_another_word_list_is_refused(orderly, certified, tmp_path):
    (tmp_path / "words.txt").write_text("bee\nbeef\n")
    with pytest.raises(Unreadable):
        checker.audit(certified, tmp_path / "words.txt")
    assert orderly("audit", certified, "--wordlist", tmp_path / "words.txt").code == 3
    assert orderly("audit", "s3://bucket/run").code == 2


# ---- against slow twins


def test_the_checker_reads_word_lists_scores_and_symmetries_as_the_program_does(certified):
    question = question_about(certified)
    assert checker.read_words(LIST) == list(load_wordlist("scowl70").words)
    scorer = Scorer("2x2", load_wordlist("scowl70").words, parse_scores("standard"))
    rng = np.random.default_rng(1)
    boards = ["".join(rng.choice(list("aeirstnqx"), 4)) for _ in range(200)]
    assert [question.score(board) for board in boards] == scorer.scores(boards).tolist()
    words = sorted({"".join(rng.choice(list("abc"), n)) for n in rng.integers(3, 7, 60)})
    for dims in ("2x2", "2x3", "3x3", "3x4", "4x4", "3x7"):
        shape = geometry(dims)
        board = LETTERS[: shape.n]
        turned = {tuple(board[c] for c in image) for image in shape.symmetries.tolist()}
        question = checker.RunQuestion(fingerprint(dims, words), "", words)
        assert question.images(board) == turned
        boards = ["".join(rng.choice(list("abc"), shape.n)) for _ in range(20)]
        scores = Scorer(dims, words, STANDARD).scores(boards)
        assert [question.score(board) for board in boards] == scores.tolist()


def fingerprint(dims, words, points=STANDARD.points):
    """Return the identity of a run of one class, in the older form."""
    buckets = ", ".join(f"{kind}: {LETTERS}" for kind in ("center", "edge", "corner"))
    sha256 = hashlib.sha256("\n".join(words).encode()).hexdigest()
    asked = {"dims": dims, "cutoff": 1, "partition": buckets}
    return asked | {"scores": list(points), "wordlist_sha256": sha256}


def test_words_that_no_board_has_do_not_count():
    """Those of more letters than cells, and those without points, are no reason to refuse a run."""
    words = ["a" * n for n in range(3, 24)]
    points = [n * (n < 19) for n in range(65)]
    points[21:] = [2**31] * 44
    question = checker.RunQuestion(fingerprint("4x5", words, points), "", words)
    assert len(question.codes) == len(question.points_of_code) == 16


def test_the_checker_leaves_out_what_is_no_word(tmp_path):
    path = tmp_path / "words.txt"
    lines = ["tea", "", "te", "qu", "don't", "iraq", "tea cup", "TEA", "a" * 65, "quiet\r"]
    path.write_bytes("\n".join(lines).encode())
    assert checker.read_words(path) == ["qiet", "tea"]


LONGER = ["aaaa", "abab", "abba", "abca", "abcc", "bacb", "cab"]
# many words of few paths each: the room for terms runs out before that for paths
EVERY_THREE = ["".join(letters) for letters in product("abc", repeat=3)]


@pytest.mark.parametrize(
    ("words", "sizes"), [(LONGER, (41, 60, 100, 300)), (EVERY_THREE, (41, 240, 300))]
)
def test_terms_that_find_no_room_come_in_the_next_round(words, sizes):
    question = question_of(geometry("2x3"), {word: len(word) for word in words})
    letters, free = ["abc"] * 6, list(range(6))
    keys, points = checker._terms(question, letters, free)
    for size in sizes:
        some, worth = checker._terms(question, letters, free, size)
        assert (some.tolist(), worth.tolist()) == (keys.tolist(), points.tolist())


def test_a_beginning_that_no_path_has_ends_all_words_that_begin_so():
    """``aaab`` leaves paths of four letters behind, of which ``acab`` must find none."""
    question = question_of(geometry("2x2"), {"aaab": 1, "acaa": 1, "acab": 1})
    assert question.score("aaab") == 1


@st.composite
def small_classes(draw):
    dims = draw(st.sampled_from(["2x2", "2x3"]))
    n = geometry(dims).n
    letters = draw(
        st.lists(st.sets(st.sampled_from("abc"), min_size=1).map(sorted), min_size=n, max_size=n)
    )
    words = draw(st.sets(st.text("abc", min_size=2, max_size=4), min_size=1, max_size=8))
    return dims, ["".join(cell) for cell in letters], sorted(words)


@given(small_classes())
def test_terms_and_bounds_agree_with_the_slow_twin(case):
    dims, letters, words = case
    shape = geometry(dims)
    worth = {word: len(word) for word in words}
    question = question_of(shape, worth)
    free = [cell for cell in shape.cell_order if len(letters[cell]) > 1]
    single = set(range(shape.n)) - set(free)
    terms = with_points(absorb(terms_of_class(letters, words, shape.dims), single), worth)
    bounds = question.bounds(letters, free)
    assert bounds[0] + max(bounds[1:]) == orderly_bound(terms, free)
    if free:
        without = [term for term in terms if all(cell != free[0] for cell, _ in term[0])]
        assert bounds[0] == orderly_bound(without, free[1:])
        for x in letters[free[0]]:
            of_letter = [term for term in terms if (free[0], x) in term[0]]
            assert bounds[ord(x) - 96] == orderly_bound(of_letter, free[1:]), x


def asked(dims: str, points: Any, cutoff: int) -> Question:
    question = ask(dims, "0" * 64, "words", cutoff, "abcdefghijklmnopqrstuvwxyz")
    listed = parse_scores(points).points if isinstance(points, str) else points
    return replace(question, points=tuple(listed))


@given(small_classes())
def test_the_tree_of_a_class_holds_every_board_that_bounds_do_not_rule_out(case):
    dims, letters, words = case
    shape, worth = geometry(dims), {word: len(word) for word in words}
    exact = all_scores(letters, shape.dims, worth)
    cutoff = max(1, max(exact.values()))
    found = Certifier(asked(dims, tuple(range(65)), cutoff), words, memory_mb=1).shape(letters)
    question = question_of(shape, worth)
    question.cutoff, question.digest = cutoff, "x"
    question.cell_buckets = [[cell] for cell in letters]
    row: dict[str, Any] = {
        "version": checker.VERSION,
        "fingerprint": "x",
        "class_id": 0,
        "forced": "",
    }
    row |= {"body": found.body.astype("<u4").tobytes(), "order": bytes(found.order)}
    row |= {"n_leaves": found.n_leaves, "n_boards": found.n_boards}
    row["sha256"] = checker.row_digest(row)
    assert checked(question, row) == {
        board: score for board, score in exact.items() if score >= cutoff
    }
    part = checker.CertifiedPart(question, row)
    assert len(list(part.ends())) == found.n_leaves + found.n_boards
    bare = set(range(shape.n)) - set(part.free)
    terms = with_points(absorb(terms_of_class(letters, words, shape.dims), bare), worth)
    for above, choices, go_on in part.splits():
        for letter in choices:
            left = terms
            for cell, each in zip(part.free, above + letter, strict=False):
                left = branch(left, cell, each)
            bound = orderly_bound(left, part.free[len(above) + 1 :])
            assert (bound >= cutoff) == (letter in go_on)


def test_parts_whose_terms_find_no_room_make_no_certificate():
    words = ["".join(letters) for letters in product("abc", repeat=3)]
    certifier = Certifier(asked("2x2", tuple(range(65)), 3), words, memory_mb=1)
    node = Node((7,) * 4, 0)
    n_terms, keys, points = certifier._forest.terms(node, list(range(4)))

    def body(room: int) -> list[int]:
        tree = _Tree(keys[: n_terms + room].copy(), points[: n_terms + room].copy(), 3)
        tree.split(["abc"] * 4, 0, n_terms)
        return tree.body.tolist()

    whole = body(len(keys) - n_terms)
    with pytest.raises(IncompleteError, match="more terms than fit the memory"):
        body(0)
    fitting = 0
    for room in range(3 * n_terms):
        with suppress(IncompleteError):
            assert body(room) == whole
            fitting += 1
    assert 0 < fitting < 3 * n_terms


def test_no_board_is_ruled_out_by_a_bound_that_is_too_large_to_be_told():
    points = [0] * 3 + [1 << 29] * 62
    found = Certifier(asked("2x2", points, 1 << 30), ["tea", "tex"]).shape(["st", "e", "ay", "x"])
    assert found.body[-1] & 1, "a behind te"


def test_a_part_that_is_too_wide():
    words = [word for word in load_wordlist("scowl70") if len(word) <= 6]
    certifier = Certifier(asked("4x4", "standard", 9999), words, memory_mb=1)
    wide = ["abc"] * 16
    assert certifier.n_to_force(wide) == 4
    with pytest.raises(InputError):
        certifier.shape(wide)
    with pytest.raises(IncompleteError, match="memory"):
        certifier.shape(["abcdefghijklmnopqrstuvwxyz"] * 16, "seat")
