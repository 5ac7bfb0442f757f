"""What the run loop does, as it stands in the event log."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from cluster.driver.journal import Journal
from cluster.scheduling.events import Death, Quarantine, Report, Retire, UnitFailed, WorkerDown, WorkerUp
from results.log import FIELDS, read_events
from results.storage.local import LocalFolder
from search.breaker import Unit
from tests.cluster.fakes import REPORT


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def journal(tmp_path, clock) -> Journal:
    return Journal(LocalFolder(tmp_path), clock)


def told(tmp_path) -> list[dict]:
    return read_events(LocalFolder(tmp_path), 2**24)


def test_workers_and_units(journal, tmp_path):
    ups = [WorkerUp(1, "alpha", "k"), WorkerUp(2, "beta", "k"), WorkerUp(3, "beta", "k")]
    journal.loop(ups, [])
    assert journal.hosts == {"alpha": 1, "beta": 2}
    unit = Unit(7, "0=ab")
    journal.loop([UnitFailed(1, 9, unit, "boom")], [Quarantine(unit, 3, "boom" * 1000)])
    journal.loop([WorkerDown(1, Death.oom, "killed")], [Retire(2, "silent for too long"), Retire(99, "never seen")])
    assert journal.hosts == {"beta": 1}
    failed, given_up, down, retired = told(tmp_path)[3:]
    assert (failed["event"], failed["class_id"], failed["path"], failed["host"]) == ("unit_failed", 7, "0=ab", "alpha")
    assert (given_up["event"], given_up["attempts"], len(given_up["message"])) == ("unit_quarantined", 3, 500)
    assert (down["event"], down["host"], down["reason"]) == ("worker_down", "alpha", "oom")
    assert (retired["event"], retired["host"], retired["message"]) == ("worker_retired", "beta", "silent for too long")


def test_progress_comes_often_at_first_and_rarely_later(journal, clock, tmp_path):
    for clock.now_s in range(20_000):
        journal.report(replace(REPORT, elapsed_s=clock.now_s))
    times = [event["elapsed_s"] for event in told(tmp_path) if event["event"] == "progress"]
    assert times[:3] == [0, 2, 4]
    assert times[-1] - times[-2] == 60
    assert len(times) < 700
    progress = told(tmp_path)[-1]
    assert set(FIELDS["progress"].split()) == set(progress) - {"time", "session", "event"}
    assert progress["remaining_s"] is None


def test_the_best_board_is_told_once_until_a_better_one(journal, tmp_path):
    for score in (None, 5, 5, 7, 7):
        journal.report(replace(REPORT, best_score=score))
    assert [event["score"] for event in told(tmp_path) if event["event"] == "best"] == [5, 7]


def test_a_host_that_is_not_believed_any_more_is_told_once(journal, tmp_path):
    for flagged in ((), ("beta",), ("beta",), ("alpha", "beta")):
        journal.report(replace(REPORT, flagged=flagged))
    assert [event["host"] for event in told(tmp_path) if event["event"] == "host_flagged"] == ["beta", "alpha"]
    assert next(event for event in told(tmp_path) if event["event"] == "progress")["flagged"] == []


def test_parts_are_told_once(journal, tmp_path):
    for name in ("", "a", "a", "b"):
        journal.stored(name, 2)
    journal.note("stage", text="over")
    assert [event.get("name") for event in told(tmp_path)] == ["a", "b", None]


def test_an_end_by_an_error_is_told(journal, tmp_path):
    with pytest.raises(ValueError), journal:
        raise ValueError("no more")
    with journal:
        pass
    (event,) = told(tmp_path)
    assert (event["event"], event["reason"], event["message"]) == ("stopped", "ValueError", "no more")


def test_the_event_of_progress_has_every_figure():
    assert set(FIELDS["progress"].split()) == {field.name for field in fields(Report)} | {"hosts", "busy"}
