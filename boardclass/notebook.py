"""A bar in a notebook for what takes long, and what such work tells of itself."""

import sys
from collections.abc import Callable
from typing import Protocol


class HowFar(Protocol):
    """What a function gets that is told of the progress of anything here; most tell more."""

    @property
    def done(self) -> float:
        """Share of the work that is done, 0 to 1."""


def bar() -> Callable[[HowFar], None]:
    """Draw a bar if this is a notebook; return what is told how far the work is.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> tell = bar()
    >>> tell(SimpleNamespace(done=0.5))  # outside of notebooks nothing is shown
    """
    ipython = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        return lambda now: None
    shown = ipython.display.ProgressBar(100)
    shown.display()

    def show(now: HowFar) -> None:
        if int(100 * now.done) > shown.progress:
            shown.progress = int(100 * now.done)

    return show
