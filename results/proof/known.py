"""What the runs that come with the program know of a run that asks the same, but for the cutoff.

    refutation    prove.py         why the run cannot be right
    confirming    verify.py        which of them have the same boards
    check_known   upkeep/          nothing is taken over from a run that one of them refutes

They list every board that reaches their cutoff.  So a run of the same size, list and points must
list, of the boards that reach its own cutoff and theirs, the same with the same scores.  A board
that lies in a class without a verdict may still be found; what is listed already must be right.

Only the record of these runs is read (packaged.py), which is believed as the program is: a
published run whose files were altered is compared with what it was.
"""

from collections.abc import Iterable

from orderly_boggle.boardclass.canonical import images
from orderly_boggle.boardclass.errors import MismatchError
from orderly_boggle.boardclass.partition import Partition
from orderly_boggle.boardclass.scores import reaches
from orderly_boggle.results.proof.claim import unscored_boards
from orderly_boggle.results.proof.packaged import packaged_name, recorded
from orderly_boggle.results.proof.summary import REFUTED, BoardList, Summary
from orderly_boggle.results.store.run import Run
from orderly_boggle.search.question import Question

Boards = dict[str, int]  # scores by canonical board


def refutation(run: Run, listed: BoardList) -> str:
    """Return why a run that lists these boards cannot be right, as a run that comes with the
    program proves; empty when none of them objects.
    """
    asked = run.question
    for name, other in _same_question(asked):
        objection = objection_of(run, listed, other)
        if objection:
            return f"{REFUTED}: {name} {objection}"
    return ""


def check_known(run: Run, ending: str = "do not believe this run") -> None:
    """Raise MismatchError when a run that comes with the program refutes a run."""
    refuted = refutation(run, unscored_boards(run))
    if refuted:
        raise MismatchError(f"{run.folder.where('')} is {refuted}; {ending}")


def confirming(run: Run, listed: BoardList) -> list[str]:
    """Return the names of the other runs that come with the program and prove that no board is
    missing from these.
    """
    own = packaged_name(run.folder.where(""))
    names = []
    for name, other in _same_question(run.question):
        is_wide = other.proven and reaches(run.question.cutoff, other.question.cutoff)
        # a run is no witness for itself
        if name != own and is_wide and not objection_of(run, listed, other):
            names.append(name)
    return names


def _same_question(asked: Question) -> Iterable[tuple[str, Summary]]:
    return recorded(asked.scored)


def objection_of(run: Run, listed: BoardList, other: Summary) -> str:
    """Return in what a list of boards and what another run proves of the same question contradict
    each other; empty when they agree.
    """
    least = max(run.question.cutoff, other.question.cutoff)
    ours = _reaching(listed, least)
    theirs = _reaching(other.listed, least)
    for board, score in theirs.items():
        if ours.get(board) == score:
            continue
        if board in ours:
            return f"has {score:,} points for {board}, its rows say {ours[board]:,}"
        if _is_settled(run, board):
            return (
                f"lists {board}, which scores {score:,} and so reaches the cutoff "
                f"{run.question.cutoff:,}; its rows do not"
            )
    more = sorted(ours.keys() - theirs.keys())
    if more and other.proven:
        return f"does not list {more[0]}, which has {ours[more[0]]:,} points in its rows"
    return ""


def _reaching(listed: BoardList, cutoff: int) -> Boards:
    """Return the boards that reach a cutoff, best first."""
    scores = {}
    for item in listed.boards:
        if reaches(item.score, cutoff):
            scores[item.board] = item.score
    return scores


def _is_settled(run: Run, board: str) -> bool:
    """Return whether the canonical class of a board, or of one of its images, is settled down to
    its leaves, so that the rows must list the board.
    """
    done = set(run.index.done_ids().tolist())
    unsettled = {*run.index.pending(), *run.index.quarantined, *run.conflicts, *run.doubted}
    done.difference_update(class_id for class_id, _ in unsettled)
    partition = run.partition
    for image in images(board, partition.geometry):
        if rank_of(partition, "".join(image)) in done:
            return True
    return False


def rank_of(partition: Partition, board: str) -> int:
    """Return the number of the class that a board belongs to.

    >>> from orderly_boggle.boardclass import parse_partition
    >>> rank_of(parse_partition("aeiou bcdfghjklmnpqrstvwxyz", "2x2"), "tate")
    5
    """
    rank = 0
    weight = 1
    for letter, buckets in zip(board, partition.cell_buckets, strict=True):
        digit = next(i for i, bucket in enumerate(buckets) if letter in bucket)
        rank += digit * weight
        weight *= len(buckets)
    return rank
