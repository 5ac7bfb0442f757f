"""Runs never mix: every field of the fingerprint counts, and a mismatch names it with both values."""

from __future__ import annotations

import pytest

from boardclass.errors import StoreError
from results.errors import FingerprintError
from results.store.documents import Fingerprint
from results.store.store import Store
from tests.results.helpers import fingerprint, row

CHANGES = {
    "dims": ("2x3", "2x2"),
    "wordlist_sha256": ("f" * 64, "0" * 64),
    "scores": ((0, 0, 0, 1, 1, 2, 3, 5, 12), "11"),
    "cutoff": (81, "80"),
    "partition": ("corner: ab cdefghijklmnopqrstuvwxyz", "aeiou"),
    "cell_order": ((0, 1, 2, 3), "[0, 2, 1, 3]"),
}


def test_every_field_is_tested():
    assert set(CHANGES) == set(fingerprint().to_json())


@pytest.mark.parametrize("field", CHANGES)
def test_each_field_alone_changes_the_digest_and_is_fatal(tmp_path, field):
    asked, stored = CHANGES[field]
    other = fingerprint(**{field: asked})
    assert other.digest != fingerprint().digest
    assert [name for name, _, _ in other.differences(fingerprint())] == [field]
    with Store.open(tmp_path / "run", fingerprint()) as store:
        store.append([row()])
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    with pytest.raises(FingerprintError) as caught:
        Store.open(tmp_path / "run", other)
    assert caught.value.exit_code == 3
    lines = [line for line in str(caught.value).splitlines() if line.startswith("  ")]
    assert len(lines) == 1
    assert lines[0].startswith(f"  {field}: ")
    assert str(stored) in lines[0].split("stored")[1]
    assert before == {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "values",
    [None, [], {}, {"dims": "2x2"}, {"cutoff": "80"}, {"cutoff": True}, {"scores": [1.5]}, {"wordlist_sha256": "x"}],
)
def test_hostile_values_are_refused(values):
    if isinstance(values, dict) and values and "dims" not in values:
        values = {**fingerprint().to_json(), **values}
    with pytest.raises(StoreError):
        Fingerprint.from_json(values)
