"""What ``make nightly`` does at full size, small enough for every day."""

from __future__ import annotations

import pytest

from tests.samples import daily
from tests.soundness import enumerations
from tests.soundness.planted import KINDS, OTHER_SCORES, planted


def test_planted_winners_are_returned():
    kinds = [kind for kind in KINDS if kind.dims == "3x3"][1:]
    found = [each for kind in kinds for each in planted(2, "scowl70", seed=1, kinds=[kind])]
    assert [fault for _, fault in found if fault] == []
    assert len(found) == 6


@pytest.mark.parametrize("number", daily(range(len(OTHER_SCORES)), lambda number: OTHER_SCORES[number].dims == "3x4"))
def test_planted_winners_of_other_score_tables_are_returned(number):
    kind = OTHER_SCORES[number]
    assert [fault for _, fault in planted(5, "scowl70", seed=1, kinds=[kind]) if fault] == []


def test_no_bound_of_a_2x2_class_is_below_a_score():
    checks = list(next(enumerations.run(small=True, wordlist="scowl70", seed=1))[1])
    assert len(checks) > 200
    assert all(holds for _, _, holds in checks)
