"""``query``, ``top`` with filters, ``compare``, ``roll`` and the dice of ``show`` on a real 2x2 run."""

from __future__ import annotations

import json

import pytest

from tests.conftest import rows_of
from tests.samples import daily

DICE = 'title = "four"\ndims = "2x2"\ndice = "abcde rrrr tttt eeee"\n'


@pytest.fixture(scope="module")
def listed(proven):
    from results.proof.prove import boards

    return [item.board for item in boards(proven)]


def test_query_in_every_format(orderly, proven, listed):
    sql = "SELECT board, score FROM boards ORDER BY score DESC, board LIMIT 2"
    assert [row["board"] for row in rows_of(orderly("query", proven, sql, "--format", "csv"))] == listed[:2]
    assert [row["board"] for row in json.loads(orderly("query", proven, sql, "--format", "json").out)] == listed[:2]
    assert listed[0] in orderly("query", proven, sql).out
    (row,) = json.loads(orderly("query", proven, "SELECT sum(n_boards) AS n FROM classes", "--format", "json").out)
    assert row["n"] > 26**4 // 8
    plan = orderly("query", proven, "EXPLAIN SELECT 1").out
    assert "\n" in plan
    assert "\\n" not in plan, "it is drawn"


def test_a_record_that_comes_with_orderly_is_read_by_its_name(orderly, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "deslatper" in orderly("top", "3x3-enable2k").out
    assert (
        orderly("query", "3x3-enable2k", "SELECT max(score) AS best FROM boards", "--format", "csv").out
        == "best\n545\n"
    )
    assert "a record that comes with orderly: 3x3-" in orderly("status", "3x3-enable").err
    (tmp_path / "3x3-enable2k").mkdir()
    assert orderly("top", "3x3-enable2k").code, "a directory of that name comes first"


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


GREEDY = [
    "SELECT list(range) FROM range(1000000000)",  # DuckDB counts it
    "SELECT repeat('x', 1000000) FROM range(100000)",  # and does not count these
    "SELECT range(1000000000)",
    "SELECT a.*, b.* FROM classes a, classes b, classes c, classes d ORDER BY ALL",
    "SELECT repeat('x', 1000000000) || repeat('y', 1000000000)",
    "SELECT list_sort(range(300000000))[1]",
]


@pytest.mark.parametrize("sql", daily(GREEDY, lambda sql: sql == GREEDY[1]))
def test_a_query_keeps_to_its_memory(orderly_process, proven, sql):
    answer = orderly_process("query", proven, sql, "--memory", 128, "--timeout", 60)
    assert (answer.code, answer.out, "takes too much memory" in answer.err) == (2, "", True), answer.err


LONG = [
    "SELECT count(*) FROM range(1000000000000)",
    "SELECT range(20000000)",  # one long step that cannot be interrupted, or ends before
]


@pytest.mark.parametrize("sql", daily(LONG, lambda sql: sql == LONG[0]))
def test_a_query_keeps_to_its_time(orderly_process, proven, sql):
    answer = orderly_process("query", proven, sql, "--memory", 16000, "--timeout", 0.2)
    assert (answer.code, answer.out, "took more than 0.2 s" in answer.err) == (2, "", True), answer.err


def test_an_answer_for_people_has_fewer_rows(orderly, proven):
    assert "more than 10,000 rows" in orderly("query", proven, "FROM range(20000)").err
    assert len(rows_of(orderly("query", proven, "FROM range(20000)", "--format", "csv"))) == 20000


def test_top_filters(orderly, proven, listed, tmp_path):
    def kept(*options):
        return [row["board"] for row in rows_of(orderly("top", proven, "-n", "999", "--format", "csv", *options))]

    assert kept() == listed
    assert kept("--contains", "RATE") == [board for board in listed if set("rate") == set(board)]
    many = kept("--min-words", "13")
    scored = orderly("score", "--scores", "words", "--format", "csv", stdin="\n".join(listed))
    assert many == [row["board"] for row in rows_of(scored) if int(row["score"]) >= 13]
    assert 0 < len(many) < len(listed)
    (tmp_path / "four.toml").write_text(DICE)
    rolled = kept("--rollable", tmp_path / "four.toml")
    assert rolled == [board for board in listed if {*"rte"} < set(board) and set(board) & {*"abcd"}]
    assert len(kept("-n", "1", "--contains", "rate", "--rollable", tmp_path / "four.toml")) == 1


def test_top_of_several_runs(orderly, proven, listed, tmp_path):
    (tmp_path / "other").symlink_to(proven)
    rows = rows_of(orderly("top", proven, tmp_path / "other", "-n", "4", "--format", "csv"))
    assert [(row["run"], row["board"]) for row in rows] == [
        (run, board) for board in listed[:2] for run in ("other", "run")
    ]


def test_compare(orderly, proven, listed, tmp_path):
    turned = listed[0][2] + listed[0][0] + listed[0][3] + listed[0][1]
    file = tmp_path / "boards.txt"
    file.write_text(f"# mine\n\n{turned}: 14\n{listed[1].upper()}\nzzzz,99,3\nyyyy,1\nxxxx\n")
    found = json.loads(orderly("compare", proven, file, "--format", "json").out)
    assert found["counts"] == {"both": 2, "only_here": len(listed) - 2, "only_there": 1, "below_cutoff": 2}
    rows = rows_of(orderly("compare", proven, file, "--format", "csv"))
    assert {row["board"]: row["where"] for row in rows}["yyyy"] == "below cutoff"
    assert "2 both" in orderly("compare", proven, file).out
    climbed = orderly("climb", "-d", "2x2", "-n", "999", "--pool", "50", "--format", "csv").out
    file.write_text(climbed)
    assert json.loads(orderly("compare", proven, file, "--format", "json").out)["counts"]["only_there"] == 0


def test_bare_boards_are_scored_with_the_word_list_of_the_run(orderly, tmp_path):
    (tmp_path / "mine.txt").write_text("tea\neat\nate\neta\n")
    options = ("--dims", "2x2", "--wordlist", tmp_path / "mine.txt", "--cutoff", "4", "--workers", "0")
    assert orderly("run", *options, "--out", tmp_path / "run").code == 0
    file = tmp_path / "boards.txt"
    file.write_text("taex\ntabx\nte/ay\n")

    def compared(*options):
        answer = orderly("compare", tmp_path / "run", file, "--format", "json", *options)
        return {
            row["board"]: (row["where"], row["score"], row["file_score"]) for row in json.loads(answer.out)["boards"]
        }

    assert {board: row for board, row in compared().items() if row[0] != "only here"} == {
        "atxe": ("both", 4, None),
        "atye": ("both", 4, None),
        "atxb": ("below cutoff", 0, None),
    }
    (tmp_path / "mine.txt").rename(tmp_path / "moved.txt")
    assert compared()["atxb"] == ("only there", None, None)
    assert "boards without a score are not scored" in orderly("compare", tmp_path / "run", file).err
    assert compared("--wordlist", tmp_path / "moved.txt")["atxb"][0] == "below cutoff"
    assert orderly("compare", tmp_path / "run", file, "-w", "scowl70").code == 3


def test_rolls_repeat_with_their_seed_and_can_be_rolled(orderly):
    first = orderly("roll", "-n", "5", "--seed", "1", "--format", "csv")
    assert first == orderly("roll", "-n", "5", "--seed", "1", "--format", "csv")
    boards = [row["board"] for row in rows_of(first)]
    assert len(boards) == 5
    for board in boards:
        assert json.loads(orderly("show", board, "--format", "json").out)["rollable"]["new"]
    assert "┌────" in orderly("roll", "--dice", "big", "--seed", "2").out
    assert orderly("roll", "--dice", "small").code == 2


def test_show_says_whether_a_board_can_be_rolled(orderly):
    assert "can be rolled with the classic and the new dice" in orderly("show", "perslatgsineters").out
    assert "cannot be rolled with the classic or the new dice" in orderly("show", "eeesrvrreeesrsrs").out
    assert "cannot be rolled with the big dice" in orderly("show", "ligdrmanesietildsracsepes").out
    assert "rolled" not in orderly("show", "abcd").out
