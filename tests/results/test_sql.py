"""SQL over runs: what the views hold, that nothing leads out of the database, and what a notebook shows."""

from __future__ import annotations

import importlib.util
import shutil
import xml.etree.ElementTree as ET
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from boardclass.errors import InputError, StoreError
from results.errors import LimitError
from results.proof.prove import boards
from results.reading.limits import Limits
from results.reading.sql import connect
from results.store.run import open_run
from results.store.store import Store
from tests.conftest import flip_bit
from tests.results.helpers import all_rows, claimed, fingerprint


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("sql") / "toy"
    with Store.open(folder, fingerprint(), {"wordlist": {"name": "<toy & co>", "n_words": 3}}) as store:
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
    assert database.query("SELECT run, board, score FROM boards ORDER BY score DESC, board").rows == best
    (row,) = database.query("SELECT count(*), sum(n_boards), max(depth) FROM classes").rows
    assert row[0] == len(all_rows())
    assert row[1] == sum(item.n_boards for item in all_rows())
    assert row[2] == 0
    answer = database.query("FROM runs")
    record = dict(zip(answer.columns, answer.rows[0], strict=True))
    assert (record["run"], record["wordlist"], record["state"]) == ("toy", "<toy & co>", "proven")


def test_every_view_says_what_is_not_proven(tmp_path):
    with Store.open(tmp_path / "begun", fingerprint()) as store:
        store.append(all_rows()[2:])
    database = connect([tmp_path / "begun"])
    assert database.query("SELECT DISTINCT proven FROM boards").rows == [(False,)]
    ((state, statement, why_not),) = database.query("SELECT state, statement, why_not FROM runs").rows
    assert (state, statement, why_not) == ("incomplete", None, "2 of 6 classes have no verdict")
    assert not database.summaries["begun"].proven
    database.close()


def test_a_slow_query_draws_no_bar_between_the_results(database):
    assert database.query("SELECT current_setting('enable_progress_bar')").rows == [(False,)]


def test_lists_structs_dates_and_doubled_names(database):
    answer = database.query("SELECT 1 AS a, 2 AS a, [1.5, 2], {'x': 1}, DATE '2020-01-01', 'nan'::DOUBLE, true, NULL")
    assert answer.columns[:2] == ("a", "a_2")
    assert answer.rows == [(1, 2, [1.5, 2], {"x": 1}, "2020-01-01", "nan", True, None)]


@pytest.mark.parametrize("sql", ["DESCRIBE classes", "SHOW TABLES", "WITH x AS (SELECT 1) FROM x", "EXPLAIN FROM runs"])
def test_questions_that_are_no_plain_select(database, sql):
    assert database.query(sql).rows


OUTSIDE = [
    "SELECT * FROM read_csv('{path}')",
    "SELECT * FROM read_text('{path}')",
    "SELECT * FROM '{path}'",
    "SELECT * FROM read_parquet('{path}')",
    "SELECT * FROM glob('/*')",
    "FROM read_blob('{path}')",
    "FROM sniff_csv('{path}')",
    "COPY boards TO '{out}'",
    "COPY (SELECT 1) TO '{out}'",
    "EXPORT DATABASE '{out}'",
    "ATTACH '{out}'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET temp_directory = '{out}'",
    "RESET lock_configuration",
    "PRAGMA enable_external_access=true",
    "CREATE TABLE x AS SELECT 1",
    "DROP TABLE boards",
    "DELETE FROM boards",
    "INSERT INTO boards VALUES ('a', 'b', 1, 1)",
    "UPDATE boards SET score = 0",
    "SELECT 1; DROP TABLE boards",
    "EXPLAIN ANALYZE COPY boards TO '{out}'",
    "EXPLAIN ANALYZE DELETE FROM boards",
    "EXPLAIN DELETE FROM boards",
    "explain analyze\nUPDATE boards SET score = 0",
    "EXPLAIN (ANALYZE, FORMAT json) DELETE FROM boards",
    "EXPLAIN ANALYZE CREATE TEMP TABLE x AS SELECT 1",
    "EXPLAIN /* SELECT */ ANALYZE DELETE FROM boards",
    "-- SELECT\nEXPLAIN ANALYZE DELETE FROM boards",
    "EXPLAIN EXPLAIN ANALYZE DELETE FROM boards",
    "EXPLAIN ANALYZE SELECT 1; DELETE FROM boards",
    "WITH x AS (SELECT 1) DELETE FROM boards",
    "WITH x AS (DELETE FROM boards RETURNING *) SELECT * FROM x",
    "SELECT * FROM query('DELETE FROM boards')",
    "PREPARE x AS DELETE FROM boards",
    "CALL pragma_version()",
    "TRUNCATE boards",
    "CHECKPOINT",
    "SELECT * FROM run_folder",
    "SELECT * FROM duckdb",
    "SELECT",
    "",
    "nonsense",
    "SELECT no_such_column FROM boards",
]


@pytest.mark.parametrize(
    "sql", ["EXPLAIN ANALYZE SELECT * FROM boards", "EXPLAIN (FORMAT json) SELECT 1", "explain from runs"]
)
def test_a_question_can_be_explained(database, sql):
    assert database.query(sql).columns == ("explain_key", "explain_value")


def test_the_transaction_only_reads_whatever_the_statement_is(database):
    """Should a statement that writes pass for a SELECT, the database still refuses it."""
    statement = database._connection.extract_statements("DELETE FROM boards")[0]
    with pytest.raises(duckdb.Error, match="read-only"):
        database._answer(statement, 1)
    assert database.query("SELECT count(*) FROM boards").rows == [(2,)]


def test_a_query_ends_when_its_time_is_up(database):
    with pytest.raises(LimitError, match=r"more than 0\.2 s"):
        database.query("SELECT count(*) FROM range(1000000000000)", Limits(seconds=0.2))
    assert database.query("SELECT 1", Limits()).rows == [(1,)]


def test_a_query_keeps_to_its_rows(database):
    assert len(database.query("FROM range(1000)", Limits(rows=1000)).rows) == 1000
    with pytest.raises(LimitError, match="more than 1,000 rows"):
        database.query("FROM range(1000000000)", Limits(rows=1000))


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
    assert {row[0] for row in database.query("SELECT DISTINCT run FROM boards").rows} == {str(run_folder), str(other)}
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
    run = open_run(run_folder)
    assert repr(run) == f"open_run({str(run_folder)!r})"
    html = run._repr_html_()
    told = facts(html)
    assert (told["word list"], told["classes"], told["rows, eliminated"]) == ("<toy & co>", "6", "5")
    assert "proven" not in html.lower()


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
