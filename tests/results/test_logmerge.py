"""Logs put together: few lines of progress, each line once, and no session of a source is taken for the last one."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from boardclass.errors import StoreError
from results.log import MAX_BYTES, PROGRESS_S, EventLog, live, merge_logs, read_events, thinned
from results.reading.report import stage_seconds
from results.storage import files
from results.storage.local import LocalFolder

HOUR_S = 3600.0


def session(name, begins_s, hours, every_s=60.0):
    """Return the events of a session with a line of progress a minute and a part every two."""
    events = [{"time": begins_s, "session": name, "event": "started", "pid": 1}]
    for i in range(int(hours * HOUR_S / every_s)):
        at_s = begins_s + (i + 1) * every_s
        events.append({"time": at_s, "session": name, "event": "progress", "n_classes_done": i, "n_workers": 2})
        if i % 2:
            events.append({"time": at_s + 1, "session": name, "event": "stored", "name": f"part {i}", "n_rows": 1})
    return events


def written(folder, events):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / files.EVENTS).write_text("".join(json.dumps(event) + "\n" for event in events))
    return LocalFolder(folder)


def test_a_few_lines_of_progress_an_hour_stay_and_the_last_one_does():
    events = session("a", 1e9, 10)
    kept = thinned(events)
    progress = [event for event in kept if event["event"] == "progress"]
    assert len(progress) <= 10 * HOUR_S / PROGRESS_S + 1
    assert progress[-1] == [event for event in events if event["event"] == "progress"][-1]
    assert stage_seconds(kept) == pytest.approx(stage_seconds(events), abs=2.0)
    assert thinned(kept) == kept


def test_of_a_log_of_any_length_only_the_end_is_read(tmp_path):
    event = {"time": 5.0, "session": "a", "event": "stopped", "reason": "Interrupted"}
    source = written(tmp_path / "source", [])
    with (tmp_path / "source" / files.EVENTS).open("wb") as log:
        log.truncate(8 * MAX_BYTES)
        log.seek(0, 2)
        log.write(f"\n{json.dumps(event)}\n".encode())
    target = written(tmp_path / "target", [])
    tracemalloc.start()
    assert merge_logs(target, [source], n_rows=1, n_parts=1) == 1
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 3 * MAX_BYTES
    assert event in read_events(target)


def test_sessions_side_by_side_keep_their_own_lines():
    both = sorted([*session("a", 1e9, 1), *session("b", 1e9, 1)], key=lambda event: event["time"])
    assert sum(event["event"] == "progress" for event in thinned(both)) == 2 * len(
        [event for event in thinned(session("a", 1e9, 1)) if event["event"] == "progress"]
    )


def test_a_source_that_grows_is_merged_again_and_again(tmp_path):
    target, n_lines = LocalFolder(tmp_path / "target"), 0
    (tmp_path / "target").mkdir()
    for hours in (1, 3, 3, 7):
        source = written(tmp_path / "source", session("a", 1e9 + 17, hours))
        n_lines += merge_logs(target, [source], n_rows=1, n_parts=1)
        lines = (tmp_path / "target" / files.EVENTS).read_text().splitlines()
        assert len(lines) == len(set(lines))
        assert stage_seconds(read_events(target, 2**30))["searching"] == pytest.approx(hours * HOUR_S, abs=61)
    assert n_lines <= 7 * HOUR_S / PROGRESS_S + 1 + 4, "one more for each time it stopped between two"


def test_the_session_of_a_source_is_not_taken_for_the_last_of_the_target(tmp_path):
    target = written(tmp_path / "target", session("mine", 1e9, 1))
    source = written(tmp_path / "source", session("theirs", 1e9 - 5000, 1))
    merge_logs(target, [source], n_rows=3, n_parts=1)
    now = live(target)
    assert (now.is_running, dict(now.progress), dict(now.end)) == (False, {}, {})
    events = read_events(target, 2**30)
    assert events[-1]["session"] not in {"mine", "theirs"}
    assert [event["session"] for event in events if event["event"] == "started"] == ["mine", "theirs"]


def test_a_driver_that_goes_on_after_a_merge_is_the_last_session(tmp_path):
    target = written(tmp_path / "target", session("mine", 1e9, 1))
    merge_logs(target, [written(tmp_path / "source", session("theirs", 2e9, 1))], n_rows=3, n_parts=1)
    log = EventLog(target)
    log.add("progress", n_classes_done=5)
    log.flush(now=True)
    assert live(target).progress["n_classes_done"] == 5


def test_foreign_lines_are_left_behind(tmp_path):
    source = written(tmp_path / "source", session("a", 1e9, 1)[:3])
    nonsense = [
        {"time": 1.0, "session": "a", "event": "stage", "text": "\ud800 half a character"},
        {"time": 1.0, "session": [1], "event": "progress"},
        {"event": "unknown", "time": 1},
    ]
    with (tmp_path / "source" / files.EVENTS).open("a") as file:
        file.writelines(json.dumps(event) + "\n" for event in nonsense)
        file.write('nonsense\n{"torn')
    (tmp_path / "target").mkdir()
    target = LocalFolder(tmp_path / "target")
    assert merge_logs(target, [source], n_rows=1, n_parts=1) == 2, "few lines of progress stay"
    assert merge_logs(target, [source], n_rows=0, n_parts=0) == 0
    assert [event["event"] for event in read_events(target)] == ["started", "progress", "merged"]


def test_a_log_that_cannot_be_written_to_stops_nothing(tmp_path, monkeypatch):
    def refuse(self, name, text):
        raise StoreError("no room")

    source = written(tmp_path / "source", session("a", 1e9, 1))
    monkeypatch.setattr(LocalFolder, "note", refuse)
    assert merge_logs(LocalFolder(tmp_path), [source], n_rows=1, n_parts=1) == 0
