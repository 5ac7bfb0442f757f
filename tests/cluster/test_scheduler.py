"""The scheduler's decisions one by one, and its promises under kills, delays, duplicates and lost
replies.
"""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pytest

from orderly_boggle.cluster.scheduling.backlog import Backlog, Work
from orderly_boggle.cluster.scheduling.crew import Crew
from orderly_boggle.cluster.scheduling.events import (
    Answer,
    Assign,
    Bar,
    Cancel,
    Finish,
    Heartbeat,
    Policy,
    Publish,
    Quarantine,
    Retire,
    Returned,
    Room,
    Spawn,
    Tick,
    UnitFailed,
    Unplaced,
    WorkerDown,
    WorkerUp,
)
from orderly_boggle.cluster.scheduling.forecast import NO_HISTORY, History
from orderly_boggle.cluster.scheduling.scheduler import Scheduler
from orderly_boggle.search.breaker import Unit, UnitResult
from tests.bench.left import RUNS, all_replayed
from tests.cluster.simulator import Simulation, Size, difference
from tests.samples import daily


def result(unit, *children, candidates=(), settled=(), seconds=1.0, n_terms=0):
    status = "candidates" if candidates else "eliminated"
    status = "split" if children else status
    below = tuple(Unit(unit.class_id, path) for path in children)
    return UnitResult(unit, status, 4, 9, candidates, below, settled, {"n_terms": n_terms}, seconds)


class Bench:
    """A scheduler with a clock that is set by hand."""

    def __init__(
        self,
        costs,
        children=(),
        doubted=None,
        history=NO_HISTORY,
        elsewhere=NO_HISTORY.costs,
        **policy,
    ):
        self.now = 0.0
        self.costs = np.asarray(costs, np.float64)
        policy = {"n_workers": 1, "sample": 0.0, "max_batch": 1} | policy
        ids = np.arange(len(self.costs)) * 10
        work = Work(ids, self.costs, children, (), doubted or {}, history, elsewhere)
        self.scheduler = Scheduler(Policy(**policy), work, np.random.default_rng(0), difference)

    def tell(self, event):
        return self.scheduler.handle(event, self.now)

    def tell_all(self, events):
        """Tell one event after the other; return what follows."""
        out = []
        for event in events:
            out += self.tell(event)
        return out

    def start(self, hosts=("a",)):
        """Start and bring up every worker spawned; return all instructions."""
        out = self.tell(Tick())
        for number, spawn in enumerate([order for order in out if isinstance(order, Spawn)]):
            out += self.tell(WorkerUp(spawn.worker, hosts[number % len(hosts)]))
        return out

    def up(self, out, host="a"):
        """Bring up the workers spawned in ``out``; return what follows."""
        return self.tell_all(WorkerUp(spawn.worker, host) for spawn in of(out, Spawn))

    def answer(self, order, *children, **found):
        """Answer every unit of an assignment; return what follows."""
        return self.tell_all(
            Answer(order.worker, order.assignment, result(unit, *children, **found))
            for unit in order.units
        )


def of(out, kind):
    return [order for order in out if isinstance(order, kind)]


def units_of(out):
    return [unit for order in of(out, Assign) for unit in order.units]


def played(bench):
    """Answer everything one by one; return the class ids in the order in which they were given
    out.
    """
    out, given = bench.start(), []
    while of(out, Assign):
        given += units_of(out)
        out = bench.answer(of(out, Assign)[0])
    assert of(out, Finish) == [Finish(complete=True)]
    return [unit.class_id for unit in given]


@pytest.mark.parametrize("max_units", [1, 2, 9])
def test_every_unit_is_taken_once(max_units):
    """Parts that an earlier run left, then classes."""
    left = tuple(Unit(5, f"0={x}") for x in "abcde")
    work = Work(np.array([0, 10, 20]), np.ones(3), left)
    rng = np.random.default_rng(0)
    todo = Backlog(work, rng, 0.0)
    taken = []
    while len(taken) < 9 and (units := todo.take(1e9, 1, max_units)):
        taken += units
    assert taken == [*left, Unit(0), Unit(10), Unit(20)]


def test_no_more_workers_are_started_than_there_is_room_for():
    bench = Bench(np.ones(9), n_workers=4)
    assert len(of(bench.tell(Room(1)), Spawn)) == 1
    assert len(of(bench.tell(Room(3)), Spawn)) == 2
    assert len(of(bench.tell(Room(9)), Spawn)) == 1


def test_no_more_workers_are_started_than_there_are_units():
    assert len(of(Bench(np.ones(2), n_workers=4).tell(Tick()), Spawn)) == 2


def test_costs_belong_to_ascending_classes():
    for ids, costs in (([0, 0], [1.0, 1.0]), ([1, 0], [1.0, 1.0]), ([0, 1], [1.0])):
        work = Work(np.array(ids), np.array(costs))
        with pytest.raises(ValueError, match="strictly ascending, with one cost each"):
            Backlog(work, np.random.default_rng(0), 0.0)


def test_a_split_opens_each_part_once_and_none_that_has_a_verdict():
    """A class is searched again whose parts have verdicts, or wait for them already."""
    waits, known, new = (Unit(0, f"1={letter}") for letter in "abc")
    work = Work(np.array([0]), np.ones(1), children=[waits], known=[known])
    backlog = Backlog(work, np.random.default_rng(0), 0.0)
    assert backlog.n_open == 2
    backlog.settle(result(Unit(0), waits.path, known.path, new.path))
    assert backlog.n_open == 2
    assert {*backlog.take(1e9, 1, 9), *backlog.take(1e9, 1, 9)} == {waits, new}


def left_after(*verdicts):
    """Return the seconds that are left of a hundred classes after some verdicts, each of clock and
    CPU seconds.
    """
    bench = Bench(np.ones(100))
    out = bench.start()
    for seconds, cpu_s in verdicts:
        (order,) = of(out, Assign)
        found = result(order.units[0], seconds=seconds, n_terms=1000)
        out = bench.tell(Answer(order.worker, order.assignment, found, cpu_s=cpu_s))
    return bench.scheduler.snapshot().remaining_s


def test_the_time_in_which_a_worker_was_stopped_says_nothing_of_the_time_left():
    """A machine with other work: twice the CPU time.  A batch system suspends the job."""
    usual = [(20.0, 10.0)] * 19
    assert left_after(*usual, (20.0, 10.0)) == pytest.approx(1600)
    assert left_after(*usual, (7200.0, 10.0)) == pytest.approx(1600)
    assert left_after(*usual, (50.0, 10.0)) > 1700, "more other work is none"
    assert left_after(*usual, (7200.0, None)) > 20_000, "nobody knows"
    slow = left_after(*[(2.0, 1.0)] * 19, *[(20.0, 1.0)] * 60)
    assert slow == pytest.approx(20 * 21, rel=0.5), "slower from now on"


def test_a_unit_that_fails_twice_comes_back_once():
    """The message was repeated: the second one is of an assignment that is over."""
    bench = Bench(np.ones(2), n_workers=2)
    order = of(bench.start(), Assign)[0]
    failed = UnitFailed(order.worker, order.assignment, order.units[0], "oom", oom=True)
    bench.tell(failed)
    assert bench.tell(failed) == []
    assert bench.scheduler.snapshot().n_requeued == 1


def test_a_host_that_is_barred_has_no_idle_workers():
    crew = Crew()
    crew.spawn(1, 9.0)
    crew.come_up(crew.workers[1], "a")
    crew.bar("a")
    assert (crew.n_barred, dict(crew.idle)) == (1, {})


def test_expensive_classes_go_first_and_a_random_sample_before_them():
    assert played(Bench([])) == []
    assert played(Bench([1, 5, 3, 9])) == [30, 10, 20, 0]
    ids = played(Bench(np.arange(1000.0), sample=0.01))
    assert sorted(ids[:10]) != ids[:10]
    assert ids[10:] == sorted(ids[10:], reverse=True)
    assert len(set(ids)) == 1000


def test_cheap_classes_are_batched_to_the_measured_time():
    bench = Bench(np.ones(10_000), max_batch=4096, batch_s=7.0)
    out, sizes = bench.start(), []
    for _ in range(20):
        order = of(out, Assign)[0]
        sizes.append(len(order.units))
        out = bench.answer(order, seconds=0.02)
    assert sizes[:4] == [1, 2, 4, 8]
    assert all(abs(size - 350) <= 1 for size in sizes[10:])


def test_many_workers_get_large_batches_so_that_calls_stay_few():
    bench = Bench(np.ones(10_000), max_batch=4096, n_workers=8, calls_per_s=0.2)
    orders, sizes = of(bench.start(), Assign), []
    for _ in range(100):
        order = orders.pop(0)
        sizes.append(len(order.units))
        orders += of(bench.answer(order, seconds=1.0), Assign)
    assert set(sizes[-8:]) == {40}, "eight workers, a call in five seconds"


def test_batches_shrink_towards_the_end():
    bench = Bench(np.ones(64), max_batch=4096, batch_s=1000.0, n_workers=2)
    out, sizes = bench.start(), []
    while orders := of(out, Assign):
        sizes += [len(order.units) for order in orders]
        out = []
        for order in orders:
            out += bench.answer(order)
    assert max(sizes) <= 16
    assert sizes[-1] == 1


def test_units_split_soon_when_few_are_left_for_each_worker():
    bench = Bench(np.ones(11), max_batch=1, n_workers=2)
    out, told = bench.start(), []
    while orders := of(out, Assign):
        told += [order.hurry for order in orders]
        out = [more for order in orders for more in bench.answer(order)]
    assert told == [False] * 3 + [True] * 8


def test_a_doubted_verdict_is_cut_again_as_it_was():
    doubted = {Unit(number): number % 70 or 7 for number in range(0, 400, 10)}
    bench = Bench(np.full(100, 1e-3), doubted=doubted, max_batch=4096)
    out, sizes, split_at = bench.start(), [], dict[Unit, int]()
    while orders := of(out, Assign):
        for order in orders:
            sizes.append(len(order.units))
            split_at |= dict.fromkeys(order.units, order.split_at)
        out = [more for order in orders for more in bench.answer(order)]
    assert split_at == dict.fromkeys(map(Unit, range(0, 1000, 10)), 0) | doubted
    assert max(sizes) > 1, "those that split alike still go in batches"


def test_children_become_units_and_the_class_waits_for_them():
    bench = Bench([1.0])
    order = of(bench.start(), Assign)[0]
    out = bench.answer(order, "4=a", "4=b")
    assert len(of(out, Publish)) == 1
    assert not of(out, Finish)
    assert units_of(out) == [Unit(0, "4=a")]
    out = bench.answer(of(out, Assign)[0], "4=a/5=c")
    assert units_of(out) == [Unit(0, "4=a/5=c")], "deepest first"
    out = bench.answer(of(out, Assign)[0])
    assert bench.scheduler.snapshot().n_classes_done == 0
    out = bench.answer(of(out, Assign)[0])
    assert of(out, Finish) == [Finish(complete=True)]
    assert bench.scheduler.snapshot().n_classes_done == 1


def test_what_nothing_is_said_about_goes_back():
    bench = Bench([1.0])
    order = of(bench.start(), Assign)[0]
    assert units_of(bench.tell(Returned(1, order.assignment))) == [Unit(0)]


def test_duplicates_and_foreign_units_are_ignored():
    bench = Bench([1.0, 1.0, 1.0])
    order = of(bench.start(), Assign)[0]
    assert len(of(bench.answer(order), Publish)) == 1
    assert bench.answer(order) == []
    assert bench.tell(Answer(1, order.assignment, result(Unit(5)))) == []
    assert bench.tell(Answer(1, order.assignment, result(Unit(10, "4=x")))) == []
    assert bench.scheduler.snapshot().n_duplicates == 3


@pytest.mark.parametrize(("death", "n_tries"), [("died", 3), ("node", 10)])
def test_three_strikes_or_ten_lost_machines_and_the_run_is_incomplete(death, n_tries):
    bench = Bench([2.0, 1.0], max_deaths=100)
    out = bench.start()
    for _ in range(n_tries):
        assert not of(out, Quarantine)
        (order,) = of(out, Assign)
        assert order.units == (Unit(0),)
        out = bench.tell(WorkerDown(order.worker, death, "segfault"))
        bench.now += 100.0
        out += bench.tell(Tick())
        out += bench.up(out)
    assert of(out, Quarantine) == [Quarantine(Unit(0), n_tries, "segfault")]
    (finish,) = of(bench.answer(of(out, Assign)[0]), Finish)
    assert not finish.complete
    assert "1 unit was given up" in finish.message
    assert bench.scheduler.snapshot().n_classes_done == 1


def test_a_batch_that_dies_goes_out_again_one_by_one_without_a_strike():
    bench = Bench(np.ones(200), max_batch=8, batch_s=100.0)
    out = bench.start()
    for _ in range(3):
        out = bench.answer(of(out, Assign)[0])
    batch = of(out, Assign)[0].units
    assert len(batch) == 8
    out = bench.tell(WorkerDown(1, "died"))
    out = bench.up(out)
    for unit in batch:
        order = of(out, Assign)[0]
        assert order.units == (unit,)
        out = bench.tell(Answer(order.worker, order.assignment, result(unit)))
        assert of(out, Publish)[0].attempt == 2


def test_out_of_memory_means_a_host_to_itself_before_any_strike():
    bench = Bench([9.0, 3.0, 2.0, 1.0], n_workers=2)
    fat, other = of(bench.start(), Assign)
    out = bench.tell(WorkerDown(fat.worker, "oom"))
    out = bench.up(out)
    assert not of(out, Assign), "the host is being emptied"
    (alone,) = of(bench.answer(other), Assign)
    assert alone.units == fat.units
    assert alone.alone
    out = bench.tell(WorkerDown(alone.worker, "oom"))
    (again,) = of(out + bench.up(out), Assign)
    assert (again.units, again.alone) == (fat.units, True)
    out = bench.answer(again)
    assert of(out, Publish)[0].attempt == 3
    assert len(of(out, Assign)) == 2, "the host is free again"
    assert not any(order.alone for order in of(out, Assign))


def test_other_hosts_work_while_one_is_emptied():
    bench = Bench(np.arange(9.0, 0, -1), n_workers=3)
    fat, beside, elsewhere = of(bench.start(hosts=("a", "a", "b")), Assign)
    out = bench.tell(UnitFailed(fat.worker, fat.assignment, fat.units[0], "MemoryError", oom=True))
    assert not of(out, Assign), "host a is being emptied"
    out = bench.answer(elsewhere)
    assert [(order.worker, order.alone) for order in of(out, Assign)] == [(elsewhere.worker, False)]
    (alone,) = of(bench.answer(beside), Assign)
    assert (alone.alone, alone.units) == (True, fat.units)


def test_circuit_breaker():
    bench = Bench(np.ones(50), n_workers=2, max_deaths=4)
    out = bench.tell(Tick())
    n_deaths = 0
    while not of(out, Finish):
        spawns = of(out, Spawn)
        out = bench.tell_all(WorkerDown(spawn.worker, "unfit", "no numba") for spawn in spawns)
        n_deaths += len(spawns)
        bench.now += 1.0
        out += bench.tell(Tick())
        assert bench.now < 1000
    assert n_deaths == bench.scheduler.snapshot().n_deaths == 8
    assert of(out, Finish) == [
        Finish(False, "8 workers in a row died without a verdict; the last: no numba", True)
    ]
    assert bench.tell(WorkerUp(99, "a")) == [], "nothing follows the end"


def test_workers_that_die_are_replaced_later_each_time_until_there_is_a_verdict():
    bench = Bench(np.ones(50), max_deaths=30)
    worker, waits = of(bench.tell(Tick()), Spawn)[0].worker, []
    for _ in range(12):
        out, since = bench.tell(WorkerDown(worker, "unfit")), bench.now
        while not of(out, Spawn):
            bench.now += 0.5
            out = bench.tell(Tick())
        waits.append(bench.now - since)
        worker = of(out, Spawn)[0].worker
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (0.0, 30.0)
    assert len(set(waits)) > 4
    order = of(bench.tell(WorkerUp(worker, "a")), Assign)[0]
    bench.answer(order)
    assert of(bench.tell(WorkerDown(worker, "node")), Spawn), "at once again"


def test_a_unit_that_is_given_up_is_no_sign_of_a_broken_machine():
    bench = Bench(np.ones(50), max_deaths=4, n_strikes=3)
    out = bench.start()
    for n_deaths in range(1, 20):
        worker = of(out, Assign)[0].worker
        out = bench.tell(WorkerDown(worker, "died"))
        assert not of(out, Finish), n_deaths
        while not of(out, Spawn):
            bench.now += 60.0
            out = bench.tell(Tick())
        out = bench.up(out)
    assert bench.scheduler.snapshot().n_quarantined == 6


def test_cancelled_workers_go_and_what_was_done_stays():
    bench = Bench(np.ones(5), n_workers=2)
    first, _ = of(bench.start(), Assign)
    bench.answer(first)
    out = bench.tell(Cancel("stopped"))
    assert out == [*[Retire(n, "the run is over") for n in (1, 2)], Finish(False, "stopped")]
    assert bench.tell(Tick()) == []


def test_the_time_of_parts_is_that_of_parts():
    bench = Bench([1.0] * 3, lease_s=10.0, lease_factor=2.0)
    order = of(bench.start(), Assign)[0]
    order = of(bench.answer(order, "4=a", "4=b", seconds=100.0), Assign)[0]
    order = of(bench.answer(order, seconds=1.0), Assign)[0]
    assert order.units == (Unit(0, "4=b"),)
    bench.now = 11.5
    assert not of(bench.tell(Tick()), Retire)
    bench.now = 12.5
    assert of(bench.tell(Tick()), Retire), "2 times the second of the part before"


def test_a_unit_that_came_back_is_counted():
    bench = Bench([1.0])
    order = of(bench.start(), Assign)[0]
    bench.tell(UnitFailed(1, order.assignment, order.units[0], "MemoryError"))
    report = bench.scheduler.snapshot()
    assert (report.n_requeued, report.n_strikes) == (1, 1)


def test_a_class_with_a_part_that_was_given_up_is_not_done_and_its_run_ends():
    bench = Bench([1.0], n_strikes=1)
    order = of(bench.start(), Assign)[0]
    out = bench.answer(order, "4=a", "4=b")
    order = of(out, Assign)[0]
    out = bench.tell(UnitFailed(1, order.assignment, order.units[0], "MemoryError"))
    out = bench.answer(of(out, Assign)[0])
    assert of(out, Finish) == [Finish(False, "1 unit was given up")]
    assert bench.scheduler.snapshot().n_classes_done == 0


def test_leases_end_no_more_once_the_run_is_given_up():
    bench = Bench(np.ones(9), n_workers=3, max_deaths=1, lease_s=10.0, lease_factor=0.0)
    bench.start()
    bench.up(bench.tell(WorkerDown(1, "died")))
    bench.now = 11.0
    out = bench.tell(Tick())  # the second of three leases that end is the third death
    assert len(of(out, Finish)) == 1
    assert out[-1] == of(out, Finish)[0]
    assert [order.message for order in of(out, Retire)].count("silent for too long") == 2


def test_foreign_kernels_are_refused():
    bench = Bench([1.0], kernel_hash="abc")
    out = bench.tell(Tick())
    out = bench.tell(WorkerUp(1, "a", "xyz"))
    assert "'xyz' differ from the driver's 'abc'" in of(out, Retire)[0].message
    assert not of(out, Assign)
    assert of(bench.tell(WorkerUp(of(out, Spawn)[0].worker, "a", "abc")), Assign)


def unfit(worker, machine):
    return WorkerDown(worker, "unfit", f"no such module on {machine}", machine)


def test_a_machine_on_which_no_worker_comes_up_is_barred_after_three_tries():
    bench = Bench([1.0] * 9, n_workers=4)
    starting = [order.worker for order in of(bench.tell(Tick()), Spawn)]

    def fail(machine):
        out = bench.tell(unfit(starting.pop(0), machine))
        bench.now += 60
        starting.extend(order.worker for order in of(out + bench.tell(Tick()), Spawn))
        return of(out, Bar)

    assert [fail(machine) for machine in ("x", "x", "y", "", "", "")] == [[]] * 6
    bench.tell(WorkerUp(starting.pop(0), "host", "", "x"))  # one does: the count begins again
    assert [fail("x"), fail("x")] == [[], []]
    assert fail("x") == [Bar("x", "no such module on x")]
    assert fail("x") == [], "it is barred already"


def test_what_has_been_barred_keeps_nobody_waiting():
    bench = Bench([1.0] * 9)
    bench.tell(Tick())
    bench.tell_all([unfit(1, "x"), unfit(2, "x")])
    assert of(bench.tell(unfit(3, "x")), Spawn) == [Spawn(4)]


def test_verdicts_of_a_good_machine_do_not_keep_a_strange_one_from_being_barred():
    bench = Bench([1.0] * 30, n_workers=2)
    out = bench.tell(Tick())
    out = bench.tell(WorkerUp(1, "good", "", "good"))
    strange, barred = 2, []
    while not barred:
        (order,) = of(out, Assign)
        out = bench.tell(unfit(strange, "strange"))
        barred = of(out, Bar)
        strange += 1
        answers = [Answer(1, order.assignment, result(unit), "good") for unit in order.units]
        out = bench.tell_all([*answers, Returned(1, order.assignment)])
    assert strange == 5


def test_a_worker_that_found_no_processor_is_no_death():
    bench = Bench([1.0] * 9, n_workers=2)
    bench.tell(Tick())
    out = bench.tell_all([Room(1), Unplaced(2), Unplaced(2), Tick()])
    assert not of(out, Spawn), "it is not asked for again before there is room"
    assert bench.scheduler.snapshot().n_deaths == 0
    assert of(bench.tell(Room(2)), Spawn) == [Spawn(3)]


def test_a_run_ends_when_all_machines_are_barred_for_long():
    bench = Bench([1.0] * 9, n_workers=1, max_deaths=100, no_machine_s=60.0)
    bench.tell(Tick())
    for worker in (1, 2, 3):
        bench.tell(unfit(worker, "x"))
        bench.now += 10
        bench.tell(Tick())
    bench.tell_all([Room(0), Unplaced(4)])
    for _ in range(6):
        assert not of(bench.tell(Tick()), Finish)
        bench.now += 10
    (finish,) = of(bench.tell(Tick()), Finish)
    assert finish.message == "no machine is left that can work: x: no such module on x"
    assert finish.gave_up


def test_a_run_does_not_end_while_a_machine_may_yet_come():
    bench = Bench([1.0] * 9, n_workers=1, no_machine_s=60.0)
    bench.tell(Room(0))
    for _ in range(100):
        bench.now += 10
        assert not of(bench.tell(Tick()), Finish)


def test_a_silent_worker_is_given_up_a_busy_one_is_not():
    bench = Bench([1.0], lease_s=10.0, lease_factor=1.0)
    order = of(bench.start(), Assign)[0]
    bench.now = 9.0
    bench.tell(Heartbeat(1, order.assignment))
    bench.now = 18.0
    assert bench.tell(Tick()) == []
    bench.now = 21.0
    out = bench.tell(Tick())
    assert of(out, Retire) == [Retire(1, "silent for too long")]
    out = bench.up(out)
    assert units_of(out) == [Unit(0)]
    late = bench.tell(Answer(1, order.assignment, result(Unit(0))))
    assert len(of(late, Publish)) == 1, "a late verdict is a verdict"
    assert of(late, Finish)


def test_a_driver_that_slept_does_not_blame_its_workers():
    bench = Bench([1.0], lease_s=10.0, lease_factor=1.0)
    bench.start()
    bench.now = 500.0
    assert bench.tell(Tick()) == [], "the lease of 11 s is as long as it was"
    bench.now = 510.0
    assert bench.tell(Tick()) == []
    bench.now = 512.0
    assert of(bench.tell(Tick()), Retire) == [Retire(1, "silent for too long")]


def test_all_that_came_is_heard_before_anybody_is_given_up():
    """The driver is behind: it hears of both workers late, and of the one that lives last."""
    bench = Bench([2.0, 2.0, 1.0], n_workers=2, lease_s=10.0, lease_factor=0.0)
    short, long = of(bench.start(), Assign)
    bench.now = 25.0
    out = bench.answer(short)
    out += bench.tell(Heartbeat(long.worker, long.assignment))
    assert of(out + bench.tell(Tick()), Retire) == []
    bench.now = 50.0
    assert of(bench.tell(Tick()), Retire) == [
        Retire(worker, "silent for too long") for worker in (short.worker, long.worker)
    ]


def test_a_shorter_lease_ends_earlier_than_the_one_before():
    bench = Bench([9.0, 1.0], lease_s=10.0, lease_factor=1.0)
    long = of(bench.start(), Assign)[0]
    assert of(bench.answer(long, seconds=0.1), Assign)
    bench.now = 11.0
    assert of(bench.tell(Tick()), Retire)


def test_a_worker_that_never_comes_up_is_replaced():
    bench = Bench([1.0], spawn_s=10.0)
    bench.tell(Tick())
    bench.now = 11.0
    out = bench.tell(Tick())
    assert of(out, Retire) == [Retire(1, "silent for too long")]
    assert of(out, Spawn) == [Spawn(2)]
    assert of(bench.tell(WorkerUp(1, "a")), Retire) == [Retire(1, "not expected any more")]


def test_a_worker_that_grew_is_replaced_between_assignments():
    bench = Bench([1.0, 1.0], recycle_bytes=1000)
    order = of(bench.start(), Assign)[0]
    out = bench.tell(Answer(1, order.assignment, result(order.units[0]), peak_rss_bytes=2000))
    assert of(out, Publish)
    assert of(out, Retire)[0].worker == 1
    assert of(out, Spawn)[0].worker == 2
    assert bench.scheduler.snapshot().n_deaths == 0


@pytest.mark.parametrize("is_told", [True, False])
def test_time_left_of_a_run_that_goes_on(is_told):
    """The random classes are behind it and the most expensive ones come first: only the past knows
    the others.
    """
    costs = np.random.default_rng(2).permutation(np.geomspace(1, 50, 800))
    efforts = 1000 * costs**0.7
    searched = np.zeros(800, np.bool_)
    searched[:40] = searched[np.argsort(costs)[-200:]] = True
    left = dict(zip(range(0, 8000, 10), efforts[~searched].tolist(), strict=False))
    bench = Bench(
        costs[~searched],
        history=History(costs[searched], efforts[searched]) if is_told else NO_HISTORY,
    )
    out = bench.start()
    for _ in range(5):
        effort = left.pop(of(out, Assign)[0].units[0].class_id)
        out = bench.answer(of(out, Assign)[0], seconds=effort / 250, n_terms=round(effort))
    right = pytest.approx(sum(left.values()) / 250, rel=0.05)
    assert (bench.scheduler.snapshot().remaining_s == right) is is_told


@pytest.mark.parametrize("scatter", [0.3, 1.0])
def test_the_interval_of_the_time_left_holds_the_truth_of_classes_like_those_before(scatter):
    """Stored classes tell the pace, how far costs scatter about the predictions, and what the other
    shares take.
    """
    costs = np.geomspace(1, 50, 600)
    elsewhere = []
    widths = []
    rng = np.random.default_rng(6)
    n_right = 0
    for _ in range(100):
        efforts = 1000 * costs**0.7 * rng.lognormal(0, scatter, 600)
        known, own, other = map(np.sort, np.split(rng.permutation(600), [120, 400]))
        past = History(costs[known], efforts[known], float(efforts[known].sum()) / 250)
        report = Bench(
            costs[own], history=past, elsewhere=costs[other], n_workers=2
        ).scheduler.snapshot()
        assert report.remaining_low_s
        assert report.remaining_high_s
        n_right += report.remaining_low_s < efforts[own].sum() / 250 < report.remaining_high_s
        elsewhere.append(report.elsewhere_s * 250 / efforts[other].sum())
        widths.append(report.remaining_high_s / report.remaining_low_s)
    assert n_right >= 95
    assert np.median(widths) < 5, "an interval that holds anything says nothing"
    assert np.mean(elsewhere) == pytest.approx(1, rel=0.05)
    assert Bench(costs).scheduler.snapshot().remaining_low_s is None, "nothing is known"
    one = History(costs[:1], costs[:1], 1.0)
    report = Bench(costs, history=one).scheduler.snapshot()
    assert (report.remaining_s is None, report.remaining_low_s) == (False, None), "too little"


def test_the_interval_of_the_time_left_holds_the_truth_of_published_runs():
    """Classes that are left are not like those before: the expensive ones end first."""
    told = []
    for name in RUNS:
        told += [one for one in all_replayed(name) if one.low is not None]
    n_held = sum(one.holds for one in told)
    assert len(told) >= 300
    assert n_held >= 0.95 * len(told)
    widths = sorted((one.high or 0) / (one.low or 1) for one in told)
    assert widths[len(widths) // 2] < 5, "an interval that holds anything says nothing"


def test_the_interval_of_parts_alone_is_as_wide_as_they_scatter():
    """All classes have their verdicts, and their parts are open."""
    costs = np.ones(40)
    history = History(costs, costs, 40.0)
    bench = Bench(np.empty(0), children=[Unit(7, f"4={x}") for x in "abcdef"], history=history)
    out = bench.start()
    for seconds in (1.0, 9.0, 2.0, 8.0):
        out = bench.answer(of(out, Assign)[0], seconds=seconds)
    report = bench.scheduler.snapshot()
    assert report.remaining_low_s
    assert report.remaining_high_s
    assert report.remaining_s == pytest.approx(2 * 5.0, rel=0.05)
    assert report.remaining_low_s < 8.0 < 12.0 < report.remaining_high_s


def test_time_left_is_not_guessed_from_another_kind_of_unit():
    """Parts of an earlier run come first: what they took says nothing about the classes behind
    them.
    """
    bench = Bench(np.ones(3), children=[Unit(7, "4=a")])
    out = bench.start()
    out = bench.answer(of(out, Assign)[0], seconds=4.0)
    assert bench.scheduler.snapshot().n_classes_done == 1
    assert bench.scheduler.snapshot().remaining_s is None
    out = bench.answer(of(out, Assign)[0], seconds=9.0)
    assert bench.scheduler.snapshot().remaining_s == pytest.approx(2 * 9.0)
    bench.answer(of(out, Assign)[0], "4=a", seconds=9.0)
    assert bench.scheduler.snapshot().remaining_s == pytest.approx(9.0 + 4.0)
    assert Bench(np.ones(2), children=[Unit(7, "4=a")]).scheduler.snapshot().remaining_s is None


@pytest.mark.parametrize(
    ("n_classes", "n_answers"),
    [(10_000, 40), pytest.param(1_000_000, 80, marks=pytest.mark.nightly)],
)
def test_many_classes_are_cheap(n_classes, n_answers):
    costs = np.random.default_rng(1).random(n_classes)
    tracemalloc.start()
    bench = Bench(costs, n_workers=2, max_batch=4096)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 100 * n_classes
    out = bench.start()
    for _ in range(n_answers):
        out = bench.answer(of(out, Assign)[0], seconds=0.001)
    assert n_classes - bench.scheduler.snapshot().n_open > n_classes // 4


@pytest.mark.parametrize("first", daily((0, 100), range(0, 1000, 100)))
def test_keeps_its_promises(first):
    for seed in range(first, first + 100):
        Simulation(seed).play()


@pytest.mark.parametrize(
    "size",
    [
        Size(500, 40, 700, turn_s=0.1, stay_s=3000.0),
        pytest.param(Size(4096, 256, 5000, turn_s=0.1, stay_s=3000.0), marks=pytest.mark.nightly),
    ],
)
def test_keeps_its_promises_with_many_workers_on_machines_that_go(size):
    for seed in range(2):
        run = Simulation(seed, size).play()
        assert run.scheduler.snapshot().n_deaths > size.n_workers / 2
        assert len(run.published) > size.n_classes


def n_steps(call, *arguments):
    """Return how many bytecodes a call executes: what it costs, without a clock."""
    n, before = 0, sys.gettrace()

    def trace(frame, event, _):
        nonlocal n
        frame.f_trace_opcodes = True
        n += event == "opcode"
        return trace

    sys.settrace(trace)
    try:
        call(*arguments)
    finally:
        sys.settrace(before)
    return n


def last_steps(n_workers):
    """Return what the events of the last two verdicts of a run cost, when all other workers are
    idle.
    """
    hosts = [f"host{number // 4}" for number in range(n_workers)]
    bench = Bench(np.ones(n_workers), n_workers=n_workers, replicate=1.0)
    orders = of(bench.start(hosts), Assign)
    first, second = orders.pop(0), orders.pop(1)
    while orders:
        order = orders.pop()
        replica = order.replica is not None
        verdict = result(order.units[0])
        answer = Answer(
            order.worker, order.assignment, verdict, hosts[order.worker - 1], is_replica=replica
        )
        orders += of(bench.tell(answer), Assign)
    answers = [
        Answer(order.worker, order.assignment, result(*order.units), hosts[order.worker - 1])
        for order in (first, second)
    ]
    beat = Heartbeat(1, first.assignment)
    gone = WorkerDown(n_workers, "node")
    told = (Tick(), beat, gone, WorkerUp(n_workers + 1, "new"), *answers, Tick())
    return [n_steps(bench.tell, event) for event in told]


def test_what_an_event_costs_does_not_grow_with_the_idle_workers():
    few, many = last_steps(16), last_steps(512)
    assert many == pytest.approx(few, rel=0.5)


def test_storms_do_happen_and_the_same_with_the_same_seed():
    runs = [Simulation(seed).play() for seed in range(60)]
    assert runs[3].log == Simulation(3).play().log
    text = "\n".join("\n".join(run.log) for run in runs)
    signs = (
        "lost Answer, lost WorkerDown, reason='oom', reason='node', alone=True, "
        "silent for too long, Quarantine"
    )
    assert [sign for sign in signs.split(", ") if sign not in text] == []
    assert any(run.scheduler.snapshot().n_duplicates for run in runs)
    assert not all(run.quarantined for run in runs)


def test_an_idle_worker_may_be_silent_for_ever():
    crew = Crew()
    crew.spawn(1, 10.0)
    worker = crew.workers[1]
    crew.come_up(worker, "a")
    for assignment, lease_ends_s, silent in ((5, 20.0, False), (6, 40.0, True)):
        crew.start(worker, assignment, lease_ends_s)
        if not silent:
            crew.rest(worker)
        assert list(crew.silent(30.0 + 20.0 * silent)) == [worker] * silent
