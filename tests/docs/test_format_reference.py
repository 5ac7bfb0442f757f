"""docs/format.md says what the program writes: schemas, keys and views, in their order."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import get_args

import pytest

from orderly_boggle.results.log_events import Event
from orderly_boggle.results.proof import audit
from orderly_boggle.results.proof.claim import Claim
from orderly_boggle.results.reading.sql import connect
from orderly_boggle.results.store.rows import SCHEMA
from tests.conftest import ROOT, make_in

PAGE = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")


def told(section, first_column):
    """Return ``(name, type)`` of each line of the table whose first column has that title."""
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    table = text.partition(f"| {first_column} | type |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `([a-z_0-9]+)` \| ([^|]+) \|", table, re.MULTILINE)
    assert rows, (section, first_column)
    return rows


def test_parquet_columns():
    for section, schema in (("results", SCHEMA), ("certificates", audit.SCHEMA)):
        columns = [(field.name, str(field.type)) for field in schema]
        assert told(f"{section}/part-*.parquet", "column") == columns


def types_of(values):
    return {key: type(value).__name__ for key, value in values.items()}


@pytest.fixture(scope="module")
def written(with_a_run):
    return with_a_run / "runs" / "2x2-scowl70-14"


def test_json_documents(written, with_a_run):
    make_in(with_a_run, "run", "2x2", "--workers", "0", "--out", "climbed")
    run = json.loads((with_a_run / "climbed" / "run.json").read_text())
    assert set(run) == {"format", "sha256", "question", "made"}
    assert dict(told("run.json", "key of `question`")) == types_of(run["question"])
    told_made = dict(told("run.json", "key of `made`"))
    assert told_made == types_of(run["made"]) | {"extends": "dict"}
    made = json.loads((written / "run.json").read_text())["made"]
    assert (set(made), made["climbed"]) == (set(run["made"]), None)
    assert dict(told("claim.json", "key")) == types_of(
        json.loads((written / "claim.json").read_text())
    )
    for line in (written / "manifest.jsonl").read_text().splitlines():
        assert dict(told("manifest.jsonl", "key")) == types_of(json.loads(line))
    names = [name for name, _ in told("claim.json", "key")]
    assert names == ["format", *(item.name for item in fields(Claim)), "sha256"]
    listed = re.findall(r"^    RUN/([a-z./]+?)(?:\*| |,|part)", PAGE, re.MULTILINE)
    for name in ("run.json", "manifest.jsonl", "claim.json", "results/"):
        assert name in listed
        assert (written / name).exists()


def test_events():
    """Each event has a row with its name and all its fields, in any order."""
    section = PAGE.partition("\n## events.jsonl\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+) \| (.+) \|$", section, re.MULTILINE)
    for kind in get_args(Event):
        ours = {item.name: item for item in fields(kind)}
        name = ours.pop("event").default
        (told,) = (text for names, text in rows if f"`{name}`" in names)
        assert ours.keys() - {"time", "session"} <= set(re.findall("`([a-z_]+)`", told)), name
    everywhere = set(re.findall("`([a-z_]+)`", " ".join(text for _, text in rows)))
    known = {item.name for kind in get_args(Event) for item in fields(kind)}
    assert everywhere <= known | {"rescoring"}


def test_views(written):
    database = connect([written])
    views = ("boards", "runs", "classes")
    shown = {view: [row[:2] for row in database.query(f"DESCRIBE {view}").rows] for view in views}
    database.close()
    for view in ("boards", "runs"):
        assert sorted(told("The views of `orderly query`", f"column of `{view}`")) == sorted(
            shown[view]
        )
    columns = [name for name in SCHEMA.names if name != "fingerprint"]
    columns.insert(columns.index("path") + 1, "depth")
    assert [name for name, _ in shown["classes"]] == ["run", *columns]
    assert dict(shown["classes"])["n_boards"] == "HUGEINT"
