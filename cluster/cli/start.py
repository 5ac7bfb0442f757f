"""The installed command ``orderly``: the command line in a process of its own."""

from __future__ import annotations

import sys


class _NoPandas:
    """Hides pandas: pyarrow would import it, half a second, to see whether a list is a series of it."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("no command needs pandas", name=name)


def main() -> None:
    """Run the command line."""
    sys.meta_path.insert(0, _NoPandas)
    from cluster.cli import app

    app.main()
