"""Hosts are trusted after replicas that agree; from one that is contradicted, nothing counts
afterwards.

Under bad weather, with hosts that lie: test_scheduler.py.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from orderly_boggle.cluster.driver.driver import default_policy, run
from orderly_boggle.cluster.driver.loop import Ledger
from orderly_boggle.cluster.driver.progress import Progress
from orderly_boggle.cluster.planning.shares import Share
from orderly_boggle.cluster.scheduling.events import (
    Answer,
    Assign,
    Finish,
    Policy,
    Publish,
    Quarantine,
    Spawn,
    UnitFailed,
    WorkerDown,
    WorkerUp,
)
from orderly_boggle.cluster.scheduling.trust import Trust
from orderly_boggle.configs.model import SearchConfig
from orderly_boggle.results.errors import ConflictError, DamagedError
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.parts import read_parts
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.results.upkeep.repair import repair
from orderly_boggle.search.breaker import Breaker, Unit
from tests.cluster.simulator import difference
from tests.cluster.small import cut_into_parts, parts_apart, tiny, with_breaker
from tests.cluster.test_scheduler import Bench, of, result

LIE = (("zzzz", 9),)


def told(order, host, *children, **found):
    """Return the answer of a worker on ``host`` to an assignment of one unit."""
    verdict = result(*order.units, *children, **found)
    return Answer(
        order.worker, order.assignment, verdict, host, is_replica=order.replica is not None
    )


def bench(n_classes, hosts, **policy):
    """Return a bench whose worker n runs on ``hosts[n - 1]``, and what it is told to do first."""
    policy = {"replicate": 0.01, "trust_after": 3, "n_workers": len(hosts)} | policy
    made = Bench(np.ones(n_classes), **policy)
    return made, of(made.start(hosts), Assign)


def turn(made, hosts, orders):
    """Answer the first order truthfully; put the orders that follow behind the others, and return
    all that follows.
    """
    order = orders.pop(0)
    out = made.tell(told(order, hosts[order.worker - 1]))
    orders += of(out, Assign)
    return out


def test_a_new_host_waits_for_another_to_agree():
    made, (first, second) = bench(100, "ab")
    out = made.tell(told(first, "a"))
    assert not of(out, Publish), "held back"
    (check,) = [order for order in of(made.tell(told(second, "b")), Assign) if order.replica]
    assert (check.worker, check.units) == (2, first.units), "searched again by the other host"
    assert check.replica.paths == ("",)
    out = made.tell(told(check, "b"))
    assert [item.answer.result.unit for item in of(out, Publish)] == list(first.units)


def test_trusted_hosts_are_sampled():
    hosts = "ab"
    made, orders = bench(3000, hosts)
    n_replicas, n_published = [], 0
    while orders and n_published < 2500:
        n_replicas.append(orders[0].replica is not None)
        n_published += len(of(turn(made, hosts, orders), Publish))
    assert 3 <= sum(n_replicas[:12]) <= 6
    assert 10 < sum(n_replicas[20:]) < 45, "about one in a hundred"
    assert made.scheduler.snapshot().n_agreed == sum(n_replicas)


def test_a_difference_gives_up_the_unit_and_the_new_host():
    hosts = "abcc"
    made, orders = bench(200, hosts)
    trust = made.scheduler.trust
    while trust.held or not all(map(trust.is_trusted, "abc")):
        turn(made, hosts, orders)
    (spawn,) = of(made.tell(WorkerDown(1, "node")), Spawn)
    orders = [order for order in orders if order.worker != 1] + of(
        made.tell(WorkerUp(spawn.worker, "new")), Assign
    )
    lied = next(order for order in orders if order.worker == spawn.worker)
    orders.remove(lied)
    out = made.tell(told(lied, "new", candidates=LIE))
    assert not of(out, Publish)
    busy = next(order for order in of(out, Assign) if order.worker == spawn.worker)
    while not of(out, Quarantine):
        out = turn(made, hosts, orders)
    (given_up,) = of(out, Quarantine)
    assert (given_up.unit, given_up.hosts) == (lied.units[0], ("new",))
    assert "'new' " in given_up.message
    assert "zzzz" in given_up.message
    assert made.scheduler.snapshot().flagged == ("new",)
    out = made.tell(told(busy, "new"))
    assert not of(out, Publish), "nothing of it counts any more"
    assert busy.units[0] not in trust.held, "not even if others agreed with it"
    while orders:
        assert orders[0].worker != spawn.worker, "and it gets no work"
        out = turn(made, hosts, orders)
    (finish,) = of(out, Finish)
    assert not finish.complete
    assert "1 unit was given up; verdicts of 'new' were contradicted" in finish.message
    assert made.scheduler.snapshot().n_classes_done == 199


def test_what_a_contradicted_host_found_before_is_searched_by_others():
    made, (first, second, third) = bench(6, "abc")
    lied = made.tell(told(first, "a", candidates=LIE))
    (more,) = of(lied, Assign)
    made.tell(told(more, "a"))
    (check,) = of(made.tell(told(second, "b")), Assign)
    assert check.units == first.units
    (given_up,) = of(made.tell(told(check, "b")), Quarantine)
    assert given_up.hosts == ("a", "b")
    orders = [third]
    while orders:
        out = turn(made, "abc", orders)
    assert of(out, Finish)
    assert made.scheduler.snapshot().n_classes_done == 5


def test_a_run_ends_once_even_if_nobody_is_left_to_believe():
    made, (first, second) = bench(2, "ab")
    made.tell(told(first, "a"))
    out = made.tell(told(second, "b"))
    checks = of(out, Assign)
    out = made.tell(told(checks[0], "ab"[checks[0].worker - 1], candidates=LIE))
    assert len(of(out, Finish)) == 1
    assert out[-1] == of(out, Finish)[0]


def test_alone_there_is_only_the_sample():
    made, orders = bench(50, "a", replicate=1.0)
    out = made.tell(told(orders[0], "a"))
    (check,) = of(out, Assign)
    assert check.replica, "run by the host itself, in another way"
    out = made.tell(told(check, "a", candidates=LIE))
    (given_up,) = of(out, Quarantine)
    assert given_up.hosts == ("a",)
    (finish,) = of(out, Finish)
    assert finish.message.startswith("no host is left to trust")
    made, orders = bench(50, "a", replicate=1e-9)
    assert of(made.tell(told(orders[0], "a")), Publish)


def test_a_replica_that_cannot_be_had_is_let_go():
    made, (first, second) = bench(4, "ab")
    made.tell(told(first, "a"))
    out = made.tell(told(second, "b"))
    for _ in range(3):
        assert not of(out, Publish)
        check = next(
            order for order in of(out, Assign) if order.replica and order.units == first.units
        )
        out = made.tell(
            UnitFailed(check.worker, check.assignment, check.units[0], "IncompleteError")
        )
    assert [item.answer.result.unit for item in of(out, Publish)] == list(first.units)


def test_of_a_split_the_settled_parts_are_searched_again():
    made, (first, second) = bench(4, "ab")
    out = made.tell(told(first, "a", "4=a", "4=b", candidates=LIE, settled=("4=c",)))
    assert not of(out, Publish)
    check = next(order for order in of(made.tell(told(second, "b")), Assign) if order.replica)
    assert check.replica.paths == ("4=c",)
    (published,) = of(made.tell(told(check, "b", candidates=LIE)), Publish)
    assert published.answer.result.children
    made, (first, _) = bench(4, "ab")
    assert of(made.tell(told(first, "a", "4=a")), Publish), (
        "nothing is settled: nothing to search again"
    )


def held(trust, host, *units):
    """Let verdicts of a host wait for their replicas; return one of them."""
    for unit in units:
        answer = Answer(1, 1, result(unit), host)
        trust.hold(answer)
    return answer


def test_verdicts_that_wait_are_open_again_when_their_host_is_contradicted():
    policy = Policy(n_workers=3, replicate=0.5, trust_after=3)
    trust = Trust(policy, np.random.default_rng(1), difference)
    units = [Unit(1), Unit(2), Unit(3, "0=a")]
    held(trust, "a", *units)
    assert trust.failed(units[1]) is None
    assert trust.failed(units[1]) is None
    held(trust, "c", Unit(4))
    _, text, hosts = trust.judge(Answer(2, 2, result(units[0], candidates=LIE), "b"))
    assert (hosts, "zzzz" in text) == (("a", "b"), True)
    assert trust.disown() == units[1:]
    assert set(trust.held) == {Unit(4)}
    again = held(trust, "c", units[1])
    assert [trust.failed(units[1]) for _ in range(3)] == [None, None, again]


def test_a_host_that_is_not_believed_vouches_for_nobody():
    """Who has only such a host beside it checks itself, now and then, as if it were alone."""
    policy = Policy(n_workers=2, replicate=1e-9, trust_after=3)
    trust = Trust(policy, np.random.default_rng(1), difference)
    trust.flagged.add("b")
    unit = Unit(1)
    assert trust.wants(result(unit), "a", {"a", "b", "c"})
    assert not trust.wants(result(unit), "a", {"a", "b"})
    held(trust, "a", unit)
    assert trust.take("a", {"a", "b", "c"}) is None
    assert unit in (trust.take("a", {"a", "b"}) or ())


class LyingBreaker(Breaker):
    """Its replicas now and then find a board too few."""

    def replicate(self, unit, paths, seed):
        found = super().replicate(unit, paths, seed)
        return (
            replace(found, candidates=found.candidates[1:]) if len(found.candidates) > 3 else found
        )


@pytest.fixture
def config(tmp_path):
    return tiny(
        tmp_path, search=SearchConfig(memory_mb=16, unit_budget=20, node_budget=5), replicate=100.0
    )


def test_a_contradicted_host_is_searched_again_before_there_is_a_claim(config):
    outcome = run(config, make_executor=with_breaker(LyingBreaker))
    assert not outcome.complete
    assert "no host is left to trust" in outcome.message
    stored = open_run(config.out)
    assert len(stored.index.doubted_hosts) == 1
    assert stored.doubted
    n_before = len(stored.doubted)
    again = run(config)
    assert again.complete
    assert again.n_computed >= n_before + 1
    plain = run(config.model_copy(update={"out": config.out + "-plain", "replicate": 0.0}))
    assert (again.digest, again.listed) == (plain.digest, plain.listed)
    assert open_run(config.out).doubted == []
    assert run(config).n_computed == 0


class FaultyBreaker(Breaker):
    """Finds one board where there are several, and is found out by its own replicas."""

    def break_unit(self, unit):
        found = super().break_unit(unit)
        return replace(found, candidates=found.candidates[:1])


def test_what_a_faulty_host_stored_is_found_out_later(config):
    policy = replace(default_policy(config, 16), replicate=0.5, max_batch=1)
    outcome = run(config, make_executor=with_breaker(FaultyBreaker), policy=policy)
    assert not outcome.complete
    assert outcome.n_computed > 5, "some were stored before one was contradicted"
    with pytest.raises(ConflictError, match="has different verdicts"):
        run(config)


def test_a_doubt_that_is_lost_with_its_part_is_known_from_the_log(config):
    """A run in parts of one row, one of which doubts the only host."""
    run(config, make_executor=with_breaker(LyingBreaker))
    cut_into_parts(Path(config.out))
    stored = open_run(config.out)
    assert stored.doubted
    n_verdicts = sum(row.is_verdict for row in stored.rows())
    assert n_verdicts > 1
    (doubt,) = (
        part.name
        for part, table in read_parts(stored.folder, stored.manifest.parts)
        if "quarantined" in table.column("status").to_pylist()
    )
    path = Path(config.out) / doubt
    path.write_bytes(path.read_bytes()[:-1])
    with Store.open(config.out, stored.question, stored.made, recover=repair) as store:
        assert list(store.repaired.parts) == [f"results/{path.name}"]
        assert store.index.doubted_hosts == stored.index.doubted_hosts
    assert open_run(config.out).doubted == stored.doubted
    again = run(config)
    assert again.complete
    assert again.n_computed >= n_verdicts


# ---- what was written and not read back


@pytest.mark.parametrize("n_listed", [0, 1])
def test_nothing_is_claimed_of_rows_that_are_not_read_back(config, n_listed):
    """The first listing after the search lacks parts; by the next one they are all there.  Parts
    that are put together have a listing that is written anew.
    """
    manifest, lines = Path(config.out) / files.MANIFEST, []

    class Lagging(Progress):
        def stage(self, text):
            """Hide parts once the search is over and its rows are stored."""
            if text.startswith("rescoring"):
                lines[:] = manifest.read_text().splitlines(keepends=True)
                manifest.write_text("".join(lines[:n_listed]))

    with parts_apart():
        run(config, share=Share(1, 2))
    with parts_apart(), pytest.raises(DamagedError, match=r"ends at part \d; .* were written"):
        run(config, progress=Lagging())
    assert len(lines) == 2
    assert not (Path(config.out) / files.CLAIM).exists()
    manifest.write_text("".join(lines))
    assert run(config).complete


def test_nothing_is_claimed_without_a_board_that_was_seen(config, monkeypatch):
    note = Ledger.note_candidates
    monkeypatch.setattr(
        Ledger, "note_candidates", lambda self, found: note(self, [*found, ("zzzz", 99)])
    )
    with pytest.raises(
        DamagedError, match="lacks 1 board stored there before, such as zzzz with 99 points"
    ):
        run(config)
    assert not (Path(config.out) / files.CLAIM).exists()
