"""``run --out s3://...`` on a real S3-compatible server: killed, watched, resumed, asked, verified; no secrets."""

from __future__ import annotations

import json
import os
import subprocess
import time

import pytest

from results.storage import files
from results.storage.local import open_folder
from tests.conftest import COMMAND, SECRET_KEY

QUESTION = ("--dims", "2x3", "--cutoff", "80", "--buckets", "aeiou bcdfg hjklmnp qrstvwxyz", "--workers", "0")


@pytest.mark.nightly
def test_a_run_in_a_bucket_killed_and_resumed(orderly, bucket, tmp_path, project_root):
    address = f"{bucket}/runs/mine"
    command = [*COMMAND, "run", *QUESTION, "--out", address]
    environment = {**os.environ, "PYTHONPATH": str(project_root)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        folder = open_folder(address)
        for _ in range(600):
            if folder.read(files.RUN) is not None or process.poll() is not None:
                break
            time.sleep(0.1)
        running = json.loads(orderly("status", address, "--format", "json").out)
        process.kill()
        _, told = process.communicate()
    assert running["state"] in {"running", "proven"}
    if running["state"] == "running":
        assert f"process {process.pid}" in running["driver"]
    answers = [orderly("run", *QUESTION, "--out", address), orderly("status", address, "--format", "json")]
    assert answers[0].code == 0, answers[0].err
    record = json.loads(answers[1].out)
    assert record["state"] == "proven"
    assert orderly("run", *QUESTION, "--out", tmp_path / "local").code == 0
    local = json.loads(orderly("status", tmp_path / "local", "--format", "json").out)
    assert record["digest"] == local["digest"]
    assert orderly("top", address, "--format", "csv").out == orderly("top", tmp_path / "local", "--format", "csv").out
    count = "select count(*) as n from classes"
    assert orderly("query", address, count).out == orderly("query", tmp_path / "local", count).out
    answers.append(orderly("verify", address))
    assert answers[-1].code == 0, answers[-1].err
    refused = orderly("run", *QUESTION[:2], "--cutoff", "81", *QUESTION[4:], "--out", address)
    assert refused.code == 3
    assert "cutoff: asked for 81, stored 80" in refused.err
    names = [name for place in (*files.FOLDERS, files.MANIFEST, files.EVENTS) for name in folder.names(place)]
    assert any(name.startswith(files.EVENTS) for name in names)
    stored = b"".join(folder.read(name) or b"" for name in names)
    assert SECRET_KEY.encode() not in stored
    assert SECRET_KEY not in told + "".join(answer.out + answer.err for answer in answers)


@pytest.mark.parametrize(
    "address", [f"s3://tester:{SECRET_KEY}@bucket/run", f"s3://bucket/run?secret_key={SECRET_KEY}", "s3:///run"]
)
@pytest.mark.parametrize("command", ["run", "status"])
def test_addresses_with_credentials_or_without_a_bucket_are_bad_input(orderly, tmp_path, monkeypatch, address, command):
    monkeypatch.chdir(tmp_path)
    answer = orderly("run", *QUESTION, "--out", address) if command == "run" else orderly("status", address)
    assert (answer.code, answer.out) == (2, "")
    assert SECRET_KEY not in answer.err
    assert "expected" in answer.err
    assert list(tmp_path.iterdir()) == []
