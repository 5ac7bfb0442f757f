"""``climb``: the options, what is printed, and everything that is refused."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import pty
import signal
import subprocess

import pytest

from boardclass.canonical import canonical_board
from boardclass.geometry import geometry
from cluster.cli import app
from cluster.cli import climb as climb_module
from tests.conftest import COMMAND

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


def test_excluded_letters_do_not_occur(orderly, words):
    rows = climbed(orderly, words, "--dims", "2x3", "--exclude", "AZ", "-n", "30")
    assert rows
    assert not any(set("az") & set(row["board"]) for row in rows)


@pytest.mark.parametrize("method", ["pool", "anneal", "genetic"])
def test_from_a_board_and_with_a_word(orderly, words, method):
    rows = climbed(orderly, words, "--dims", "2x3", "--contains", "Quit", "--method", method)
    assert all(set("qit") <= set(row["board"]) for row in rows)
    assert climbed(orderly, words, "--from", "seatxx", "--method", method)[0]["score"] >= 5


def test_the_table_draws_the_best_board_and_csv_has_a_header(orderly, words):
    assert "┌────┬────┐" in orderly("climb", "-d", "2x2", "-w", words, "--pool", "9").out
    assert orderly("climb", "-d", "2x2", "-w", words, "--pool", "9", "--format", "csv").out.startswith(
        "board,score,found\n"
    )


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


def test_a_terminal_gets_a_bar(words, project_root):
    options = ("climb", "--dims", "3x3", "--pool", "20", "-w", str(words))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *options],
        cwd=project_root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the other side has gone
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    assert process.wait(timeout=60) == 0
    assert "━" in shown.decode()
    assert " of 5, round " in shown.decode()


def test_a_size_that_is_turned_is_told(orderly):
    answer = orderly("climb", "-d", "4x3", "--pool", "2", "--runs", "1", "-n", "1", "--format", "csv")
    assert "4x3 turned: the same game as 3x4" in answer.err
    assert "turned" not in orderly("climb", "-d", "2x2", "--pool", "2", "--runs", "1", "-n", "1").err
