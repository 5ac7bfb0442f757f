"""Commands on machines of other people: shared folders without locks, and limits on threads."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable

import pytest

from results.store.run import open_run
from tests.conftest import COMMAND

RUN = ("run", "2x2", "--cutoff", "14", "--workers", "0", "--out")
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(odd_machine) -> Start:
    """Start a command on a machine such as ``ODD_FLOCK="0"``."""

    def started(*words: object, **odd: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*COMMAND, *map(str, words)],
            env={**os.environ, "LD_PRELOAD": odd_machine, **odd},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return started


def test_two_shares_in_one_folder_whose_locks_do_nothing(start, tmp_path):
    """The second is refused, or comes after the first and both stay."""
    shares = [
        start(*RUN, tmp_path / "run", "--share", f"{number}/2", ODD_FLOCK="0") for number in (1, 2)
    ]
    said = [share.communicate()[0] for share in shares]
    assert {share.returncode for share in shares} <= {0, 3}, said
    n_rows = sum(n for share, n in zip(shares, (27, 28), strict=True) if share.returncode == 0)
    assert n_rows >= 27
    assert len(list(open_run(tmp_path / "run").rows())) >= n_rows
    for share, text in zip(shares, said, strict=True):
        assert share.returncode == 0 or "is being written by" in text


def test_a_folder_without_locks_that_cannot_be_synced(start, tmp_path):
    odd = {"ODD_FLOCK": str(errno.ENOSYS), "ODD_FSYNC_FOLDER": str(errno.EINVAL)}
    command = start(*RUN, tmp_path / "run", **odd)
    assert "digest" in command.communicate()[0]
    assert command.returncode == 0


@pytest.mark.parametrize(
    ("n_threads", "words"), [(0, ("query", "3x3-scowl70", "SELECT 1")), (2, RUN)]
)
def test_a_limit_on_threads_is_the_machine_s(start, tmp_path, n_threads, words):
    words = (*words, tmp_path / "run") if words == RUN else words
    command = start(*words, ODD_THREADS=str(n_threads))
    said = command.communicate()[0]
    assert "no more threads allowed (ulimit -u" in said
    assert "bug" not in said
    assert "OpenBLAS" not in said, "it needs no thread for each core"
    assert command.returncode == 2
