"""Commands on single boards: ``show``, ``score``, ``solve``, ``neighbours``, ``lists``, ``longest``, ``roll``."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.conftest import rows_of

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
    several = orderly("score", "--format", "csv", stdin="berlatdes 430 210\ncinlatper, 9\n\nstar").out
    assert several == "board,score\nberlatdes,430\ncinlatper,325\nstar,8\n"
    for points, total in {"standard": 1 + 2, "words": 2, "1,10,100": 10 + 100}.items():  # quit 4 letters, queen 5
        assert score("--scores", points, stdin="nqteeixxx").out == f"board,score\nnqteeixxx,{total}\n"


@pytest.mark.parametrize("line", [b"abc", b"abcdefgh1", "abcdefghé".encode(), b"\xff\xfea\0", b"x" * 10_000])
def test_score_names_the_bad_line_and_prints_no_result(score, line):
    answer = score(stdin=b"abcdefghi\n\n" + line + b"\nabcd\n")
    assert (answer.code, answer.out) == (2, "")
    assert "line 3" in answer.err
    assert line.decode(errors="ignore").strip("\0")[:4] in answer.err
    assert len(answer.err) < 600


def test_boards_may_be_typed_as_rows_and_a_wide_one_is_turned(orderly, words):
    for command in (("show",), ("solve",), ("neighbours",), ("lists",), ("climb", "--pool", "9", "-n", "1", "--from")):
        more = () if command == ("lists",) else ("--wordlist", words)
        rows, columns, wide = (
            orderly(*command, board, *more, "--format", "json") for board in ("ee/bf/ee", BEE_FEE, "ebe/efe")
        )
        assert (rows.code, rows.out) == (0, columns.out)
        assert command[0] not in ("show", "solve", "neighbours") or "turned, the same game as 2x3" in wide.err


def test_rules_are_those_of_the_options(orderly, words, score):
    show = partial(orderly, "show", "-w", words, "--format", "csv")
    assert show(BEE_FEE, "--min-letters", "4").out == "word,points,letters\nbeef,1,4\n"
    for b in ("2.1", "1"):  # its row and column; its number
        found = rows_of(show(BEE_FEE, "--bonus", f"{b}=dw"))
        assert {row["word"]: row["points"] for row in found} == {"beef": "2", "bee": "2", "fee": "1"}
    assert score("--letter-values", "scrabble", "--min-letters", "9", stdin=BEE_FEE).out.endswith(",0\n")
    assert score("--bonus", "4=tx", stdin=BEE_FEE).code == 2


def test_a_plain_q_by_option_and_by_list(orderly, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    path = tmp_path / "mine.txt"
    path.write_text("geeks\nquiz\nqeu\ntree\n")
    score = partial(orderly, "score", "--format", "csv", stdin="giz/uek/qse")
    assert score("-w", path, "--plain-q").out == "board,score\ngiz/uek/[q]se,4\n"  # geeks, quiz, qeu
    assert score("-w", path).out == "board,score\nguqieszke,2\n"
    assert orderly("wordlist", "import", path, "--plain-q", "--name", "plain").code == 0
    assert score("-w", "plain").out == score("-w", path, "--plain-q").out
    for command in (("climb", "-d", "2x2"), ("run", "2x2", "--cutoff", "5"), ("neighbours", "abcd")):
        answer = orderly(*command, "-w", "plain")
        assert (answer.code, answer.out) == (2, "")
        assert "has a plain q, and here a q is a Qu cell" in answer.err


def test_show_in_every_format(orderly, words, monkeypatch):
    show = partial(orderly, "show", "--wordlist", words)
    assert show(BEE_FEE, "--format", "csv").out == "word,points,letters\nbeef,1,4\nbee,1,3\nfee,1,3\n"
    shown = json.loads(show(BEE_FEE, "--format", "json").out)
    assert (shown["board"], shown["dims"], shown["score"], shown["n_words"]) == (BEE_FEE, "2x3", 3, 3)
    assert all("".join(BEE_FEE[cell] for cell in word["path"]) == word["word"] for word in shown["words"])
    text = show(BEE_FEE).out
    for line in ("│ E  │ E  │\n", "│ B  │ F  │\n", "4 letters, 1 point each (1)", "3 letters, 1 point each (2)"):
        assert line in text
    assert "\x1b[" not in text, "no colours unless on a terminal"
    assert all(word in show("nqteeixxx").out for word in ("Qu", "queen", "quit"))
    special = json.loads(show("b.e/eef", "--format", "json").out)
    assert (special["board"], special["dims"], special["score"], special["wordlist"]) == ("b.e/eef", "3x2", 3, "small")
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


@pytest.mark.parametrize("method", ["trie", "words", "heap", "paths"])
def test_every_method_of_solve_says_the_same(orderly, words, method):
    solve = partial(orderly, "solve", "--method", method, "--wordlist", words)
    assert solve("ebeefe", "--format", "csv") == (0, "word,points,letters\nbee,1,3\nbeef,1,4\nfee,1,3\n", "")
    record = json.loads(solve("nqteeixxx", "--format", "json").out)
    assert (record["score"], record["n_words"]) == (3, 2)
    assert record["n_paths"] == (10_305 if method == "paths" else None)
    if method == "words":
        assert solve("b.e/eef").code == 2, "it knows letters only"
        return
    f_cell = "2.2"
    begun, ended = (solve("ebeefe", option, f_cell, "--format", "csv").out for option in ("--begin-only", "--end-only"))
    assert ("fee" in begun, "beef" in begun, "fee" in ended, "beef" in ended) == (True, False, False, True)


def test_neighbours(orderly, words, score):
    rows = rows_of(orderly("neighbours", BEE_FEE, "-d", "2x3", "-w", words, "-n", "1000", "--format", "csv"))
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
        shown = json.loads(orderly("show", row["board"], "-w", words, "--format", "json").out)
        assert row["word"] in {word["word"] for word in shown["words"]}
        assert shown["score"] == int(row["score"])
    assert [row["word"] for row in longest("--letters", "7")] == ["quieted"]
    assert longest("--word", "Seated") == [row for row in rows if row["word"] == "seated"]
    assert {row["word"] for row in longest("--sample", "200")} == {row["word"] for row in rows}
    for command in (("longest", "--word", "seated"), ("bound", "3")):
        turned = orderly(*command, "-d", "3x2", "-w", words)
        assert turned.err.startswith("3x2 turned: the same game as 2x3")


def test_rolls_repeat_with_their_seed_and_can_be_rolled(orderly):
    first = orderly("roll", "-n", "5", "--seed", "1", "--format", "csv")
    assert first == orderly("roll", "-n", "5", "--seed", "1", "--format", "csv")
    boards = [row["board"] for row in rows_of(first)]
    assert len(boards) == 5
    for board in boards:
        assert json.loads(orderly("show", board, "--format", "json").out)["rollable"]["new"]
    assert "cannot be rolled with the classic or the new dice" in orderly("show", "eeesrvrreeesrsrs").out
    assert "cannot be rolled with the big dice" in orderly("show", "ligdrmanesietildsracsepes").out
    assert "rolled" not in orderly("show", "abcd").out
    assert "┌────" in orderly("roll", "--dice", "big", "--seed", "2").out


def test_super_big_boggle_is_rolled_and_scored_by_its_own_points(orderly):
    """Words of four letters or more; from nine letters on two points a letter."""
    rolled = rows_of(orderly("roll", "--dice", "super", "--seed", "3", "-n", "3", "--format", "csv"))
    boards = [row["board"] for row in rolled]
    assert [board.count("/") for board in boards] == [5] * 3
    assert any("[" in board or "." in board for board in boards)
    points = "0,1,2,3,5,11," + ",".join(str(2 * n) for n in range(9, 30))
    assert rows_of(orderly("score", "--scores", points, "--format", "csv", stdin="\n".join(boards))) == rolled


def test_a_worksheet_holds_the_boards_and_then_all_their_words(orderly, tmp_path):
    pdf = pytest.importorskip("pypdf", reason="needs the extra: pip install 'orderly-boggle[report]'")
    rolled = ("roll", "--dice", "big", "-n", 7, "--seed", 3, "--min-words", 60)
    answer = orderly(*rolled, "--out", tmp_path / "sheet.pdf")
    assert answer.code == 0, answer.err
    pages = [page.extract_text().split() for page in pdf.PdfReader(tmp_path / "sheet.pdf").pages]
    boards = [item["board"] for item in json.loads(orderly(*rolled, "--format", "json").out)]
    assert len(set(boards)) == 7
    names = [[word for page in pages for word in page].count(f"{number}:") for number in range(1, 8)]
    assert names == [2] * 7, "each board once to play and once with its words"
    answers = [word for page in pages[2:] for word in page]
    for board in boards:
        record = json.loads(orderly("show", board, "-d", "5x5", "--min-letters", 4, "--format", "json").out)
        assert record["n_words"] >= 60
        assert {item["word"] for item in record["words"]} <= set(answers[answers.index(f"{board},") :])
    assert all("seed" in page for page in pages), "how to roll them again"
