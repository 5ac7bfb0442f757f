"""The estimate of a run: its probes are unbiased, and ``orderly plan`` prints it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from statistics import fmean, stdev

import numpy as np
import pytest

from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.cluster.planning.estimate import (
    LEAST,
    Probes,
    estimate,
    variants,
)
from orderly_boggle.cluster.planning.known import best_known, where_answered, worth_naming
from orderly_boggle.cluster.planning.plan import Plan, make_plan
from orderly_boggle.cluster.scheduling.forecast import Forecast, History
from orderly_boggle.configs.model import RunConfig
from orderly_boggle.results import open_run
from orderly_boggle.search import score
from orderly_boggle.search.breaker import Breaker, Unit, UnitResult
from orderly_boggle.search.costs import likely_cost, likely_costs
from tests.bench import coverage
from tests.cluster.processes import command_line, descendants
from tests.conftest import COMMAND, ROOT
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


def whole_cost(breaker: Breaker | Remembering, class_id: int) -> float:
    todo, total = [Unit(class_id)], 0.0
    while todo:
        result = breaker.break_unit(todo.pop())
        total += effort(result, 0)
        todo += result.children
    return total


def deep(plan: Plan) -> Plan:
    """Return a plan whose units split at once, level after level."""
    budgets = replace(
        plan.spec.budgets,
        node_budget=20,
        least_budget=20,
        fused_budget=20,
        fused_per_term=0,
        unit_budget=0,
    )
    return replace(plan, spec=replace(plan.spec, budgets=budgets))


class Remembering:
    """A breaker that searches each unit once: several tests draw the same units in other orders."""

    def __init__(self, plan: Plan) -> None:
        self._breaker = Breaker(plan.spec)
        self._results: dict[Unit, UnitResult] = {}

    def break_unit(self, unit: Unit) -> UnitResult:
        if unit not in self._results:
            self._results[unit] = self._breaker.break_unit(unit)
        return self._results[unit]


@pytest.fixture(scope="module")
def breaker(small: Plan) -> Remembering:
    return Remembering(deep(small))


@pytest.fixture(scope="module")
def wanted(small: Plan, breaker: Remembering) -> float:
    """Return what all classes of the deep plan cost."""
    return sum(whole_cost(breaker, class_id) for class_id in small.question.class_ids().tolist())


def searched(probes: Probes, breaker: Breaker | Remembering) -> float:
    """Return the cost that the probes find."""
    while unit := probes.next():
        result = breaker.break_unit(unit)
        probes.note(unit, result.children, effort(result, 0))
    return 3600 * probes.estimate(0, 0).cpu_hours


@pytest.mark.parametrize("least", [1, 6])
def test_the_mean_of_many_estimates_is_the_cost(small, breaker, wanted, least):
    """Over all seeds; the tolerance is four standard errors."""
    plan = deep(small)
    found = [searched(Probes(plan, seed, least), breaker) for seed in range(300)]
    assert len(set(found)) > 100
    assert abs(fmean(found) - wanted) <= 4 * stdev(found) / 300**0.5


def test_everything_that_is_drawn_is_searched_once_and_adds_up(small, breaker, wanted):
    """With all the time there is: each class, and each part of it."""
    probes = Probes(deep(small), 0, gone=float)
    assert searched(probes, breaker) == pytest.approx(wanted)
    found = probes.estimate(0, 0)
    assert found.is_known
    assert found.low == found.cpu_hours == found.high
    assert len(probes.levels) > 2


def test_parts_are_expected_to_share_the_cost_of_what_they_are_parts_of(small):
    """A cell that is fused as well, whose parts are groups of letters."""
    letters = small.question.partition.class_letters(13)

    def likely(*paths):
        return sum(likely_cost(small.question, 13, path) for path in paths)

    whole = likely("")
    assert whole == pytest.approx(likely_costs(small.question, np.array([13]))[0])
    assert likely(*(f"1={letter}" for letter in letters[1])) == pytest.approx(whole)
    assert likely(f"1={letters[1][:2]}", f"1={letters[1][2:]}") == pytest.approx(whole)
    group = f"1={letters[1][:2]}"
    parts = [f"{group}/4={letter}" for letter in letters[4]]
    assert likely(*parts) == pytest.approx(likely(group))
    assert likely(*(f"{group}/1={x}" for x in letters[1][:2])) == pytest.approx(likely(group))
    by_strength = sorted(letters[4], key=small.question.rules.letter_order.index)
    assert likely(f"4={by_strength[-1]}") > 1.2 * likely(f"4={by_strength[0]}")


def test_likely_costs_that_are_wrong_cost_no_truth(small, breaker, wanted):
    """With the strength of the letters turned round the mean is the cost all the same."""
    plan = deep(small)
    rules = plan.question.rules
    turned = replace(rules, letter_order=rules.letter_order[::-1])
    question = replace(plan.question, rules=turned)
    wrong = replace(plan, spec=replace(plan.spec, question=question))
    found = [searched(Probes(wrong, seed, 6), breaker) for seed in range(300)]
    assert abs(fmean(found) - wanted) <= 4 * stdev(found) / 300**0.5


def test_the_classes_of_4x5_can_be_drawn():
    """2,862,000 of them, from weak to strong."""
    plan = make_plan(RunConfig(dims="4x5", cutoff=6300, workers=0))
    level = Probes(plan, 0).levels[0]
    assert len(level.likely) == plan.question.partition.n_canonical == 2_862_000
    some = [level.unit(place).class_id for place in range(0, 2_862_000, 1000)]
    assert len(set(some)) == len(some)
    place = plan.question.rules.letter_order.index

    def strength(class_id):
        letters = plan.question.partition.class_letters(class_id)
        return fmean(map(place, "".join(letters[cell] for cell in (6, 7, 8, 11, 12, 13))))

    assert strength(some[0]) < strength(some[-1])


def test_an_estimate_is_near_the_truth_and_is_it_when_every_class_is_known(small):
    breaker, ids = Breaker(small.spec), small.question.class_ids().tolist()
    truth = sum(whole_cost(breaker, class_id) for class_id in ids)
    found = [searched(Probes(small, seed, LEAST), breaker) for seed in range(8)]
    assert abs(fmean(found) - truth) <= 4 * stdev(found) / 8**0.5
    some = estimate(small, None, 1, effort, 10**9)
    assert some.n_classes == len(ids)
    assert 1 < some.n_probes <= LEAST
    assert some.high
    assert some.low < some.cpu_hours < some.high
    assert 3600 * some.cpu_hours == pytest.approx(found[1])
    known = estimate(small, 10**6, 0, effort, 10**9)
    assert (known.is_known, known.n_probes) == (True, len(ids))
    assert known.low == known.cpu_hours == known.high == pytest.approx(truth / 3600)


def test_a_class_that_was_split_is_not_known_without_its_parts(small):
    found = estimate(deep(small), None, 0, effort, 0, least=len(small.question.class_ids()))
    assert not found.is_known
    assert found.high
    assert found.low < found.cpu_hours < found.high


def test_a_unit_that_is_interrupted_is_expected_to_be_in_its_middle(small):
    probes = Probes(small, 0, gone=float)
    first, second = probes.next(), probes.next()
    assert first
    assert second
    probes.note(first, (), 3.0)
    probes.give_up(second, 5.0)
    costs = [found.cost for found in probes.levels[0].found.values()]
    assert costs == [3.0, 10.0]
    assert not probes.estimate(0, 0).is_known


def test_parts_that_nobody_looked_at_are_expected_to_cost_what_is_likely(small):
    """All of what is below half of the class, a quarter of it and so on: as much again."""
    probes = Probes(small, 0, 1)
    unit = probes.next()
    assert unit
    letters = small.question.partition.class_letters(unit.class_id)[0]

    def likely(unit):
        return likely_cost(small.question, unit.class_id, unit.path)

    half = likely(unit) / 2
    below = [Unit(unit.class_id, f"0={letters[:k]}") for k in range(1, len(letters))]
    child = min(below, key=lambda child: abs(likely(child) - half))
    probes.note(unit, [child], 6.0)
    found = probes.estimate(0, 0)
    share = likely(child) / likely(unit)
    searched_only = 6.0 / likely(unit)
    whole = sum(likely_costs(small.question, small.question.class_ids()))
    assert 3600 * found.cpu_hours == pytest.approx(whole * searched_only / (1 - share))
    assert found.high is None, "of one probe nothing is known"


def test_without_time_nothing_is_said_of_the_cost(small):
    found = estimate(small, 0)
    assert (found.n_probes, found.low, found.high) == (0, 0, None)


def test_a_plan_and_a_run_that_know_the_same_classes_expect_the_same_of_the_rest(small):
    """Where the likely costs are right, whatever was searched: random classes or the first ones."""
    ids = small.question.class_ids()
    likely = likely_costs(small.question, ids)
    costs = dict(zip(ids.tolist(), (7.0 * likely).tolist(), strict=True))
    probes = Probes(small, 3, least=10)
    known = []
    while unit := probes.next():
        probes.note(unit, (), costs[unit.class_id])
        known.append(unit.class_id)
    planned = 3600 * probes.estimate(0, 0).cpu_hours
    is_known = np.isin(ids, known)
    efforts = 1000 * 7.0 * likely[is_known]
    past = History(likely[is_known], efforts, float(efforts.sum()) / 1000)
    forecast = Forecast(likely[~is_known], past, np.empty(0))
    assert 0 < len(known) < len(ids)
    assert planned == pytest.approx(sum(costs.values()))
    assert forecast.remaining_s() == pytest.approx(planned - sum(costs[x] for x in known))


@pytest.mark.parametrize(
    ("name", "seconds", "least"),
    daily(
        [("3x4", 15, 90), ("3x4", 60, 90), ("deep", 90, 85), ("3x5-enable2k", 600, 88)],
        [("3x4", 300, 90), ("4x4-enable2k", 1200, 88)],
    ),
)
def test_most_intervals_hold_the_truth(name, seconds, least, enable2k):
    case = coverage.CASES[name]
    held = [low <= case.truth <= high for _, low, high in case.intervals(seconds, 100)]
    assert least <= sum(held) <= 100


def test_plan_prints_hours_memory_and_price(orderly):
    options = ("--dims", "2x2", "--cutoff", 12, "--seconds", 100, "--price", 2)
    shown = orderly.done("plan", *options, "--format", "json")
    record = json.loads(shown)
    assert 0 <= record["low"] <= record["cpu_hours"] <= record["high"]
    assert record["price"] == pytest.approx(2 * record["cpu_hours"])
    assert record["memory_mb"] > 50
    assert record["is_known"]
    assert (record["cutoff"], record["cutoff_board"]) == (12, "")
    assert record["hours_of_16_cores"] == record["cpu_hours"] / 16
    shown = orderly("plan", *options).out
    assert "of one core (every class was searched)" in shown
    assert shown.endswith("\ncutoff 12\n")
    assert orderly("plan").code == 2


def test_plan_prints_the_cutoff_that_it_climbed_to_and_the_hours_of_larger_machines(
    orderly, tmp_path
):
    """A list of one's own: nobody knows its best score."""
    path = tmp_path / "mine.txt"
    path.write_text("tea\neat\nate\neta\nrat\ntar\nart\nrate\ntear\n")
    options = ("--dims", "2x2", "--wordlist", path, "--cutoff", "auto")
    shown = orderly("plan", *options).out
    record = json.loads(orderly.done("plan", *options, "--format", "json"))
    board = record["cutoff_board"]
    assert f"cutoff {record['cutoff']}, the score of {board}, which a climb found" in shown
    assert score(board, str(path)) == record["cutoff"]
    assert re.search(r"kept busy: .+ on 1 core, .+ on 16 cores, .+ on 64 cores", shown)


def test_plan_knows_what_a_published_run_took(orderly):
    shown = orderly("plan", "3x3", "--cutoff", 400, "--format", "json")
    record = json.loads(shown.out)
    assert (record["known"], record["is_known"], record["n_probes"]) == ("3x3-scowl70", True, 0)
    assert 0.001 < record["cpu_hours"] < 1
    assert "the run 3x3-scowl70 proves this already: orderly top 3x3-scowl70" in shown.err
    above = orderly("plan", "3x3", "--cutoff", 421, "--seconds", 1, "--format", "json")
    assert not json.loads(above.out)["is_known"]
    hint = "the run 3x3-scowl70, which comes with the program, answers this: "
    assert f"{hint}orderly derive 3x3-scowl70 --cutoff 421" in above.err
    below = orderly("plan", "3x3", "--cutoff", 399, "--seconds", 1)
    assert "3x3-scowl70" not in below.err


def test_the_run_that_answers_a_question_is_the_one_with_the_highest_cutoff(orderly, tmp_path):
    published = open_run("4x4-enable2k").question
    for cutoff, told in (
        (published.cutoff - 1, ""),
        (published.cutoff, "the run 4x4-enable2k proves this already: orderly top 4x4-enable2k"),
        (
            published.cutoff + 20,
            "the run 4x4-enable2k, which comes with the program, answers this: orderly derive "
            f"4x4-enable2k --cutoff {published.cutoff + 20}",
        ),
    ):
        of = replace(published, cutoff=cutoff)
        assert where_answered(of) == told
        elsewhere = " --out run-derived" if "derive" in told else ""
        assert worth_naming(of, "run") == told + elsewhere
    assert not where_answered(replace(published, points=parse_scores("powers").points))
    assert not where_answered(replace(published, words_sha256="0" * 64))
    assert not worth_naming(replace(open_run("3x3-scowl70").question, cutoff=421), "run")
    told = orderly.done("derive", "3x3-scowl70", "--cutoff", 421, "--out", tmp_path / "derived")
    assert "430" in told


def test_the_best_of_a_size_is_known_where_the_search_was_long():
    asked = open_run("3x4-scowl70").question.scored
    assert "cindlatepers, 1,167 points (orderly top 3x4-scowl70)" in best_known(asked)
    assert not best_known(asked._replace(words_sha256="0" * 64))
    assert not best_known(asked._replace(points=parse_scores("powers").points))
    assert not best_known(open_run("3x3-scowl70").question.scored), "that took seconds"


def test_run_names_what_is_answered_before_it_searches(tmp_path, orderly, monkeypatch):
    command = [*COMMAND, "run", "3x4", "--cutoff", "1100", "--workers", "0", "--out", "run"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        assert child.stdout is not None
        told = next(line for line in child.stdout if "orderly derive" in line)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=60)
    asked = re.search(r"orderly (derive 3x4-scowl70 --cutoff 1100 --out \S+)", told)
    assert asked is not None
    monkeypatch.chdir(tmp_path)
    assert "Proven" in orderly.done(*asked[1].split()), "beside the run that was begun"
    assert "wall time of its workers" in orderly("plan", "3x3", "--cutoff", 400).out


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_plan_prints_what_it_has_on_a_signal(number):
    """A real one, to all of a group of processes, as a terminal sends it."""
    command = "from orderly_boggle.cluster.cli.start import main; main()"
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
    assert "Traceback" not in err


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_plan_says_that_a_process_was_ended():
    """As the system does when memory is short."""
    command = [*COMMAND, "plan", "4x4", "--cutoff", "2600", "--seconds", "100000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        assert any(line.startswith("probing random classes") for line in process.stderr)
        probes: set[int] = set()
        while not probes:
            assert process.poll() is None, "it ended before it probed"
            probes = {child for child in descendants(process.pid) if is_probe(child)}
        os.kill(probes.pop(), signal.SIGKILL)
        try:
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, "internal error" in err) == (2, False), err
    assert "out of memory, or a process of this command was ended from outside" in err


def is_probe(process):
    return "spawn_main" in command_line(process)


def test_variants_change_one_thing_each():
    found = list(variants(RunConfig(dims="3x3", cutoff=400, workers=0)))
    assert len({name for name, _ in found}) == len(found) > 8
    (as_it_is, original), *others = found
    assert as_it_is == "as it is"
    for name, plan in others:
        changed = [
            plan.question.partition.text != original.question.partition.text,
            plan.spec.budgets != original.spec.budgets,
            plan.question.rules != original.question.rules,
            plan.question.cell_order != original.question.cell_order,
        ]
        assert sum(changed) == 1, name


def test_tune_prints_a_row_per_variant(orderly, monkeypatch):
    shown = orderly.done("tune", "--dims", "2x2", "--cutoff", 12, "--rounds", 1, "--format", "json")
    rows = json.loads(shown)
    assert rows[0]["variant"] == "as it is"
    assert rows[0]["ratio"] == 1
    assert all(row["low"] <= row["cpu_hours"] <= row["high"] for row in rows)
    assert len(rows) > 3
    monkeypatch.setattr(
        "orderly_boggle.cluster.planning.estimate.variants",
        lambda asked: islice(variants(asked), 2),
    )
    table = orderly("tune", "--dims", "2x2", "--cutoff", 12, "--rounds", 2)
    assert table.out.count("classes") == 2
    assert orderly("tune").code == 2


def test_tune_prints_a_row_of_which_too_little_is_known_for_an_interval(orderly, monkeypatch):
    """As where one class of eight splits, and one of its parts is all that is looked at."""

    def vague(*values, **named):
        return replace(estimate(*values, **named), low=0.0, high=None)

    monkeypatch.setattr("orderly_boggle.cluster.planning.estimate.estimate", vague)
    monkeypatch.setattr(
        "orderly_boggle.cluster.planning.estimate.variants",
        lambda asked: islice(variants(asked), 1),
    )
    assert "h  [too few probes]" in orderly.done("tune", "--dims", "2x2", "--cutoff", 12)


def test_a_folder_at_hand_is_not_taken_for_the_run_that_comes_with_the_program(
    tmp_path, monkeypatch
):
    published = open_run("4x4-enable2k").question
    (tmp_path / "4x4-enable2k").mkdir()
    monkeypatch.chdir(tmp_path)
    assert worth_naming(published, "run") == where_answered(published) != ""
