"""A command without a run means the latest one under runs, and says so."""

from __future__ import annotations

import os
import shutil

import pytest

from boardclass.errors import IncompleteError
from cluster.cli.options import chosen_run
from results.storage import files

OTHERS = [("verify",), ("repeat", "--sample", "1"), ("certify",), ("audit",), ("watch",), ("report",)]


@pytest.fixture(scope="module")
def made(tmp_path_factory, proven):
    folder = tmp_path_factory.mktemp("latest")
    for name in ("one", "2024/other"):
        shutil.copytree(proven, folder / "runs" / name)
    return folder


def written_at(run, seconds):
    for name in (files.RUN, files.MANIFEST, files.EVENTS):
        os.utime(run / name, (seconds, seconds))


@pytest.fixture
def here(made, monkeypatch):
    """A folder in which runs/2024/other was written to last."""
    monkeypatch.chdir(made)
    written_at(made / "runs" / "one", 1_000)
    written_at(made / "runs" / "2024" / "other", 2_000)
    return made


TOLD = "orderly: the latest run, runs/2024/other\n"


@pytest.mark.parametrize(
    "arguments", [("status",), ("top", "-n", "1"), ("query", "SELECT count(*) FROM boards"), ("compare", "boards.txt")]
)
def test_it_is_taken_and_named(orderly, here, arguments):
    (here / "boards.txt").write_text("aert,14\n")
    answer = orderly(*arguments)
    assert (answer.code, answer.err) == (0, TOLD)
    run = "runs/2024/other"
    named = (arguments[0], run, *arguments[1:])
    assert answer.out == orderly(*named).out


@pytest.mark.parametrize("arguments", OTHERS)
def test_every_other_command_about_a_run_takes_it_too(orderly, here, monkeypatch, arguments):
    asked = []

    def note(directory):
        asked.append(directory)
        raise IncompleteError("enough")

    monkeypatch.setattr("results.store.run.open_run", note)
    assert orderly(*arguments).err == f"{TOLD}orderly: enough\n"
    assert asked == ["runs/2024/other"]
    assert orderly(arguments[0], "runs/one", *arguments[1:]).err == "orderly: enough\n"
    assert asked[1:] == ["runs/one"]


def test_the_one_written_to_last_counts(here):
    os.utime(here / "runs" / "one" / files.EVENTS, (3_000, 3_000))
    assert chosen_run() == "runs/one"


def test_without_any_it_says_so(orderly, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = orderly("top")
    assert (answer.code, answer.out) == (2, "")
    assert "no run in the folder runs here" in answer.err
