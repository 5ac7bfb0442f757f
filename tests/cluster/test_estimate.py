"""The estimate of a run: its probes are unbiased, and ``orderly plan`` prints it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from statistics import fmean, stdev

import numpy as np
import pytest

from boardclass.geometry import geometry
from cluster.planning.estimate import (
    MIN_PROBES,
    Ways,
    draw,
    estimate,
    likely_cost,
    student,
    variants,
)
from cluster.planning.plan import Plan, make_plan
from configs.model import RunConfig
from search.breaker import Breaker, Unit, UnitResult
from search.params import Params
from tests.bench import coverage
from tests.conftest import ROOT
from tests.samples import daily

BUCKETS = (
    "center: aeiou bcdfghjklm npqrstvwxyz, edge: aeiou bcdfghjklm npqrstvwxyz, corner: aeiou "
    "bcdfghjklm npqrstvwxyz"
)


def effort(result: UnitResult, seconds: float) -> float:
    """Return what does not depend on the clock."""
    del seconds
    return result.counters["n_terms"] + result.counters["n_pushes"]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    words = tmp_path_factory.mktemp("words") / "some.txt"
    words.write_text(
        "".join(
            (ROOT / "configs/wordlists/scowl70.txt").read_text().splitlines(keepends=True)[::30]
        )
    )
    return make_plan(
        RunConfig(dims="2x3", buckets=BUCKETS, cutoff=4, workers=0, wordlist=str(words))
    )


def whole_cost(breaker: Breaker, class_id: int) -> float:
    todo, total = [Unit(class_id)], 0.0
    while todo:
        result = breaker.break_unit(todo.pop())
        total += effort(result, 0)
        todo += result.children
    return total


def cost_of_a_probe(breaker: Breaker, class_id: int, seed: int) -> float:
    ways = Ways(breaker.spec, [[class_id]], [1.0], str(seed), least=1)
    while ways.unit:
        result = breaker.break_unit(ways.unit)
        ways.note(result, effort(result, 0))
    return ways.costs[0][0]


def test_the_mean_of_many_probes_is_the_cost(small):
    """Over all seeds; the tolerance is four standard errors."""
    params = replace(
        small.spec.params,
        node_budget=20,
        least_budget=20,
        fused_budget=20,
        fused_per_term=0,
        unit_budget=0,
    )
    breaker = Breaker(replace(small.spec, params=params))
    n_split = 0
    for class_id in (0, 13, 40):
        wanted = whole_cost(breaker, class_id)
        found = [cost_of_a_probe(breaker, class_id, seed) for seed in range(300)]
        n_split += len(set(found)) > 1
        assert abs(fmean(found) - wanted) <= 4 * stdev(found) / 300**0.5 + 1e-9 * wanted
    assert n_split


def test_the_parts_of_a_fused_cell_are_expected_to_share_its_cost():
    params = Params()
    likely = {
        path: likely_cost(Unit(0, path), geometry("3x3"), params)
        for path in ("4=a", "1=a", "1=j", "4=a/1=a")
    }
    assert likely["4=a"] > 5 * likely["1=a"]
    assert likely["1=a"] > 10 * likely["1=j"]
    assert likely["1=a"] == pytest.approx(params.unfuse_parts * likely["4=a/1=a"])


def test_the_parts_of_a_rim_cell_that_was_fused_share_its_cost_too():
    params, board = Params(), geometry("4x5")
    likely = {
        path: likely_cost(Unit(0, path), board, params)
        for path in ("1=e", "1=iae", "1=iae/16=iae", "1=iae/16=iae/1=e")
    }
    assert likely["1=iae"] == pytest.approx(params.unfuse_parts * likely["1=iae/16=iae"])
    assert likely["1=iae/16=iae"] == pytest.approx(params.unfuse_parts * likely["1=iae/16=iae/1=e"])
    assert likely["1=e"] < likely["1=iae/16=iae"] / 2, "one forced cell more"


def test_the_classes_of_4x5_can_be_drawn():
    """2,862,000 of them, each in one stratum."""
    plan = make_plan(RunConfig(dims="4x5", cutoff=6300, workers=0))
    strata = draw(plan, 0)
    assert sum(map(len, strata)) == plan.partition.n_canonical == 2_862_000
    some = np.concatenate([stratum[:1000] for stratum in strata])
    assert len(set(some.tolist())) == 1000 * len(strata)
    place = plan.spec.params.letter_order.index

    def strength(stratum):
        letters = plan.partition.class_letters(stratum[0])
        return fmean(map(place, "".join(letters[cell] for cell in (6, 7, 8, 11, 12, 13))))

    assert strength(strata[0]) < strength(strata[-1])


def test_an_estimate_of_everything_is_near_the_truth_and_is_it_when_every_class_is_known(small):
    breaker, ids = Breaker(small.spec), small.class_ids().tolist()
    truth = sum(whole_cost(breaker, class_id) for class_id in ids) / 3600
    found = [estimate(small, None, seed, effort, 10**9) for seed in range(8)]
    assert all(x.n_classes == len(ids) and x.n_probes == MIN_PROBES * len(x.strata) for x in found)
    assert all(x.high and x.low <= x.cpu_hours <= x.high for x in found)
    values = [x.cpu_hours for x in found]
    assert abs(fmean(values) - truth) <= 4 * stdev(values) / 8**0.5
    known = estimate(small, 10**6, 0, effort, 10**9)
    assert (known.is_known, known.n_probes) == (True, len(ids))
    assert known.low == known.cpu_hours == known.high == pytest.approx(truth)


def test_a_class_that_was_split_is_not_known(small):
    params = replace(
        small.spec.params, node_budget=20, least_budget=20, fused_budget=20, fused_per_term=0
    )
    split = replace(small, spec=replace(small.spec, params=params))
    found = estimate(split, None, 0, effort, 0, least=len(small.class_ids()) // 4)
    assert not found.is_known
    assert found.high
    assert found.low < found.cpu_hours < found.high
    assert found.n_probes > found.n_classes


def test_the_first_probes_are_an_estimate_of_their_own(small):
    """Strata are drawn by any expectation: the mean is the cost all the same."""
    breaker, strata = Breaker(small.spec), draw(small, 0)
    truth = sum(whole_cost(breaker, class_id) for stratum in strata for class_id in stratum)
    found: list[float] = []
    for seed in range(150):
        ways = Ways(breaker.spec, draw(small, seed), [1.0, 3.0] * 4, str(seed), first=2)
        while ways.unit and len(ways.first) < 2:
            result = breaker.break_unit(ways.unit)
            ways.note(result, effort(result, 0))
        found += ways.first
    assert abs(fmean(found) - truth) <= 4 * stdev(found) / len(found) ** 0.5


def test_a_probe_that_is_interrupted_is_expected_to_be_in_its_middle(small):
    ways = Ways(small.spec, [[0], [1, 2, 3]], [1.0, 1.0], "0", first=1)
    ways.give_up(5.0)
    assert ways.first == [10.0 * 4]  # four classes, all expected to cost the same
    assert ways.costs == [[], []]


def test_without_time_nothing_is_said_of_the_cost(small):
    found = estimate(small, 0)
    assert (found.n_probes, found.low, found.high) == (0, 0, None)


@pytest.mark.parametrize(
    ("freedom", "wanted"), [(2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042)]
)
def test_student(freedom, wanted):
    assert student(freedom) == pytest.approx(wanted, rel=0.01)


@pytest.mark.parametrize("seconds", daily([15, 60], coverage.LENGTHS))
def test_nine_of_ten_intervals_hold_the_truth(seconds, enable2k):
    plan = coverage.plan_of_3x4()
    truth = coverage.Recorded(plan).truth
    held = [low <= truth <= high for _, low, high in coverage.intervals(plan, seconds, 100)]
    assert 90 <= sum(held) <= 100


def test_plan_prints_hours_memory_and_price(orderly):
    options = ("--dims", "2x2", "--cutoff", 12, "--seconds", 100, "--price", 2)
    shown = orderly.done("plan", *options, "--format", "json")
    record = json.loads(shown)
    assert 0 <= record["low"] <= record["cpu_hours"] <= record["high"]
    assert record["price"] == pytest.approx(2 * record["cpu_hours"])
    assert record["memory_mb"] > 50
    assert record["is_known"]
    assert "of one core (every class was searched)" in orderly("plan", *options).out
    assert orderly("plan").code == 2


def test_plan_knows_what_a_published_run_took(orderly):
    shown = orderly("plan", "3x3", "--cutoff", 400, "--format", "json")
    record = json.loads(shown.out)
    assert (record["known"], record["is_known"], record["n_probes"]) == ("3x3-scowl70", True, 0)
    assert 0.001 < record["cpu_hours"] < 1
    assert "the run 3x3-scowl70 proves this already: orderly top 3x3-scowl70" in shown.err
    assert "wall time of its workers" in orderly("plan", "3x3", "--cutoff", 400).out


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_plan_prints_what_it_has_on_a_signal(number):
    """A real one, to all of a group of processes, as a terminal sends it."""
    command = "from cluster.cli.start import main; main()"
    options = ("plan", "4x4", "--cutoff", "2600", "--seconds", "100000")
    with subprocess.Popen(
        [sys.executable, "-c", command, *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr
        for line in process.stderr:
            if line.startswith("probing random classes"):
                break
        os.killpg(process.pid, number)
        told, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert f"orderly: {number.name} after" in err
    assert "of one core" in told
    assert "too few probes" in told
    assert " 0 probed\n" in told, "no time is told of what was not probed"
    assert "Traceback" not in err


def test_variants_change_one_thing_each():
    found = list(variants(RunConfig(dims="3x3", cutoff=400, workers=0)))
    assert len({name for name, _ in found}) == len(found) > 8
    (as_it_is, original), *others = found
    assert as_it_is == "as it is"
    for name, plan in others:
        changed = [
            plan.partition.text != original.partition.text,
            plan.spec.params != original.spec.params,
            plan.spec.cell_order != original.spec.cell_order,
        ]
        assert sum(changed) == 1, name


def test_tune_prints_a_row_per_variant(orderly):
    shown = orderly.done("tune", "--dims", "2x2", "--cutoff", 12, "--rounds", 2, "--format", "json")
    rows = json.loads(shown)
    assert rows[0]["variant"] == "as it is"
    assert rows[0]["ratio"] == 1
    assert all(row["low"] <= row["cpu_hours"] <= row["high"] for row in rows)
    table = orderly("tune", "--dims", "2x2", "--cutoff", 12, "--rounds", 2)
    assert table.out.count("classes") == len(rows)
    assert orderly("tune").code == 2
