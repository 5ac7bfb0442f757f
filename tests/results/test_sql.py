"""SQL over runs: what the views hold, that nothing leads out of the database, and what a notebook
shows.
"""

from __future__ import annotations

import shutil
import sys
import xml.etree.ElementTree as ET
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from orderly_boggle.boardclass.errors import InputError, StoreError
from orderly_boggle.results.errors import LimitError
from orderly_boggle.results.proof.prove import boards
from orderly_boggle.results.reading.limits import Limits
from orderly_boggle.results.reading.sql import connect
from orderly_boggle.results.store.made import ListTold, Made
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from tests.conftest import flip_bit
from tests.results.helpers import all_rows, claimed, toy_question, write_rows


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("sql") / "toy"
    with Store.open(folder, toy_question(), Made(ListTold("<toy & co>", n_words=3))) as store:
        store.append(all_rows())
        store.flush()
        claimed(store)
    return folder


@pytest.fixture
def database(run_folder):
    made = connect([run_folder])
    yield made
    made.close()


def test_the_views_hold_what_the_run_holds(database, run_folder):
    best = [("toy", item.board, item.score) for item in boards(run_folder)]
    assert len(best) == 2
    assert (
        database.query("SELECT run, board, score FROM boards ORDER BY score DESC, board").rows
        == best
    )
    counts = (len(all_rows()), sum(item.n_boards for item in all_rows()), 0)
    assert database.query("SELECT count(*), sum(n_boards), max(depth) FROM classes").rows == [
        counts
    ]
    answer = database.query("FROM runs")
    record = dict(zip(answer.columns, answer.rows[0], strict=True))
    assert (record["run"], record["wordlist"], record["state"]) == ("toy", "<toy & co>", "proven")
    assert database.query("SELECT current_setting('enable_progress_bar')").rows == [(False,)]


def test_every_view_says_what_is_not_proven(tmp_path):
    write_rows(tmp_path / "begun", all_rows()[2:])
    database = connect([tmp_path / "begun"])
    assert database.query("SELECT DISTINCT proven FROM boards").rows == [(False,)]
    told = database.query("SELECT state, statement, why_not FROM runs").rows
    assert told == [("incomplete", None, "2 of 6 classes have no verdict")]
    database.close()


def test_questions_that_are_no_plain_select(database):
    for sql in ("DESCRIBE classes", "SHOW TABLES", "WITH x AS (SELECT 1) FROM x"):
        assert database.query(sql).rows


OUTSIDE = [
    "SELECT * FROM read_csv('{path}')",
    "SELECT * FROM '{path}'",
    "SELECT * FROM glob('/*')",
    "FROM read_blob('{path}')",
    "COPY boards TO '{out}'",
    "EXPORT DATABASE '{out}'",
    "ATTACH '{out}'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "PRAGMA enable_external_access=true",
    "CREATE TABLE x AS SELECT 1",
    "DELETE FROM boards",
    "SELECT 1; DROP TABLE boards",
    "EXPLAIN ANALYZE COPY boards TO '{out}'",
    "EXPLAIN DELETE FROM boards",
    "explain analyze\nUPDATE boards SET score = 0",
    "EXPLAIN (ANALYZE, FORMAT json) DELETE FROM boards",
    "EXPLAIN /* SELECT */ ANALYZE DELETE FROM boards",
    "-- SELECT\nEXPLAIN ANALYZE DELETE FROM boards",
    "EXPLAIN ANALYZE CREATE TEMP TABLE x AS SELECT 1",  # which a transaction that only reads allows
    "EXPLAIN EXPLAIN ANALYZE DELETE FROM boards",
    "EXPLAIN ANALYZE SELECT 1; DELETE FROM boards",
    "WITH x AS (DELETE FROM boards RETURNING *) SELECT * FROM x",
    "SELECT * FROM query('DELETE FROM boards')",
    "PREPARE x AS DELETE FROM boards",
    "CALL pragma_version()",
    "CHECKPOINT",
    "SELECT * FROM run_folder",  # a variable of this program
    "SELECT",
    "",
    "nonsense",
    "SELECT no_such_column FROM boards",
]


def test_the_transaction_only_reads_whatever_the_statement_is(database):
    """Should a statement that writes pass for a SELECT, the database still refuses it."""
    statement = database._connection.extract_statements("DELETE FROM boards")[0]
    with pytest.raises(duckdb.Error, match="read-only"):
        database._answer(statement, 1)
    assert database.query("SELECT count(*) FROM boards").rows == [(2,)]


def test_after_a_limit_was_met_the_database_goes_on(database):
    with pytest.raises(LimitError, match=r"more than 0\.2 s"):
        database.query("SELECT count(*) FROM range(1000000000000)", Limits(seconds=0.2))
    with pytest.raises(LimitError, match=r"more than 1,000 rows: .* \(LIMIT\), or for CSV$"):
        database.query("FROM range(1000000000)", Limits(rows=1000))
    with pytest.raises(LimitError, match=r"more than 1,000,000 rows: ask for fewer \(LIMIT\)$"):
        database.query("FROM range(1000001)", Limits())
    assert len(database.query("FROM range(1000)", Limits(rows=1000)).rows) == 1000


@pytest.mark.parametrize("sql", OUTSIDE)
def test_nothing_leads_out_and_nothing_changes(database, tmp_path, sql):
    path, out = tmp_path / "secret.csv", tmp_path / "out.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError) as caught:
        database.query(sql.format(path=path, out=out))
    assert len(str(caught.value)) < 1200
    assert [item.name for item in tmp_path.iterdir()] == ["secret.csv"]
    assert database.query("SELECT count(*) FROM boards").rows[0][0] > 0


def test_several_runs_have_different_names(run_folder, tmp_path):
    other = tmp_path / "toy"
    shutil.copytree(run_folder, other)
    database = connect([run_folder, other])
    assert {row[0] for row in database.query("SELECT DISTINCT run FROM boards").rows} == {
        str(run_folder),
        str(other),
    }
    database.close()
    with pytest.raises(InputError, match="twice"):
        connect([run_folder, run_folder])


def test_damage_and_absence_are_told(run_folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run_folder, copy)
    part = next((copy / "results").glob("*.parquet"))
    flip_bit(part)
    with pytest.raises(StoreError, match=part.name):
        connect([copy])
    with pytest.raises(StoreError, match="no run"):
        connect([tmp_path])
    assert facts(open_run(copy)._repr_html_())["rows"].startswith("cannot be read: ")


# ---- in a notebook


def facts(html):
    cells = [item.text or "" for item in ET.fromstring(html).iter("td")]
    return dict(zip(cells[::2], cells[1::2], strict=True))


def test_a_run_shows_what_is_stored_and_claims_nothing(run_folder):
    html = open_run(run_folder)._repr_html_()
    told = facts(html)
    assert (told["word list"], told["classes"], told["rows, eliminated"]) == (
        "<toy & co>",
        "6",
        "5",
    )
    assert "proven" not in html.lower()


def test_an_answer_is_a_table_and_says_how_much_of_it_is_shown(database):
    html = database.query("SELECT board, '<b>' AS text FROM boards ORDER BY board")._repr_html_()
    assert [item.text for item in ET.fromstring(html).iter("td")] == ["tvzy", "<b>", "wyzx", "<b>"]
    long = ET.fromstring(database.query("SELECT * FROM range(61)")._repr_html_())
    assert long.findtext("caption") == "the first 60 of 61 rows"
    assert len(list(long.iter("td"))) == 60


WHOLE, REAL, TEXT = pa.int64(), pa.float64(), pa.string()
VALUES = {  # what is asked for: its value in Python and its type in Arrow
    "1::TINYINT": (1, WHOLE),
    "(2::HUGEINT ** 40)::HUGEINT": (2**40, WHOLE),
    "26::HUGEINT * 1000000000000000000000000::HUGEINT": (Decimal(26 * 10**24), pa.decimal128(38)),
    "1.5": (1.5, REAL),
    "NULL::INTEGER": (None, WHOLE),
    "'x'": ("x", TEXT),
    "true": (True, pa.bool_()),
    "[1, 2]": ([1, 2], pa.list_(WHOLE)),
    "{'a': 1}": ({"a": 1}, pa.struct([("a", WHOLE)])),
    "DATE '2020-01-02'": ("2020-01-02", TEXT),
    "'inf'": ("inf", TEXT),
}


def test_answers_turn_into_arrow_with_their_types(database):
    answer = database.query(f"SELECT {', '.join(f'{sql} AS c' for sql in VALUES)}")
    assert answer.columns[:3] == ("c", "c_2", "c_3"), "doubled names"
    table = answer.to_arrow()
    found = zip(table.to_pylist()[0].values(), table.schema.types, strict=True)
    assert dict(zip(VALUES, found, strict=True)) == VALUES
    assert database.query("SELECT 'nan'::DOUBLE, 'inf'::DOUBLE").rows == [("nan", "inf")]
    assert database.query("SELECT 'nan'::DOUBLE AS none").to_arrow().schema.types == [REAL]
    largest = 2**128 - 1
    assert database.query(f"SELECT {largest}::UHUGEINT AS n").to_arrow().to_pylist() == [
        {"n": Decimal(largest)}
    ]


def test_answers_turn_into_data_frames(database, monkeypatch):
    pytest.importorskip("pandas", reason="needs pandas: pip install 'orderly-boggle[notebook]'")
    frame = database.query("SELECT board, score FROM boards ORDER BY score DESC").to_pandas()
    assert list(frame.columns) == ["board", "score"]
    assert frame.score.tolist() == sorted(frame.score, reverse=True)
    monkeypatch.setitem(sys.modules, "pandas", None)  # as if it were not installed
    with pytest.raises(InputError, match=r"orderly-boggle\[notebook\].*to_arrow"):
        database.query("SELECT 1").to_pandas()


def test_a_pivot_is_told_how_to_be_one_statement(database):
    with pytest.raises(InputError, match=r"MULTI.*ON status IN \(") as caught:
        database.query("PIVOT classes ON status USING count(*)")
    advice = str(caught.value).partition("that only reads: ")[2]
    assert database.query(advice).rows == [(5, 1)]
