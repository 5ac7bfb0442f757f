"""Objects that only one thread at a time may use: a second one is told so, instead of spoiling the
memory of the first.

>>> with OneThread("the kettle", "buy one for each thread"):
...     pass
"""

import threading

from orderly_boggle.boardclass.errors import InputError


class OneThread:
    """A block of code that is never entered while it runs: not by another thread, and not by what
    it calls.

    what : the object that is protected, as people name it
    instead : what to do to have several threads work
    """

    def __init__(self, what: str, instead: str) -> None:
        self._message = f"{what} is at work already, and only one thread at a time may use it: "
        self._message += instead
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise InputError(self._message)

    def __exit__(self, *error: object) -> None:
        self._lock.release()
