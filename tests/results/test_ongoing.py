"""Runs under way that are in the repository: sound, small, and resumed from a copy without any loss."""

from __future__ import annotations

import json
import shutil

import pytest

from boardclass.canonical import canonical_board
from boardclass.errors import InputError
from boardclass.partition import parse_partition
from cluster.cli.ask import read_boards
from results.proof.coverage import check_coverage
from results.proof.prove import boards, summary
from results.storage import files
from results.store.rows import SPLIT
from results.store.run import open_run
from results.store.store import Store
from tests.bench import strata
from tests.bench.figures import A_PUSH, A_TERM, newest_prices
from tests.conftest import ROOT

FOLDER = ROOT / "results" / "ongoing"
RUNS = sorted(path.parent.name for path in FOLDER.glob(f"*/{files.RUN}"))


@pytest.mark.parametrize("name", RUNS)
def test_its_rows_fit_together_and_it_is_said_to_prove_nothing(name, orderly):
    run = open_run(FOLDER / name)
    coverage = check_coverage(run)
    assert (coverage.problems.n, coverage.conflicting.n) == (0, 0), coverage.message()
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


def test_the_table_by_stratum_adds_up_to_the_whole_run(capsys):
    published = ROOT / "results" / "published" / "3x3-scowl70"
    assert strata.main(["3x3", str(published), "--prices", "123", "66"]) == 0
    first, *lines, last = capsys.readouterr().out.splitlines()
    assert first == "prices: 123 ns a term, 66 ns a push (as asked for)"
    counts = [[int(part.split()[0]) for part in line.split(":")[0].split(", ")] for line in lines]
    assert [sum(column) for column in zip(*counts, strict=True)] == [26, 26]
    rows = list(open_run(published).rows())
    hours = sum(123 * row.counters["n_terms"] + 66 * row.counters["n_pushes"] for row in rows) / 3600e9
    assert last == f"all: {hours:.3g} h of one core at the prices, 0 h of them left"


def test_the_prices_are_those_measured_last(tmp_path):
    history = tmp_path / "benchmarks.jsonl"
    with pytest.raises(InputError, match="--only prices"):
        newest_prices(history)
    about = {"processor": "P", "commit": "abc", "time": "2026-11-25T12:00:00+00:00"}
    prices = [(A_TERM, 200), (A_PUSH, 90), ("3x3", 5), (A_TERM, 100), (A_PUSH, 40)]
    history.write_text("".join(json.dumps({**about, "figure": name, "value": ns}) + "\n" for name, ns in prices))
    assert newest_prices(history) == (100, 40, "P, commit abc, 2026-11-25")
