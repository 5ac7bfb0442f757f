"""What can be wrong with a run directory (exit code 3, as StoreError), with the place it is in (6),
or with a question about one (2).

>>> StoreLockedError("in use").exit_code, LimitError("too much").exit_code
(3, 2)
>>> UnreachableError("no answer").exit_code
6
"""

from orderly_boggle.boardclass.errors import InputError, StoreError, UnavailableError


class StoreLockedError(StoreError):
    """Another driver writes to the same run."""


class FingerprintError(StoreError):
    """The run directory belongs to another question: other dims, list, points, cutoff, partition or
    cell order.
    """


class WriteError(StoreError):
    """A file of a run cannot be written: the disk is full, or access is missing; what was stored
    before is safe.
    """

    exit_code = InputError.exit_code


class UnreachableError(StoreError, UnavailableError):
    """The disk or the store that a run is in does not answer, or fails: nothing is known of the run
    itself; what was stored before is safe, and the same command may go on later.
    """

    exit_code = UnavailableError.exit_code


class DamagedError(StoreError):
    """A stored file is not what was written: bits are flipped, or it is cut off, missing or
    swapped.
    """


class NewerError(StoreError):
    """A file of a run tells what this version does not know, as a newer one may write it.  It is
    intact, so nothing repairs it: this version might misread the rows.
    """


class SpecialFileError(StoreError):
    """A link, pipe, socket or device stands where a run has a file or directory, or one of these
    for the other.
    """


class RowError(StoreError):
    """A row breaks the schema or contradicts itself."""


class ConflictError(StoreError):
    """Two rows give one unit different verdicts: a machine or the program is at fault, and neither
    row can be believed.
    """


class LimitError(InputError):
    """A query that takes more time, memory or rows than it may."""
