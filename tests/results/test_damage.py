"""Damage is noticed: bit flips, truncations, swapped and foreign files never change an answer silently."""

from __future__ import annotations

import random
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from boardclass.errors import StoreError
from results import files
from results.claim import read_claim, write_claim
from results.coverage import check_coverage
from results.errors import DamagedError
from results.parts import parse_parquet, parse_part
from results.query import boards, summary
from results.rescore import rescore
from results.run import open_run
from results.schema import SCHEMA
from results.store import Store
from tests.results.helpers import ToyScorer, all_rows, fingerprint, partition, row


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("damage") / "run"
    with Store.open(run, fingerprint(), {"seed": 1}) as store:
        for item in all_rows():
            store.append([item])
            store.flush()
        listed = rescore(store, ToyScorer())
        write_claim(store, check_coverage(partition(), store), listed, wordlist="toy", n_words=1)
    (run / files.LOCK).unlink(missing_ok=True)
    return run


def answer(location: Path) -> Any:
    """Everything a run says, read back through every file."""
    run = open_run(location)
    rows = [(r.key, r.verdict) for r in run.rows()]
    coverage = check_coverage(partition(), run)
    return rows, coverage, boards(run), read_claim(run), run.info, run.fingerprint


def spoilt(finished: Path, tmp_path: Path) -> Path:
    run = tmp_path / "run"
    shutil.rmtree(run, ignore_errors=True)
    return Path(shutil.copytree(finished, run))


def check_noticed(run: Path, victim: Path, truth: Any) -> str:
    """Return how damage showed: as an error that names the file and a remedy, as missing work, or not at all."""
    try:
        found = answer(run)
    except StoreError as error:
        text = str(error)
        told = error.exit_code == 3 and victim.name in text and re.search(r"restore|choose another|remove it", text)
        return "error" if told else f"unhelpful: {text}"
    if found == truth:
        return "harmless"
    rows, coverage = found[0], found[1]
    assert set(rows) < set(truth[0]), "rows may be missing, never altered"
    assert not coverage.complete
    assert victim.name == files.MANIFEST
    return "missing"


def victims(run: Path) -> list[Path]:
    return sorted(path for path in run.rglob("*") if path.is_file())


def test_bit_flips(finished, tmp_path):
    rng = random.Random(20)
    truth = answer(finished)
    assert truth[1].complete
    outcomes = {"error": 0, "harmless": 0, "missing": 0}
    run = spoilt(finished, tmp_path)
    for _ in range(300):
        victim = rng.choice(victims(run))
        whole = victim.read_bytes()
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        victim.write_bytes(data)
        outcome = check_noticed(run, victim, truth)
        assert outcome == "error" or victim.suffix != ".parquet", outcome
        outcomes[outcome] += 1
        victim.write_bytes(whole)
    assert answer(run) == truth
    assert outcomes["error"] > 290, outcomes


def test_truncations(finished, tmp_path):
    rng = random.Random(21)
    truth = answer(finished)
    run = spoilt(finished, tmp_path)
    for _ in range(100):
        victim = rng.choice(victims(run))
        data = victim.read_bytes()
        kept = data[: rng.randrange(len(data))]
        victim.write_bytes(kept)
        outcome = check_noticed(run, victim, truth)
        assert outcome in ("error", "missing") or (victim.suffix == ".json" and kept + b"\n" == data)
        victim.write_bytes(data)


def test_swapped_parts(finished, tmp_path):
    truth = answer(finished)
    names = sorted((finished / files.RESULTS).iterdir())
    for one in range(len(names)):
        for two in range(one):
            run = spoilt(finished, tmp_path)
            first, second = run / files.RESULTS / names[one].name, run / files.RESULTS / names[two].name
            data = first.read_bytes()
            first.write_bytes(second.read_bytes())
            second.write_bytes(data)
            assert check_noticed(run, second, truth) == "error"


def test_page_checksums_speak_without_the_manifest(finished):
    """The 67-86 % of flips that pyarrow reads back silently by default: all noticed, or the table is unchanged."""
    rng = random.Random(22)
    part = sorted((finished / files.RESULTS).iterdir())[-1]
    truth = parse_parquet(part.read_bytes(), "here", SCHEMA)
    metadata = pq.read_metadata(part)
    start = 4
    end = max(
        chunk.data_page_offset + chunk.total_compressed_size
        for chunk in (metadata.row_group(0).column(index) for index in range(metadata.num_columns))
    )
    n_errors = 0
    for _ in range(300):
        data = bytearray(part.read_bytes())
        data[rng.randrange(start, min(end, len(data)))] ^= 1 << rng.randrange(8)
        try:
            assert parse_parquet(bytes(data), "here", SCHEMA).equals(truth)
        except DamagedError:
            n_errors += 1
    assert n_errors > 150


def test_foreign_part_with_its_manifest(finished, tmp_path):
    other = tmp_path / "other"
    with Store.open(other, fingerprint(cutoff=81)) as store:
        store.append([row(fingerprint=fingerprint(cutoff=81).digest)])
    run = spoilt(finished, tmp_path)
    shutil.rmtree(run / files.RESULTS)
    shutil.copytree(other / files.RESULTS, run / files.RESULTS)
    shutil.copy(other / files.MANIFEST, run / files.MANIFEST)
    with pytest.raises(DamagedError, match="another run"):
        Store.open(run, fingerprint())
    with pytest.raises(StoreError, match="another run"):
        answer(run)


def changed(line: str, **values: Any) -> str:
    """Return a manifest line with other values and a check that fits them."""
    return replace(parse_part(line), **values).format() + "\n"


def lines(run: Path) -> list[str]:
    return (run / files.MANIFEST).read_text().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda old: old[:2] + old[3:], "missing or repeated"),
        (lambda old: [old[0], *old], "missing or repeated"),
        (lambda old: old[::-1], "missing or repeated"),
        (lambda old: old[:2], "its end is lost"),
        (lambda old: [], "its end is lost"),
        (lambda old: [*old[:2], "[1]\n", *old[2:]], "line 3 is damaged"),
        (lambda old: [old[0].replace('"n_rows": 1', '"n_rows": 2'), *old[1:]], "its own check"),
        (lambda old: [*old, changed(old[-1], dropped=True), changed(old[-1], dropped=True)], "not listed"),
        (lambda old: [changed(old[0], name="results/../x/part-1.parquet"), *old[1:]], "no name of a part"),
        (lambda old: [changed(old[0], n_rows=2), *old[1:]], "does not describe"),
        (lambda old: [changed(old[0], last_id=99), *old[1:]], "does not describe"),
        (lambda old: [changed(old[0], n_rows="1"), *old[1:]], "fields"),
    ],
)
def test_altered_manifest(finished, tmp_path, change, message):
    run = spoilt(finished, tmp_path)
    (run / files.MANIFEST).write_text("".join(change(lines(run))))
    with pytest.raises(DamagedError, match=message):
        Store.open(run, fingerprint())


def test_missing_part_then_dropped_then_recomputed(finished, tmp_path):
    run = spoilt(finished, tmp_path)
    parts = sorted((run / files.RESULTS).iterdir())
    parts[1].unlink()
    parts[3].write_bytes(b"x" + parts[3].read_bytes()[1:])
    with pytest.raises(DamagedError, match="--drop-damaged"):
        Store.open(run, fingerprint())
    rows = all_rows()
    with Store.open(run, fingerprint(), drop_damaged=True) as store:
        assert [Path(name).name for name in store.dropped] == [parts[1].name, parts[3].name]
        assert store.done() == {r.key for r in rows} - {rows[1].key, rows[3].key}
        assert not (run / files.CLAIM).exists()
        store.append([rows[1], rows[3]])
        assert check_coverage(partition(), store).complete
    with Store.open(run, fingerprint()) as store:
        assert store.done() == {r.key for r in rows}


def test_deleted_files(finished, tmp_path):
    truth = answer(finished)
    for victim in victims(finished):
        run = spoilt(finished, tmp_path)
        copy = run / victim.relative_to(finished)
        copy.unlink()
        if victim.name == files.RUN:
            with pytest.raises(StoreError, match=r"not a run.*restore run\.json"):
                Store.open(run, fingerprint())
        elif victim.name == files.CLAIM:
            assert read_claim(open_run(run)) is None
        elif victim.name == files.MANIFEST:
            with pytest.raises(DamagedError, match="its end is lost"):
                Store.open(run, fingerprint())
        elif "manifest" in victim.name:
            assert boards(run) == truth[2]
        else:
            assert check_noticed(run, copy, truth) == "error"


def test_a_claim_without_its_rows_is_not_shown(finished, tmp_path):
    run = spoilt(finished, tmp_path)
    assert summary(run).claim is not None
    (run / files.MANIFEST).write_text("".join(lines(run)[:-1]))
    sorted((run / files.RESULTS).iterdir())[-1].unlink()
    assert summary(run).claim is None
    assert read_claim(open_run(run)) is not None


def test_each_part_that_is_dropped_leaves_the_others(finished, tmp_path):
    with Store.open(spoilt(finished, tmp_path), fingerprint(), drop_damaged=True) as store:
        assert store.dropped == ()
