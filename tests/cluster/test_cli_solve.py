"""``solve``: every method and format says the same, special tiles, bad input."""

from __future__ import annotations

import json

import pytest

METHODS = ("trie", "words", "heap", "paths")


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text("bee\nbeef\nfee\nqueen\nquit\nzebra\n")
    return path


@pytest.mark.parametrize("method", METHODS)
def test_every_method_says_the_same(orderly, words, method):
    answer = orderly("solve", "ebeefe", "--method", method, "--wordlist", words, "--format", "csv")
    assert answer == (0, "word,points,letters\nbee,1,3\nbeef,1,4\nfee,1,3\n", "")
    record = json.loads(orderly("solve", "nqteeixxx", "-m", method, "-w", words, "--format", "json").out)
    assert (record["score"], record["n_words"]) == (3, 2)
    assert record["n_paths"] == (10_305 if method == "paths" else None)
    assert "3 points, 3 words" in orderly("solve", "ebeefe", "--method", method, "--wordlist", words).out


def test_special_tiles(orderly, words):
    plain = ("solve", "ebeefe", "--wordlist", words, "--format", "csv")
    f_cell = "4"
    assert "fee" in orderly(*plain, "--begin-only", f_cell).out
    assert "beef" not in orderly(*plain, "--begin-only", f_cell).out
    assert "beef" in orderly(*plain, "--end-only", f_cell).out
    assert "fee" not in orderly(*plain, "--end-only", f_cell).out
