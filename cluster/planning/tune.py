"""Compares ways to search: partitions, budgets, cell orders, each on the same random classes.

    variants -> for each of them an estimate of the whole run (cluster.planning.estimate), all with one seed

The presets and the defaults of search.params come from such tables.  Each variant is a single change: two changes that
help alone need not help together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from boardclass.geometry import cell_order_of, geometry
from boardclass.orders import ORDERS
from cluster.planning.estimate import Estimate, estimate
from cluster.planning.plan import Plan, make_plan
from configs.model import RunConfig
from search.params import LETTER_ORDER

GROUPS = "jqxz kvw fy bgu hmp cd l n o r s t i a e"
_RIM = "edge: abcdefghijklmnopqrstuvwxyz, corner: abcdefghijklmnopqrstuvwxyz"
PARTITIONS = {
    "single centre letters": f"center: {' '.join(sorted(LETTER_ORDER))}, {_RIM}",
    "rare centre letters fused": f"center: {GROUPS}, {_RIM}",
}


@dataclass(frozen=True)
class Variant:
    """A way to search: what is changed, and the plan that results."""

    name: str
    plan: Plan

    def estimate(self, rounds: int, seed: int, processes: int) -> Estimate:
        """Estimate the whole run from ``rounds`` probes of each stratum and process."""
        return estimate(self.plan, 0, seed, processes=processes, least=rounds)


def variants(config: RunConfig) -> Iterator[Variant]:
    """Yield the config as it is, then with one change at a time.

    Raises
    ------
    InputError
        When anything in the config is wrong.
    """
    plan = make_plan(config)
    yield Variant("as it is", plan)
    yield from (Variant(name, other) for name, other in _partitions(config, plan))
    params = plan.spec.params
    changes: dict[str, dict[str, Any]] = {
        "node_budget / 4": {"node_budget": params.node_budget // 4},
        "node_budget * 4": {"node_budget": params.node_budget * 4},
        "whole_terms / 3": {"whole_terms": params.whole_terms // 3},
        "whole_terms * 3": {"whole_terms": params.whole_terms * 3},
        "rare letters forced together": {"force_groups": ("jqxz", "vwk", "fy", *"bughmpcdlnorstiae")},
        "letters in alphabetical order": {"letter_order": "".join(sorted(LETTER_ORDER))},
    }
    for name, change in changes.items():
        spec = replace(plan.spec, params=replace(params, **change))
        yield Variant(name, replace(plan, spec=spec))
    for name in ORDERS:
        order = cell_order_of(config.dims, name)
        if order != plan.spec.cell_order:
            yield Variant(f"cell order {name}", replace(plan, spec=replace(plan.spec, cell_order=order)))


def _partitions(config: RunConfig, plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Yield the plans of the other partitions; a board without a center has none."""
    if "center" not in geometry(config.dims).cell_types:
        return
    for name, text in PARTITIONS.items():
        other = make_plan(config.model_copy(update={"buckets": text}))
        if other.partition.text != plan.partition.text:
            yield name, other
