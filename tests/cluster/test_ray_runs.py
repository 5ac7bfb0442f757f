"""Whole runs on real Ray: workers and the raylet die, nothing is lost."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from cluster.events import Death, WorkerDown
from cluster.ray_executor import RayExecutor
from search.breaker import Unit
from tests.cluster import fakes
from tests.cluster.test_executors import play, verdicts_of
from tests.cluster.test_ray_executor import until

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.ray, pytest.mark.timeout(120)]


def test_whole_run_with_a_worker_that_dies_once(tmp_path, capfd):
    spec = replace(fakes.SPEC, words=(str(tmp_path / "mark"),))
    before = dict(os.environ)
    sink, finish = play(RayExecutor(spec, 2, fakes.OnceDeadlyBreaker), 30, n_workers=2)
    assert finish.complete
    assert verdicts_of(sink.verdicts) == verdicts_of(fakes.expected_units(range(30)))
    assert (tmp_path / "mark").exists()
    assert os.environ == before
    assert not ray.is_initialized()
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""


def test_a_unit_that_always_kills_is_given_up():
    sink, finish = play(RayExecutor(fakes.SPEC, 2, fakes.DeadlyBreaker), 8, n_workers=2, n_strikes=2)
    assert not finish.complete
    assert set(sink.given_up) == {Unit(3)}
    assert verdicts_of(sink.verdicts) == verdicts_of(fakes.expected_units([0, 1, 2, 4, 5, 6, 7]))


def test_a_worker_that_the_memory_monitor_kills_ran_out_of_memory(monkeypatch):
    monkeypatch.setenv("RAY_memory_usage_threshold", "0.001")  # more is in use already
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "100")
    with RayExecutor(fakes.SPEC, 1, fakes.SlowBreaker) as executor:
        executor.spawn(1)
        (down,) = (event for event in until(executor, WorkerDown) if isinstance(event, WorkerDown))
    assert down.reason is Death.oom, down.message


def test_workers_that_cannot_start():
    _, finish = play(RayExecutor(fakes.SPEC, 1, fakes.UnfitBreaker), max_deaths=2)
    assert not finish.complete
    assert "no breaker today" in finish.message


def test_workers_with_other_kernels_are_refused():
    sink, finish = play(RayExecutor(fakes.SPEC, 1, fakes.FakeBreaker), max_deaths=1, kernel_hash="of another version")
    assert not finish.complete
    assert not sink.settled
    assert "differ from the driver's 'of another version'" in finish.message


def test_workers_that_grew_are_replaced_and_nothing_is_searched_again():
    executor = RayExecutor(fakes.SPEC, 1, fakes.FakeBreaker)
    seen: set[int] = set()

    def stop():
        seen.update(executor.pids.values())
        return ""

    sink, finish = play(executor, 2, stop=stop, recycle_bytes=1, max_batch=50)
    assert finish.complete
    assert verdicts_of(sink.verdicts) == verdicts_of(fakes.expected_units(range(2)))
    assert len(seen) > 1
    assert {item.attempt for item in sink.settled} == {1}
