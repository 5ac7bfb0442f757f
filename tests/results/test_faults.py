"""A fault at every write, fsync, rename, link: a reader sees old or new, resuming loses nothing acknowledged."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from boardclass.errors import StoreError
from results.errors import DamagedError, WriteError
from results.proof.prove import summary
from results.storage import files
from results.storage import local as storage
from results.store.run import open_run
from results.store.store import Store
from results.upkeep.repair import repair
from tests.results.helpers import KilledError, all_rows, check_whole_batches, conclude, drive, fingerprint, make_run
from tests.samples import daily

SEAM = ("write_all", "sync", "replace")
KINDS = ("kill", "torn", "torn late", "error")


class Faults:
    """Counts the calls of the seam and fails at one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        self.fail_at = -1
        self.kind = ""
        for name in SEAM:
            monkeypatch.setattr(storage, name, self._wrapped(name, getattr(storage, name)))

    def arm(self, at: int, kind: str) -> None:
        """Let the call number ``at`` from now on fail."""
        self.calls, self.fail_at = [], at
        self.kind = ("ENOSPC", "EIO")[at % 2] if kind == "error" else kind

    def _wrapped(self, name, real):
        def call(*args):
            self.calls.append(name)
            if len(self.calls) - 1 != self.fail_at:
                return real(*args)
            self.fail_at = -1
            if self.kind in ("ENOSPC", "EIO"):
                raise OSError(getattr(errno, self.kind), os.strerror(getattr(errno, self.kind)))
            if self.kind.startswith("torn") and name == "write_all":
                os.write(args[0], args[1][: len(args[1]) // 2])
            elif self.kind == "torn late":
                real(*args)
            raise KilledError(name)

        return call


def trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, step: int, act: Callable[[Path], None]
) -> Iterator[tuple[Path, BaseException]]:
    """Let ``act`` fail at one call of the seam after the other, each in a run of its own, and do it again.

    Yields each run and the error in between.  All runs are copies of ``spoilt``, if there is one.
    """

    def fresh(name: str) -> Path:
        is_spoilt = (tmp_path / "spoilt").exists()
        return Path(shutil.copytree(tmp_path / "spoilt", tmp_path / name)) if is_spoilt else tmp_path / name

    faults, clean = Faults(monkeypatch), fresh("clean")
    act(clean)
    digest, total = summary(clean).result_digest, len(faults.calls)
    assert set(faults.calls) == set(SEAM)
    for at in range(KINDS.index(kind) % step, total, step):
        run = fresh(f"run-{at}")
        faults.arm(at, kind)
        with pytest.raises((KilledError, StoreError)) as caught:
            act(run)
        yield run, caught.value
        act(run)
        assert summary(run).result_digest == digest
        assert summary(run).proven
        assert len(list(open_run(run).rows())) == len(all_rows())
        assert not list(run.rglob(files.TEMPORARY_PREFIX + "*"))


@pytest.mark.parametrize("step", daily([4, 1], lambda step: step == 4), ids=["one way each", "all ways"])
@pytest.mark.parametrize("kind", KINDS)
def test_fault_at_every_call(tmp_path, monkeypatch, kind, step):
    acknowledged: list[int] = []

    def act(run: Path) -> None:
        acknowledged.clear()
        drive(run, acknowledged)

    for run, error in trials(tmp_path, monkeypatch, kind, step, act):
        if isinstance(error, StoreError):
            assert re.search(rf"{run}.*run again", str(error))
        check_whole_batches(run, acknowledged)


@pytest.mark.parametrize("step", daily([8, 1], lambda step: step == 8), ids=["half of them", "all ways"])
@pytest.mark.parametrize("kind", KINDS)
def test_fault_at_every_call_of_a_repair(tmp_path, monkeypatch, kind, step):
    """What was intact stays, whenever the repair is cut short; repairing again ends with the same answer.

    A kill and a bad disk left a torn manifest line, a part altered, a part missing, no run.json.
    """
    spoilt = make_run(tmp_path / "spoilt")
    one, two, *_ = sorted((spoilt / files.RESULTS).iterdir())
    one.write_bytes(one.read_bytes()[:-1])
    two.unlink()
    (spoilt / files.RUN).write_bytes(b"{")
    with (spoilt / files.MANIFEST).open("a") as file:
        file.write('{"name": "resu')

    def act(run: Path) -> None:
        store = Store.open(run, fingerprint(), {"a": 1}, recover=repair)
        try:
            store.append(r for r in all_rows() if r.key not in store.index.places)
            conclude(store)
        finally:
            store._lock.release()

    for run, _ in trials(tmp_path, monkeypatch, kind, step, act):
        with Store.open(run, fingerprint(), {"a": 1}, recover=repair) as store:
            assert {r.key for r in all_rows()[2:]} <= store.index.places.keys()


@pytest.mark.parametrize("at", range(6))
def test_a_flush_that_failed_can_be_repeated(tmp_path, monkeypatch, at):
    faults = Faults(monkeypatch)
    with Store.open(tmp_path, fingerprint()) as store:
        store.append(all_rows()[:2])
        store.flush()
        store.append(all_rows()[2:])
        faults.arm(at, "error")
        with pytest.raises(WriteError, match=r"cannot write .*(No space|Input/output)") as raised:
            store.flush()
        assert raised.value.exit_code == 2  # as docs/running.md says: nothing is damaged
        store.flush()
    assert [r.key for r in open_run(tmp_path).rows()] == [r.key for r in all_rows()]
    Store.open(tmp_path, fingerprint()).close()
    assert not list(tmp_path.rglob(files.TEMPORARY_PREFIX + "*"))


def test_a_manifest_cut_during_the_run_is_noticed(tmp_path):
    with Store.open(tmp_path, fingerprint()) as store:
        store.append(all_rows()[:2])
        store.flush()
        (tmp_path / files.MANIFEST).write_bytes(b"")
        store.append(all_rows()[2:4])
        with pytest.raises(StoreError, match="somebody else"):
            store.close()
    with pytest.raises(DamagedError, match="its end is lost"):  # the lock was given back all the same
        Store.open(tmp_path, fingerprint())
