"""The campaign of deletions: every statement of a file is deleted, one at a time; does a test
notice?

python -m tests.soundness.deletions FILE ... [--what deletions|narrowings|bugs]
    [--tests TEST ...] [--select EXPRESSION] [--number N] [--seed N] [--seconds N]
    [--report FILE.md] [--seeded] [--again FILE.md]

Left alone are docstrings, imports, annotations, assertions, what only speaks (logging, output), and
what linter and type checker miss at once: the only assignment of a name, the attributes that
``__init__`` assigns, and the last ``return`` of a function.  Other changes than deletions are in
changes.py.  Kernels are compiled by mutate.py; with NUMBA_DISABLE_JIT=1 they are plain Python, and
this campaign changes them as well.

The tests nearest to the files (mutate.py) are collected once.  A first process runs them all and
notes which lines each of them executes.  Then each deletion gets a process of its own, with the
function replaced in memory and the file on disk, for the processes that a test starts.  It runs the
tests that execute the statement, quick ones first, until one fails or ``--seconds`` of CPU time are
spent.  Survivors that were judged are in survivors.toml, with the reason; docs/notes/deletions.md
says what was found so far.  With ``--seeded`` the bugs of mutants.toml in these files are tried
first, those outside kernels and inside a function: many times quicker than mutate.py.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest

from tests.soundness.changes import (
    ROOT,
    Change,
    bugs,
    deletions,
    functions,
    has_kernels,
    narrowings,
)
from tests.soundness.mutate import copy_of_the_project, load_mutants, nearest_tests

_WALL_S = 1200
_WHAT = {each.__name__: each for each in (deletions, narrowings, bugs)}
_LEFT = ("survives", "is executed by none")
_JUDGED = Path(__file__).with_name("survivors.toml")


def seeded(file: str) -> Iterator[Change]:
    """Yield a file with each of its seeded bugs that stands in a function."""
    text = (ROOT / file).read_text()
    for mutant in load_mutants():
        if mutant.file == file and "@kernel(" not in text:
            source = mutant.applied(ROOT)
            pairs = zip(text.splitlines(), source.splitlines(), strict=False)
            first = next((n for n, pair in enumerate(pairs, 1) if pair[0] != pair[1]), 1)
            before = text[: text.index(mutant.old)].count("\n") + 1
            last = before + mutant.old.rstrip().count("\n")
            for function, name in functions(ast.parse(text)):
                if function.body[0].lineno <= first <= (function.end_lineno or 0):
                    yield Change(file, before, name, mutant.name, source, last)
                    break
            else:
                _say(f"outside a function: {mutant.name}")


def delete(deletion: Change) -> None:
    """Take a statement out of the functions of this process, and of its file."""
    path = str(ROOT / deletion.file)
    named = defaultdict(list)
    for code in _codes(compile(deletion.source, path, "exec")):
        named[code.co_qualname].append(code)
    by_place = {}
    for code in _codes(compile(Path(path).read_text(), path, "exec")):
        if same := named[code.co_qualname]:
            by_place[code.co_qualname, code.co_firstlineno] = same.pop(0)
    Path(path).write_text(deletion.source)
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename == path:
            place = (each.__code__.co_qualname, each.__code__.co_firstlineno)
            code = by_place.get(place, each.__code__)
            if code.co_freevars == each.__code__.co_freevars:
                each.__code__ = code


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


class Campaign:
    """A plugin of pytest that runs the tests again for each deletion, in a process of its own."""

    def __init__(
        self, chosen: Sequence[Change], seconds: float, noted: Callable[[Change, str], None]
    ) -> None:
        self.chosen, self.seconds, self.noted = chosen, seconds, noted
        self._limit_s = 20 + int(3 * seconds)
        self._failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the first test that fails."""
        if report.failed:
            self._failed = self._failed or report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Note what each test executes, then try the deletions."""
        executed = _in_a_process(partial(self._map, session))
        cpu_s = {name: entry[0] for name, entry in executed.items()}
        tests_of = defaultdict(list)
        for name, (_, lines) in executed.items():
            for place in lines:
                tests_of[place].append(name)
        items = {item.nodeid: item for item in session.items}
        _say(f"{len(executed)} of {len(items)} tests pass in {sum(cpu_s.values()):,.0f} CPU s")
        for deletion in self.chosen:
            tests, spent = [], 0.0
            places = range(deletion.line, deletion.last_line + 1)
            names = {name for line in places for name in tests_of[f"{deletion.file}:{line}"]}
            for name in sorted(names, key=cpu_s.__getitem__):
                spent += cpu_s[name]
                if not tests or spent < self.seconds:
                    tests.append(items[name])
            if tests:
                path = ROOT / deletion.file
                original = path.read_text()
                failed = _in_a_process(partial(self._try, deletion, tests), self._limit_s)
                path.write_text(original)
                verdict = failed or f"{_LEFT[0]} {len(tests)} tests"
            else:
                verdict = f"{_LEFT[1]} of the tests"
            self.noted(deletion, str(verdict))
        return True

    def _map(self, session: pytest.Session) -> dict[str, tuple[float, list[str]]]:
        """Return the CPU seconds and the lines of each test that passes."""
        files = {str(ROOT / each.file): each.file for each in self.chosen}
        executed = {}
        for item in session.items:
            began, self._failed = _cpu_s(), ""
            with _lines_of(files) as lines:
                self._run([item])
            if not self._failed:
                executed[item.nodeid] = (_cpu_s() - began, sorted(lines))
        return executed

    def _try(self, deletion: Change, tests: Sequence[pytest.Item]) -> str:
        delete(deletion)
        self._run(tests)
        return self._failed

    def _run(self, tests: Sequence[pytest.Item]) -> None:
        for test, after in zip(tests, [*tests[1:], None], strict=True):
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=after)
            if self._failed:
                break


def _say(text: str) -> None:
    assert sys.__stdout__
    sys.__stdout__.write(f"{text}\n")
    sys.__stdout__.flush()


def _cpu_s() -> float:
    return sum(os.times()[:4])


@contextlib.contextmanager
def _lines_of(files: dict[str, str]) -> Iterator[set[str]]:
    """Collect the lines of some files that this process executes, as ``file:line``."""
    seen: set[str] = set()

    def on_line(frame: FrameType, event: str, _argument: Any) -> Any:
        seen.add(f"{files[frame.f_code.co_filename]}:{frame.f_lineno}")
        return on_line

    def on_call(frame: FrameType, _event: str, _argument: Any) -> Any:
        return on_line if frame.f_code.co_filename in files else None

    threading.settrace(on_call)
    sys.settrace(on_call)
    try:
        yield seen
    finally:
        sys.settrace(None)
        threading.settrace(None)


def _in_a_process(call: Callable[[], Any], cpu_s: int = _WALL_S) -> Any:
    """Return what a call returns in a fork of this process, or the text of how it ended.

    cpu_s : a statement that ends a loop may be gone
    """
    with tempfile.TemporaryDirectory(prefix="orderly-deletion-") as folder:
        answer = Path(folder, "answer")
        child = os.fork()
        if not child:
            os.setsid()
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            tempfile.tempdir = os.environ["TMPDIR"] = folder
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
            try:
                answer.write_text(json.dumps(call()))
            finally:
                os._exit(0)
        ended = time.monotonic() + _WALL_S
        while not os.waitpid(child, os.WNOHANG)[0]:
            time.sleep(0.05)
            if time.monotonic() > ended:
                os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what the tests left running
        return json.loads(answer.read_text()) if answer.exists() else "the tests never end"


def judged() -> dict[tuple[str, str, str], str]:
    """Return why survivors may survive, by file, function and statement."""
    entries = tomllib.loads(_JUDGED.read_text())["survivor"]
    return {(each["file"], each["function"], each["statement"]): each["why"] for each in entries}


def report(verdicts: dict[Change, str]) -> str:
    """Return the survivors as Markdown, those not judged first."""
    reasons = judged()
    rows, open_ones = [], []
    for each, verdict in verdicts.items():
        if verdict.startswith(_LEFT):
            why = reasons.get((each.file, each.function, each.what), "")
            cells = (f"{each.file}:{each.line}", each.function, each.what, verdict, why)
            row = " | ".join(cell.replace("|", "\\|") for cell in cells)
            rows.append((bool(why), f"| {row} |"))
            open_ones += [] if why else [str(each)]
    told = f"; not judged: {'; '.join(open_ones)}" if open_ones else ""
    lines = [
        f"in all: {len(verdicts) - len(rows)} of {len(verdicts)} changes noticed{told}",
        "",
        "| file | function | statement | tests | judgement |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(row for _, row in sorted(rows)), ""])


def campaign(given: argparse.Namespace) -> None:
    """Run the campaign in this copy of the project."""
    is_plain = os.environ.get("NUMBA_DISABLE_JIT") == "1"
    files, chosen, known = [], list[Change](), list[Change]()
    for name in given.files:
        for path in sorted((ROOT / name).rglob("*.py")) or [ROOT / name]:
            files.append(str(path.relative_to(ROOT)))
            if is_plain or not has_kernels(files[-1]):
                chosen += _WHAT[given.what](files[-1])
            known += seeded(files[-1]) if given.seeded else ()
    if given.again:
        text = given.again.read_text().replace("\\|", "|")
        for group in (chosen, known):
            group[:] = [each for each in group if f" {each.function} | {each.what} |" in text]
    random.Random(given.seed).shuffle(chosen)
    chosen = known + chosen[: given.number]
    _say(f"seed {given.seed}")
    verdicts: dict[Change, str] = {}

    def noted(deletion: Change, verdict: str) -> None:
        verdicts[deletion] = verdict
        _say(f"{len(verdicts)}/{len(chosen)} {deletion}: {verdict}")
        if given.report:
            given.report.write_text(report(verdicts))

    tests = given.tests or sorted(set().union(*map(nearest_tests, files)))
    options = ["-p", "no:cacheprovider", "-m", "not nightly and not ray", "-s"]
    options += ["-o", "addopts=--import-mode=importlib", "-o", "timeout=0"]
    options += ["-k", given.select] if given.select else []
    pytest.main([*options, *tests], plugins=[Campaign(chosen, given.seconds, noted)])
    sys.stdout.write(f"\n{report(verdicts)}")
    if len(verdicts) < len(chosen):
        sys.exit("the tests could not be collected, or were stopped")


def main() -> None:
    """Copy the project and start the campaign there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", help="files or folders of the product")
    parser.add_argument("--what", choices=_WHAT, default="deletions", help="see changes.py")
    parser.add_argument("--tests", nargs="*", help="default: the nearest ones")
    parser.add_argument("--select", help="of the tests those that pytest -k takes")
    parser.add_argument("--number", type=int, help="draw so many; default: all")
    parser.add_argument("--seed", type=int, default=1, help="draws them")
    parser.add_argument("--seconds", type=float, default=60, help="CPU time for one")
    parser.add_argument("--seeded", action="store_true", help="bugs of mutants.toml before")
    parser.add_argument("--again", type=Path, help="only the survivors of this report")
    parser.add_argument("--report", type=lambda name: Path(name).resolve())
    given = parser.parse_args()
    if os.environ.get("ORDERLY_DELETIONS") == str(ROOT):
        campaign(given)
        return
    with tempfile.TemporaryDirectory(prefix="orderly-deletions-") as folder:
        tree = Path(folder, "tree")
        copy_of_the_project(tree)
        places = {"PYTHONPATH": str(tree), "ORDERLY_DELETIONS": str(tree)}
        environment = {**os.environ, **places, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "tests.soundness.deletions", *sys.argv[1:]]
        sys.exit(subprocess.run(command, cwd=tree, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
