"""``show --out``: the picture says what the board is, in every reader of SVG and as PNG."""

from __future__ import annotations

import re
import struct
import xml.etree.ElementTree as ET

import pytest

from boardclass.board import format_rows
from boardclass.board_svg import SIZE, board_svg

SVG = "{http://www.w3.org/2000/svg}"
WORDS = "bee\nbeef\nfee\nqueen\nquit\n"


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text(WORDS)
    return path


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


def test_show_draws_into_a_file(orderly, words, tmp_path):
    answer = orderly("show", "ebeefe", "-w", words, "--word", "Beef", "--out", tmp_path / "b.svg")
    assert answer.code == 0, answer.err
    assert answer.out.strip() == f"{tmp_path / 'b.svg'}: ebeefe, 3 points, 3 words"
    drawn = ET.fromstring((tmp_path / "b.svg").read_text())
    assert len(list(drawn.iter(f"{SVG}rect"))) == 6
    (line,) = drawn.iter(f"{SVG}polyline")
    assert len(str(line.get("points")).split()) == 4
    assert "prefers-color-scheme: dark" in (tmp_path / "b.svg").read_text()


def test_show_draws_a_png(orderly, words, tmp_path):
    pytest.importorskip("vl_convert", reason="PNG needs the extra: pip install 'orderly-boggle[report]'")
    assert orderly("show", "ebeefe", "-w", words, "--out", tmp_path / "b.png").code == 0
    data = (tmp_path / "b.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (4 * SIZE, 6 * SIZE)
