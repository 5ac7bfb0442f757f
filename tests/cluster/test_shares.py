"""``run --share K/N``: shares are apart and together all classes, one alone proves nothing, what is
said is true.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from orderly_boggle.boardclass.errors import ConfigError
from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.cluster.driver.journal import Journal
from orderly_boggle.cluster.driver.progress import format_report
from orderly_boggle.cluster.planning.plan import make_plan
from orderly_boggle.cluster.planning.shares import Share, parse_share
from orderly_boggle.configs.model import load_config
from orderly_boggle.results.proof.coverage import check_coverage
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.rows import QUARANTINED, Row
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.search.costs import predicted_costs
from tests.cluster.fakes import REPORT
from tests.cluster.small import CUT_UP, SMALL, config
from tests.results.helpers import write_rows


def options(folder, *more):
    named = [f"--{name}={value}" for name, value in SMALL.items()]
    return ("run", *named, "--out", folder, *more)


def test_shares_are_apart_together_all_classes_equally_dear_and_dealt_as_ever(tmp_path):
    """Shares that different versions deal out have to be the same, or classes are searched twice or
    by nobody.

    The classes and predictions are those of 4x4-enable2k, whatever the word list.
    """
    tiny = make_plan(config(tmp_path))
    large = make_plan(load_config("4x4", {"cutoff": 3600, "out": str(tmp_path)}))
    for plan, n_shares in (
        (tiny, 1),
        (tiny, len(tiny.question.class_ids())),
        (large, 2),
        (large, 5),
    ):
        dealt = [Share(number, n_shares).of(plan.question) for number in range(1, n_shares + 1)]
        assert sorted(np.concatenate(dealt).tolist()) == plan.question.class_ids().tolist()
        assert max(map(len, dealt)) - min(map(len, dealt)) <= 1
    costs = [predicted_costs(plan.question, ids).sum() for ids in dealt]
    assert max(costs) < 1.05 * min(costs)
    found = hashlib.sha256(json.dumps([ids.tolist() for ids in dealt]).encode()).hexdigest()
    assert found == "ad7181dd1dbf1afb3b775338e7cd11dadd13107857ddaaadcb2d9214d52c0e22"


def test_a_share_does_not_depend_on_the_machine_or_on_what_is_stored(tmp_path):
    shard = [
        Share(1, 3).of(make_plan(config(tmp_path / "a", seed=seed)).question).tolist()
        for seed in (0, 7)
    ]
    run(config(tmp_path / "a"), share=Share(2, 3))
    assert (
        shard[0] == shard[1] == Share(1, 3).of(make_plan(config(tmp_path / "a")).question).tolist()
    )


@pytest.mark.parametrize(
    "text", ["0/3", "4/3", "3", "1/", "-1/3", "1/0", "1/3/5", "a/b", "", "1.0/3", "²/3"]
)
def test_what_names_no_share_is_refused(text):
    with pytest.raises(ConfigError, match="expected K/N"):
        parse_share(text)


def test_what_is_no_share_of_the_run_is_refused_before_anything_is_written(orderly, tmp_path):
    answer = orderly.fails(2, *options(tmp_path / "run", "--share=1/1000"))
    assert "expected at most" in answer
    assert not (tmp_path / "run").exists()


def test_a_share_says_that_nothing_is_proven_and_the_last_one_of_the_directory_proves(
    orderly, tmp_path, small_runs
):
    folder = tmp_path / "run"
    answer = orderly(*options(folder, "--share", "2/3"))
    assert answer.code == 0, answer.err
    assert answer.out.startswith("Not proven.")
    assert "share 2/3 is done" in answer.out
    assert "belong to the other shares: " in answer.out
    mine = Share(2, 3).of(make_plan(config(folder)).question).tolist()
    assert f" board classes, {len(mine)} of them are share 2/3, 1 worker" in answer.err
    assert sorted(row.class_id for row in open_run(folder).rows()) == mine
    assert not (folder / files.CLAIM).exists()
    assert orderly("verify", folder).code == 4
    record = orderly.json("status", folder)
    assert (record["state"], record["n_classes_done"], record["statement"]) == (
        "incomplete",
        len(mine),
        None,
    )
    assert record["n_classes_left"] == record["n_classes"] - len(mine) > 0
    assert "share 2/3 is done" in record["ended"]
    listed = orderly("top", folder)
    assert (listed.code, "found so far, not proven" in listed.err) == (4, True)
    assert open_run(folder).made.share == "2/3"
    events = [json.loads(line) for line in (folder / files.EVENTS).read_text().splitlines()]
    assert {e["share"] for e in events if e["event"] in ("started", "progress")} == {"2/3"}
    assert "0 verdicts computed" in orderly.done(*options(folder, "--share", "2/3"))
    assert orderly(*options(folder, "--share", "1/3")).out.startswith("Not proven.")
    assert "Proven." in orderly.done(*options(folder, "--share", "3/3"))
    assert run(config(folder)).digest == run(config(small_runs / "whole")).digest
    orderly.done("verify", folder)


def test_what_is_shown_of_a_share_under_way_is_said_to_be_of_the_share(orderly, tmp_path):
    folder = tmp_path / "run"
    run(config(folder), share=Share(2, 3))
    whole = make_plan(config(folder))
    n_all, n_own = len(whole.question.class_ids()), len(Share(2, 3).of(whole.question))
    report = replace(
        REPORT,
        n_classes=n_all,
        n_classes_done=2,
        n_open=5,
        best_score=None,
        n_deaths=0,
        elapsed_s=10.0,
        remaining_s=25.0,
        share="2/3",
        n_own=n_own,
        n_own_done=1,
        elsewhere_s=7200.0,
    )
    assert f"2/{n_all} classes" in format_report(report)
    assert f", 1/{n_own} of share 2/3, " in format_report(report)
    assert "about 25 s left of share 2/3" in format_report(report)
    assert format_report(replace(report, n_open=0)).endswith("all of share 2/3 done")
    found = open_run(folder)
    with Store.open(folder, found.question), Journal(found.folder) as journal:
        journal.report(report, now=True)
        record = orderly.json("status", folder)
        told = " ".join(orderly("status", folder).out.split())
    assert (record["state"], record["share"], record["n_classes"]) == ("running", "2/3", n_all)
    assert f"about 25 s for share 2/3, 1 of its {n_own} classes done, " in told
    assert "2.0 processor hours for the other shares" in told


def test_parts_of_classes_stay_with_the_share_of_their_class(tmp_path, small_runs):
    """What splits left over in another share's classes is not searched; what they left over in the
    share's own is.
    """
    folder = tmp_path / "run"
    rows = list(open_run(small_runs / "cut_up").rows())
    plan = make_plan(config(folder, **CUT_UP))
    split = sorted({row.class_id for row in rows if row.status == "split" and not row.path})
    mine = set(Share(1, 2).of(plan.question).tolist())
    assert mine.intersection(split)
    assert set(split) - mine
    write_rows(
        folder,
        [row for row in rows if row.class_id in split and not row.path],
        plan.question,
        plan.made,
    )
    outcome = run(config(folder, **CUT_UP), share=Share(1, 2))
    assert outcome.share_done
    found = open_run(folder)
    assert {row.class_id for row in found.rows() if row.path} <= mine
    assert {class_id for class_id, _ in found.index.pending()} == set(split) - mine


def test_a_share_is_not_done_while_parts_of_its_classes_are_open(tmp_path, small_runs):
    rows = [row for row in open_run(small_runs / "cut_up").rows() if not row.path]
    plan = make_plan(config(tmp_path / "run", **CUT_UP))
    with Store.open(tmp_path / "run", plan.question, plan.made) as store:
        store.append(rows)
        store.flush()
        told, done = Share(1, 1).judge(
            plan.question.class_ids(), store, check_coverage(store.snapshot()), "", []
        )
    n_split = sum(row.status == "split" for row in rows)
    assert not done
    assert told.startswith(f"share 1/1 is not done: {n_split} of its")


@pytest.mark.parametrize("fault", ["problems", "conflicting", "message"])
def test_a_share_of_a_run_with_a_fault_is_not_done(fault, tmp_path, small_runs):
    folder = shutil.copytree(small_runs / "whole", tmp_path / "run")
    share, found = Share(1, 2), open_run(folder)
    own_ids = share.of(make_plan(config(folder)).question)
    with Store.open(folder, found.question) as store:
        coverage = check_coverage(store.snapshot())
        assert share.judge(own_ids, store, coverage, "", [])[1]
        faulty = coverage if fault == "message" else replace(coverage, **{fault: ["class 3"]})
        told, done = share.judge(own_ids, store, faulty, "class 3" * (fault == "message"), [])
    assert not done
    assert "class 3" in told


def test_a_share_with_a_doubted_host_elsewhere_does_not_let_the_run_be_proven(tmp_path, small_runs):
    """All classes have a verdict, but those of a host that is not believed are found again by their
    own share only.
    """
    folder = shutil.copytree(small_runs / "whole", tmp_path / "run")
    (folder / files.CLAIM).unlink()
    found = open_run(folder)
    host = next(found.rows()).host
    with Store.open(folder, found.question) as store:
        key = next(found.rows()).key
        doubt = Row(found.question.digest, *key, QUARANTINED, 0, host=host, message="contradicted")
        store.append([doubt])
    first = run(config(folder), share=Share(1, 2))
    assert (first.complete, first.share_done) == (False, True)
    assert "verdicts in other shares come from doubted hosts" in first.message
    assert run(config(folder), share=Share(2, 2)).complete
