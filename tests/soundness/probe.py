"""A small proof from start to end: run, verify, certify and audit all of 2x3; says what the audit found.

python -m tests.soundness.probe FOLDER      prints ``accepted N boards``, ``rejected: ...`` or the error that stopped it

The world is small and full: shapes, absorption, rim tree, fused cells, spent budgets and residual symmetry all occur,
and hundreds of boards reach the cutoff.
"""

from __future__ import annotations

import sys
from pathlib import Path

from boardclass.errors import OrderlyError
from boardclass.wordlist import available_names

LETTERS = "abcdefghijklmnopqrstuvwxyz"
CONFIG = f"""
dims = "2x3"
wordlist = "scowl70"
cutoff = 60
buckets = "edge: aeioqu lnrst bcdfghjkmpvwxyz, corner: {LETTERS}"
workers = 0
[search]
fused = ["edge"]
node_budget = 2000
least_budget = 500
fused_budget = 2000
memory_mb = 64
"""
N_BOARDS = 742  # audited: no leaf of the unmutated program's certificates is rejected, and so many boards are left


def probe(folder: Path) -> str:
    """Return the outcome of a run of :data:`CONFIG` in an empty folder."""
    from cluster.answers.render import Format
    from cluster.cli.certify import certify
    from cluster.cli.verify import verify
    from cluster.driver.driver import run
    from configs.model import load_config
    from results.proof.audit import Rejected, audit

    (folder / "config.toml").write_text(CONFIG)
    directory = folder / "run"
    try:
        outcome = run(load_config(folder / "config.toml", {"out": str(directory)}))
        if not outcome.complete:
            return f"incomplete: {outcome.message}"
        verify(str(directory), fmt=Format.json)
        certify(str(directory), fmt=Format.json)
        found = audit(directory, available_names()["scowl70"])
    except Rejected as error:
        return f"rejected: {error}"
    except (OrderlyError, ValueError, IndexError, KeyError, AssertionError, TypeError) as error:
        return f"stopped: {type(error).__name__}: {error}"
    if not found.complete:
        return f"certificates cover {found.n_boards} of {found.n_boards_all} boards"
    return f"accepted {found.n_listed} boards"


def main() -> None:
    """Print the outcome on the last line."""
    outcome = probe(Path(sys.argv[1]))
    sys.stdout.write("\n" + " ".join(outcome.split()) + "\n")


if __name__ == "__main__":
    main()
