"""Names of a package that load their module when they are first used: importing the package itself costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package that exports names of its modules (PEP 562).

    package : its ``__name__``
    names : for each module of the package the names that it has
    """
    home_of = {name: f"{package}.{module}" for module, exported in names.items() for name in exported}

    def __getattr__(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home_of[name]), name)

    return __getattr__
