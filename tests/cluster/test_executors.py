"""Workers as threads and the run loop, with breakers that are instant, bad or absent; as processes:
test_process.py.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.cluster.driver.loop import run_loop
from orderly_boggle.cluster.planning.plan import make_plan
from orderly_boggle.cluster.scheduling.backlog import Work
from orderly_boggle.cluster.scheduling.events import (
    Answer,
    Assign,
    Event,
    Policy,
    Quarantine,
    Returned,
    UnitFailed,
    WorkerDown,
    WorkerUp,
)
from orderly_boggle.cluster.scheduling.scheduler import Scheduler
from orderly_boggle.cluster.workers.executors import InProcessExecutor
from orderly_boggle.cluster.workers.worker import Failure, Reply, UnfitError, Worker, break_all
from orderly_boggle.configs.model import load_config
from orderly_boggle.search.breaker import Breaker, Unit, UnitResult
from orderly_boggle.search.params import Budgets
from tests.bench.virtual import Size, VirtualCluster
from tests.cluster.fakes import SPEC, BadBreaker, FakeBreaker, UnfitBreaker
from tests.cluster.simulator import difference
from tests.params import Params, spec_of
from tests.search.harness import random_words


class ListSink:
    """Keeps what is settled."""

    def __init__(self):
        self.settled = []

    def admit(self, events):
        return events

    def publish(self, settled):
        self.settled += settled

    @property
    def verdicts(self):
        return {
            item.answer.result.unit: item.answer.result
            for item in self.settled
            if not isinstance(item, Quarantine)
        }

    @property
    def given_up(self):
        return {item.unit: item.message for item in self.settled if isinstance(item, Quarantine)}


def until(executor, kind, n=1, timeout_s=1.0):
    """Poll until ``n`` events of a kind have come; return all events."""
    events: list[Event] = []
    while sum(isinstance(event, kind) for event in events) < n:
        events += executor.poll(timeout_s)
        assert kind is WorkerDown or not any(isinstance(event, WorkerDown) for event in events), (
            events
        )
    return events


@contextlib.contextmanager
def two_that_searched(make_executor):
    """Yield an executor with two workers; each has searched a class of 4x4."""
    plan = make_plan(load_config("4x4", {"cutoff": 1000}))
    words = random_words(random.Random(5), "aest", 40, 6)
    spec = replace(plan.spec, words=words, budgets=Budgets(memory_mb=16))
    with make_executor(spec) as executor:
        for number in (1, 2):
            executor.spawn(number)
        until(executor, WorkerUp, 2)
        for number in (1, 2):
            executor.assign(Assign(number, number, (Unit(int(plan.question.class_ids()[-1])),)))
        assert sum(isinstance(event, Answer) for event in until(executor, Returned, 2)) == 2
        yield executor


def play(executor, n_classes=20, stop=lambda: "", **policy):
    """Run classes 0..n-1 to the end; return the sink and how it finished."""
    work = Work(np.arange(n_classes), np.ones(n_classes) * 0.01)
    scheduler = Scheduler(
        Policy(**{"n_workers": 1} | policy), work, np.random.default_rng(0), difference
    )
    sink = ListSink()
    with executor:
        finish = run_loop(
            scheduler,
            executor,
            sink,
            clock=time.monotonic,
            stop=stop,
            watch=lambda _: None,
            note=lambda _events, _orders: None,
            poll_s=0.1,
        )
    return sink, finish


def verdicts_of(units):
    return {unit: (found.status, found.candidates, found.children) for unit, found in units.items()}


def test_events():
    with InProcessExecutor(SPEC, BadBreaker) as executor:
        executor.spawn(1)
        (up,) = until(executor, WorkerUp)
        assert up.kernel_hash
        executor.assign(Assign(1, 5, (Unit(2), Unit(0), Unit(3), Unit(1))))
        events = until(executor, Returned)
        answers = [event for event in events if isinstance(event, Answer)]
        assert [answer.result.unit for answer in answers] == [Unit(2), Unit(3)]
        assert answers[0].kernel_hash == up.kernel_hash
        assert answers[0].peak_rss_bytes > 1e6
        assert answers[0].cpu_s is not None
        failed = [event for event in events if isinstance(event, UnitFailed)]
        assert failed[0] == UnitFailed(1, 5, Unit(0), "ValueError: class 0 is bad")
        assert failed[1].oom
        assert "fewer workers" in failed[1].message


def test_figures_are_worked_out_now_and_then_however_many_turns_there_are():
    """A virtual cluster on a virtual clock: hundreds of verdicts a second."""
    size = Size(64, 4, mean_s=0.5)
    cluster = VirtualCluster(size)
    work = Work(np.arange(600), np.ones(600))
    scheduler = Scheduler(Policy(64, max_batch=1), work, np.random.default_rng(0), difference)
    reports, sink = [], ListSink()
    finish = run_loop(
        scheduler,
        cluster,
        sink,
        clock=cluster.clock,
        stop=lambda: "",
        watch=reports.append,
        note=lambda _events, _orders: None,
        poll_s=2.0,
    )
    assert finish.complete
    assert cluster.now_s / 4 <= len(reports) <= cluster.now_s / 2 + 2
    assert reports[-1].n_open == 0
    assert len(sink.verdicts) == 600


def test_worker_that_cannot_start():
    with InProcessExecutor(SPEC, UnfitBreaker) as executor:
        executor.spawn(1)
        (down,) = until(executor, WorkerDown)
        assert (down.worker, down.reason) == (1, "unfit")
        assert down.message.endswith("ValueError: no breaker today")


class Forgetful(Breaker):
    def break_unit(self, unit):
        result = super().break_unit(unit)
        return replace(result, candidates=result.candidates[1:])


class Inventive(Breaker):
    def break_unit(self, unit):
        result = super().break_unit(unit)
        return replace(result, candidates=(*result.candidates, ("aaaa", 10)))


@pytest.mark.parametrize("wrong", [Forgetful, Inventive])
def test_a_worker_whose_kernels_give_other_boards_does_not_start(wrong, monkeypatch):
    assert Worker(SPEC).hello().kernel_hash
    monkeypatch.setattr("orderly_boggle.cluster.workers.worker.Breaker", wrong)
    with pytest.raises(UnfitError, match=r"self-test found .* this machine must not work"):
        Worker(SPEC)


class Hurried(Breaker):
    hurried_budget = 0


def test_a_worker_replies_with_a_result_or_a_failure_and_the_executor_says_who_it_was():
    worker = Worker(SPEC, BadBreaker)
    bad, good = worker.work_through(Assign(1, 1, (Unit(0), Unit(5))))
    assert bad == Reply(Failure(Unit(0), "ValueError: class 0 is bad"))
    assert isinstance(good.outcome, UnitResult)
    who = worker.hello()
    assert bad.event(who, 3, 7) == UnitFailed(3, 7, Unit(0), "ValueError: class 0 is bad")
    answer = good.event(who, 3, 7)
    assert isinstance(answer, Answer)
    assert (answer.worker, answer.assignment, answer.result) == (3, 7, good.outcome)
    assert (answer.host, answer.cpu, answer.kernel_hash) == (who.host, who.cpu, who.kernel_hash)


def test_a_unit_in_a_hurry_splits_and_no_board_is_lost():
    small = Params(memory_mb=16, node_budget=20, least_budget=20, fused_budget=20)
    spec = spec_of("2x2", "scowl70", "standard", 13, "abcdefghijklmnopqrstuvwxyz", small)
    worker, found = Worker(spec, Hurried), {False: set(), True: set()}
    for hurry, boards in found.items():
        todo, n_units = [Unit(0)], 0
        while todo:
            (reply,) = worker.work_through(Assign(1, 1, (todo.pop(),), hurry=hurry))
            assert isinstance(reply.outcome, UnitResult)
            for board, _ in reply.outcome.candidates:
                boards.add(canonical_board(board, geometry("2x2")))
            todo += reply.outcome.children
            n_units += 1
        assert (n_units > 1) == hurry
    assert found[True] == found[False] != set()


def test_a_class_is_taken_from_a_queue_when_the_one_before_has_been_searched():
    """So several processes that take from one queue divide the classes."""
    searched = []

    def class_ids():
        for number in range(3):
            assert {unit.class_id for unit in searched} == set(range(number))
            yield number

    class Searched(FakeBreaker):
        def break_unit(self, unit):
            searched.append(unit)
            return super().break_unit(unit)

    break_all(Searched(SPEC), class_ids())
    assert {unit.class_id for unit in searched} == {0, 1, 2}


def test_close_does_not_wait_for_long_units():
    go_on, begun = threading.Event(), []

    class Held(FakeBreaker):
        def break_unit(self, unit):
            begun.append(unit)
            go_on.wait(60)
            return super().break_unit(unit)

    before = threading.enumerate()
    executor = InProcessExecutor(SPEC, Held, close_s=0.1)
    executor.spawn(1)
    until(executor, WorkerUp)
    executor.assign(Assign(1, 5, (Unit(0), Unit(1))))
    while not begun:
        time.sleep(0.01)
    executor.close()
    executor.close()
    (thread,) = set(threading.enumerate()).difference(before)
    go_on.set()
    thread.join(5)
    assert begun == [Unit(0)], "the second is not begun"
