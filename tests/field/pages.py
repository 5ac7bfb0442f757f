"""Tables that a script writes into a page of docs, between marks.

>>> between("a\\n<!-- x -->\\nold\\n<!-- end -->\\nb\\n", "x", "new")
'a\\n<!-- x -->\\nnew\\n<!-- end -->\\nb\\n'
"""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_END = "<!-- end -->\n"


def between(page: str, mark: str, text: str) -> str:
    """Return a page with the text between ``<!-- mark -->`` and the next end replaced."""
    begin = f"<!-- {mark} -->\n"
    head, found, rest = page.partition(begin)
    _, ended, tail = rest.partition(_END)
    if not found or not ended:
        raise ValueError(f"no place for {mark!r} in the page: expected {begin!r} and {_END!r}")
    return f"{head}{begin}{text}\n{_END}{tail}"


def fill(name: str, tables: dict[str, str]) -> None:
    """Write tables into docs/NAME."""
    path = ROOT / "docs" / name
    page = path.read_text()
    for mark, text in tables.items():
        page = between(page, mark, text)
    path.write_text(page)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [" | ".join(head), "|".join(["---"] * len(head))]
    lines += [" | ".join(map(str, row)) for row in rows]
    return "\n".join(f"| {line} |" if "---" not in line else f"|{line}|" for line in lines)


def environment(folder: Path, packages: Sequence[str]) -> Path:
    """Make an environment with these packages only; return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([python, "-m", "pip", "install", *quiet, *packages], check=True)
    return python


def commit() -> str:
    """Return the commit that is checked out, and whether files differ from it."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude", "*"]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()


def say(text: str) -> None:
    """Tell on standard error how far a script is."""
    sys.stderr.write(f"{text}\n")
