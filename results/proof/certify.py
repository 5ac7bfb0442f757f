"""Certifying: the shapes of the search of some classes are recorded, for audit.py to check.

certify -> chosen_parts             all classes, some, or a sample; each in parts whose tree is
                                    small enough
        -> Certifier.shape          search/certificate.py: searches a part, keeps its shape
        -> write_certificates       once a minute, and at the end

>>> from orderly_boggle.results.store.run import open_run
>>> run = open_run("runs/2x2-scowl70-14")
>>> certifier = Certifier(run.question, ["tea"])
>>> len(list(chosen_parts(run, certifier, Choice(sample=3, force=2))))
3
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from orderly_boggle.boardclass.errors import IncompleteError, InputError, quote
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.results.proof.audit import RunQuestion, Unreadable
from orderly_boggle.results.proof.certificates import certified_parts, write_certificates
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.lock import Lease, say_once, take_lock
from orderly_boggle.results.store.run import Run
from orderly_boggle.search.certificate import Certifier, Shape

Part = tuple[int, str]  # class and the letters forced on its first cells


@dataclass(frozen=True)
class Choice:
    """Which parts of a run to certify: of ``classes`` or of all, or so many drawn.

    force : so many first cells have one letter each in a part; None: as few as it takes
    """

    classes: Sequence[int] | None = None
    sample: int | None = None
    seed: int = 0
    force: int | None = None


@dataclass
class Certified:
    """What was certified now; ``parts_from_before`` had a certificate."""

    parts: int = 0
    parts_from_before: int = 0
    splits: int = 0
    leaves: int = 0
    boards: int = 0
    bytes: int = 0

    def add(self, shape: Shape) -> None:
        """Count a part."""
        self.parts += 1
        self.splits += shape.n_splits
        self.leaves += shape.n_leaves
        self.boards += shape.n_boards


def certify(
    run: Run,
    words: Sequence[str],
    choice: Choice | None = None,
    tell: Callable[[str], object] = str,
    publish_every_s: float = 60,
    stop: Callable[[], str] = str,
) -> Certified:
    """Record the shape of the search of parts of a run; what was recorded before is left as it is.

    ``words`` are those of the run's list; ``tell`` gets the place, and a line a part; ``stop`` is
    asked before each part for a reason to stop.  Raises InputError when no part can be chosen so,
    or the checker would refuse the question; StoreError when the run is in use or damaged;
    IncompleteError when it was stopped; what was certified before is stored then.
    """
    certifier = Certifier(run.question, words)
    parts = chosen_parts(run, certifier, choice or Choice())
    # parts are numbered on from those that are there: two certifiers would use one number
    lock = take_lock(run.folder, wait=say_once())
    try:
        _check_question(run, words)
        return _certified(run, lock, certifier, parts, tell, publish_every_s, stop)
    # also where the place refuses a file: whoever comes next must not wait
    finally:
        lock.release()


def _check_question(run: Run, words: Sequence[str]) -> None:
    """Raise InputError when the checker would refuse what the run is asked, whatever the
    certificates say.
    """
    try:
        RunQuestion(run.question.identity, run.folder.where(files.RUN), words)
    except Unreadable as error:
        raise InputError(f"{error}; so no certificate is made") from error


def _certified(
    run: Run, lock: Lease, certifier: Certifier, parts: Iterable[Part],
    tell: Callable[[str], object], publish_every_s: float, stop: Callable[[], str],
) -> Certified:  # fmt: skip
    """Do what :func:`certify` tells, with the ``lock`` of the run held."""
    # of a run that comes with the program this is a folder of the program
    where = run.folder.where(files.CERTIFICATES)
    tell(f"certificates go into {where}")
    done = Certified()
    stopped_by = ""
    waiting: list[tuple[int, Shape]] = []
    began = time.monotonic()

    def store() -> None:
        nonlocal waiting
        # once: a write that failed may have arrived, and no part may be certified twice
        shapes = waiting
        waiting = []
        # one that slept and lost the run would certify the parts of the next one a second time
        lock.require()
        done.bytes += write_certificates(run, shapes)

    try:
        for class_id, forced in _without(certified_parts(run), parts, done):
            # between parts: each takes seconds, and no write is cut short
            stopped_by = stop()
            if stopped_by:
                break
            shape = certifier.shape(run.partition.class_letters(class_id), forced)
            waiting.append((class_id, shape))
            done.add(shape)
            n_splits = counted(shape.n_splits, "split")
            n_leaves = counted(shape.n_leaves, "leaf", "leaves")
            n_boards = counted(shape.n_boards, "board")
            name = f"class {class_id} {forced}".rstrip()
            tell(f"{name}: {n_splits}, {n_leaves}, {n_boards}")
            # an hour of certifying must not hang on its last minute
            if time.monotonic() - began > publish_every_s:
                store()
                began = time.monotonic()
    finally:
        if waiting:
            store()
    if stopped_by:
        raise IncompleteError(
            f"stopped by {stopped_by}: {counted(done.parts, 'new certificate')} stored in {where}; "
            "the same command goes on with the others"
        )
    return done


def _without(
    certified: dict[int, set[str]], parts: Iterable[Part], done: Certified
) -> Iterator[Part]:
    """Yield the parts that have no certificate, and count the others."""
    for class_id, forced in parts:
        there = certified.get(class_id, set())
        # its boards are in that larger part: no board may be in two certificates
        if any(forced.startswith(other) for other in there):
            done.parts_from_before += 1
            continue
        if any(other.startswith(forced) for other in there):
            raise InputError(
                f"class {class_id} is certified in smaller parts than {quote(forced)}: "
                f"certify the rest of it with --force {max(map(len, there))}"
            )
        yield class_id, forced


def chosen_parts(run: Run, certifier: Certifier, choice: Choice) -> Iterable[Part]:
    """Return the parts that a choice names. Raises InputError when there are none, or too few."""
    n_cells = run.partition.dims.n
    if choice.force is not None and choice.force > n_cells:
        raise InputError(
            f"--force {choice.force}: expected at most the {n_cells} cells of the board"
        )
    if choice.sample is not None:
        return _drawn_parts(run, certifier, choice.sample, choice.seed, choice.force)
    if choice.classes is None:
        classes: Iterable[int] = _all_classes(run)
    else:
        classes = dict.fromkeys(choice.classes)  # no part may be certified twice
    return _parts(run, certifier, classes, choice.force)


def _all_classes(run: Run) -> Iterator[int]:
    for ranks in run.partition.canonical_ranks():
        yield from map(int, ranks)


def _parts(
    run: Run, certifier: Certifier, classes: Iterable[int], force: int | None
) -> Iterator[Part]:
    for class_id in classes:
        for letters in product(*_forced_letters(run, certifier, class_id, force)):
            yield class_id, "".join(letters)


def _forced_letters(run: Run, certifier: Certifier, class_id: int, force: int | None) -> list[str]:
    letters = run.partition.class_letters(class_id)
    if force is None:
        n = certifier.n_to_force(letters)
    else:
        n = force
    return [letters[cell] for cell in certifier.geometry.cell_order[:n]]


def _drawn_parts(
    run: Run, certifier: Certifier, sample: int, seed: int, force: int | None
) -> list[Part]:
    """Return so many parts: a canonical class is drawn, then a letter for each cell that is
    forced.
    """
    parts = _parts(run, certifier, _all_classes(run), force)
    # or the loop below would draw for ever
    n_parts = sum(1 for _ in islice(parts, sample))
    if n_parts < sample:
        raise InputError(
            f"cannot sample {sample:,} of {n_parts:,} parts of the run: --force with a larger "
            "number makes more"
        )
    every = np.concatenate(list(run.partition.canonical_ranks()))
    rng = np.random.default_rng(seed)
    chosen: set[Part] = set()
    while len(chosen) < sample:
        # each class is as likely as any other, however many boards it stands for
        class_id = int(rng.choice(every))
        letters = _forced_letters(run, certifier, class_id, force)
        drawn = [cell[int(rng.integers(len(cell)))] for cell in letters]
        chosen.add((class_id, "".join(drawn)))
    return sorted(chosen)
