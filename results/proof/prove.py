"""What the rows of a run prove.  Every reader works it out again: nothing that a run says about itself is believed.

    prove -> unscored_boards    the boards, with the scores that the rows give                      rescore.py
          -> check_coverage     every board in exactly one unit with a verdict                      coverage.py
          -> Run.doubted        no verdict rests on a host that was contradicted
          -> the board that the cutoff was climbed to is among those listed

While something is plainly open, the rows are not checked one by one, so a reader of a run under way answers at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from boardclass.canonical import canonical_board
from boardclass.cutoff import reaches
from boardclass.errors import IncompleteError, MismatchError
from boardclass.geometry import geometry
from boardclass.printable import counted
from results.proof.coverage import Coverage, check_coverage, foreign_rows, unit_name
from results.proof.coverage import listed as listed_names
from results.proof.rescore import BoardList, unscored_boards
from results.storage import files
from results.store.run import Run


@dataclass(frozen=True)
class Proof:
    """What the rows prove, and what is missing.

    Attributes
    ----------
    listed : BoardList
        The boards that the rows list.
    coverage : Coverage or None
        None while something is plainly open.
    missing : tuple of str
        What is still to be done, a sentence each.
    faults : tuple of str
        What cannot be true of a sound run, a sentence each.
    """

    listed: BoardList
    coverage: Coverage | None
    missing: tuple[str, ...]
    faults: tuple[str, ...]

    @property
    def proven(self) -> bool:
        """Whether the listed boards are all boards that reach the cutoff, provided that each verdict is right."""
        return not self.missing and not self.faults and self.coverage is not None and self.coverage.complete

    @property
    def why_not(self) -> str:
        """What stands against it, the most serious first; empty when proven."""
        return "; ".join((*self.faults, *self.missing))

    def require(self, where: str) -> Coverage:
        """Return the coverage of a proven run.

        Raises
        ------
        MismatchError
            When there are faults.
        IncompleteError
            When something is missing.
        """
        if self.faults:
            raise MismatchError(f"the rows in {where} do not fit together: {'; '.join(self.faults)}")
        if self.missing or self.coverage is None:
            raise IncompleteError(f"the run in {where} proves nothing yet: {'; '.join(self.missing)}")
        self.coverage.require_complete()
        return self.coverage


def prove(run: Run, *, thorough: bool = False) -> Proof:
    """Return what the rows of a run prove.

    Parameters
    ----------
    run : Run
        As it is on disk.
    thorough : bool
        Look at every row even when something is plainly open.

    Raises
    ------
    StoreError
        When a file is damaged or a row breaks a rule.
    """
    listed = unscored_boards(run)
    missing, foreign = _open(run), foreign_rows(run)
    faults = [foreign] if foreign else []
    if run.conflicts:
        named = listed_names([unit_name(key) for key in run.conflicts])
        units = counted(len(run.conflicts), "unit has", "units have")
        faults.append(f"{units} contradicting verdicts ({named})")
    coverage = None
    if thorough or not (missing or faults):
        coverage = check_coverage(run)
        if coverage.n_problems:
            faults = [coverage.message()]
        elif not coverage.complete:
            missing = [coverage.message(), *_in_doubt(run)]
    if not missing and (lost := _lost_climb(run, listed)):
        faults.append(lost)
    return Proof(listed, coverage, tuple(missing), tuple(faults))


def _open(run: Run) -> list[str]:
    """Return what the index shows to be open."""
    index, partition = run.index, run.partition
    n_done, n_pending = len(index.done_ids()), sum(1 for _ in index.pending())
    classes = counted(partition.n_canonical, "class", "classes")
    told = [
        (len(index.quarantined), "unit was given up", "units were given up"),
        (partition.n_canonical - n_done, f"of {classes} has no verdict", f"of {classes} have no verdict"),
        (n_pending, "part of a class has no verdict", "parts of classes have no verdict"),
    ]
    return [counted(n, one, many) for n, one, many in told if n > 0] + _in_doubt(run)


def _in_doubt(run: Run) -> list[str]:
    doubted = run.doubted
    if not doubted:
        return []
    hosts = ", ".join(sorted(run.index.doubted_hosts))
    return [
        f"{len(doubted):,} verdicts come from hosts that replicas contradicted ({hosts}): the command that made the "
        "run searches them again"
    ]


def _lost_climb(run: Run, listed: BoardList) -> str:
    """Return what to say if the board that the cutoff was climbed to is not listed with its score."""
    climbed = run.info.get("climbed")
    if climbed is None:
        return ""
    where, shape = run.folder.where(files.RUN), geometry(run.fingerprint.dims)
    board, score = climbed.get("board", ""), climbed.get("score")
    if len(board) != shape.n or score is None:
        return f"{where} does not say which board the cutoff was climbed to"
    if reaches(score, run.fingerprint.cutoff):
        image = canonical_board(board, shape)
        if not any((item.board, item.score) == (image, score) for item in listed.boards):
            return f"{where} says that the search began from {board}, which scores {score:,}; the rows do not list it"
    return ""
