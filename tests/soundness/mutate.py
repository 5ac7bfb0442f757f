"""Mutation tests: each seeded bug of mutants.toml is built into a copy of the project; does a test of every day notice?

python -m tests.soundness.mutate [--only TEXT ...] [--jobs N] [--report FILE.md]

For every mutant the tests nearest to the code are run until one fails.  Exit code 1 when none fails, or when a mutant
does not fit the code.

Compiled kernels are kept from mutant to mutant, but for the file that changed and all files that import it.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("boardclass", "cluster", "configs", "docs", "results", "search", "tests")
KERNEL_FOLDERS = ("boardclass", "search")
COMPILED_ELSEWHERE = ("boardclass/cutoff.py",)  # plain functions of which another file makes kernels
TIMEOUT_S = 3600
_COMPILE = ("tests/results/test_audit.py",)  # these tests use most kernels
_HASH = ("boardclass/jit.py", "return digest.hexdigest()[:16]", 'return "0" * 16')  # caches are handled here


class Mutant(NamedTuple):
    """One bug: the snippet that stands in a file, what replaces it, the tests to ask."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied(self, root: Path) -> str:
        """Return the file with the bug in it.

        Raises
        ------
        ValueError
            When the snippet does not occur exactly once.
        """
        text = (root / self.file).read_text()
        if text.count(self.old) != 1:
            raise ValueError(
                f"mutant {self.name!r}: its snippet occurs {text.count(self.old)} times in {self.file}, expected once"
            )
        return text.replace(self.old, self.new)


class Verdict(NamedTuple):
    """The first test that fails with a mutant; empty where none did."""

    mutant: Mutant
    test: str


def load_mutants() -> list[Mutant]:
    """Return the mutants of mutants.toml."""
    values = tomllib.loads((Path(__file__).parent / "mutants.toml").read_text())
    tests = {file: tuple(f"tests/{test}" for test in listed) for file, listed in values["tests"].items()}
    return [Mutant(**{"tests": tests.get(entry["file"], ()), **entry}) for entry in values["mutant"]]


def importers(root: Path, file: str) -> set[str]:
    """Return the stems of all kernel modules that import ``file``, directly or not, itself included.

    A file without kernels may be changed without making others stale: mutants leave constants alone.
    """
    found = {file.removesuffix(".py").replace("/", ".")}
    if file not in COMPILED_ELSEWHERE and "@kernel(" not in (root / file).read_text():
        return {name.rpartition(".")[2] for name in found}
    imports: dict[str, set[str]] = {}
    for folder in KERNEL_FOLDERS:
        for path in (root / folder).rglob("*.py"):
            nodes = list(ast.walk(ast.parse(path.read_text())))
            names = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
            names |= {
                f"{node.module}.{alias.name}"
                for node in nodes
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
            imports[path.relative_to(root).with_suffix("").as_posix().replace("/", ".")] = names
    while True:
        more = {name for name, names in imports.items() if names & found} - found
        if not more:
            return {name.rpartition(".")[2] for name in found}
        found |= more


class Workshop:
    """A copy of the project with its own compiled kernels; one mutant at a time."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        self._kept = folder / "kernels"
        self._cache = folder / "kernels-in-use"
        for name in FOLDERS:
            shutil.copytree(ROOT / name, self.tree / name, ignore=shutil.ignore_patterns("__pycache__", "runs"))
        for path in filter(Path.is_file, ROOT.iterdir()):
            shutil.copy2(path, self.tree)
        file, old, new = _HASH
        text = (self.tree / file).read_text()
        assert text.count(old) == 1, "the name of the cache directory is made elsewhere now"
        (self.tree / file).write_text(text.replace(old, new))

    def prepare(self) -> str:
        """Compile everything once; return what is wrong with the unmutated program, or an empty text."""
        self._cache.mkdir()
        failed = self.first_failure(_COMPILE)
        self._cache.rename(self._kept)
        return f"the unmutated program itself fails {failed}" if failed else ""

    @contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """Put a mutant in place, with a cache that knows nothing of the changed file."""
        path = self.tree / mutant.file
        original = self.tree.parent / "original"
        shutil.copy2(path, original)
        shutil.rmtree(self._cache, ignore_errors=True)
        shutil.copytree(self._kept, self._cache, copy_function=os.link)
        stale = importers(self.tree, mutant.file)
        for entry in self._cache.rglob("*.nb?"):
            if entry.name.partition(".")[0] in stale:
                entry.unlink()
        path.write_text(mutant.applied(self.tree))
        try:
            yield
        finally:
            shutil.copy2(original, path)  # with its time stamp: the kept kernels stay good

    def first_failure(self, tests: Sequence[str]) -> str:
        """Return the first of the tests that fails, or an empty text."""
        options = ["-q", "-x", "-p", "no:cacheprovider", "--timeout=600", "--no-header", "--tb=no"]
        out, code = self._python("-m", "pytest", *options, *tests)
        if code == 0:
            return ""
        found = re.search(r"^(?:FAILED|ERROR) tests/(\S+)", out, re.MULTILINE)
        return found[1] if found else f"tests stop with code {code}"

    def _python(self, *arguments: str) -> tuple[str, int]:
        environment = {**os.environ, "PYTHONPATH": str(self.tree), "NUMBA_CACHE_DIR": str(self._cache)}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # a mutant may be as old and as long as the file it replaces
        try:
            done = subprocess.run(
                [sys.executable, *arguments],
                cwd=self.tree,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"no answer within {TIMEOUT_S} s", 1
        return done.stdout, done.returncode


def run(mutants: Sequence[Mutant], n_jobs: int) -> Iterator[Verdict]:
    """Yield the verdicts as they come."""
    with tempfile.TemporaryDirectory(prefix="orderly-mutants-") as folder:
        shops: Queue[Workshop] = Queue()

        def open_shop(number: int) -> str:
            shop = Workshop(Path(folder) / str(number))
            shops.put(shop)
            return shop.prepare()

        def one(mutant: Mutant) -> Verdict:
            shop = shops.get()
            try:
                with shop.mutated(mutant):
                    return Verdict(mutant, shop.first_failure(mutant.tests))
            finally:
                shops.put(shop)

        with ThreadPoolExecutor(n_jobs) as pool:
            for fault in pool.map(open_shop, range(n_jobs)):
                if fault:
                    raise SystemExit(fault)
            yield from pool.map(one, mutants)


def table(verdicts: Sequence[Verdict]) -> str:
    """Return how many were noticed, which were not, and the verdicts as Markdown."""
    survivors = [v.mutant.name for v in verdicts if not v.test]
    told = f"; surviving: {'; '.join(survivors)}" if survivors else "; none survives"
    lines = [f"in all: {len(verdicts) - len(survivors)} of {len(verdicts)} seeded soundness bugs noticed{told}", ""]
    lines += ["| seeded bug | in | first test that fails |", "|---|---|---|"]
    for v in verdicts:
        cells = [v.mutant.name, f"`{v.mutant.file}`", f"`{v.test}`" if v.test else "-"]
        lines.append("| " + " | ".join(cell.replace("|", "\\|")[:120] for cell in cells) + " |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Try the mutants and print a table; exit code 1 when one is not noticed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[""], help="mutants whose name or file contains one of these")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    mutants = [m for m in load_mutants() if any(text in m.name or text in m.file for text in given.only)]
    for mutant in mutants:
        mutant.applied(ROOT)
    began, text, verdicts = time.monotonic(), "", list[Verdict]()
    for verdict in run(mutants, given.jobs):
        verdicts.append(verdict)
        sys.stdout.write(f"{verdict.mutant.name}: {verdict.test or 'SURVIVES'} ({time.monotonic() - began:,.0f} s)\n")
        sys.stdout.flush()
        text = table(verdicts)
        if given.report:  # after every verdict: what is done stays when the rest is stopped
            given.report.write_text(text)
    sys.stdout.write(f"\n{text}")
    sys.exit(not all(v.test for v in verdicts))


if __name__ == "__main__":
    main()
