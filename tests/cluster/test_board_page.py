"""The page of one board, a file without server or network: looked at by axe, played on with mouse,
finger and keyboard.

The clock is simulated; a board of each kind that ``show`` takes is played to its end.
"""

from __future__ import annotations

import re
import shutil
from itertools import product

import pytest

from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.word_import import readings
from orderly_boggle.boardclass.wordlist import sources
from orderly_boggle.cluster.answers.status import proven_place
from orderly_boggle.results import top
from orderly_boggle.results.proof import packaged
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.files import PUBLISHED
from tests.bench.packaged import write
from tests.browsing import (
    DESK,
    PHONE,
    TABLET,
    contains_text,
    expect,
    has_text,
    keeps_nobody_out,
    middle,
)
from tests.conftest import ROOT
from tests.samples import daily

PLAY = ROOT / "cluster/web/static/play.js"
MAX_BYTES = 300_000
BOARD = "berlatdes"


@pytest.fixture
def opened(tabs, orderly, tmp_path):
    """Write the page of a board and open it as a device would: nothing else is asked for, and
    nothing fails.
    """
    file = tmp_path / "board.html"

    def call(board, *options, **device):
        answer = orderly("show", board, *options, "--out", file)
        assert answer.code == 0, answer.err
        assert file.stat().st_size < MAX_BYTES
        tab = tabs.new(**device)
        tab.clock.install()
        tab.goto(file.as_uri())
        return tab

    yield call
    assert set(tabs.asked) == {file.as_uri()}


def centre(tab, cell):
    return middle(tab.locator(f"#game-tiles .tile[data-cell='{cell}']").bounding_box())


def drag(tab, path):
    """Draw a path with the mouse, or with a finger where the device has none."""
    spots = [centre(tab, cell) for cell in path]
    if tab.evaluate("matchMedia('(pointer: fine)').matches"):
        tab.mouse.move(*spots[0])
        tab.mouse.down()
        for spot in spots[1:]:
            tab.mouse.move(*spot, steps=3)
        tab.mouse.up()
        return
    finger = tab.context.new_cdp_session(tab)
    for kind, spot in [
        ("touchStart", spots[0]),
        *(("touchMove", spot) for spot in spots[1:]),
        ("touchEnd", None),
    ]:
        points = [{"x": spot[0], "y": spot[1]}] if spot else []
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


VIEWS = [*product((DESK, TABLET, PHONE), ("light", "dark"), ((), ("--words", "hidden")))]


@pytest.mark.parametrize(("device", "scheme", "words"), daily([VIEWS[0], VIEWS[-1]], VIEWS))
def test_it_keeps_nobody_out_before_in_and_after_the_game(opened, device, scheme, words):
    tab = opened(BOARD, *words, color_scheme=scheme, **device)
    for step in ("#start", "#stop", None):
        keeps_nobody_out(tab, device)
        if step:
            tab.click(step)


@pytest.mark.parametrize("device", [DESK, PHONE], ids=["mouse", "finger"])
def test_a_game_is_played_to_its_end(opened, orderly, device):
    told = orderly.json("show", BOARD)
    path_of = {word["word"]: word["path"] for word in told["words"]}
    tab = opened(BOARD, **device)
    has_text(tab, "h1", "430 points in 210 words")
    has_text(tab, ".place", told["place"])
    assert tab.locator("#game-words button").count() == 210
    tab.click("#start")
    assert tab.locator("#game-words button").count() == 0
    drag(tab, path_of["treadles"])
    has_text(tab, "#game-spoken", "treadles: 11 points")
    drag(tab, path_of["treadles"])
    has_text(tab, "#game-spoken", "treadles: found before")
    for word, heard in (
        ("  TEAR ", "tear: 1 point"),
        ("zzz", "zzz: not a word of scowl70 on this board"),
        ("", "zzz: not"),
    ):
        tab.fill("#typed", word)
        tab.press("#typed", "Enter")
        contains_text(tab, "#game-spoken", heard)
    # one tile after the other, the last one again
    for cell in (*path_of["dales"], path_of["dales"][-1]):
        (tab.touchscreen.tap if device is PHONE else tab.mouse.click)(*centre(tab, cell))
    has_text(tab, "#game-spoken", "dales: 2 points")
    tab.clock.run_for(119_000)
    has_text(tab, "#warned", "60 seconds left")
    assert tab.is_visible("#entry")
    tab.clock.run_for(62_000)
    has_text(tab, "#clock", "0:00")
    has_text(tab, "#game-spoken", "Time is up. You found 3 words of 210: 14 of 430 points.")
    assert tab.is_hidden("#entry")
    assert tab.locator("#game-words h3.title").all_text_contents() == [
        "Found: 3 words, 14 points",
        "Missed, and most people know: 139 words, 280 points",
        "Missed, seldom seen: 68 words, 136 points",
    ]
    drag(tab, path_of["tear"])
    has_text(tab, "#tally", "14 points, 3 words")
    tab.get_by_role("button", name="alerted", exact=True).click()
    assert tab.locator("#game-tiles .on").count() == len("alerted")
    tab.get_by_role("button", name="Play again").click()
    has_text(tab, "#tally", "0 points, 0 words")


def test_a_word_that_is_still_being_drawn_or_typed_when_the_time_is_up_does_not_count(
    opened, orderly
):
    path_of = {word["word"]: word["path"] for word in orderly.json("show", BOARD)["words"]}
    tab = opened(BOARD, **DESK)
    tab.click("#start")
    first, *others = [centre(tab, cell) for cell in path_of["tear"]]
    tab.mouse.move(*first)
    tab.mouse.down()
    for spot in others:
        tab.mouse.move(*spot, steps=3)
    tab.clock.run_for(181_000)
    contains_text(tab, "#game-spoken", "Time is up. You found 0 words of 210")
    tab.mouse.up()
    has_text(tab, "#tally", "0 points, 0 words")
    assert tab.locator("#game-words button").count() == 210
    tab.click("#start")
    tab.fill("#typed", "tea")
    tab.clock.run_for(181_000)
    tab.click("#start")
    assert tab.input_value("#typed") == ""


def test_words_that_are_found_are_shown_whatever_was_filtered_before(opened):
    tab = opened(BOARD, **DESK)
    tab.fill("#game-filter", "dales")
    tab.click("#start")
    tab.fill("#typed", "tear")
    tab.press("#typed", "Enter")
    assert tab.get_by_role("button", name="tear", exact=True).is_visible()


@pytest.mark.parametrize("device", [DESK, PHONE], ids=["mouse", "finger"])
def test_hints_lead_to_a_word_tile_by_tile(opened, orderly, device):
    words = {word["word"]: word for word in orderly.json("show", BOARD)["words"]}
    tab = opened(BOARD, **device)
    assert not tab.locator("#hint").is_visible()
    tab.click("#start")
    said = []
    for _ in range(4):
        tab.click("#hint")
        said.append(tab.locator("#game-spoken").inner_text())
    word = said[2].rpartition(" ")[2]
    assert words[word]["letters"] == 3
    begins = [word[:1], word[:2], word, word]
    assert said == [f"Hint: 3 letters, beginning with {begin}" for begin in begins]
    assert tab.locator("#game-trace").inner_html() != ""
    drag(tab, words[word]["path"])
    contains_text(tab, "#game-spoken", f"{word}: 1 point")
    tab.click("#hint")
    assert tab.locator("#game-spoken").inner_text() != said[3]
    tab.click("#stop")
    contains_text(tab, "#game-spoken", "5 hints.")
    assert not tab.locator("#hint").is_visible()


def test_words_come_after_the_game_and_the_keyboard_is_enough(opened):
    tab = opened(BOARD, "--words", "hidden", **DESK)
    has_text(tab, "h1", "Find 430 points in 210 words")
    assert tab.locator("#game-words button").count() == 0
    assert "treadles" not in tab.inner_text("body")
    tab.keyboard.press("Enter")
    tab.keyboard.type("treadles\n")
    has_text(tab, "#game-spoken", "treadles: 11 points")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    tab.clock.run_for(181_000)
    assert tab.locator("#game-words button").count() == 210
    assert tab.evaluate("document.activeElement.id") == "start"


def test_a_game_has_the_time_the_length_and_the_goal_that_one_likes(opened):
    tab = opened(BOARD, "--words", "hidden", **DESK)
    tab.select_option("#minutes", "no limit")
    tab.fill("#least", "5")
    tab.fill("#goal", "2")
    tab.press("#goal", "Tab")
    contains_text(tab, "#tally", "find 2 words")
    tab.click("#start")
    assert tab.is_hidden("#game-rules")
    tab.clock.run_for(1_000_000)
    has_text(tab, "#clock", "16:40")
    for word, heard in (
        ("tear", "too short: words of 5"),
        ("dales", "2 points"),
        ("stable", "3 points"),
    ):
        tab.fill("#typed", word)
        tab.press("#typed", "Enter")
        contains_text(tab, "#game-spoken", heard)
    has_text(tab, "#tally", "5 points, 2 of 2 words")
    tab.click("#stop")
    contains_text(tab, "#game-spoken", "The goal is reached.")
    assert tab.get_by_role("button", name="tear", exact=True).count() == 0


# rows, options, words of the list, a path that is dragged, what is heard
KINDS = [
    ("b.e/eef", (), "bee beef fee", (0, 1, 3, 5), "beef: 1 point"),
    ("Th e r/i n g/s a l", (), "the thin", (0, 1, 4), "thin: 1 point"),
    ("q u/i t", (), "quit", (0, 1, 3), "quit: 1 point"),
    ("c[a/e]t/xxx", (), "cat cet", (0, 2, 4), "cat: 1 point"),
    ("c*t/xxx", (), "cat cot cute", (0, 2, 4), "cat: 1 point"),
    ("[un-]do/xxx", (), "undo", (0, 2, 4), "undo: 1 point"),
    ("[q]at/xxx", ("--plain-q",), "qat cat", (0, 2, 4), "qat: 1 point"),
    (
        "cat/xxx",
        ("--letter-values", "scrabble", "--bonus", "1.1=tw"),
        "cat",
        (0, 2, 4),
        "cat: 15 points",
    ),
]


def test_every_kind_of_board_is_played(opened, tmp_path):
    listed = tmp_path / "words.txt"
    for board, options, words, path, heard in KINDS:
        listed.write_text("\n".join(words.split()))
        tab = opened(board, "-w", listed, *options, **DESK)
        tab.click("#start")
        drag(tab, path)
        has_text(tab, "#game-spoken", heard)
        tab.fill("#typed", heard.partition(":")[0])
        tab.keyboard.press("Enter")
        contains_text(tab, "#game-spoken", "found before")


def test_letter_values_and_bonus_cells_are_marked_and_told(opened):
    tab = opened(BOARD, "--letter-values", "scrabble", "--bonus", "1.1=tw,2.2=dl", **PHONE)
    expect(tab.locator("#game-tiles")).to_have_attribute(
        "aria-label",
        "Board. Row 1: B 3 points triple word, L 1 point, D 2 points. Row 2: E 1 point, A 1 point "
        "double letter, E 1 point. Row 3: R 1 point, T 1 point, S 1 point.",
    )
    drawn = "(element, part) => getComputedStyle(element, part).content"
    first = tab.locator("#game-tiles .tile").first
    assert [first.evaluate(drawn, part) for part in ("::before", "::after")] == ['"TW"', '"3"']
    has_text(
        tab,
        "#game-marks",
        "DL: double letter. TW: triple word. The small number is what a letter is worth.",
    )


@pytest.mark.parametrize("device", [DESK, TABLET, PHONE], ids=["desk", "tablet", "phone"])
def test_a_word_that_is_too_short_is_not_called_none(opened, device, tmp_path):
    """Because it is worth nothing, as with the dice of Big Boggle, or because the player chose a
    length.
    """
    tab = opened(BOARD, "--scores", "0,1,2,3,5,11", **device)
    assert tab.input_value("#least") == "4"
    hear = {
        "tea": "tea: too short: words of 4 letters or more count",
        "xyz": "xyz: too short: words of 4 letters or more count",
        "zzzz": "zzzz: not a word of scowl70 on this board",
        "tear": "tear: 1 point",
    }
    tab.click("#start")
    hears(tab, hear)
    tab.click("#stop")
    tab.fill("#least", "6")
    tab.click("#start")
    hears(tab, {"dales": "dales: too short: words of 6 letters or more count"})
    tab.screenshot(path=tmp_path / "short.png")
    tab = opened(BOARD, "--scores", "1,0,2", **device)
    tab.click("#start")
    hears(tab, {"tear": "tear: on this board, but worth no points", "tea": "tea: 1 point"})


def test_a_dragged_word_is_as_long_as_what_its_tiles_may_spell(opened, tmp_path):
    (tmp_path / "words.txt").write_text("thane\nane\n")
    tab = opened("[th/a]ne/xxx", "-w", tmp_path / "words.txt", "--min-letters", 5, **DESK)
    tab.click("#start")
    drag(tab, (0, 2, 4))
    contains_text(tab, "#game-spoken", "too short: words of 5 letters or more count")


def hears(tab, answers):
    """Type words and compare what is said of each."""
    for word, heard in answers.items():
        tab.fill("#typed", word)
        tab.press("#typed", "Enter")
        has_text(tab, "#game-spoken", heard)


def test_a_path_goes_where_the_tiles_let_it(opened, tmp_path):
    """Never over a hole, to a tile that is far or was used, or to the beginning of a word in its
    middle.
    """
    (tmp_path / "words.txt").write_text("undo\nabba\n")
    tab = opened("a.d/b[un-]o/xxx", "-w", tmp_path / "words.txt", **DESK)
    tab.click("#start")
    paths = {(0, 3, 1): "ab", (6, 7, 4): "do", (0, 1, 0): "a", (0, 8): "a", (4, 6, 7): "undo"}
    for path, spelled in paths.items():
        tab.mouse.move(*centre(tab, path[0]))
        tab.mouse.down()
        for cell in path[1:]:
            tab.mouse.move(*centre(tab, cell))
        assert tab.input_value("#typed") == spelled
        tab.mouse.up()


def test_letters_beyond_a_to_z_are_played(opened, tmp_path, monkeypatch, orderly):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "es.txt").write_text("año\ncaña\n")
    imported = orderly("wordlist", "import", tmp_path / "es.txt", "--name", "es", "--letter", "ñ=w")
    assert imported.code == 0, imported.err
    tab = opened("ca/ñx", "-w", "es", **DESK)
    tab.click("#start")
    tab.fill("#typed", "AN\u0303O")
    tab.keyboard.press("Enter")
    contains_text(tab, "#game-spoken", "año: not a word of es on this board")


def test_a_word_typed_with_its_accents_is_that_of_a_list_without(
    opened, tmp_path, monkeypatch, orderly
):
    """The letters that are no a-z with a mark are those of the importer."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "es.txt").write_text("añada\nest\nmas\n")
    assert orderly("wordlist", "import", tmp_path / "es.txt", "--name", "es", "--letter", "ñ=w")
    tab = opened("ada/ñas/est", "-w", "es", "--scores", "1,0,2", **DESK)
    tab.click("#start")
    hears(tab, {"est": "est: 1 point", "ést": "est: found before"})
    hears(tab, {"AÑÁDA": "añada: 2 points", "anáda": "anáda: not a word of es on this board"})
    (tmp_path / "de.txt").write_text("kaese\nstrasse\nbaren\n")
    tab = opened("kae/ses/trs/as.", "-w", tmp_path / "de.txt", "--scores", "1,1,0,4,5", **DESK)
    tab.click("#start")
    hears(tab, {"Käse": "käse: on this board, but worth no points", "straße": "strasse: 5 points"})
    ours = re.search(r"const LATIN = \{(.*?)\};", PLAY.read_text("utf-8"), re.DOTALL)
    assert ours is not None
    pairs = re.findall(r'(\S+): "(\w*)"', ours[1])
    folded = {letter.strip('"'): readings(letter.strip('"'))[-1] for letter, _ in pairs}
    assert folded == {letter.strip('"'): text for letter, text in pairs}
    assert len(pairs) == 13


def test_the_place_of_a_board_is_what_is_proven_and_nothing_else():
    standard = parse_scores("standard").points
    scowl = sources()["scowl70"].sha256
    best = "Proven. With scowl70 none of the other 5,429,503,678,975 3x3 boards beats it."
    least = "Proven. With scowl70 at least "
    by = " score more. The best score is 430, that of berlatdes."
    first, second, *_ = listed = top(PUBLISHED / "3x3-scowl70", 1000)
    assert first.score > second.score
    for board, score, told in (
        (BOARD, 430, best),
        ("sedtalreb", 430, best),  # turned
        (
            second.board,
            second.score,
            "Proven. Number 2 of all 3x3 boards with scowl70, up to symmetry. The best score",
        ),
        (
            BOARD,
            399,
            f"{least}{sum(item.n_images for item in listed)} of all 5,429,503,678,976 "
            f"3x3 boards{by}",
        ),
        (BOARD, 431, ""),  # not in the list: there is something wrong
    ):
        place = proven_place(board, "3x3", score, scowl, standard)
        assert place.startswith(told)
        assert bool(place) == bool(told)
    for question in (
        ("4x4", scowl, standard),
        ("3x3", "0" * 64, standard),
        ("3x3", scowl, (0, 0, 0, 1)),
    ):
        dims, *rest = question
        assert proven_place(BOARD, dims, 430, *rest) == ""


def test_no_place_is_told_of_an_unproven_list_of_boards(tmp_path, monkeypatch):
    run = shutil.copytree(PUBLISHED / "3x3-scowl70", tmp_path / "3x3-scowl70")
    (run / files.CLAIM).unlink()
    monkeypatch.setattr(packaged, "PUBLISHED", tmp_path)
    write()
    asked = sources()["scowl70"].sha256, parse_scores("standard").points
    assert proven_place(BOARD, "3x3", 430, *asked) == ""
