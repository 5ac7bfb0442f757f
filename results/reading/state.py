"""The state of a run: the words, and the one rule by which every command and page finds the word."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """What is said of a run in one word."""

    PROVEN = "proven"  # its rows prove the answer
    FAULTY = "faulty"  # its rows contradict each other or the run: more searching does not help
    RUNNING = "running"  # a driver works on it
    INCOMPLETE = "incomplete"  # something is missing, and nobody works on it
    READING = "reading"  # its rows have not been read since they changed
    UNREADABLE = "unreadable"  # it is damaged, or is not a run


def state_of(rows: State | None, *, is_running: bool, error: str = "") -> State:
    """Return the state of a run.

    Parameters
    ----------
    rows : State or None
        What the rows show (``Summary.state``); None when they have not been read since they changed.
    is_running : bool
        Whether a driver holds its lock.
    error : str
        Why it cannot be read; empty when it can.
    """
    if error:
        return State.UNREADABLE
    if rows in (State.PROVEN, State.FAULTY):
        return rows
    return State.RUNNING if is_running else rows or State.READING
