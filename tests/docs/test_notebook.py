"""The notebook of the documentation runs, and shows what is stored in it.

python -m tests.docs.test_notebook writes it with new outputs.
"""

from __future__ import annotations

import os
import re

import pytest

from tests.conftest import ROOT
from tests.notebooks import carry_out

nbformat = pytest.importorskip(
    "nbformat", reason="needs nbclient: pip install 'orderly-boggle[test]'"
)
pytest.importorskip("pandas", reason="needs pandas: pip install 'orderly-boggle[notebook]'")

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
_SECONDS = re.compile(
    r"(?<=seconds=)[\d.e+-]+|(?<=seconds</td><td style=\"text-align: left\">)[\d.]+"
)


def carried_out():
    """Return the notebook with new outputs and nothing of this machine."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    carry_out(notebook, NOTEBOOK.parent, env={**os.environ, "ORDERLY_WORDLISTS": ""})
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
    }
    return notebook


def outputs(notebook):
    """Yield the source of each cell of code and what it shows: no times, and not the markup of
    other packages.
    """
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        shown = {}
        for output in cell.outputs:
            assert output.output_type in ("execute_result", "display_data", "stream"), output
            if "<progress" in output.get("data", {}).get("text/html", ""):
                shown |= {"bar": output.data["text/html"]}
                continue
            shown |= {"stream": output.text} if output.output_type == "stream" else output.data
        told = {kind: _SECONDS.sub("...", str(value)) for kind, value in shown.items()}
        yield cell.source, {kind: text for kind, text in told.items() if "dataframe" not in text}


def test_the_notebook_shows_what_it_says():
    """Boards are drawn and tables are tables; it is small and says nothing of the machine that made
    it.
    """
    stored = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(stored)
    assert list(outputs(carried_out())) == list(outputs(stored))
    shown = [kinds for _, kinds in outputs(stored)]
    assert sum("image/svg+xml" in kinds for kinds in shown) >= 2
    assert sum("<table>" in kinds.get("text/html", "") for kinds in shown) >= 3
    assert any("value='100'" in kinds.get("bar", "") for kinds in shown), "it went to its end"
    assert all(
        kinds for source, kinds in outputs(stored) if not source.startswith(("import", "from"))
    )
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 60_000
    assert not re.search(r"/(home|root|tmp|usr|work|Users)/|0x[0-9a-f]{6}", text)
    assert set(stored.metadata) == {"kernelspec"}


if __name__ == "__main__":
    nbformat.write(carried_out(), NOTEBOOK)
