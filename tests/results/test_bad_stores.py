"""Stores that are busy, silent, slow to list, miserly with rights, or that change what they get."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orderly_boggle.boardclass.errors import StoreError
from orderly_boggle.results.errors import DamagedError, StoreLockedError, UnreachableError
from orderly_boggle.results.proof.prove import summary
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import open_folder
from orderly_boggle.results.storage.lock import Pace
from orderly_boggle.results.storage.outage import Outage, Patience
from orderly_boggle.results.store.compaction import MANY
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import STORE_FLUSH_SECONDS, Store
from orderly_boggle.results.upkeep.repair import repair
from tests.results.helpers import all_rows, drive, row, toy_question, write_rows
from tests.results.proxies import Proxy

LATER = Pace(lease_s=-1.0)


@pytest.fixture
def proxy(s3_server: str, bucket: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """Return a proxy in front of the server; the endpoint in the environment is its own."""
    proxy = Proxy(s3_server)
    monkeypatch.setattr("orderly_boggle.results.storage.objects.LOOKS_S", (0.01, 0.1))
    monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.address)
    yield proxy
    proxy.stop()


class Clock:
    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize("status", [503, -1], ids=["busy", "silent"])
def test_rows_are_kept_while_a_store_is_away_for_minutes(bucket, proxy, monkeypatch, status):
    """Ten minutes on a clock of its own: the calls return, nothing is lost."""
    monkeypatch.setattr(
        "orderly_boggle.results.storage.outage.LONGEST_PAUSE_S", 200.0
    )  # fewer requests
    monkeypatch.setattr("orderly_boggle.results.storage.outage.GROWTH", 20.0)
    clock, told = Clock(), list[str]()
    with Store.open(f"{bucket}/run", toy_question(), clock=clock) as store:
        folder = store.run.folder
        folder.outage = Outage(clock)
        folder.patience = Patience(1200.0, told.append)
        store.append([row(1)])
        proxy.fails = lambda method, path: status
        for number in range(2, 4):
            clock.now_s += max(STORE_FLUSH_SECONDS, 300.0)
            store.append([row(number)])
            assert not store.flush_if_due()
        (line,) = told[:1]
        assert "does not answer" in line
        assert "2 rows and what is found meanwhile are kept" in line
        proxy.fails = lambda method, path: 0
        proxy.over.set()
        clock.now_s += 300.0
        assert store.flush_if_due()
        assert told[-1].endswith("answers again")
    assert [r.class_id for r in open_run(f"{bucket}/run").rows()] == [1, 2, 3]
    assert len(open_run(f"{bucket}/run").manifest.parts) == 2


def test_a_store_that_stays_away_ends_the_run_with_a_code_that_is_tried_again(bucket, proxy):
    clock, told = Clock(), list[str]()
    store = Store.open(f"{bucket}/run", toy_question(), clock=clock)
    store.run.folder.outage = Outage(clock)
    store.run.folder.patience = Patience(100.0, told.append)
    store.append([row(1)])
    proxy.fails = lambda method, path: 503
    clock.now_s += STORE_FLUSH_SECONDS
    assert not store.flush_if_due()
    clock.now_s += 101.0
    with pytest.raises(UnreachableError) as caught:
        store.flush_if_due()
    assert caught.value.exit_code == 6
    with pytest.raises(UnreachableError):
        store.close()
    proxy.fails = lambda method, path: 0
    write_rows(f"{bucket}/run", [row(1)], pace=LATER)


def test_a_lost_answer_leaves_one_part_and_one_line(bucket, proxy):
    """What was put twice is the same object, whichever arrives last."""
    clock = Clock()
    with Store.open(f"{bucket}/run", toy_question(), clock=clock) as store:
        folder = store.run.folder
        folder.outage = Outage(clock)
        store.append([row(1)])
        n_lines = 0

        def fails(method: str, path: str) -> int:
            nonlocal n_lines
            n_lines += method == "PUT" and f"/{files.MANIFEST}/" in path
            return 503 if n_lines else 0

        proxy.fails = fails
        clock.now_s += STORE_FLUSH_SECONDS
        assert not store.flush_if_due()
        proxy.fails = lambda method, path: 0
        (part,) = folder.names(files.RESULTS)
        store.append([row(2)])
        store.flush()
        assert folder.names(files.RESULTS)[0] == part
        assert len(folder.names(files.RESULTS)) == 2
    assert [r.class_id for r in open_run(f"{bucket}/run").rows()] == [1, 2]


def test_what_a_driver_has_put_itself_is_not_read_again_to_be_put_together(bucket, proxy):
    """Requests are paid for: of a part and its line there are none but those that put them."""
    read: list[str] = []

    def note(method: str, path: str) -> int:
        is_object = "list-type=2" not in path and f"/{files.LOCK}/" not in path
        if method == "GET" and is_object:
            read.append(path)
        return 0

    with Store.open(f"{bucket}/run", toy_question()) as store:
        proxy.fails = note
        for number in range(1, MANY + 1):
            store.append([row(number)])
            store.flush()
        (whole,) = store.run.folder.names(files.RESULTS)
        assert [path.rpartition("/results/")[2] for path in read] == [whole.partition("/")[2]]
    assert [r.class_id for r in open_run(f"{bucket}/run").rows()] == list(range(1, MANY + 1))


def test_a_driver_finds_its_claim_by_name_where_listings_lag(bucket, proxy):
    with Store.open(f"{bucket}/run", toy_question()) as store:
        proxy.hides = lambda key: True
        store.append([row(1)])
        store.flush()
        store.lock._renew_once()
        store.append([row(2)])
        assert [r.class_id for r in store.snapshot().rows()] == [1, 2]
    proxy.hides = lambda key: "/lock/" in key
    with Store.open(f"{bucket}/run", toy_question()) as store:
        store.append([row(3)])
    assert [r.class_id for r in open_run(f"{bucket}/run").rows()] == [1, 2, 3]


def test_lines_that_a_listing_lacks_are_looked_for(bucket, proxy):
    address = f"{bucket}/run"
    with Store.open(address, toy_question()) as store:
        for number in range(1, 5):
            store.append([row(number)])
            store.flush()
    folder = open_folder(address)
    lines = folder.names(files.MANIFEST)
    for hidden in (lines[1:2], lines[2:], lines[1:]):
        proxy.hides = lambda key, hidden=hidden: any(key.endswith(line) for line in hidden)
        assert [r.class_id for r in open_run(address).rows()] == [1, 2, 3, 4]
        with Store.open(address, toy_question()) as store:
            assert len(store.index.places) == 4


def test_a_claim_that_was_given_back_and_is_still_listed_holds_nobody_up(bucket, proxy):
    address = f"{bucket}/run"
    write_rows(address, [row(1)])
    folder = open_folder(address)
    folder.publish(f"{files.LOCK}/hold-another", b"{}")
    proxy.fails = lambda method, path: 404 if "hold-another" in path else 0
    with Store.open(address, toy_question()) as store:
        store.append([row(2)])
    proxy.fails = lambda method, path: 0
    folder.publish(f"{files.LOCK}/hold-another", b"{}")
    with pytest.raises(StoreLockedError):
        Store.open(address, toy_question())


def test_a_key_that_may_not_list_everything_can_run(bucket, proxy):
    """A read of a missing object is then refused (403), not answered by 404."""
    proxy.denies = True
    drive(f"{bucket}/run", [])
    assert summary(f"{bucket}/run").proven
    proxy.fails = lambda method, path: 403 if path.endswith(files.RUN) else 0
    with pytest.raises(StoreError, match=r"the key may not do this.*ACCESS_DENIED"):
        open_run(f"{bucket}/run")


def test_an_object_whose_read_is_not_answered_is_not_called_missing(bucket, proxy):
    address = f"{bucket}/run"
    write_rows(address, [row(1)])
    folder = open_folder(address)
    folder.patience = Patience(0.0)
    proxy.hides = lambda key: True
    proxy.fails = lambda method, path: 503 if path.endswith(files.RUN) else 0
    with pytest.raises(UnreachableError):
        folder.read(files.RUN)


def test_a_store_that_changes_what_it_is_given_is_refused(bucket, proxy):
    proxy.alters = lambda data: b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data)
    with pytest.raises(StoreError, match=r"bytes were put, and [\d,]+ bytes come back, .*changes"):
        Store.open(f"{bucket}/run", toy_question())
    proxy.alters = lambda data: data
    assert open_folder(f"{bucket}/run").names(files.LOCK) == []


def test_objects_are_sent_as_every_store_understands(bucket, proxy, monkeypatch):
    sent = list[bytes]()
    proxy.alters = lambda data: sent.append(data) or data  # type: ignore[func-returns-value]
    open_folder(f"{bucket}/run").publish("a/b", b"plain")
    assert sent == [b"plain"]
    monkeypatch.setenv("AWS_REQUEST_CHECKSUM_CALCULATION", "when_supported")
    with pytest.raises(StoreError, match=r"does not understand.*HTTP status 411"):
        open_folder(f"{bucket}/run").publish("a/b", b"whoever sets it is obeyed")


def test_the_reason_is_said(bucket, proxy):
    with pytest.raises(StoreError, match="there is no such bucket: create it"):
        open_run("s3://no-such-bucket/run")
    with pytest.raises(StoreError, match="holds no run"):
        open_run(f"{bucket}/no-such-run")


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("how", ["altered", "missing"])
def test_a_damaged_line_is_repaired_in_a_store_as_on_a_disk(bucket, proxy, tmp_path, which, how):
    place = f"{bucket}/run"
    with Store.open(place, toy_question()) as store:
        for part in (all_rows()[:2], all_rows()[2:4], all_rows()[4:]):
            store.append(part)
            store.flush()
    folder = open_folder(place)
    line = folder.names(files.MANIFEST)[which]
    if how == "altered":
        folder.publish(line, (folder.read(line) or b"").replace(b"n_rows", b"n_cows"))
    else:
        folder.remove(line)
    if (how, which) != ("missing", 2):
        with pytest.raises(DamagedError, match="drop-damaged"):
            open_run(place)
    with Store.open(place, toy_question(), recover=repair, pace=LATER) as store:
        (dropped,) = store.repaired.parts or [""]
        assert files.part_number(dropped, files.RESULTS) in (which + 1, None)
        assert len(list(store.run.rows())) == 6 - 2
    drive(place, [])
    drive(str(tmp_path), [])
    assert summary(place).result_digest == summary(tmp_path).result_digest
    (line, *more) = folder.names(files.MANIFEST)
    assert all("-all-" not in item for item in more)
