"""``climb``: the options, what is printed, also when it is interrupted; test_cli_streams.py has its bar."""

from __future__ import annotations

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
    assert (rows[0]["score"], rows[0]["found"] >= 2) == (5, True)
    assert rows == sorted(rows, key=lambda row: -row["score"])
    assert all(row["board"] == canonical_board(row["board"], geometry("2x2")) for row in rows)
    scored = orderly("score", "-w", words, "--format", "csv", stdin="\n".join(row["board"] for row in rows))
    assert [int(row["score"]) for row in rows_of(scored)] == [row["score"] for row in rows]
    chosen = ("--contains", "Quit", "--exclude", "AZ", "-n", "30")
    rows = climbed(orderly, words, "--dims", "2x3", "--method", method, *chosen)
    assert rows
    assert all(set("qit") <= set(row["board"]) <= set("bcdefghijklmnopqrstuvwxy") for row in rows)
    assert climbed(orderly, words, "--from", "seatxx", "--method", method)[0]["score"] >= 5


def test_the_table_draws_the_best_board_and_a_size_that_is_turned_is_told(orderly, words):
    climb = ("climb", "-w", words, "--pool", "9")
    drawn = orderly(*climb, "-d", "2x2")
    assert ("┌────┬────┐" in drawn.out, "turned" in drawn.err) == (True, False)
    turned = orderly(*climb, "-d", "3x2", "--format", "csv")
    assert turned.out.startswith("board,score,found\n")
    assert "3x2 turned: the same game as 2x3" in turned.err


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
    assert answer.code == app.EXIT_INTERRUPTED == 130
    assert f"stopped by {number.name}: the best boards so far" in answer.err
    rows = rows_of(answer._replace(code=0))
    assert 1 <= len(rows) <= 10
    assert int(rows[0]["score"]) > 0
    assert {row["found"] for row in rows} == {"1"}
