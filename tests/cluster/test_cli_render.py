"""Drawn boards and tables: the layout, the heat of the cells, pictures in files, and what programs read back."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import xml.etree.ElementTree as ET

import pytest
from rich.console import Console

from boardclass.board import format_rows
from boardclass.board_svg import SIZE, board_svg
from cluster.answers import render
from cluster.answers.render import Format, draw_board, heat_of_cells, write_json, write_record, write_table
from cluster.streams import console, tell


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


def test_heat_colours_the_cells_unless_all_are_alike():
    heat = heat_of_cells(4, [(11, (0, 1, 3)), (1, (3, 2))])
    assert heat == [11, 11, 1, 12]
    drawn = draw_board([["A", "B"], ["C", "D"]], heat)
    style = {drawn.plain[span.start : span.end].strip(): span.style for span in drawn.spans}
    assert style["B"] != style["D"]
    alike = draw_board([["A", "B"], ["C", "D"]], [7] * 4)
    assert alike.plain == drawn.plain
    assert all("on" not in str(span.style).split() for span in alike.spans)


def test_csv_and_json_read_back_as_written(capsys):
    columns, rows = ("board", "score"), [("abcd", 1234), ('a,"b', -1)]
    write_table(columns, rows, Format.csv)
    read = [tuple(row) for row in csv.reader(io.StringIO(capsys.readouterr().out))]
    assert read == [columns, *((board, str(score)) for board, score in rows)]
    write_table(columns, rows, Format.json)
    assert json.loads(capsys.readouterr().out) == [dict(zip(columns, row, strict=True)) for row in rows]
    record = {"n_boards": 3, "best_boards": ["abcd", "efgh"], "complete": True}
    write_record(record, Format.json)
    assert json.loads(capsys.readouterr().out) == record
    write_record(record, Format.csv)
    assert capsys.readouterr().out == "n_boards,best_boards,complete\n3,abcd efgh,True\n"
    write_record(record)
    assert capsys.readouterr().out == "n boards     3\nbest boards  abcd efgh\ncomplete     yes\n"


WIDE = [("abcdefghijklmno", 123456789, "word " * 40, None), ("x", 1, "y", 2.5)]


def test_a_table_that_is_piped_has_one_line_a_row(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    write_table(("board", "[red]", "text", "f"), WIDE)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "[red]" in lines[0]
    assert lines[1].count("word") == 40
    assert "123,456,789" in lines[1]


def test_a_narrow_terminal_folds_texts_and_no_number(capsys, monkeypatch):
    monkeypatch.setattr(render, "console", lambda: Console(force_terminal=True, width=24, no_color=True))
    write_table(("board", "score", "text", "f"), WIDE)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 10
    assert lines[1].startswith("abcdefghijklmno  123,456,789  word")
    assert any(line.endswith(" 2.5") for line in lines)


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


SVG = "{http://www.w3.org/2000/svg}"


def test_every_cell_is_where_it_belongs():
    rows = format_rows("abqdef", "2x3")
    drawn = ET.fromstring(board_svg(rows, [1, 2, 3, 4, 5, 6], styled=True))
    faces = {(int(item.get("x")) // SIZE, int(item.get("y")) // SIZE): item.text for item in drawn.iter(f"{SVG}text")}
    assert [[faces[x, y] for x in range(2)] for y in range(3)] == rows
    papers = [str(item.get("fill")) for item in drawn.iter(f"{SVG}rect")]
    assert papers == sorted(papers, reverse=True), "cell by cell, each redder than the one before"
    assert len(set(papers)) == 6
    assert len(set(re.findall(r'fill="(#[0-9a-f]{6})" stroke', board_svg(rows, [7] * 6)))) == 1


def test_a_path_goes_from_cell_to_cell():
    drawn = ET.fromstring(board_svg(format_rows("abcd", "2x2"), [0] * 4, (0, 3, 1)))
    (line,) = drawn.iter(f"{SVG}polyline")
    assert line.get("points") == "25,25 75,75 25,75"
    assert [item.get("class") for item in drawn.iter(f"{SVG}rect")] == ["on", "on", None, "on"]
    assert not list(ET.fromstring(board_svg(format_rows("abcd", "2x2"), [0] * 4)).iter(f"{SVG}polyline"))


def test_show_draws_into_a_file_in_letters_that_fit(orderly, words, tmp_path):
    file = tmp_path / "b.svg"
    answer = orderly("show", "b.e/e[a/e/i]f", "-w", words, "--word", "Beef", "--out", file)
    assert answer.out.strip() == f"{file}: b.e/e[a/e/i]f, 3 points, 3 words", answer.err
    drawn = ET.fromstring(file.read_text())
    sizes = {str(item.text): int(str(item.get("font-size"))) for item in drawn.iter(f"{SVG}text")}
    assert (sizes["B"], sizes["A/E/I"]) == (22, 13)
    (line,) = drawn.iter(f"{SVG}polyline")
    assert len(str(line.get("points")).split()) == 4
    assert "prefers-color-scheme: dark" in file.read_text()


def test_show_draws_a_png(orderly, words, tmp_path):
    pytest.importorskip("vl_convert", reason="PNG needs the extra: pip install 'orderly-boggle[report]'")
    assert orderly("show", "ebeefe", "-w", words, "--out", tmp_path / "b.png").code == 0
    data = (tmp_path / "b.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (4 * SIZE, 6 * SIZE)
