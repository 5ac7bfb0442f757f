"""``query``, ``top`` with filters and ``compare`` on a real 2x2 run."""

from __future__ import annotations

import json
import subprocess
from functools import partial

import pytest

from orderly_boggle.results.proof.prove import boards
from tests.conftest import COMMAND, rows_of
from tests.samples import daily


@pytest.fixture(scope="module")
def listed(proven):
    return [item.board for item in boards(proven)]


def test_query_in_every_format(orderly, proven, listed):
    query = partial(orderly, "query", proven)
    sql = "SELECT board, score FROM boards ORDER BY score DESC, board LIMIT 2"
    assert [row["board"] for row in rows_of(query(sql, "--format", "csv"))] == listed[:2]
    assert [row["board"] for row in json.loads(query(sql, "--format", "json").out)] == listed[:2]
    assert listed[0] in query(sql).out
    assert len(rows_of(query("FROM range(20000)", "--format", "csv"))) == 20000


def test_a_record_that_comes_with_orderly_is_read_by_its_name(orderly, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "deslatper" in orderly("top", "3x3-enable2k").out
    best = orderly(
        "query", "3x3-enable2k", "SELECT max(score) AS best FROM boards", "--format", "csv"
    )
    assert best.out == "best\n545\n"
    said = orderly("status", "3x3-enable").err
    assert "a record that comes with orderly, such as 3x3-enable2k" in said
    assert said.count("3x3-") < 5, "the nearest, not all"
    (tmp_path / "3x3-enable2k").mkdir()
    assert orderly("top", "3x3-enable2k").code, "a directory of that name comes first"


def test_a_statement_may_be_longer_than_the_name_of_a_file(orderly, proven):
    sql = f"SELECT count(*) AS n, '{'x' * 300}' AS filler FROM boards"
    assert orderly.json("query", proven, sql)[0]["filler"] == "x" * 300


def test_query_takes_a_record_by_its_name_alone(orderly, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "no statement given" in orderly.fails(2, "query", "3x3-enable2k"), "no terminal"
    assert "neither a run directory nor a statement" in orderly.fails(2, "query", "3x3-enable")


@pytest.mark.parametrize(
    "command", ["top", "status", "runs", "wordlist check", "wordlist import", "merge new", "run"]
)
def test_what_is_longer_than_the_name_of_a_file_is_not_there(
    orderly, tmp_path, monkeypatch, command
):
    monkeypatch.chdir(tmp_path)
    for name in ("x" * 300, f"{'x' * 300}/y"):
        assert "internal error" not in orderly.fails(2, *command.split(), name)


@pytest.mark.parametrize(
    "command",
    [
        "query 3x3-enable2k FROM~boards --timeout inf",
        "plan 2x2 --seconds inf",
        "plan 2x2 --price inf",
        "top 3x3-enable2k -n 99999999999999999999",
    ],
)
def test_numbers_without_measure_are_refused(orderly, command):
    said = orderly.fails(2, *(word.replace("~", " ") for word in command.split()))
    assert "or less" in said


def test_query_prompts_on_a_terminal(terminal_of, proven):
    terminal = terminal_of("query", proven)
    terminal.wait_for("sql>", "Ctrl-D ends")
    terminal.type(b"SELECT max(score) + 1000000 AS much FROM boards\r")
    terminal.wait_for("1,000,014")
    terminal.type(b"DROP TABLE boards\r")
    terminal.wait_for("expected a SELECT statement")
    terminal.type(b"SELECT count(*) * 1000 AS many FROM boards\r")
    terminal.wait_for("many", ",000")
    terminal.type(b"\x04")
    assert terminal.end() == 0


MEMORY, TIME = "takes too much memory", "took more than 0.2 s"
GREEDY = [
    ("SELECT list(range) FROM range(1000000000)", MEMORY),  # DuckDB counts it
    ("SELECT repeat('x', 1000000) FROM range(100000)", MEMORY),  # and does not count these
    ("SELECT count(*) FROM range(1000000000000)", TIME),
]
MORE = [
    ("SELECT range(1000000000)", MEMORY),
    ("SELECT a.*, b.* FROM classes a, classes b, classes c, classes d ORDER BY ALL", MEMORY),
    ("SELECT repeat('x', 1000000000) || repeat('y', 1000000000)", MEMORY),
    ("SELECT list_sort(range(300000000))[1]", MEMORY),
    ("SELECT range(20000000)", TIME),  # one long step that cannot be interrupted, or ends before
]


@pytest.mark.parametrize(("sql", "said"), daily(GREEDY, MORE))
def test_a_query_keeps_to_its_memory_and_time(proven, sql, said):
    limits = (
        ("--memory=128", "--timeout=60") if said == MEMORY else ("--memory=16000", "--timeout=0.2")
    )
    command = [*COMMAND, "query", str(proven), sql, *limits]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert said in done.stderr
    assert "internal error" not in done.stderr


def test_top_filters(orderly, proven, listed, tmp_path):
    def kept(*options):
        return [
            row["board"]
            for row in rows_of(orderly("top", proven, "-n", "999", "--format", "csv", *options))
        ]

    assert kept() == listed
    assert orderly("top", proven, "--contains", "qat").code == 2
    assert kept("--contains", "RATE") == [board for board in listed if set("rate") == set(board)]
    many = kept("--min-words", "13")
    scored = orderly("score", "--scores", "words", "--format", "csv", stdin="\n".join(listed))
    assert many == [row["board"] for row in rows_of(scored) if int(row["score"]) >= 13]
    assert 0 < len(many) < len(listed)
    (tmp_path / "four.toml").write_text(
        'title = "four"\ndims = "2x2"\ndice = "abcde rrrr tttt eeee"\n'
    )
    rollable = ("--rollable", tmp_path / "four.toml")
    assert kept(*rollable) == [
        board for board in listed if {*"rte"} < set(board) and set(board) & {*"abcd"}
    ]
    assert len(kept("-n", "1", "--contains", "rate", *rollable)) == 1
    (tmp_path / "other").symlink_to(proven)
    answer = orderly("top", proven, tmp_path / "other", "-n", "4", "--format", "csv")
    assert "different points" not in answer.err
    rows = rows_of(answer)
    words = tmp_path / "words"
    where = ("--dims", "2x2", "--scores", "words", "--workers", "0", "--out", words)
    orderly.done("run", "--cutoff", "13", *where)
    assert "different points" in orderly("top", proven, words).err
    expected = [("other", listed[0]), ("run", listed[0]), ("other", listed[1]), ("run", listed[1])]
    assert [(row["run"], row["board"]) for row in rows] == expected


def test_compare(orderly, proven, listed, tmp_path):
    turned = listed[0][2] + listed[0][0] + listed[0][3] + listed[0][1]
    file = tmp_path / "boards.txt"
    file.write_text(f"# mine\n\n{turned}: 14\n{listed[1].upper()}\nzzzz,99,3\nyyyy,1\nxxxx\n")
    compare = partial(orderly, "compare", proven, file)
    counts = json.loads(compare("--format", "json").out)["counts"]
    assert counts == {"both": 2, "only_here": len(listed) - 2, "only_there": 0, "below_cutoff": 3}
    rows = {row["board"]: row for row in rows_of(compare("--format", "csv"))}
    assert rows["yyyy"]["where"] == "below cutoff"
    assert (rows["zzzz"]["where"], rows["zzzz"]["score"]) == ("below cutoff", "0")
    assert "2 both" in compare().out
    assert "2 with another score" in compare().out
    file.write_text(
        orderly("climb", "-d", "2x2", "-n", "999", "--pool", "50", "--format", "csv").out
    )
    assert json.loads(compare("--format", "json").out)["counts"]["only_there"] == 0


def test_bare_boards_are_scored_with_the_word_list_of_the_run(orderly, tmp_path):
    (tmp_path / "mine.txt").write_text("tea\neat\nate\neta\n")
    options = (
        "--dims",
        "2x2",
        "--wordlist",
        tmp_path / "mine.txt",
        "--cutoff",
        "4",
        "--workers",
        "0",
    )
    orderly.done("run", *options, "--out", tmp_path / "run")
    file = tmp_path / "boards.txt"
    file.write_text("taex\ntabx\nte/ay\n")
    compare = partial(orderly, "compare", tmp_path / "run", file)

    def compared(*options):
        rows = json.loads(compare("--format", "json", *options).out)["boards"]
        return {
            row["board"]: (row["where"], row["score"])
            for row in rows
            if row["where"] != "only here"
        }

    assert compared() == {"atxe": ("both", 4), "atye": ("both", 4), "atxb": ("below cutoff", 0)}
    (tmp_path / "mine.txt").rename(tmp_path / "moved.txt")
    assert compared()["atxb"] == ("only there", None)
    file.write_text("taex\ntabx\nte/ay\nzzzz,99\nyyyy,1\n")
    assert compared()["zzzz"] == ("only there", None), "as the file says"
    assert compared()["yyyy"] == ("below cutoff", None)
    assert "boards without a score are not scored" in compare().err
    assert compared("--wordlist", tmp_path / "moved.txt")["atxb"] == ("below cutoff", 0)
    assert compare("-w", "scowl70").code == 3
