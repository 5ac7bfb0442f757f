"""Pictures and tables for notebooks: what they hold, and that no text becomes markup."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from boardclass.board import Board
from boardclass.tables import html_table

SVG = "{http://www.w3.org/2000/svg}"


def test_a_board_draws_itself():
    drawn = ET.fromstring(Board("qoii")._repr_svg_())
    assert [text.text for text in drawn.iter(f"{SVG}text")] == ["Qu", "O", "I", "I"]
    assert drawn.get("aria-label") == "Board Qu I / O I"
    assert (drawn.get("width"), drawn.get("height")) == ("100", "100")
    assert len({cell.get("fill") for cell in drawn.iter(f"{SVG}rect")}) == 1


def test_cells_of_a_table_are_text():
    html = html_table(
        "<b>", ["<i>", "n"], [["<script>alert(1)</script>", 12345], ['"\x1b[2J\u202e', None], [True, 1.5]]
    )
    table = ET.fromstring(html)
    assert [item.text for item in table.iter("th")] == ["<i>", "n"]
    assert table.findtext("caption") == "<b>"
    told = [item.text or "" for item in table.iter("td")]
    assert told == ["<script>alert(1)</script>", "12,345", '"\\x1b[2J\\u202e', "", "True", "1.5"]
    assert not list(table.iter("script"))
    assert ["right" in str(item.get("style")) for item in table.iter("td")] == [False, True, False, False, False, True]
    assert ET.fromstring(html_table("none", (), [])).find("thead") is None
