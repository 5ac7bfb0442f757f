"""Breakers for tests: instant, deterministic, importable by worker processes."""

from __future__ import annotations

import os
import resource
import signal
import time
from dataclasses import replace

import numpy as np

from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.results.log_events import Report
from tests.cluster.simulator import fake_break
from tests.params import Params, spec_of

SPEC = spec_of(
    "2x2",
    ("tea",),
    parse_scores("words").points,
    1,
    "abcdefghijklmnopqrstuvwxyz",
    Params(memory_mb=16),
)

REPORT = Report(  # figures of a run under way
    n_classes=26,
    n_classes_done=13,
    n_open=20,
    best_score=545,
    best_board="abc",
    n_candidates=4,
    n_workers=2,
    n_deaths=1,
    elapsed_s=61.0,
    n_in_flight=3,
    n_split=2,
    n_strikes=1,
    n_requeued=5,
    n_verdicts=40,
    n_measured=13,
)


class FakeBreaker:
    """Verdicts of the simulator, each after ``seconds``."""

    n_short_layers = 0

    def __init__(self, spec, seconds=0.0):
        self.spec = spec
        self.seconds = seconds

    def break_unit(self, unit):
        time.sleep(self.seconds)
        return fake_break(unit, 0, self.seconds)

    def replicate(self, unit, paths, seed):
        result = fake_break(unit, 0, self.seconds)
        return replace(
            result, status="candidates" if result.candidates else "eliminated", children=()
        )


class SlowBreaker(FakeBreaker):
    """A tenth of a second each."""

    def __init__(self, spec):
        super().__init__(spec, 0.1)


class HeldBreaker(FakeBreaker):
    """Answers when a file is there."""

    def __init__(self, file, spec):
        super().__init__(spec)
        self.file = file

    def break_unit(self, unit):
        while not self.file.exists():
            time.sleep(0.02)
        return super().break_unit(unit)


class LateBreaker(FakeBreaker):
    """Two seconds before the first."""

    def __init__(self, spec):
        time.sleep(2.0)
        super().__init__(spec)


class BadBreaker(FakeBreaker):
    """Class 0 raises, class 1 runs out of memory."""

    def break_unit(self, unit):
        if unit.class_id == 0:
            raise ValueError("class 0 is bad")
        if unit.class_id == 1:
            raise MemoryError
        return super().break_unit(unit)


class DeadlyBreaker(FakeBreaker):
    """Class 3 kills its process."""

    def break_unit(self, unit):
        if unit.class_id == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().break_unit(unit)


class HungryBreaker(FakeBreaker):
    """Takes more memory than its process may."""

    def break_unit(self, unit):
        resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
        np.ones(2**32)
        return super().break_unit(unit)


class UnfitBreaker(FakeBreaker):
    """Cannot be made."""

    def __init__(self, spec):
        raise ValueError("no breaker today")
