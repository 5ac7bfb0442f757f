"""The notebook of the documentation runs, and shows what is stored in it."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("ipykernel", reason="needs ipykernel: pip install 'orderly-boggle[test]'")
pytest.importorskip("nbclient", reason="needs nbclient: pip install 'orderly-boggle[test]'")
pytest.importorskip("pandas", reason="needs pandas: pip install 'orderly-boggle[notebook]'")

import nbformat

from tests.docs.notebook import NOTEBOOK, carried_out, outputs


def test_the_notebook_shows_what_it_says():
    """Boards are drawn and tables are tables; it is small and says nothing of the machine that made it."""
    stored = nbformat.read(NOTEBOOK, as_version=4)
    assert list(outputs(carried_out(NOTEBOOK))) == list(outputs(stored))
    shown = [kinds for _, kinds in outputs(stored)]
    assert sum("image/svg+xml" in kinds for kinds in shown) >= 2
    assert sum("<table>" in kinds.get("text/html", "") for kinds in shown) >= 3
    assert all(kinds for source, kinds in outputs(stored) if not source.startswith(("import", "from")))
    nbformat.validate(stored)
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 60_000
    assert not re.search(r"/(home|root|tmp|usr|work|Users)/|0x[0-9a-f]{6}", text)
    assert set(stored.metadata) == {"kernelspec"}
