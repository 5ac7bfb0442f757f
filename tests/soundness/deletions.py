"""The campaign of deletions: every statement of a file is deleted, one at a time; does a test
notice?

python -m tests.soundness.deletions FILE ... [--what deletions|narrowings|bugs]
    [--tests TEST ...] [--select EXPRESSION] [--number N] [--seed N] [--seconds N]
    [--report FILE.md] [--seeded] [--again FILE.md] [--keep FILE.json] [--minutes N] [--tree FOLDER]
    [--untraced]

Left alone are docstrings, imports, annotations, assertions, what only speaks (logging, output), and
what linter and type checker miss at once: the only assignment of a name, the attributes that
``__init__`` assigns, and the last ``return`` of a function.  Other changes than deletions are in
changes.py.  Kernels are compiled by mutate.py; with NUMBA_DISABLE_JIT=1 they are plain Python, and
this campaign changes them as well.

The tests nearest to the files (mutate.py) are collected once.  A first process runs them all and
notes which lines each of them executes; a test that takes longer than ``--seconds`` is left out.
Then each deletion gets a process of its own, with the function replaced in memory and the file on
disk, for the processes that a test starts.  It runs the tests that execute the statement, quick
ones first, until one fails or ``--seconds`` of CPU time are spent; the tests that call its
function, if none was seen to execute it.  What was noted and tried is kept in ``--keep``: after
``--minutes`` the campaign stops, and the same command goes on.  The copy of the project that is
changed stands in ``--tree``, or in a folder that goes: in the same folder kernels are compiled
once.  With ``--untraced`` the first process notes which functions each test calls, not which lines
it executes, and those that call the function are asked about its statements: less work where a test
executes most of what it calls, and many times less with kernels that are plain Python.

Survivors that were judged are in survivors.toml, with the reason; docs/notes/deletions.md says what
was found so far.  With ``--seeded`` the bugs of mutants.toml in these files are tried first, those
outside kernels and inside a function: many times quicker than mutate.py.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import hashlib
import json
import os
import random
import resource
import shutil
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
from importlib import import_module
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
from tests.soundness.mutate import (
    KERNEL_FOLDERS,
    copy_of_the_project,
    load_mutants,
    nearest_tests,
)

_WALL_S = 1200
_KEPT_S = 60  # what is noted of tests is kept so often
# events of lines in a function of a test after which no new line is expected
_MANY = 50_000
_WHAT = {each.__name__: each for each in (deletions, narrowings, bugs)}
_LEFT = ("survives", "is executed by none")
_JUDGED = Path(__file__).with_name("survivors.toml")
_LOADED = ROOT / "orderly_boggle"  # the names of the files that Python knows


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


def kernel_modules() -> Iterator[str]:
    """Yield the modules that have kernels."""
    for folder in KERNEL_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if has_kernels(str(path.relative_to(ROOT))):
                yield ".".join(("orderly_boggle", *path.relative_to(ROOT).with_suffix("").parts))


def delete(deletion: Change) -> None:
    """Take a statement out of the functions of this process, and of its file."""
    path = str(_LOADED / deletion.file)
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


class Kept:
    """What a campaign has noted, in a file if it has one: by test its CPU seconds and its lines,
    nothing if it fails or takes too long; by change the verdict.
    """

    def __init__(self, path: Path | None, files: Sequence[str]) -> None:
        digest = hashlib.sha256()
        for file in files:
            digest.update((ROOT / file).read_bytes())
        self._path, self._of = path, digest.hexdigest()
        self.executed: dict[str, tuple[float, list[str]] | None] = {}
        self.verdicts: dict[str, str] = {}
        if path and path.exists():
            before = json.loads(path.read_text())
            if before["of"] == self._of:
                self.executed, self.verdicts = before["executed"], before["verdicts"]

    def write(self) -> None:
        """Write the file."""
        if self._path:
            whole = {"of": self._of, "executed": self.executed, "verdicts": self.verdicts}
            self._path.write_text(json.dumps(whole))


class Campaign:
    """A plugin of pytest that runs the tests again for each deletion, in a process of its own."""

    def __init__(
        self,
        chosen: Sequence[Change],
        kept: Kept,
        given: argparse.Namespace,
        noted: Callable[[Change, str], None],
    ) -> None:
        self.chosen, self.kept, self.noted = chosen, kept, noted
        self.seconds, self.untraced = given.seconds, given.untraced
        self._until = time.monotonic() + 60 * given.minutes
        self._failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the first test that fails."""
        if report.failed:
            self._failed = self._failed or report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Note what each test executes, then try the deletions."""
        items = {item.nodeid: item for item in session.items}
        while todo := [item for item in session.items if item.nodeid not in self.kept.executed]:
            if time.monotonic() > self._until:
                return True
            more = _in_a_process(partial(self._map, todo))
            if isinstance(more, str):
                sys.exit(f"the tests as they are: {more}")
            self.kept.executed |= more
            self.kept.write()
        executed = {
            name: entry for name, entry in self.kept.executed.items() if entry and name in items
        }
        cpu_s = {name: entry[0] for name, entry in executed.items()}
        tests_of = defaultdict(list)
        for name, (_, lines) in executed.items():
            for place in lines:
                tests_of[place].append(name)
        _say(f"{len(executed)} of {len(items)} tests pass in {sum(cpu_s.values()):,.0f} CPU s")
        for deletion in self.chosen:
            verdict = self.kept.verdicts.get(str(deletion), "")
            if not verdict and time.monotonic() > self._until:
                return True
            verdict = verdict or self._verdict(deletion, items, cpu_s, tests_of)
            self.kept.verdicts[str(deletion)] = verdict
            self.kept.write()
            self.noted(deletion, verdict)
        return True

    def _verdict(
        self,
        deletion: Change,
        items: dict[str, pytest.Item],
        cpu_s: dict[str, float],
        tests_of: dict[str, list[str]],
    ) -> str:
        """Return the test that fails without a statement, or how many do not."""
        tests, spent = [], 0.0
        places = range(deletion.line, deletion.last_line + 1)
        names = {name for line in places for name in tests_of[f"{deletion.file}:{line}"]}
        names = names or set(tests_of[f"{deletion.file}:{deletion.function}"])
        for name in sorted(names, key=cpu_s.__getitem__):
            spent += cpu_s[name]
            if not tests or spent < self.seconds:
                tests.append(items[name])
        if not tests:
            return f"{_LEFT[1]} of the tests"
        path = ROOT / deletion.file
        original = path.read_text()
        failed = ""
        while tests:
            failed = _in_a_process(partial(self._try, deletion, tests, cpu_s))
            path.write_text(original)
            test = items.get(failed)
            if not test or not _in_a_process(partial(self._try, None, [test], cpu_s)):
                break
            tests.remove(test)  # now and then it fails as the program is
            failed = ""
        return str(failed or f"{_LEFT[0]} {len(tests)} tests")

    def _map(self, todo: Sequence[pytest.Item]) -> dict[str, tuple[float, list[str]] | None]:
        """Return the CPU seconds and the lines of tests, until the time of this campaign, or of a
        part that is kept at once, is over.
        """
        until = min(self._until, time.monotonic() + _KEPT_S)
        files = {str(_LOADED / each.file): each.file for each in self.chosen}
        executed: dict[str, tuple[float, list[str]] | None] = {}
        for item in todo:
            began, self._failed = _cpu_s(), ""
            follow = _calls_of if self.untraced else _lines_of
            with follow(files, began + 3 * self.seconds) as lines:
                self._run([item])
            spent = _cpu_s() - began
            passes = not self._failed and spent < 3 * self.seconds
            executed[item.nodeid] = (spent, sorted(lines)) if passes else None
            if time.monotonic() > until:
                break
        return executed

    def _try(
        self, deletion: Change | None, tests: Sequence[pytest.Item], cpu_s: dict[str, float]
    ) -> str:
        """Return which of the tests fails first with a change, or as the program is."""
        if deletion:
            delete(deletion)
        self._run(tests, cpu_s)
        return self._failed

    def _run(self, tests: Sequence[pytest.Item], cpu_s: dict[str, float] | None = None) -> None:
        """Run tests until one fails; the process ends if one takes much longer than its CPU time:
        a statement that ends a loop may be gone.
        """
        for test, after in zip(tests, [*tests[1:], None], strict=True):
            if cpu_s:
                limit_s = int(_cpu_s() + 2 + 3 * cpu_s[test.nodeid])
                resource.setrlimit(resource.RLIMIT_CPU, (limit_s, _WALL_S))
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=after)
            if self._failed:
                break


def _say(text: str) -> None:
    assert sys.__stdout__
    sys.__stdout__.write(f"{text}\n")
    sys.__stdout__.flush()


def _cpu_s() -> float:
    return sum(os.times()[:4])


class _TooLong(BaseException):
    """A test has spent its time."""


@contextlib.contextmanager
def _told_of_calls(on_call: Callable[[FrameType, str, Any], Any]) -> Iterator[None]:
    """Have ``on_call`` told of each call, in every thread that begins meanwhile."""
    threading.settrace(on_call)
    sys.settrace(on_call)
    try:
        yield
    finally:
        sys.settrace(None)
        threading.settrace(None)


@contextlib.contextmanager
def _calls_of(files: dict[str, str], until: float) -> Iterator[set[str]]:
    """Collect the functions of some files that this process calls, as ``file:function``; until this
    CPU time.
    """
    called: set[CodeType] = set()
    seen: set[str] = set()

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _TooLong

    def on_call(frame: FrameType, _event: str, _argument: Any) -> None:
        called.add(frame.f_code)

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, max(until - _cpu_s(), 0.01))
    try:
        with _told_of_calls(on_call):
            yield seen
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        seen |= {_place(files, code) for code in called if code.co_filename in files}


def _place(files: dict[str, str], code: CodeType) -> str:
    return f"{files[code.co_filename]}:{code.co_qualname.replace('.<locals>', '')}"


@contextlib.contextmanager
def _lines_of(files: dict[str, str], until: float) -> Iterator[set[str]]:
    """Collect the lines of some files that this process executes, as ``file:line``, and their
    functions, as ``file:function``; until this CPU time.
    """
    seen: set[str] = set()
    left: dict[CodeType, int] = defaultdict(lambda: _MANY)

    def on_line(frame: FrameType, event: str, _argument: Any) -> Any:
        place = f"{files[frame.f_code.co_filename]}:{frame.f_lineno}"
        if place not in seen:
            seen.add(place)
            left[frame.f_code] = _MANY
        left[frame.f_code] -= 1
        if left[frame.f_code] % 1000 == 0 and _cpu_s() > until:
            raise _TooLong
        return on_line if left[frame.f_code] > 0 else None

    def on_call(frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in files:
            return None
        seen.add(_place(files, code))
        if _cpu_s() > until:
            raise _TooLong
        return on_line if left[code] > 0 else None

    with _told_of_calls(on_call):
        yield seen


def _in_a_process(call: Callable[[], Any]) -> Any:
    """Return what a call returns in a fork of this process, or the text of how it ended."""
    with tempfile.TemporaryDirectory(prefix="orderly-deletion-") as folder:
        answer = Path(folder, "answer")
        child = os.fork()
        if not child:
            os.setsid()
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            tempfile.tempdir = os.environ["TMPDIR"] = folder
            resource.setrlimit(resource.RLIMIT_CPU, (_WALL_S, _WALL_S))
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
    kept = Kept(given.keep, files)

    def noted(deletion: Change, verdict: str) -> None:
        verdicts[deletion] = verdict
        _say(f"{len(verdicts)}/{len(chosen)} {deletion}: {verdict}")
        if given.report:
            given.report.write_text(report(verdicts))

    for module in kernel_modules():  # compiled before a test is followed line by line
        import_module(module)
    tests = given.tests or sorted(set().union(*map(nearest_tests, files)))
    options = ["-p", "no:cacheprovider", "-m", "not nightly and not ray", "-s"]
    options += ["-o", "addopts=--import-mode=importlib", "-o", "timeout=0"]
    options += ["-k", given.select] if given.select else []
    plugin = Campaign(chosen, kept, given, noted)
    pytest.main([*options, *tests], plugins=[plugin])
    sys.stdout.write(f"\n{report(verdicts)}")
    if len(verdicts) < len(chosen):
        sys.exit("not all was tried: the time is over, or the tests could not be collected")


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
    parser.add_argument("--keep", type=lambda name: Path(name).resolve(), help="to go on later")
    parser.add_argument("--minutes", type=float, default=1e6, help="then it stops")
    parser.add_argument("--tree", type=Path, help="where the copy is made; what is there goes")
    parser.add_argument("--untraced", action="store_true", help="tests by function, not by line")
    given = parser.parse_args()
    if os.environ.get("ORDERLY_DELETIONS") == str(ROOT):
        campaign(given)
        return
    with tempfile.TemporaryDirectory(prefix="orderly-deletions-") as folder:
        tree = (given.tree or Path(folder, "tree")).resolve()
        mark = tree / ".a-copy-that-is-changed"
        if tree.exists() and not mark.exists():
            parser.error(f"--tree {tree}: expected a new folder, or the copy of a campaign")
        shutil.rmtree(tree, ignore_errors=True)
        copy_of_the_project(tree)
        mark.touch()
        places = {"PYTHONPATH": str(tree), "ORDERLY_DELETIONS": str(tree)}
        environment = {**os.environ, **places, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "tests.soundness.deletions", *sys.argv[1:]]
        sys.exit(subprocess.run(command, cwd=tree, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
