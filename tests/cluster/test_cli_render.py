"""Drawn boards and tables: the layout, the heat of the cells, pictures in files, and what programs
read back.
"""

from __future__ import annotations

import csv
import io
import json
import struct
import xml.etree.ElementTree as ET

import pytest

from orderly_boggle.boardclass.board import format_rows
from orderly_boggle.boardclass.board_svg import SIZE, board_svg, heat_of_cells
from orderly_boggle.cluster.answers.render import draw_board, write_json, write_record, write_table
from orderly_boggle.cluster.streams import console, tell


def drawn(rows, heat=None):
    """Return the lines of a drawing, and the style of each face."""
    parts = list(console().render(draw_board(rows, heat)))
    lines = "".join(part.text for part in parts).splitlines()
    return lines, {part.text.strip(): str(part.style) for part in parts}


def test_a_board_is_drawn_with_its_columns_downwards_and_the_heat_of_its_words():
    lines, _ = drawn(format_rows("abqdef", "2x3"))
    assert lines[1::2] == ["│ A  │ D  │", "│ B  │ E  │", "│ Qu │ F  │"]
    assert lines[::6] == ["┌────┬────┐", "└────┴────┘"]
    heat = heat_of_cells(4, [(11, (0, 1, 3)), (1, (3, 2))])
    assert heat == [11, 11, 1, 12]
    rows = [["A", "B"], ["C", "D"]]
    lines, style = drawn(rows, heat)
    assert style["B"] != style["D"]
    assert lines == drawn(rows)[0]
    _, style = drawn(rows, [7] * 4)
    assert {style[face] for face in "ABCD"} == {"bold"}, "equal heat: no colour"


WIDE = [("abcdefghijklmno", 123456789, "word " * 40, None), ("[red]x", 1, 'a,"y', 2.5)]
COLUMNS = ("board", "score", "text", "f")


def test_csv_and_json_read_back_as_written(capsys):
    write_table(COLUMNS, WIDE, "csv")
    written = [[str(value or "") for value in row] for row in WIDE]
    assert list(csv.reader(io.StringIO(capsys.readouterr().out))) == [list(COLUMNS), *written]
    write_table(COLUMNS, WIDE, "json")
    assert json.loads(capsys.readouterr().out) == [
        dict(zip(COLUMNS, row, strict=True)) for row in WIDE
    ]


def test_a_table_has_one_line_a_row_and_a_narrow_terminal_folds_texts_and_no_number(
    capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "20")
    write_table(COLUMNS, WIDE)
    lines = capsys.readouterr().out.splitlines()
    assert (len(lines), lines[1].count("word")) == (3, 40)
    assert "123,456,789" in lines[1]
    assert lines[2].startswith("[red]x ")
    for name, value in (("FORCE_COLOR", "1"), ("NO_COLOR", "1"), ("COLUMNS", "24")):
        monkeypatch.setenv(name, value)
    write_table(COLUMNS, WIDE)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 10
    assert lines[1].startswith("abcdefghijklmno  123,456,789  word")
    assert any(line.endswith(" 2.5") for line in lines)


def test_a_record_in_every_format(capsys):
    record = {"n_boards": 3, "best_boards": ["abcd", "efgh"], "complete": True}
    write_record(record, "json")
    assert json.loads(capsys.readouterr().out) == record
    write_record(record, "csv")
    assert capsys.readouterr().out == "n_boards,best_boards,complete\n3,abcd efgh,True\n"
    write_record(record)
    assert capsys.readouterr().out == "n boards     3\nbest boards  abcd efgh\ncomplete     yes\n"


HOSTILE = "a\x1b[2J\x9bb\u202ec\u2028d\ud800e\x07\rf"


@pytest.mark.parametrize("fmt", ["table", "json", "csv"])
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
    value = {"é": [HOSTILE, "\U000e0001", "\n\t", 1.5]}
    write_json(value)
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    assert "é" in out
    assert json.loads(out) == value


SVG = "{http://www.w3.org/2000/svg}"


def test_every_cell_is_where_it_belongs_and_a_path_goes_from_cell_to_cell():
    rows = format_rows("abqdef", "2x3")
    drawn = ET.fromstring(board_svg(rows, [1, 2, 3, 4, 5, 6], (0, 4, 1), styled=True))
    faces = {
        (int(item.get("x")) // SIZE, int(item.get("y")) // SIZE): item.text
        for item in drawn.iter(f"{SVG}text")
    }
    assert [[faces[x, y] for x in range(2)] for y in range(3)] == rows
    (line,) = drawn.iter(f"{SVG}polyline")
    assert line.get("points") == "25,25 75,75 25,75"
    squares = list(drawn.iter(f"{SVG}rect"))
    assert [item.get("class") for item in squares] == ["on", "on", None, None, "on", None]
    papers = [str(item.get("fill")) for item in squares]
    assert papers == sorted(set(papers), reverse=True), (
        "cell by cell, each redder than the one before"
    )
    plain = ET.fromstring(board_svg(rows, [7] * 6))
    assert len({item.get("fill") for item in plain.iter(f"{SVG}rect")}) == 1
    assert not list(plain.iter(f"{SVG}polyline"))


def test_show_draws_into_a_file(orderly, words, tmp_path):
    picture = tmp_path / "b.svg"

    def drawn(board):
        out = orderly.done("show", board, "-w", words, "--word", "Beef", "--out", picture)
        assert out.startswith(f"{picture}: ")
        return ET.fromstring(picture.read_text())

    (line,) = drawn("ebeefe").iter(f"{SVG}polyline")
    assert len(str(line.get("points")).split()) == 4
    assert "prefers-color-scheme: dark" in picture.read_text()
    special = drawn("b.e/e[a/e/i]f")
    sizes = {str(item.text): int(str(item.get("font-size"))) for item in special.iter(f"{SVG}text")}
    assert (sizes["B"], sizes["A/E/I"]) == (22, 13), "letters that fit"
    assert "." in sizes
    assert len(list(special.iter(f"{SVG}polyline"))) == 1
    assert (
        "on b.e/eef: not a word of small on this board"
        in orderly("show", "b.e/eef", "-w", words, "--out", picture, "--word", "bed").err
    )
    pytest.importorskip(
        "vl_convert", reason="PNG needs the extra: pip install 'orderly-boggle[report]'"
    )
    orderly.done("show", "ebeefe", "-w", words, "--out", tmp_path / "b.png")
    data = (tmp_path / "b.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (4 * SIZE, 6 * SIZE)
