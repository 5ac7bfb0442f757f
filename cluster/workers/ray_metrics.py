"""Figures of a run as gauges of ``ray.util.metrics``: what Ray's agents export, Prometheus can read.

They appear as ``ray_orderly_...`` with the tag ``run``, at the metrics port of the node that the driver is on.  Ray
exports metrics only where its extras are installed (``pip install 'ray[default]'``); without them the gauges cost
nothing.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from cluster.scheduling.events import Report

GAUGES = {
    "classes": ("n_classes", "board classes of the run"),
    "classes_done": ("n_classes_done", "board classes that are settled"),
    "units_open": ("n_open", "units without a verdict"),
    "units_in_flight": ("n_in_flight", "units that a worker has"),
    "units_split": ("n_split", "units that were split, by this driver"),
    "units_requeued": ("n_requeued", "units that came back without a verdict, by this driver"),
    "units_quarantined": ("n_quarantined", "units that were given up, by this driver"),
    "verdicts": ("n_verdicts", "verdicts accepted, by this driver"),
    "strikes": ("n_strikes", "failures held against units, by this driver"),
    "replicas_agreed": ("n_agreed", "replicas that agreed with the first verdict, by this driver"),
    "candidates": ("n_candidates", "boards found that reach the cutoff, before symmetric ones are merged"),
    "best_score": ("best_score", "best score found"),
    "workers": ("n_workers", "workers that are up"),
    "workers_lost": ("n_deaths", "workers lost, by this driver"),
    "elapsed_seconds": ("elapsed_s", "time since the driver began"),
    "remaining_seconds": ("remaining_s", "estimate of the time left; not set before the first class is finished"),
}


class RayMetrics:
    """Gauges on the Ray cluster that this process has joined.

    Parameters
    ----------
    run : str
        Value of the tag that tells runs apart.
    """

    def __init__(self, run: str) -> None:
        self._tags = {"run": run}
        self._gauges: dict[str, Any] = {}

    def show(self, report: Report) -> None:
        """Set all gauges whose figure is known."""
        if not self._gauges:
            from ray.util import metrics

            for name, (_, text) in GAUGES.items():
                self._gauges[name] = metrics.Gauge(f"orderly_{name}", description=text, tag_keys=("run",))
        for name, (figure, _) in GAUGES.items():
            value = getattr(report, figure)
            if value is not None:
                self._gauges[name].set(float(value), tags=self._tags)


assert {figure for figure, _ in GAUGES.values()} <= {field.name for field in fields(Report)}
