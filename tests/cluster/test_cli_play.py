"""``orderly play``: a fresh board in a terminal, and as a page."""

from __future__ import annotations

import json
import re
import subprocess

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
    assert "fooled" not in before
    assert "never read" not in answer.out
    ((known, others),) = re.findall(r"know: (.*)Missed: (.*)", after, re.S)
    assert "fooled" in known
    assert "feline" not in after
    assert "ionone" in others


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
