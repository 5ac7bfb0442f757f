"""Real Ray clusters on the loopback: a head and machines, each started by ``ray start --block`` as
an administrator would, on an address, with a token and a folder of their own.

A machine is 127.0.0.N with N from 2 on: Ray replaces 127.0.0.1 in ``--address`` by the public
address.  Everything is ended by its process id.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from itertools import count
from pathlib import Path

from tests.cluster.processes import descendants

ROOT = Path(__file__).resolve().parent.parent.parent
HEAD = "127.0.0.2"
_LOOPBACK = "127.0.0.1"
_STORE_BYTES = 80_000_000
_TRIES = 8
_ASK_S = 400.0  # commands of Ray took two minutes on a machine with twenty processes at work
# how Ray's fake provider names the head
_FAKE_HEAD = "f" * 51 + "00000"
_COMMAND = (sys.executable, "-m", "ray.scripts.scripts")


class RealCluster:
    """A head without processors, and machines that come and go.

    ``folder`` is short: Ray puts sockets into it.  ``port`` is that of the head.
    """

    def __init__(self, port=None):
        self.folder = Path(tempfile.mkdtemp(prefix="o", dir="/tmp"))
        self.token = self.folder / "token"
        self.token.touch(mode=0o600)
        self.token.write_text(secrets.token_hex(32))
        self._processes = []
        self._numbers = count(3)
        self._port = port
        self._settings = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._processes:
            self.end(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def environment(self):
        """What machines and drivers need, without what this process was given."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        return own | {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self.token),
            "RAY_USAGE_STATS_ENABLED": "0",
            # Ray gives workers niceness 15: on a busy machine they hardly ever start
            "RAY_worker_niceness": "0",
            "PYTHONPATH": str(ROOT),
            **self._settings,
        }

    def start_head(self, *, client_port=0):
        """Start the head, or another one in its place; return its process.

        client_port : where it serves Ray's client (ray://); 0: nowhere
        """
        self._port = self._port or free_port(HEAD)
        self.address = f"{HEAD}:{self._port}"
        folder = tempfile.mkdtemp(dir=self.folder)
        options = f"--head --port {self._port} --num-cpus 0 --include-dashboard false"
        if client_port:
            options += f" --ray-client-server-port {client_port}"
        return self._start(HEAD, *options.split(), "--temp-dir", folder)

    def start_autoscaling_head(self, *, idle_minutes, most):
        """Start a head on 127.0.0.1 that asks Ray's fake provider for machines of one processor,
        ``most`` at most.
        """
        self._port = free_port(_LOOPBACK)
        self.address = f"{_LOOPBACK}:{self._port}"
        config = {
            "cluster_name": "fake",
            "max_workers": most,
            "idle_timeout_minutes": idle_minutes,
            "provider": {
                "type": "fake_multinode",
                "head_node_id": _FAKE_HEAD,
                "gcs_address": self.address,
                "use_node_id_as_ip": True,  # or all are on 127.0.0.1
                "disable_node_updaters": True,
                "disable_launch_config_check": True,
            },
            "available_node_types": {
                "ray.head.default": {
                    "resources": {"CPU": 0},
                    "node_config": {},
                    "max_workers": 0,
                },
                "machine": {
                    "resources": {"CPU": 1, "object_store_memory": _STORE_BYTES},
                    "node_config": {},
                    "min_workers": 0,
                    "max_workers": most,
                },
            },
            "head_node_type": "ray.head.default",
            "auth": {},
            "file_mounts": {},
            "cluster_synced_files": [],
            "file_mounts_sync_continuously": False,
            "initialization_commands": [],
            "setup_commands": [],
            "head_setup_commands": [],
            "worker_setup_commands": [],
            "head_start_ray_commands": [],
            "worker_start_ray_commands": [],
        }
        path = self.folder / "autoscaler.yaml"
        path.write_text(json.dumps(config))  # JSON is YAML
        # 127.0.0.1 stays what it is: machines of the fake provider listen there
        self._settings["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        settings = {
            "RAY_FAKE_CLUSTER": "1",
            "RAY_OVERRIDE_NODE_ID_FOR_TESTING": _FAKE_HEAD,
            "AUTOSCALER_UPDATE_INTERVAL_S": "1",
        }
        options = f"--head --port {self._port} --num-cpus 0 --include-dashboard false"
        return self._start(
            _LOOPBACK,
            *options.split(),
            "--temp-dir",
            tempfile.mkdtemp(dir=self.folder),
            "--autoscaling-config",
            str(path),
            settings=settings,
        )

    def add(self, n_cpus=1, *, python=sys.executable, settings=None):
        """Start a machine; return its process."""
        place = f"127.0.0.{next(self._numbers)}"
        options = f"--address {self.address} --num-cpus {n_cpus}".split()
        return self._start(place, *options, python=python, settings=settings)

    def end(self, process, number=signal.SIGKILL):
        """End a machine, all processes of it."""
        for pid in descendants(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        process.wait(60)

    def install(self, package):
        """Have a package installed for machines and drivers that are started from now on."""
        folder = self.folder / "packages"
        pip = [sys.executable, "-m", "pip", "install", "-qq", "--target", str(folder), package]
        subprocess.run(pip, check=True)
        self._settings["PYTHONPATH"] = f"{ROOT}:{folder}"

    def drive(self, folder, *options, address=None):
        """Start ``orderly run`` on the 34,960 small classes of 3x3; what it says goes into
        ``said``.
        """
        folder.mkdir(exist_ok=True)
        config = folder / "config.toml"
        config.write_text(
            'dims = "3x3"\ncutoff = 430\nbuckets = "bdfgjqvwxz aeiou lnrsy chkmpt"\n'
            f'out = "{folder / "run"}"\n[search]\nmemory_mb = 256\nfused = []\n'
        )
        program = "from orderly_boggle.cluster.cli.start import main; main()"
        command = [sys.executable, "-P", "-c", program, "run", str(config)]
        with (folder / "said").open("ab") as said:
            driver = subprocess.Popen(
                [*command, "--address", address or self.address, *options],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
        self._processes.append(driver)
        return driver

    def ask(self, *arguments):
        """Return what a command of Ray prints about this cluster."""
        done = subprocess.run(
            [*_COMMAND, *arguments, "--address", self.address],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=_ASK_S,
            check=True,
        )
        return done.stdout

    def _start(self, place, *options, python=sys.executable, settings=None):
        """Start a machine; Ray gives one up that is not there after 30 s, which a loaded machine
        may need, so there are several tries.
        """
        command = [python, *_COMMAND[1:], "start", "--block", "--disable-usage-stats"]
        command += ["--node-ip-address", place, "--object-store-memory", str(_STORE_BYTES)]
        said = []
        for _ in range(_TRIES):
            process = subprocess.Popen(
                [*command, *options],
                cwd=self.folder,
                env=self.environment | (settings or {}),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            self._processes.append(process)
            assert process.stdout is not None
            for line in process.stdout:
                said.append(line)
                if "Ray runtime started" in line:
                    # what it says from here on must not fill the pipe
                    threading.Thread(target=process.communicate, daemon=True).start()
                    return process
        raise RuntimeError("ray start: " + "".join(said[-5:]))


class Cable:
    """What connects clients with a server of this machine, until it is cut.

    ``port`` is where clients come, on 127.0.0.1.
    """

    def __init__(self, place, port):
        self._server = place, port
        self._listener = socket.create_server((_LOOPBACK, 0))
        self.port = self._listener.getsockname()[1]
        self._is_whole = threading.Event()
        self._is_whole.set()
        self._sockets = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """Drop all connections; who comes now waits until it is mended."""
        self._is_whole.clear()
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def mend(self):
        """Let clients through again."""
        self._is_whole.set()

    def _accept(self):
        while True:
            client, _ = self._listener.accept()
            self._is_whole.wait()
            try:
                server = socket.create_connection(self._server)
            except OSError:
                client.close()
                continue
            self._sockets += client, server
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    @staticmethod
    def _pass_on(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


def free_port(place):
    with socket.socket() as listener:
        listener.bind((place, 0))
        return listener.getsockname()[1]


def until(condition, seconds, what):
    """Wait for a condition and return its value; AssertionError, saying what, after so many
    seconds.
    """
    ends_s = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > ends_s:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.5)
    return value
