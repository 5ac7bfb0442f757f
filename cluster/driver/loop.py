"""The run loop: carries events from the executor to the scheduler and instructions back, verdicts to the store.

All waiting is in ``executor.poll``.  Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cluster.driver.ledger import Ledger
from cluster.scheduling.events import (
    Assign,
    Cancel,
    Event,
    Finish,
    Instruction,
    Publish,
    Quarantine,
    Report,
    Retire,
    Spawn,
    Start,
    Tick,
)
from cluster.scheduling.scheduler import Scheduler
from cluster.workers.executors import Executor

POLL_S = 0.5


def _ignore(events: Sequence[Event], orders: Sequence[Instruction]) -> None:
    """Note nothing."""


def run_loop(
    scheduler: Scheduler,
    executor: Executor,
    ledger: Ledger,
    *,
    clock: Callable[[], float],
    stop: Callable[[], str],
    watch: Callable[[Report], None],
    note: Callable[[Sequence[Event], Sequence[Instruction]], None] = _ignore,
    poll_s: float = POLL_S,
) -> Finish:
    """Run until the scheduler finishes and return how.

    Parameters
    ----------
    scheduler, executor, ledger
        The three parties.
    clock : callable
        Seconds, monotonic.
    stop : callable
        Returns why to stop, or an empty string; asked at least every ``poll_s`` seconds.
    watch : callable
        Is shown the scheduler's figures as often.
    note : callable
        Is told all events and all instructions.
    """
    events: list[Event] = [*executor.poll(0.0), Start()]
    while True:
        now_s = clock()
        events = ledger.admit(events)
        orders = [order for event in events for order in scheduler.handle(event, now_s)]
        note(events, orders)
        settled: list[Publish | Quarantine] = []
        finish: Finish | None = None
        for order in orders:
            if isinstance(order, Publish | Quarantine):
                settled.append(order)
            elif isinstance(order, Finish):
                finish = order
            else:
                _carry_out(order, executor)
        ledger.publish(settled)
        watch(scheduler.snapshot())
        if finish is not None:
            return finish
        why = stop()
        events = [Cancel(why)] if why else [*executor.poll(poll_s), Tick()]


def _carry_out(order: Instruction, executor: Executor) -> None:
    match order:
        case Spawn(worker):
            executor.spawn(worker)
        case Assign():
            executor.assign(order)
        case Retire(worker):
            executor.retire(worker)
