"""Commands on boards: ``show``, ``score``, ``solve``, ``neighbours``, ``lists``, ``longest``,
``climb``, ``roll``.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pty
import re
import signal
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.cluster.cli import app
from orderly_boggle.cluster.web.jobs import BoardRequest, roll_game, score_board
from orderly_boggle.results.storage.files import published_places
from tests.conftest import COMMAND, ROOT, Answer, rows_of

LIST = "bee\nbeef\nfee\nqueen\nquit\nzebra\nseat\neats\neast\ntea\nate\n"
# golden: rows E B E over E F E, written with the long side down; score 3
BEE_FEE = "ebeefe"


@pytest.fixture
def score(orderly, words):
    """Score boards with the small list."""
    return partial(orderly, "score", "--wordlist", words, "--format", "csv")


def test_score_reads_boards_of_any_size_and_what_the_other_commands_write(orderly, score):
    expected = f"board,score\n{BEE_FEE},3\n"
    for text in (
        BEE_FEE,
        expected,
        f"board,score,proven\n{BEE_FEE},99,True",
        f'run,board,score,proven\n"a run, with a comma",{BEE_FEE},99,True',
        f"where,board,score,file_score,proven\nonly here,{BEE_FEE},1,,True",
        f"# a comment\n{BEE_FEE}: 99",
    ):
        assert score(stdin=text) == (0, expected, ""), text
    assert score(stdin=f"{BEE_FEE}\n\n  EBEEFE  \r\nxxxx").out == f"{expected}{BEE_FEE},3\nxxxx,0\n"
    several = orderly(
        "score", "--format", "csv", stdin="berlatdes 430 210\ncinlatper, 9\n\nstar"
    ).out
    assert several == "board,score\nberlatdes,430\ncinlatper,325\nstar,8\n"
    # quit 4 letters, queen 5
    for points, total in {"standard": 1 + 2, "words": 2, "1,10,100": 10 + 100}.items():
        assert (
            score("--scores", points, stdin="nqteeixxx").out == f"board,score\nnqteeixxx,{total}\n"
        )


# boards of 3x3 that score 1 and 0 with the small list, as files of other programs hold them
TWO = "board,score\nebeefexxx,3\nxxxxxxxxx,0\n"
ONE = "board,score\nebeefexxx,3\n"
FILES = {
    "Excel in Europe": (b"\xef\xbb\xbfboard;score\r\nebeefexxx;99\r\nxxxxxxxxx;\r\n", TWO),
    "tabs": (b"run\tBoard\nx\tebeefexxx\ny\txxxxxxxxx\n", TWO),
    "Unicode text of Excel": ("board\tscore\nebeefexxx\t3\nxxxxxxxxx\t".encode("utf-16"), TWO),
    "bars": (b"board|score\nebeefexxx|3\nxxxxxxxxx|\n", TWO),
    "JSON, boards": (b'["ebeefexxx", "xxxxxxxxx"]', TWO),
    "JSON, boards of letters": (
        b'[[["e","e","x"],["b","f","x"],["e","e","x"]],'
        b'[["x","x","x"],["x","x","x"],["x","x","x"]]]',
        TWO,
    ),
    "JSON, boards of rows": (b'[["eex","bfx","eex"],["xxx","xxx","xxx"]]', TWO),
    "JSON, one of letters": (b'[["e","e","x"],["b","f","x"],["e","e","x"]]', ONE),
    "JSON, one of rows": (b'["eex", "bfx", "eex"]', ONE),
    "JSON of our own": (b'[{"board":"ebeefexxx","score":9},{"board":"xxxxxxxxx"}]', TWO),
    "rows of one board": (b"eex\nbfx\neex\n", ONE),
    "rows of a usual board": (b"eeee\nbfxx\neeee\nxxxx\n", "board,score\nebexefexexexexex,3\n"),
    "boards of rows": (b"eex\nbfx\neex\n\nxxx\nxxx\nxxx\n", TWO),
    "boards of cells": (b"e e x\nb f x\ne e x\n\nx x x\nx x x\nx x x\n", TWO),
    "JSON, a board below a key": (b'{"board":[["e","e","x"],["b","f","x"],["e","e","x"]]}', ONE),
    "rows below a comment": (b"# mine\n\nEEX\n\nBFX\nEEX", ONE),
    "cells with semicolons": (b"e;e;x\nb;f;x\ne;e;x\n", ONE),
    "Markdown": (b"| E | E | X |\n|---|---|---|\n| B | F | X |\n| E | E | X |\n", ONE),
}


@pytest.mark.parametrize("form", FILES)
def test_score_takes_boards_as_other_programs_write_them(score, form):
    data, expected = FILES[form]
    answer = score(stdin=data)
    assert (answer.code, answer.out) == (0, expected), answer.err


def test_score_takes_what_show_draws(orderly, score):
    drawn = [orderly("show", board).out.split("\n\n")[0] for board in ("ebeefexxx", "xxxxxxxxx")]
    drawings = [
        "\n".join(line for line in text.splitlines() if line[0] in "┌│├└") for text in drawn
    ]
    assert drawings[0].count("│") == 12
    assert score(stdin=drawings[0]).out == ONE
    assert score(stdin="\n".join(drawings)).out == TWO


@pytest.mark.parametrize(
    "line", [b"abc", b"abcdefgh1", "abcdefghé".encode(), b"\xff\xfea\0", b"x" * 10_000]
)
def test_score_names_the_bad_line_and_prints_no_result(score, line):
    answer = score(stdin=b"abcdefghi\n\n" + line + b"\nabcd\n")
    assert (answer.code, answer.out) == (2, "")
    assert "line 3" in answer.err
    assert line.decode(errors="ignore").strip("\0")[:4] in answer.err
    assert len(answer.err) < 600


def test_boards_may_be_typed_as_rows_and_a_wide_one_is_turned(orderly, words):
    for command in (
        ("show",),
        ("solve",),
        ("neighbours",),
        ("lists",),
        ("climb", "--pool", "9", "-n", "1", "--from"),
    ):
        more = () if command == ("lists",) else ("--wordlist", words)
        rows, columns, wide = (
            orderly(*command, board, *more, "--format", "json")
            for board in ("ee/bf/ee", BEE_FEE, "ebe/efe")
        )
        assert (rows.code, rows.out) == (0, columns.out)
        assert (
            command[0] not in ("show", "solve", "neighbours")
            or "turned, the same game as 2x3" in wide.err
        )


def test_rules_are_those_of_the_options(orderly, words, score):
    show = partial(orderly, "show", "-w", words, "--format", "csv")
    assert show(BEE_FEE, "--min-letters", "4").out == "word,points,letters\nbeef,1,4\n"
    for b in ("2.1", "1"):  # its row and column; its number
        found = rows_of(show(BEE_FEE, "--bonus", f"{b}=dw"))
        assert {row["word"]: row["points"] for row in found} == {
            "beef": "2",
            "bee": "2",
            "fee": "1",
        }
    assert score("--letter-values", "scrabble", "--min-letters", "9", stdin=BEE_FEE).out.endswith(
        ",0\n"
    )
    assert score("--bonus", "4=tx", stdin=BEE_FEE).code == 2


@pytest.mark.parametrize("n", ["1", "2"])
def test_words_of_one_or_two_letters_are_refused_by_every_command(orderly, words, n):
    for command in (
        ("show", BEE_FEE),
        ("solve", BEE_FEE),
        ("score",),
        ("climb", "-d", "2x2", "--pool", "9"),
        ("roll", "--seed", "1"),
    ):
        answer = orderly(*command, "-w", words, "--min-letters", n, stdin=BEE_FEE)
        assert (answer.code, answer.out) == (2, ""), command
        assert "words of one or two letters never count here: expected at least 3, or" in answer.err
    assert orderly("run", "2x2", "--cutoff", "9", "--min-letters", n).code == 2
    orderly.done("show", BEE_FEE, "-w", words, "--min-letters", "3")


def test_points_copied_from_another_program_are_refused_with_their_spelling(orderly, tmp_path):
    copied = ("--scores", "0,0,0,1,1,2,3,5,11")
    for command in (("score",), ("show", "tear"), ("run", "2x2", "--cutoff", "5"), ("roll",)):
        answer = orderly.fails(2, *command, *copied, stdin="tear")
        assert "write 1,1,2,3,5,11 if words of 3 letters count" in answer
    run = tmp_path / "run"
    own = ("--scores", "4:2,7", "--cutoff", "999", "--workers", "0", "--out", run)
    told = " ".join(orderly("run", "2x2", *own).out.split())
    assert "and 0 (3 letters), 2 (4), 7 (5 or more) points, none scores 999 or more." in told


def test_a_plain_q_by_option_and_by_list(orderly, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    path = tmp_path / "mine.txt"
    path.write_text("geeks\nquiz\nqeu\ntree\n")
    score = partial(orderly, "score", "--format", "csv", stdin="giz/uek/qse")
    # geeks, quiz, qeu
    assert score("-w", path, "--plain-q").out == "board,score\ngiz/uek/[q]se,4\n"
    assert score("-w", path).out == "board,score\nguqieszke,2\n"
    orderly.done("wordlist", "import", path, "--plain-q", "--name", "plain")
    assert score("-w", "plain").out == score("-w", path, "--plain-q").out
    for command in (
        ("climb", "-d", "2x2"),
        ("run", "2x2", "--cutoff", "5"),
        ("neighbours", "abcd"),
    ):
        answer = orderly.fails(2, *command, "-w", "plain")
        assert "has a plain q, and here a q is a Qu cell" in answer
    assert "only orderly show, score, solve, roll and play take it" in answer
    assert orderly("roll", "--seed", "1", "-w", "plain").code == 0


def test_show_in_every_format(orderly, words, monkeypatch):
    show = partial(orderly, "show", "--wordlist", words)
    assert (
        show(BEE_FEE, "--format", "csv").out == "word,points,letters\nbeef,1,4\nbee,1,3\nfee,1,3\n"
    )
    shown = json.loads(show(BEE_FEE, "--format", "json").out)
    assert (shown["board"], shown["dims"], shown["score"], shown["n_words"]) == (
        BEE_FEE,
        "2x3",
        3,
        3,
    )
    assert all(
        "".join(BEE_FEE[cell] for cell in word["path"]) == word["word"] for word in shown["words"]
    )
    text = show(BEE_FEE).out
    for line in (
        "│ E  │ E  │\n",
        "│ B  │ F  │\n",
        "4 letters, 1 point each (1)",
        "3 letters, 1 point each (2)",
    ):
        assert line in text
    assert "\x1b[" not in text, "no colours unless on a terminal"
    assert all(word in show("nqteeixxx").out for word in ("Qu", "queen", "quit"))
    special = json.loads(show("b.e/eef", "--format", "json").out)
    assert (special["board"], special["dims"], special["score"], special["wordlist"]) == (
        "b.e/eef",
        "3x2",
        3,
        "small",
    )
    text = show("b.e/e[a/e]f").out
    assert "│ B  │ .  │ E  │" in text
    assert "│ E  │ A/E│ F  │" in text
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)
    assert "\x1b[" in show(BEE_FEE).out


def test_scores_of_the_published_best_boards(orderly, enable2k):
    boards = {"ligdrmanesietildsracsepes": 10406, "eeesrvrreeesrsrs": 189}
    score = partial(orderly, "score", "--wordlist", "enable2k", "--format", "csv")
    found = {row["board"]: int(row["score"]) for row in rows_of(score(stdin="\n".join(boards)))}
    assert found == boards
    (counted,) = rows_of(score("--scores", "words", stdin="eeesrvrreeesrsrs"))
    shown = orderly("show", "eeesrvrreeesrsrs", "-w", "enable2k", "--format", "csv")
    assert int(counted["score"]) == len(rows_of(shown))


@pytest.mark.parametrize("method", ["trie", "words", "paths", "heap"])
def test_every_method_of_solve_says_the_same(orderly, words, method):
    solve = partial(orderly, "solve", "--method", method, "--wordlist", words)
    assert solve("ebeefe", "--format", "csv") == (
        0,
        "word,points,letters\nbee,1,3\nbeef,1,4\nfee,1,3\n",
        "",
    )
    rows = json.loads(solve("nqteeixxx", "--format", "json").out)
    assert [sum(row["points"] for row in rows), len(rows)] == [3, 2]
    assert "3 points, 2 words of " in solve("nqteeixxx").out
    if method == "words":
        assert solve("b.e/eef").code == 2, "it knows letters only"
        return
    f_cell = "2.2"
    begun, ended = (
        solve("ebeefe", option, f_cell, "--format", "csv").out
        for option in ("--begin-only", "--end-only")
    )
    assert ("fee" in begun, "beef" in begun, "fee" in ended, "beef" in ended) == (
        True,
        False,
        False,
        True,
    )


def test_neighbours(orderly, words, score):
    rows = rows_of(
        orderly("neighbours", BEE_FEE, "-d", "2x3", "-w", words, "-n", "1000", "--format", "csv")
    )
    assert 100 < len(rows) <= 6 * 25 + 15
    again = rows_of(score(stdin="\n".join(row["board"] for row in rows)))
    assert [row["score"] for row in rows] == [row["score"] for row in again]
    assert all(int(row["difference"]) == int(row["score"]) - 3 for row in rows)
    assert rows[0]["change"].startswith("row ")


def test_lists(orderly, words, monkeypatch):
    (words.parent / "bad.txt").write_text("CAT\n")
    monkeypatch.setenv("ORDERLY_WORDLISTS", str(words.parent))
    answer = orderly("lists", BEE_FEE, "--format", "json")
    rows = {row["wordlist"]: row for row in json.loads(answer.out)}
    assert rows["small"]["words"] == rows["small"]["score"] == 3
    assert rows["scowl70"]["score"] > 1
    assert "left out bad" in answer.err


def test_longest_finds_the_best_board_of_each_word(orderly, words):
    words.write_text("seated\nteased\nsedate\nquieted\nseat\nsea\nate\ndate\nquiet\n")

    def longest(*options):
        return rows_of(orderly("longest", "-d", "2x3", "-w", words, *options, "--format", "csv"))

    rows = longest()
    assert {row["word"] for row in rows} == {"seated", "teased", "sedate", "quieted"}
    assert rows == sorted(rows, key=lambda row: -int(row["score"]))
    for row in rows:
        shown = orderly.json("show", row["board"], "-w", words)
        assert row["word"] in {word["word"] for word in shown["words"]}
        assert shown["score"] == int(row["score"])
    assert [row["word"] for row in longest("--letters", "7")] == ["quieted"]
    assert longest("--word", "Seated") == [row for row in rows if row["word"] == "seated"]
    for command in (("longest", "--word", "seated"), ("bound", "3")):
        turned = orderly(*command, "-d", "3x2", "-w", words)
        assert turned.err.startswith("3x2 turned: the same game as 2x3")


def climbed(orderly, words, pool, *options):
    return orderly.json("climb", "--wordlist", words, "--pool", pool, *options)


# a chain takes thousands of steps, however small the board is
@pytest.mark.parametrize(("method", "pool"), [("pool", 30), ("anneal", 6)])
def test_every_method_lists_canonical_boards_with_their_scores(orderly, words, method, pool):
    rows = climbed(
        orderly,
        words,
        pool,
        "--dims",
        "2x2",
        "--method",
        method,
        "--runs",
        "2",
        "--workers",
        "2",
        "-n",
        "5",
    )
    assert 1 <= len(rows) <= 5
    assert (rows[0]["score"], rows[0]["found"] >= 2) == (5, True)
    assert rows == sorted(rows, key=lambda row: -row["score"])
    assert all(row["board"] == canonical_board(row["board"], geometry("2x2")) for row in rows)
    scored = orderly(
        "score", "-w", words, "--format", "csv", stdin="\n".join(row["board"] for row in rows)
    )
    assert [int(row["score"]) for row in rows_of(scored)] == [row["score"] for row in rows]
    chosen = ("--contains", "Quit", "--exclude", "AZ", "-n", "30")
    rows = climbed(orderly, words, pool, "--dims", "2x3", "--method", method, *chosen)
    assert rows
    assert all(set("qit") <= set(row["board"]) <= set("bcdefghijklmnopqrstuvwxy") for row in rows)
    assert climbed(orderly, words, pool, "--from", "seatxx", "--method", method)[0]["score"] >= 5


def test_the_table_draws_the_best_board_and_a_size_that_is_turned_is_told(orderly, words):
    climb = ("climb", "-w", words, "--pool", "9")
    drawn = orderly(*climb, "-d", "2x2")
    assert ("┌────┬────┐" in drawn.out, "turned" in drawn.err) == (True, False)
    turned = orderly(*climb, "-d", "3x2", "--format", "csv")
    assert turned.out.startswith("board,score,found\n")
    assert "3x2 turned: the same game as 2x3" in turned.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_prints_the_best_so_far(terminal, number):
    """It is interrupted when it shows on its terminal that the second round is done."""
    shown, its_terminal = pty.openpty()
    climb = subprocess.Popen(
        [*COMMAND, "climb", "--dims", "4x4", "--pool", "400", "--runs", "1", "--format", "csv"],
        stdout=subprocess.PIPE,
        stderr=its_terminal,
        text=True,
    )
    os.close(its_terminal)
    said = b""
    while not re.search(rb"round [2-9]", said):
        said += os.read(shown, 10_000)
    climb.send_signal(number)
    out, _ = climb.communicate(timeout=60)
    with contextlib.suppress(OSError):  # the other end is closed
        while more := os.read(shown, 10_000):
            said += more
    os.close(shown)
    assert climb.returncode == app.EXIT_INTERRUPTED == 130
    assert f"stopped by {number.name}: the best boards so far" in said.decode()
    rows = rows_of(Answer(0, out, ""))
    assert 1 <= len(rows) <= 10
    assert int(rows[0]["score"]) > 0
    assert {row["found"] for row in rows} == {"1"}


def test_rolls_repeat_with_their_seed_and_can_be_rolled(orderly):
    first = orderly("roll", "-n", "5", "--seed", "1", "--format", "csv")
    assert first == orderly("roll", "-n", "5", "--seed", "1", "--format", "csv")
    boards = [row["board"] for row in rows_of(first)]
    assert len(boards) == 5
    for board in boards:
        assert orderly.json("show", board)["rollable"]["new"]
    assert (
        "cannot be rolled with the classic or the new dice"
        in orderly("show", "eeesrvrreeesrsrs").out
    )
    assert "cannot be rolled with the big dice" in orderly("show", "ligdrmanesietildsracsepes").out
    assert "rolled" not in orderly("show", "abcd").out
    assert "┌────" in orderly("roll", "--dice", "big", "--seed", "2").out


def test_dice_of_another_language_and_of_ones_own(orderly, tmp_path):
    """The example of docs/examples: its faces of several letters are tiles."""
    said = orderly.fails(2, "roll", "--dice", "spanish")
    assert "dice 'spanish' show ñ, which no word of scowl70 has: take a Spanish list" in said
    assert "--" not in said, "pages say the same, and have no options"
    mine = tmp_path / "mine.txt"
    mine.write_text("# letter w is ñ\nawo\ncocher\nquise\n", "utf-8")
    rolled = orderly.json("roll", "--dice", "spanish", "-w", mine, "-n", 40, "--seed", 1)
    assert any("ñ" in item["board"] for item in rolled)
    page = (ROOT / "docs/examples/README.md").read_text("utf-8")
    (toml,) = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "mine.toml").write_text(toml, "utf-8")
    own = ("roll", "--dice", tmp_path / "mine.toml", "-w", mine, "-n", 200, "--seed", 1)
    boards = [item["board"] for item in orderly.json(*own)]
    for tile in ("[ch]", "[ll]", "[rr]", "Qu", "ñ", "."):
        assert any(tile in board for board in boards), tile
    assert orderly.json("show", "co./[ch]er", "-w", mine)["words"][0]["word"] == "cocher"


def test_super_big_boggle_is_rolled_and_scored_by_its_own_points(orderly):
    """Words of four letters or more; from nine letters on two points a letter."""
    rolled = rows_of(
        orderly("roll", "--dice", "super", "--seed", "3", "-n", "3", "--format", "csv")
    )
    boards = [row["board"] for row in rolled]
    assert [board.count("/") for board in boards] == [5] * 3
    assert any("[" in board or "." in board for board in boards)
    points = "0,1,2,3,5,11," + ",".join(str(2 * n) for n in range(9, 30))
    assert (
        rows_of(orderly("score", "--scores", points, "--format", "csv", stdin="\n".join(boards)))
        == rolled
    )


def test_a_worksheet_holds_the_boards_and_then_all_their_words(orderly, tmp_path):
    pdf = pytest.importorskip(
        "pypdf", reason="needs the extra: pip install 'orderly-boggle[report]'"
    )
    rolled = ("roll", "--dice", "big", "-n", 7, "--seed", 3, "--min-words", 60)
    answer = orderly(*rolled, "--out", tmp_path / "sheet.pdf")
    assert answer.code == 0, answer.err
    pages = [page.extract_text().split() for page in pdf.PdfReader(tmp_path / "sheet.pdf").pages]
    boards = [item["board"] for item in orderly.json(*rolled)]
    assert len(set(boards)) == 7
    printed = [*itertools.chain.from_iterable(pages)]
    names = [printed.count(f"{number}:") for number in range(1, 8)]
    assert names == [2] * 7, "each board once to play and once with its words"
    answers = [*itertools.chain.from_iterable(pages[2:])]
    for board in boards:
        record = orderly.json("show", board, "-d", "5x5", "--min-letters", 4)
        assert record["n_words"] >= 60
        rows = "/".join(board[row::5].upper().replace("Q", "Qu") for row in range(5))
        assert {item["word"] for item in record["words"]} <= set(
            answers[answers.index(f"{rows},") :]
        ), "the board is named by its rows, as it stands on the sheet"
    assert all("seed" in page for page in pages), "how to roll them again"


def test_a_worksheet_has_a_title_lines_to_write_on_and_words_that_are_left_out(orderly, tmp_path):
    pdf = pytest.importorskip("pypdf")
    rolled = ("roll", "-n", 4, "--seed", 3, "--out", tmp_path / "sheet.pdf")
    orderly.done(*rolled, "--title", "Class 4b, <Tuesday>", "--lines", 21)
    pages = [page.extract_text() for page in pdf.PdfReader(tmp_path / "sheet.pdf").pages]
    assert all("Class 4b, <Tuesday>" in page and "seed 3" in page for page in pages)
    boards = [page.count("to find") for page in pages]
    assert boards[:3] == [3, 1, 0], "three boards a page"
    words = [word for word in " ".join(pages[2:]).split() if word.isalpha()]
    (tmp_path / "crude.txt").write_text(f"{words[20].upper()}\n{words[30]}, zzz\n")
    answer = orderly(*rolled, "--without", tmp_path / "crude.txt")
    assert "leaves out 2 words of scowl70" in answer.err
    pages = [page.extract_text() for page in pdf.PdfReader(tmp_path / "sheet.pdf").pages]
    printed = set(" ".join(pages[1:]).split())
    assert printed.isdisjoint({words[20], words[30]})
    assert {*words[40:50]} <= printed
    assert any("scowl70 without 2 words" in page for page in pages)
    orderly.done(*rolled, "--title", "bell\a")
    page = pdf.PdfReader(tmp_path / "sheet.pdf").pages[0].extract_text()
    assert r"bell\x07" in page, "what no page can have"
    for only in (("--title", "Mine"), ("--lines", 9), ("--paper", "a4")):
        assert "give --out FILE.pdf as well" in orderly("roll", *only).err


@pytest.mark.parametrize(
    ("locale", "asked", "size"),
    [
        ("en_US.UTF-8", (), (612, 792)),
        ("es_MX", (), (612, 792)),
        ("en_GB.UTF-8", (), (595, 842)),
        ("C.UTF-8", (), (595, 842)),
        ("en_GB.UTF-8", ("--paper", "letter"), (612, 792)),
        ("en_US.UTF-8", ("--paper", "a4"), (595, 842)),
    ],
)
def test_a_worksheet_fits_the_paper_and_says_which_words_count(
    orderly, tmp_path, monkeypatch, locale, asked, size
):
    pdf = pytest.importorskip("pypdf")
    monkeypatch.setenv("LC_ALL", locale)
    sheet = tmp_path / "sheet.pdf"
    orderly.done("roll", "--dice", "big", "-n", 7, "--seed", 3, "--out", sheet, *asked)
    pages = pdf.PdfReader(sheet).pages
    assert {(round(page.mediabox.width), round(page.mediabox.height)) for page in pages} == {size}
    assert all("Words of 4 letters or more count." in page.extract_text() for page in pages)
    assert [page.extract_text().count("to find") for page in pages[:2]] == [6, 1]


@pytest.mark.parametrize("board", [BEE_FEE, "e[qu]e/neb", "e*e/bfe"])
def test_words_that_are_left_out_count_nowhere(orderly, words, tmp_path, board):
    """Boards of the fast scorer, with a tile that only the other solver takes, with any letter."""
    left_out = tmp_path / "crude.csv"
    left_out.write_text("word;n\nBEE;1\nquéen;2\nthe;3\n", "utf-8")
    options = ("-w", words, "--without", left_out)
    before = {
        row["word"] for row in rows_of(orderly("show", board, "-w", words, "--format", "csv"))
    }
    assert {"bee", "queen"} & before
    shown = orderly("show", board, *options, "--format", "csv")
    assert {row["word"] for row in rows_of(shown)} == before - {"bee", "queen"}
    assert "leaves out 2 words of small" in shown.err
    solved = rows_of(orderly("solve", board, *options, "--format", "csv"))
    assert {row["word"] for row in solved} == before - {"bee", "queen"}
    (score,) = rows_of(orderly("score", *options, "--format", "csv", stdin=board))
    assert int(score["score"]) == sum(int(row["points"]) for row in rows_of(shown))
    told = orderly.json("show", board, *options)
    plain = orderly.json("show", board, "-w", words)
    assert told["wordlist_sha256"] != plain["wordlist_sha256"], "it is another list"
    assert told["wordlist"] == "small without 2 words"


# ---- what people typed elsewhere, in bug reports and questions; values that an independent solver
# worked out

# what was typed, the options, the score, None if it is refused; scowl70
SCORED = {
    "d1": ("star line gods pest", {}, 681),
    "d1 in lines": ("S T A R\nL I N E\n\nG O D S\nP E S T", {}, 681),
    "d3": ("berlatdes cinlatper", {}, None),
    "d4": ("starelingods", {"dims": "4x3"}, 285),
    "d5": ("stlage rida eons", {"dims": "5x3"}, None),
    "d6": ("star/elin/gods", {}, 304),
    "d7": ("4 4\nS  N  R  T\nO  I  E  L\nE  Qu T  T\nR  S  A  T\n", {}, 391),
    "d8": ("abc/def/gh", {}, None),
    "e1": ("dsrodg/temens/rasito/dgntrp/reiaes/tsclpd", {}, 13748),
    "e2": ("stare/linos/gedra", {}, 395),
    "e4": ("Th e r / i n g / s a l", {}, 89),
    "e4 in lines": ("Th e r\ni n g\ns a l", {}, 89),
    "e6": ("ste/r.a/lin", {}, 30),
    "e8": ("c*t/sea/rdo", {}, 868),
    "e9": ("c [a/e] t / sro / din", {}, 124),
    "e10": ("[-ing] k s / rat / neb", {}, 201),
    "f1": ("berlatdes", {"letter_values": "scrabble", "scores": "1,1,2,3,4,5,6"}, 2671),
}


@pytest.mark.parametrize("name", SCORED)
def test_a_board_as_it_was_typed_has_its_score_here_and_on_the_page(orderly, name):
    text, options, expected = SCORED[name]
    given = []
    for key, value in options.items():
        given += [f"--{key.replace('_', '-')}", value]
    answer = orderly("score", "-w", "scowl70", *given, "--format", "json", stdin=text)
    points = options.get("scores", "standard")
    values = options.get("letter_values")
    asked = (text, options.get("dims"), "scowl70", "", points, False, 3, values)
    if expected is None:
        assert (answer.code, answer.out) == (2, "")
        with pytest.raises(InputError):
            score_board(BoardRequest(*asked))
        return
    assert [row["score"] for row in json.loads(answer.out)] == [expected]
    told = score_board(BoardRequest(*asked))
    assert told["score"] == sum(word["points"] for word in told["words"]) == expected
    again = score_board(BoardRequest("".join(told["cells"]), size=told["dims"], scores=points))
    assert values or again["score"] == expected, "the page sends the cells down the columns"


def test_the_page_of_a_run_takes_other_points_and_fresh_boards_have_those_of_the_box():
    asked = BoardRequest("berlatdes", location=str(published_places()["3x3-scowl70"]))
    assert score_board(asked)["score"] == 430
    assert score_board(replace(asked, scores="words"))["score"] == 210
    game = roll_game(BoardRequest(dice="big", goal=5))
    for word in game["words"]:
        assert len(word["word"]) >= 4


FRENCH = ["mère", "pré", "été", "épi", "tri", "trime", "reine", "père", "prise", "mise"]
SPANISH = ["año", "niña", "caña", "una", "cana", "ana", "nao", "onda"]
QUIZ = ["geeks", "quiz"]
QUIZ += [f"{a}zz{b}" for a, b in itertools.product("abcdefghijklmnop", repeat=2)]
QATAR = ["qatariana", *(f"zz{a}{b}" for a, b in itertools.product("abcdefghij", repeat=2))]
# lines, options of import, a board, its score, what is said of the file when it is not a plain list
IMPORTED = {
    # whatever the locale, see below
    "b1": (["Ibis", "idea", "side", "tide"], (), "ide/tas", 2, ""),
    "b3, c1": (FRENCH, (), "merpetise", 4, "accents folded"),
    "b4": (
        ["tea 12", "eat 7", "ate 1"],
        (),
        "te/ax",
        3,
        "columns with blanks between, words from column 1",
    ),
    "b6": (
        ["tea", "bed/breakfast", "eat"],
        (),
        "te/ax",
        2,
        "digit, dot or other sign  bed/breakfast",
    ),
    "b9": (['["tea", "eat",', ' "ate"]'], (), "te/ax", 3, "read as ASCII, JSON"),
    "c2": (SPANISH, ("--letter", "ñ=w"), "año/nac/uid", 6, ""),
    "f3": (QUIZ, ("--plain-q",), "giz/uek/qse", 3, ""),
    "f4": (QATAR, ("--plain-q",), "qat/ira/ana", 11, ""),
}


@pytest.mark.parametrize("name", IMPORTED)
def test_a_list_as_people_have_it_is_taken_by_the_command_that_the_refusal_names(
    orderly, name, tmp_path, monkeypatch
):
    lines, options, board, expected, said = IMPORTED[name]
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LC_ALL", "tr_TR.UTF-8")
    file = tmp_path / "mine.txt"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    if not options:
        refused = orderly("wordlist", "check", file)
        assert (refused.code, said in refused.out) == (2, True)
        assert f"orderly wordlist import {file}" in refused.err
        assert not (tmp_path / "data").exists()
    assert said in orderly.done("wordlist", "import", file, *options)
    orderly.done("wordlist", "check", "mine")
    scored = orderly("score", "-w", "mine", "--format", "json", stdin=board)
    assert [row["score"] for row in json.loads(scored.out)] == [expected], scored.err
    assert score_board(BoardRequest(board, list="mine"))["score"] == expected


@pytest.mark.nightly
@pytest.mark.skipif(
    not Path("/usr/share/dict/american-english").exists(), reason="needs Debian's wamerican"
)
def test_the_list_of_debian_that_a_turkish_locale_halved(orderly, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setitem(os.environ, "LC_ALL", "tr_TR.UTF-8")
    made = orderly.json("wordlist", "import", "/usr/share/dict/american-english")
    assert made["n_words"] >= 63_737
    scored = orderly("score", "-w", "american-english", "--format", "json", stdin="brenstaid")
    assert [row["score"] for row in json.loads(scored.out)] == [57]
