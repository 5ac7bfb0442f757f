"""Small commands: solve, completion, runs, the latest run, report."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import webbrowser

import pytest
from pyarrow.fs import FileSystem

from boardclass.errors import IncompleteError
from cluster.cli.options import chosen_run
from results.storage import files
from tests.conftest import ROOT


@pytest.mark.parametrize("method", ["trie", "words", "heap", "paths"])
def test_every_method_says_the_same(orderly, words, method):
    answer = orderly("solve", "ebeefe", "--method", method, "--wordlist", words, "--format", "csv")
    assert answer == (0, "word,points,letters\nbee,1,3\nbeef,1,4\nfee,1,3\n", "")
    record = json.loads(orderly("solve", "nqteeixxx", "-m", method, "-w", words, "--format", "json").out)
    assert (record["score"], record["n_words"]) == (3, 2)
    assert record["n_paths"] == (10_305 if method == "paths" else None)
    assert "3 points, 3 words" in orderly("solve", "ebeefe", "--method", method, "--wordlist", words).out


def test_cells_that_only_begin_or_end_a_word(orderly, words):
    plain = ("solve", "ebeefe", "--wordlist", words, "--format", "csv")
    f_cell = "2.2"
    assert "fee" in orderly(*plain, "--begin-only", f_cell).out
    assert "beef" not in orderly(*plain, "--begin-only", f_cell).out
    assert "beef" in orderly(*plain, "--end-only", f_cell).out
    assert "fee" not in orderly(*plain, "--end-only", f_cell).out


OFFERED = {
    "cl": {"climb"},
    "climb --method ": {"pool", "anneal", "genetic"},
    "climb --ex": {"--exclude"},
    "climb --dims 4": {"4x4", "4x5"},
    "run 2": {"2x2"},
    "show tea -w scow": {"scowl70"},
    "show tea --scores p": {"powers"},
    "top runs/x --rollable ": {"big", "classic", "new", "super"},
    "roll --dice c": {"classic"},
    "solve tea --method h": {"heap"},
    "wordlist g": {"get"},
    "wordlist get e": {"enable2k"},
    "compare runs/x no": set(),
    "status ": set(),
}


def test_what_is_offered_after_a_tab(orderly, monkeypatch):
    monkeypatch.setenv("_ORDERLY_COMPLETE", "complete_bash")
    for line, offered in OFFERED.items():
        monkeypatch.setenv("COMP_WORDS", f"orderly {line}")
        monkeypatch.setenv("COMP_CWORD", str(line.count(" ") + 1))
        answer = orderly()
        assert (set(answer.out.split()), answer.err) == (offered, ""), line


def test_bash_completes(tmp_path):
    command = tmp_path / "orderly"
    command.write_text(f"#!{sys.executable}\nfrom cluster.cli.start import main\nmain()\n")
    command.chmod(0o755)
    script = 'eval "$(orderly --show-completion)"; COMP_WORDS=(orderly cl); COMP_CWORD=1; _orderly_completion orderly'
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    bash = ["bash", "--norc", "-c", f'{script}; echo "${{COMPREPLY[*]}}"']
    done = subprocess.run(bash, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert done.stdout.split() == ["climb"], done.stderr


OTHERS = [("verify",), ("repeat", "--sample", "1"), ("certify",), ("audit",), ("watch",), ("report",)]
TOLD = "orderly: the latest run, runs/2024/other\n"


@pytest.fixture
def here(small_folder, monkeypatch):
    """A folder in which runs/2024/other was written to last."""
    monkeypatch.chdir(small_folder)
    for name, seconds in {"one": 1_000, "2024/other": 2_000}.items():
        for file in (files.RUN, files.MANIFEST, files.EVENTS):
            os.utime(small_folder / "runs" / name / file, (seconds, seconds))
    return small_folder


@pytest.fixture(scope="module")
def small_folder(tmp_path_factory, proven):
    folder = tmp_path_factory.mktemp("latest")
    for name in ("one", "2024/other"):
        shutil.copytree(proven, folder / "runs" / name)
    return folder


@pytest.mark.parametrize(
    "arguments", [("status",), ("top", "-n", "1"), ("query", "SELECT count(*) FROM boards"), ("compare", "boards.txt")]
)
def test_the_latest_run_is_taken_and_named(orderly, here, arguments):
    (here / "boards.txt").write_text("aert,14\n")
    answer = orderly(*arguments)
    assert (answer.code, answer.err) == (0, TOLD)
    assert answer.out == orderly(arguments[0], "runs/2024/other", *arguments[1:]).out


@pytest.mark.parametrize("arguments", OTHERS)
def test_every_other_command_about_a_run_takes_it_too(orderly, here, monkeypatch, arguments):
    asked = []

    def note(directory):
        asked.append(directory)
        raise IncompleteError("enough")

    monkeypatch.setattr("results.store.run.open_run", note)
    assert orderly(*arguments).err == f"{TOLD}orderly: enough\n"
    assert orderly(arguments[0], "runs/one", *arguments[1:]).err == "orderly: enough\n"
    assert asked == ["runs/2024/other", "runs/one"]


def test_the_one_written_to_last_counts_and_without_any_it_says_so(orderly, here, tmp_path, monkeypatch):
    os.utime(here / "runs" / "one" / files.EVENTS, (3_000, 3_000))
    assert chosen_run() == "runs/one"
    monkeypatch.chdir(tmp_path)
    answer = orderly("top")
    assert (answer.code, answer.out) == (2, "")
    assert "no run in the folder runs here" in answer.err
    answer = orderly("runs")
    assert (answer.code, "no run under runs" in answer.out) == (0, True)


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
    (top / "runs" / "unscored" / files.CLAIM).unlink()
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


def test_a_report_is_written_and_handed_to_the_browser_of_this_machine(orderly, proven, tmp_path, monkeypatch):
    pytest.importorskip("altair", reason="the report needs the extra: pip install 'orderly-boggle[report]'")
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    monkeypatch.setattr(webbrowser, "_tryorder", None)  # it looks for browsers once
    monkeypatch.chdir(tmp_path)
    answer = orderly("report", proven, "-n", "1", "--open")
    assert (answer.code, answer.out.rpartition(", ")[2].strip()) == (0, "handed to a browser")
    assert (tmp_path / "opened").read_text().strip() == (tmp_path / "run.html").as_uri()
    html = (tmp_path / "run.html").read_text()
    assert "Proven." in html
    assert html.count('<article class="card') == 1
    assert orderly("report", proven, "-n", "0", "--out", tmp_path / "page.html").code == 0
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_a_worksheet_holds_the_boards_and_then_all_their_words(orderly, tmp_path):
    pdf = pytest.importorskip("pypdf", reason="needs the extra: pip install 'orderly-boggle[report]'")
    rolled = ("roll", "--dice", "big", "-n", 7, "--seed", 3, "--min-words", 60)
    answer = orderly(*rolled, "--out", tmp_path / "sheet.pdf")
    assert answer.code == 0, answer.err
    pages = [page.extract_text().split() for page in pdf.PdfReader(tmp_path / "sheet.pdf").pages]
    boards = [item["board"] for item in json.loads(orderly(*rolled, "--format", "json").out)]
    assert len(set(boards)) == 7
    names = [[word for page in pages for word in page].count(f"{number}:") for number in range(1, 8)]
    assert names == [2] * 7, "each board once to play and once with its words"
    answers = [word for page in pages[2:] for word in page]
    for board in boards:
        record = json.loads(orderly("show", board, "-d", "5x5", "--min-letters", 4, "--format", "json").out)
        assert record["n_words"] >= 60
        assert {item["word"] for item in record["words"]} <= set(answers[answers.index(f"{board},") :])
    assert all("seed" in page for page in pages), "how to roll them again"
