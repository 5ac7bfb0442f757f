"""Checks that nobody would miss: each is deleted from a copy of the project, and the tests nearest to it are run.

python -m tests.soundness.deletions [--sample 20] [--seed 1] [--only TEXT ...] [--jobs N]

A check is a statement ``raise ...`` or a call of a function whose name begins with ``check``, ``require`` or ``raise``.
One that no test misses is superfluous, or lacks a test.  Exit code 1 when there is one.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.soundness.mutate import ROOT, Mutant, run

FOLDERS = ("boardclass", "search", "results", "configs", "cluster")
_CHECK = re.compile(r"_*(check|require|raise)")


def is_check(node: ast.AST) -> bool:
    """Return whether a statement does nothing but refuse."""
    if isinstance(node, ast.Raise):
        return node.exc is not None  # a bare one hands on what was raised elsewhere
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    called = node.value.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return bool(_CHECK.match(name))


def deleted(text: str, node: ast.stmt) -> str:
    """Return the text of a file without one statement; the line numbers of all others stay."""
    lines = text.splitlines(keepends=True)
    assert node.end_lineno is not None
    end = node.end_lineno
    lines[node.lineno - 1] = lines[node.lineno - 1][: node.col_offset] + "pass\n"
    lines[node.lineno : end] = ["\n"] * (end - node.lineno)
    return "".join(lines)


def nearest(file: str, listed: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return the tests to ask: those of the list of seeded bugs, and all that import the module."""
    module = file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    importing = re.compile(rf"^ *(from|import) {re.escape(module)}\b", re.MULTILINE)
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    found = [str(path.relative_to(ROOT)) for path in paths if importing.search(path.read_text())]
    found += [f"tests/{name}" for name in listed.get(file, ())]
    return tuple(dict.fromkeys(found)) or (f"tests/{file.partition('/')[0]}",)


def deletions() -> Iterator[Mutant]:
    """Yield every check that can be deleted."""
    listed = tomllib.loads((Path(__file__).parent / "mutants.toml").read_text())["tests"]
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        file, text = str(path.relative_to(ROOT)), path.read_text()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.stmt) and is_check(node):
                name = f"{file}:{node.lineno} {text.splitlines()[node.lineno - 1].strip()}"
                yield Mutant(name, file, text, deleted(text, node), nearest(file, listed))


def main() -> None:
    """Delete some of the checks, one at a time, and print those that no test misses."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[""], help="checks whose line or file contains one of these")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    every = [mutant for mutant in deletions() if any(text in mutant.name for text in given.only)]
    chosen = random.Random(given.seed).sample(every, min(given.sample, len(every)))
    survivors = []
    for verdict in run(chosen, given.jobs):
        sys.stdout.write(f"{verdict.mutant.name}: {verdict.test or 'NOBODY MISSES IT'}\n")
        sys.stdout.flush()
        survivors += [] if verdict.test else [verdict.mutant.name]
    names = "; ".join(name.partition(" ")[0] for name in survivors)
    sys.stdout.write(f"in all: {len(survivors)} of {len(chosen)} checks are missed by no test, {len(every)} there are")
    sys.stdout.write(f": {names}\n" if names else "\n")
    sys.exit(bool(survivors))


if __name__ == "__main__":
    main()
