"""File systems whose locks do nothing, are refused or hold on one machine only, and those whose
folders cannot be synced: no row is lost.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orderly_boggle.boardclass.errors import StoreError
from orderly_boggle.results.errors import StoreLockedError
from orderly_boggle.results.storage import files, local
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.storage.lock import PACE, Pace, current_owner, take_lock
from orderly_boggle.results.storage.owner import own_note
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from tests.conftest import ROOT
from tests.results.helpers import row, toy_question, write_rows
from tests.samples import daily

NOTHING = "0"  # what ODD_FLOCK says for locks that are accepted and do nothing
REFUSED = [str(number) for number in (errno.ENOSYS, errno.ENOLCK, errno.EBADF, errno.EACCES, 524)]
Start = Callable[..., "subprocess.Popen[str]"]


def own_process() -> str:
    """Return what a note says of this process."""
    return str(json.loads(own_note())["process"])


@pytest.fixture
def start(odd_machine, tmp_path) -> Iterator[Start]:
    """Start a writer of some classes on a file system such as ``ODD_FLOCK="0"``."""
    writers = []

    def started(*class_ids: int, **odd: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.results.writer", tmp_path / "run", *class_ids]
        writer = subprocess.Popen(
            [str(word) for word in command],
            cwd=ROOT,
            env=os.environ | {"LD_PRELOAD": odd_machine} | odd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        writers.append(writer)
        return writer

    yield started
    for writer in writers:
        writer.kill()
        writer.communicate()


def ids(run: Path) -> list[int]:
    return sorted(each.class_id for each in open_run(run).rows())


@pytest.mark.parametrize("flock", daily([NOTHING, str(errno.EACCES)], REFUSED))
def test_one_driver_where_locks_do_nothing_and_its_death_is_noticed_at_once(start, tmp_path, flock):
    first = start(1, 2, ODD_FLOCK=flock)
    assert first.stdout.readline() == "stored\n"
    for where in ({}, {"ODD_HOST": "elsewhere"}):
        second = start(3, ODD_FLOCK=flock, **where)
        assert "is being written by" in second.communicate()[1]
        assert second.returncode == 1
    assert current_owner(LocalFolder(tmp_path / "run"))[0]
    first.kill()
    first.wait()
    third = start(3, ODD_FLOCK=flock)
    assert third.communicate() == ("stored\n", "")
    assert ids(tmp_path / "run") == [1, 2, 3]
    assert not list((tmp_path / "run").glob(f"{files.LOCK}*"))


@pytest.mark.parametrize("n_writers", daily([3], [2, 5] * 10))
def test_writers_that_start_together_lose_nothing(start, tmp_path, n_writers):
    writers = [start(number, ODD_FLOCK=NOTHING) for number in range(n_writers)]
    answers = [writer.communicate() for writer in writers]
    stored = [number for number, (said, _) in enumerate(answers) if said == "stored\n"]
    assert stored
    assert ids(tmp_path / "run") == stored
    assert all("is being written by" in refusal for said, refusal in answers if not said)


NOT_SYNCED = [errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF]


@pytest.mark.parametrize("number", NOT_SYNCED)
def test_a_folder_that_cannot_be_synced(start, tmp_path, number):
    assert start(1, ODD_FSYNC_FOLDER=str(number)).communicate() == ("stored\n", "")
    assert ids(tmp_path / "run") == [1]


def test_a_folder_that_fails_when_it_is_synced(start):
    writer = start(1, ODD_FSYNC_FOLDER=str(errno.EIO))
    said, refusal = writer.communicate()
    assert (said, writer.returncode) == ("", 1)
    assert "cannot write" in refusal


@pytest.mark.parametrize(
    "other",
    [
        {"host": "elsewhere"},
        {"host": "elsewhere", "machine": "another", "process": own_process()},
        {"host": socket.gethostname(), "machine": "another", "process": own_process()},
    ],
)
def test_a_claim_of_another_machine_counts_while_it_is_renewed(tmp_path, other):
    """Whatever the locks say: they may hold on one machine only; and whatever processes of that
    number are here.
    """
    Store.open(tmp_path, toy_question()).close()
    note = {"pid": 2**30, "user": "ann", "since": time.time()} | other
    (tmp_path / files.OWNER).write_text(json.dumps(note))
    _, owner = current_owner(LocalFolder(tmp_path))
    assert owner is not None
    assert owner.host == other["host"]
    with pytest.raises(StoreLockedError, match=rf"ann@{owner.host} \(process .* last heard of"):
        Store.open(tmp_path, toy_question())
    let_the_lease_end(tmp_path)
    assert current_owner(LocalFolder(tmp_path)) == (False, None)
    Store.open(tmp_path, toy_question()).close()


def of_another_machine(run: Path, since_s: float = 0.0) -> None:
    """Let a driver of another machine have a claim on a run, renewed ``since_s`` ago."""
    Store.open(run, toy_question()).close()
    note = {"pid": 7, "user": "ann", "since": time.time() - 60, "host": "box", "machine": "another"}
    (run / files.OWNER).write_text(json.dumps(note))
    at_s = time.time() - since_s
    os.utime(run / files.OWNER, (at_s, at_s))


def test_a_claim_that_is_not_renewed_is_waited_for(tmp_path):
    """As that of a driver that was killed on another machine; its successor comes at once."""
    of_another_machine(tmp_path)
    told: list[str] = []
    # so long that a busy machine looks at it twice before it ends
    Store.open(tmp_path, toy_question(), pace=Pace(0.1, 4.0), wait=told.append).close()
    assert len(told) > 1
    assert re.match(
        r"waiting for ann@box \(process 7\), for .*, last heard of [0-4] s ago: its", told[0]
    )


def test_a_claim_that_is_renewed_is_not_waited_for(tmp_path):
    """Nor taken over, however often it is looked at."""
    of_another_machine(tmp_path)

    def renewed(text: str) -> None:
        os.utime(tmp_path / files.OWNER)

    with pytest.raises(StoreLockedError, match=r"being written by ann@box.*wait for it or stop it"):
        Store.open(tmp_path, toy_question(), pace=Pace(0.1, 3600.0), wait=renewed)
    assert json.loads((tmp_path / files.OWNER).read_bytes())["user"] == "ann"


def test_a_driver_at_work_on_this_machine_is_not_waited_for(start, tmp_path):
    """Its process is seen, or its lock."""
    first = start(1)
    assert first.stdout.readline() == "stored\n"
    with pytest.raises(StoreLockedError, match="is being written by"):
        Store.open(tmp_path / "run", toy_question(), wait=pytest.fail)


def test_a_free_lock_of_another_directory_says_nothing(tmp_path):
    """The same folder of a server, mounted twice on this machine, may have a lock in each place; a
    copy of a run stands for it here.
    """
    with Store.open(tmp_path / "run", toy_question()):
        shutil.copytree(tmp_path / "run", tmp_path / "again")
        assert current_owner(LocalFolder(tmp_path / "again"))[0]
        with pytest.raises(StoreLockedError, match="is being written by"):
            Store.open(tmp_path / "again", toy_question())


CONTAINER = ("unshare", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c")


@pytest.mark.skipif(
    subprocess.run([*CONTAINER, "hostname a"], capture_output=True, check=False).returncode != 0,
    reason="needs namespaces: another user may not make them",
)
def test_a_container_that_is_made_anew_goes_on_at_once_and_one_at_work_is_seen(tmp_path):
    """Another host name and other process numbers, but the same machine and directory."""
    run = tmp_path / "run"
    writer = f"exec {sys.executable} -m tests.results.writer {run}"
    with subprocess.Popen(
        [*CONTAINER, f"hostname one; {writer} 1"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "stored\n"
        assert current_owner(LocalFolder(run))[0]
        second = subprocess.run(
            [*CONTAINER, f"hostname two; {writer} 2"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "is being written by" in second.stderr
        first.kill()
        ends_s = time.monotonic() + 30
        # its process ends a moment later; its standard input stays open, or it would end by itself
        while current_owner(LocalFolder(run))[0]:
            assert time.monotonic() < ends_s, "status would say that it runs"
            time.sleep(0.05)
    assert (run / files.OWNER).exists(), "nobody took the claim back"
    third = subprocess.check_output(
        [*CONTAINER, f"hostname three; {writer} 3"], cwd=ROOT, stdin=subprocess.DEVNULL, text=True
    )
    assert third == "stored\n"
    assert ids(run) == [1, 3]


def test_process_numbers_of_another_group_say_nothing(tmp_path):
    """A container may see the /proc of its machine, where its numbers are those of others."""
    script = (
        "import sys\n"
        "from orderly_boggle.results.storage.owner import own_note, parse_owner\n"
        "print(parse_owner(own_note()).is_alive)"
    )
    command = [*CONTAINER[:2], "--pid", "--fork", sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("needs namespaces: another user may not make them")
    assert done.stdout == "None\n"


def test_a_claim_is_renewed_also_after_an_error(tmp_path):
    owner = tmp_path / files.OWNER
    with Store.open(tmp_path, toy_question(), pace=Pace(beat_s=0.01)):
        owner.rename(tmp_path / "aside")
        owner.mkdir()  # cannot be read
        time.sleep(0.1)
        owner.rmdir()
        (tmp_path / "aside").rename(owner)
        n_open = len([*Path("/dev/fd").iterdir()])
        for _ in range(9):
            os.utime(owner, (0, 0))
            while owner.stat().st_mtime == 0:
                time.sleep(0.01)
        assert len([*Path("/dev/fd").iterdir()]) < n_open + 6, "closed each time"


def test_a_process_of_another_user_that_the_system_hides_may_be_alive(odd_machine):
    """It has ended, which shows only where one may ask."""
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    note = json.loads(own_note()) | {"pid": ended.pid}
    script = (
        "import sys\n"
        "from orderly_boggle.results.storage.owner import parse_owner\n"
        "print(parse_owner(sys.argv[1]).is_alive)"
    )
    for refused, said in (("1", "None"), ("0", "False")):
        odd = {"LD_PRELOAD": odd_machine, "ODD_KILL": refused}
        answer = subprocess.check_output(
            [sys.executable, "-c", script, json.dumps(note)],
            cwd=ROOT,
            env=os.environ | odd,
            text=True,
        )
        assert answer == f"{said}\n"
    ended.wait()


@pytest.fixture
def sleeper(tmp_path, monkeypatch) -> Iterator[Store]:
    """Return a driver with a row to write, where there are no locks."""

    def refused(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refused)
    store = Store.open(tmp_path, toy_question())
    store.append([row(1)])
    store.flush()
    store.append([row(2)])
    yield store
    with pytest.raises(StoreLockedError):
        store.close()


def let_the_lease_end(run: Path) -> None:
    """Let the claim on a run be as old as that of a driver that has slept for long."""
    long_ago_s = time.time() - PACE.lease_s - 5
    os.utime(run / files.OWNER, (long_ago_s, long_ago_s))


Meanwhile = Callable[[str, int, Callable[[], None]], None]


@pytest.fixture
def meanwhile(tmp_path, monkeypatch) -> Meanwhile:
    """Let the driver fall asleep in one of its calls of the operating system."""

    def arm(call: str, number: int, act: Callable[[], None]) -> None:
        real, n_calls = getattr(local, call), 0

        def slow(*values: object) -> None:
            nonlocal n_calls
            n_calls += 1
            if n_calls == number:
                let_the_lease_end(tmp_path)
                act()
            real(*values)

        monkeypatch.setattr(local, call, slow)

    return arm


@pytest.mark.parametrize("call", ["write_all", "sync", "replace"])
@pytest.mark.parametrize("number", [1, 2])
def test_a_driver_that_falls_asleep_in_the_middle_of_a_write_stops(
    tmp_path, sleeper, meanwhile, call, number
):
    """Before or in the first or the second file that it publishes: the part, or the manifest."""

    def another_driver() -> None:
        write_rows(tmp_path, [row(3)])

    meanwhile(call, number, another_driver)
    with pytest.raises(StoreError):
        sleeper.flush()
    with pytest.raises(StoreLockedError, match="moved or removed"):
        sleeper.flush()
    assert ids(tmp_path) == [1, 3]
    with Store.open(tmp_path, toy_question()) as again:
        assert [each.class_id for each in again.snapshot().rows()] == [1, 3]


def test_what_a_sleeper_was_about_to_rename_is_fenced_off(tmp_path, sleeper, meanwhile):
    """Before the next driver reads anything: what it has not read must not come after."""
    meanwhile("replace", 2, lambda: take_lock(LocalFolder(tmp_path)).release())
    with pytest.raises(StoreLockedError, match="moved or removed"):
        sleeper.flush()
    assert ids(tmp_path) == [1]


def test_a_line_of_a_writer_that_may_not_write_any_more_does_not_stay(tmp_path):
    def refuse() -> None:
        raise StoreLockedError("another driver came")

    folder = LocalFolder(tmp_path)
    n_bytes = folder.append_line("log", "one", 0)
    with pytest.raises(StoreLockedError, match="another driver came"):
        folder.append_line("log", "two", n_bytes, refuse)
    assert folder.read_lines("log")[0] == ["one"]
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_a_line_that_another_writer_added_is_not_cut_off(tmp_path):
    """Whatever let two of them in."""
    folder, other = LocalFolder(tmp_path), LocalFolder(tmp_path)
    n_bytes = folder.append_line("log", "one", 0)
    other.append_line("log", "two", n_bytes)
    with pytest.raises(StoreLockedError, match="became longer"):
        folder.append_line("log", "three", n_bytes)
    assert folder.read_lines("log")[0] == ["one", "two"]
    with (tmp_path / "log").open("a") as file:
        file.write("half a li")
    other.append_line("log", "three", len("one\ntwo\n"))
    assert folder.read_lines("log")[0] == ["one", "two", "three"]
