"""What people type in a notebook: names are taken everywhere, what is wrong is quoted, and other
libraries take what comes out.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import orderly_boggle
from orderly_boggle import boardclass, results, search
from orderly_boggle.boardclass import load_wordlist, parse_scores
from orderly_boggle.boardclass.errors import OrderlyError
from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.configs.model import RunConfig, load_config
from orderly_boggle.results import connect, open_run, summary, top
from orderly_boggle.search import Scorer, Spec, break_class, local_search, score
from tests.conftest import ROOT

BUCKETS = "aeiou bcdfghjklmnpqrstvwxyz"
PACKAGES = {each.__name__: each for each in (orderly_boggle, boardclass, results, search)}


@pytest.mark.parametrize("package", PACKAGES.values(), ids=PACKAGES)
def test_dir_shows_the_public_names(package):
    assert set(dir(package)) == set(package.__all__)
    assert all(getattr(package, name).__doc__ for name in package.__all__)


@pytest.mark.parametrize("package", PACKAGES)
def test_taking_all_names_compiles_nothing(package):
    code = f"from {package} import *; import sys; print('numba' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (told.stdout, told.stderr) == ("False\n", "")


def test_what_is_large_is_shown_in_a_line():
    with_names = Spec.of("3x3", "scowl70", "standard", 400, BUCKETS)
    for value, told in (
        (load_wordlist("scowl70"), "111,460 words"),
        (Scorer("3x3", "scowl70"), "3x3"),
        (connect("3x3-scowl70"), "3x3-scowl70"),
        (parse_scores("standard"), "standard"),
        (with_names, "cutoff=400"),
    ):
        assert told in repr(value)
        assert "\n" not in repr(value)
        assert "aardvark" not in repr(value)


def test_names_lists_and_words_are_the_same_question():
    words = load_wordlist("scowl70")
    spec = Spec.of("2x2", "scowl70", "standard", 14, BUCKETS)
    for given in ("scowl70", words, words.words):
        for points in ("standard", parse_scores("standard"), [1, 1, 2, 3, 5, 11]):
            assert Scorer("3x3", given, points).score("berlatdes") == 430
            assert Spec.of("2x2", given, points, np.int64(14), BUCKETS) == spec
    assert parse_scores(parse_scores("powers").points).points == parse_scores("powers").points
    assert break_class(spec, np.int64(3)).candidates[0] == ("trae", 14)


def test_a_run_that_comes_with_the_program_has_a_name():
    run = open_run("4x4-enable2k")
    assert top("4x4-enable2k", 1)[0].board == "perslatgsineters"
    assert summary("4x4-enable2k").question == run.question
    for one in ("4x4-enable2k", run, ["4x4-enable2k"], [run]):
        database = connect(one)
        assert list(database.summaries) == ["4x4-enable2k"]
        database.close()


def scored(*boards):
    return Scorer("3x3", "scowl70").scores(list(boards))


def searched(dims, partition, class_id):
    return break_class(Spec.of(dims, ["tea"], "words", 1, partition), class_id)


@pytest.mark.parametrize(
    ("ask", "given", "quoted"),
    [
        (open_run, ["4x4-nobody"], "'4x4-nobody'"),
        (open_run, [5], "5"),
        (connect, ["4x4-nobody"], "'4x4-nobody'"),
        (connect, [None], "None"),
        (connect, [["3x3-scowl70", "3x3-scowl70"]], "'3x3-scowl70'"),
        (Scorer, ["3y3", "scowl70"], "'3y3'"),
        (Scorer, ["3x3", "nobody"], "'nobody'"),
        (Scorer, ["3x3", 5], "5"),
        (Scorer, ["3x3", ["tea", "Tee"]], "'Tee'"),
        (Scorer, ["3x3", "scowl70", "many"], "'many'"),
        (Scorer, ["3x3", "scowl70", 5], "5"),
        (scored, ["berlatdes", "berlat"], "'berlat'"),
        (scored, ["berlatdes", None], "None"),
        (score, ["berlatdes", ["tea", "Tee"]], "'Tee'"),
        (Spec.of, ["3x3", "nobody", "standard", 400, BUCKETS], "'nobody'"),
        (Spec.of, ["3x3", "scowl70", "many", 400, BUCKETS], "'many'"),
        (Spec.of, ["3x3", "scowl70", "standard", "many", BUCKETS], "'many'"),
        (Spec.of, ["3x3", "scowl70", "standard", 0, BUCKETS], "0"),
        (break_class, ["3x3", 0], "'3x3'"),
        (searched, ["2x2", BUCKETS, "first"], "'first'"),
        (searched, ["2x2", BUCKETS, -1], "-1"),
        (searched, ["2x2", BUCKETS, 1.5], "1.5"),
        (searched, ["2y2", BUCKETS, 0], "'2y2'"),
        (searched, ["2x2", "aeiou", 0], "'aeiou'"),
        (searched, ["2x2", None, 0], "None"),
    ],
)
def test_what_is_wrong_is_quoted(ask, given, quoted):
    with pytest.raises(OrderlyError) as error:
        ask(*given)
    assert quoted in str(error.value)


def test_other_libraries_take_an_answer_as_it_is():
    answer = connect("3x3-scowl70").query("SELECT board, score FROM boards ORDER BY score DESC")
    best = {"board": "berlatdes", "score": 430}
    assert len(answer) == len(answer.rows) == len(list(answer))
    assert next(iter(answer)) == best
    assert pa.table(answer).slice(0, 1).to_pylist() == [best]
    assert duckdb.sql("SELECT max(score), count(*) FROM answer").fetchall() == [(430, len(answer))]


def test_polars_takes_an_answer_as_it_is_and_its_columns_are_scored():
    polars = pytest.importorskip("polars", reason="needs polars: pip install polars")
    answer = connect("3x3-scowl70").query("SELECT board, score FROM boards")
    frame = polars.DataFrame(answer)
    assert frame.columns == ["board", "score"]
    assert Scorer("3x3", "scowl70").scores(frame["board"]).tolist() == frame["score"].to_list()


def test_pandas_takes_an_answer_as_it_is_and_its_columns_are_scored():
    pandas = pytest.importorskip("pandas", reason="needs pandas: pip install pandas")
    answer = connect("3x3-scowl70").query("SELECT board, score FROM boards")
    frame = pandas.DataFrame(answer)
    assert list(frame.columns) == ["board", "score"]
    assert Scorer("3x3", "scowl70").scores(frame.board).tolist() == frame.score.tolist()
    assert frame.equals(answer.to_pandas().astype(frame.dtypes))


def test_arrays_of_texts_are_scored():
    scorer, boards = Scorer("3x3", "scowl70"), ["berlatdes", "eeeeeeeee"]
    for given in (
        boards,
        tuple(boards),
        np.array(boards),
        np.array(boards, object),
        pa.array(boards),
        pa.chunked_array([boards]),
    ):
        assert scorer.scores(given).tolist() == [430, 0]
    assert scorer.scores([]).tolist() == []


def test_whoever_takes_long_tells_how_far_it_is(tmp_path):
    rounds, settled, reports = [], [], []
    local_search(Scorer("2x2", "scowl70"), pool=50, progress=rounds.append)
    assert {now.run for now in rounds} == set(range(5))
    spec = Spec.of("2x2", "scowl70", "standard", 12, "abcdefghijklmnopqrstuvwxyz")
    break_class(spec, 0, settled.append)
    config = RunConfig(dims="2x2", cutoff=14, workers=0, out=str(tmp_path / "run"))
    assert run(config, progress=reports.append).complete
    assert reports[-1].n_classes_done == reports[-1].n_classes
    for told in (rounds, settled, reports):
        shares = [now.done for now in told]
        assert shares == sorted(shares)
        assert shares[-1] == 1


def test_a_dictionary_of_points_is_one_of_the_forms():
    points = {3: 1, 4: 1, 5: 2, 6: 3, 7: 5, 8: 11}
    assert score("berlatdes", "scowl70", points) == 430
    assert Scorer("3x3", "scowl70", points).score("berlatdes") == 430
    assert (
        Spec.of("3x3", "scowl70", points, 400, BUCKETS).question.points
        == parse_scores("standard").points
    )
    assert parse_scores({4: 1, 5: 2}) == parse_scores("4:1,2")
    for wrong in ({}, {2: 1, 3: 1}, {3: 1, 5: 2}, {"3": 1}, {3: "many"}, {3: 0}, {3.5: 1}):
        with pytest.raises(OrderlyError, match=r"expected|gives no points"):
            parse_scores(wrong)
    with pytest.raises(OrderlyError, match=r"or a dictionary such as \{5: 2"):
        score("berlatdes", "scowl70", 5)


SCRIPT = """
from typing import assert_type

from orderly_boggle import Board, Scorer, Spec, bounds, break_class, connect, load_wordlist
from orderly_boggle import local_search, open_run, parse_scores, score, solve, summary, top

words = load_wordlist("scowl70")
assert_type(score(Board("berlatdes"), words, parse_scores("standard")), int)
assert_type(score("berlatdes", "scowl70", {3: 1, 4: 1, 5: 2, 6: 3, 7: 5, 8: 11}), int)
assert_type(solve("berlatdes", ["tea", "teas"]), list[str])
scorer = Scorer("3x3", words, [1, 1, 2, 3, 5, 11])
assert_type(scorer.score("berlatdes"), int)
best = local_search(scorer, progress=lambda now: print(now.done, now.best))[0]
assert_type(best.board, str)
spec = Spec.of("2x2", words, "standard", 14, "aeiou bcdfghjklmnpqrstvwxyz")
result = break_class(spec, 3, lambda now: print(now.done))
assert_type(result.candidates, tuple[tuple[str, int], ...])
assert_type(bounds("rst rst ae ae", words).max, int)
assert_type(top("4x4-enable2k", 1)[0].score, int)
assert_type(summary(open_run("4x4-enable2k")).proven, bool)
assert_type(connect("4x4-enable2k").query("SELECT 1").columns, tuple[str, ...])
"""


def test_a_script_elsewhere_is_checked_by_mypy(tmp_path):
    pytest.importorskip("mypy", reason="needs mypy: pip install 'orderly-boggle[dev]'")
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "wrong.py").write_text("from orderly_boggle import score\nscore(1, 2)\n")
    # an editable install tells a type checker nothing: a folder in a .pth file does
    venv.create(tmp_path / "venv", symlinks=True)
    (packages,) = (tmp_path / "venv").glob("lib/*/site-packages")
    (packages / "ours.pth").write_text(f"{ROOT}\n{sysconfig.get_paths()['purelib']}\n")
    python = ("--python-executable", str(tmp_path / "venv/bin/python"))
    cache = ("--cache-dir", str(tmp_path / "cache"))
    command = [sys.executable, "-m", "mypy", "--strict", *python, *cache]
    told = subprocess.run(
        [*command, "script.py", "wrong.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    wrong = [line for line in told.stdout.splitlines() if ": error:" in line]
    assert len(wrong) == 2, told.stdout
    assert all(line.startswith("wrong.py:2:") and "[arg-type]" in line for line in wrong)


def test_a_spec_without_buckets_says_where_they_come_from():
    with pytest.raises(OrderlyError, match=r"open_run\(RUN\)\.question\.buckets"):
        Spec.of("3x3", "scowl70", "standard", cutoff=430)
    for told in (open_run("3x3-scowl70").question.buckets, load_config("3x3").buckets):
        assert Spec.of("3x3", "scowl70", "standard", 430, told).question.partition.n_classes == 26
