"""Damage is noticed and repaired, and a fault at every write, fsync and rename loses nothing that
was acknowledged.
"""

from __future__ import annotations

import errno
import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from orderly_boggle.boardclass.errors import StoreError
from orderly_boggle.results.errors import (
    DamagedError,
    FingerprintError,
    NewerError,
    RowError,
    UnreachableError,
    WriteError,
)
from orderly_boggle.results.log import EventLog
from orderly_boggle.results.log_events import HostFlagged, WorkerStarted
from orderly_boggle.results.proof.coverage import check_coverage
from orderly_boggle.results.proof.prove import summary
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.files import explained
from orderly_boggle.results.storage.local import open_folder
from orderly_boggle.results.storage.outage import Outage, Patience
from orderly_boggle.results.store.documents import format_document, json_digest
from orderly_boggle.results.store.made import EVERYTHING, Made
from orderly_boggle.results.store.parts import parse_parquet, parse_part
from orderly_boggle.results.store.rows import SCHEMA
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import FLUSH_SECONDS, NOT_LISTED, Store
from orderly_boggle.results.upkeep.repair import repair
from tests.conftest import flip_bit
from tests.results.faults import KINDS, SEAM, Faults
from tests.results.helpers import (
    BUCKETS,
    KilledError,
    all_rows,
    check_whole_batches,
    claimed,
    drive,
    make_run,
    row,
    toy_question,
    write_rows,
)
from tests.samples import daily


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("damage") / "run")


def spoilt(finished: Path, tmp_path: Path) -> Path:
    run = tmp_path / "run"
    shutil.rmtree(run, ignore_errors=True)
    return Path(shutil.copytree(finished, run))


def test_page_checksums_speak_without_the_manifest(finished):
    """The 67-86 % of flips that pyarrow reads back silently by default: all noticed, or the table
    is unchanged.
    """
    rng = random.Random(22)
    whole = sorted((finished / files.RESULTS).iterdir())[-1].read_bytes()
    truth = parse_parquet(whole, "here", SCHEMA)
    n_before_footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    n_errors = 0
    for _ in range(200):
        data = bytearray(whole)
        data[rng.randrange(4, n_before_footer)] ^= 1 << rng.randrange(8)
        try:
            assert parse_parquet(bytes(data), "here", SCHEMA).equals(truth)
        except DamagedError:
            n_errors += 1
    assert n_errors > 100


def test_bytes_that_were_read_before_are_looked_at_again_for_another_run(finished, tmp_path):
    """A foreign part comes with its manifest; what is kept of a part is for the same bytes and
    question only.
    """
    run = open_run(spoilt(finished, tmp_path))
    assert len(list(run.rows())) == len(all_rows())
    other = tmp_path / "other"
    Store.open(other, toy_question(cutoff=81)).close()
    shutil.copytree(tmp_path / "run" / files.RESULTS, other / files.RESULTS, dirs_exist_ok=True)
    shutil.copy(tmp_path / "run" / files.MANIFEST, other / files.MANIFEST)
    with pytest.raises(RowError, match="another run"):
        list(open_run(other).rows())
    with pytest.raises(DamagedError, match="another run"):
        Store.open(other, toy_question(cutoff=81))
    flip_bit(tmp_path / "run" / run.manifest.parts[0].name)
    assert len(list(run.rows())) == len(all_rows()), "a run is what it was when it was read"
    with pytest.raises(DamagedError, match="was altered"):
        list(open_run(tmp_path / "run").rows())


def changed(line: str, **values: Any) -> str:
    """Return a manifest line with other values and a check that fits them."""
    return replace(parse_part(line), **values).format() + "\n"


@pytest.mark.parametrize(
    ("change", "message", "lost"),
    [
        (lambda old: old[:2] + old[3:], "missing or repeated", [3]),
        (lambda old: [old[0], *old], "missing or repeated", []),
        (lambda old: old[::-1], "missing or repeated", []),
        (lambda old: old[:2], "its end is lost", [3, 4, 5, 6]),
        (lambda old: [], "its end is lost", [1, 2, 3, 4, 5, 6]),
        (lambda old: [*old[:2], "[1]\n", *old[2:]], "line 3 is damaged", []),
        (lambda old: [*old[:2], "[1]\n", *old[3:]], "line 3 is damaged", [3]),
        (lambda old: [old[0], old[1][:-1] + old[2], *old[3:]], "line 2 is damaged", [2, 3]),
        (
            lambda old: [*old[:3], changed(old[2], dropped=True), *old[3:5], "{\n"],
            "line 7 is damaged",
            [3, 6],
        ),
        (
            lambda old: [old[0].replace('"n_rows": 1', '"n_rows": 2'), *old[1:]],
            "its own check",
            [1],
        ),
        (
            lambda old: [*old, changed(old[-1], dropped=True), changed(old[-1], dropped=True)],
            "not listed",
            [6],
        ),
        (
            lambda old: [changed(old[0], name="results/../x/part-1.parquet"), *old[1:]],
            "name is",
            [1],
        ),
        (lambda old: [changed(old[0], n_rows=2), *old[1:]], "does not describe", [1]),
        (lambda old: [changed(old[0], last_id=99), *old[1:]], "does not describe", [1]),
        (lambda old: [changed(old[0], n_rows="1"), *old[1:]], "n_rows is '1'", [1]),
    ],
)
def test_an_altered_manifest_is_noticed_and_mended_line_by_line(
    finished, tmp_path, change, message, lost
):
    """Parts whose line is lost are computed again, those dropped earlier stay dropped, the others
    stay.
    """
    run = spoilt(finished, tmp_path)
    lines = (run / files.MANIFEST).read_text().splitlines(keepends=True)
    (run / files.MANIFEST).write_text("".join(change(lines)))
    with pytest.raises(DamagedError, match=message):
        Store.open(run, toy_question())
    rows = all_rows()
    dropped_before = {"line 7 is damaged": {3}, "not listed": {6}}.get(message, set())
    for opening, named in enumerate(({*lost} - dropped_before, set()), 1):
        with Store.open(run, toy_question(), recover=repair) as store:
            assert store.index.places.keys() == {
                r.key for number, r in enumerate(rows, 1) if number not in lost
            }
            numbers = {files.part_number(name, files.RESULTS) for name in store.repaired.parts}
            assert numbers == named
            mended = files.MANIFEST in store.repaired.others
            assert mended == (opening == 1 and message != "does not describe")
    with Store.open(run, toy_question()) as store:
        store.append(rows[number - 1] for number in lost)
        assert check_coverage(store.snapshot()).complete


def test_a_manifest_that_is_missing_beside_a_single_part_was_lost(tmp_path):
    """One part may hold all that was merged or taken over; it is no leftover of a writer."""
    write_rows(tmp_path, all_rows())
    (part,) = (tmp_path / files.RESULTS).iterdir()
    (tmp_path / files.MANIFEST).unlink()
    for look in (open_run, partial(Store.open, question=toy_question())):
        with pytest.raises(DamagedError, match=r"manifest\.jsonl is missing; restore"):
            look(tmp_path)
    assert part.exists()
    with Store.open(tmp_path, toy_question(), recover=repair) as store:
        assert files.MANIFEST in store.repaired.others
        assert list(store.repaired.parts) == [f"{files.RESULTS}/{part.name}"]
    assert not part.exists()


def test_a_part_that_no_line_lists_yet_is_a_leftover(tmp_path):
    write_rows(tmp_path, [])
    part = tmp_path / files.part_name(files.RESULTS, 1)
    part.parent.mkdir(exist_ok=True)
    part.touch()
    with Store.open(tmp_path, toy_question()) as store:
        assert store.repaired.parts == {f"{files.RESULTS}/{part.name}": NOT_LISTED}
    assert not part.exists()
    with Store.open(tmp_path, toy_question()) as store:
        assert store.repaired.parts == {}, "it is told once"
    write_rows(tmp_path, all_rows())
    assert check_coverage(open_run(tmp_path)).complete


def test_a_run_json_that_cannot_be_read_is_not_made_up(finished, tmp_path):
    """Only the question that the rows belong to may take its place."""
    run = spoilt(finished, tmp_path)
    (run / files.RUN).write_text("{")
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with pytest.raises(DamagedError, match=r"the rows are not of the run asked for.*same settings"):
        Store.open(run, toy_question(cutoff=81), recover=repair)
    assert {path: path.read_bytes() for path in before} == before
    with pytest.raises(DamagedError, match="--drop-damaged"):
        Store.open(run, toy_question())
    for part in (run / files.RESULTS).iterdir():
        part.write_bytes(b"")
    with pytest.raises(DamagedError, match="nor can any rows"):
        Store.open(run, toy_question(), recover=repair)
    run = spoilt(finished, tmp_path)
    (run / files.RUN).unlink()
    with pytest.raises(DamagedError, match=r"run\.json is missing: restore .* --drop-damaged"):
        Store.open(run, toy_question())
    with Store.open(run, toy_question(), Made(share="2/2"), recover=repair) as store:
        assert (store.repaired.parts, len(store.index.places)) == ({}, len(all_rows()))
        assert store.repaired.others == {files.RUN: "it is missing"}
        assert store.run.made == Made(share="2/2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "not a JSON object"),
        ('{"a": "\\ud800"}', "surrogates"),
        (format_document({"format": "3"}).decode(), "has format '3', this version reads 1 and 2"),
    ],
)
def test_a_run_json_of_something_else_is_told(finished, tmp_path, text, message):
    run = spoilt(finished, tmp_path)
    (run / files.RUN).write_text(text)
    with pytest.raises(DamagedError, match=message):
        open_run(run)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda told: told.update(format=3), "has format 3, this version reads 1 and 2"),
        (lambda told: told["question"].update(wraps=1), "does not know: question.wraps is 1"),
        (lambda told: told["question"]["rules"].update(more=5), "know: question.rules.more is 5"),
    ],
)
def test_a_run_of_a_newer_version_is_no_damaged_one(finished, tmp_path, change, message):
    """Repairing it would forget what it was asked, or by which rules its paths are read."""
    run = spoilt(finished, tmp_path)
    told = json.loads((run / files.RUN).read_text())
    del told["sha256"]
    change(told)
    (run / files.RUN).write_bytes(format_document(told))
    before = (run / files.RUN).read_bytes()
    with pytest.raises(NewerError, match=f"{message}; use the version of orderly that wrote it"):
        open_run(run)
    with pytest.raises(NewerError, match=message):
        Store.open(run, toy_question(), recover=repair)
    assert (run / files.RUN).read_bytes() == before


def test_a_manifest_of_a_newer_version_is_no_damaged_one(finished, tmp_path):
    """Repairing it would take parts off the list that are sound."""
    run = spoilt(finished, tmp_path)
    manifest = run / files.MANIFEST
    first, *others = manifest.read_text().splitlines(keepends=True)
    told = json.loads(first) | {"codec": "new"}
    del told["check"]
    told["check"] = json_digest(told)[:16]
    manifest.write_text("".join([json.dumps(told, sort_keys=True) + "\n", *others]))
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    for how in ({}, {"recover": repair}):
        with pytest.raises(NewerError, match="codec is 'new'; use the version of orderly that"):
            Store.open(run, toy_question(), **how)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_a_run_json_that_was_written_over_is_told(finished, tmp_path):
    run = spoilt(finished, tmp_path)
    text = (run / files.RUN).read_text()
    (run / files.RUN).write_text(text.replace('"share": "1/1"', '"share": "1/2"'))
    with pytest.raises(DamagedError, match="does not match its own SHA-256"):
        open_run(run)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"buckets": BUCKETS}, "not spelled as a run does"),
        ({"buckets": f"middle: {BUCKETS}"}, "unknown cell type 'middle'"),
        ({"cell_order": [0, 1, 2, 2]}, "each of the cells 0 to 3 once"),
    ],
)
def test_a_forged_run_json_says_its_question_as_a_run_does(finished, tmp_path, change, message):
    run = spoilt(finished, tmp_path)
    values = json.loads((run / files.RUN).read_text())
    del values["sha256"]
    values["question"] |= change
    (run / files.RUN).write_bytes(format_document(values))
    with pytest.raises(DamagedError, match=message):
        open_run(run)


def test_a_repair_of_a_whole_run_writes_nothing(finished, tmp_path):
    run = spoilt(finished, tmp_path)
    before = {path: path.stat().st_ino for path in run.rglob("*") if path.is_file()}
    done = repair(open_folder(run), toy_question(), b"{}")
    assert (done.parts, done.others) == ({}, {})
    assert {path: path.stat().st_ino for path in run.rglob("*") if path.is_file()} == before


def test_a_repair_changes_nothing_of_another_question(finished, tmp_path):
    run = spoilt(finished, tmp_path)
    flip_bit(next((run / files.RESULTS).iterdir()))
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with pytest.raises(FingerprintError, match="cutoff"):
        repair(open_folder(run), toy_question(cutoff=81), b"{}")
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_a_run_json_that_was_cut_before_anything_was_found_is_written_anew(tmp_path):
    Store.open(tmp_path, toy_question()).close()
    (tmp_path / files.RUN).write_text("{")
    with pytest.raises(DamagedError, match=r"the same command, .*, with --drop-damaged"):
        Store.open(tmp_path, toy_question())
    with Store.open(tmp_path, toy_question(), recover=repair) as store:
        assert list(store.repaired.others) == [files.RUN]
        store.append(all_rows())
    assert check_coverage(open_run(tmp_path)).complete
    with Store.open(tmp_path / "new", toy_question(), recover=repair) as store:
        assert store.repaired.others == {}, "of a new run nothing was lost"


def test_a_run_json_that_is_written_anew_promises_nothing_of_rows_that_were_there(tmp_path):
    """They may be an older version's, or taken over from one: whoever takes verdicts over to a
    lower cutoff would believe bounds that do not cover what they left out.
    """
    promise = Made(covers=EVERYTHING)
    with Store.open(tmp_path, toy_question(), Made(covers="")) as store:
        store.append(all_rows())
    (tmp_path / files.RUN).unlink()
    with Store.open(tmp_path, toy_question(), promise, recover=repair) as store:
        assert store.run.made.covers == ""
    assert open_run(tmp_path).made.covers == ""
    Store.open(tmp_path / "new", toy_question(), promise, recover=repair).close()
    assert open_run(tmp_path / "new").made.covers == EVERYTHING


def test_a_part_with_rows_of_other_classes_is_taken_out(tmp_path):
    with Store.open(tmp_path, toy_question()) as store:
        for rows in (all_rows(), [row(1, n_boards=625)]):
            store.append(rows)
            store.flush()
    with Store.open(tmp_path, toy_question(), recover=repair) as store:
        (why,) = store.repaired.parts.values()
        assert "not the run's own, such as 1" in why
    assert check_coverage(open_run(tmp_path)).complete


def test_of_hosts_in_the_log_only_those_that_were_contradicted_are_doubted(finished, tmp_path):
    run = spoilt(finished, tmp_path)
    log = EventLog(open_folder(run))
    for event in (WorkerStarted(host="right"), HostFlagged(host="wrong")):
        log.add(event)
    log.flush()
    flip_bit(next((run / files.RESULTS).iterdir()))
    repair(open_folder(run), toy_question(), b"{}")
    assert open_run(run).index.doubted_hosts == {"wrong"}


def test_a_claim_goes_with_a_part_that_it_rests_on(finished, tmp_path):
    run = spoilt(finished, tmp_path)
    assert (run / files.CLAIM).exists()
    flip_bit(next((run / files.RESULTS).iterdir()))
    Store.open(run, toy_question(), recover=repair).close()
    assert not (run / files.CLAIM).exists()


@pytest.mark.parametrize(
    "name",
    [files.CLAIM, files.AUDITS, files.part_name(files.CERTIFICATES, 1)],
    ids=["claim", "audits", "certificate"],  # the name of a part is drawn
)
def test_a_document_that_cannot_be_read_goes_alone(finished, tmp_path, name):
    run = spoilt(finished, tmp_path)
    (run / name).parent.mkdir(exist_ok=True)
    (run / name).write_bytes(b"[")
    with Store.open(run, toy_question(), recover=repair) as store:
        assert list(store.repaired.others) == [name]
        assert (store.repaired.parts, len(store.index.places)) == ({}, len(all_rows()))
    assert not (run / name).exists()
    assert (run / files.CLAIM).exists() == (name != files.CLAIM)


# ---- faults of the file system


def trials(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    step: int,
    act: Callable[[Path], None],
) -> Iterator[tuple[Path, BaseException]]:
    """Let ``act`` fail at one call of the seam after the other, each in a run of its own, and do it
    again.

    Yields each run and the error in between.  All runs are copies of ``spoilt``, if there is one.
    """

    def fresh(name: str) -> Path:
        is_spoilt = (tmp_path / "spoilt").exists()
        return (
            Path(shutil.copytree(tmp_path / "spoilt", tmp_path / name))
            if is_spoilt
            else tmp_path / name
        )

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


@pytest.mark.parametrize("step", daily([4], [1]), ids=["one way each", "all ways"])
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


@pytest.mark.parametrize("step", daily([8], [1]), ids=["half of them", "all ways"])
@pytest.mark.parametrize("kind", KINDS)
def test_fault_at_every_call_of_a_repair(tmp_path, monkeypatch, kind, step):
    """What was intact stays, whenever the repair is cut short; repairing again ends with the same
    answer.

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
        store = Store.open(run, toy_question(), Made(share="1/1"), recover=repair)
        try:
            store.append(r for r in all_rows() if r.key not in store.index.places)
            claimed(store)
        finally:
            store.lock.release()

    for run, _ in trials(tmp_path, monkeypatch, kind, step, act):
        with Store.open(run, toy_question(), Made(share="1/1"), recover=repair) as store:
            assert {r.key for r in all_rows()[2:]} <= store.index.places.keys()


@pytest.mark.parametrize("lost", ["line", "part", "rule"])
def test_a_doubt_outlives_a_repair_that_is_killed(tmp_path, monkeypatch, lost):
    """It goes with the second part; the log tells of it, unless that part can still be read."""
    spoilt = tmp_path / "spoilt"
    doubt = row(1, status="quarantined", n_boards=0, host="liar")
    with Store.open(spoilt, toy_question()) as store:
        for batch in ([row(0, host="liar")], [doubt]):
            store.append(batch)
            store.flush()
    _, part = open_run(spoilt).manifest.parts
    if lost == "line":
        manifest = spoilt / files.MANIFEST
        manifest.write_text(manifest.read_text()[:-9] + "\n")
    elif lost == "part":
        (spoilt / part.name).unlink()
    else:  # class 1 is no canonical one
        assert part.first_id == 1
    if lost != "rule":
        log = EventLog(open_folder(spoilt))
        log.add(HostFlagged(host="liar"))
        log.flush()
    faults = Faults(monkeypatch)
    n_kills = 0
    for at in range(1000):
        run = Path(shutil.copytree(spoilt, tmp_path / f"run-{at}"))
        faults.arm(at, "kill")
        try:
            Store.open(run, toy_question(), recover=repair).lock.release()
            break
        except KilledError:
            n_kills += 1
        with Store.open(run, toy_question(), recover=repair) as store:
            assert store.run.doubted == [(0, "")]
    assert n_kills > 5


@pytest.mark.parametrize("at", range(6))
def test_a_flush_that_failed_can_be_repeated(tmp_path, monkeypatch, at):
    faults = Faults(monkeypatch)
    with Store.open(tmp_path, toy_question()) as store:
        store.append(all_rows()[:2])
        store.flush()
        store.append(all_rows()[2:])
        faults.arm(at, "error")
        with pytest.raises(
            (WriteError, UnreachableError), match=r"cannot write .*(No space|Input/output)"
        ) as raised:
            store.flush()
        # as docs/running.md says: nothing is damaged
        assert raised.value.exit_code == (6 if faults.kind == "EIO" else 2)
        store.flush()
    assert [r.key for r in open_run(tmp_path).rows()] == [r.key for r in all_rows()]
    Store.open(tmp_path, toy_question()).close()
    assert not list(tmp_path.rglob(files.TEMPORARY_PREFIX + "*"))


def test_a_disk_that_fails_once_more_is_waited_for_as_long_as_the_first_time(tmp_path, monkeypatch):
    faults, told, now_s = Faults(monkeypatch), list[str](), 1000.0

    def clock():
        return now_s

    with Store.open(tmp_path, toy_question(), clock=clock) as store:
        store.run.folder.outage = Outage(clock)
        store.run.folder.patience = Patience(1200.0, told.append)
        for number in (1, 2):
            assert not store.flush_if_due(), "nothing waits"
            store.append([row(number)])
            now_s += FLUSH_SECONDS
            faults.arm(1, "error")
            assert not store.flush_if_due()
            now_s += FLUSH_SECONDS
            assert store.flush_if_due()
            now_s += 100_000.0
    assert [text.endswith("answers again") for text in told] == [False, True] * 2
    assert len(list(open_run(tmp_path).rows())) == 2


def test_a_manifest_cut_during_the_run_is_noticed(tmp_path):
    with Store.open(tmp_path, toy_question()) as store:
        store.append(all_rows()[:2])
        store.flush()
        (tmp_path / files.MANIFEST).write_bytes(b"")
        store.append(all_rows()[2:4])
        with pytest.raises(StoreError, match="somebody else"):
            store.close()
    # the lock was given back all the same
    with pytest.raises(DamagedError, match="its end is lost"):
        Store.open(tmp_path, toy_question())


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.EIO, 6), (errno.ESTALE, 6), (errno.ETIMEDOUT, 6), (errno.ENOSPC, 2), (errno.EACCES, 2)],
)
@pytest.mark.parametrize("verb", ["write", "read"])
def test_a_place_that_fails_is_told_from_one_that_a_person_must_repair(number, code, verb):
    """Exit code 6 is tried again, 2 and 3 are not."""
    with pytest.raises(StoreError) as told, explained(verb, "runs/mine"):
        raise OSError(number, os.strerror(number))
    if code == 2 and verb == "read":
        code = 3
    assert told.value.exit_code == code
    assert "run again" in str(told.value)
