"""A bar in a notebook for what takes long."""

import sys
from collections.abc import Callable


def bar() -> Callable[[float], None]:
    """Draw a bar if this is a notebook; return what takes the share that is done, 0 to 1.

    Examples
    --------
    >>> move = bar()
    >>> move(0.5)  # outside of notebooks nothing is shown
    """
    ipython = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        return lambda share: None
    shown = ipython.display.ProgressBar(100)
    shown.display()

    def show(share: float) -> None:
        if int(100 * share) > shown.progress:
            shown.progress = int(100 * share)

    return show
