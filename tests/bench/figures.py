"""The figures that this program is judged by, measured and kept: ``make bench``.

    python -m tests.bench [--only NAME ...] [--history FILE]

Each figure is printed next to what it must be and added with machine, commit and time as one line
of JSON to the history, ``benchmarks.jsonl``.  CPU seconds are those of the processes that do the
work, start-up included.  Needs the word list enable2k (in a folder of $ORDERLY_WORDLISTS).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.cluster.planning.estimate import estimate
from orderly_boggle.cluster.planning.plan import Plan, make_plan
from orderly_boggle.cluster.workers.executors import ProcessExecutor
from orderly_boggle.cluster.workers.ray_cluster import LOCAL
from orderly_boggle.cluster.workers.ray_executor import RayExecutor
from orderly_boggle.configs.model import load_config
from orderly_boggle.search import node_search
from orderly_boggle.search.breaker import Breaker, Unit
from orderly_boggle.search.costs import predicted_costs
from orderly_boggle.search.scoring.scorer import Scorer, encode_boards
from orderly_boggle.search.trees import arrays, bound, sums
from tests.bench import rows
from tests.bench.process import break_share
from tests.bench.scheduling import scheduler_cost
from tests.bench.workers import together

WORDLIST = "enable2k"
BEST = "perslatgsineters"
PROCESSES = 2
ROOT = Path(__file__).resolve().parent.parent.parent
HISTORY = ROOT / "benchmarks.jsonl"


class Figure(NamedTuple):
    """One measured figure: what it is, its value and unit, what it must reach, and what else was
    seen.
    """

    name: str
    value: float
    unit: str
    must: float
    seen: dict[str, Any]

    @property
    def is_met(self) -> bool:
        """Whether the figure is good enough: rates and gains must be reached, everything else must
        not be passed.
        """
        is_gain = self.unit == "times" or self.unit.endswith("/s")
        return self.value >= self.must if is_gain else self.value <= self.must


def _plan(dims: str, cutoff: int) -> Plan:
    return make_plan(load_config(dims, {"wordlist": WORDLIST, "cutoff": cutoff}))


def complete(
    dims: str, cutoff: int, must: float, processes: int = PROCESSES, every: int = 1
) -> Figure:
    """CPU seconds of a search of all classes, or of one in so many, in new processes and in the
    order of a run.
    """
    plan = _plan(dims, cutoff)
    ids = plan.question.class_ids()
    ids = ids[np.argsort(-predicted_costs(plan.question, ids), kind="stable")][::every]
    context = multiprocessing.get_context("spawn")
    began = time.monotonic()
    with context.Manager() as manager, ProcessPoolExecutor(processes, context) as pool:
        queue = manager.Queue()
        for at in [*range(len(ids)), *[None] * processes]:
            queue.put(at)
        shares = [
            pool.submit(break_share, plan.spec, ids.tolist(), queue) for _ in range(processes)
        ]
        found = [share.result() for share in shares]
    seen = {
        "processes": processes,
        "wall_s": round(time.monotonic() - began, 1),
        "n_classes": len(ids),
        "n_boards": sum(n for _, n, _ in found),
        "best": max(best for *_, best in found),
    }
    return Figure(
        f"{dims} complete, cutoff {cutoff}", sum(cpu for cpu, *_ in found), "s CPU", must, seen
    )


def scorer_rate(name: str, boards: np.ndarray[Any, np.dtype[np.uint8]], must: float) -> Figure:
    """Exact scores of 4x4 boards by one core, per CPU second: the median of five rounds."""
    scorer = Scorer("4x4", load_wordlist(WORDLIST).words, parse_scores("standard"))
    scorer.scores(boards[:1000])
    rates = []
    for _ in range(5):
        began = time.process_time()
        scorer.scores(boards)
        rates.append(len(boards) / (time.process_time() - began))
    return Figure(
        f"scorer, {name}",
        statistics.median(rates),
        "/s",
        must,
        {"rounds": [round(rate) for rate in rates]},
    )


def random_boards() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """200,000 boards of letters drawn alike."""
    return np.random.default_rng(1).integers(0, 26, (200_000, 16), np.uint8)


def variations() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The best board with one or two cells changed, 60,000 times."""
    rng = np.random.default_rng(1)
    boards = np.repeat(encode_boards([BEST], 16), 60_000, 0)
    for _ in range(2):
        boards[np.arange(len(boards)), rng.integers(0, 16, len(boards))] = rng.integers(
            0, 26, len(boards)
        )
    return boards


def whole_4x4(must: float) -> Iterator[Figure]:
    """The estimate of all of 4x4 from a sample that the seed fixes: CPU hours, and the memory of a
    worker.
    """
    found = estimate(_plan("4x4", 3500), seconds=480, seed=1, processes=PROCESSES)
    seen = {
        "low": found.low,
        "high": found.high,
        "n_probes": found.n_probes,
    }
    yield Figure(
        "4x4, cutoff 3500, estimate",
        found.cpu_hours,
        "h CPU",
        must,
        seen | {"wall_s": found.seconds},
    )
    yield Figure("4x4, upper end of its interval", found.high, "h CPU", 80, {})
    yield Figure("4x4, memory of a worker", found.memory_mb / 1024, "GiB", 2.0, {})


def prices(must: float) -> Iterator[Figure]:
    """Nanoseconds that a push and a term cost in six classes of 4x4, from weak to strong, all with
    a fused cell.

    A term is charged with all that is not OrderlyBound: rims and bases, whose terms are not
    counted, sorting, merging.
    """
    plan = make_plan(
        load_config(
            "4x4", {"wordlist": WORDLIST, "cutoff": 3600, "search": {"unit_budget": 1 << 60}}
        )
    )
    breaker = Breaker(plan.spec)
    seconds = [0.0]

    def timed(kernel: Callable[..., int], *arguments: Any) -> int:
        began = time.process_time()
        status = kernel(*arguments)
        seconds[0] += time.process_time() - began
        return int(status)

    each = []
    with (
        mock.patch.object(bound, "orderly_bound", partial(timed, bound.orderly_bound)),
        mock.patch.object(
            node_search, "bound_last_levels", partial(timed, node_search.bound_last_levels)
        ),
    ):
        for class_id in PRICED:
            began, seconds[0] = time.process_time(), 0.0
            counters = breaker.break_unit(Unit(class_id)).counters
            growing = time.process_time() - began - seconds[0]
            each.append((growing, counters["n_terms"], seconds[0], counters["n_pushes"]))
    growing, n_terms, searching, n_pushes = map(sum, zip(*each, strict=True))
    seen = {"classes": PRICED, "s": [round(row[0] + row[2], 1) for row in each]}
    yield Figure(A_PUSH, 1e9 * searching / n_pushes, "ns", must, {**seen, "n_pushes": n_pushes})
    yield Figure(A_TERM, 1e9 * growing / n_terms, "ns", 110, {**seen, "n_terms": n_terms})


def newest_prices(history: Path = HISTORY) -> tuple[float, float, str]:
    """Return what a term and a push cost when they were measured last, in ns, and the commit and
    day of that.
    """
    lines = (
        [json.loads(line) for line in history.read_text().splitlines()] if history.is_file() else []
    )
    found = {line["figure"]: line for line in lines if line["figure"] in (A_TERM, A_PUSH)}
    if len(found) < 2:
        raise InputError(
            f"no prices in {history}: measure them with python -m tests.bench --only prices"
        )
    term, push = found[A_TERM], found[A_PUSH]
    return (
        term["value"],
        push["value"],
        f"{push['processor']}, commit {push['commit']}, {push['time'][:10]}",
    )


def two_workers(must: float) -> Figure:
    """How much faster two processes search a fourth of 3x4 than one: they share memory and
    caches.
    """
    walls = [
        float(complete("3x4", 1500, 0, processes, every=4).seen["wall_s"]) for processes in (1, 2)
    ]
    return Figure(
        "3x4, two workers against one", walls[0] / walls[1], "times", must, {"wall_s": walls}
    )


def scheduling() -> Iterator[Figure]:
    """What the scheduler costs by itself, steady and at the end of a run."""
    for n_workers in (1024, 4096):
        cost = scheduler_cost(n_workers)
        name = f"scheduler, {n_workers:,} workers"
        seen = {"report_ms": round(cost.report_ms, 2)}
        yield Figure(f"{name}, steady", cost.steady_ms, "ms CPU", 1.0, seen)
        yield Figure(f"{name}, last 20 verdicts", cost.last_ms, "ms CPU", 2.0, {})


def commands() -> Iterator[Figure]:
    """What is asked often, from start to end: the median of five."""
    for must, *words in ((0.5, "status", ONE), (0.6, "show", "berlatdes"), (1.0, "top", ONE)):
        spent = statistics.median(rows.orderly(*words).cpu_s for _ in range(5))
        yield Figure(" ".join(words), spent, "s CPU", must, {})


def million_rows() -> Iterator[Figure]:
    """Readers of a run of a million classes, and the driver that goes on with it."""
    must = {"status": 6.0, "verify --quick": 10.0, "resume": 4.0}
    memory_mib = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, spent in rows.measured(1_000_000, Path(folder)):
            memory_mib = max(memory_mib, spent.memory_mib)
            yield Figure(f"a million rows, {name}", spent.cpu_s, "s CPU", must[name], {})
    yield Figure("a million rows, largest memory", memory_mib, "MiB", 600, {})


def eight_workers() -> Iterator[Figure]:
    """Memory and start of eight workers of a machine that search 4x4 at the same time: processes,
    then those of Ray.
    """
    plan = make_plan(load_config(ONE))
    for kind, executor in (
        ("worker", ProcessExecutor(plan.spec)),
        ("Ray worker", RayExecutor(plan.spec, 8, address=LOCAL)),
    ):
        seen = together(executor, plan, many=8, classes_each=2)
        mean_mib, each = statistics.mean(seen.memory_mib), {"each_mib": seen.memory_mib}
        yield Figure(f"4x4, memory of a {kind} among eight", mean_mib / 1024, "GiB", 1.3, each)
        yield Figure(f"4x4, second to eighth {kind} ready", max(seen.ready_s[1:]), "s", 2.0, {})


ONE = "4x4-enable2k"
PRICED = (20040, 23446, 31785, 35400, 18722, 16081)
A_PUSH, A_TERM = "4x4, a push", "4x4, a term"

FIGURES: dict[str, Callable[[], Iterable[Figure]]] = {
    "random": lambda: [scorer_rate("random 4x4 boards", random_boards(), 150_000)],
    "variations": lambda: [scorer_rate(f"variations of {BEST}", variations(), 25_000)],
    # the median of three: the first touch of memory that the host must provide takes up to 0.9 s
    "3x3": lambda: sorted(
        (complete("3x3", 500, 5.5, processes=1) for _ in range(3)), key=lambda one: one.value
    )[1:2],
    "commands": commands,
    "rows": million_rows,
    "scheduler": scheduling,
    "prices": lambda: list(prices(40)),
    "4x4": lambda: list(whole_4x4(60)),
    "workers": eight_workers,
    "3x4": lambda: [complete("3x4", 1500, 520)],
    "two workers": lambda: [two_workers(1.9)],
}


def processor() -> str:
    """Return the model of the processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


def machine() -> dict[str, Any]:
    """Return what the figures depend on: processor, cores, load, versions and the commit."""
    others = ("--", ".", f":!{HISTORY.name}")  # these figures are being added to it

    def git(*command: str) -> str:
        return subprocess.run(
            ["git", *command], cwd=ROOT, capture_output=True, check=False, text=True
        ).stdout.strip()

    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": git("describe", "--always")
        + "-dirty" * bool(git("diff", "HEAD", "--name-only", *others)),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "letter sums": sums.VERSION,
        "sort": "numpy" if arrays.numpy_sorts_faster() else "radix",
    }


def main() -> int:
    """Measure, print, keep; return 1 if a figure misses what it must be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(FIGURES), default=list(FIGURES))
    parser.add_argument("--history", type=Path, default=HISTORY)
    options = parser.parse_args()
    all_met = True
    for name in options.only:
        about = machine()
        for figure in FIGURES[name]():
            line = {
                **about,
                "figure": figure.name,
                "value": round(figure.value, 2),
                "unit": figure.unit,
            }
            with options.history.open("a") as history:
                history.write(json.dumps({**line, "must": figure.must, **figure.seen}) + "\n")
            met = "met" if figure.is_met else "MISSED"
            sys.stdout.write(
                f"{figure.name:45}{figure.value:12,.4g} {figure.unit:6} must "
                f"{figure.must:,g}: {met}\n"
            )
            sys.stdout.flush()
            all_met &= figure.is_met
    return 0 if all_met else 1
