"""Which floor of the house uses which, drawn from the imports of its files.

python -m tests.bench.imports    the drawing that CONTRIBUTING.md shows
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from tests.bench.prose import ROOT

FLOORS = ("boardclass", "search", "configs", "results", "cluster")  # the lowest first


def imported(path: Path) -> set[str]:
    """Return the dotted names of all modules that a file imports, names after ``from`` included;
    ours without the name of the package.
    """
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name.removeprefix("orderly_boggle.") for name in found}


def used_floors(floor: str) -> set[str]:
    """Return the other floors that the files of a floor import something of."""
    found = set()
    for path in (ROOT / floor).rglob("*.py"):
        found |= {name.partition(".")[0] for name in imported(path)}
    return found & set(FLOORS) - {floor}


def drawing() -> str:
    """Return one line a floor, the highest first, with a mark below each floor that it uses."""
    above = FLOORS[:0:-1]
    below = FLOORS[-2::-1]
    head = " ".join(["uses".ljust(10), *below])
    lines = [head]
    for floor in above:
        used = used_floors(floor)
        marks = [("x" if other in used else ".").center(len(other)) for other in below]
        lines.append(" ".join([floor.ljust(10), *marks]).rstrip())
    return "\n".join(f"    {line}" for line in lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(drawing())
