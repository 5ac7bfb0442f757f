"""Workers as real Ray actors: started, killed, replaced."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.planning.plan import make_plan
from cluster.scheduling.events import Answer, Assign, Death, Event, Returned, WorkerDown, WorkerUp
from cluster.workers.ray_cluster import ClusterGoneError
from cluster.workers.ray_executor import RayExecutor, cause_of
from configs.model import RunConfig, SearchConfig
from search.breaker import Breaker, Unit, share
from tests.cluster import fakes
from tests.cluster.clusters import refused_without_token
from tests.cluster.processes import command_line, descendants, listening_addresses
from tests.cluster.test_executors import play, verdicts_of

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.ray, pytest.mark.timeout(240)]


CENTRES = (
    "center: a b c d e f g h i j k l m n o p q r s t u v w x y z, "
    "edge: abcdefghijklmnopqrstuvwxyz, corner: abcdefghijklmnopqrstuvwxyz"
)


def until(executor, kind, n=1, timeout_s=60):
    """Poll until ``n`` events of a kind have come; return all events."""
    events: list[Event] = []
    ends = time.monotonic() + timeout_s
    while sum(isinstance(event, kind) for event in events) < n:
        assert time.monotonic() < ends, events
        events += executor.poll(1.0)
    return events


@pytest.fixture(scope="module")
def cluster():
    """One local cluster for the tests that do not end it; workers are numbered by the tests."""
    with RayExecutor(fakes.SPEC, 2, fakes.SlowBreaker) as executor:
        yield executor


class Guest(RayExecutor):
    """Workers with another breaker on the cluster of another executor, which it leaves as it was."""

    def __init__(self, host, spec, make_breaker=None):
        super().__init__(spec, 2, make_breaker, guard=host._guard)
        self._ray, self._actor_class, self._metrics = host._ray, host._actor_class, host._metrics
        self._spec_ref, self._lexicon_ref = ray.put(spec), ray.put(None if make_breaker else share(spec))

    def _start(self):
        pass


@pytest.fixture(scope="module")
def real_cluster(cluster):
    """The same cluster with the real breaker on the bundled list."""
    spec = make_plan(RunConfig(dims="3x3", cutoff=430, buckets=CENTRES, search=SearchConfig(memory_mb=256))).spec
    with Guest(cluster, spec) as executor:
        yield executor


def test_work_and_death(cluster):
    cluster.spawn(1)
    cluster.spawn(2)
    ups = [event for event in until(cluster, WorkerUp, 2) if isinstance(event, WorkerUp)]
    assert {up.worker for up in ups} == {1, 2}
    assert all(up.kernel_hash for up in ups)
    cluster.assign(Assign(1, 10, (Unit(0), Unit(1))))
    cluster.assign(Assign(2, 11, tuple(Unit(n) for n in range(2, 50))))
    events = until(cluster, Returned)
    assert [type(event) for event in events] == [Answer, Answer, Returned]
    assert {event.result.unit for event in events[:2]} == {Unit(0), Unit(1)}
    os.kill(cluster.pids[2], signal.SIGKILL)
    (down,) = until(cluster, WorkerDown)
    assert (down.worker, down.reason) == (2, Death.died)
    cluster.retire(1)
    assert cluster.poll(0.1) == []
    assert cluster.pids == {}


def test_status_and_cancel_are_answered_while_a_kernel_runs(cluster):
    cluster.spawn(3)
    until(cluster, WorkerUp)
    cluster.assign(Assign(3, 12, tuple(Unit(n) for n in range(100))))
    actor = cluster._actors[3].handle
    time.sleep(0.3)
    status = ray.get(actor.status.options(concurrency_group="control").remote(), timeout=10)
    assert status.assignment == 12
    ray.get(actor.cancel.options(concurrency_group="control").remote(), timeout=10)
    assert len(until(cluster, Returned)) < 50
    cluster.retire(3)


def test_status_is_answered_inside_a_kernel(real_cluster):
    real_cluster.spawn(1)
    until(real_cluster, WorkerUp)
    real_cluster.assign(Assign(1, 1, (Unit(4),)))  # the centre is e: a second or two, most of it in one kernel
    actor = real_cluster._actors[1].handle
    seen = []
    while not (events := real_cluster.poll(0.0)):
        seen.append(ray.get(actor.status.options(concurrency_group="control").remote(), timeout=60))
        time.sleep(0.02)
    (row,) = [event for event in events if isinstance(event, Answer)]
    busy = [status for status in seen if status.assignment == 1 and status.n_done == 0]
    assert len(busy) >= 3, "it answered again and again while it broke one unit"
    assert row.result.unit == Unit(4)
    real_cluster.retire(1)


def test_the_arrays_of_the_words_are_shared(real_cluster):
    first, second = (ray.get(real_cluster._lexicon_ref) for _ in range(2))
    for array, again in ((first.trie.nodes, second.trie.nodes), (first.words.letters, second.words.letters)):
        assert not array.flags.writeable
        assert array.ctypes.data == again.ctypes.data
    given = Breaker(real_cluster._spec, first).break_unit(Unit(9))
    assert replace(given, seconds=0.0) == replace(Breaker(real_cluster._spec).break_unit(Unit(9)), seconds=0.0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_no_listener_beyond_loopback(cluster):
    cluster.spawn(4)
    until(cluster, WorkerUp)
    addresses = listening_addresses(descendants())
    assert addresses
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert addresses <= loopback
    cluster.retire(4)


def test_without_the_token_nobody_gets_in(cluster):
    refused_without_token(ray.get_runtime_context().gcs_address)


def test_the_token_is_private(cluster):
    path = Path(os.environ["RAY_AUTH_TOKEN_PATH"])
    assert path.stat().st_mode & 0o777 == 0o600
    assert not any(path.read_text() in command_line(process) for process in descendants())


@pytest.mark.parametrize(("ended", "is_gone"), [("raylet", True), ("gcs_server", True), ("log_monitor", False)])
def test_a_cluster_that_lost_a_vital_process_is_gone_though_ray_says_nothing(cluster, monkeypatch, ended, is_gone):
    node = ray._private.worker._global_node
    assert {"raylet", "gcs_server"} <= set(node.all_processes), "what Ray calls them"
    monkeypatch.setattr(node, "dead_processes", lambda: [(ended, None)])
    monkeypatch.setattr(cluster, "_look_at_s", 0.0)
    with pytest.raises(ClusterGoneError, match=ended) if is_gone else contextlib.nullcontext():
        cluster.poll(0.0)


@pytest.mark.parametrize(
    ("error", "death"),
    [
        (ray.exceptions.OutOfMemoryError("killed"), Death.oom),
        (ray.exceptions.NodeDiedError("gone"), Death.node),
        (ray.exceptions.ActorUnavailableError("network", None), Death.node),
        (ray.exceptions.WorkerCrashedError(), Death.died),
        (ray.exceptions.RayActorError(), Death.died),
        (ray.exceptions.RayActorError(None, "x", True), Death.unfit),
        (ray.exceptions.RayActorError(None, "Task was killed due to the node running low on memory"), Death.oom),
        (ray.exceptions.RayActorError(None, "x", False, True), Death.node),
        (ray.exceptions.RayActorError(None, "The actor is dead because its owner has died."), Death.node),
    ],
)
def test_every_family_of_failure_is_known(error, death):
    assert cause_of(error, ray.exceptions) is death


def test_a_unit_that_always_kills_is_given_up(cluster):
    sink, finish = play(Guest(cluster, fakes.SPEC, fakes.DeadlyBreaker), 8, n_workers=2, n_strikes=2)
    assert not finish.complete
    assert set(sink.given_up) == {Unit(3)}
    assert verdicts_of(sink.verdicts) == verdicts_of(fakes.expected_units([0, 1, 2, 4, 5, 6, 7]))


def test_workers_that_cannot_start(cluster):
    _, finish = play(Guest(cluster, fakes.SPEC, fakes.UnfitBreaker), max_deaths=2)
    assert not finish.complete
    assert "no breaker today" in finish.message


def test_workers_with_other_kernels_are_refused(cluster):
    sink, finish = play(Guest(cluster, fakes.SPEC, fakes.FakeBreaker), max_deaths=1, kernel_hash="of another version")
    assert not finish.complete
    assert not sink.settled
    assert "differ from the driver's 'of another version'" in finish.message


def test_workers_that_grew_are_replaced_and_nothing_is_searched_again(cluster):
    executor = Guest(cluster, fakes.SPEC, fakes.FakeBreaker)
    seen: set[int] = set()

    def stop():
        seen.update(executor.pids.values())
        return ""

    sink, finish = play(executor, 1, stop=stop, recycle_bytes=1, max_batch=50)
    assert finish.complete
    assert verdicts_of(sink.verdicts) == verdicts_of(fakes.expected_units(range(1)))
    assert len(seen) > 1
    assert {item.attempt for item in sink.settled} == {1}


def test_a_worker_that_dies_once_loses_nothing(cluster, tmp_path):
    spec = replace(fakes.SPEC, words=(str(tmp_path / "mark"),))
    sink, finish = play(Guest(cluster, spec, fakes.OnceDeadlyBreaker), 30, n_workers=2)
    assert finish.complete
    assert verdicts_of(sink.verdicts) == verdicts_of(fakes.expected_units(range(30)))
    assert (tmp_path / "mark").exists()
