"""Mutation tests: each seeded bug of mutants.toml is built into a copy of the project; does a test
of every day notice?

python -m tests.soundness.mutate [--only TEXT ...] [--jobs N] [--report FILE.md]
    [--drawn N] [--seed N]

For every mutant the tests nearest to the code are run until one fails.  Exit code 1 when none
fails, or when a mutant does not fit the code.

With ``--drawn`` so many bugs of kernels are drawn anew by position in the syntax tree (changes.py)
instead; those outside kernels are for deletions.py, which is many times quicker.  Some have no
effect but on time, so survivors are listed, and the exit code is 0.

Compiled kernels are kept from mutant to mutant, but for the file that changed and all files that
import it.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import NamedTuple

from tests.soundness.changes import bugs, has_kernels

ROOT = Path(__file__).resolve().parent.parent.parent
PRODUCT = ("orderly_boggle", "boardclass", "search", "results", "configs", "cluster")
KERNEL_FOLDERS = ("boardclass", "search")
# plain functions that kernels call
COMPILED_ELSEWHERE = ("boardclass/scores.py",)
_COMPILE = ("tests/results/test_audit.py",)  # these tests use most kernels
_LIST = tomllib.loads((Path(__file__).parent / "mutants.toml").read_text())


class Mutant(NamedTuple):
    """One bug: the snippet that stands in a file, what replaces it, the tests to ask."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    source: str = ""  # of a drawn bug: the file with it, instead of a snippet

    def applied(self, root: Path) -> str:
        """Return the file with the bug in it; ValueError when the snippet does not occur exactly
        once, SyntaxError when no test could run.
        """
        if self.source:
            return self.source
        text = (root / self.file).read_text()
        n = text.count(self.old)
        if n != 1:
            raise ValueError(
                f"mutant {self.name!r}: its snippet occurs {n} times in {self.file}, expected once"
            )
        mutated = text.replace(self.old, self.new)
        compile(mutated, self.file, "exec")
        return mutated


# caches are handled here
NO_HASH = Mutant(
    name="the kernels have no hash",
    file="boardclass/jit.py",
    old="found = digest.hexdigest()[:16]",
    new='found = "0" * 16',
    tests=(),
)


def load_mutants() -> list[Mutant]:
    """Return the mutants of mutants.toml."""
    tests = {
        file: tuple(f"tests/{test}" for test in listed) for file, listed in _LIST["tests"].items()
    }
    asked = (tuple(entry.get("tests") or tests[entry["file"]]) for entry in _LIST["mutant"])
    return [
        Mutant(**{**entry, "tests": each})
        for entry, each in zip(_LIST["mutant"], asked, strict=True)
    ]


def drawn_mutants(number: int, seed: int) -> list[Mutant]:
    """Return bugs of kernels, drawn by position in the syntax tree."""
    every = []
    for folder in KERNEL_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            file = str(path.relative_to(ROOT))
            if has_kernels(file):
                every += bugs(file)
    some = random.Random(seed).sample(every, min(number, len(every)))
    return [
        Mutant(str(each), each.file, "", "", nearest_tests(each.file), each.source) for each in some
    ]


def nearest_tests(file: str) -> tuple[str, ...]:
    """Return the tests that import a module of the product, and those listed for it."""
    module = f"orderly_boggle.{file.removesuffix('.py').replace('/', '.')}"
    module = module.removesuffix(".__init__")
    importing = re.compile(rf"^ *(from|import) {re.escape(module)}\b", re.MULTILINE).search
    tests = [f"tests/{name}" for name in _LIST["tests"].get(file, ())]
    tests += [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if importing(path.read_text())
    ]
    return tuple(dict.fromkeys(tests)) or (f"tests/{file.partition('/')[0]}",)


def copy_of_the_project(tree: Path) -> None:
    """Copy what the tests need into a new folder."""
    for name in (*PRODUCT, "docs", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "runs")
        shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=ignored)
    for path in filter(Path.is_file, ROOT.iterdir()):
        shutil.copy2(path, tree)


def importers(root: Path, file: str) -> set[str]:
    """Return the stems of all kernel modules that import ``file``, directly or not, itself
    included.

    A file without kernels may be changed without making others stale: mutants leave constants
    alone.
    """
    found = {f"orderly_boggle.{file.removesuffix('.py').replace('/', '.')}"}
    imports: dict[str, set[str]] = {}
    if file in COMPILED_ELSEWHERE or "@kernel(" in (root / file).read_text():
        for path in (path for folder in KERNEL_FOLDERS for path in (root / folder).rglob("*.py")):
            nodes = [
                x
                for x in ast.walk(ast.parse(path.read_text()))
                if isinstance(x, ast.ImportFrom) and x.module
            ]
            names = {f"{node.module}.{alias.name}" for node in nodes for alias in node.names}
            place = path.relative_to(root).with_suffix("").as_posix().replace("/", ".")
            imports[f"orderly_boggle.{place}"] = names | {str(node.module) for node in nodes}
    while more := {name for name, names in imports.items() if names & found} - found:
        found |= more
    return {name.rpartition(".")[2] for name in found}


class Workshop:
    """A copy of the project with its own compiled kernels; one mutant at a time."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        self._kept = folder / "kernels"
        self._cache = folder / "kernels-in-use"
        copy_of_the_project(self.tree)
        (self.tree / NO_HASH.file).write_text(NO_HASH.applied(ROOT))

    def prepare(self) -> str:
        """Compile everything once; return what is wrong with the unmutated program, or an empty
        text.
        """
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
        command = ["timeout", "3600", sys.executable, "-m", "pytest", *options, *tests]
        places = {"PYTHONPATH": str(self.tree), "NUMBA_CACHE_DIR": str(self._cache)}
        # a mutant may be as old and as long as the file it replaces: no bytecode
        environment = {**os.environ, **places, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            command, cwd=self.tree, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return ""
        found = re.search(r"^(?:FAILED|ERROR) tests/(\S+)", done.stdout, re.MULTILINE)
        return found[1] if found else f"tests stop with code {done.returncode}"


def run(mutants: Sequence[Mutant], n_jobs: int) -> Iterator[tuple[Mutant, str]]:
    """Yield each mutant, as they come, with the first test that fails; empty where none did."""
    with tempfile.TemporaryDirectory(prefix="orderly-mutants-") as folder:
        shops: Queue[Workshop] = Queue()

        def open_shop(number: int) -> str:
            shop = Workshop(Path(folder) / str(number))
            shops.put(shop)
            return shop.prepare()

        def one(mutant: Mutant) -> tuple[Mutant, str]:
            shop = shops.get()
            try:
                with shop.mutated(mutant):
                    return mutant, shop.first_failure(mutant.tests)
            finally:
                shops.put(shop)

        with ThreadPoolExecutor(n_jobs) as pool:
            for fault in pool.map(open_shop, range(n_jobs)):
                if fault:
                    raise SystemExit(fault)
            yield from pool.map(one, mutants)


def table(verdicts: Mapping[Mutant, str]) -> str:
    """Return how many were noticed, which were not, and the verdicts as Markdown."""
    survivors = [mutant.name for mutant, test in verdicts.items() if not test]
    told = f"; surviving: {'; '.join(survivors)}" if survivors else "; none survives"
    lines = [
        f"in all: {len(verdicts) - len(survivors)} of {len(verdicts)} bugs noticed{told}",
        "",
    ]
    lines += ["| seeded bug | in | first test that fails |", "|---|---|---|"]
    for mutant, test in verdicts.items():
        cells = [mutant.name, f"`{mutant.file}`", f"`{test}`" if test else "-"]
        lines.append("| " + " | ".join(cell.replace("|", "\\|")[:120] for cell in cells) + " |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Try the mutants and print a table; exit code 1 when one is not noticed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--only", nargs="*", default=[""], help="mutants whose name or file contains one of these"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--drawn", type=int, help="draw so many bugs of kernels")
    parser.add_argument("--seed", type=int, default=1, help="draws them")
    given = parser.parse_args()
    if given.drawn:
        sys.stdout.write(f"seed {given.seed}\n")
    mutants = [
        mutant
        for mutant in (drawn_mutants(given.drawn, given.seed) if given.drawn else load_mutants())
        if any(text in mutant.name or text in mutant.file for text in given.only)
    ]
    for mutant in mutants:
        mutant.applied(ROOT)
    began, text, verdicts = time.monotonic(), "", dict[Mutant, str]()
    for mutant, test in run(mutants, given.jobs):
        verdicts[mutant] = test
        sys.stdout.write(
            f"{mutant.name}: {test or 'SURVIVES'} ({time.monotonic() - began:,.0f} s)\n"
        )
        sys.stdout.flush()
        text = table(verdicts)
        if given.report:  # after every verdict: what is done stays when the rest is stopped
            given.report.write_text(text)
    sys.stdout.write(f"\n{text}")
    sys.exit(not given.drawn and not all(verdicts.values()))


if __name__ == "__main__":
    main()
