"""Takes verdicts of one run over into another that differs in the cutoff only.

Why it is sound.  A stored verdict says of its unit U at cutoff C:

    eliminated    no board of U scores C or more
    candidates    exactly the listed boards of U do (up to the symmetry within U)
    split         the same of the settled parts of U, and that those parts and the children make up
                  U

A higher cutoff C' needs nothing new: of the boards that reach C exactly those with a score of C' or
more reach C'.  The candidates in between are dropped, and a unit whose list becomes empty is
eliminated.

A lower cutoff C' asks about boards between C' and C.  A verdict alone says nothing about them, but
its row may:

- ``max_bound``, in runs whose ``run.json`` says that it covers everything (``Made.covers``), is the
  largest bound of any state and the largest score of any board that the search discarded in U.
  What is not listed scores ``max_bound`` or less, so the list is complete for every cutoff above
  ``max_bound``.
- Where one bound decided a whole unit (no states, no pushes, no splits, no survivors),
  ``max_bound`` is that bound, in whatever version.
- A unit that was split before any part of it was settled says only that its children make it up.

These bounds are the word of whoever computed them.  The driver searches some of the verdicts again
before it takes them over, and the claim names the others (``results.proof.claim.taken_over``).

A part is useful only if everything above it is: otherwise the search splits the class anew, perhaps
elsewhere.  So a row is reused only if the whole chain of splits from the class down to it is
reused.

Both runs have the same size, words, points, buckets, cell order and rules of splitting, so a path
means the same boards in both; none of these depends on the cutoff.  Rows of units that were given
up are left out, and verdicts in doubt (``Run.doubted``).  The doubts come along: another run may
have more verdicts of the same host.

>>> from orderly_boggle.results.store.run import open_run
>>> run = open_run("runs/2x2-scowl70-14")
>>> {row.status for row in taken(run, replace(run.question, cutoff=15))}
{'eliminated'}
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from orderly_boggle.boardclass.scores import reaches
from orderly_boggle.results.errors import FingerprintError
from orderly_boggle.results.proof.claim import DECIDED, decided_at
from orderly_boggle.results.proof.known import check_known
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.identity import refuse_another
from orderly_boggle.results.store.made import EVERYTHING, Extended, Made
from orderly_boggle.results.store.rows import CANDIDATES, ELIMINATED, QUARANTINED, SPLIT, Key, Row
from orderly_boggle.results.store.run import Run, raise_conflicts
from orderly_boggle.results.store.store import FLUSH_ROWS, Store
from orderly_boggle.search.question import Question

_BELIEVED = "nothing is taken over from it"


@dataclass(frozen=True)
class ExtendResult:
    """What was taken from an older run."""

    location: str
    cutoff: int  # of the older run
    n_verdicts: int  # that it has
    n_reused: int  # those that hold at the new cutoff and were stored in the new run
    n_before: int  # units that already had a verdict in the new run
    n_repeated: int | None = None  # searched again beforehand; None: the new cutoff is not lower

    def describe(self) -> str:
        """Return what was reused as a sentence without its end."""
        text = (
            f"reused {self.n_reused:,} of {self.n_verdicts:,} verdicts of {self.location} (cutoff "
            f"{self.cutoff:,})"
        )
        if self.n_before:
            text += f", {self.n_before:,} were there already"
        if self.n_repeated is not None:
            text += (
                f", {self.n_repeated:,} of them searched again first; the claim rests on their "
                "bounds and says so"
            )
        if n_refused := self.n_verdicts - self.n_reused - self.n_before:
            text += (
                f", {n_refused:,} do not hold at the new cutoff or are in doubt, and are searched "
                "again"
            )
        return text


def check_source(run: Run, wanted: Question) -> None:
    """Refuse an older run that a new one may not take verdicts from.

    Raises FingerprintError when more than the cutoff differs; StoreError when the run contradicts
    itself; MismatchError when a run that comes with the program refutes it.
    """
    refuse_another(wanted, replace(run.question, cutoff=wanted.cutoff), run.folder.where(""))
    raise_conflicts(run.conflicts)
    check_known(run, _BELIEVED)


def check_promise(run: Run, source: Run) -> None:
    """Raise FingerprintError when a directory that was begun promises more of its bounds than the
    rows keep that it is to get from another run: whoever took verdicts over from it later would
    believe the promise.
    """
    require_kept(run.folder.where(""), run.made, source.made, "another --out makes one")


def require_kept(where: str, made: Made, given: Made, way_out: str) -> None:
    """Raise FingerprintError when the ``run.json`` of a run promises what that of a giver of rows
    does not.
    """
    if made.covers == EVERYTHING != given.covers:
        raise FingerprintError(
            f"{where} promises that max_bound covers {EVERYTHING} (covers in {files.RUN}), and "
            f"a source does not: a new directory will not promise it; {way_out}"
        )


def inherited(source: Run, made: Made | None = None) -> Made:
    """Return how a run is made that takes verdicts from ``source``."""
    extended = Extended(source.folder.where(""), source.question.cutoff)
    return replace(made or Made(), extends=extended, covers=source.made.covers)


def extend(source: Run, store: Store, n_repeated: int | None = None) -> ExtendResult:
    """Store every verdict of an older run that holds in a new one; units that have a verdict there
    are left alone.
    """
    n_reused = n_before = 0
    # first: a kill must not leave rows of a host here without the doubt about it
    batch = doubts(source, store)
    for row in taken(source, store.question):
        # it would be in doubt here, and searched again only by the next call
        if row.host in store.index.doubted_hosts:
            continue
        # a run that was begun there keeps what it found: its own verdicts rest on nothing else
        if row.key in store.index.places:
            n_before += 1
            continue
        batch.append(row)
        n_reused += 1
        # a kill in the middle leaves whole verdicts, and the same command goes on
        if len(batch) >= FLUSH_ROWS:
            store.append(batch, copied=True)
            batch = []
    store.append(batch, copied=True)
    store.flush()
    n_verdicts = len(source.index.places)
    where = source.folder.where("")
    cutoff = source.question.cutoff
    return ExtendResult(where, cutoff, n_verdicts, n_reused, n_before, n_repeated)


def taken(source: Run, question: Question) -> Iterator[Row]:
    """Yield the verdicts of an older run that hold in a new one, as they are stored there."""
    for row in reusable(source, question.cutoff):
        # the highest cutoff on the way decides what a bound is worth, however often it was taken
        # over
        message = f"{DECIDED}{max(source.question.cutoff, decided_at(row.message))}"
        yield restated(row, row.candidates, question, message)


def doubts(source: Run, store: Store) -> list[Row]:
    """Return the rows by which another run doubts the hosts that a run doubts, about the roots of
    the same classes; of hosts that it doubts already there is none.
    """
    new_hosts = source.index.doubted_hosts - store.index.doubted_hosts
    found = []
    for row in source.rows() if new_hosts else ():
        if row.status == QUARANTINED and row.host in new_hosts:
            found.append(replace(row, fingerprint=store.question.digest, path=""))
    return found


def reusable(source: Run, cutoff: int) -> Iterator[Row]:
    """Yield the verdicts of a run that hold at another cutoff, as they are stored."""
    covers = source.made.covers == EVERYTHING
    parents: dict[Key, Key] = {}
    for key, children in source.index.splits.items():
        parents |= {(key[0], child): key for child in children}
    # a part holds only below splits that hold: else its place in the new run is another
    splits = set()
    for row in sound_verdicts(source):
        if row.status == SPLIT and _holds(row, source, cutoff, covers):
            splits.add(row.key)
    for row in sound_verdicts(source):
        if _holds(row, source, cutoff, covers) and _is_reached(row.key, parents, splits):
            yield row


def sound_verdicts(source: Run) -> Iterator[Row]:
    """Yield the verdicts of a run that another may take over, one a unit: all but those of hosts
    that were contradicted.

    Raises MismatchError when a run that comes with the program refutes it.
    """
    check_known(source, _BELIEVED)
    seen: set[Key] = set()
    for row in source.rows():
        # what a contradicted host found is searched again, here as there
        if not row.is_verdict or row.host in source.index.doubted_hosts or row.key in seen:
            continue
        yield row
        if row.key in source.index.repeated:
            seen.add(row.key)


def _holds(row: Row, source: Run, cutoff: int, covers: bool) -> bool:
    # a higher cutoff: what was below the old one is below the new one
    if reaches(cutoff, source.question.cutoff):
        return True
    # it decided nothing but where to cut, which does not depend on the cutoff
    if row.status == SPLIT and not row.settled:
        return not row.candidates
    efforts = (row.counters[name] for name in ("n_nodes", "n_pushes", "n_splits", "n_survivors"))
    # without the promise only what its own bound eliminated at once: nothing else was discarded
    at_once = row.status == ELIMINATED and row.max_bound > 0 and not any(efforts)
    return (covers or at_once) and not reaches(row.max_bound, cutoff)


def _is_reached(key: Key, parents: Mapping[Key, Key], splits: Collection[Key]) -> bool:
    # from the part up to its class: every split on the way must be taken over, too
    while key[1]:
        parent = parents.get(key)
        if parent is None or parent not in splits:
            return False
        key = parent
    return True


def restated(row: Row, scored: Sequence[tuple[str, int]], question: Question, message: str) -> Row:
    """Return a verdict as one of another run: of its boards, with their scores there, those that
    reach the cutoff are kept.
    """
    # boards between the cutoffs are listed by nobody any more, but they count for max_bound
    kept = tuple(item for item in scored if reaches(item[1], question.cutoff))
    dropped = (score for _, score in scored if not reaches(score, question.cutoff))
    return replace(
        row,
        fingerprint=question.digest,
        status=ELIMINATED if row.status == CANDIDATES and not kept else row.status,
        candidates=kept,
        max_bound=max(row.max_bound, *dropped, 0),
        message=message,
    )
