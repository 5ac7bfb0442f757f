"""Runs that were stored before ``run.json`` had its second format: read, checked and continued as
before.

``tests/golden/format-1-runs.tar.xz`` has six, 2x2 with scowl70: ``plain``; ``climbed`` to its
cutoff; ``every``, by the rule of demands of the oldest runs; ``fused``, with classes too wide for a
key of two cells; ``extended`` from ``plain``; and ``share``, the second of three.
"""

from __future__ import annotations

import json
import tarfile
from dataclasses import replace
from typing import Any

import pytest

from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.configs.model import RunConfig
from orderly_boggle.results.errors import DamagedError, FingerprintError
from orderly_boggle.results.proof import audit
from orderly_boggle.results.proof.claim import read_claim
from orderly_boggle.results.proof.prove import summary
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.documents import format_document
from orderly_boggle.results.store.made import EVERYTHING, Climbed
from orderly_boggle.results.store.run import open_run
from orderly_boggle.search.params import Budgets, Rules
from tests.conftest import ROOT

WHOLE = ("plain", "climbed", "every", "fused", "extended")
GROUPS = ["abcdefghijklm", "nopqrstuvwxyz"]
SEARCH: dict[str, dict[str, Any]] = {
    "every": {"demands": "every"},
    "fused": {"max_free": 2, "coarse_groups": GROUPS, "unit_budget": 1, "node_budget": 1},
}


@pytest.fixture
def stored(tmp_path):
    with tarfile.open(ROOT / "tests/golden/format-1-runs.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def config(folder, **changes):
    document = json.loads((folder / files.RUN).read_text())
    asked = document["info"]["config"] if "info" in document else {}
    known = {name: value for name, value in asked.items() if name != "search"}
    return RunConfig.model_validate(
        {**known, "search": SEARCH.get(folder.name, {}), "out": str(folder), **changes}
    )


@pytest.mark.parametrize("name", WHOLE)
def test_what_was_asked_and_how_it_was_made(stored, name):
    folder = stored / name
    document = json.loads((folder / files.RUN).read_text())
    old, info = document["fingerprint"], document["info"]
    read = open_run(folder)
    asked, made = read.question, read.made
    assert document["format"] == 1
    assert [asked.dims, asked.words_sha256, asked.buckets] == [
        old["dims"],
        old["wordlist_sha256"],
        old["partition"],
    ]
    assert (asked.cutoff, list(asked.points)) == (old["cutoff"], old["scores"])
    assert list(asked.cell_order) == old["cell_order"]
    assert asked.digest == audit.RunQuestion(audit.identity(document), "").digest
    assert {row.fingerprint for row in read.rows()} == {asked.digest}
    for rule, value in info["structure"].items():
        assert getattr(asked.rules, rule) == (tuple(value) if isinstance(value, list) else value)
    assert (asked.rules.demands == "every") == (name == "every")
    assert (asked.n_fused_first > 0) == (name == "fused")
    words = load_wordlist("scowl70")
    told = made.words
    assert (told.name, told.source, told.n_words) == (words.name, words.name, len(words))
    assert told.left_out == words.counts
    budgets = {k: v for k, v in SEARCH.get(name, {}).items() if k in vars(Budgets())}
    assert made.budgets == Budgets(**budgets)
    assert (made.versions, made.kernel_hash) == (info["versions"], info["kernel_hash"])
    assert (made.covers, made.share, made.scores) == (EVERYTHING, "", "standard")
    assert json.loads(made.config) == info["config"]
    assert (made.climbed is not None) == (name == "climbed")
    assert made.climbed is None or made.climbed == Climbed(**info["climbed"])
    assert (made.extends is not None) == (name == "extended")
    assert made.extends is None or made.extends.cutoff == 13


@pytest.mark.parametrize("name", WHOLE)
def test_it_proves_what_it_proved_and_goes_on(stored, name):
    folder = stored / name
    before = (folder / files.RUN).read_bytes()
    claimed = json.loads((folder / files.CLAIM).read_text())
    proof = summary(folder)
    assert (proof.state, proof.notes) == ("proven", ())
    # of bounds that were taken over, a claim said that nobody computed them again
    statement = claimed["statement"].replace(
        "a run at cutoff 13 gave and nobody computed again",
        "this run took over from one at cutoff 13",
    )
    assert (proof.statement, proof.result_digest) == (
        statement,
        claimed["result_digest"],
    )
    claim = read_claim(open_run(folder))
    assert claim is not None
    assert claim.question == proof.question
    again = run(config(folder))
    assert (again.complete, again.n_computed) == (True, 0)
    assert again.digest == claimed["result_digest"]
    assert (folder / files.RUN).read_bytes() == before
    assert json.loads((folder / files.CLAIM).read_text())["format"] == 2
    # it is written anew, in the words of today
    assert read_claim(open_run(folder)) == replace(claim, statement=statement)


def test_a_share_is_finished_and_another_run_takes_verdicts_over(stored):
    whole = json.loads((stored / "plain" / files.CLAIM).read_text())["result_digest"]
    assert open_run(stored / "share").made.share == "2/3"
    finished = run(config(stored / "share"))
    assert (finished.complete, finished.digest) == (True, whole)
    taken = run(
        config(stored / "plain", out=str(stored / "new"), cutoff=14), extends=str(stored / "plain")
    )
    assert (taken.complete, taken.n_computed) == (True, 0)
    made = open_run(stored / "new").made
    assert made.extends is not None
    assert (made.extends.cutoff, made.covers) == (13, EVERYTHING)
    assert json.loads((stored / "new" / files.RUN).read_text())["format"] == 2


def test_other_rules_are_refused(stored):
    """Each of them may say nothing of a rule: the oldest did not."""
    for name, search, said in (
        ("plain", {"demands": "every"}, "demands: asked for 'every', stored 'open'"),
        ("every", {"demands": "open"}, "demands: asked for 'open', stored 'every'"),
        ("fused", {**SEARCH["fused"], "max_free": 3}, "max_free: asked for 3, stored 2"),
        ("plain", {"max_free": 2}, "max_free: asked for 2, stored 12"),
    ):
        with pytest.raises(FingerprintError, match=said):
            run(config(stored / name, search=search))
    folder = stored / "plain"
    resealed(folder, lambda info: info["structure"].pop("demands"))
    assert open_run(folder).question.rules.demands == "every"
    resealed(folder, lambda info: info.pop("config"))
    resealed(folder, lambda info: info.pop("structure"))
    assert open_run(folder).question.rules == Rules(demands="every", coarse_groups=())


def resealed(folder, change):
    document = json.loads((folder / files.RUN).read_text())
    del document["sha256"]
    change(document["info"])
    (folder / files.RUN).write_bytes(format_document(document))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda info: info.update(wordlist=[]), "info.wordlist is []"),
        (lambda info: info["structure"].update(unfuse_parts="x"), "unfuse_parts is 'x'"),
        (lambda info: info["structure"].update(unfuse_parts=1), "unfuse_parts is 1"),
        (lambda info: info["structure"].update(fused=["rim"]), "fused"),
        (lambda info: info["structure"].update(fusing=3), "no search has the rule 'fusing'"),
        (lambda info: info["config"]["search"].update(unit_budget="all"), "unit_budget is 'all'"),
        (lambda info: info.update(climbed={"board": 7}), "info.climbed.board is 7"),
    ],
)
def test_nonsense_is_told(stored, change, said):
    resealed(stored / "plain", change)
    with pytest.raises(DamagedError) as caught:
        open_run(stored / "plain")
    assert said in str(caught.value)
