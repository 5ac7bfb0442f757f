"""Verification of a finished run: what it asks of the scores in the rows."""

from __future__ import annotations

import pytest

from boardclass.errors import MismatchError
from results.proof.claim import Question, read_claim
from results.proof.verify import verify
from results.store.run import open_run
from tests.results.damage import make_run, verified
from tests.results.helpers import ToyScorer


class OneMore(ToyScorer):
    """Disagrees about every board."""

    def scores(self, boards):
        return super().scores(boards) + 1


@pytest.mark.parametrize("doubter", ["production scorer", "independent scorer"])
def test_each_of_the_two_scorers_is_listened_to(tmp_path, doubter):
    location = make_run(tmp_path / "run")
    before = read_claim(open_run(location))
    scorers = {"production scorer": ToyScorer(), "independent scorer": ToyScorer(), doubter: OneMore()}
    with pytest.raises(MismatchError, match="class"):
        verify(open_run(location), *scorers.values(), Question("toy", 1, "custom"))
    assert read_claim(open_run(location)) == before, "nothing is claimed anew"
    assert verified(location)
