"""``run --extend``: the answer at another cutoff is that of a search from scratch, with less work where it is safe."""

from __future__ import annotations

import json
import re

import pytest

from cluster.driver.driver import run
from configs.model import RunConfig
from results.store.run import open_run
from tests.samples import daily

SMALL = ("--dims", "2x3", "--buckets", "aeiou bcdfg hjklmnp qrstvwxyz", "--workers", "0")
MIDDLE = 60


@pytest.fixture(scope="module")
def digests(tmp_path_factory):
    """Return the directory of a run at a cutoff, searched from scratch, and its digest; each is made once."""
    folder = tmp_path_factory.mktemp("scratch")
    known = {}

    def at(cutoff):
        if cutoff not in known:
            out = str(folder / str(cutoff))
            config = RunConfig(dims="2x3", buckets=SMALL[3], cutoff=cutoff, out=out, workers=0)
            known[cutoff] = out, run(config).digest
        return known[cutoff]

    return at


@pytest.mark.slow
@pytest.mark.parametrize("cutoff", daily([40, MIDDLE - 1, 75], lambda cutoff: cutoff == MIDDLE - 1))
def test_the_answer_is_that_of_a_search_from_scratch(orderly, digests, tmp_path, cutoff):
    source, _ = digests(MIDDLE)
    command = ("run", *SMALL, "--cutoff", cutoff, "--out", tmp_path / "out", "--extend", source)
    answer = orderly(*command)
    assert answer.code == 0, answer.err
    told = re.search(rf"reused ([\d,]+) of ([\d,]+) verdicts of {source} \(cutoff {MIDDLE}\)", answer.err)
    assert told is not None, answer.err
    n_reused, n_verdicts = (int(number.replace(",", "")) for number in told.groups())
    assert n_verdicts == len(list(open_run(source).rows()))
    computed = re.search(r"([\d,]+) verdicts computed", answer.out)
    assert computed is not None
    if cutoff > MIDDLE:
        assert (n_reused, computed[1]) == (n_verdicts, "0")
    else:
        assert int(computed[1].replace(",", "")) == n_verdicts - n_reused > 0
        assert "do not hold at the new cutoff and are searched again" in answer.err
    record = json.loads(orderly("status", tmp_path / "out", "--format", "json").out)
    assert (record["state"], record["digest"]) == ("proven", digests(cutoff)[1])
    again = orderly(*command)
    assert again.code == 0
    assert "0 verdicts computed" in again.out
    assert orderly("verify", tmp_path / "out").code == 0


def test_another_question_is_not_extended(orderly, digests, tmp_path):
    source, _ = digests(MIDDLE)
    other = ("--dims", "2x3", "--cutoff", 70, "--workers", "0", "--out", tmp_path / "out", "--extend", source)
    answer = orderly("run", *other)
    assert (answer.code, answer.out) == (3, "")
    assert "partition: asked for" in answer.err
    assert not (tmp_path / "out").exists(), "nothing is written"
    assert orderly("run", *SMALL, "--cutoff", 70, "--extend", tmp_path / "none", "--out", tmp_path / "out").code == 3
    hint = orderly("run", *SMALL, "--cutoff", 70, "--out", source)
    assert hint.code == 3
    assert "cutoff: asked for 70, stored 60" in hint.err
    assert "--extend" in hint.err
