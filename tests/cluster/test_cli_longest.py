"""``longest``, ``neighbours`` and ``lists``."""

from __future__ import annotations

import json

from tests.conftest import rows_of

LIST = "seated\nteased\nsedate\nquieted\nseat\nsea\nate\ndate\nquiet\n"


def test_longest_finds_the_best_board_of_each_word(orderly, words):
    rows = rows_of(orderly("longest", "-d", "2x3", "-w", words, "--format", "csv"))
    assert {row["word"] for row in rows} == {"seated", "teased", "sedate", "quieted"}
    assert [int(row["score"]) for row in rows] == sorted((int(row["score"]) for row in rows), reverse=True)
    for row in rows:
        shown = json.loads(orderly("show", row["board"], "-w", words, "--format", "json").out)
        assert row["word"] in {word["word"] for word in shown["words"]}
        assert shown["score"] == int(row["score"])
    (only,) = rows_of(orderly("longest", "-d", "2x3", "-w", words, "--letters", "7", "--format", "csv"))
    assert only["word"] == "quieted"
    (one,) = rows_of(orderly("longest", "-d", "2x3", "-w", words, "--word", "Seated", "--format", "csv"))
    assert one == next(row for row in rows if row["word"] == "seated")
    sampled = rows_of(orderly("longest", "-d", "2x3", "-w", words, "--sample", "200", "--format", "csv"))
    assert {row["word"] for row in sampled} == {row["word"] for row in rows}


def test_every_command_says_that_a_size_is_turned(orderly, words):
    longest = orderly("longest", "-d", "3x2", "-w", words, "--word", "seated", "--format", "csv")
    assert longest.out.startswith("word,letters,board,score\nseated,6,")
    for answer in (longest, orderly("bound", "3", "-d", "3x2", "-w", words)):
        assert answer.err.startswith("3x2 turned: the same game as 2x3")


def test_neighbours(orderly, words):
    rows = rows_of(orderly("neighbours", "seatxd", "-d", "2x3", "-w", words, "-n", "1000", "--format", "csv"))
    own = int(rows_of_score(orderly, words, "seatxd"))
    assert 100 < len(rows) <= 6 * 25 + 15
    scored = orderly("score", "-w", words, "--format", "csv", stdin="\n".join(row["board"] for row in rows))
    for row, again in zip(rows, rows_of(scored), strict=True):
        assert row["score"] == again["score"]
        assert int(row["difference"]) == int(row["score"]) - own
    assert rows[0]["change"].startswith("row ")
    assert orderly("neighbours", "abc").code == 2


def rows_of_score(orderly, words, board):
    return rows_of(orderly("score", "-w", words, "--format", "csv", stdin=board))[0]["score"]


def test_lists(orderly, words, monkeypatch):
    (words.parent / "bad.txt").write_text("CAT\n")
    monkeypatch.setenv("ORDERLY_WORDLISTS", str(words.parent))
    answer = orderly("lists", "seatxd", "--format", "json")
    rows = {row["wordlist"]: row for row in json.loads(answer.out)}
    assert rows["small"]["words"] == rows["small"]["score"] == 1
    assert rows["scowl70"]["score"] > 1
    assert "left out bad" in answer.err
