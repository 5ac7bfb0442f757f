"""Runs in object stores, on real servers: same content, one driver, faults, takeovers, no
secrets.
"""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import fs

from orderly_boggle.boardclass.errors import InputError, StoreError
from orderly_boggle.results.errors import DamagedError, StoreLockedError
from orderly_boggle.results.proof.claim import read_claim
from orderly_boggle.results.proof.prove import summary
from orderly_boggle.results.storage import files, lock
from orderly_boggle.results.storage.local import disk_use, open_folder
from orderly_boggle.results.storage.lock import Pace, current_owner, own_note
from orderly_boggle.results.storage.object_lines import line_name, name_of_all
from orderly_boggle.results.storage.objects import ObjectFolder, connect, runs_below
from orderly_boggle.results.store.made import Made
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.results.upkeep.repair import repair
from tests.cluster.clusters import free_port
from tests.conftest import SECRET_KEY
from tests.results.faults import REQUEST_KINDS, Faulty
from tests.results.helpers import (
    KilledError,
    all_rows,
    check_whole_batches,
    drive,
    row,
    toy_question,
    write_rows,
)
from tests.samples import daily

# for who comes after the time in which a claim must be renewed
LATER = Pace(lease_s=-1.0)


def test_a_run_in_a_bucket_is_a_run(bucket, tmp_path):
    address = f"{bucket}/some/prefix"
    with pytest.raises(StoreError, match="holds no run"):
        open_run(address)
    for part in (all_rows()[:3], all_rows()[3:]):
        write_rows(address, part, made=Made(share="1/1"))
    drive(address, [])
    drive(str(tmp_path), [])
    there, here = open_run(address), open_run(tmp_path)
    assert [r.verdict for r in there.rows()] == [r.verdict for r in here.rows()]
    assert summary(address).result_digest == summary(tmp_path).result_digest
    assert there.made == Made(share="1/1")
    assert read_claim(there) == read_claim(here)
    assert not there.folder.names(files.LOCK), "the lock was given back"
    assert disk_use(there.folder) is None
    assert runs_below(str(bucket), 3, 9) == ["some/prefix"]
    shared = open_folder(f"{bucket}/shared")
    shared.publish("thesis.tex", b"mine")
    with pytest.raises(StoreError, match="not a run"):
        Store.open(f"{bucket}/shared", toy_question())
    assert (shared.names(""), shared.names(files.LOCK)) == (["thesis.tex"], [])


def test_objects_that_are_lost_or_doubled_are_noticed(bucket):
    address = f"{bucket}/run"
    drive(address, [])
    folder = open_folder(address)
    line = folder.names(files.MANIFEST)[0]
    data = folder.read(line) or b""
    folder.remove(line)
    with pytest.raises(StoreError, match="an object is missing"):
        Store.open(address, toy_question())
    folder.publish(line, data.replace(b"n_rows", b"n_cows"))
    with pytest.raises(DamagedError, match="line 1 is damaged"):
        Store.open(address, toy_question())
    assert folder.names("") == [files.CLAIM, files.RUN], "no manifest like that of a directory"
    folder.publish(line, data)
    folder.publish(f"{line}0", data)
    with pytest.raises(StoreError, match=r"not the next line.*remove the doubled one"):
        open_run(address)
    folder.remove(f"{line}0")
    part = open_run(address).manifest.parts[0].name
    folder.publish(part, (folder.read(part) or b"")[:-1])
    with pytest.raises(DamagedError, match=part):
        list(open_run(address).rows())
    with Store.open(address, toy_question(), recover=repair) as store:
        assert list(store.repaired.parts) == [part]


def test_one_driver_per_run_whatever_machine_it_is_on(bucket):
    address, pace = f"{bucket}/run", Pace(0.2, 3.0)
    with Store.open(address, toy_question(), pace=pace) as store:
        _, owner = current_owner(open_run(address).folder)
        assert owner is not None
        assert owner.pid == os.getpid()
        time.sleep(5.0)  # the server's clock knows whole seconds only
        with pytest.raises(
            StoreLockedError, match=rf"process {os.getpid()}\), for \d+ s, last heard of \d+ s ago"
        ):
            Store.open(address, toy_question(), pace=pace)
        store.append(all_rows())
        store.flush()
        assert len(list(open_run(address).rows())) == 6, "readers need no lock"
    assert current_owner(open_run(address).folder) == (False, None)


def of_another_machine(address: str) -> str:
    """Let a driver of another machine have a claim on a run; return its name."""
    Store.open(address, toy_question()).close()
    note = {"pid": 7, "user": "ann", "since": time.time(), "host": "box", "machine": "another"}
    name = f"{files.LOCK}/hold-another"
    open_folder(address).publish(name, json.dumps(note).encode())
    return name


def test_a_claim_that_is_not_renewed_is_waited_for(bucket):
    """As that of a driver that was killed on another machine; its successor comes at once."""
    address = f"{bucket}/run"
    claim = of_another_machine(address)
    told: list[str] = []
    with Store.open(address, toy_question(), pace=Pace(5.0, 4.0), wait=told.append) as store:
        assert store.run.folder.read(claim) is None
        store.append([row(1)])
    assert re.match(r"waiting for ann@box \(process 7\), for .*, last heard of", told[0])
    assert [r.class_id for r in open_run(address).rows()] == [1]


def test_a_claim_that_is_renewed_is_not_taken_over(bucket):
    """However often it is looked at."""
    address = f"{bucket}/run"
    claim = of_another_machine(address)
    folder = open_folder(address)

    def renewed(text: str) -> None:
        time.sleep(1.1)  # the server's clock knows whole seconds only
        folder.publish(claim, folder.read(claim) or b"")

    with pytest.raises(StoreLockedError, match=r"being written by ann@box.*wait for it or stop it"):
        Store.open(address, toy_question(), pace=Pace(0.2, 60.0), wait=renewed)
    assert folder.names(files.LOCK) == [claim]


def test_a_claim_in_a_store_is_renewed_less_often_than_one_on_a_disk(bucket, monkeypatch):
    """Each time costs two requests; the claim still counts when one was in vain."""
    assert lock.PACE.beat_s < lock.STORE_PACE.beat_s
    assert 2 * lock.STORE_PACE.beat_s < lock.STORE_PACE.lease_s
    monkeypatch.setattr(lock, "PACE", Pace(beat_s=3600.0))
    monkeypatch.setattr(lock, "STORE_PACE", Pace(beat_s=0.1))
    with Store.open(f"{bucket}/run", toy_question()) as store:
        folder = store.run.folder
        first_s, ends_s = folder.put_at_s(files.LOCK), time.monotonic() + 30
        while folder.put_at_s(files.LOCK) == first_s:
            assert time.monotonic() < ends_s, "it was not renewed"
            time.sleep(0.2)


def test_a_driver_that_slept_stops_before_it_writes(bucket):
    address = f"{bucket}/run"
    sleeper = Store.open(address, toy_question())
    sleeper.append([row(1)])
    assert current_owner(open_folder(address), LATER) == (False, None)
    with Store.open(address, toy_question(), pace=LATER) as other:
        other.append([row(2)])
        other.flush()
        with pytest.raises(StoreLockedError, match="taken over by another driver"):
            sleeper.close()
        other.append([row(3)])
    assert [r.class_id for r in open_run(address).rows()] == [2, 3]


def test_a_driver_that_finds_another_claim_beside_its_own_writes_nothing(bucket):
    address = f"{bucket}/run"
    store = Store.open(address, toy_question())
    folder = open_folder(address)
    store.append([row(1)])
    folder.publish(f"{files.LOCK}/hold-another", own_note())
    with pytest.raises(StoreLockedError, match="taken over by another driver"):
        store.flush()
    assert list(open_run(address).rows()) == []
    folder.remove(f"{files.LOCK}/hold-another")
    store.close()
    assert [r.class_id for r in open_run(address).rows()] == [1]


@pytest.mark.parametrize(("dies", "first", "n_rows"), [(False, 0, 1), (True, 0, 0), (True, 1, 1)])
def test_what_arrives_after_another_driver_came_does_not_count(
    bucket, monkeypatch, dies, first, n_rows
):
    """A driver falls asleep in the middle of a write and takes it back, or is killed before it
    can.
    """
    address = f"{bucket}/run"
    sleeper = Store.open(address, toy_question())
    sleeper.append(row(n) for n in range(1, 1 + first))
    sleeper.flush()
    sleeper.append([row(2)])
    put, n_lines = ObjectFolder.publish, 0

    def late(self: ObjectFolder, name: str, data: bytes) -> None:
        nonlocal n_lines
        is_line = name.startswith(files.MANIFEST)
        n_lines += is_line
        is_first = is_line and n_lines == 1
        if is_first:
            write_rows(address, (row(n) for n in range(3, 3 + n_rows)), pace=LATER)
        put(self, name, data)
        if is_first and dies:
            raise KilledError

    monkeypatch.setattr(ObjectFolder, "publish", late)
    with pytest.raises((KilledError, StoreLockedError)) as caught:
        sleeper.flush()
    assert caught.type is (KilledError if dies else StoreLockedError)
    lines = open_folder(address).names(files.MANIFEST)
    n_places = len({line.rpartition("-")[0] for line in lines})
    assert len(lines) - n_places == dies, "else it is taken back"
    stored = [*range(1, 1 + first), *range(3, 3 + n_rows)]
    assert [r.class_id for r in open_run(address).rows()] == stored
    with Store.open(address, toy_question(), pace=LATER) as again:
        assert [r.class_id for r in again.snapshot().rows()] == stored
        again.append([row(2)])
    assert sorted(r.class_id for r in open_run(address).rows()) == sorted([*stored, 2])
    sleeper.lock.release()


@pytest.mark.parametrize("step", daily([64], [1]), ids=["some", "every"])
@pytest.mark.parametrize("kind", REQUEST_KINDS)
def test_fault_at_a_request(bucket, monkeypatch, kind, step):
    """Every 64th request fails in each of four ways, other ones for each way; nightly all of them
    in all ways.
    """
    real, _, _ = connect(bucket)
    faulty = Faulty(real)
    monkeypatch.setattr(
        "orderly_boggle.results.storage.objects.connect",
        lambda address: (faulty, address.removeprefix("s3://"), address),
    )
    drive(f"{bucket}/clean", [])
    total = len(faulty.calls)
    assert set(faulty.calls) == {"list", "get", "put", "delete"}
    digest = summary(f"{bucket}/clean").result_digest
    faulty.kind = kind
    n_failed = 0
    for at in range(8 * REQUEST_KINDS.index(kind) % step, total, step):
        address = f"{bucket}/run-{at}"
        acknowledged: list[int] = []
        faulty.calls, faulty.fail_at, told = [], at, ""
        try:
            drive(address, acknowledged, LATER)  # whoever died is forgotten at once
        except (KilledError, StoreError) as error:
            told = "killed" if isinstance(error, KilledError) else str(error)
        n_failed += bool(told)
        assert told in ("", "killed") or (address in told and "run again" in told)
        faulty.fail_at = -1
        check_whole_batches(address, acknowledged)
        drive(address, [], LATER)
        found = summary(address)
        assert (found.result_digest, found.n_rows["eliminated"], found.proven) == (digest, 5, True)
    assert n_failed >= 0.7 * (total // step), (
        "faults are noticed, but for those of a renewed claim and the like"
    )


@pytest.mark.parametrize(
    "address",
    [
        f"s3://tester:{SECRET_KEY}@bucket/run",
        f"s3://{SECRET_KEY}@bucket/run",
        f"s3://bucket/run?secret_key={SECRET_KEY}",
        f"abfss://data@account.dfs.core.windows.net/run?sig={SECRET_KEY}",
        f"abfss://data:{SECRET_KEY}@account.dfs.core.windows.net/run",
    ],
)
def test_credentials_in_an_address_are_refused_and_not_quoted(address):
    with pytest.raises(InputError, match=r"credentials") as caught:
        open_folder(address)
    assert SECRET_KEY not in str(caught.value)


def test_addresses(bucket, s3_server, monkeypatch):
    with pytest.raises(InputError, match="names no bucket"):
        open_folder("s3:///run")
    for address in ("hdfs://host/run", "ftp://host/run"):
        with pytest.raises(StoreError, match="nor an object store: expected s3, gs"):
            open_folder(address)
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    host = s3_server.removeprefix("http://")
    folder = open_folder(f"{bucket}/run?scheme=http&endpoint_override={host}")
    folder.publish("a/b", b"1")
    too_long = bytes(files.MAX_DOCUMENT_BYTES + 1)
    folder.publish(files.CLAIM, too_long)
    with pytest.raises(DamagedError, match="it was not read"):
        folder.read(files.CLAIM)
    assert folder.names("a") == ["a/b"]
    assert folder.where("a/b") == f"{bucket}/run/a/b", "settings are not part of a name"
    missing = open_folder(f"s3://no-such-bucket/run?scheme=http&endpoint_override={host}")
    with pytest.raises(StoreError, match=r"cannot write s3://no-such-bucket/run/a.*no such bucket"):
        missing.publish("a", b"1")


@pytest.mark.parametrize("stands_for", ["one line", "all lines"])
def test_an_object_that_is_empty_until_it_is_closed_is_not_a_line_yet(tmp_path, stands_for):
    """As on Azure, where this is what a driver leaves that was killed in the middle of a put."""
    folder = ObjectFolder(fs.LocalFileSystem(), str(tmp_path), "abfss://data@account/run")
    n_bytes = folder.append_line("log", "one", 0)
    n_bytes = folder.append_line("log", "two", n_bytes)
    if stands_for == "one line":
        name = line_name("log", n_bytes, "another")
    else:
        name = name_of_all("log", n_bytes, "another")
    (tmp_path / name).touch()
    reader = ObjectFolder(fs.LocalFileSystem(), str(tmp_path), folder.uri)
    assert reader.read_lines("log") == (["one", "two"], n_bytes)
    reader.append_line("log", "three", n_bytes)
    assert folder.read_lines("log")[0] == ["one", "two", "three"]


def test_logs_grow_by_objects(bucket, tmp_path):
    for place in (f"{bucket}/run", tmp_path):
        folder = open_folder(place)
        assert folder.read_tail("log.jsonl", 10) == b""
        for number in range(12):
            folder.note("log.jsonl", f"{number}\n{number}\n")
        open_folder(place).note("log.jsonl", "12\n")
        lines = folder.read_tail("log.jsonl", 10**6).split()
        assert [int(line) for line in lines] == [
            *(number for number in range(12) for _ in range(2)),
            12,
        ]
        assert folder.read_tail("log.jsonl", 3).endswith(b"12\n")


@pytest.fixture
def google() -> Iterator[str]:
    """Start an emulator on a free port; return the address of a new prefix in its bucket."""
    needs = "needs gcp-storage-emulator: pip install 'orderly-boggle[test]'"
    server = pytest.importorskip("gcp_storage_emulator.server", reason=needs)
    port = free_port()
    emulator = server.create_server("127.0.0.1", port, in_memory=True, default_bucket="mine")
    emulator.start()
    settings = f"scheme=http&endpoint_override=127.0.0.1:{port}&retry_limit_seconds=5"
    yield f"gs://anonymous@mine/{uuid.uuid4().hex}?{settings}"
    emulator.stop()


def test_a_run_at_google(google, tmp_path):
    drive(google, [])
    drive(str(tmp_path / "here"), [])
    assert summary(google).result_digest == summary(tmp_path / "here").result_digest
    folder = open_folder(google)
    assert "retry_limit" not in folder.where("")
    assert not folder.names(files.LOCK), "the lock was given back"
    sleeper = Store.open(google, toy_question())
    with pytest.raises(StoreLockedError, match="last heard of"):
        Store.open(google, toy_question())
    write_rows(google, [row(0, status="error", n_boards=0)], pace=LATER)
    sleeper.append([row(0, status="error", n_boards=0)])
    with pytest.raises(StoreLockedError, match="taken over"):
        sleeper.close()
    assert len(list(open_run(google).rows())) == len(all_rows()) + 1


@pytest.mark.parametrize(
    ("address", "way_in"),
    [
        ("gs://orderly-no-such-bucket/run?retry_limit_seconds=1", "GOOGLE_APPLICATION_CREDENTIALS"),
        ("abfss://data@orderlynosuchaccount.dfs.core.windows.net/run", "az login"),
    ],
)
def test_no_credentials_no_run(monkeypatch, tmp_path: Path, address, way_in):
    """Google's library would try for a quarter of an hour, Azure's would end the process."""
    for name in (
        "GOOGLE_APPLICATION_CREDENTIALS",
        "AZURE_CLIENT_ID",
        "AZURE_CLIENT_SECRET",
        "AZURE_TENANT_ID",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(StoreError, match=r"cannot open (gs|abfss)://.*credentials: ") as caught:
        open_folder(address)
    assert way_in in str(caught.value)
