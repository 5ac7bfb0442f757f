"""``show``, ``score`` and ``bound``: values against pinned facts, every format, every kind of bad input."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cluster.web.jobs import score_board
from tests.conftest import rows_of

# golden: rows E B E over E F E, written with the long side down; score 3
BEE_FEE = "ebeefe"


def test_score_counts_letters_not_cells_for_qu(orderly, words):
    table = {"standard": 1 + 2, "words": 2, "1,10,100": 10 + 100}  # quit 4 letters, queen 5
    for name, expected in table.items():
        answer = orderly("score", "--wordlist", words, "--scores", name, "--format", "csv", stdin="nqteeixxx")
        assert rows_of(answer) == [{"board": "nqteeixxx", "score": str(expected)}], name


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("abc", "'abc'"),
        ("abcdefgh1", "'abcdefgh1'"),
        ("abcdefghé", "'abcdefghé'"),
        (b"\xff\xfea\0", "xfea"),
        ("abcdefgh,12", "'abcdefgh'"),
        ("berlatdes cinlatper", "more than one board"),
        ("abc/def/gh", "'abc/def/gh'"),
        ("x" * 10_000, "'xxxx"),
    ],
)
def test_score_names_the_bad_line_and_prints_no_result(orderly, words, line, value):
    line = line.encode() if isinstance(line, str) else line
    answer = orderly("score", "--wordlist", words, "--format", "csv", stdin=b"abcdefghi\n\n" + line + b"\nabcd\n")
    assert (answer.code, answer.out) == (2, "")
    assert "line 3" in answer.err
    assert value in answer.err
    assert len(answer.err) < 600


def test_score_reads_what_the_other_commands_write(orderly, words):
    expected = f"board,score\n{BEE_FEE},3\n"
    run = '"a run, with a comma",'
    for header, line in (
        ("board,score,proven", f"{BEE_FEE},99,True"),
        ("run,board,score,proven", f"{run}{BEE_FEE},99,True"),
        ("where,board,score,file_score,proven", f"only here,{BEE_FEE},1,,True"),
        ("# a comment", f"{BEE_FEE}: 99"),
    ):
        answer = orderly("score", "--wordlist", words, "--format", "csv", stdin=f"{header}\n{line}\n")
        assert (answer.code, answer.out) == (0, expected), answer.err
    for stdin, said in (
        (expected, expected),
        (f"{BEE_FEE} 430 210\nebeefx, 9", f"{expected}ebeefx,3\n"),
        (f"{BEE_FEE}\n\n  EBEEFE  \r\nxxxx", f"{expected}{BEE_FEE},3\nxxxx,0\n"),  # boards of any size
    ):
        assert orderly("score", "--wordlist", words, "--format", "csv", stdin=stdin).out == said
    assert "line 2" in orderly("score", "--wordlist", words, stdin="board,score\nabc,3\n").err


@pytest.mark.parametrize(
    "command", [("show",), ("solve",), ("neighbours",), ("lists",), ("climb", "--pool", "9", "-n", "1", "--from")]
)
def test_boards_may_be_typed_as_rows(orderly, words, command):
    more = () if command == ("lists",) else ("--wordlist", words)
    rows, columns = (orderly(*command, board, *more, "--format", "json") for board in ("ee/bf/ee", BEE_FEE))
    assert (rows.code, rows.out) == (0, columns.out)


@pytest.mark.parametrize("command", [("show",), ("solve",), ("neighbours",), ("score",)])
def test_a_wide_board_is_turned_and_that_is_said(orderly, words, command):
    board, stdin = ((), "ebb/fee") if command == ("score",) else (("ebb/fee",), "")
    answer = orderly(*command, *board, "-w", words, stdin=stdin)
    assert answer.code == 0
    assert "3 wide and 2 high: turned, the same game as 2x3" in answer.err


def test_longer_words_only_and_bonus_cells(orderly, words):
    options = ("-w", words, "--format", "csv")
    assert rows_of(orderly("show", BEE_FEE, "--min-letters", "4", *options)) == [
        {"word": "beef", "points": "1", "letters": "4"}
    ]
    for b in ("2.1", "1"):  # its row and column; its number
        found = rows_of(orderly("show", BEE_FEE, "--bonus", f"{b}=dw", *options))
        assert {row["word"]: row["points"] for row in found} == {"beef": "2", "bee": "2", "fee": "1"}


def test_a_plain_q_by_option_and_by_list(orderly, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    path = tmp_path / "mine.txt"
    path.write_text("geeks\nquiz\nqeu\ntree\n")
    board = "giz/uek/qse"
    scored = orderly("score", "-w", path, "--plain-q", "--format", "csv", stdin=board)
    assert scored.out == "board,score\ngiz/uek/[q]se,4\n"  # geeks, quiz, qeu
    assert orderly("score", "-w", path, "--format", "csv", stdin=board).out == "board,score\nguqieszke,2\n"
    assert orderly("wordlist", "import", path, "--plain-q", "--name", "plain").code == 0
    assert orderly("score", "-w", "plain", "--format", "csv", stdin=board).out == scored.out
    for command in (("climb", "-d", "2x2"), ("run", "2x2", "--cutoff", "5"), ("neighbours", "abcd")):
        answer = orderly(*command, "-w", "plain")
        assert (answer.code, answer.out) == (2, "")
        assert "has a plain q, and here a q is a Qu cell" in answer.err


def test_show_and_solve_take_special_boards(orderly, words):
    shown = json.loads(orderly("show", "b.e/eef", "-w", words, "--format", "json").out)
    assert (shown["board"], shown["dims"], shown["score"], shown["wordlist"]) == ("b.e/eef", "3x2", 3, "small")
    assert [(word["word"], word["points"]) for word in shown["words"]] == [("beef", 1), ("bee", 1), ("fee", 1)]
    text = orderly("show", "b.e/e[a/e]f", "-w", words).out
    assert "│ B  │ .  │ E  │" in text
    assert "│ E  │ A/E│ F  │" in text
    picture = words.parent / "x.svg"
    assert orderly("show", "b.e/eef", "-w", words, "--out", picture, "--word", "beef").code == 0
    assert ">.</text>" in picture.read_text()
    assert "polyline" in picture.read_text()
    assert "is not on b.e/eef" in orderly("show", "b.e/eef", "-w", words, "--out", picture, "--word", "bed").err
    solved = orderly("solve", "b.e/eef", "-w", words, "--format", "csv")
    assert solved.out == "word,points,letters\nbee,1,3\nbeef,1,4\nfee,1,3\n"
    assert orderly("solve", "b.e/eef", "-w", words, "--method", "words").code == 2


def test_show_in_every_format(orderly, words):
    assert orderly("show", BEE_FEE, "--wordlist", words, "--format", "csv").out.splitlines() == [
        "word,points,letters",
        "beef,1,4",
        "bee,1,3",
        "fee,1,3",
    ]
    shown = json.loads(orderly("show", BEE_FEE, "--wordlist", words, "--format", "json").out)
    assert (shown["board"], shown["dims"], shown["score"], shown["n_words"]) == (BEE_FEE, "2x3", 3, 3)
    assert all("".join(BEE_FEE[cell] for cell in word["path"]) == word["word"] for word in shown["words"])
    text = orderly("show", BEE_FEE, "--wordlist", words).out
    assert "\x1b[" not in text, "no colours unless on a terminal"
    assert "│ E  │ E  │\n" in text
    assert "│ B  │ F  │\n" in text
    assert "4 letters, 1 point each (1)" in text
    assert "3 letters, 1 point each (2)" in text


def test_show_colours_the_cells_of_words_on_a_terminal(orderly, words, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[" in orderly("show", BEE_FEE, "--wordlist", words).out


def test_scores_of_the_published_best_boards(orderly, enable2k):
    boards = {"ligdrmanesietildsracsepes": 10406, "rpqaselinifcoita": None, "eeesrvrreeesrsrs": 189}
    answer = orderly("score", "--wordlist", "enable2k", "--format", "csv", stdin="\n".join(boards))
    found = {row["board"]: int(row["score"]) for row in rows_of(answer)}
    assert all(points in (None, found[board]) for board, points in boards.items())
    answer = orderly("score", "-w", "enable2k", "--scores", "words", "--format", "csv", stdin="eeesrvrreeesrsrs")
    shown = orderly("show", "eeesrvrreeesrsrs", "-w", "enable2k", "--format", "csv")
    assert int(rows_of(answer)[0]["score"]) == len(rows_of(shown))


# golden: class 2520743 of `bdfgjvwxz aeiou lnrsy chkmpt` on 3x4; the list has no q, so the letters are written out
PINNED = "chkmpt aeiou lnrsy lnrsy lnrsy aeiou chkmpt aeiou lnrsy aeiou lnrsy bdfgjvwxz"


def test_bound_of_letters_is_the_pinned_one(orderly, enable2k):
    record = json.loads(orderly("bound", PINNED, "--wordlist", "enable2k", "--format", "json").out)
    assert record["orderly_bound"] == 5496
    assert record["sum_bound"] > 0
    assert record["max_bound"] > 0
    assert record["n_boards"] == 9 * 5**9 * 6**2
    assert rows_of(orderly("bound", PINNED, "-w", "enable2k", "--format", "csv"))[0]["orderly_bound"] == "5496"
    assert "5,496" in orderly("bound", PINNED, "-w", "enable2k").out


def test_bound_of_a_class_number(orderly, words):
    arguments = ("--dims", "3x4", "--buckets", "bdfgjqvwxz aeiou lnrsy chkmpt", "--wordlist", words, "--format", "json")
    by_number = json.loads(orderly("bound", "2520743", *arguments).out)
    assert by_number["class"] == PINNED.replace("bdfgjvwxz", "bdfgjqvwxz")
    assert by_number == json.loads(orderly("bound", by_number["class"], "-w", words, "--format", "json").out)
    of_preset = json.loads(orderly("bound", "3", "--dims", "3x3", "-w", words, "--format", "json").out)
    assert of_preset["n_boards"] == 26**8


def test_a_table_that_would_overflow_is_refused(orderly, tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("abcdefghijklmnop\n")
    answer = orderly("score", "--wordlist", path, "--scores", "2147483647", stdin="a" * 16)
    assert answer.code == 0
    path.write_text("abcdefghijklmnop\nabcdefghijklmnoqu\n")
    answer = orderly("score", "--wordlist", path, "--scores", "2147483647", stdin="a" * 16)
    assert (answer.code, answer.out) == (2, "")


def test_super_big_boggle_is_rolled_and_scored_by_its_own_points(orderly):
    """Words of four letters or more; from nine letters on two points a letter."""
    rolled = rows_of(orderly("roll", "--dice", "super", "--seed", "3", "-n", "3", "--format", "csv"))
    assert [row["board"].count("/") for row in rolled] == [5] * 3
    points = "0,1,2,3,5,11," + ",".join(str(2 * n) for n in range(9, 30))
    scored = rows_of(
        orderly(
            "score", "--scores", points, "--format", "csv", stdin="\n".join(row["board"] for row in rolled).encode()
        )
    )
    assert scored == rolled
    assert any("[" in row["board"] or "." in row["board"] for row in rolled)


# ---- boards and lists as people have them; values that an independent solver worked out

# what was typed, the options, the score; scowl70
SCORED = {
    "d1": ("star line gods pest", {}, 681),
    "d4": ("starelingods", {"dims": "4x3"}, 285),
    "d6": ("star/elin/gods", {}, 304),
    "d7": ("4 4\nS  N  R  T\nO  I  E  L\nE  Qu T  T\nR  S  A  T\n", {}, 391),
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
    given = [part for key, value in options.items() for part in (f"--{key.replace('_', '-')}", value)]
    answer = orderly("score", "-w", "scowl70", *given, "--format", "json", stdin=text)
    assert answer.code == 0, answer.err
    assert [row["score"] for row in json.loads(answer.out)] == [expected]
    values = options.get("letter_values")
    told = score_board(text, options.get("dims"), "scowl70", "", options.get("scores", "standard"), False, 3, values)
    assert told["score"] == sum(word["points"] for word in told["words"]) == expected
    again = score_board("".join(told["cells"]), told["dims"], "scowl70", "", options.get("scores", "standard"))
    assert values or again["score"] == expected, "the page sends the cells down the columns"


FRENCH = ["mère", "pré", "été", "épi", "tri", "trime", "reine", "père", "prise", "mise"]
SPANISH = ["año", "niña", "caña", "una", "cana", "ana", "nao", "onda"]
QUIZ = ["geeks", "quiz", *(f"{a}zz{b}" for a in "abcdefghijklmnop" for b in "abcdefghijklmnop")]
QATAR = ["qatariana", *(f"zz{a}{b}" for a in "abcdefghij" for b in "abcdefghij")]
# lines, options of import, a board, its score
IMPORTED = {
    "b1": (["Ibis", "idea", "side", "tide"], (), "ide/tas", 2),  # whatever the locale, see below
    "b3, c1": (FRENCH, (), "merpetise", 4),
    "b4": ([f"{word} {i}" for i, word in enumerate(["tea", "eat", "ate"])], (), "te/ax", 3),
    "b6": (["tea", "bed/breakfast", "eat"], (), "te/ax", 2),
    "b9": (['["tea", "eat",', ' "ate"]'], (), "te/ax", 3),
    "c2": (SPANISH, ("--letter", "ñ=w"), "año/nac/uid", 6),
    "f3": (QUIZ, ("--plain-q",), "giz/uek/qse", 3),
    "f4": (QATAR, ("--plain-q",), "qat/ira/ana", 11),
}


@pytest.mark.parametrize("name", IMPORTED)
def test_a_list_as_people_have_it_is_taken_by_the_command_that_the_refusal_names(orderly, name, tmp_path, monkeypatch):
    lines, options, board, expected = IMPORTED[name]
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LC_ALL", "tr_TR.UTF-8")
    file = tmp_path / "mine.txt"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    if not options:
        refused = orderly("wordlist", "check", file)
        assert refused.code == 2
        assert f"orderly wordlist import {file}" in refused.err
        assert "|" not in refused.err, "no pipeline"
    assert orderly("wordlist", "import", file, *options).code == 0
    scored = orderly("score", "-w", "mine", "--format", "json", stdin=board)
    assert [row["score"] for row in json.loads(scored.out)] == [expected], scored.err
    assert score_board(board, None, "mine")["score"] == expected


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/usr/share/dict/american-english").exists(), reason="needs Debian's wamerican")
def test_the_list_of_debian_that_a_turkish_locale_halved(orderly, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setitem(os.environ, "LC_ALL", "tr_TR.UTF-8")
    made = json.loads(orderly("wordlist", "import", "/usr/share/dict/american-english", "--format", "json").out)
    assert made["n_words"] >= 63_737
    scored = orderly("score", "-w", "american-english", "--format", "json", stdin="brenstaid")
    assert [row["score"] for row in json.loads(scored.out)] == [57]
