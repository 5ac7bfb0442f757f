"""What a process of a figure does, in a module that imports no more than a worker needs: its start
is part of it.
"""

from __future__ import annotations

import time
from typing import Any

from orderly_boggle.cluster.workers.worker import break_all
from orderly_boggle.search.breaker import Breaker, Spec


def break_share(spec: Spec, class_ids: list[int], queue: Any) -> tuple[float, int, int]:
    """Break classes from a shared queue; return CPU seconds, boards found and the best score."""
    found = break_all(Breaker(spec), (class_ids[at] for at in iter(queue.get, None)))
    return time.process_time(), len(found), max((score for _, score in found), default=0)
