"""The event log: complete lines whatever is killed, never in the way of a run; what is read from
it; logs merged.
"""

from __future__ import annotations

import json
import os
import resource
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from orderly_boggle.results.log import (
    MAX_BYTES,
    PROGRESS_S,
    EventLog,
    live,
    merge_logs,
    read_events,
    thinned,
)
from orderly_boggle.results.log_events import (
    EVENT,
    BestBoard,
    Event,
    PartStored,
    Reported,
    Stage,
    Stopped,
)
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.storage.lock import take_lock


def lines(run: Path) -> list[str]:
    return (run / files.EVENTS).read_text().split("\n")[:-1]


def kept(folder: LocalFolder, n_bytes: int = MAX_BYTES) -> list[dict[str, Any]]:
    """Return the events that are read, as JSON has them."""
    return [json.loads(EVENT.dump_json(event)) for event in read_events(folder, n_bytes)]


def reported(folder: LocalFolder) -> Reported:
    report = live(folder).report
    assert report is not None
    return report


def test_one_json_object_a_line(tmp_path):
    log = EventLog(LocalFolder(tmp_path), clock=lambda: 12.34567)
    log.add(Stage(text='two\nlines, "quoted", ü'))
    log.add(BestBoard(score=5, board="abcd"))
    assert not (tmp_path / files.EVENTS).exists()
    log.flush()
    log.flush()
    first, second = map(json.loads, lines(tmp_path))
    assert first == {
        "time": 12.346,
        "session": first["session"],
        "event": "stage",
        "name": "rescoring",
        "text": 'two\nlines, "quoted", ü',
    }
    assert (second["session"], second["score"]) == (first["session"], 5)
    assert kept(LocalFolder(tmp_path)) == [first, second]


def test_what_a_kill_left_half_written_is_skipped_and_followed(tmp_path):
    folder = LocalFolder(tmp_path)
    for number in range(3):
        log = EventLog(folder)
        log.add(Stage(text=f"text {number}"))
        log.flush()
        whole = (tmp_path / files.EVENTS).read_bytes()
        (tmp_path / files.EVENTS).write_bytes(whole[: -1 - 5 * number])
    assert [event["text"] for event in kept(folder)] == ["text 0"], "only its newline was lost"
    log.add(Stage(text="text 3"))
    log.flush()
    assert [event["text"] for event in kept(folder)] == ["text 0", "text 3"]
    assert len(lines(tmp_path)) == 4, "the halves stand on lines of their own"


def test_a_folder_that_refuses_loses_lines_only_when_it_lasts(tmp_path):
    log = EventLog(LocalFolder(tmp_path))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))  # no file may have a byte
    try:
        for number in range(3):
            log.add(Stage(text=str(number)))
            log.flush(now=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert kept(LocalFolder(tmp_path)) == []
    log.flush()
    assert [event["text"] for event in kept(LocalFolder(tmp_path))] == ["0", "1", "2"]


def progress(at_s: float, session: str, **values: object) -> str:
    return json.dumps(
        {"time": at_s, "session": session, "event": "progress", "n_workers": 2, **values}
    )


def test_the_last_session_tells_what_goes_on(tmp_path):
    now_s, folder = time.time(), LocalFolder(tmp_path)

    def log(*lines):
        with (tmp_path / files.EVENTS).open("a") as file:
            file.writelines(f"{line}\n" for line in lines)

    assert (live(folder).is_running, live(folder).report) == (False, None)
    log(
        progress(now_s - 9000, "old", n_classes_done=900, n_verdicts=9000),
        progress(now_s - 2000, "new", n_classes_done=0, n_verdicts=0),
        progress(now_s - 720, "new", n_classes_done=100, n_verdicts=200),
        progress(now_s - 5, "new", n_classes_done=102, n_verdicts=240),
    )
    found = live(folder)
    assert (found.classes_per_h, found.verdicts_per_h) == pytest.approx((10, 200), rel=0.01)
    assert found.age_s is not None
    assert 5 <= found.age_s < 60
    lock = take_lock(folder)
    assert live(folder).is_running
    assert live(folder).report is None, "what an earlier driver said is not about this one"
    log(progress(time.time(), "newest", n_classes_done=103))
    assert reported(folder).n_classes_done == 103
    started = {"time": time.time(), "session": "ours", "event": "started", "pid": os.getpid()}
    other = {"time": time.time(), "session": "other", "event": "stopped", "message": "taken over"}
    log(json.dumps(started), progress(time.time(), "ours", n_classes_done=104), json.dumps(other))
    assert reported(folder).n_classes_done == 104, (
        "the last word of one that lost the run does not count"
    )
    assert live(folder).end is None
    lock.release()
    assert not live(folder).is_running


def test_a_session_that_ended_is_not_that_of_a_driver_that_does_not_say_who_it_is(tmp_path):
    stopped = {"time": 9.0, "session": "a", "event": "stopped", "reason": "Interrupted"}
    folder = written(tmp_path, [json.loads(progress(5.0, "a", n_classes_done=3)), stopped])
    assert reported(folder).n_classes_done == 3
    lock = take_lock(folder)
    (tmp_path / files.OWNER).unlink()  # as before it is written
    assert (live(folder).is_running, live(folder).report, live(folder).end) == (True, None, None)
    lock.release()


HOUR_S = 3600.0


def session(name, begins_s, hours, every_s=60.0):
    """Return the events of a session with a line of progress a minute and a part every two."""
    events = [{"time": begins_s, "session": name, "event": "started", "pid": 1}]
    for i in range(int(hours * HOUR_S / every_s)):
        at_s = begins_s + (i + 1) * every_s
        events.append(
            {
                "time": at_s,
                "session": name,
                "event": "progress",
                "n_classes_done": i,
                "n_workers": 2,
            }
        )
        if i % 2:
            events.append(
                {
                    "time": at_s + 1,
                    "session": name,
                    "event": "stored",
                    "name": f"part {i}",
                    "n_rows": 1,
                }
            )
    return events


def written(folder, events):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / files.EVENTS).write_text("".join(json.dumps(event) + "\n" for event in events))
    return LocalFolder(folder)


def parsed(events: list[dict[str, Any]]) -> list[tuple[Event, str]]:
    lines = [json.dumps(event) for event in events]
    return [(EVENT.validate_json(line), line) for line in lines]


def reports_of(events: list[tuple[Event, str]]) -> list[Event]:
    return [event for event, _ in events if isinstance(event, Reported)]


def test_a_few_lines_of_progress_an_hour_stay_and_the_last_one_of_each_session_does():
    events = parsed(session("a", 1e9, 10))
    few = thinned(events)
    assert len(reports_of(few)) <= 10 * HOUR_S / PROGRESS_S + 1
    assert reports_of(few)[-1] == reports_of(events)[-1]
    others = [pair for pair in events if not isinstance(pair[0], Reported | PartStored)]
    assert [pair for pair in few if not isinstance(pair[0], Reported)] == others
    assert thinned(few) == few
    both = sorted([*events, *parsed(session("b", 1e9, 10))], key=lambda pair: pair[0].time)
    assert len(reports_of(thinned(both))) == 2 * len(reports_of(few))


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
    assert [logged for logged in read_events(target) if isinstance(logged, Stopped)] == [
        Stopped(time=5.0, session="a", reason="Interrupted")
    ]


def test_the_session_of_a_source_is_not_taken_for_the_last_of_the_target(tmp_path):
    target = written(tmp_path / "target", session("mine", 1e9, 1))
    merge_logs(
        target, [written(tmp_path / "source", session("theirs", 2e9, 1))], n_rows=3, n_parts=1
    )
    assert (live(target).is_running, live(target).report, live(target).end) == (False, None, None)
    events = kept(target)
    assert events[-1]["session"] not in {"mine", "theirs"}
    assert [event["session"] for event in events if event["event"] == "started"] == [
        "mine",
        "theirs",
    ]
    log = EventLog(target)
    log.add(Reported(n_classes_done=5))
    log.flush(now=True)
    assert reported(target).n_classes_done == 5, "a driver that goes on after a merge"


def test_fields_of_a_newer_version_are_merged_as_they_are(tmp_path):
    newer = {"time": 5.0, "session": "a", "event": "stopped", "reason": "x", "colour": "ü"}
    source = written(tmp_path / "source", [newer])
    target = written(tmp_path / "target", [])
    assert merge_logs(target, [source], n_rows=1, n_parts=1) == 1
    assert json.loads(lines(tmp_path / "target")[0]) == newer
    assert merge_logs(target, [source], n_rows=0, n_parts=0) == 0, "it is known"


def test_foreign_lines_are_skipped_and_left_behind(tmp_path):
    good = session("a", 1e9, 1)[:3]
    wrong = {
        "n_classes_done": ("x", 10**40, -1, [], None),
        "hosts": ({"a": []}, []),
        "flagged": ([1], {}),
        "remaining_s": (1e308, -1, "x"),
        "busy": ([{}], {}),
        "best_board": (5, [], "\ud800 half a character"),
        "session": ([1],),
        "event": ("unknown", None),
    }
    nonsense: list[object] = [{**good[1], name: value} for name in wrong for value in wrong[name]]
    nonsense += [{"event": "stage"}, [1], None]
    source = written(tmp_path / "source", [*good, *nonsense])
    target = written(tmp_path / "target", [])
    with (tmp_path / "source" / files.EVENTS).open("ab") as file:
        file.write(b"nonsense\n\xff\n\n" + b"[" * 100_000 + b'\n{"torn')
    assert [(event.time, event.event) for event in read_events(source)] == [
        (event["time"], event["event"]) for event in good
    ]
    assert merge_logs(target, [source], n_rows=1, n_parts=1) == 2, "few lines of progress stay"
    assert merge_logs(target, [source], n_rows=0, n_parts=0) == 0
    assert [event["event"] for event in kept(target)] == ["started", "progress", "merged"]
    (tmp_path / "refusing" / files.EVENTS).mkdir(parents=True)
    refusing = LocalFolder(tmp_path / "refusing")
    assert merge_logs(refusing, [source], n_rows=1, n_parts=1) == 0, "it stops nothing"
