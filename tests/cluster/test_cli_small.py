"""Completion in the shell, the latest run, ``runs`` and ``report``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
from pyarrow.fs import FileSystem

from orderly_boggle.results.storage import files
from tests.conftest import COMMAND

OFFERED = {
    "climb --method ": {"pool", "anneal", "genetic"},
    "climb --ex": {"--exclude"},
    "climb --dims 4": {"4x4", "4x5", "4x6"},
    "show tea -w scow": {"scowl35", "scowl70"},
    "show tea --scores p": {"powers"},
    "top runs/x --rollable s": {"spanish", "spanish-big", "super"},
    "solve tea --method p": {"paths"},
    "wordlist get e": {"enable2k"},
    "compare runs/x no": set(),
    "status ": set(),
}


def test_what_is_offered_after_a_tab(orderly, monkeypatch, tmp_path):
    with monkeypatch.context() as typed:
        typed.setenv("_ORDERLY_COMPLETE", "complete_bash")
        for line, offered in OFFERED.items():
            typed.setenv("COMP_WORDS", f"orderly {line}")
            typed.setenv("COMP_CWORD", str(line.count(" ") + 1))
            answer = orderly()
            assert (set(answer.out.split()), answer.err) == (offered, ""), line
    command = tmp_path / "orderly"
    command.write_text(
        f"#!{sys.executable}\nfrom orderly_boggle.cluster.cli.start import main\nmain()\n"
    )
    command.chmod(0o755)
    script = (
        'eval "$(orderly --show-completion)"; COMP_WORDS=(orderly cl); COMP_CWORD=1; '
        "_orderly_completion orderly"
    )
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
    }
    bash = ["bash", "--norc", "-c", f'{script}; echo "${{COMPREPLY[*]}}"']
    done = subprocess.run(
        bash, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert done.stdout.split() == ["climb"], done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory, proven):
    """A folder of runs: whole, torn, not scored again, linked."""
    top = tmp_path_factory.mktemp("many")
    for name in ("outside", "runs/good", "runs/deep/er/other", "runs/torn", "runs/unscored"):
        shutil.copytree(proven, top / name)
    (top / "runs" / "linked").symlink_to(top / "outside")
    part = next((top / "runs" / "torn" / files.RESULTS).iterdir())
    part.write_bytes(part.read_bytes()[:100])
    (top / "runs" / "unscored" / files.CLAIM).unlink()
    return top


@pytest.fixture
def here(folder, monkeypatch):
    """A folder in which runs/deep/er/other was written to last."""
    monkeypatch.chdir(folder)
    for name in ("good", "torn", "unscored", "deep/er/other"):
        for file in (files.RUN, files.MANIFEST, files.EVENTS):
            seconds = 2_000 if "other" in name else 1_000
            os.utime(folder / "runs" / name / file, (seconds, seconds))
    return folder


TOLD = "orderly: the latest run, runs/deep/er/other\n"


def test_the_latest_run_is_taken_and_named(orderly, here, tmp_path, monkeypatch):
    (here / "boards.txt").write_text("aert,14\n")
    sql = "SELECT count(*) FROM boards"
    for command, *options in (
        ("status",),
        ("top", "-n", "1"),
        ("query", sql),
        ("compare", "boards.txt"),
    ):
        answer = orderly(command, *options)
        assert (answer.code, answer.err) == (0, TOLD)
        assert answer.out == orderly(command, "runs/deep/er/other", *options).out
    os.utime(here / "runs" / "good" / files.EVENTS, (3_000, 3_000))
    assert orderly("status").err == TOLD.replace("deep/er/other", "good")
    monkeypatch.chdir(tmp_path)
    answer = orderly("top")
    assert (answer.code, answer.out) == (2, "")
    assert "no run in the folder runs here" in answer.err


OTHERS = [
    ("verify",),
    ("repeat", "--sample", "1"),
    ("certify",),
    ("audit",),
    ("watch",),
    ("report",),
]


@pytest.mark.parametrize("arguments", OTHERS)
def test_every_other_command_about_a_run_takes_it_too(orderly, tmp_path, monkeypatch, arguments):
    """Neither run can be read, so each command says which one it tried to read."""
    monkeypatch.chdir(tmp_path)
    for name, seconds in (("good", 1_000), ("deep/er/other", 2_000)):
        file = tmp_path / "runs" / name / files.RUN
        file.parent.mkdir(parents=True)
        file.write_text("[")
        os.utime(file, (seconds, seconds))
    latest = orderly.fails(3, *arguments)
    assert latest.startswith(f"{TOLD}orderly: runs/deep/er/other/run.json is damaged")
    named = orderly(arguments[0], "runs/good", *arguments[1:])
    assert named.err.startswith("orderly: runs/good/run.json is damaged")


def test_more_runs_than_are_listed_are_no_secret(orderly, here, monkeypatch):
    """Nor is one of those that are listed called the latest."""
    monkeypatch.setattr("orderly_boggle.cluster.watch.view.MAX_RUNS", 2)
    answer = orderly("runs", "runs", "--format", "json")
    assert len(json.loads(answer.out)) == 2
    assert "only the first 2 runs are listed" in answer.err
    assert "more than 2 runs in the folder runs here: name the one" in orderly.fails(2, "status")
    assert "Only the first 2 are shown." in page_of_runs()
    monkeypatch.setattr("orderly_boggle.cluster.watch.view.MAX_RUNS", 4)
    assert orderly("runs", "runs").err == ""
    assert "Only the first" not in page_of_runs()


def page_of_runs():
    pytest.importorskip("starlette", reason="needs the extra: pip install 'orderly-boggle[serve]'")
    from starlette.requests import Request

    from orderly_boggle.cluster.watch.view import Catalog
    from orderly_boggle.cluster.web.app import _render, make_app
    from orderly_boggle.cluster.web.site import Site

    app = make_app(Site(Catalog(["runs"]), Catalog([]), 0.0))
    request = Request({"type": "http", "app": app, "query_string": b"", "headers": []})
    return bytes(_render(request, "runs").body).decode()


def test_each_run_has_a_line_and_says_what_its_rows_prove(orderly, folder, tmp_path, monkeypatch):
    answer = orderly("runs", folder / "runs", "--format", "json")
    assert answer.code == 0, answer.err
    told = {item["run"]: item for item in json.loads(answer.out)}
    states = {name: item["state"] for name, item in told.items()}
    assert states == {
        "deep/er/other": "proven",
        "good": "proven",
        "torn": "unreadable",
        "unscored": "incomplete",
    }
    assert told["good"]["best_score"] == 14
    assert told["unscored"]["proven"] is False
    assert "part-" in told["torn"]["why"]
    assert all(item["directory"].startswith(str(folder)) for item in told.values())
    monkeypatch.chdir(tmp_path)
    assert "no run under runs" in orderly.done("runs")
    listed = orderly.json("runs", "published")
    assert "4x4-enable2k" in [item["run"] for item in listed]
    assert {item["state"] for item in listed} == {"proven"}
    (tmp_path / "published").mkdir()
    assert "no run under published" in orderly.done("runs", "published"), "a folder of one's own"


def test_runs_are_looked_for_below_the_address_of_a_bucket(orderly, bucket, folder):
    filesystem, root = FileSystem.from_uri(bucket)
    names = ["deep/er/other", "good"]
    for path in (path for name in names for path in (folder / "runs" / name).rglob("*")):
        if path.is_file() and path.name != files.LOCK:
            with filesystem.open_output_stream(
                f"{root}/{path.relative_to(folder / 'runs')}"
            ) as out:
                out.write(path.read_bytes())

    def told(address):
        return orderly.json("runs", address)

    assert [(item["run"], item["directory"]) for item in told(bucket)] == [
        (name, f"{bucket}/{name}") for name in names
    ]
    assert [item["directory"] for item in told(f"{bucket}/good")] == [f"{bucket}/good"]
    assert [item["state"] for item in told(f"{bucket}/nowhere")] == ["unreadable"]


def test_a_report_is_written_and_handed_to_the_browser_of_this_machine(
    orderly, proven, tmp_path, monkeypatch
):
    pytest.importorskip(
        "jinja2", reason="the report needs the extra: pip install 'orderly-boggle[report]'"
    )
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    done = subprocess.run(
        [*COMMAND, "report", "3x3-scowl70", "-n", "0", "--open"],
        env={**os.environ, "BROWSER": f"{browser} %s"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout.rpartition(", ")[2].strip()
    assert (done.returncode, said) == (0, "handed to a browser"), done.stderr
    assert (tmp_path / "opened").read_text().strip() == (tmp_path / "3x3-scowl70.html").as_uri()
    orderly.done("report", proven, "-n", "1", "--out", "page.html")
    html = (tmp_path / "page.html").read_text()
    assert ("Proven." in html, html.count('<article class="card')) == (True, 1)
    refused = orderly("report", proven, "--out", tmp_path)
    assert (refused.code, refused.out) == (2, "")
