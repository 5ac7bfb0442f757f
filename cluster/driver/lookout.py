"""What a run needs again when it is resumed, or when a worker starts, looked for while it goes on.

Disks of clusters remove what nobody has used for some time.  The words of a run and its kernels are
in memory by then, so nothing is lost; but the next start needs the list, and new workers compile
for most of a minute.  ``run.json`` is looked after by the store, which puts it back.

>>> lookout = Lookout("scowl70")
>>> lookout.look(now_s=0.0)
[]
"""

import contextlib
import os
from pathlib import Path

from numba import config

from orderly_boggle.boardclass.errors import WordListError
from orderly_boggle.boardclass.wordlist import find_wordlist

LOOK_S = 30.0  # between two looks


class Lookout:
    """Says once of a word list, and of compiled kernels, that they were removed.

    wordlist : its name or path
    kernels : the folder of the compiled ones; by default that of this process
    """

    def __init__(self, wordlist: str, kernels: Path | None = None) -> None:
        self._words: Path | None = Path(wordlist)
        with contextlib.suppress(WordListError):  # a name whose file went since it was read
            self._words = find_wordlist(wordlist).expanduser()
        self._kernels = kernels or Path(config.CACHE_DIR)
        self._n_kernels = 0
        self._n_kernels = self._count()
        self._look_at_s = 0.0

    def look(self, now_s: float) -> list[str]:
        """Return what to say; ``now_s`` is the time of a clock that only goes forward."""
        if now_s < self._look_at_s:
            return []
        self._look_at_s = now_s + LOOK_S
        told = []
        if self._words and _is_gone(self._words):
            told.append(
                f"the word list {self._words} was removed during the run: the search goes on, but "
                "the same command resumes it only with that list, so put it back"
            )
            self._words = None
        n_left = self._count()
        if n_left < self._n_kernels:
            told.append(
                f"{self._n_kernels - n_left:,} of {self._n_kernels:,} compiled kernels were "
                f"removed from {self._kernels} during the run: the search goes on, and workers "
                "that start from now on compile them again, which takes about 40 s"
            )
        self._n_kernels = n_left
        return told

    def _count(self) -> int:
        """Return how many compiled kernels there are; as many as before where no answer comes."""
        n = 0
        try:
            for _, _, names in os.walk(self._kernels, onerror=_pass_over_gone):
                n += sum(name.endswith(".nbi") for name in names)
        except OSError:
            return self._n_kernels
        return n


def _pass_over_gone(error: OSError) -> None:
    """Raise an error, but for that of a folder which was removed after it was listed."""
    if not isinstance(error, FileNotFoundError):
        raise error


def _is_gone(path: Path) -> bool:
    """Return whether a file is not there; an error of another kind, as of a file server that does
    not answer, does not say so.
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        pass
    return False
