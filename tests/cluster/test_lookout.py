"""What is removed while a run goes on is told, and nothing is lost."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from orderly_boggle.boardclass.errors import IncompleteError, StoreError, WordListError
from orderly_boggle.boardclass.wordlist import find_wordlist
from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.cluster.driver.lookout import LOOK_S, Lookout
from orderly_boggle.cluster.driver.progress import Progress
from orderly_boggle.cluster.workers.executors import InProcessExecutor
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.run import open_run
from tests.cluster.small import tiny
from tests.conftest import COMMAND


@pytest.fixture
def kernels(tmp_path):
    folder = tmp_path / "kernels"
    folder.mkdir()
    for name in ("merge.1.nbi", "merge.1.nbc", "walk.2.nbi"):
        (folder / name).touch()
    return folder


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("tea\n")
    return path


def test_words_that_are_removed_in_mid_run_are_told_once(words, kernels):
    lookout = Lookout(str(words), kernels)
    assert lookout.look(0.0) == []
    words.unlink()
    assert lookout.look(LOOK_S - 1) == []
    (told,) = lookout.look(LOOK_S)
    assert f"the word list {words} was removed during the run" in told
    assert lookout.look(3 * LOOK_S) == []


def test_words_at_home_are_not_said_to_be_removed(words, kernels, monkeypatch):
    """No shell puts in the home of ``--wordlist=~/mine.txt``, or of a config; who reads it does."""
    monkeypatch.setenv("HOME", str(words.parent))
    assert Lookout("~/mine.txt", kernels).look(0.0) == []


def test_kernels_that_are_removed_in_mid_run_are_told_each_time(words, kernels):
    lookout = Lookout(str(words), kernels)
    (kernels / "merge.1.nbi").unlink()
    (told,) = lookout.look(0.0)
    assert f"1 of 2 compiled kernels were removed from {kernels}" in told
    assert lookout.look(LOOK_S) == []
    shutil.rmtree(kernels)
    (told,) = lookout.look(2 * LOOK_S)
    assert "1 of 1 compiled kernels" in told


def test_an_error_of_another_kind_does_not_say_that_words_are_gone(words, kernels):
    lookout = Lookout(str(words), kernels)
    words.unlink()
    words.symlink_to(words)  # as little to be read as on a file server that is away
    assert lookout.look(0.0) == []


def test_folders_of_kernels_that_are_removed_under_a_look_end_no_run(words, kernels):
    """A purge and a look at the same time: a folder is gone that was listed a moment before."""
    lookout = Lookout(str(words), kernels)
    is_over = threading.Event()

    def churn():
        while not is_over.is_set():
            for number in range(20):
                (kernels / f"{number}/inner").mkdir(parents=True, exist_ok=True)
            for number in range(20):
                shutil.rmtree(kernels / f"{number}")

    purge = threading.Thread(target=churn)
    purge.start()
    try:
        for number in range(300):
            assert lookout.look(number * LOOK_S) == []
    finally:
        is_over.set()
        purge.join()


def test_an_error_of_another_kind_does_not_say_that_kernels_are_gone(words, kernels):
    lookout = Lookout(str(words), kernels)
    (kernels / "merge.1.nbi").unlink()
    # longer than any path may be: as little to be listed as on a file server that is away
    at = os.open(kernels, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("x" * 250, dir_fd=at)
        inner = os.open("x" * 250, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)
    assert lookout.look(0.0) == []
    shutil.rmtree(kernels)


def test_a_run_whose_words_are_removed_says_so_and_goes_on_to_its_claim(tmp_path):
    config, progress = tiny(tmp_path), mock.Mock(spec=Progress)

    class Removing(InProcessExecutor):
        def show(self, report):
            Path(config.wordlist).unlink(missing_ok=True)

    assert run(config, progress=progress, make_executor=Removing).complete
    (note,) = progress.note.call_args_list
    assert "was removed during the run: the search goes on" in note.args[0]


def test_a_named_list_that_goes_before_the_search_begins_ends_no_run(tmp_path, monkeypatch):
    monkeypatch.setenv("ORDERLY_WORDLISTS", str(tmp_path))
    config = tiny(tmp_path).model_copy(update={"wordlist": "tiny"})
    progress = mock.Mock(spec=Progress)
    progress.begin.side_effect = lambda *_: (tmp_path / "tiny.txt").unlink()
    assert run(config, progress=progress).complete
    (note,) = progress.note.call_args_list
    assert "the word list tiny was removed during the run" in note.args[0]


@pytest.mark.parametrize("change", [Path.unlink, partial(Path.write_text, data="tea\n")])
def test_words_that_go_or_change_in_mid_run_change_nothing_of_what_is_told(
    orderly, tmp_path, change
):
    asked = tiny(tmp_path)
    words = Path(asked.wordlist)
    out = tmp_path / "run"

    def change_it():
        while not (out / files.MANIFEST).exists():  # the search is over, its end is not told yet
            time.sleep(0.001)
        change(words)

    changing = threading.Thread(target=change_it)
    changing.start()
    command = ["run", "2x2", "--cutoff", 4, "--scores", "words", "--wordlist", words, "--out", out]
    said = orderly.done(*command)
    changing.join()
    best = open_run(out).candidates()
    assert f": {max(score for _, score, _ in best)} " in said
    assert "Proven." in said


@pytest.mark.nightly  # minutes: kernels are compiled twice
@pytest.mark.timeout(1200)
def test_words_kernels_and_run_json_are_removed_a_worker_is_killed_and_nothing_is_lost(tmp_path):
    cache, words, out = tmp_path / "cache", tmp_path / "mine.txt", tmp_path / "run"
    cache.mkdir(mode=0o700)
    shutil.copy(find_wordlist("scowl70"), words)
    command = [*COMMAND, "run", "3x4", "--cutoff", "1450", "--workers", "1"]
    command += ["--wordlist", str(words), "--out", str(out)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    log = tmp_path / "log"
    with (
        log.open("w") as said,
        subprocess.Popen(command, env=environment, stderr=said, stdout=said) as driver,
    ):
        _wait_for(driver, lambda: n_rows(out) > 0)
        kept = words.read_bytes()
        words.unlink()
        (out / "run.json").unlink()
        for folder in cache.iterdir():
            shutil.rmtree(folder)
        for worker in children(driver.pid):
            os.kill(worker, signal.SIGKILL)
        removed_s = time.monotonic()
        for text in (f"the word list {words} was removed", "compiled kernels were removed"):
            _wait_for(driver, lambda text=text: text in log.read_text())
        _wait_for(
            driver, lambda: "run.json was removed during the run: it was put" in log.read_text()
        )
        assert time.monotonic() - removed_s < 60
        before = n_rows(out)
        _wait_for(driver, lambda: n_rows(out) > before)  # of the worker that came in its place
        driver.send_signal(signal.SIGTERM)
        assert driver.wait(60) == IncompleteError.exit_code
    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert again.returncode == WordListError.exit_code
    assert str(words) in again.stderr
    words.write_bytes(kept)
    with subprocess.Popen(command, env=environment) as driver:
        before = n_rows(out)
        _wait_for(driver, lambda: n_rows(out) > before)
        driver.send_signal(signal.SIGTERM)
        assert driver.wait(60) == IncompleteError.exit_code


def n_rows(out: Path) -> int:
    """Return how many verdicts a run has, which is being written."""
    with contextlib.suppress(StoreError):
        return len(list(open_run(out).rows()))
    return 0


def _wait_for(driver: subprocess.Popen[bytes], is_so: Callable[[], bool]) -> None:
    while not is_so():
        assert driver.poll() is None
        time.sleep(0.5)


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(path.parent.name))
    return found
