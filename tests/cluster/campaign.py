"""Shoots at every part of real runs at random until they are done, and counts what had to be done
twice.

    python -m tests.cluster.campaign --kills 200 --seed 1         # about an hour on two cores

KINDS lists what is shot at and with which signal; each shot comes when a random number of units has
been broken.  What is stopped goes on after a minute.  A worker without memory is one that may take
no more (RLIMIT_AS).  A machine is starved by forty busy processes for a while.  A driver that died,
or was stopped, is started again by the same command, and ten seconds later at most no process of
the old one may be there.  In the end the digest must be that of an undisturbed run, every unit must
have one row, and the work done twice may not exceed what was in flight, or not yet flushed, when
something died.  After SIGTERM for every process, all that had arrived must be stored.  Assignments
are worth one second instead of seven, so that work gets done between two kills.  A run has work for
KILLS_OF_A_RUN kills; more are spread over several runs, and the kills that a run was too short for
go to the next one.  A pause after each unit makes a short run last: a fast machine would finish it
while what was killed starts again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from orderly_boggle.boardclass.errors import OrderlyError
from orderly_boggle.cluster.driver.driver import default_policy, run
from orderly_boggle.cluster.scheduling.events import Returned
from orderly_boggle.cluster.workers.executors import ProcessExecutor
from orderly_boggle.cluster.workers.worker import checked_breaker
from orderly_boggle.configs.model import RunConfig, SearchConfig
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import FLUSH_ROWS
from tests.cluster.processes import command_line, descendants, workers

ROOT = Path(__file__).resolve().parent.parent.parent
NOTES = "ORDERLY_CAMPAIGN_NOTES"
PAUSE = "ORDERLY_CAMPAIGN_PAUSE_S"
KINDS = {  # victim and signal
    "worker": ("worker", signal.SIGKILL),
    "worker-term": ("worker", signal.SIGTERM),
    "worker-stop": ("worker", signal.SIGSTOP),
    "worker-memory": ("worker", None),
    "driver": ("driver", signal.SIGKILL),
    "driver-starting": ("driver", signal.SIGTERM),
    "all-term": ("driver", signal.SIGTERM),
    "starved": ("machine", None),
}
STOPPED_S = 60.0
STARVED_S = 30.0
N_BUSY = 40
ORPHANS_S = 10.0
KILLS_OF_A_RUN = 40
WAIT_S = 600.0  # a machine that is busy takes minutes to start a worker


def note(*words):
    """Append a line to the notes; short enough to be written in one piece."""
    descriptor = os.open(os.environ[NOTES], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, (" ".join(map(str, words)) + "\n").encode())
    os.close(descriptor)


class NotingBreaker:
    """The real breaker; every verdict is noted, and followed by a pause."""

    def __init__(self, spec):
        self.breaker = checked_breaker(spec)

    @property
    def n_short_layers(self):
        return self.breaker.n_short_layers

    def break_unit(self, unit):
        result = self.breaker.break_unit(unit)
        note("broken", unit.class_id, unit.path)
        time.sleep(float(os.environ[PAUSE]))
        return result

    def replicate(self, unit, paths, seed):
        return self.breaker.replicate(unit, paths, seed)


class NotingExecutor(ProcessExecutor):
    """The real executor; what is in flight is noted."""

    def assign(self, order):
        note("given", order.assignment, order.worker, len(order.units))
        super().assign(order)

    def poll(self, timeout_s):
        events = super().poll(timeout_s)
        for event in events:
            if isinstance(event, Returned):
                note("returned", event.assignment)
        return events


def drive(text):
    """Be the driver: run to the end and note the digest; return the exit code of the command
    line.
    """
    config = RunConfig.model_validate_json(text)
    note("session")
    policy = replace(default_policy(config, config.search.memory_mb), batch_s=1.0)
    try:
        outcome = run(
            config, make_executor=lambda spec: NotingExecutor(spec, NotingBreaker), policy=policy
        )
    except OrderlyError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    note("digest", outcome.digest, outcome.complete)
    return 0


@dataclass
class Notes:
    broken: Counter[tuple[str, ...]] = field(default_factory=Counter)
    lately: set[tuple[str, ...]] = field(default_factory=set)  # broken under this driver
    # assignment -> worker, units
    in_flight: dict[str, tuple[int, int]] = field(default_factory=dict)
    digest: str = ""

    @classmethod
    def read(cls, path):
        notes = cls()
        for line in path.read_text().splitlines() if path.exists() else []:
            kind, *words = line.split(" ")
            if kind == "session":
                notes.in_flight, notes.lately = {}, set()
            elif kind == "given":
                notes.in_flight[words[0]] = int(words[1]), int(words[2])
            elif kind == "returned":
                notes.in_flight.pop(words[0], None)
            elif kind == "broken":
                notes.broken[tuple(words)] += 1
                notes.lately.add(tuple(words))
            else:
                notes.digest = words[0]
        return notes

    @property
    def n_in_flight(self):
        return sum(n for _, n in self.in_flight.values())

    @property
    def n_twice(self):
        """Verdicts beyond the first on each unit."""
        return self.broken.total() - len(self.broken)


class Campaign:
    def __init__(self, config, folder, seed, say=lambda text: None, pause_s=0.0):
        self.config = config
        self.pause_s = pause_s  # after each unit
        self.folder = Path(folder)
        self.notes_path = self.folder / "notes"
        self.rng = random.Random(seed)
        self.say = say
        self.kills: Counter[str] = Counter()  # by victim
        self.n_sessions = 0  # drivers started
        self.n_excused = 0  # units that may have been broken twice because something died
        self.child: Any = None

    def undisturbed(self):
        """Return the digest and the number of units of the run when nothing dies."""
        calm = self.config.model_copy(update={"out": str(self.folder / "calm"), "workers": 0})
        outcome = run(calm)
        return outcome.digest, outcome.n_reused + outcome.n_computed

    def start_driver(self):
        """Start the driver, or go on with a new one: what the last one had not stored yet may be
        broken again.
        """
        if self.n_sessions:
            notes = Notes.read(self.notes_path)
            unflushed = len(notes.lately - self.stored())
            assert unflushed <= FLUSH_ROWS + notes.n_in_flight, f"{unflushed} verdicts were lost"
            self.n_excused += unflushed
        self.n_sessions += 1
        environment = {**os.environ, NOTES: str(self.notes_path), PAUSE: str(self.pause_s)}
        # not as __main__: other processes must find the breaker
        code = "import sys; from tests.cluster.campaign import drive; sys.exit(drive(sys.argv[1]))"
        command = [sys.executable, "-c", code, self.config.model_dump_json()]
        with (self.folder / "driver.log").open("ab") as log:
            self.child = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=log
            )

    def play(self, victims, n_units):
        """Kill ``victims`` in order, spread over the ``n_units``, while there are units left;
        return the last notes.

        Between two kills at least one unit is broken: what is killed is at work.  The last quarter
        of the units is left in peace: they take longer than it takes to aim, so that there is
        always somebody to kill.
        """
        marks = sorted(
            self.rng.sample(range(1, max(n_units * 3 // 4, len(victims) + 1)), len(victims))
        )
        self.start_driver()
        n_before = 0
        for victim, mark in zip(victims, marks, strict=True):
            at_least = max(mark, n_before + 1)
            self.wait_until(lambda notes, n=at_least: len(notes.broken) >= n)
            time.sleep(self.rng.uniform(0.0, 0.5))
            if not self.kill(victim):
                break
            n_before = len(Notes.read(self.notes_path).broken)
        self.wait_until(lambda notes: False)
        assert self.child.wait(WAIT_S) == 0
        return Notes.read(self.notes_path)

    def wait_until(self, reached):
        """Wait, at most for the end of the run, with a new driver whenever one has ended before."""
        while not (notes := Notes.read(self.notes_path)).digest and not reached(notes):
            if self.child.poll() is not None and not Notes.read(self.notes_path).digest:
                self.say(f"the driver ended with code {self.child.returncode}")
                self.start_driver()
            time.sleep(0.1)

    def kill(self, kind):
        """Shoot at one process of a kind, once there is one; return whether the run went on for so
        long.
        """
        victim, number = KINDS[kind]
        ends_s = time.monotonic() + WAIT_S
        while not (found := self.find(victim)):
            if Notes.read(self.notes_path).digest:
                return False
            assert time.monotonic() < ends_s, f"no {victim} to kill"
            if self.child.poll() is not None:
                self.start_driver()
            time.sleep(0.1)
        if kind == "driver-starting":
            self.n_excused += Notes.read(self.notes_path).n_in_flight
            self.child.send_signal(signal.SIGTERM)
            self.child.wait(WAIT_S)
            self.start_driver()
            time.sleep(self.rng.uniform(0.0, 3.0))
        process = self.rng.choice(self.find(victim) or found)
        before = Notes.read(self.notes_path)
        family = descendants(self.child.pid)
        if kind == "starved":
            starve()
        elif kind == "worker-memory":
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(process, resource.RLIMIT_AS, (1, resource.RLIM_INFINITY))
        else:
            shoot(family if kind == "all-term" else [process], number)
        self.kills[kind] += 1
        excused = (
            before.n_in_flight
            if victim == "driver"
            else max((n for _, n in before.in_flight.values()), default=0)
        )
        total = self.kills.total()
        self.say(
            f"kill {total}: {kind} {process}, {len(before.broken)} units broken, {excused} "
            "were in flight"
        )
        if victim == "driver":
            self.look_after(kind, family)
            self.start_driver()
        self.n_excused += excused
        return True

    def look_after(self, kind, family):
        """Look at what a driver that was shot at leaves: no process, and its last event if it could
        write one.
        """
        code = self.child.wait(WAIT_S)
        died_s = time.monotonic()
        while left := {process: line for process in family if (line := command_line(process))}:
            assert time.monotonic() < died_s + ORPHANS_S, f"outlive the driver: {left}"
            time.sleep(0.05)
        if kind == "all-term" and not (notes := Notes.read(self.notes_path)).digest:
            n_lost = len(notes.lately - self.stored())
            assert n_lost <= notes.n_in_flight, (
                f"{n_lost} verdicts were lost, {notes.n_in_flight} had not arrived"
            )
            log = (Path(self.config.out) / "events.jsonl").read_text()
            assert (code, json.loads(log.splitlines()[-1])["event"]) == (4, "stopped")

    def find(self, victim):
        """Return the processes of a kind that belong to the driver; none when its work is done."""
        if Notes.read(self.notes_path).digest:
            return []
        if victim != "worker":
            return [self.child.pid]
        return workers(self.child.pid)

    def stored(self):
        """Return the units that have a row with a verdict, as the notes name them."""
        index = open_run(self.config.out).index
        return {(str(class_id), path) for class_id, path in index.places}


def shoot(processes, number):
    """Send a signal to processes; what is stopped goes on after a minute, if it still exists."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            if number == signal.SIGSTOP:
                timer = threading.Timer(STOPPED_S, wake, [os.pidfd_open(process)])
                timer.daemon = True
                timer.start()
            os.kill(process, number)


def starve():
    busy = (
        f"import time; ends_s = time.monotonic() + {STARVED_S}\nwhile time.monotonic() < ends_s: "
        "pass"
    )
    for _ in range(N_BUSY):
        subprocess.Popen([sys.executable, "-S", "-c", busy], start_new_session=True)


def wake(descriptor):
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(descriptor, signal.SIGCONT)
    os.close(descriptor)


def config_of_units(folder, **changes):
    """Return a 3x3 run with the bundled list, cut into a few hundred units by splits."""
    values = {
        "dims": "3x3",
        "cutoff": 430,
        "buckets": f"center: {' '.join(map(chr, range(97, 123)))}, "
        "edge: abcdefghijklmnopqrstuvwxyz, corner: abcdefghijklmnopqrstuvwxyz",
        "search": SearchConfig(memory_mb=256, unit_budget=200_000),
        "workers": 2,
        "out": str(Path(folder) / "run"),
    }
    return RunConfig(**values | changes)


def config_of_classes(folder):
    """Return a 3x3 run with the bundled list and 34,960 small classes."""
    search = SearchConfig(memory_mb=256, fused=[])
    return config_of_units(folder, buckets="bdfgjqvwxz aeiou lnrsy chkmpt", search=search)


def say(text):
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()


def main():
    """Carry out a campaign and print what came of it; exit code 1 when the run was harmed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--victims", default=",".join(KINDS), help="drawn from")
    parser.add_argument("--out", default=None, help="an empty folder; a temporary one by default")
    options = parser.parse_args()
    folder = Path(options.out or tempfile.mkdtemp(prefix="campaign-"))
    say(f"undisturbed run, into {folder}")
    # what is left behind must be here
    os.environ["TMPDIR"] = temporary = tempfile.mkdtemp(prefix="campaign-")
    digest, n_units = Campaign(config_of_classes(folder), folder, options.seed).undisturbed()
    say(f"{n_units} units, digest {digest}")
    victims = random.Random(options.seed).choices(options.victims.split(","), k=options.kills)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    n_runs, is_fine, kinds = 0, True, Counter()
    while kinds.total() < len(victims):
        (folder / str(n_runs)).mkdir()
        config = config_of_classes(folder / str(n_runs))
        campaign = Campaign(config, folder / str(n_runs), f"{options.seed} {n_runs}", say)
        try:
            notes = campaign.play(victims[kinds.total() :][:KILLS_OF_A_RUN], n_units)
        finally:
            campaign.child.kill()
        n_rows, n_runs = len(campaign.stored()), n_runs + 1
        is_unharmed = (
            notes.digest == digest and n_rows == n_units and notes.n_twice <= campaign.n_excused
        )
        say(
            f"{dict(campaign.kills)}, {campaign.n_sessions} drivers, {n_rows} rows, digest "
            f"{notes.digest}"
        )
        say(
            f"{notes.n_twice} verdicts computed again, {campaign.n_excused} were in flight or not "
            "flushed"
        )
        say("unharmed" if is_unharmed else "HARMED")
        kinds += campaign.kills
        is_fine &= is_unharmed
        if not campaign.kills:
            break
    left = [path.name for path in Path(temporary).iterdir()]
    say(
        f"{dict(sorted(kinds.items()))} in {n_runs} runs; left in the temporary folder: "
        f"{left or 'nothing'}"
    )
    return 0 if is_fine and kinds.total() == len(victims) and not left else 1


if __name__ == "__main__":
    sys.exit(main())
