"""``orderly watch``: a run in the terminal, live."""

from __future__ import annotations

import contextlib

from cluster.answers.query import check_run_directory


def watch(directory: str) -> None:
    """Draw a run until q or Ctrl-C."""
    check_run_directory(directory)
    from cluster.watch.terminal import watch as watch_run
    from results.store.run import open_run

    open_run(directory)
    with contextlib.suppress(KeyboardInterrupt):  # ends it like q
        watch_run(directory)
