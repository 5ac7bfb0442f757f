"""Processes that share out the work of one command."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

_SAFE_PATH = "PYTHONSAFEPATH"


@contextlib.contextmanager
def pool(n: int, begin: Callable[..., None] | None = None, *values: Any) -> Iterator[ProcessPoolExecutor]:
    """Run ``n`` processes for a while; each calls ``begin(*values)`` first.

    They start as ``python -P`` does, without the folder at hand among the places of modules: it may be a stranger's.
    The environment says so, because :mod:`multiprocessing` starts a process of its own besides, and changes back.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        with ProcessPoolExecutor(n, multiprocessing.get_context("spawn"), begin, values) as executor:
            yield executor
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before
