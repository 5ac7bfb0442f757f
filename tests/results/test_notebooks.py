"""What a run and an answer show in a notebook, and what answers turn into."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ET
from decimal import Decimal

import pyarrow as pa
import pytest

from boardclass.errors import InputError
from results.reading.sql import connect
from results.storage import files
from results.store.run import open_run
from results.store.store import Store
from tests.results.helpers import all_rows, fingerprint


@pytest.fixture
def folder(tmp_path):
    with Store.open(tmp_path / "toy", fingerprint(), {"wordlist": {"name": "<toy & co>", "n_words": 3}}) as store:
        store.append(all_rows())
        store.flush()
    return tmp_path / "toy"


@pytest.fixture
def database(folder):
    made = connect([folder])
    yield made
    made.close()


def facts(html):
    cells = [item.text or "" for item in ET.fromstring(html).iter("td")]
    return dict(zip(cells[::2], cells[1::2], strict=True))


def test_a_run_shows_what_is_stored_and_claims_nothing(folder):
    run = open_run(folder)
    assert repr(run) == f"open_run({str(folder)!r})"
    html = run._repr_html_()
    told = facts(html)
    assert (told["word list"], told["classes"], told["rows, eliminated"]) == ("<toy & co>", "6", "5")
    assert "proven" not in html.lower()


def test_a_damaged_run_says_so(folder):
    part = next((folder / files.RESULTS).iterdir())
    part.write_bytes(part.read_bytes()[:-40])
    assert facts(open_run(folder)._repr_html_())["rows"].startswith("cannot be read: ")


def test_an_answer_is_a_table_and_says_how_much_of_it_is_shown(database):
    html = database.query("SELECT board, '<b>' AS text FROM boards ORDER BY board")._repr_html_()
    assert [item.text for item in ET.fromstring(html).iter("td")] == ["tvzy", "<b>", "wyzx", "<b>"]
    long = ET.fromstring(database.query("SELECT * FROM range(61)")._repr_html_())
    assert long.findtext("caption") == "the first 60 of 61 rows"
    assert len(list(long.iter("td"))) == 60


def test_answers_turn_into_arrow_with_their_types(database):
    sql = """
        SELECT 1::TINYINT AS small, (2::HUGEINT ** 40)::HUGEINT AS whole, 26::HUGEINT * 10 ** 24 AS large, 1.5 AS part,
               'nan'::DOUBLE AS none, NULL::INTEGER AS nothing, 'x' AS text, true AS truth, [1, 2] AS list,
               {'a': 1} AS struct, DATE '2020-01-02' AS day, 'inf' AS word
    """
    table = database.query(sql.replace("10 ** 24", "1000000000000000000000000::HUGEINT")).to_arrow()
    whole, real, text = pa.int64(), pa.float64(), pa.string()
    assert dict(zip(table.column_names, table.schema.types, strict=True)) == {
        "small": whole,
        "whole": whole,
        "large": pa.decimal128(38),
        "part": real,
        "none": real,
        "nothing": whole,
        "text": text,
        "truth": pa.bool_(),
        "list": pa.list_(whole),
        "struct": pa.struct([("a", whole)]),
        "day": text,
        "word": text,
    }
    (row,) = table.to_pylist()
    assert row.pop("none") != row["part"]
    assert row["large"] == Decimal(26 * 10**24)
    assert (row["whole"], row["nothing"], row["day"], row["list"]) == (2**40, None, "2020-01-02", [1, 2])


def test_the_largest_whole_numbers_are_kept(database):
    largest = 2**128 - 1
    assert database.query(f"SELECT {largest}::UHUGEINT AS n").to_arrow().to_pylist() == [{"n": Decimal(largest)}]


def test_answers_turn_into_data_frames(database):
    pytest.importorskip("pandas", reason="needs pandas: pip install 'orderly-boggle[notebook]'")
    frame = database.query("SELECT board, score FROM boards ORDER BY score DESC").to_pandas()
    assert list(frame.columns) == ["board", "score"]
    assert frame.score.tolist() == sorted(frame.score, reverse=True)
    assert frame.score.dtype == "int64"


def test_without_pandas_the_message_says_what_to_install(database, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"orderly-boggle\[notebook\].*to_arrow"):
        database.query("SELECT 1").to_pandas()
