"""Clusters of several nodes that were there before the run: nodes come and go, strangers stay outside."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from cluster.driver.driver import run
from cluster.workers.executors import InProcessExecutor
from cluster.workers.ray_cluster import ClusterGoneError, RayError, UnguardedError, check_guarded, joined_cluster
from cluster.workers.ray_executor import RayExecutor
from cluster.workers.ray_process import RayProcess
from configs.model import RunConfig, SearchConfig
from tests.cluster import fakes
from tests.cluster.clusters import open_gate, started
from tests.cluster.processes import command_line, descendants
from tests.cluster.test_driver import WORDS
from tests.cluster.test_executors import play, verdicts_of

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.ray, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """One cluster for all tests; each adds and removes its nodes."""
    with started(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def _alone(nodes):
    yield
    nodes.remove_all()


def test_the_first_node_is_waited_for_one_added_is_used_and_one_removed_loses_nothing(nodes):
    asked, added = [], []
    seen: dict[int, int] = {}
    executor = RayExecutor(fakes.SPEC, 0, fakes.SlowBreaker, address=nodes.address)

    def meanwhile():
        asked.append(None)
        seen.update(executor.pids)
        if len(asked) == 20:
            assert not seen, "there is no node yet"
            added.append(nodes.add())
        elif len(added) == 1 and seen:
            added.append(nodes.add(2))
        elif len(nodes._cluster.worker_nodes) == 2 and len(seen) == 3 and executor._actors[1].order is not None:
            nodes.remove(added[0])
        return ""

    sink, finish = play(executor, 60, stop=meanwhile, n_workers=8)
    assert finish.complete
    assert verdicts_of(sink.verdicts) == verdicts_of(fakes.expected_units(range(60)))
    assert len(sink.settled) == len(sink.verdicts)
    assert len(nodes._cluster.worker_nodes) == 1
    assert max(item.attempt for item in sink.settled) > 1, "something was in flight on the node that was removed"
    assert len(seen) == 3, "a worker on each processor, none on the head"


def test_whole_run_and_the_token_stays_secret(nodes, tmp_path):
    words = tmp_path / "tiny.txt"
    words.write_text("\n".join(WORDS) + "\n")
    config = RunConfig(
        dims="2x2", wordlist=str(words), cutoff=3, scores="words", out=str(tmp_path / "run"),
        buckets="abcdefgh ijklmnopqr stuvwxyz", search=SearchConfig(memory_mb=16), address=nodes.address,
    )  # fmt: skip
    workers = nodes.add()
    outcome = run(config)
    alone = run(
        config.model_copy(update={"out": str(tmp_path / "alone")}),
        make_executor=lambda spec, _: InProcessExecutor(spec),
    )
    assert outcome.complete
    assert outcome.digest == alone.digest
    token = nodes.token.encode()
    logs = [path for path in nodes.session.rglob("*") if path.is_file()]
    assert any(path.stat().st_size for path in logs)
    stored = [path for path in Path(config.out).rglob("*") if path.is_file()]
    assert [path for path in logs + stored if token in path.read_bytes()] == []
    assert not any(nodes.token in command_line(process) for process in descendants())
    assert workers in nodes._cluster.worker_nodes


def test_without_the_token_nobody_gets_in(nodes, monkeypatch):
    check_guarded(nodes.address)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    with pytest.raises(RayError, match="another token than ours"):
        check_guarded(nodes.address)


def test_refused_unless_tokens_are_on_and_private(nodes, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(UnguardedError, match="RAY_AUTH_MODE is 'disabled'"):
        check_guarded(nodes.address)
    monkeypatch.delenv("RAY_AUTH_MODE")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "none"))
    with pytest.raises(UnguardedError, match=r"no Ray token in .*get-auth-token"):
        check_guarded(nodes.address)
    (tmp_path / "open").write_text(nodes.token)
    (tmp_path / "open").chmod(0o644)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "open"))
    with pytest.raises(UnguardedError, match=r"mode 0644.*chmod 600"):
        check_guarded(nodes.address)
    with pytest.raises(UnguardedError), joined_cluster(nodes.address):
        pass


def test_nothing_there(tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    with pytest.raises(RayError, match=r"'127.0.0.1:1': .*refused"):
        check_guarded("127.0.0.1:1")
    config = RunConfig(dims="2x2", cutoff=3, out=str(tmp_path / "run"), address="127.0.0.1:1")
    with pytest.raises(RayError):
        run(config)
    assert not (tmp_path / "run").exists()


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_cluster_that_goes_away_does_not_take_the_driver_along(tmp_path, number):
    with started(tmp_path) as cluster:
        cluster.add()
        executor = RayProcess(fakes.SPEC, 0, fakes.SlowBreaker, address=cluster.address)
        settled: list[object] = []

        def stop():
            if executor._workers and not executor._starting and not settled:
                settled.append(None)
                for process in descendants() - {os.getpid()}:
                    if "raylet/raylet " in command_line(process):
                        os.kill(process, number)
            return ""

        with pytest.raises(ClusterGoneError, match=r"the Ray cluster at '.*' is gone"):
            play(executor, 2000, stop=stop, n_workers=1)
        assert settled


def test_an_open_cluster_is_refused(nodes, tmp_path):
    with open_gate(tmp_path) as address, pytest.raises(UnguardedError, match="runs code for anybody"):
        check_guarded(address)
