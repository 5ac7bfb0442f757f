"""The state of a run: every command and page has the same word for it."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import time
from dataclasses import replace

import pytest

pytest.importorskip("uvicorn", reason="needs the extra: pip install 'orderly-boggle[serve]'")
pytest.importorskip(
    "jinja2", reason="the report needs the extra: pip install 'orderly-boggle[report]'"
)

from orderly_boggle.cluster.watch.view import Watcher
from orderly_boggle.results.errors import ConflictError
from orderly_boggle.results.proof.certificates import write_certificates
from orderly_boggle.results.proof.summary import State, state_of
from orderly_boggle.results.reading.sql import connect
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.lock import take_lock
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.results.store.words import run_wordlist
from orderly_boggle.search.certificate import Certifier
from tests.cluster.web import serving
from tests.samples import daily

SAID = {
    "finished": State.PROVEN,
    "unfinished": State.INCOMPLETE,
    "contradicting": State.FAULTY,
    "foreign": State.FAULTY,
    "damaged": State.UNREADABLE,
    "running": State.RUNNING,
    "running-faulty": State.FAULTY,
}
EVERY_DAY = ["finished", "contradicting", "damaged", "running"]


def written(folder, like, rows):
    """Write a run with these rows, the last of which may contradict another."""
    with (
        contextlib.suppress(ConflictError),
        Store.open(folder, like.question, like.made) as store,
    ):
        for row in rows:
            store.append([row])
            store.flush()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, proven):
    top = tmp_path_factory.mktemp("states")
    shutil.copytree(proven, top / "runs" / "finished")
    finished = open_run(top / "runs" / "finished")
    rows = list(finished.rows())
    contradiction = replace(
        rows[0], max_bound=1, status="split", candidates=(), children=("0=ab", "0=cd")
    )
    class_ids = {row.class_id for row in rows}
    foreign = replace(rows[0], class_id=next(i for i in range(10**6) if i not in class_ids))
    for name in ("unfinished", "running"):
        written(top / "runs" / name, finished, rows[:9])
    written(top / "runs" / "contradicting", finished, [*rows[:9], contradiction])
    for name in ("foreign", "running-faulty"):
        written(top / "runs" / name, finished, [*rows[:9], foreign])
    shutil.copytree(top / "runs" / "finished", top / "runs" / "damaged")
    part = next((top / "runs" / "damaged" / files.RESULTS).iterdir())
    part.write_bytes(part.read_bytes()[:100])
    with contextlib.ExitStack() as drivers:
        for name in ("running", "running-faulty"):
            drivers.enter_context(Store.open(top / "runs" / name, finished.question, finished.made))
        yield top / "runs"


@pytest.fixture(scope="module")
def served(folder):
    with serving(folder) as client:
        for _ in range(600):
            pulses = {run["name"]: run for run in client.ask("/api/runs").json}
            if len(pulses) == len(SAID) and all(
                run["version"] and run["state"] != "reading" for run in pulses.values()
            ):
                return pulses
            time.sleep(0.1)
    pytest.fail("the runs were never read")


def looked(watcher):
    """Look until the rows were read."""
    for _ in range(600):
        if (watched := watcher.look()).is_current or watched.error:
            return watched.view()
        time.sleep(0.05)
    pytest.fail("the run was never read")


def test_runs_and_pages_say_the_same_of_every_run_and_no_more_of_its_best_board(
    orderly, folder, served
):
    listed = {run["run"]: run["state"] for run in orderly.json("runs", folder)}
    assert listed == {name: state.value for name, state in SAID.items()}
    assert {name: run["state"] for name, run in served.items()} == listed
    assert f"({served['unfinished']['percent']})" in orderly("status", folder / "unfinished").out
    begins = {
        State.PROVEN: "With scowl70 none of the other 456,975 2x2 boards beats it",
        State.UNREADABLE: "",
    }
    for name, state in SAID.items():
        said = (served[name]["best"] or {"said": ""})["said"]
        assert said.startswith(begins.get(state, "The best found so far; ")), (name, said)
        assert ("do not fit together" in said) == (state is State.FAULTY)
        is_counted = f"of 55 classes are done ({served[name]['percent']})." in said
        assert is_counted == (state in (State.INCOMPLETE, State.RUNNING))


@pytest.mark.parametrize("name", daily(EVERY_DAY, SAID))
def test_status_watch_report_and_sql_say_the_same_of_a_run(orderly, folder, tmp_path, name):
    assert looked(Watcher(str(folder / name))).state == SAID[name]
    status = orderly("status", folder / name, "--format", "json")
    page = tmp_path / "page.html"
    report = orderly("report", folder / name, "-n", "0", "--out", page)
    if SAID[name] is State.UNREADABLE:
        assert (status.code, report.code) == (3, 3)
        assert not page.exists()
        return
    assert json.loads(status.out)["state"] == SAID[name]
    assert status.code == 0
    if name == "contradicting":
        assert (
            "1 unit has contradicting verdicts (class " in json.loads(status.out)["why_not_proven"]
        )
    html = page.read_text()
    assert re.findall(r"State of the run</th><td>(\w+)", html) == [SAID[name].value]
    assert report.code == {State.PROVEN: 0, State.FAULTY: 5}.get(SAID[name], 4)
    first = {State.PROVEN: "Proven.", State.FAULTY: "Not proven."}.get(
        SAID[name], "Not proven yet."
    )
    assert re.findall(r"<strong>(.*?proven.*?)</strong>", html, re.IGNORECASE) == [first]
    database = connect([folder / name])
    assert database.query("SELECT state FROM runs").rows == [
        (SAID[name].replace("running", "incomplete"),)
    ]
    database.close()


def test_a_terminal_calls_nothing_proven_that_has_changed_since_it_was_read(folder, tmp_path):
    shutil.copytree(folder / "finished", tmp_path / "run")
    watcher = Watcher(str(tmp_path / "run"))
    assert looked(watcher).state == State.PROVEN
    part = next((tmp_path / "run" / files.RESULTS).iterdir())
    part.write_bytes(part.read_bytes()[:100])
    watcher.watched.refresh()  # as a second later
    assert watcher.look().view().state in (State.READING, State.UNREADABLE)
    assert looked(watcher).state == State.UNREADABLE


def test_a_proven_run_is_not_called_running_while_it_is_certified(proven, tmp_path):
    """``certify`` holds the lock and writes files; nothing is searched."""
    shutil.copytree(proven, tmp_path / "run")
    run = open_run(tmp_path / "run")
    watcher = Watcher(str(tmp_path / "run"))
    assert looked(watcher).state == State.PROVEN
    lock = take_lock(run.folder)
    try:
        words = run_wordlist(run).words
        shape = Certifier(run.question, words).shape(run.partition.class_letters(0), "")
        write_certificates(run, [(0, shape)])
        watcher.watched.refresh()  # as a second later
        assert watcher.watched.is_running
        assert watcher.watched.view().state is State.READING
        assert looked(watcher).state is State.PROVEN
    finally:
        lock.release()


def test_any_error_in_reading_rows_is_said_and_the_same_files_are_not_read_again(
    folder, monkeypatch
):
    calls = []

    def fail(*_):
        calls.append(1)
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("orderly_boggle.results.proof.prove.summary", fail)
    watcher = Watcher(str(folder / "finished"))
    view = looked(watcher)
    assert (view.state, view.error) == (
        State.UNREADABLE,
        "internal error, ZeroDivisionError: oh",
    )
    for _ in range(3):
        watcher.watched.refresh()
        watcher.look()
        time.sleep(0.1)
    assert len(calls) == 1
    monkeypatch.setattr("orderly_boggle.cluster.watch.view.live", fail)  # lock and log
    assert (
        looked(Watcher(str(folder / "finished"))).error == "internal error, ZeroDivisionError: oh"
    )


def test_the_server_says_any_error_in_reading_rows_and_does_not_read_them_again(
    folder, monkeypatch
):
    calls = []

    async def fail(_queue, priority, *_, **__):
        if priority == "runs":
            calls.append(1)
            raise ZeroDivisionError("oh")

    with serving(folder / "finished") as client:
        monkeypatch.setattr("orderly_boggle.cluster.web.job_queue.JobQueue.ask", fail)
        (run,) = client.ask("/api/runs").json
        for _ in range(2):
            time.sleep(1.1)
            (run,) = client.ask("/api/runs").json
        assert (run["state"], run["error"]) == (
            "unreadable",
            "internal error, ZeroDivisionError: oh",
        )
        assert len(calls) == 1


def test_nothing_is_called_proven_while_its_rows_are_not_read():
    assert state_of(None, is_running=False) is State.READING
    assert state_of(None, is_running=True) is State.RUNNING
    assert state_of(State.PROVEN, is_running=False, error="damaged") is State.UNREADABLE
    assert state_of(State.PROVEN, is_running=True) is State.PROVEN
    assert state_of(State.FAULTY, is_running=True) is State.FAULTY
