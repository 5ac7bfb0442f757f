"""A run to talk about."""

from __future__ import annotations

import pytest

from tests.conftest import make_in


@pytest.fixture(scope="session")
def with_a_run(tmp_path_factory):
    """Return a directory in which the run of the examples, runs/2x2-scowl70-14, has been made."""
    folder = tmp_path_factory.mktemp("examples")
    make_in(folder, "run", "2x2", "--cutoff", "14", "--workers", "0")
    return folder
