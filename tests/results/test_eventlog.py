"""The event log: complete lines whatever is killed, never in the way of a run; and what is read from it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from boardclass.errors import StoreError
from results.log import EventLog, live, read_events
from results.storage import files
from results.storage import local as storage
from results.storage.local import LocalFolder
from results.storage.lock import RunLock


def lines(run: Path) -> list[str]:
    return (run / files.EVENTS).read_text().split("\n")[:-1]


def test_one_json_object_a_line(tmp_path):
    log = EventLog(LocalFolder(tmp_path), clock=lambda: 12.34567)
    log.add("stage", text='two\nlines, "quoted", ü')
    log.add("best", score=5, board="abcd")
    assert not (tmp_path / files.EVENTS).exists()
    log.flush()
    log.flush()
    first, second = map(json.loads, lines(tmp_path))
    assert first == {"time": 12.346, "session": first["session"], "event": "stage", "text": 'two\nlines, "quoted", ü'}
    assert (second["session"], second["score"]) == (first["session"], 5)
    assert read_events(LocalFolder(tmp_path)) == [first, second]


def test_what_a_kill_left_half_written_is_skipped_and_followed(tmp_path):
    folder = LocalFolder(tmp_path)
    for number in range(3):
        log = EventLog(folder)
        log.add("stage", text=f"text {number}")
        log.flush()
        whole = (tmp_path / files.EVENTS).read_bytes()
        (tmp_path / files.EVENTS).write_bytes(whole[: -1 - 5 * number])
    assert [event["text"] for event in read_events(folder)] == ["text 0"], "only its newline was lost"
    log.add("stage", text="text 3")
    log.flush()
    assert [event["text"] for event in read_events(folder)] == ["text 0", "text 3"]
    assert len(lines(tmp_path)) == 4, "the halves stand on lines of their own"


def test_foreign_lines_are_skipped(tmp_path):
    good = {"time": 1, "session": "a", "event": "stage", "text": ""}
    texts = ["null", "[1]", '{"event": "stage"}', '{"event": "nosuch", "time": 1}', "\udcff", "[" * 100_000, ""]
    data = "\n".join([*texts, json.dumps(good)]).encode(errors="surrogateescape")
    (tmp_path / files.EVENTS).write_bytes(data)
    assert read_events(LocalFolder(tmp_path)) == [good]


def test_a_folder_that_refuses_loses_lines_only_when_it_lasts(tmp_path, monkeypatch):
    def full(descriptor: int, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    log = EventLog(LocalFolder(tmp_path))
    write_all = storage.write_all
    monkeypatch.setattr(storage, "write_all", full)
    for number in range(3):
        log.add("stage", text=str(number))
        log.flush(now=True)
    monkeypatch.setattr(storage, "write_all", write_all)
    log.flush()
    assert [event["text"] for event in read_events(LocalFolder(tmp_path))] == ["0", "1", "2"]
    assert log.n_lost == 0
    with pytest.raises(StoreError, match="cannot write"):
        LocalFolder(tmp_path / "none").note("a", "b\n")


def test_fields_that_are_not_documented_are_a_bug(tmp_path):
    with pytest.raises(AssertionError):
        EventLog(LocalFolder(tmp_path)).add("stage", color="red")


def progress(at_s: float, session: str, **values: object) -> str:
    return json.dumps({"time": at_s, "session": session, "event": "progress", "n_workers": 2, **values})


def test_the_last_session_tells_what_goes_on(tmp_path):
    now_s = time.time()
    folder = LocalFolder(tmp_path)
    assert not live(folder).is_running
    assert live(folder).progress == {}
    reports = [
        progress(now_s - 9000, "old", n_classes_done=900, n_verdicts=9000),
        progress(now_s - 2000, "new", n_classes_done=0, n_verdicts=0),
        progress(now_s - 720, "new", n_classes_done=100, n_verdicts=200),
        progress(now_s - 5, "new", n_classes_done=102, n_verdicts=240),
    ]
    (tmp_path / files.EVENTS).write_text("\n".join(reports) + "\n")
    found = live(folder)
    assert found.classes_per_h == pytest.approx(10, rel=0.01)
    assert found.verdicts_per_h == pytest.approx(200, rel=0.01)
    assert found.age_s is not None
    assert found.age_s < 60
    assert found.end == {}
    lock = RunLock(folder)
    lock.acquire()
    assert live(folder).is_running
    assert live(folder).owner is not None
    assert live(folder).progress == {}, "what an earlier driver said is not about this one"
    with (tmp_path / files.EVENTS).open("a") as file:
        file.write(progress(time.time(), "newest", n_classes_done=103) + "\n")
    assert live(folder).progress["n_classes_done"] == 103
    with (tmp_path / files.EVENTS).open("a") as file:
        started = {"time": time.time(), "session": "ours", "event": "started", "pid": os.getpid()}
        other = {"time": time.time(), "session": "other", "event": "stopped", "message": "taken over"}
        file.write(f"{json.dumps(started)}\n{progress(time.time(), 'ours', n_classes_done=104)}\n{json.dumps(other)}\n")
    assert live(folder).progress["n_classes_done"] == 104, "the last word of one that lost the run does not count"
    assert live(folder).end == {}
    lock.release()
    assert not live(folder).is_running
