"""Commands on machines of other people: shared folders without locks, and limits on threads."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from collections.abc import Callable, Sequence

import pytest

from orderly_boggle.results.storage import files
from orderly_boggle.results.store.run import open_run
from tests.conftest import COMMAND, RESTING
from tests.samples import daily

RUN = ("run", "2x2", "--cutoff", "14", "--workers", "0", "--out")
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(odd_machine) -> Start:
    """Start a command on a machine such as ``ODD_FLOCK="0"``."""

    def started(
        *words: object, command: Sequence[str] = COMMAND, **odd: str
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*command, *map(str, words)],
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


@pytest.mark.parametrize(
    "odd",
    daily(
        [{"ODD_HOST": "elsewhere"}],  # the lock of each holds on its own machine only
        [{"ODD_FLOCK": "0"}, {"ODD_FLOCK": str(errno.ENOLCK)}],
    ),
)
def test_a_driver_and_a_merge_in_one_folder_without_locks(start, tmp_path, odd):
    """The merge is refused while the driver is at work; then the rows of both are kept."""
    folder, other = tmp_path / "run", tmp_path / "other"
    assert start(*RUN, other, "--share", "2/2").wait() == 0
    flock = odd.get("ODD_FLOCK", "0")  # the merge does not see the lock of the driver
    driver = start(*RUN, folder, "--share", "1/2", command=RESTING, ODD_FLOCK=flock)
    while not (folder / files.OWNER).exists():
        assert driver.poll() is None
        time.sleep(0.05)
    merge = start("merge", folder, other, **odd)
    assert "is being written by" in merge.communicate()[0]
    assert merge.returncode == 3
    assert driver.poll() is None
    assert "share 1/2 is done" in driver.communicate()[0]
    assert len(list(open_run(folder).rows())) == 27
    assert start("merge", folder, other, **odd).wait() == 0
    assert len(list(open_run(folder).rows())) == 55


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
