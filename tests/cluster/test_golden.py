"""The published 3x3 result, found by the command line from end to end: same boards, same digest for any workers."""

from __future__ import annotations

import csv
import io
import json

import pytest

from boardclass.canonical import canonical_board
from boardclass.geometry import geometry

QUESTION = ("run", "3x3", "--wordlist", "enable2k", "--cutoff", "500")
# Of the 42 published boards with their scores.
DIGEST = "6a8a2a998795c9b26e4fd1964fd3921974aa8c01b9be9bc723b04e4f450a578f"


def digest_of(orderly, directory):
    return json.loads(orderly("status", directory, "--format", "json").out)["digest"]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("workers", [0, *(pytest.param(n, marks=[pytest.mark.nightly]) for n in (1, 2))])
def test_golden_3x3(enable2k, golden, orderly, tmp_path, workers):
    answer = orderly(*QUESTION, "--workers", workers, "--out", tmp_path / "run")
    assert answer.code == 0, answer.err
    assert "exactly 42 up to symmetry" in " ".join(answer.out.split())
    rows = csv.DictReader(io.StringIO(orderly("top", tmp_path / "run", "-n", "99", "--format", "csv").out))
    found = [(row["board"], int(row["score"])) for row in rows]
    lines = (golden / "best-3x3-enable2k-500.txt").read_text().split("\n")
    published = [line.split(": ") for line in lines if line]
    expected = {(canonical_board(board, geometry("3x3")), int(score)) for board, score in published}
    assert len(found) == len(expected) == 42
    assert set(found) == expected
    assert found[0][1] == 545
    assert digest_of(orderly, tmp_path / "run") == DIGEST
