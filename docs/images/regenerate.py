"""Draw the pictures of the documentation with the program: ``python docs/images/regenerate.py`` (a
test compares them).

The screenshot report.png is taken by hand from the run of the tutorial.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORDS = f"{HERE}/tree-words.txt"
COMMANDS = (
    ("show", "berlatdes", "--word", "treadles", "--out", "berlatdes.svg"),
    ("show", "perslatgsineters", "--out", "perslatgsineters.svg"),
    ("show", "gesorntreaieslps", "--scores", "words", "--out", "gesorntreaieslps.svg"),
    ("show", "dgntsseaierplrd", "--out", "dgntsseaierplrd.svg"),
    ("show", "dlgnseeiaerstrd", "--out", "dlgnseeiaerstrd.svg"),
    ("bound", "t i ae r", "--tree", "--wordlist", WORDS, "--out", "tree.svg"),
)
EXAMPLE = ROOT / "docs" / "examples" / "chart.py"


def regenerate(folder: Path) -> None:
    """Write the pictures into a folder."""
    for command in COMMANDS:
        _python(
            "-c",
            "from orderly_boggle.cluster.cli.start import main; main()",
            *command,
            folder=folder,
        )
    _python(str(EXAMPLE), folder=folder)


def _python(*arguments: str, folder: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT), "ORDERLY_WORDLISTS": ""}
    subprocess.run(
        [sys.executable, *arguments], cwd=folder, env={**os.environ, **environment}, check=True
    )


if __name__ == "__main__":
    regenerate(HERE)
