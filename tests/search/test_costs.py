"""What units cost that nobody searched, from those that were."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from orderly_boggle.search.costs import Measured, Variance, interval, log_interval, student


@pytest.fixture
def units():
    rng = np.random.default_rng(4)
    likely = rng.uniform(1, 9, 50)
    return likely, 3 * likely + rng.normal(0, 2, 50)


def test_sums_tell_what_the_units_would(units):
    """One by one, all at once, or in two halves."""
    likely, costs = units
    each, halves = Measured(), [Measured(), Measured()]
    for pair in zip(likely.tolist(), costs.tolist(), strict=True):
        each.note(*pair)
    for half, part in zip(halves, (slice(20), slice(20, 50)), strict=True):
        half.note_all(likely[part], costs[part])
    ratio = costs.sum() / likely.sum()
    residues = ((costs - ratio * likely) ** 2).sum() / 49
    for measured in (each, halves[0] + halves[1]):
        cost, variance = measured.of(200.0, 30)
        assert measured.ratio == pytest.approx(ratio)
        assert cost == pytest.approx(200 * ratio)
        wanted = residues * (30 + 50 * (200 / likely.sum()) ** 2)
        assert variance == pytest.approx((wanted, 49))


def test_a_unit_that_counts_twice_is_two(units):
    once, twice = Measured(), Measured()
    for likely, cost in zip(*map(list, units), strict=True):
        once.note(likely, cost, 2.0)
        twice.note(likely, cost)
        twice.note(likely, cost)
    cost, variance = twice.of(9.0, 4)
    assert once.of(9.0, 4)[0] == pytest.approx(cost)
    assert once.of(9.0, 4)[1] == pytest.approx(variance)


def test_what_fades_loses_weight_and_not_its_ratio(units):
    measured = Measured()
    measured.note_all(*units)
    before = measured.ratio
    measured.fade(0.5)
    assert measured.n == 25
    assert measured.ratio == pytest.approx(before)
    for _ in range(200):
        measured.fade(0.5)
        measured.note(1.0, 8.0)
    assert measured.ratio == pytest.approx(8.0)


def test_of_nothing_nothing_is_told():
    cost, variance = Measured().of(5.0, 2)
    assert cost == 0
    assert interval(cost, [variance]) == (0, inf)


def test_a_cost_is_in_its_interval_as_often_as_it_says():
    """Of a hundred units of the same likely cost, twenty of which are measured."""
    rng = np.random.default_rng(7)
    n_held = 0
    for _ in range(400):
        costs = rng.lognormal(0, 0.7, 100)
        measured = Measured()
        measured.note_all(np.ones(20), costs[:20])
        cost, variance = measured.of(80.0, 80)
        low, high = interval(cost, [variance])
        n_held += low < costs[20:].sum() < high
    assert 366 <= n_held <= 394  # 95 % are 380


def test_an_interval_that_says_next_to_nothing_is_none():
    low, high = log_interval(1.0, 1e9)
    assert 0 <= low < 1 < high
    assert interval(1.0, [Variance(1e9, 5)]) == (0, inf)
    assert interval(1.0, [Variance(0.0, 5)]) == (0, inf), "nothing is known of how it varies"


@pytest.mark.parametrize(
    ("freedom", "wanted"), [(2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042)]
)
def test_student(freedom, wanted):
    assert student(freedom) == pytest.approx(wanted, rel=0.01)
