"""From rows to claim, on a run like real ones: boards in several parts and rows, deep splits, hosts
in doubt.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from unittest import mock

import pytest

from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.cluster.driver.loop import Ledger
from orderly_boggle.cluster.scheduling.events import Quarantine
from orderly_boggle.configs.model import load_config
from orderly_boggle.results.errors import ConflictError
from orderly_boggle.results.proof.claim import unscored_boards
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.store import rows as rows_module, run as run_module
from orderly_boggle.results.store.rows import QUARANTINED, SPLIT, Row
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.results.upkeep.extend import reusable
from orderly_boggle.search.breaker import Unit
from tests.cluster.whole_run import depth, is_proven, store_rows, verified
from tests.results.crosscheck import boards_by_sql
from tests.results.helpers import write_rows


@pytest.fixture(scope="module")
def rows(whole):
    return list(open_run(whole).rows())


@pytest.fixture
def written(whole, tmp_path):
    """Write a run like the whole one, of other rows."""

    def write(changed, name="run"):
        return store_rows(tmp_path / name, open_run(whole), changed)

    return write


def test_the_run_has_what_real_runs_have(whole, rows):
    assert {depth(row) for row in rows if row.status == SPLIT} == {0, 1, 2, 3}
    assert sum(len(row.candidates) > 1 for row in rows) >= 5
    assert any(row.settled for row in rows)
    assert any(row.candidates for row in rows if row.status == SPLIT)
    run = open_run(whole)
    assert len(run.index.with_candidates) >= 3
    assert is_proven(whole)
    found = verified(whole)
    assert found.claim.n_candidates == sum(len(row.candidates) for row in rows)
    assert found.notes == ()
    listed = {(board, score, row.class_id) for row in rows for board, score in row.candidates}
    assert set(run.candidates()) == listed
    assert any(len(set(board)) > 3 for board, _, _ in listed)


# ---- the boards a second way


def test_what_is_stored_twice_counts_once_and_dropped_parts_do_not_count(rows, whole, tmp_path):
    """Equal verdicts in two parts, as a store that lost sight of them would leave them."""
    folder = store_rows(tmp_path / "run", open_run(whole), rows)
    again = store_rows(tmp_path / "again", open_run(whole), [row for row in rows if row.candidates])
    n_parts = len(open_run(folder).manifest.parts)
    with (folder / files.MANIFEST).open("a") as manifest:
        for number, part in enumerate(open_run(again).manifest.parts, n_parts + 1):
            name = files.part_name(files.RESULTS, number)
            shutil.copy(again / part.name, folder / name)
            manifest.write(replace(part, name=name).format() + "\n")
    run = open_run(folder)
    assert run.index.repeated
    assert boards_by_sql(run) == unscored_boards(run) == unscored_boards(open_run(whole))
    assert verified(folder).claim == replace(
        verified(whole).claim, statistics=verified(folder).claim.statistics
    )
    with (folder / files.MANIFEST).open("a") as manifest:
        with_boards = [
            part for part in run.manifest.parts if part.number in run.index.with_candidates
        ]
        for part in (with_boards[0], *run.manifest.parts[n_parts:]):
            manifest.write(replace(part, dropped=True).format() + "\n")
    run = open_run(folder)
    assert boards_by_sql(run) == unscored_boards(run)
    assert boards_by_sql(run).n_candidates < unscored_boards(open_run(whole)).n_candidates


# ---- hosts in doubt


def doubt(row, *hosts):
    """Return the rows that a contradicted replica of a unit leaves, one for each host."""
    return [
        Row(row.fingerprint, *row.key, QUARANTINED, 0, host=host, message="they differ")
        for host in hosts
    ]


def add(folder, rows):
    write_rows(folder, rows, open_run(folder).question)
    return open_run(folder)


@pytest.fixture(scope="module")
def shared(rows):
    """The rows as if three hosts had shared the work."""
    return [replace(row, host="abc"[i % 3]) for i, row in enumerate(rows)]


def of(rows, *hosts):
    return sorted(row.key for row in rows if row.host in hosts)


def test_a_contradiction_leaves_a_row_for_each_host(whole, rows, tmp_path):
    folder = shutil.copytree(whole, tmp_path / "run")
    print_of = open_run(folder).question
    with Store.open(folder, print_of) as store:
        Ledger(store, print_of).publish(
            [Quarantine(Unit(*rows[0].key), 2, "they differ", ("a", "b"))]
        )
    assert open_run(folder).index.doubted_hosts == {"a", "b"}


def test_what_was_found_again_is_not_in_doubt_any_more(shared, written):
    theirs = [row for row in shared if row.host in "ab"]
    folder = written([*shared, *doubt(shared[0], "a", "b")])
    assert open_run(folder).index.doubted_hosts == {"a", "b"}
    assert open_run(folder).doubted == of(shared, "a", "b")
    run = add(folder, [replace(row, host="c") for row in theirs[:-2]])
    assert run.doubted == sorted(row.key for row in theirs[-2:])
    assert not is_proven(folder)
    # later, which is all that a single machine can do
    run = add(folder, [replace(row, host="a") for row in theirs])
    hosts = [row.host for row in run.rows()]
    assert set(hosts) == {*"abc", "a (2)"}
    assert hosts.count("a (2)") == 2, "what is not in doubt is not stored again"
    assert run.doubted == []
    assert verified(folder).claim.n_units == len(shared)


def test_a_host_that_is_doubted_again_loses_what_it_found_since(shared, written):
    folder = written([*shared, *doubt(shared[0], "a")])
    assert add(folder, [row for row in shared if row.host == "a"]).doubted == []
    run = add(folder, doubt(shared[0], "a"))
    assert run.doubted == of(shared, "a")
    assert run.index.doubted_hosts == {"a", "a (2)"}


def test_verdicts_in_doubt_are_not_taken_over_and_contradicting_them_stops_the_store(
    shared, written
):
    plain = {row.key for row in reusable(open_run(written(shared, "plain")), 5)}
    assert plain == {row.key for row in shared}
    folder = written([*shared, *doubt(shared[0], "a", "b")])
    taken = {row.key for row in reusable(open_run(folder), 5)}
    assert taken
    assert not taken & set(of(shared, "a", "b"))
    row = next(row for row in shared if len(row.candidates) > 1 and row.host in "ab")
    with pytest.raises(ConflictError, match="has different verdicts"):
        add(folder, [replace(row, candidates=row.candidates[1:], host="d")])


# ---- what a row costs


def test_a_row_is_checked_twice_on_its_way_to_the_claim_and_read_once_by_verify(whole, tmp_path):
    options = {
        "dims": "2x2",
        "cutoff": 12,
        "workers": 0,
        "replicate": 0,
        "out": str(tmp_path / "run"),
    }
    check = mock.Mock(wraps=rows_module.check_table)
    with (
        mock.patch.object(rows_module, "check_table", check),
        mock.patch.object(run_module, "check_table", check),
    ):
        assert run(load_config(None, options)).complete
    n_rows = len(list(open_run(tmp_path / "run").rows()))
    n_checked = sum(call.args[0].num_rows for call in check.call_args_list)
    assert n_checked == 2 * n_rows, "where it enters, and where the run is read back"
    with mock.patch.object(
        LocalFolder, "read", autospec=True, side_effect=LocalFolder.read
    ) as read:
        assert verified(whole).claim
    n_read = sum(call.args[1].startswith(files.RESULTS) for call in read.call_args_list)
    assert n_read == len(open_run(whole).manifest.parts)
