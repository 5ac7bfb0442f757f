"""``gs://`` on an emulator of Google's store, and what is said where a store does not let us in."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from boardclass.errors import StoreError
from results.errors import StoreLockedError
from results.proof.prove import summary
from results.storage import files, lock
from results.storage.local import open_folder
from results.store.run import open_run
from results.store.store import Store
from tests.results.helpers import all_rows, drive, fingerprint, row


@pytest.fixture
def google() -> Iterator[str]:
    """Start an emulator on a free port; return the address of a new prefix in its bucket."""
    needs = "needs gcp-storage-emulator: pip install 'orderly-boggle[test]'"
    server = pytest.importorskip("gcp_storage_emulator.server", reason=needs)
    emulator = server.create_server("127.0.0.1", 0, in_memory=True, default_bucket="mine")
    emulator.start()
    port = emulator._api._httpd.socket.getsockname()[1]
    settings = f"scheme=http&endpoint_override=127.0.0.1:{port}&retry_limit_seconds=5"
    yield f"gs://anonymous@mine/{uuid.uuid4().hex}?{settings}"
    emulator.stop()


def test_a_run_at_google(google, tmp_path, monkeypatch):
    drive(google, [])
    drive(str(tmp_path / "here"), [])
    assert summary(google).result_digest == summary(tmp_path / "here").result_digest
    folder = open_folder(google)
    assert "retry_limit" not in folder.where("")
    assert not folder.names(files.LOCK), "the lock was given back"
    with Store.open(google, fingerprint()) as store:
        assert len(store.index.done()) == len(all_rows())


def test_one_driver_at_a_time_at_google(google, monkeypatch):
    sleeper = Store.open(google, fingerprint())
    with pytest.raises(StoreLockedError, match="last heard of"):
        Store.open(google, fingerprint())
    monkeypatch.setattr(lock, "LEASE_S", -1.0)  # whoever is silent is forgotten
    with Store.open(google, fingerprint()) as other:
        other.append([row(1)])
    sleeper.append([row(2)])
    with pytest.raises(StoreLockedError, match="taken over"):
        sleeper.close()
    assert [r.class_id for r in open_run(google).rows()] == [1]


@pytest.mark.parametrize(
    ("address", "way_in"),
    [
        ("gs://orderly-no-such-bucket/run?retry_limit_seconds=1", "GOOGLE_APPLICATION_CREDENTIALS"),
        ("abfss://data@orderlynosuchaccount.dfs.core.windows.net/run", "az login"),
    ],
)
def test_no_credentials_no_run(monkeypatch, tmp_path: Path, address, way_in):
    """Google's library would try for a quarter of an hour, Azure's would end the process."""
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(StoreError, match=r"cannot open (gs|abfss)://.*credentials: ") as caught:
        open_folder(address)
    assert way_in in str(caught.value)


@pytest.mark.parametrize("address", ["hdfs://host/run", "ftp://host/run"])
def test_other_schemes_are_named(address):
    with pytest.raises(StoreError, match="nor an object store: expected s3, gs"):
        open_folder(address)
