"""The installed command ``orderly``: the command line in a process of its own."""

import atexit
import gc
import os
import sys


class _NoPandas:
    """Hides pandas: pyarrow would import it, half a second, to see whether a list is a series of
    it.
    """

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("no command needs pandas", name=name)


def _occupy_closed() -> None:
    """Open what was closed of standard input, output and error: the next file would take its
    number, and their output.

    Output goes nowhere then; ``sys.stdin`` stays None, so that who reads it says what is wrong.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            taken = os.open(os.devnull, os.O_RDWR)  # the lowest that is free: this one
            if number:
                setattr(sys, name, os.fdopen(taken, "w", closefd=False))


def _is_run(arguments: list[str]) -> bool:
    """Return whether the command is ``run``; options may stand before it."""
    commands = [word for word in arguments if not word.startswith("-")]
    return commands[:1] == ["run"]


def main() -> None:
    """Run the command line."""
    _occupy_closed()
    if _is_run(sys.argv[1:]):  # before the imports, which take a second
        from orderly_boggle.cluster.driver.signals import end_at_once

        end_at_once()
    sys.meta_path.insert(0, _NoPandas)
    # else it looks through all packages for some
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # no command multiplies matrices; else numpy starts a thread for each core
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # modules and words are no garbage: looking for some took a twentieth of a short command
    gc.set_threshold(100_000)
    atexit.register(gc.disable)  # and no garbage collection at exit
    from orderly_boggle.cluster.cli import app

    app.main()
