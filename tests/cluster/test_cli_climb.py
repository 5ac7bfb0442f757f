"""``climb``, ``longest``, ``neighbours`` and ``lists``: the options and what is printed."""

from __future__ import annotations

import csv
import io
import json
import os
import signal

import pytest

from boardclass.canonical import canonical_board
from boardclass.geometry import geometry
from cluster.cli import app
from cluster.cli import climb as climb_module
from tests.conftest import rows_of

LIST = "bee\nbeef\nfee\nqueen\nquit\nzebra\nseat\neats\neast\ntea\nate\n"


def climbed(orderly, words, *options):
    answer = orderly("climb", "--wordlist", words, "--pool", "30", "--format", "json", *options)
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


@pytest.mark.parametrize("method", ["pool", "anneal", "genetic"])
def test_every_method_lists_canonical_boards_with_their_scores(orderly, words, method):
    rows = climbed(orderly, words, "--dims", "2x2", "--method", method, "--runs", "2", "--workers", "2", "-n", "5")
    assert 1 <= len(rows) <= 5
    assert rows[0]["score"] == 5
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    assert all(row["board"] == canonical_board(row["board"], geometry("2x2")) for row in rows)
    scored = orderly("score", "-w", words, "--format", "csv", stdin="\n".join(row["board"] for row in rows)).out
    assert [int(row["score"]) for row in csv.DictReader(io.StringIO(scored))] == [row["score"] for row in rows]
    assert rows[0]["found"] >= 2


@pytest.mark.parametrize("method", ["pool", "anneal", "genetic"])
def test_from_a_board_with_a_word_and_without_letters(orderly, words, method):
    rows = climbed(orderly, words, "--dims", "2x3", "--contains", "Quit", "--exclude", "AZ", "--method", method)
    assert rows
    assert all(set("qit") <= set(row["board"]) and not set("az") & set(row["board"]) for row in rows)
    assert climbed(orderly, words, "--from", "seatxx", "--method", method)[0]["score"] >= 5


def test_the_table_draws_the_best_board_and_a_size_that_is_turned_is_told(orderly, words):
    answer = orderly("climb", "-d", "3x2", "-w", words, "--pool", "9", "-n", "1")
    assert "┌────┬────┐" in answer.out
    assert "3x2 turned: the same game as 2x3" in answer.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_prints_the_best_so_far(orderly, words, monkeypatch, terminal, number):
    told = climb_module.Lines.tell

    def interrupt(self, line):
        if "round 2," in line():
            os.kill(os.getpid(), number)
        told(self, line)

    def left(code):
        raise SystemExit(code)

    monkeypatch.setattr(climb_module.Lines, "tell", interrupt)
    monkeypatch.setattr(app, "_leave_at_once", left)
    answer = orderly("climb", "--dims", "3x3", "--pool", "90", "-w", words, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert answer.code == app.EXIT_INTERRUPTED == 130
    assert f"stopped by {number.name}: the best boards so far" in answer.err
    assert 1 <= len(rows) <= 10
    assert int(rows[0]["score"]) > 0
    assert {row["found"] for row in rows} == {"1"}


def test_a_terminal_gets_a_bar(terminal_of, words):
    terminal = terminal_of("climb", "--dims", "3x3", "--pool", "20", "-w", words)
    assert terminal.end() == 0
    assert "━" in terminal.raw.decode()
    assert " of 5, round " in terminal.raw.decode()


# ---- longest, neighbours, lists


@pytest.fixture
def long_words(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("seated\nteased\nsedate\nquieted\nseat\nsea\nate\ndate\nquiet\n")
    return path


def test_longest_finds_the_best_board_of_each_word(orderly, long_words):
    rows = rows_of(orderly("longest", "-d", "2x3", "-w", long_words, "--format", "csv"))
    assert {row["word"] for row in rows} == {"seated", "teased", "sedate", "quieted"}
    assert [int(row["score"]) for row in rows] == sorted((int(row["score"]) for row in rows), reverse=True)
    for row in rows:
        shown = json.loads(orderly("show", row["board"], "-w", long_words, "--format", "json").out)
        assert row["word"] in {word["word"] for word in shown["words"]}
        assert shown["score"] == int(row["score"])
    (only,) = rows_of(orderly("longest", "-d", "2x3", "-w", long_words, "--letters", "7", "--format", "csv"))
    assert only["word"] == "quieted"
    (one,) = rows_of(orderly("longest", "-d", "2x3", "-w", long_words, "--word", "Seated", "--format", "csv"))
    assert one == next(row for row in rows if row["word"] == "seated")
    sampled = rows_of(orderly("longest", "-d", "2x3", "-w", long_words, "--sample", "200", "--format", "csv"))
    assert {row["word"] for row in sampled} == {row["word"] for row in rows}


def test_every_command_says_that_a_size_is_turned(orderly, long_words):
    longest = orderly("longest", "-d", "3x2", "-w", long_words, "--word", "seated", "--format", "csv")
    assert longest.out.startswith("word,letters,board,score\nseated,6,")
    for answer in (longest, orderly("bound", "3", "-d", "3x2", "-w", long_words)):
        assert answer.err.startswith("3x2 turned: the same game as 2x3")


def test_neighbours(orderly, long_words):
    rows = rows_of(orderly("neighbours", "seatxd", "-d", "2x3", "-w", long_words, "-n", "1000", "--format", "csv"))
    (own,) = rows_of(orderly("score", "-w", long_words, "--format", "csv", stdin="seatxd"))
    assert 100 < len(rows) <= 6 * 25 + 15
    scored = orderly("score", "-w", long_words, "--format", "csv", stdin="\n".join(row["board"] for row in rows))
    for row, again in zip(rows, rows_of(scored), strict=True):
        assert row["score"] == again["score"]
        assert int(row["difference"]) == int(row["score"]) - int(own["score"])
    assert rows[0]["change"].startswith("row ")
    assert orderly("neighbours", "abc").code == 2


def test_lists(orderly, long_words, monkeypatch):
    (long_words.parent / "bad.txt").write_text("CAT\n")
    monkeypatch.setenv("ORDERLY_WORDLISTS", str(long_words.parent))
    answer = orderly("lists", "seatxd", "--format", "json")
    rows = {row["wordlist"]: row for row in json.loads(answer.out)}
    assert rows["long"]["words"] == rows["long"]["score"] == 1
    assert rows["scowl70"]["score"] > 1
    assert "left out bad" in answer.err
