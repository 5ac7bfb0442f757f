"""Faults that a run seldom meets and no other test had noticed: of shares, full disks, replicas and
hosts.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pyarrow as pa
import pytest

from orderly_boggle.boardclass.errors import MismatchError, StoreError
from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.cluster.planning.shares import Share
from orderly_boggle.cluster.scheduling.events import Assign, Publish, Quarantine
from orderly_boggle.cluster.watch.view import Catalog, Watched
from orderly_boggle.cluster.web.jobs import read_run
from orderly_boggle.cluster.web.site import Site
from orderly_boggle.results.errors import ConflictError
from orderly_boggle.results.proof.nodes import SearchNodes
from orderly_boggle.results.proof.summary import State
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.store import parts
from orderly_boggle.results.store.made import EVERYTHING, Made
from orderly_boggle.results.store.parts import describe, read_parts, serialise
from orderly_boggle.results.store.rows import QUARANTINED, SCHEMA
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.results.upkeep.extend import extend, inherited
from orderly_boggle.results.upkeep.repair import repair
from orderly_boggle.search.breaker import Breaker, Unit
from tests.cluster.small import config, rewritten
from tests.cluster.test_scheduler import of
from tests.cluster.test_trust import LIE, bench, told, turn
from tests.results.helpers import partition, row, toy_question, write_rows
from tests.search.test_breaker import WORLDS


def test_the_rest_of_a_flush_is_stored_when_the_disk_has_room_again(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "MAX_ROWS", 3)
    publish, written = LocalFolder.publish, []

    def refuse_the_second(self, name, data, *more):
        written.append(name)
        if len(written) == 2:
            raise StoreError("no space left on device")
        publish(self, name, data, *more)

    with Store.open(tmp_path, toy_question()) as store:
        store.append(row(i) for i in range(10))
        monkeypatch.setattr(LocalFolder, "publish", refuse_the_second)
        with pytest.raises(StoreError):
            store.flush()
        store.flush()
    assert len(written) > 3
    assert [found.class_id for found in open_run(tmp_path).rows()] == list(range(10))


def test_verify_names_both_rows_that_contradict_each_other(orderly, small_runs, tmp_path):
    folder = rewritten(small_runs / "whole", tmp_path / "run", list)
    found = open_run(folder)
    first = next(found.rows())
    with Store.open(folder, found.question) as there, pytest.raises(ConflictError):
        there.append([replace(first, n_boards=first.n_boards + 1, host="another")])
    answer = orderly.fails(3, "verify", folder)
    assert "has different verdicts" in answer
    assert answer.count("results/part-") == 2


def test_a_share_is_not_done_while_its_rows_do_not_fit(small_runs, tmp_path):
    def wrong(rows):
        return [replace(row, n_boards=row.n_boards - 1) if row is rows[0] else row for row in rows]

    folder = rewritten(small_runs / "whole", tmp_path / "run", wrong)
    for number in (1, 2):
        with pytest.raises(MismatchError, match="do not fit together"):
            run(config(folder), share=Share(number, 2))


def test_what_rows_proved_before_they_changed_is_not_said_of_them_now(small_runs):
    site = Site(Catalog((str(small_runs / "whole"),)), Catalog(()), 0.0)
    (place,) = site.catalog.places().values()
    watched = site._watched[place.key] = Watched(place)
    watched.reading = read_run(str(small_runs / "whole"))
    watched.rows_stamp = "of other files"
    assert watched.reading.answer.state is State.PROVEN
    watched.is_reading_rows = True
    assert asyncio.run(site.proven(place))["proven"] is False
    pulse = asyncio.run(site.pulse(place))
    assert (pulse["state"], str(pulse["to_come"])[:7]) == ("reading", "unknown")
    assert re.match("Not proven yet: .* files have changed", str(pulse["claim"]))
    answer = watched.view().answer
    assert answer is not None
    assert answer.statement is None


def doubt_of(host, class_id=0):
    return row(class_id, status=QUARANTINED, n_boards=0, host=host, message="contradicted")


def test_doubted_hosts_do_not_vouch_for_each_other(tmp_path):
    """Both found class 1 before either was contradicted over another class."""
    rows = [row(1, host="a"), doubt_of("a", 5), row(1, host="b"), doubt_of("b", 6)]
    for number, doubted in ((3, []), (4, [(1, "")])):
        for each in rows[:number]:  # each by a driver of its own, which knows of the doubts before
            write_rows(tmp_path / str(number), [each])
        assert open_run(tmp_path / str(number)).doubted == doubted


def test_a_doubt_outlives_the_part_that_breaks_a_rule(tmp_path):
    """There is no log, but the part can still be read."""
    first, second, third = next(partition().canonical_ranks())[:3].tolist()
    with Store.open(tmp_path, toy_question()) as store:
        store.append([row(first, host="a")])
        store.flush()
        store.append([row(second, host="a"), doubt_of("a", third)])
    kept, part = open_run(tmp_path).manifest.parts
    ((_, table),) = read_parts(LocalFolder(tmp_path), [part])
    column = SCHEMA.get_field_index("attempt")
    data = serialise(
        table.set_column(column, SCHEMA.field(column), pa.array([0, 0], SCHEMA.field(column).type))
    )
    (tmp_path / part.name).write_bytes(data)
    sealed = describe(part.name, data, [second, third])
    (tmp_path / files.MANIFEST).write_text(f"{kept.format()}\n{sealed.format()}\n")
    with Store.open(tmp_path, toy_question(), recover=repair) as store:
        assert list(store.repaired.parts) == [part.name]
    assert open_run(tmp_path).doubted == [(first, "")]


def test_a_host_that_agrees_with_itself_is_not_trusted_for_that():
    made, (order,) = bench(100, "a", replicate=1.0, trust_after=1)
    (check,) = of(made.tell(told(order, "a")), Assign)
    assert check.replica
    out = made.tell(told(check, "a"))
    assert of(out, Publish)
    assert not made.scheduler.trust.is_trusted("a")


def test_two_trusted_hosts_that_differ_are_both_flagged():
    made, orders = bench(100, "ab", replicate=1.0, trust_after=1)
    trust = made.scheduler.trust
    while not (trust.is_trusted("a") and trust.is_trusted("b") and orders[0].replica):
        turn(made, "ab", orders)
    check = orders[0]
    host = "ab"[check.worker - 1]
    (given_up,) = of(made.tell(told(check, host, candidates=LIE)), Quarantine)
    assert sorted(given_up.hosts) == ["a", "b"] == sorted(trust.flagged)
    assert not trust.is_trusted("a"), "however often it agreed before"


def test_a_replica_of_fewer_boards_than_the_unit_has_differs():
    of_world = WORLDS["3x3"]
    breaker = Breaker(of_world.spec(of_world.scores.cutoff_for(300)))
    nodes = SearchNodes(breaker.question)
    found = breaker.break_unit(Unit(0))
    for change in (-1, 1):
        assert nodes.difference(found, replace(found, n_boards=found.n_boards + change))
    assert nodes.difference(found, found) == ""


def test_boards_of_one_part_are_not_turned_as_those_of_the_next():
    """A replica of several parts turns each in its own way."""
    of_world = WORLDS["2x3"]
    rank, cutoff = of_world.best_rank(), of_world.scores.cutoff_for(300)
    letters = of_world.partition.class_letters(rank)
    patient = Breaker(of_world.spec(cutoff))
    paths = SearchNodes(patient.question).parts(rank, "", patient.geometry.cell_order[0])
    assert len(paths) > 1
    for seed in range(5):
        found = patient.replicate(Unit(rank), paths, seed)
        assert found.candidates
        for board, score in found.candidates:
            assert score == of_world.score(board)
            assert all(letter in cell for letter, cell in zip(board, letters, strict=True))


def test_a_run_promises_for_max_bound_what_its_source_promised(small_runs, tmp_path):
    found = open_run(small_runs / "whole")
    write_rows(tmp_path, list(found.rows()), found.question, replace(found.made, covers=""))
    assert inherited(found).covers == found.made.covers != ""
    assert inherited(open_run(tmp_path)).covers == ""


def test_boards_that_a_higher_cutoff_drops_count_for_max_bound(tmp_path):
    found = row(1, status="candidates", candidates=(("abcd", 90), ("abce", 95)), max_bound=70)
    write_rows(tmp_path / "old", [found], made=Made(covers=EVERYTHING))
    with Store.open(tmp_path / "new", toy_question(cutoff=95), Made(covers=EVERYTHING)) as store:
        extend(open_run(tmp_path / "old"), store)
    (kept,) = open_run(tmp_path / "new").rows()
    assert (kept.candidates, kept.max_bound) == ((("abce", 95),), 90)
