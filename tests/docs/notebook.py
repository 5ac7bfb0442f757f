"""The notebook of the documentation: carried out anew, and what of its outputs must come out the same.

python -m tests.docs.notebook writes it with new outputs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests.conftest import ROOT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
_SECONDS = re.compile(r"(?<=seconds=)[\d.e+-]+|(?<=seconds</td><td style=\"text-align: left\">)[\d.]+")


def carried_out(path: Path) -> nbformat.NotebookNode:
    """Return the notebook with new outputs and nothing of this machine."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=120, record_timing=False, resources={"metadata": {"path": path.parent}})
    client.execute(env={**os.environ, "PYTHONPATH": str(ROOT), "ORDERLY_WORDLISTS": ""})
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return notebook


def outputs(notebook: nbformat.NotebookNode) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the source of each cell of code and what it shows: no times, and not the markup of other packages."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            shown: dict[str, str] = {}
            for output in cell.outputs:
                assert output.output_type in ("execute_result", "display_data", "stream"), output
                shown |= {"stream": output.text} if output.output_type == "stream" else output.data
            told = {kind: _SECONDS.sub("...", str(value)) for kind, value in shown.items()}
            yield cell.source, {kind: text for kind, text in told.items() if "dataframe" not in text}


if __name__ == "__main__":
    nbformat.write(carried_out(NOTEBOOK), NOTEBOOK)
