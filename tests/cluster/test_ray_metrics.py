"""The figures of a run where Prometheus reads them: scraped from the agent of a real Ray node."""

from __future__ import annotations

import re
import socket
import time
import urllib.request
from dataclasses import replace

import pytest

from cluster.workers.ray_executor import GAUGES, RayMetrics
from tests.cluster.fakes import REPORT


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.mark.ray
@pytest.mark.slow
def test_gauges_are_exported():
    reason = "Ray exports metrics with its extras only: pip install 'orderly-boggle[monitoring]'"
    for module in ("prometheus_client", "opencensus", "opentelemetry.sdk"):
        pytest.importorskip(module, reason=reason)
    import ray

    port = free_port()
    quiet = {"log_to_driver": False, "logging_level": "CRITICAL", "include_dashboard": False}
    ray.init(address="local", num_cpus=1, _node_ip_address="127.0.0.1", _metrics_export_port=port, **quiet)
    try:
        metrics = RayMetrics("2x2 cutoff 5")
        found: dict[str, float] = {}
        for _ in range(60):
            metrics.show(REPORT)
            time.sleep(1)
            found = scraped(port)
            if "verdicts" in found:
                break
        assert found.keys() == GAUGES.keys() - {"remaining_seconds"}, "what is not known is not set"
        assert found["verdicts"] == 40
        assert found["strikes"] == 1
        metrics.show(replace(REPORT, n_classes_done=14, remaining_s=99.0))
        for _ in range(60):
            if "remaining_seconds" in (found := scraped(port)):
                break
            time.sleep(1)
        assert (found["remaining_seconds"], found["classes_done"]) == (99, 14)
    finally:
        ray.shutdown()


def scraped(port: int) -> dict[str, float]:
    """Return our gauges, by the end of their names."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
    except OSError:
        return {}
    pattern = r'^ray_orderly_(\w+)\{[^}]*run="2x2 cutoff 5"[^}]*\} (\S+)$'
    return {name: float(value) for name, value in re.findall(pattern, text, re.MULTILINE)}
