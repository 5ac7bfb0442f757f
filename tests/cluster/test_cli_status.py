"""``status`` and ``watch`` from other processes while a run goes on, after it was stopped, killed,
resumed.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import signal
import subprocess
import termios
import time
from dataclasses import replace

import pytest

from orderly_boggle.cluster.answers.run_view import Classes, RunView, look, run_view
from orderly_boggle.cluster.answers.status import (
    at_work,
    classes_done,
    done,
    figures,
    going_on,
    lines,
)
from orderly_boggle.cluster.driver.progress import format_report
from orderly_boggle.results.log import Live
from orderly_boggle.results.log_events import Busy, Report, Reported
from orderly_boggle.results.proof.summary import BoardList, ListedBoard
from orderly_boggle.results.storage import files
from tests.conftest import RESTING, ROOT, flip_bit, make_in
from tests.samples import daily

# long enough to be watched: seconds for the first classes, minutes for all of them
WATCHED = (
    "--dims",
    "3x3",
    "--cutoff",
    "430",
    "--buckets",
    "bdfgjqvwxz aeiou lnrsy chkmpt",
    "--workers",
    "0",
)


@pytest.fixture
def start(tmp_path):
    """Start ``orderly run`` as a process of its own that rests now and then; it is killed in the
    end.
    """
    processes = []

    def call(*arguments):
        command = [*RESTING, "run", *map(str, arguments)]
        pipe = subprocess.PIPE
        processes.append(
            subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True)
        )
        return processes[-1]

    yield call
    for process in processes:
        process.kill()
        process.communicate()


def events(directory):
    return [json.loads(line) for line in (directory / files.EVENTS).read_text().splitlines()]


def wait_until(orderly, directory, condition):
    """Ask for the status until a condition holds, for a few minutes: kernels may have to be
    compiled first.
    """
    for _ in range(1000):
        if (directory / files.RUN).exists():
            record = orderly.json("status", directory)
            if condition(record):
                return record
        time.sleep(0.2)
    pytest.fail("the status never got there")


@pytest.mark.slow
def test_a_run_that_goes_on_is_seen_by_others_also_after_it_was_stopped(
    orderly, start, terminal_of, tmp_path
):
    directory = tmp_path / "run"
    process = start(*WATCHED, "--out", directory)
    early = wait_until(orderly, directory, lambda record: record["state"] == "running")
    assert f"(process {process.pid})" in early["driver"]
    if early["n_classes_done"] == 0:
        assert early["remaining_s"] is early["remaining_low_s"] is None, "nothing has been measured"
    record = wait_until(orderly, directory, lambda record: record["classes_per_h"])
    assert record["n_classes"] == 34960 == record["n_classes_done"] + record["n_classes_left"]
    assert record["remaining_s"] > 0
    assert sum(record["hosts"].values()) == record["n_workers"] == 1
    assert record["n_measured"] >= 1
    assert record["figures_age_s"] < 120
    assert (record["n_strikes"], record["n_requeued"], record["n_workers_lost"]) == (0, 0, 0)
    table = orderly("status", directory).out
    assert re.search(
        r"time left +about .* (processor hours|of one processor), judging by [\d,]+ finished class",
        table,
    )
    assert re.search(r"rate +[\d,]+ classes and [\d,]+ verdicts an hour", table)
    refused = orderly("run", *WATCHED, "--out", directory)
    assert (refused.code, f"(process {process.pid}), for " in refused.err) == (3, True)

    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 4
    n_done = int(err.partition("stopped by SIGTERM: ")[2].partition(" of ")[0].replace(",", ""))
    record = orderly.json("status", directory)
    assert (record["state"], record["driver"]) == ("incomplete", None)
    assert (
        record["n_classes_done"]
        == n_done
        == record["rows"]["eliminated"] + record["rows"]["candidates"]
    )
    assert "stopped by SIGTERM" in record["ended"]
    assert events(directory)[-1]["event"] == "stopped"

    process = start(*WATCHED, "--out", directory)
    terminal = terminal_of("watch", directory, rows=45, columns=150)
    wait_until(orderly, directory, lambda record: record["n_measured"])
    started = [n for n, event in enumerate(events(directory)) if event["event"] == "started"][-1]
    first = next(event for event in events(directory)[started:] if event["event"] == "progress")
    assert first["remaining_s"] > 0, "the stored classes tell"
    assert (first["remaining_low_s"] is None) == (n_done < 30)
    assert 0 < first["n_free_bytes"] <= first["n_total_bytes"]
    text = terminal.wait_for(
        "running", "class ", "judging by", "verdicts an hour", f"process {process.pid}"
    )
    assert "proven" not in text
    process.kill()
    process.communicate()
    record = orderly.json("status", directory)
    assert (record["state"], record["n_classes_done"] >= n_done) == ("incomplete", True)
    assert "killed" in record["ended"]
    assert [
        event["n_classes_done"] for event in events(directory) if event["event"] == "started"
    ] == [0, n_done]
    terminal.wait_for("incomplete", "killed, or its machine is gone", "why not proven")
    terminal.type(b"q")
    assert terminal.end() == 0


def test_a_whole_run_its_log_and_what_is_said_of_it(orderly, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = ("run", "--dims", "2x2", "--cutoff", "12", "--workers", "0", "--out", "run")
    orderly.done(*run)
    told = events(tmp_path / "run")
    kinds = [event["event"] for event in told]
    assert (kinds[0], kinds[-2:]) == ("started", ["stage", "finished"])
    assert {"worker_up", "best", "stored", "progress"} <= set(kinds)
    record = orderly.json("status", "run")
    assert (record["state"], record["ended"], record["n_classes_left"]) == ("proven", None, 0)
    assert (told[-1]["complete"], told[-1]["digest"]) == (True, record["digest"])
    last = [event for event in told if event["event"] == "progress"][-1]
    assert last["n_classes_done"] == last["n_classes"] == told[0]["n_classes"]
    assert (
        sum(event["n_rows"] for event in told if event["event"] == "stored") == last["n_verdicts"]
    )
    proven = orderly("status", "run").out
    for value in (
        "proven",
        "2x2, scowl70, cutoff 12",
        "(100.0 %)",
        record["statement"],
        record["digest"],
    ):
        assert value in proven
    verbose = orderly("status", "run", "--verbose").out
    assert len(verbose.splitlines()) > 20 > 2 * len(proven.splitlines())
    assert (record["partition"] in verbose, record["wordlist_sha256"] in proven) == (True, False)

    (tmp_path / "run" / files.CLAIM).unlink()  # nothing says that the boards were scored again
    unproven = orderly("status", "run").out.splitlines()
    assert (unproven[0].split(), len(unproven) <= 10) == (["state", "incomplete"], True)
    assert any(
        re.match("why not proven +its boards were not scored again", line) for line in unproven
    )
    orderly.done(*run)
    assert [event["event"] for event in events(tmp_path / "run")][len(told) :] == [
        "started",
        "stage",
        "finished",
    ]

    (tmp_path / "without" / files.EVENTS).mkdir(parents=True)
    orderly.done(*run[:-1], "without")
    assert orderly.json("status", "without")["state"] == "proven", "a run goes on without its log"


@pytest.mark.parametrize(
    ("n_done", "n_classes", "said"),
    [
        (34959, 34960, "99.9 %"),
        (7, 15, "46.7 %"),
        (0, 15, "0.0 %"),
        (15, 15, "100.0 %"),
        (1, 1, "1 class (100.0 %)"),
    ],
)
def test_run_and_status_say_the_same_share_and_100_percent_only_when_nothing_is_left(
    n_done, n_classes, said
):
    report = Report(n_classes=n_classes, n_classes_done=n_done, n_open=1)
    assert said in classes_done(Classes(n_classes, 0, n_done))
    assert said in format_report(report)


def going(rows=None, **values) -> RunView:
    """Return the view of a run that goes on."""
    live = Live(True, None, Reported(**values), 1.0, 0.0, 0.0, None, None)
    return run_view(rows, live)


def test_a_board_that_is_not_stored_yet_is_told_as_such(small_runs):
    view, result = look(str(small_runs / "whole"))
    assert view.proven
    nothing = replace(result, proven=False, listed=BoardList.of([], 0))
    best = {"best_score": 1552, "best_board": "aert"}
    told = lines(going(nothing, **best))
    assert told["best"].startswith("1,552 points: aert, not stored yet; 0 stored")
    stored = replace(nothing, listed=BoardList.of([ListedBoard("aert", 1552, 8)], 1))
    told = lines(going(stored, **best))
    assert told["best"].startswith("1,552 points: aert; 1 at or above the cutoff")
    assert told["rate"].startswith("unknown")


def test_what_workers_do_and_what_a_driver_reports_is_in_words():
    far = Busy(
        worker=2, host="far", class_id=1234, path="5=ab", n_units=3, seconds=60.0, n_bytes=3 * 2**29
    )
    near = Busy(worker=7, host="near", class_id=3, path="", n_units=1, seconds=2.0)
    view = going(
        n_classes=30,
        n_classes_done=10,
        n_in_flight=4,
        n_open=2000,
        n_workers=2,
        n_deaths=1,
        n_requeued=2,
        hosts={"far": 1, "near": 1},
        n_free_bytes=2**31,
        n_total_bytes=2**34,
        busy=(far, near),
    )
    assert at_work(view) == [
        ("2", "far", "class 1,234 5=ab and 2 more units", "1 min 01 s", "1.5 GiB"),
        ("7", "near", "class 3", "3 s", ""),
    ]
    assert done(view) == "10 of 30 classes (33.3 %), 4 units being searched, as of 1 s ago"
    assert dict(going_on(view))["workers"] == "2, far 1, near 1, 1 lost so far; driver unknown"
    assert dict(figures(view)) == {
        "memory": "2.0 GiB of 16.0 GiB free on the driver's machine",
        "units": "4 being searched, 2,000 open",
        "so far": "2 tried again",
        "figures from": "1 s ago",
    }


def test_the_time_left_says_what_it_is_based_on():
    left = {"n_workers": 2, "remaining_s": 36_000.0, "n_classes": 100, "n_classes_done": 20}
    ranged = {"remaining_low_s": 30_000.0, "remaining_high_s": 43_200.0, "n_classes_done": 40}
    shared = {"share": "1/3", "n_own": 33, "n_own_done": 7, "elsewhere_s": 72_000.0}
    for more, expected in (
        (
            {},
            "about 10 h 00 min, 20.0 processor hours, judging by 20 finished classes, a rough "
            "guess",
        ),
        (
            ranged,
            "about 10 h 00 min (95 %: 8 h 20 min to 12 h 00 min), 20.0 processor hours, judging by "
            "40 finished classes",
        ),
        (
            shared,
            "about 10 h 00 min for share 1/3, 7 of its 33 classes done, 20.0 processor hours; "
            "20.0 processor hours",
        ),
        ({"remaining_s": None}, "unknown: too little has been searched"),
    ):
        assert dict(going_on(going(**{**left, **more})))["time left"].startswith(expected)


KEYS = """
    directory state proven why_not_proven dims wordlist letters scores wordlist_sha256 cutoff
    partition n_classes n_classes_begun n_classes_done n_conflicts n_units_pending n_units_split
    n_units_quarantined rows n_candidates n_boards n_boards_with_images best_score best_boards
    climbed_board climbed_score
    digest notes statement driver figures_age_s ended n_classes_left n_units_in_flight n_strikes
    n_requeued n_workers_lost hosts hosts_flagged n_replicas_agreed classes_per_h verdicts_per_h
    n_workers remaining_s remaining_low_s remaining_high_s elsewhere_s n_measured n_own n_own_done
    share best_is_stored
"""


def test_the_keys_of_the_json_are_a_promise(orderly, small_runs):
    assert list(orderly.json("status", small_runs / "whole")) == KEYS.split()


# ---- watch: what is on the screen, keys, resizing; and that the run stays as it was


def state_of(folder):
    """Return everything about the files of a run that a reader might change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        told = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (told.st_mtime_ns, told.st_size, told.st_ino, digest)
    return found


@pytest.mark.parametrize("key", daily([b"\x03"], [b"q", b"Q"]))
def test_a_run_is_shown_until_a_key_is_pressed_or_it_is_damaged_and_nothing_is_changed(
    terminal_of, proven, tmp_path, key
):
    run = shutil.copytree(proven, tmp_path / "run")
    line = (
        '{"time": 1.0, "session": "x", "event": "stopped", "reason": "E", "message": '
        '"\\u001b[2J\\u202egone[red]"}\n'
    )
    (run / files.EVENTS).write_text(line)
    before = state_of(run)
    terminal = terminal_of("watch", run, rows=40, columns=120)
    text = terminal.wait_for(
        "proven", "55 of 55 classes (100.0 %)", "14  aert", "q quits", "\\x1b[2J\\u202egone[red]"
    )
    assert "free" in text
    wide = max(map(len, text.splitlines()))
    terminal.resize(16, 44)
    text = terminal.wait_for("proven", "q quits")
    assert max(map(len, text.splitlines())) <= 44 < wide
    terminal.resize(50, 140)
    terminal.wait_for("14  aert", "best boards", "what happened")
    assert state_of(run) == before
    flip_bit(next((run / files.RESULTS).iterdir()))
    assert "proven" not in terminal.wait_for("unreadable")
    terminal.type(key)
    assert terminal.end() == 0
    assert termios.tcgetattr(terminal.slave)[3] == terminal.before[3], "the terminal echoes again"


@pytest.mark.nightly
def test_a_run_in_an_object_store(terminal_of, bucket):
    address = f"{bucket}/runs/mine"
    make_in(ROOT, "run", "2x2", "--cutoff", "10", "--workers", "0", "--out", address)
    terminal = terminal_of("watch", address)
    text = terminal.wait_for("proven", "55 of 55", "14  aert")
    assert "free" not in text
    terminal.type(b"q")
    assert terminal.end() == 0
