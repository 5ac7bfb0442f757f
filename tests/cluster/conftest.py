"""Commands on terminals."""

from __future__ import annotations

import pytest

from tests.cluster.terminals import Terminal


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
