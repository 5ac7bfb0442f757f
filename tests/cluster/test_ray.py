"""Ray clusters of several nodes: nodes come and go, actors are killed, strangers stay outside,
figures are scraped.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import numba
import pytest

from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.cluster.planning.plan import make_plan
from orderly_boggle.cluster.scheduling.events import (
    Answer,
    Assign,
    Heartbeat,
    Returned,
    Room,
    Unplaced,
    WorkerDown,
    WorkerUp,
)
from orderly_boggle.cluster.workers import ray_cluster, ray_executor
from orderly_boggle.cluster.workers.executors import InProcessExecutor
from orderly_boggle.cluster.workers.ray_cluster import (
    ClusterSilentError,
    RayError,
    UnguardedError,
    brief,
    check_guarded,
    connected,
    resolved,
)
from orderly_boggle.cluster.workers.ray_executor import (
    GAUGES,
    RayExecutor,
    RayMetrics,
    cause_of,
)
from orderly_boggle.configs.model import RunConfig, SearchConfig
from orderly_boggle.results.log import read_events
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.store.run import open_run
from orderly_boggle.search.breaker import Unit
from tests.cluster import fakes
from tests.cluster.campaign import config_of_classes, config_of_units
from tests.cluster.clusters import TOKEN, free_port, open_head, started
from tests.cluster.fakes import REPORT
from tests.cluster.processes import (
    PROC,
    command_line,
    descendants,
    listening_addresses,
    mapped,
    workers,
)
from tests.cluster.ray_start import RealCluster
from tests.cluster.simulator import expected_units
from tests.cluster.small import tiny
from tests.cluster.test_executors import play, two_that_searched, until, verdicts_of
from tests.cluster.test_process import gone, launch, wait_for
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.ray,
    pytest.mark.timeout(480),
    pytest.mark.skipif(
        find_spec("ray") is None, reason="needs Ray: pip install 'orderly-boggle[cluster]'"
    ),
]


@pytest.fixture
def folder():
    """A folder with a short name: Ray puts sockets into it."""
    path = Path(tempfile.mkdtemp(prefix="o", dir="/tmp"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """One cluster for all tests; each adds and removes its nodes."""
    with started(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def node(nodes):
    """A node with two processors: the one that is there, or a new one if a test removed it."""
    if nodes.n_workers() == 0:
        nodes.add(2)


# --- nodes come and go


def test_the_first_node_is_waited_for_one_added_is_used_and_one_removed_loses_nothing(
    nodes, tmp_path
):
    asked, added = [], []
    seen: dict[int, int] = {}
    # nothing is answered before the others have started and the first is removed
    go_on = tmp_path / "go-on"
    held = partial(fakes.HeldBreaker, go_on)
    executor = RayExecutor(fakes.SPEC, 0, held, address=nodes.address)

    def meanwhile():
        asked.append(None)
        seen.update(executor.pids)
        if len(asked) == 20:
            assert not seen, "there is no node yet"
            added.append(nodes.add())
        elif len(added) == 1 and seen:
            added.append(nodes.add(2))
        elif nodes.n_workers() == 2 and len(seen) == 3 and executor._actors[1].order is not None:
            nodes.remove(added[0])
        # its worker may live, and answer, for a moment longer
        elif nodes.n_workers() == 1 and len(added) == 2 and len(executor.pids) == 2:
            go_on.touch()
        return ""

    n_units = 30
    sink, finish = play(executor, n_units, stop=meanwhile, n_workers=8)
    assert finish.complete
    assert verdicts_of(sink.verdicts) == verdicts_of(expected_units(range(n_units)))
    assert len(sink.settled) == len(sink.verdicts)
    assert nodes.n_workers() == 1
    assert max(item.attempt for item in sink.settled) > 1, (
        "something was in flight on the node that was removed"
    )
    assert len(seen) == 3, "a worker on each processor, none on the head"
    nodes.remove_all()


def test_whole_run_and_the_token_stays_secret(nodes, node, tmp_path):
    config = tiny(tmp_path, cutoff=3, buckets="abcdefgh ijklmnopqr stuvwxyz", address=nodes.address)
    outcome = run(config)
    alone = run(
        config.model_copy(update={"out": str(tmp_path / "alone")}), make_executor=InProcessExecutor
    )
    assert outcome.complete
    assert outcome.digest == alone.digest
    token = TOKEN.encode()
    logs = [path for path in nodes.session.rglob("*") if path.is_file()]
    assert any(path.stat().st_size for path in logs)
    stored = [path for path in Path(config.out).rglob("*") if path.is_file()]
    assert [path for path in logs + stored if token in path.read_bytes()] == []
    assert not any(TOKEN in command_line(process) for process in descendants())


# --- actors


def test_work_and_death(nodes, node):
    with RayExecutor(fakes.SPEC, 0, fakes.SlowBreaker, address=nodes.address) as executor:
        executor.spawn(1)
        executor.spawn(2)
        ups = [event for event in until(executor, WorkerUp, 2) if isinstance(event, WorkerUp)]
        assert {up.worker for up in ups} == {1, 2}
        assert all(up.kernel_hash for up in ups)
        executor.assign(Assign(1, 10, (Unit(0), Unit(1))))
        executor.assign(Assign(2, 11, tuple(Unit(n) for n in range(2, 50))))
        events = [event for event in until(executor, Returned) if isinstance(event, Answer)]
        assert {event.result.unit for event in events} == {Unit(0), Unit(1)}
        os.kill(executor.pids[2], signal.SIGKILL)
        down = until(executor, WorkerDown)[-1]
        assert (down.worker, down.reason) == (2, "died")
        executor.retire(1)
        assert executor.pids == {}


def test_processors_that_lack_are_waited_for_and_the_waiting_actors_become_workers(
    nodes, monkeypatch
):
    nodes.remove_all()
    make_executor = partial(RayExecutor, fakes.SPEC, 2, fakes.SlowBreaker)
    with make_executor(address=nodes.address) as executor:
        assert executor.poll(0.1) == [Room(0)]
        lacking = f"waiting for 2 processors at {nodes.address}: "
        assert executor.waiting() == lacking + "no machine with processors has joined yet"
        asked = dict(executor._seats)
        assert len(asked) == 2, "an autoscaler would see them"
        nodes.add()
        until(executor, Room)
        executor.spawn(1)
        (up,) = (event for event in until(executor, WorkerUp) if isinstance(event, WorkerUp))
        assert executor._actors[1].handle in [seat.handle for seat in asked.values()]
        assert executor.waiting() == (
            f"waiting for 1 more processor at {nodes.address}: of 1 processor there 1 are ours, "
            "0 free"
        )
        # somebody was faster: no death, and it is waited for as before
        executor.spawn(2)
        monkeypatch.setattr(ray_executor, "_PLACE_S", 0.0)
        assert until(executor, Unplaced)[-1] == Unplaced(2)
        executor.show(replace(REPORT, n_open=1))
        assert executor.waiting() == "", "there is no work for another one"
        executor.bar(up.machine)
        executor.retire(1)
        assert until(executor, Room)[-1] == Room(0), "its free processor is no room"
    nodes.remove_all()


def test_who_waits_for_workers_that_load_is_told_of_their_niceness(nodes):
    """Two minutes beside ten busy processes, where only processors that lacked were told of."""
    nodes.add()
    with RayExecutor(fakes.SPEC, 0, fakes.LateBreaker, address=nodes.address) as executor:
        executor.spawn(1)
        told = []
        while not executor.pids:
            executor.poll(0.05)
            told.append(executor.waiting())
        assert told[0].startswith("waiting for 1 processor at ")
        loading = f"waiting for 1 worker at {nodes.address} to load words and kernels (slowly bes"
        assert told[-2].startswith(loading)
        assert told[-1] == ""
    nodes.remove_all()


def test_a_worker_with_other_code_or_another_python_is_refused_before_it_works(nodes):
    nodes.add()
    with RayExecutor(fakes.SPEC, 0, fakes.SlowBreaker, address=nodes.address) as executor:
        own = executor._installed
        for number, (name, value) in enumerate({"sources": "0" * 16, "python": "3.0"}.items(), 1):
            executor._installed = own | {name: value}
            executor.spawn(number)
            down = until(executor, WorkerDown)[-1]
            assert (down.worker, down.reason, bool(down.machine)) == (number, "unfit", True)
            assert f"differ from the driver's {value}" in down.message.replace("differs", "differ")
    nodes.remove_all()


def test_actors_of_a_node_share_words_paths_and_rim(nodes, node):
    make_executor = partial(RayExecutor, n_workers=0, address=nodes.address)
    with two_that_searched(make_executor) as executor:
        first, second = map(mapped, executor.pids.values())
    assert first.keys() == {"words", "paths", "rims"}
    assert first == second


def test_a_worker_beats_inside_a_kernel(nodes, node, monkeypatch):
    monkeypatch.setattr(ray_executor, "_BEAT_S", 0.02)
    plan = make_plan(config_of_units("unused", search=SearchConfig(memory_mb=256)))
    with RayExecutor(plan.spec, 0, None, address=nodes.address) as executor:
        executor.spawn(1)
        until(executor, WorkerUp)
        # the centre is e: a second or two, most of it in one kernel
        executor.assign(Assign(1, 1, (Unit(4),)))
        events = []
        while not any(isinstance(event, Answer) for event in events):
            events += executor.poll(0.03)
    assert sum(event == Heartbeat(1, 1) for event in events) >= 2, (
        "it answered while it broke one unit"
    )


@pytest.mark.parametrize(
    ("name", "values", "death"),
    [
        ("OutOfMemoryError", ("killed",), "oom"),
        ("NodeDiedError", ("gone",), "node"),
        ("ActorUnavailableError", ("network", None), "node"),
        ("WorkerCrashedError", (), "died"),
        ("RayActorError", (), "died"),
        ("RayActorError", (None, "x", True), "unfit"),
        (
            "RayActorError",
            (None, "Task was killed due to the node running low on memory"),
            "oom",
        ),
        ("RayActorError", (None, "x", False, True), "node"),
        ("RayActorError", (None, "The actor is dead because its owner has died."), "node"),
    ],
)
def test_every_family_of_failure_is_known(name, values, death):
    from ray import exceptions

    assert cause_of(getattr(exceptions, name)(*values), exceptions) is death


@pytest.mark.nightly
def test_a_worker_that_the_memory_monitor_kills_ran_out_of_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_memory_usage_threshold", "0.001")  # more is in use already
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "100")
    with started(tmp_path) as cluster:
        cluster.add()
        with RayExecutor(fakes.SPEC, 0, fakes.SlowBreaker, address=cluster.address) as executor:
            executor.spawn(1)
            down = until(executor, WorkerDown)[-1]
    assert down.reason == "oom", down.message


# --- who may talk to it


def test_without_the_token_nobody_gets_in(nodes, monkeypatch):
    check_guarded(nodes.address)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    with pytest.raises(RayError, match="has a different token"):
        check_guarded(nodes.address)


def test_refused_unless_tokens_are_on_and_private(nodes, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(UnguardedError, match="RAY_AUTH_MODE is 'disabled'"):
        check_guarded(nodes.address)
    monkeypatch.delenv("RAY_AUTH_MODE")
    path = tmp_path / "token"
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(path))
    with pytest.raises(UnguardedError, match=r"no Ray token in .*get-auth-token"):
        check_guarded(nodes.address)
    path.write_text(TOKEN)
    path.chmod(0o644)
    for refused in (check_guarded, lambda address: connected(address, 0).__enter__()):
        with pytest.raises(UnguardedError, match=r"mode 0644.*chmod 600"):
            refused(nodes.address)


def test_nothing_there(tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    with pytest.raises(RayError, match=r"'127.0.0.1:1': .*refused"):
        check_guarded("127.0.0.1:1")
    config = RunConfig(dims="2x2", cutoff=3, out=str(tmp_path / "run"), address="127.0.0.1:1")
    with pytest.raises(RayError):
        run(config)
    assert not (tmp_path / "run").exists()


def test_the_variable_that_names_a_dead_cluster_is_named(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    assert resolved("127.0.0.1:2") == "127.0.0.1:2"
    text = r"'127.0.0.1:1' \(from RAY_ADDRESS\): .*: ray status --address 127.0.0.1:1; or unset RAY"
    with pytest.raises(ClusterSilentError, match=text) as caught:
        check_guarded("auto")
    assert caught.value.exit_code == 6
    monkeypatch.setenv("RAY_ADDRESS", "ray://127.0.0.1:1")
    with pytest.raises(RayError, match=r"'ray://127.0.0.1:1' \(from RAY_ADDRESS\)"):
        check_guarded("auto")


def test_a_folder_with_a_long_name_is_blamed_where_sockets_do_not_fit(monkeypatch):
    def init(**_):
        raise OSError("AF_UNIX path length cannot exceed 107 bytes: '/tmp/a'")

    monkeypatch.setattr("ray.init", init)
    with (
        mock.patch.dict(os.environ),
        pytest.raises(RayError, match=r"107 bytes.*; set RAY_TMPDIR to a folder with a short name"),
        connected("local", 1),
    ):
        pass


def test_what_keeps_a_worker_from_starting_is_told_in_its_last_line_without_colours():
    text = (
        "\x1b[36mray::Worker.__init__()\x1b[39m (pid=17, ip=127.0.0.3)\n"
        f"  At least one of the input arguments could not be computed:\n{'x' * 500}\n"
        "\x1b[31mModuleNotFoundError: No module named 'cluster'\x1b[0m\n"
    )
    assert brief(text) == "ModuleNotFoundError: No module named 'cluster'"


def test_a_start_that_does_not_end_is_given_up(monkeypatch):
    monkeypatch.setattr("ray.init", lambda **_: threading.Event().wait())
    monkeypatch.setattr(ray_cluster, "_START_S", 0.1)
    with (
        mock.patch.dict(os.environ),
        pytest.raises(
            RayError,
            match="cannot start Ray: no answer within 0 s; --workers without --address needs no",
        ),
        connected("local", 1),
    ):
        pass


def test_an_open_cluster_is_refused(nodes, folder):
    with open_head(folder) as address, pytest.raises(UnguardedError, match="runs code for anybody"):
        check_guarded(address)


# --- whole runs from the command line


def test_a_local_cluster_listens_on_loopback_and_nothing_of_it_stays(tmp_path, terminal):
    config = config_of_classes(tmp_path)
    child = launch(config, tmp_path, address="local")
    wait_for(child, tmp_path, lambda: workers(child.pid))
    family = descendants(child.pid)
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert set() != listening_addresses(family) <= loopback
    child.send_signal(signal.SIGTERM)
    assert child.wait(120) == 4, (tmp_path / "said").read_text()
    gone(*family)


@pytest.mark.nightly
def test_a_signal_ends_a_start_that_does_not_get_on_and_nothing_of_it_stays(tmp_path, terminal):
    child = launch(config_of_classes(tmp_path), tmp_path, address="local")
    servers = set()
    while not servers:
        servers = {x for x in descendants(child.pid) if "gcs_server " in command_line(x)}
        assert child.poll() is None
    family = descendants(child.pid)
    for process in servers:
        os.kill(process, signal.SIGSTOP)
    child.send_signal(signal.SIGTERM)
    assert child.wait(120) == -signal.SIGTERM, "Ray's own handler has to wait for Ray"
    gone(*family)


@pytest.mark.nightly
def test_a_dead_node_costs_one_line_on_the_terminal(tmp_path):
    """Ray prints the last twenty lines of its log, and others."""
    with started(tmp_path) as cluster:
        node = cluster.add()
        config = config_of_classes(tmp_path)
        child = launch(config, tmp_path, address=cluster.address)
        log = LocalFolder(Path(config.out))

        def told(kind):
            return [event for event in read_events(log) if event.event == kind]

        wait_for(child, tmp_path, partial(told, "worker_up"))
        cluster.remove(node)
        cluster.add()
        wait_for(child, tmp_path, lambda: len(told("worker_up")) == 2)
        time.sleep(5)  # the head says it later than the node
        child.send_signal(signal.SIGTERM)
        assert child.wait(120) == 4
    said = (tmp_path / "said").read_text()
    # a second one, if it is started there before the head knows
    assert {event.message for event in told("worker_down")} == {"its machine is gone"}
    assert "raylet" not in said
    assert " lost" in said, "the progress line counts it"
    assert len(said.splitlines()) < 10


def after_the_end_of(name, number, folder):
    """Return the config and the exit code of a driver whose cluster loses a process once rows are
    stored.
    """
    with started(folder) as cluster:
        cluster.add()
        config = config_of_classes(folder)
        child = launch(config, folder, address=cluster.address)
        wait_for(child, folder, lambda: list((Path(config.out) / "results").glob("*.parquet")))
        for process in descendants() - {os.getpid()}:
            if name in command_line(process):
                os.kill(process, number)
        return config, child.wait(120)


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_cluster_that_goes_away_is_told_or_ends_the_driver_and_the_run_goes_on(
    tmp_path, number, terminal
):
    config, code = after_the_end_of("raylet/raylet ", number, tmp_path)
    assert code != 0
    assert len(list(open_run(config.out).rows())) > 0


@pytest.mark.nightly
def test_a_head_that_is_gone_stops_the_run_and_what_has_arrived_is_stored(tmp_path):
    config, code = after_the_end_of("gcs_server ", signal.SIGKILL, tmp_path)
    assert code == 6
    said = (tmp_path / "said").read_text()
    assert "the same command resumes from there" in said
    assert len(said.splitlines()) < 10
    assert not (Path(config.out) / files.OWNER).exists()
    assert len(list(open_run(config.out).rows())) > 0


def test_a_head_that_calls_another_cluster_its_own_is_no_head_any_more(nodes, node, monkeypatch):
    from ray._raylet import GcsClient

    with RayExecutor(fakes.SPEC, 0, fakes.SlowBreaker, address=nodes.address) as executor:
        assert executor._head.look() is not None
        inside = executor._ray._private.worker.global_worker
        other = GcsClient(address=nodes.address, cluster_id="ab" * 28)
        monkeypatch.setattr(inside, "gcs_client", other)
        with pytest.raises(ConnectionError, match="replaced by that of a new cluster"):
            executor._head.look()
        monkeypatch.undo()
        assert executor._head.look() is not None


def test_a_head_may_be_silent_for_a_moment_but_not_for_long(nodes, node, monkeypatch):
    with RayExecutor(fakes.SPEC, 0, fakes.SlowBreaker, address=nodes.address) as executor:
        monkeypatch.setattr(executor._head, "_address", f"127.0.0.1:{free_port()}")
        assert executor._head.look() is None
        monkeypatch.setattr(ray_executor, "_HEAD_S", -1.0)
        with pytest.raises(ConnectionError, match=r"its head does not answer: .*refused"):
            executor._head.look()


# It asks all the time: the head that comes answers what the old one had been asked.  On a machine
# with other work that takes longer than a head may be silent; Ray itself waits for a minute.
ASKING = """
import os, sys
from orderly_boggle.cluster.workers import ray_executor
from tests.cluster import fakes

ray_executor._ROOM_S = 0.01
ray_executor._HEAD_S = 50.0
try:
    with ray_executor.RayExecutor(fakes.SPEC, 0, fakes.SlowBreaker, address=sys.argv[1]) as asking:
        print("asking", flush=True)
        while True:
            asking.poll(0.0)
except ray_executor.ClusterGoneError as error:
    if sys.argv[2] == "caught":  # as the command does
        print(error, flush=True)
        os._exit(error.exit_code)
    raise
"""


@pytest.mark.nightly
@pytest.mark.parametrize("error", ["caught", "uncaught"])
def test_a_head_that_is_replaced_while_it_is_asked_does_not_end_the_driver(error):
    with RealCluster() as cluster:
        head = cluster.start_head()
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", ASKING, cluster.address, error],
            env=cluster.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "asking\n"
            cluster.end(head)
            cluster.start_head()
            said = child.stdout.read()
            code = child.wait(60)
        finally:
            child.kill()
            child.wait()
    assert "its head was replaced by that of a new cluster" in said
    assert code == 6 if error == "caught" else code != 0, said


NO_CLUSTER = """
import sys
from orderly_boggle.cluster.workers import ray_cluster

def start(_):
    raise RuntimeError("none")

hook = sys.excepthook
ray_cluster._start = start
try:
    with ray_cluster.connected("local", 1):
        pass
except ray_cluster.RayError:
    assert "ray" in sys.modules
    print(sys.excepthook is hook)
"""


def test_an_exception_that_nobody_catches_is_not_first_told_to_the_head():
    command = [sys.executable, "-P", "-c", NO_CLUSTER]
    assert subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout == "True\n"


@pytest.mark.nightly
def test_the_page_works_step_by_step(folder):
    """Every command under "By hand", on one machine, with a smaller question."""
    section = (
        (ROOT / "docs" / "clusters.md").read_text().partition("## By hand")[2].partition("\n## ")[0]
    )
    commands = re.findall(r"^    (.+?)(?:  +#.*)?$", section, re.MULTILINE)
    assert len(commands) == 5
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment |= {"HOME": str(folder), "RAY_TMPDIR": str(folder)}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "NUMBA_CACHE_DIR": str(Path(numba.config.CACHE_DIR).parent),
    }
    head, said = "", {}
    try:
        for command in commands:
            text = command.replace("HEAD:6379", head).replace("4x4-enable2k", "2x2 --cutoff 14")
            done = subprocess.run(
                ["sh", "-c", text], cwd=folder, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
            head = head or "".join(re.findall(r"--address='(\S+)'", done.stdout)[:1])
            said[command] = done.stdout
    finally:
        for process in PROC.iterdir():
            with contextlib.suppress(OSError):
                if f"HOME={folder}\0".encode() in (process / "environ").read_bytes():
                    os.kill(int(process.name), signal.SIGKILL)
    assert "Proven. Of all 456,976 2x2 boards" in said[commands[3]]
    assert "proven" in said[commands[4]]


@pytest.mark.slow
def test_gauges_are_exported():
    for module in ("prometheus_client", "opencensus", "opentelemetry.sdk"):
        pytest.importorskip(module, reason="needs pip install 'orderly-boggle[monitoring]'")
    import ray

    port = free_port()
    quiet = {"log_to_driver": False, "logging_level": "CRITICAL", "include_dashboard": False}
    ray.init(
        address="local",
        num_cpus=1,
        _node_ip_address="127.0.0.1",
        _metrics_export_port=port,
        **quiet,
    )
    try:
        metrics = RayMetrics("2x2 cutoff 5")
        found = shown(metrics, REPORT, port, "verdicts")
        assert found.keys() == GAUGES.keys() - {"remaining_seconds"}, "what is not known is not set"
        assert (found["verdicts"], found["strikes"]) == (40, 1)
        found = shown(
            metrics, replace(REPORT, n_classes_done=14, remaining_s=99.0), port, "remaining_seconds"
        )
        assert (found["remaining_seconds"], found["classes_done"]) == (99, 14)
    finally:
        ray.shutdown()


def shown(metrics, report, port, name):
    """Return our gauges, by the end of their names, once one of this name is exported."""
    pattern = r'^ray_orderly_(\w+)\{[^}]*run="2x2 cutoff 5"[^}]*\} (\S+)$'
    url = f"http://127.0.0.1:{port}/metrics"
    for _ in range(60):
        metrics.show(report)
        time.sleep(1)
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5) as page:
            found = dict(re.findall(pattern, page.read().decode(), re.MULTILINE))
            if name in found:
                return {gauge: float(value) for gauge, value in found.items()}
    raise AssertionError(f"{name} is not exported")
