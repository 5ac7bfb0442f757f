"""``orderly play``: a fresh board in a terminal, and as a page."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from tests.conftest import COMMAND

SEED = ("--seed", 5)


def test_words_are_found_and_the_answers_come_at_the_end(orderly):
    typed = "FELINE\nfeline\nzzz\n\nnever read\n"
    answer = orderly("play", *SEED, "--goal", 2, stdin=typed)
    assert answer.code == 0, answer.err
    before, end, after = answer.out.partition("the goal of 2 is not reached")
    assert end
    assert "Find 2 words in 3 min 00 s" in before
    assert "feline: 3 points; 1 word\nfeline: found before\nzzz: not a word" in before
    assert re.search(r"\n1 of [0-9]+ words, 3 points; $", before)
    assert "fooled" not in before
    assert "never read" not in answer.out
    ((known, others),) = re.findall(r"know: (.*)Missed: (.*)", after, re.S)
    assert "fooled" in known
    assert "feline" not in after
    assert "ionone" in others


def test_hints_lead_to_the_words_tile_by_tile(orderly):
    """Each is true: the word that it is about is on the board, begins so and there, and is found in
    the end.
    """
    (board,) = orderly.json("roll", *SEED)
    told = orderly.json("show", board["board"])
    paths = {item["word"]: item["path"] for item in told["words"]}
    answer = orderly("play", *SEED, "--goal", 0, stdin="?\n?\n?\n?\nfeline\n?\n")
    hints = re.findall(
        r"^hint: 3 letters, beginning with (\w+) in row (\d), column (\d)$",
        answer.out,
        re.MULTILINE,
    )
    begins = [begin for begin, _, _ in hints]
    word = begins[2]
    assert begins == [word[:1], word[:2], word, word, word]
    assert {(int(row) - 1, int(column) - 1) for _, row, column in hints} == {
        divmod(paths[word][0], 4)[::-1]
    }
    assert f" {word}" in answer.out.partition("know: ")[2].partition("Missed")[0].replace("\n", " ")
    some = "\n".join([*paths, "?"])
    assert "hint: every word is found" in orderly("play", *SEED, "--goal", 0, stdin=some).out


@pytest.mark.parametrize(
    ("dice", "rules", "refusals"),
    [
        ("big", (), {3: "too short: words of 4 letters or more count"}),
        ("super", (), {3: "too short: words of 4 letters or more count"}),
        ("new", ("--min-letters", 5), {4: "too short: words of 5 letters or more count"}),
        ("new", ("--scores", "1,0,2"), {4: "on this board, but worth no points"}),
        ("classic", ("--letter-values", "q=10"), {3: "on this board, but worth no points"}),
    ],
)
def test_no_word_that_is_there_is_called_none(orderly, dice, rules, refusals):
    """Neither one that is too short for points nor one that has none for another reason."""
    rolled = ("--dice", dice, "--seed", 5)
    (board,) = orderly.json("roll", *rolled)
    there = {
        item["word"] for item in orderly.json("show", board["board"], "--scores", "words")["words"]
    }
    typed = "\n".join((*sorted(there), "ox", "zzzzzz"))
    told = orderly("play", *rolled, *rules, "--goal", 0, stdin=f"{typed}\n").out
    answers = dict(re.findall(r"^(\w+): (.*)$", told, re.MULTILINE))
    good = re.compile(r"\d+ points?; |too short: words of|on this board, but worth no points$")
    assert all(good.match(answers[word]) for word in there)
    for size, refusal in refusals.items():
        refused = [word for word in there if len(word) == size]
        assert {answers[word] for word in refused} == {refusal}
    assert answers["zzzzzz"] == "not a word of scowl70 on this board"
    assert answers["ox"].startswith("too short")


def test_a_word_typed_with_its_accents_is_that_of_a_list_without(orderly, tmp_path):
    listed = tmp_path / "list.txt"
    dice = tmp_path / "dice.toml"
    listed.write_text("este\nsete\ntees\n")
    dice.write_text('title = "x"\ndims = "2x2"\ndice = "e e s t"\n')
    rules = ("--dice", dice, "-w", listed, "--seed", 1, "--goal", 0)
    told = orderly("play", *rules, stdin="ésté\nEste\nzèle\n").out
    assert "este: 1 point; 1 word" in told
    assert "este: found before" in told
    assert "zèle: not a word of list on this board" in told
    shown = orderly("show", "es/te", "-w", listed, "--word", "Été", "--out", tmp_path / "a.svg")
    assert "not a word of list on this board" in shown.err
    shown = orderly("show", "es/te", "-w", listed, "--word", "ésté", "--out", tmp_path / "a.svg")
    assert shown.code == 0, shown.err


def test_time_is_up_while_nobody_types():
    command = [*COMMAND, "play", "--minutes", "0.01"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as game:
        assert game.stdout is not None
        assert "Time is up." in game.stdout.read()
        assert game.wait() == 0


def test_a_page_to_play_on_holds_the_rules_and_its_board_has_the_words(orderly, tmp_path):
    page = tmp_path / "game.html"
    answer = orderly("play", *SEED, "--goal", 40, "--minutes", 0, "--min-letters", 4, "--out", page)
    assert answer.code == 0, answer.err
    html = page.read_text()
    assert "<h1>Find " in html
    (text,) = re.findall(r'id="data">(.*?)</script>', html, re.S)
    data = json.loads(text)
    assert data["hidden"]
    assert data["game"] == {"minutes": 0, "least": 4, "goal": 40}
    assert len(data["common"]) >= 40
    assert orderly("play", "--out", "game.pdf").code == 2


def test_a_goal_that_no_board_reaches_is_said(orderly):
    answer = orderly("play", "--goal", 500)
    assert answer.code == 2
    assert "500" in answer.err
