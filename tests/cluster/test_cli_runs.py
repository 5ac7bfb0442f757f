"""``orderly runs``: what is under a folder, and in which state."""

from __future__ import annotations

import csv
import io
import json
import shutil

import pytest
from pyarrow.fs import FileSystem

from results.storage import files


@pytest.fixture(scope="module")
def folder(tmp_path_factory, proven):
    top = tmp_path_factory.mktemp("many")
    shutil.copytree(proven, top / "outside")
    for name in ("good", "deep/er/other"):
        shutil.copytree(top / "outside", top / "runs" / name)
    (top / "runs" / "linked").symlink_to(top / "outside")
    shutil.copytree(top / "outside", top / "runs" / "torn")
    part = next((top / "runs" / "torn" / files.RESULTS).iterdir())
    part.write_bytes(part.read_bytes()[:100])
    shutil.copytree(top / "outside", top / "runs" / "unscored")
    shutil.rmtree(top / "runs" / "unscored" / files.RESCORED)
    return top


def test_each_run_has_a_line_and_says_what_its_rows_prove(orderly, folder):
    answer = orderly("runs", folder / "runs", "--format", "json")
    assert answer.code == 0, answer.err
    told = {item["run"]: item for item in json.loads(answer.out)}
    states = {name: item["state"] for name, item in told.items()}
    assert states == {"deep/er/other": "proven", "good": "proven", "torn": "unreadable", "unscored": "incomplete"}
    assert told["good"]["best_score"] == 14
    assert told["unscored"]["proven"] is False
    assert "part-" in told["torn"]["why"]
    assert all(item["directory"].startswith(str(folder)) for item in told.values())


def test_csv_and_table_have_the_same_runs(orderly, folder):
    rows = list(csv.DictReader(io.StringIO(orderly("runs", folder / "runs", "--format", "csv").out)))
    assert [row["run"] for row in rows] == ["deep/er/other", "good", "torn", "unscored"]
    assert rows[1]["done"] == "55/55"
    assert len(orderly("runs", folder / "runs" / "good", "--format", "csv").out.splitlines()) == 2


def test_no_run_is_said_and_a_folder_that_is_not_there_is_bad_input(orderly, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = orderly("runs")
    assert (answer.code, "no run under runs" in answer.out) == (0, True)
    answer = orderly("runs", "none")
    assert (answer.code, answer.out) == (2, "")
    assert "'none'" in answer.err


def test_runs_are_looked_for_below_the_address_of_a_bucket(orderly, bucket, folder):
    filesystem, root = FileSystem.from_uri(bucket)
    for name in ("good", "deep/er/other"):
        for path in (folder / "runs" / name).rglob("*"):
            if path.is_file() and path.name != files.LOCK:
                with filesystem.open_output_stream(f"{root}/{name}/{path.relative_to(folder / 'runs' / name)}") as out:
                    out.write(path.read_bytes())
    told = json.loads(orderly("runs", bucket, "--format", "json").out)
    assert [item["run"] for item in told] == ["deep/er/other", "good"]
    assert [item["directory"] for item in told] == [f"{bucket}/deep/er/other", f"{bucket}/good"]
    (one,) = json.loads(orderly("runs", f"{bucket}/good", "--format", "json").out)
    assert one["directory"] == f"{bucket}/good"
    (none,) = json.loads(orderly("runs", f"{bucket}/nowhere", "--format", "json").out)
    assert none["state"] == "unreadable"
