"""Score tables, rolling, tracing, tables for notebooks, processes: each small, each by itself."""

from __future__ import annotations

import itertools
import os
import random
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from orderly_boggle.boardclass.board import Board
from orderly_boggle.boardclass.errors import ScoreError
from orderly_boggle.boardclass.printable import html_table
from orderly_boggle.boardclass.processes import Pool
from orderly_boggle.boardclass.scores import (
    TABLES,
    ScoreTable,
    check_overflow,
    n_letters,
    parse_scores,
    points_in_words,
)
from orderly_boggle.cluster.boards.rolling import assign_dice, roll
from tests.cluster.processes import has_let_go


def test_points_by_number_of_letters():
    standard = parse_scores("standard")
    assert standard.points[:10] == (0, 0, 0, 1, 1, 2, 3, 5, 11, 11)
    assert parse_scores("words").points[:6] == (0, 0, 0, 1, 1, 1)
    assert parse_scores("powers").points[:8] == (0, 0, 0, 1, 2, 4, 8, 16)
    assert {len(table.points) for table in TABLES.values()} == {65}
    assert parse_scores([1, 1, 2, 3, 5, 11]) == parse_scores(" 1, 1,2,3,5,11 ")
    assert parse_scores("1,1,2,3,5,11").points == standard.points
    assert parse_scores("7").points == (0, 0, 0) + (7,) * 62
    assert standard.at_least(5).points == (0,) * 5 + standard.points[5:]
    assert standard.at_least(None) == standard.at_least(3) == standard
    assert parse_scores("3:7") == ScoreTable("3:7", parse_scores("7").points)
    assert parse_scores(" 5:2,4").points == (0,) * 5 + (2,) + (4,) * 59
    assert parse_scores("0,1,2").points[:6] == (0, 0, 0, 0, 1, 2)
    assert n_letters("qiz") == 4
    assert (parse_scores("powers").of("qiz"), parse_scores("powers").of("cat")) == (2, 1)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ("", "'' in scores ''"),
        ("standart", "'standart' in .*expected standard, words, powers"),
        ("1,,2", "'' in scores '1,,2'"),
        ("1,-2", "'-2' in scores"),
        ("1,2147483648", "2147483648' in scores"),
        ("9" * 5000, "in scores"),
        ("0,0", "no points at all"),
        ([], "has 0 values"),
        ([True, 1], "True in scores"),
        ([1, 2.0], "2.0 in scores"),
        ("0,0,0,1,1,2,3,5,11", r"3 zeros: .* write 1,1,2,3,5,11 if .*, or 6:1,1,2,3,5,11 if"),
        ([0, 0, 1, 1, 2, 3, 5, 11], r"2 zeros: .* write 1,1,2,3,5,11 if .*, or 5:1,1,2,3,5,11"),
        ("0,0,0,0,0,7", "5 zeros: .* write 7 if .*, or 8:7 if only those of 8 or more do"),
        (
            "0,1,1,2,3,5,11",
            "1 zero: .* write 1,1,2,3,5,11 if .*, or 4:1,1,2,3,5,11 if only those",
        ),
        ("2:1,1", "'2' in scores '2:1,1': expected a least length from 3 to 63"),
        ("five:1", "'five' in scores"),
        ("5:", "'' in scores"),
        ("60:1,2,3,4,5,6", "has 63 values"),
    ],
)
def test_bad_tables_are_refused(scores, said):
    with pytest.raises(ScoreError, match=said) as caught:
        parse_scores(scores)
    assert "expected" in str(caught.value)
    assert len(str(caught.value)) < 400


def test_what_a_refusal_spells_is_taken():
    """A table of another program: its points begin at no letters, at one, or at two."""
    for n in (2, 3, 4):
        with pytest.raises(ScoreError) as caught:
            parse_scores([0] * n + [1, 4, 9])
        spelled = re.findall(r"(?:write|or) ([0-9:,]+) if", str(caught.value))
        assert [parse_scores(text).points[:9] for text in spelled] == [
            (0, 0, 0, 1, 4, 9, 9, 9, 9),
            ((0,) * (3 + n) + (1, 4, 9, 9))[:9],
        ]


@pytest.mark.parametrize("n", [-1, 0, 1, 2])
def test_shorter_words_than_any_list_has_cannot_be_asked_for(n):
    with pytest.raises(ScoreError, match=rf"least length {n}: .* expected at least 3"):
        parse_scores("standard").at_least(n)


def test_a_sentence_names_each_length_and_its_points():
    told = {
        "standard": "standard",
        "1,1,2,3,5,11": "standard",
        "1": "words",
        "2": "2 (3 letters or more)",
        "1,10,100": "1 (3 letters), 10 (4), 100 (5 or more)",
        "5:7": "0 (3 letters), 0 (4), 7 (5 or more)",
        "3,1,1,1": "3 (3 letters), 1 (4 or more)",
    }
    assert {text: points_in_words(parse_scores(text).points) for text in told} == told


def test_overflow_is_refused_at_two_to_the_31_and_not_below():
    table = ScoreTable("edge", (0, 0, 0, 2**30 - 1, 2**30) + (0,) * 60)
    check_overflow([table.of("cat"), table.of("cats")], table)
    with pytest.raises(
        ScoreError,
        match="gives 2147483648 points over the word list: expected less than 2147483648",
    ):
        check_overflow([table.of("cats"), table.of("dogs")], table)


faces = st.text("abcd", min_size=1, max_size=3)


@given(st.text("abcd", min_size=4, max_size=4), st.lists(faces, min_size=4, max_size=5))
def test_the_matching_is_exact(board, dice):
    can = any(
        all(x in die for x, die in zip(board, order, strict=False))
        for order in itertools.permutations(dice, 4)
    )
    found = assign_dice(board, dice)
    assert (found is not None) == can
    if found:
        assert len(set(found)) == 4
        assert all(letter in dice[die] for letter, die in zip(board, found, strict=True))


def test_a_roll_can_be_rolled_and_repeats_with_its_seed():
    dice = ["ab", "cd", "eq", "xyz"] * 4
    for seed in range(50):
        board = roll(dice, random.Random(seed))
        assert assign_dice(board, dice) is not None
        assert board == roll(dice, random.Random(seed))


SVG = "{http://www.w3.org/2000/svg}"


def test_a_board_draws_itself():
    drawn = ET.fromstring(Board("qoii")._repr_svg_())
    assert [text.text for text in drawn.iter(f"{SVG}text")] == ["Qu", "O", "I", "I"]
    assert drawn.get("aria-label") == "Board Qu I / O I"
    assert (drawn.get("width"), drawn.get("height")) == ("100", "100")
    assert len({cell.get("fill") for cell in drawn.iter(f"{SVG}rect")}) == 1


def test_cells_of_a_table_are_text():
    rows = [["<script>alert(1)</script>", 12345], ['"\x1b[2J\u202e', None], [True, 1.5]]
    table = ET.fromstring(html_table("<b>", ["<i>", "n"], rows))
    assert [item.text for item in table.iter("th")] == ["<i>", "n"]
    assert table.findtext("caption") == "<b>"
    told = [item.text or "" for item in table.iter("td")]
    assert told == ["<script>alert(1)</script>", "12,345", '"\\x1b[2J\\u202e', "", "True", "1.5"]
    assert ["right" in str(item.get("style")) for item in table.iter("td")] == [
        False,
        True,
        False,
        False,
        False,
        True,
    ]
    assert ET.fromstring(html_table("none", (), [])).find("thead") is None


SCRIPT = """
from orderly_boggle.boardclass.processes import Pool

if __name__ == "__main__":
    with Pool(2) as executor:
        print(sum(executor.map(abs, [-1, -2])))
"""


def test_processes_load_no_module_from_the_folder_at_hand(tmp_path, elsewhere):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    command = [sys.executable, script]
    done = subprocess.run(
        command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("3\n", "")


def test_the_environment_is_as_it_was_afterwards(monkeypatch):
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    for before in (None, "2"):
        if before:
            monkeypatch.setenv("PYTHONSAFEPATH", before)
        with Pool(1, os.putenv, "A_NAME", "x") as executor:
            assert executor.submit(os.getenv, "PYTHONSAFEPATH").result() == "1"
        assert os.environ.get("PYTHONSAFEPATH") == before


KILLED = """
import os
from orderly_boggle.boardclass.processes import Pool

if __name__ == "__main__":
    with Pool(1) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        input()
"""


def test_processes_end_with_the_command_when_it_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(KILLED)
    command = [sys.executable, script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        number = int(process.stdout.readline())
        assert not has_let_go(number)
        process.kill()
    for _ in range(100):
        if has_let_go(number):
            return
        time.sleep(0.1)
    pytest.fail("it goes on without the command")


ENDED = """
import os
from concurrent.futures import BrokenExecutor

from orderly_boggle.boardclass.processes import Pool


class Deadly:
    def __reduce__(self):
        return os._exit, (1,)


if __name__ == "__main__":
    with Pool(1, print, Deadly(), "x" * 10**6) as pool:
        try:
            pool.submit(abs, -1).result()
        except BrokenExecutor:
            print("broken")
"""


def test_a_process_that_ends_before_it_has_read_all_is_not_written_to_for_ever(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(ENDED)
    command = [sys.executable, script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("broken\n", "")


def test_a_table_is_read_again_as_itself():
    """As a run stores it, and as a caller has it."""
    for table in (*TABLES.values(), parse_scores("5:2,4")):
        assert parse_scores(table) is table
        assert parse_scores(list(table.points)).points == table.points
    with pytest.raises(ScoreError, match=r"scores 7: expected .*standard.*, or a dictionary"):
        parse_scores(7)
