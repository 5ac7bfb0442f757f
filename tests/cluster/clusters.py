"""Ray clusters of several nodes on this machine's loopback, as an administrator would have started them."""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import subprocess
import time
from pathlib import Path
from unittest import mock

from tests.cluster.processes import parent

ROOT = Path(__file__).resolve().parent.parent.parent


class Nodes:
    """A head that only drives, and workers that come and go.

    Attributes
    ----------
    address : str
    token : str
    """

    def __init__(self, cluster, token):
        self._cluster = cluster
        self.address = cluster.address
        self.token = token
        self.session = Path(cluster.head_node.get_session_dir_path())

    def add(self, n_cpus=1):
        """Start a node; return it once the cluster knows it."""
        return self._cluster.add_node(num_cpus=n_cpus, node_ip_address="127.0.0.1")

    def remove(self, node):
        """Kill every process of a node."""
        self._cluster.remove_node(node, allow_graceful=False)

    def remove_all(self):
        """Leave the head alone."""
        for node in list(self._cluster.worker_nodes):
            self.remove(node)

    @staticmethod
    def runs_on(node, process):
        """Return whether a worker process belongs to a node."""
        return parent(process) == raylet_of(node)


def raylet_of(node):
    """Return the process id of a node's raylet."""
    return node.all_processes["raylet"][0].process.pid


@contextlib.contextmanager
def open_gate(folder):
    """Start the one process of a head that lets callers in, the GCS server, for anybody; yield its address."""
    from ray._private.services import GCS_SERVER_EXECUTABLE

    node = "0" * 56
    options = {
        "log_dir": folder,
        "session-dir": folder,
        "session-name": "open",
        "node-id": node,
        "node-ip-address": "127.0.0.1",
        "gcs_server_port": 0,
        "config_list": base64.b64encode(b"{}").decode(),
    }
    command = [GCS_SERVER_EXECUTABLE, *(f"--{name}={value}" for name, value in options.items())]
    environment = {**os.environ, "RAY_AUTH_MODE": "disabled"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            told = Path(folder) / f"gcs_server_port_{node}"
            while not (told.exists() and told.read_text()):
                assert server.poll() is None
                time.sleep(0.02)
            yield f"127.0.0.1:{told.read_text()}"
        finally:
            server.kill()


@contextlib.contextmanager
def started(folder):
    """Start a head without processors and yield :class:`Nodes`; it asks for a token."""
    token = secrets.token_hex(32)
    path = Path(folder) / "auth_token"
    path.touch(mode=0o600)
    path.write_text(token)
    settings = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(path),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # or Ray listens on the machine's public address
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    with mock.patch.dict(os.environ, settings):
        os.environ.pop("RAY_AUTH_TOKEN", None)
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "node_ip_address": "127.0.0.1", "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            yield Nodes(cluster, token)
        finally:
            cluster.shutdown()
