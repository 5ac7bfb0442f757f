"""``orderly run`` looks at a stored run once before it takes the lock, and once after; in the
end it looks whether run.json is still there.
"""

from __future__ import annotations

import pytest

from tests.bench.house import watched
from tests.cluster.small import SMALL


@pytest.mark.parametrize("cutoff", [12, "auto"])
def test_a_run_that_goes_on_reads_its_question_twice_and_walks_once(tmp_path, cutoff):
    options = SMALL | {"cutoff": cutoff}
    first = watched(tmp_path / "run", options)
    assert first[0] <= 2
    assert watched(tmp_path / "run", options) == [2, 1, 0]


def test_a_run_that_takes_verdicts_over_reads_the_other_once(tmp_path):
    watched(tmp_path / "run", SMALL)
    options = SMALL | {"cutoff": 13}
    more = {"extends": str(tmp_path / "run")}
    watched(tmp_path / "more", options, **more)
    assert watched(tmp_path / "more", options, **more) == [3, 1, 0]
