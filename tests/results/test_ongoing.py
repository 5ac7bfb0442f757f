"""Runs under way that are in the repository: sound, small, and resumed from a copy without any loss."""

from __future__ import annotations

import shutil

import pytest

from boardclass.canonical import canonical_board
from boardclass.partition import parse_partition
from cluster.cli.ask import read_boards
from results.proof.coverage import check_coverage
from results.proof.prove import boards, summary
from results.storage import files
from results.store.rows import SPLIT
from results.store.run import open_run
from results.store.store import Store
from tests.conftest import ROOT

FOLDER = ROOT / "results" / "ongoing"
RUNS = sorted(path.parent.name for path in FOLDER.glob(f"*/{files.RUN}"))


@pytest.mark.parametrize("name", RUNS)
def test_its_rows_fit_together_and_it_is_said_to_prove_nothing(name, orderly):
    run = open_run(FOLDER / name)
    coverage = check_coverage(run)
    assert coverage.problems == coverage.conflicting == [], coverage.message()
    assert not coverage.complete, "move it to results/published"
    assert not summary(run).proven
    assert orderly("status", FOLDER / name).code == 0
    answer = orderly("top", FOLDER / name)
    assert (answer.code, "found so far, not proven" in answer.err) == (4, True)


@pytest.mark.parametrize("name", RUNS)
def test_it_found_the_published_boards_of_the_classes_it_has_searched_and_no_others(name, golden):
    published = golden / f"best-{name}-3500.txt"
    if not published.exists():
        pytest.skip(f"nobody has published boards for {name}")
    run = open_run(FOLDER / name)
    partition = parse_partition(run.fingerprint.partition, run.fingerprint.dims)
    searched = {row.class_id for row in run.rows() if row.is_verdict and not row.path and row.status != SPLIT}
    cutoff = run.fingerprint.cutoff
    listed = {x for x in read_boards(str(published), partition.geometry).items() if (x[1] or 0) >= cutoff}
    expected = {x for x in listed if partition.canonical_rank(partition.rank_of_board(x[0])) in searched}
    found = {(canonical_board(x.board, partition.geometry), x.score) for x in boards(run)}
    assert expected, "no class with a published board is searched: nothing was compared"
    assert expected <= found <= listed


@pytest.mark.parametrize("name", RUNS)
def test_a_copy_is_resumed_with_all_that_is_there(name, tmp_path):
    copy = shutil.copytree(FOLDER / name, tmp_path / name)
    before = open_run(FOLDER / name)
    rows = list(before.rows())
    with Store.open(copy, before.fingerprint) as store:
        assert store.index.places.keys() == {row.key for row in rows if row.is_verdict}
    assert list(open_run(copy).rows()) == rows
