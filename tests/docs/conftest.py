"""A run to talk about."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

RUN = ("run", "2x2", "--cutoff", "14", "--workers", "0")


@pytest.fixture(scope="session")
def with_a_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory in which the run of the examples, runs/2x2-scowl70-14, has been made."""
    folder = tmp_path_factory.mktemp("examples")
    subprocess.run(
        [sys.executable, "-c", "from cluster.cli import main; main()", *RUN],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    return folder
