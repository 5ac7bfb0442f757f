"""The pictures of the documentation are what the program draws, and small."""

from __future__ import annotations

import re
import runpy
import xml.etree.ElementTree as ET
from importlib import import_module

import pytest

from tests.conftest import ROOT, make_in

IMAGES = ROOT / "docs" / "images"


@pytest.mark.nightly
def test_the_program_draws_the_pictures(tmp_path, monkeypatch):
    pytest.importorskip("altair", reason="the example needs the extra: pip install 'orderly-boggle[report]'")
    pytest.importorskip("vl_convert", reason="the example needs the extra: pip install 'orderly-boggle[report]'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(IMAGES)
    monkeypatch.setenv("ORDERLY_WORDLISTS", "")
    monkeypatch.setattr("sys.argv", ["chart.py"])
    regenerate = import_module("regenerate")
    for command in regenerate.COMMANDS:
        make_in(tmp_path, *command)
    runpy.run_path(str(regenerate.EXAMPLE))
    drawn = {path.name: path.read_text() for path in tmp_path.glob("*.svg")}
    chart = drawn.pop("rolls.svg")  # Altair draws it: the version decides the details
    assert drawn == {path.name: path.read_text() for path in IMAGES.glob("*.svg") if path.name != "rolls.svg"}
    texts = [item.text for item in ET.fromstring(chart).iter("{http://www.w3.org/2000/svg}text")]
    kept = [item.text for item in ET.parse(IMAGES / "rolls.svg").iter("{http://www.w3.org/2000/svg}text")]
    assert any(text and text.startswith("111,460 words: ") for text in texts)
    assert texts[-1] == kept[-1]


def test_pictures_are_small_and_so_is_the_example():
    pictures = [path for path in IMAGES.iterdir() if path.suffix in {".svg", ".png"}]
    assert len(pictures) >= 5
    assert all(path.stat().st_size < 200_000 for path in pictures)
    code = (ROOT / "docs" / "examples" / "chart.py").read_text().partition('"""\n')[2]
    told = re.search(r"to a chart in (\d+) lines", (ROOT / "docs" / "README.md").read_text())
    assert told
    assert 0 < len([line for line in code.splitlines() if line.strip()]) <= int(told[1])
