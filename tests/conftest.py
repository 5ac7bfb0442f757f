"""Fixtures that every folder's tests share: word lists, and the command line as a user calls it."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numba
import pytest
from hypothesis import HealthCheck, settings as hypothesis_settings
from pyarrow.fs import FileSystem

# it sets the folder that compiled kernels are kept in
import orderly_boggle.boardclass.jit  # noqa: F401
from orderly_boggle.boardclass.errors import WordListError
from orderly_boggle.boardclass.wordlist import WordList, load_wordlist

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
# the shell takes half the time
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# orderly as a process of its own
COMMAND = (sys.executable, "-c", "from orderly_boggle.cluster.cli.start import main; main()")
# processes that tests start import this project, wherever they stand
os.environ["PYTHONPATH"] = str(ROOT)
# Ray reads it once, when whichever test imports it first
os.environ.setdefault("RAY_AUTH_MODE", "token")
# the same, with a search that leaves a processor to others
RESTING = (sys.executable, "-m", "tests.cluster.resting")

# The machine may be shared: no deadlines; in CI the same examples every time; nightly.py takes
# more.
hypothesis_settings.register_profile(
    "orderly",
    deadline=None,
    max_examples=25,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
hypothesis_settings.load_profile("orderly")
hypothesis_settings.register_profile("nightly", max_examples=400, derandomize=False)


SECRET_KEY = "it-must-not-be-seen-anywhere"


# The checker imports nothing of the program, and keeps nothing compiled; each process would compile
# it for 4 s.
with mock.patch.object(numba, "njit", partial(numba.njit, cache=True)):
    from orderly_boggle.results.proof import audit

_read_words = audit.read_words


@lru_cache(8)
def _words_of(path: Path, mtime_ns: int) -> list[str]:
    return _read_words(path)


def _words_once(path: Path) -> list[str]:
    """Read the word list of an audit, unless it was read before and has not changed since."""
    return list(_words_of(path, path.stat().st_mtime_ns)) if path.is_file() else _read_words(path)


audit.read_words = _words_once


LONG = (
    "ray",
    "test_web_pages",
    "test_board_page",
    "test_report_browser",
    "test_web_job_queue",
    "test_web_guard",
)


def group_of(item: pytest.Item) -> str:
    """Return what keeps tests in one process: their file, or Ray; two Rays at a time are too
    many.
    """
    return "ray" if item.get_closest_marker("ray") else item.path.stem


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in the hook of the same name
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put each test into its group; the longest groups come first, so that the processes end at the
    same time.
    """
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
    items.sort(key=lambda item: group_of(item) not in LONG)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Compile the kernels before the processes of pytest-xdist start: each of them would compile
    all of them.

    Two processes do it, and those of the trees take as long as all the others.
    """
    files = [
        path.relative_to(ROOT)
        for name in ("boardclass", "search")
        for path in (ROOT / name).rglob("*.py")
    ]
    modules = [
        ".".join(("orderly_boggle", *path.with_suffix("").parts))
        for path in files
        if "@kernel(" in (ROOT / path).read_text()
    ]
    of_trees = [name for name in modules if name.startswith("orderly_boggle.search.trees.")]
    halves = (of_trees, [name for name in modules if name not in of_trees])
    for process in [
        subprocess.Popen([sys.executable, "-c", f"import {', '.join(half)}"], cwd=ROOT)
        for half in halves
    ]:
        process.wait()


@pytest.fixture
def terminal() -> Iterator[None]:
    """Let signals work as in a terminal, here and in processes started here: a shell starts what
    runs in the background with SIGINT ignored."""
    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def make_in(folder: Path, *arguments: str) -> str:
    """Run the command line in a folder, where it must succeed, and return what it printed.

    It runs in this process: that takes seconds less than one of its own.
    """
    from orderly_boggle.cluster.cli import app as cli

    printed, said = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", ["orderly", *arguments]),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(said),
        pytest.raises(SystemExit) as left,
    ):
        cli.main()
    assert not left.value.code, printed.getvalue() + said.getvalue()
    return printed.getvalue()


@pytest.fixture(scope="session")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished 2x2 run of 55 classes with cutoff 12, to be read only: tests that change a run
    take a copy.
    """
    folder = tmp_path_factory.mktemp("proven")
    make_in(folder, "run", "2x2", "--cutoff", "12", "--workers", "0", "--out", "run")
    return folder / "run"


@pytest.fixture(scope="session")
def small_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of tests/cluster/small.py, to be read only."""
    from tests.cluster.small import make_small_runs

    return make_small_runs(tmp_path_factory.mktemp("small"))


def published_boards(name: str) -> dict[str, int]:
    """Return the boards of a file in ``tests/golden`` with their scores."""
    lines = (GOLDEN / f"{name}.txt").read_text().splitlines()
    pairs = (line.split(": ") for line in lines if line)
    return {board: int(score) for board, score in pairs}


def flip_bit(path: Path) -> None:
    """Flip a bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


class Answer(NamedTuple):
    """The outcome of a command."""

    code: int
    out: str
    err: str


def rows_of(answer: Answer) -> list[dict[str, str]]:
    """Return the rows of CSV that a command printed."""
    assert answer.code == 0, answer.err
    return list(csv.DictReader(io.StringIO(answer.out)))


@pytest.fixture(scope="session")
def enable2k() -> WordList:
    """ENABLE2K, which is not part of the project: set $ORDERLY_WORDLISTS to its folder to run these
    tests.
    """
    try:
        return load_wordlist("enable2k")
    except WordListError as error:
        pytest.skip(f"needs the word list enable2k: {error}")


@dataclass
class CommandLine:
    """The command line in this process."""

    monkeypatch: pytest.MonkeyPatch
    capfd: pytest.CaptureFixture[str]

    def __call__(self, *arguments: object, stdin: bytes | str = b"") -> Answer:
        """Run a command: ``orderly("show", "cat...", stdin="...")``."""
        from orderly_boggle.cluster.cli import app as cli

        data = stdin.encode() if isinstance(stdin, str) else stdin
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        self.monkeypatch.setattr(sys, "argv", ["orderly", *map(str, arguments)])
        self.capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            cli.main()
        captured = self.capfd.readouterr()
        return Answer(int(left.value.code or 0), captured.out, captured.err)

    def done(self, *arguments: object) -> str:
        """Return what a command prints; it must succeed."""
        answer = self(*arguments)
        assert answer.code == 0, answer.err
        return answer.out

    def fails(self, code: int, *arguments: object, stdin: bytes | str = b"") -> str:
        """Return the message of a command that ends with this exit code and prints nothing."""
        answer = self(*arguments, stdin=stdin)
        assert (answer.code, answer.out) == (code, ""), answer.err
        return answer.err

    def json(self, *arguments: object) -> Any:
        """Return what a command prints as JSON; it must succeed."""
        return json.loads(self.done(*arguments, "--format", "json"))


@pytest.fixture
def orderly(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(monkeypatch, capfd)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """Start an S3-compatible server on a free port of this machine; return its endpoint."""
    pytest.importorskip(
        "flask_cors",
        reason="needs moto[s3], flask and flask-cors: pip install 'orderly-boggle[test]'",
    )
    moto_server = pytest.importorskip(
        "moto.server", reason="needs moto[s3]: pip install 'orderly-boggle[test]'"
    )
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the address of a new bucket; endpoint and credentials are in the environment, as a
    user sets them.
    """
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tester")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    name = f"test-{uuid.uuid4().hex[:12]}"
    FileSystem.from_uri(f"s3://{name}?allow_bucket_creation=true")[0].create_dir(name)
    return f"s3://{name}"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """Return a folder to start in, with modules that nothing may import."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    names = "anyio boardclass cluster configs multiprocessing numba orderly_boggle pickle pyarrow "
    names += "random ray results search tempfile"
    for name in names.split():
        (folder / f"{name}.py").write_text(
            f"open({str(folder / 'imported')!r}, 'a').write(__name__)\n"
        )
    yield folder
    assert not (folder / "imported").exists()


@pytest.fixture(scope="module")
def browser():
    """Run the Chromium that is installed, for pages that a test looks at; meanwhile no test may
    have an event loop.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        pytest.skip(
            f"needs one of {', '.join(BROWSERS)} (on Debian: apt-get install "
            "chromium-headless-shell)"
        )
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu"]
        )
        yield running
        running.close()


@pytest.fixture
def tabs(browser):
    """Tabs in which nothing may fail; all are closed in the end."""
    from tests.browsing import Tabs

    made = Tabs(browser)
    yield made
    made.close()


@pytest.fixture(scope="session")
def odd_machine(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a library to load first (LD_PRELOAD), which plays machines of other people."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs Linux and a C compiler (cc or gcc)")
    library = str(tmp_path_factory.mktemp("odd") / "odd.so")
    source = str(ROOT / "tests" / "odd_machine.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library
