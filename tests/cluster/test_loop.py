"""What the ledger admits to the store, and what the run loop tells the event log."""

from __future__ import annotations

from dataclasses import asdict, replace
from types import SimpleNamespace
from unittest import mock

import pytest

from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.cluster.driver.journal import Journal
from orderly_boggle.cluster.driver.loop import Ledger, run_loop
from orderly_boggle.cluster.driver.progress import Progress
from orderly_boggle.cluster.driver.run_search import MemoryWatch
from orderly_boggle.cluster.scheduling import events
from orderly_boggle.results.log import read_events
from orderly_boggle.results.log_events import Stage
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.store.rows import Checked, Row
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.search.breaker import Unit, UnitResult
from orderly_boggle.search.question import Question
from tests.cluster.fakes import REPORT

PRINT = Question(
    "2x2",
    "0" * 64,
    parse_scores("words").points,
    4,
    "corner: abcdefghijklm nopqrstuvwxyz",
    (0, 1, 2, 3),
)


@pytest.fixture
def store():
    """The rows of a store that refuses nothing."""
    return []


@pytest.fixture
def ledger(store):
    def append(offered):
        for item in offered:
            store.extend(item.rows if isinstance(item, Checked) else [item])

    return Ledger(SimpleNamespace(append=append), PRINT)


def answer(class_id, *candidates):
    status = "candidates" if candidates else "eliminated"
    return events.Answer(
        1, 2, UnitResult(Unit(class_id), status, 4, 3, candidates, (), (), {}, 1.0), "there"
    )


def test_what_is_admitted_is_stored_with_its_attempt(ledger, store):
    admitted = ledger.admit([answer(0), events.Tick(), answer(5, ("abcd", 7))])
    assert admitted[1] == events.Tick()
    ledger.publish(
        [events.Publish(event, 2) for event in admitted if isinstance(event, events.Answer)]
    )
    assert [(row.class_id, row.candidates, row.host, row.attempt) for row in store] == [
        (0, (), "there", 2),
        (5, (("abcd", 7),), "there", 2),
    ]
    assert (ledger.n_rows, ledger.n_candidates, ledger.best) == (2, 1, (7, "abcd"))


def test_only_the_bad_ones_of_several_answers_are_refused(ledger):
    odd = replace(answer(7), result=replace(answer(7).result, candidates=(1, 2)))
    good, bad = ledger.admit([answer(0), answer(5, ("abcd", 3))])
    (shapeless,) = ledger.admit([odd])
    assert good.row is not None
    assert bad == events.UnitFailed(1, 2, Unit(5), bad.message)
    assert "below cutoff 4" in bad.message
    assert "no verdict: TypeError" in shapeless.message


def test_impossible_children_are_no_verdict(ledger):
    split = replace(answer(5).result, status="split", children=(Unit(5, "0=a"), Unit(5, "0=b")))
    (good,) = ledger.admit([replace(answer(5), result=split)])
    assert good.row is not None
    for children in (
        (),
        (Unit(5, "0=a"), Unit(5, "0=a")),
        (Unit(5),),
        (Unit(5, "0=a"), Unit(7, "0=b")),
    ):
        (bad,) = ledger.admit([replace(good, result=replace(split, children=children))])
        assert bad == events.UnitFailed(1, 2, Unit(5), bad.message)


def test_an_answer_that_brings_a_row_is_not_believed(ledger, store):
    forged = Row(PRINT.digest, 0, "", "candidates", 4, candidates=(("abcd", 99),))
    (event,) = ledger.admit([replace(answer(0), row=Checked((forged,), None))])
    ledger.publish([events.Publish(event)])
    assert [(row.status, row.candidates) for row in store] == [("eliminated", ())]


def test_a_verdict_of_a_host_that_is_contradicted_in_the_same_turn_is_in_doubt(tmp_path):
    with Store.open(tmp_path, PRINT) as store:
        ledger = Ledger(store, PRINT)
        (event,) = ledger.admit([answer(0)])
        ledger.publish(
            [events.Publish(event), events.Quarantine(Unit(5), 1, "contradicted", ("there",))]
        )
    assert open_run(tmp_path).doubted == [(0, "")]


def test_every_instruction_is_carried_out(ledger):
    order = events.Assign(1, 2, (Unit(0),))
    orders = [
        events.Spawn(1),
        order,
        events.Retire(1, "old"),
        events.Finish(True),
    ]
    scheduler, executor, note = mock.Mock(), mock.Mock(), mock.Mock()
    scheduler.handle.return_value = orders
    executor.poll.return_value = []
    run_loop(
        scheduler,
        executor,
        ledger,
        clock=float,
        stop=str,
        watch=mock.Mock(),
        note=note,
    )
    assert executor.mock_calls == [
        mock.call.poll(0.0),
        mock.call.spawn(1),
        mock.call.assign(order),
        mock.call.retire(1),
    ]
    note.assert_called_once_with([events.Tick()], orders)


@pytest.fixture
def journal(tmp_path) -> Journal:
    return Journal(LocalFolder(tmp_path))


def told(tmp_path) -> list[dict]:
    return [asdict(event) for event in read_events(LocalFolder(tmp_path), 2**24)]


def test_workers_and_units(journal, tmp_path):
    ups = [
        events.WorkerUp(1, "alpha", "k"),
        events.WorkerUp(2, "beta", "k"),
        events.WorkerUp(3, "beta", "k"),
    ]
    journal.loop(ups, [])
    assert journal.hosts == {"alpha": 1, "beta": 2}
    unit = Unit(7, "0=ab")
    journal.loop(
        [events.UnitFailed(1, 9, unit, "boom")], [events.Quarantine(unit, 3, "boom" * 1000)]
    )
    journal.loop(
        [events.WorkerDown(1, "oom", "killed")],
        [events.Retire(2, "silent for too long"), events.Retire(99, "never seen")],
    )
    assert journal.hosts == {"beta": 1}
    failed, given_up, down, retired = told(tmp_path)[3:]
    assert (failed["event"], failed["class_id"], failed["path"], failed["host"]) == (
        "unit_failed",
        7,
        "0=ab",
        "alpha",
    )
    assert (given_up["event"], given_up["attempts"], len(given_up["message"])) == (
        "unit_quarantined",
        3,
        500,
    )
    assert (down["event"], down["host"], down["reason"]) == ("worker_down", "alpha", "oom")
    assert (retired["event"], retired["host"], retired["message"]) == (
        "worker_retired",
        "beta",
        "silent for too long",
    )


def test_what_a_worker_is_at_work_on_and_since_when(tmp_path):
    clock = mock.Mock(return_value=0.0)
    journal = Journal(LocalFolder(tmp_path), clock)
    order = events.Assign(1, 2, (Unit(7, "0=ab"), Unit(8)))
    journal.loop([events.WorkerUp(1, "alpha", "k")], [order])
    clock.return_value = 5.0
    for came in (
        replace(answer(7), peak_rss_bytes=900),
        events.Returned(1, 2),
    ):
        journal.loop([came], [])
        journal.report(REPORT, now=True)
    *_, busy, idle = told(tmp_path)
    (item,) = busy["busy"]
    assert list(item.values()) == [1, "alpha", 7, "0=ab", 2, 5.0, 900]
    assert not idle["busy"]


def test_a_worker_that_has_its_next_units_is_at_work_though_its_last_call_returns_late(tmp_path):
    """An assignment ends with its last answer, and the next one may go out before the worker has
    said that it is done.
    """
    journal = Journal(LocalFolder(tmp_path), mock.Mock(return_value=0.0))
    up = events.WorkerUp(1, "alpha", "k")
    journal.loop([up], [events.Assign(1, 2, (Unit(7),))])
    journal.loop([answer(7)], [events.Assign(1, 3, (Unit(8),))])
    journal.loop([events.Returned(1, 2)], [])
    journal.report(REPORT, now=True)
    assert [busy["class_id"] for busy in told(tmp_path)[-1]["busy"]] == [8]


def test_memory_that_becomes_short_is_told_once(journal, tmp_path):
    progress = mock.Mock(spec=Progress)
    watch = MemoryWatch(progress, journal)
    for n_free in (9, 9, 19, 9, 20, 9):
        watch.look(n_free, 160)
    watch.look(0, 0)  # nobody knows
    assert progress.note.call_count == len(told(tmp_path)) == 2


def test_progress_comes_often_at_first_and_rarely_later(tmp_path):
    now_s = [0]
    journal = Journal(LocalFolder(tmp_path), lambda: now_s[0])
    for now_s[0] in range(20_000):
        journal.report(replace(REPORT, elapsed_s=now_s[0]))
    times = [event["elapsed_s"] for event in told(tmp_path) if event["event"] == "progress"]
    assert times[:3] == [0, 2, 4]
    assert times[-1] - times[-2] == 60
    assert len(times) < 700
    progress = told(tmp_path)[-1]
    assert progress["remaining_s"] is None


def test_a_better_board_and_a_host_that_is_not_believed_any_more_are_told_once(journal, tmp_path):
    for score, flagged in (
        (None, ()),
        (5, ("beta",)),
        (5, ("beta",)),
        (7, ("alpha", "beta")),
        (7, ("alpha", "beta")),
    ):
        journal.report(replace(REPORT, best_score=score, flagged=flagged))
    assert [event["score"] for event in told(tmp_path) if event["event"] == "best"] == [5, 7]
    assert [event["host"] for event in told(tmp_path) if event["event"] == "host_flagged"] == [
        "beta",
        "alpha",
    ]
    assert next(event for event in told(tmp_path) if event["event"] == "progress")["flagged"] == ()


def test_parts_are_told_once(journal, tmp_path):
    for name in ("", "a", "a", "b"):
        journal.stored(name, 2)
    journal.note(Stage(text="over"))
    assert [event.get("name") for event in told(tmp_path)] == ["a", "b", "rescoring"]


def test_an_end_by_an_error_is_told(journal, tmp_path):
    with pytest.raises(ValueError), journal:
        raise ValueError("no more")
    with journal:
        pass
    (event,) = told(tmp_path)
    assert (event["event"], event["reason"], event["message"]) == (
        "stopped",
        "ValueError",
        "no more",
    )
