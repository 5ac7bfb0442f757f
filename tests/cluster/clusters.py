"""Ray clusters of several nodes on this machine's loopback, as an administrator would have started
them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
from pathlib import Path
from unittest import mock

from tests.cluster.processes import descendants

TOKEN = secrets.token_hex(32)  # Ray reads it once per process


class Nodes:
    """A head that only drives, and workers that come and go."""

    def __init__(self, cluster):
        self._cluster = cluster
        self.address = cluster.address
        self.session = Path(cluster.head_node.get_session_dir_path())

    def add(self, n_cpus=1):
        """Start a node; return it once the cluster knows it."""
        return self._cluster.add_node(num_cpus=n_cpus, node_ip_address="127.0.0.1")

    def remove(self, node):
        """Kill every process of a node."""
        self._cluster.remove_node(node, allow_graceful=False)

    def n_workers(self):
        """Return how many nodes there are besides the head."""
        return len(self._cluster.worker_nodes)

    def remove_all(self):
        """Leave the head alone; wait until the cluster knows it, or the next test gets a worker on
        a dead node.
        """
        for node in list(self._cluster.worker_nodes):
            self.remove(node)
        self._cluster.wait_for_nodes(timeout=120)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def open_head(folder):
    """Start a head that lets anybody in, as ``ray start`` does without tokens; yield its
    address.
    """
    port = free_port()
    command = (
        f"start --head --block --num-cpus 0 --node-ip-address 127.0.0.1 --port {port} "
        "--include-dashboard false"
    )
    with subprocess.Popen(
        [sys.executable, "-m", "ray.scripts.scripts", *command.split(), "--temp-dir", str(folder)],
        env={**os.environ, "RAY_AUTH_MODE": "disabled", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"},
        stdout=subprocess.PIPE,
        text=True,
    ) as head:
        try:
            assert head.stdout is not None
            assert any("Ray runtime started" in line for line in head.stdout)
            yield f"127.0.0.1:{port}"
        finally:
            for process in descendants(head.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)


@contextlib.contextmanager
def started(folder):
    """Start a head without processors and yield :class:`Nodes`; it asks for a token."""
    path = Path(folder) / "auth_token"
    path.touch(mode=0o600)
    path.write_text(TOKEN)
    settings = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(path),
        "RAY_USAGE_STATS_ENABLED": "0",
        # Ray gives workers niceness 15: beside busy test processes one would hardly ever start
        "RAY_worker_niceness": "0",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # or Ray listens on the machine's public address
    }
    with mock.patch.dict(os.environ, settings):
        os.environ.pop("RAY_AUTH_TOKEN", None)
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "node_ip_address": "127.0.0.1", "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            yield Nodes(cluster)
        finally:
            cluster.shutdown()
