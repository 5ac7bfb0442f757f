"""Drawn boards and tables: the layout, the heat of the cells, and what programs read back."""

from __future__ import annotations

import csv
import io
import json

import pytest
from rich.console import Console

from boardclass.board import format_rows
from cluster.answers import render
from cluster.answers.render import Format, draw_board, heat_of_cells, write_json, write_record, write_table
from cluster.streams import console, tell

COLUMNS = ("board", "score")
ROWS = [("abcd", 1234), ('a,"b', -1)]


def test_a_board_is_drawn_with_its_columns_downwards():
    assert draw_board(format_rows("abqdef", "2x3")).plain.splitlines() == [
        "┌────┬────┐",
        "│ A  │ D  │",
        "├────┼────┤",
        "│ B  │ E  │",
        "├────┼────┤",
        "│ Qu │ F  │",
        "└────┴────┘",
    ]


def test_heat_adds_the_points_of_each_word_along_its_path():
    assert heat_of_cells(4, [(11, (0, 1, 3)), (1, (3, 2))]) == [11, 11, 1, 12]


def test_the_hottest_and_the_coldest_cell_differ_in_colour():
    drawn = draw_board([["A", "B"], ["C", "D"]], [0, 5, 1, 9])
    style = {drawn.plain[span.start : span.end].strip(): span.style for span in drawn.spans}
    assert len({style["A"], style["D"]}) == 2
    assert drawn.plain == draw_board([["A", "B"], ["C", "D"]]).plain


@pytest.mark.parametrize("heat", [[0, 0, 0, 0], [7, 7, 7, 7]])
def test_equal_heat_needs_no_colour(heat):
    assert all("on" not in str(span.style).split() for span in draw_board([["A", "B"], ["C", "D"]], heat).spans)


def test_csv_and_json_read_back_as_written(capsys):
    write_table(COLUMNS, ROWS, Format.csv)
    assert [tuple(row) for row in csv.reader(io.StringIO(capsys.readouterr().out))] == [
        COLUMNS,
        *((board, str(score)) for board, score in ROWS),
    ]
    write_table(COLUMNS, ROWS, Format.json)
    assert json.loads(capsys.readouterr().out) == [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]


def test_a_table_prints_brackets_as_they_are_and_numbers_in_groups(capsys):
    write_table(COLUMNS, [("[red]x", 1234567)])
    out = capsys.readouterr().out
    assert "[red]x" in out
    assert "1,234,567" in out


WIDE = [("abcdefghijklmno", 123456789, "word " * 40, None), ("x", 1, "y", 2.5)]


def test_a_table_that_is_piped_has_one_line_a_row(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    write_table(("board", "score", "text", "f"), WIDE)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[1].count("word") == 40
    assert "123,456,789" in lines[1]


def test_a_narrow_terminal_folds_texts_and_no_number(capsys, monkeypatch):
    monkeypatch.setattr(render, "console", lambda: Console(force_terminal=True, width=24, no_color=True))
    write_table(("board", "score", "text", "f"), WIDE)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 10
    assert lines[1].startswith("abcdefghijklmno  123,456,789  word")
    assert any(line.endswith(" 2.5") for line in lines)


def test_a_record_in_every_format(capsys):
    record = {"n_boards": 3, "best_boards": ["abcd", "efgh"], "complete": True}
    write_record(record, Format.json)
    assert json.loads(capsys.readouterr().out) == record
    write_record(record, Format.csv)
    assert capsys.readouterr().out == "n_boards,best_boards,complete\n3,abcd efgh,True\n"
    write_record(record)
    assert capsys.readouterr().out == "n boards     3\nbest boards  abcd efgh\ncomplete     yes\n"


HOSTILE = "a\x1b[2J\x9bb\u202ec\u2028d\ud800e\x07\rf"


@pytest.mark.parametrize("fmt", Format)
def test_what_a_terminal_would_obey_is_escaped(capsys, fmt):
    write_table((HOSTILE,), [(HOSTILE,), (f"{HOSTILE}\nProven.",)], fmt)
    write_record({HOSTILE: [HOSTILE]}, fmt)
    console().print(HOSTILE, markup=False)
    tell(HOSTILE)
    said = capsys.readouterr()
    for text in (said.out, said.err):
        assert text.replace("\n", "").isprintable()
    assert "\nProven" not in said.out
    assert "\\x1b[2J" in said.err


def test_escaped_json_says_the_same(capsys):
    value = {"é": [HOSTILE, "\U000e0001", "\n\t", 1.5]}
    write_json(value)
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    assert "é" in out
    assert json.loads(out) == value
