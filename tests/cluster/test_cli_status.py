"""``status`` from another process while a run goes on, after it was stopped, killed, resumed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

from cluster.answers.status import done, lines, rate, time_left, view
from cluster.driver.progress import format_report
from cluster.scheduling.events import Report
from results.log import Live
from results.storage import files
from tests.conftest import RESTING

# long enough to be watched: seconds for the first classes, minutes for all of them
WATCHED = ("--dims", "3x3", "--cutoff", "430", "--buckets", "bdfgjqvwxz aeiou lnrsy chkmpt", "--workers", "0")


@pytest.fixture
def start(tmp_path, project_root):
    """Start ``orderly run`` as a process of its own that rests now and then; it is killed in the end."""
    processes = []

    def call(*arguments):
        command = [*RESTING, "run", *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(project_root)}
        pipe = subprocess.PIPE
        processes.append(subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=pipe, stderr=pipe, text=True))
        return processes[-1]

    yield call
    for process in processes:
        process.kill()
        process.communicate()


def events(directory):
    return [json.loads(line) for line in (directory / files.EVENTS).read_text().splitlines()]


def status(orderly, directory):
    answer = orderly("status", directory, "--format", "json")
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


def wait_until(orderly, directory, condition):
    """Ask for the status until a condition holds, for a few minutes: kernels may have to be compiled first."""
    for _ in range(1000):
        if (directory / files.RUN).exists():
            record = status(orderly, directory)
            if condition(record):
                return record
        time.sleep(0.2)
    pytest.fail("the status never got there")


@pytest.mark.slow
def test_status_while_a_run_goes_on_and_after_it_was_stopped(orderly, start, tmp_path):
    directory = tmp_path / "run"
    process = start(*WATCHED, "--out", directory)
    early = wait_until(orderly, directory, lambda record: record["state"] == "running")
    assert f"(process {process.pid})" in early["driver"]
    if early["n_classes_done"] == 0:
        assert early["remaining_s"] is None, "nothing has been measured"
        assert early["remaining_low_s"] is None
        table = orderly("status", directory).out
        assert re.search("unknown: too little has been searched|driver is starting up|judging by", table)
    record = wait_until(orderly, directory, lambda record: record["classes_per_h"])
    assert record["n_classes"] == 34960 == record["n_classes_done"] + record["n_classes_left"]
    assert record["remaining_s"] > 0
    assert sum(record["hosts"].values()) == record["n_workers"] == 1
    assert record["n_measured"] >= 1
    assert record["figures_age_s"] < 120
    assert (record["n_strikes"], record["n_requeued"], record["n_workers_lost"]) == (0, 0, 0)
    table = orderly("status", directory).out
    assert re.search(r"time left +about .* (processor hours|of one processor), judging by [\d,]+ finished class", table)
    assert re.search(r"rate +[\d,]+ classes and [\d,]+ verdicts an hour", table)
    refused = orderly("run", *WATCHED, "--out", directory)
    assert refused.code == 3
    assert f"(process {process.pid}), for " in refused.err

    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 4
    n_done = int(err.partition("stopped by SIGTERM: ")[2].partition(" of ")[0].replace(",", ""))
    record = status(orderly, directory)
    assert (record["state"], record["driver"]) == ("incomplete", None)
    assert record["n_classes_done"] == n_done == record["rows"]["eliminated"] + record["rows"]["candidates"]
    assert "stopped by SIGTERM" in record["ended"]
    assert [event["event"] for event in events(directory)][-1] == "stopped"


SMALL = ("--dims", "2x2", "--cutoff", "12", "--workers", "0", "--out", "run")


@pytest.fixture
def here(proven, tmp_path, monkeypatch):
    """A folder with a copy of a finished run."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(proven, tmp_path / "run")
    return tmp_path


def test_the_log_of_a_whole_run(orderly, here):
    told = events(here / "run")
    kinds = [event["event"] for event in told]
    assert (kinds[0], kinds[-2:]) == ("started", ["stage", "finished"])
    assert {"worker_up", "best", "stored", "progress"} <= set(kinds)
    assert told[-1]["complete"]
    assert told[-1]["digest"] == status(orderly, "run")["digest"]
    last = [event for event in told if event["event"] == "progress"][-1]
    assert last["n_classes_done"] == last["n_classes"] == told[0]["n_classes"]
    stored = [event for event in told if event["event"] == "stored"]
    assert sum(event["n_rows"] for event in stored) == last["n_verdicts"]
    record = status(orderly, "run")
    assert (record["state"], record["ended"], record["n_classes_left"]) == ("proven", None, 0)
    assert orderly("run", *SMALL).code == 0
    assert [event["event"] for event in events(here / "run")][len(told) :] == ["started", "stage", "finished"]


def test_ten_lines_say_what_matters_and_verbose_says_the_rest(orderly, here):
    (here / "run" / files.CLAIM).unlink()  # nothing says that the boards were scored again
    unproven = orderly("status", "run").out.splitlines()
    assert unproven[0].split() == ["state", "incomplete"]
    assert any(re.match("in the way +its boards were not scored again", line) for line in unproven)
    assert orderly("run", *SMALL).code == 0
    record = status(orderly, "run")
    lines = orderly("status", "run").out.splitlines()
    assert max(len(lines), len(unproven)) <= 10
    text = "\n".join(lines)
    for value in ("proven", "2x2, scowl70, cutoff 12", "(100.0 %)", record["statement"], record["digest"]):
        assert value in text
    verbose = orderly("status", "run", "--verbose").out
    assert len(verbose.splitlines()) > 20
    assert record["partition"] in verbose
    assert record["wordlist_sha256"] not in text


@pytest.mark.parametrize(
    ("n_done", "n_classes", "said"),
    [(34959, 34960, "99.9 %"), (7, 15, "46.7 %"), (0, 15, "0.0 %"), (15, 15, "100.0 %"), (1, 1, "1 class (100.0 %)")],
)
def test_run_and_status_say_the_same_share_and_100_percent_only_when_nothing_is_left(n_done, n_classes, said):
    report = Report(n_classes=n_classes, n_classes_done=n_done, n_open=1)
    record = {"n_classes": n_classes, "n_classes_done": n_done, "n_units_in_flight": None, "figures_age_s": None}
    assert said in done(record)
    assert said in format_report(report)


def going(rows, **progress):
    """Return the view of a run that goes on."""
    return view(rows, Live(True, None, {"n_workers": 1, **progress}, 1.0, 0.0, 0.0, {}, None))


ROWS = {
    "rows_state": "incomplete",
    "proven": False,
    "why_not_proven": "a class is open",
    "statement": None,
    "digest": "",
}
ROWS |= {"dims": "2x2", "wordlist": "w", "cutoff": 1500, "n_classes": 15, "n_classes_done": 0}
ROWS |= {"digest": "", "n_boards": 0, "best_score": None, "best_boards": []}


def test_a_board_that_is_not_stored_yet_is_told_as_such():
    told = lines(going(ROWS, best_score=1552, best_board="aert"))
    assert told["best"] == "1,552 points: aert, not stored yet; 0 stored at or above the cutoff, up to symmetry"
    stored = going({**ROWS, "n_boards": 1, "best_score": 1552, "best_boards": ["aert"]}, best_score=1552)
    assert lines(stored)["best"] == "1,552 points: aert; 1 at or above the cutoff, up to symmetry"
    assert rate(stored) == "unknown: nothing was finished of late"


def test_the_time_left_says_what_it_is_based_on():
    left = {"n_workers": 2, "remaining_s": 36_000.0, "n_classes": 100, "n_classes_done": 20}

    def said(**more):
        return time_left(going({}, **{**left, **more}))

    assert said() == "about 10 h 00 min, 20.0 processor hours, judging by 20 finished classes, a rough guess"
    ranged = {"remaining_low_s": 30_000.0, "remaining_high_s": 43_200.0, "n_classes_done": 40}
    assert said(**ranged) == (
        "about 10 h 00 min (8 h 20 min to 12 h 00 min), 20.0 processor hours, judging by 40 finished classes"
    )
    shared = {"share": "1/3", "n_own": 33, "n_own_done": 7, "elsewhere_s": 72_000.0}
    assert said(**shared) == (
        "about 10 h 00 min for share 1/3, 7 of its 33 classes done, 20.0 processor hours; 20.0 processor hours for the "
        "other shares, judging by 20 finished classes, a rough guess"
    )
    assert said(remaining_s=None).startswith("unknown: too little has been searched")
