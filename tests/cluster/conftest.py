"""Commands on terminals, and a run with all that real runs have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.terminals import Terminal
from tests.cluster.whole_run import make_whole_run


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of tests/cluster/whole_run.py, to be read only."""
    return make_whole_run(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def words(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A word list of a few words, ``LIST`` of the test's file if it has one."""
    path = tmp_path / "small.txt"
    path.write_text(getattr(request.module, "LIST", "bee\nbeef\nfee\nqueen\nquit\nzebra\n"))
    return path


@pytest.fixture
def terminal_of(terminal):
    """Start a command on a terminal; it is killed in the end."""
    made = []

    def call(*arguments, **options):
        made.append(Terminal(*arguments, **options))
        return made[-1]

    yield call
    for one in made:
        one.close()
