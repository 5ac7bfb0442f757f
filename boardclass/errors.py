"""The one tree of errors, by who must react: the user (bad input) or the operator of a run (store,
coverage, mismatch).

The exit code of the command line is a property of the error, so that no command chooses its own.

>>> BoardError("no board").exit_code, MismatchError("another score").exit_code
(2, 5)
>>> UnavailableError("no answer").exit_code, NoProgressError("no room").exit_code
(6, 7)
>>> quote("a" * 100, 12)
"'aaaaaa...aaa'"
"""

GIT_POINTER = b"version https://git-lfs.github.com/spec/"  # what git-lfs keeps of a large file


class OrderlyError(Exception):
    """Base of every error that is shown as one message, without a traceback."""

    exit_code: int = 2
    leaves_at_once: bool = False  # whether the process must end without cleaning up


class InputError(OrderlyError):
    """Something the user gave cannot be used; nothing has been written."""


class WordListError(InputError):
    """A word list that is missing, damaged or in another format."""


class PartitionError(InputError):
    """Letter buckets or a board class that do not fit the board or the alphabet."""


class PathError(InputError):
    """A path of parts, such as ``5=ab/6=t``, that is malformed or names nothing."""


class DimsError(InputError):
    """Board dimensions outside the supported ones."""


class BoardError(InputError):
    """A text that is not a board of the expected size."""


class ScoreError(InputError):
    """A score table that cannot be read or would overflow."""


class ConfigError(InputError):
    """A run configuration with unknown keys or unusable values."""


class StoreError(OrderlyError):
    """A run directory that is damaged or belongs to another run."""

    exit_code = 3


class IncompleteError(OrderlyError):
    """A run that ended before every class had its verdict."""

    exit_code = 4


class NoProgressError(IncompleteError):
    """A run that ended before every class had its verdict, and that the same command would not
    bring further: it needs more memory, more time, or a repair.
    """

    exit_code = 7


class MismatchError(OrderlyError):
    """A verification that found something other than the run recorded."""

    exit_code = 5


class UnavailableError(OrderlyError):
    """A machine, a store or a cluster that could not be reached, or failed: the same command may
    succeed later.
    """

    exit_code = 6


def quote(value: object, limit: int = 60) -> str:
    """Return ``repr(value)``, shortened in the middle to about ``limit`` characters, for
    messages.
    """
    if isinstance(value, str):
        text = value
    else:
        text = repr(value)
    if len(text) > limit:
        text = f"{text[: limit // 2]}...{text[-(limit // 4) :]}"
    if isinstance(value, str):
        return repr(text)
    return text
