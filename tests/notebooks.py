"""Notebooks, carried out to their end on a machine that may be busy with other work."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip(
    "nbclient", reason="needs nbclient: pip install 'orderly-boggle[test]'"
)
pytest.importorskip("ipykernel", reason="needs ipykernel: pip install 'orderly-boggle[test]'")

# for a kernel to start, and for the output of a cell that has ended: by default a minute and four
# seconds, and what comes later is missing
_PATIENCE_S = 3600


def carry_out(notebook: Any, folder: Path, **more: Any) -> None:
    """Fill in the outputs of a notebook that lies in a folder; how long it may take is for the test
    to say.
    """
    from traitlets.config import Config

    with tempfile.TemporaryDirectory(prefix="o", dir="/tmp") as sockets:
        # a port that is free when it is chosen may be taken when the kernel comes
        own = Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}})
        client = nbclient.NotebookClient(
            notebook,
            timeout=None,
            startup_timeout=_PATIENCE_S,
            iopub_timeout=_PATIENCE_S,
            record_timing=False,
            resources={"metadata": {"path": str(folder)}},
            config=own,
        )
        client.execute(**more)
