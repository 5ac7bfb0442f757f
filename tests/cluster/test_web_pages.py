"""The pages of ``orderly serve`` in a real browser: typed in, clicked, looked at by axe; a run ends
while watched.
"""

from __future__ import annotations

import itertools
import re
import shutil
import signal
import subprocess
import time

import pytest

pytest.importorskip("uvicorn", reason="needs the extra: pip install 'orderly-boggle[serve]'")

from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.results.storage import files
from orderly_boggle.search.scoring.scorer import Scorer
from tests.browsing import (
    DESK,
    DEVICES,
    POINTS,
    contains_text,
    expect,
    has_text,
    keeps_nobody_out,
    middle,
)
from tests.cluster.web import serving
from tests.conftest import COMMAND, ROOT
from tests.samples import daily

BOARD = "berlatdes"
PAGES = ("/", "RUN", "/records", f"/board?letters={BOARD}", "/class?class=t+ai+e+r&cutoff=4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, proven):
    top = tmp_path_factory.mktemp("pages")
    shutil.copytree(proven, top / "small")
    return top


@pytest.fixture(scope="module")
def scorer():
    return Scorer("3x3", load_wordlist("scowl70").words, parse_scores("standard"))


@pytest.fixture(scope="module")
def server(folder):
    with serving(folder) as client:
        yield client


@pytest.fixture
def opened(tabs, server):
    """Open a page as a device would: ``opened(path, **options)``; nothing foreign is asked for and
    nothing fails.
    """

    def call(path, **options):
        tab = tabs.new(**options)
        page = path.replace("RUN", "/")
        tab.goto(f"{server.root}{page}{'&' if '?' in page else '?'}token={server.token}")
        assert "token" not in tab.url
        if path == "RUN":
            tab.get_by_role("link", name="small").click()
        return tab

    yield call
    assert all(address.startswith(server.root) for address in tabs.asked)


def settle(tab, path):
    """Wait until a page shows all it has."""
    if path == "RUN":
        contains_text(tab, "#boards-told", "score")
        expect(tab.locator("#map title").first).to_have_text(re.compile("^Class .*: done, "))
    elif path.startswith("/board"):
        expect(tab.locator("#near")).to_be_visible()
    elif path.startswith("/class"):
        expect(tab.locator("svg.tree").first).to_be_visible()
    else:
        expect(tab.locator(".pill.proven").first).to_be_visible()


VIEWS = [*itertools.product(PAGES, ("light", "dark"), DEVICES)]


@pytest.mark.parametrize(("path", "scheme", "device"), daily(VIEWS[::7], VIEWS))
def test_pages_keep_nobody_out(opened, path, scheme, device):
    """Axe finds nothing, nothing is cut off or scrolls sideways, and every picture has a name."""
    tab = opened(path, color_scheme=scheme, **DEVICES[device])
    settle(tab, path)
    keeps_nobody_out(tab, DEVICES[device])
    pictures = tab.locator("main svg:not([aria-hidden]), main canvas, main img")
    names = [pictures.nth(i).get_attribute("aria-label") for i in range(pictures.count())]
    assert all(names)
    assert names or path.startswith("/board"), "a board to type in is not a picture"
    assert tab.locator("h1").count() == 1


def test_a_link_to_a_board_names_its_size(opened):
    """Twelve letters of a run of 2x6 would else be shown as another board, of 3x4."""
    tab = opened("RUN")
    settle(tab, "RUN")
    assert "&size=2x2&" in tab.locator("#best a").first.get_attribute("href")
    rows = opened("/records").locator("tbody tr")
    assert rows.count() > 30
    for n in range(0, rows.count(), 10):
        link = rows.nth(n).locator("a").get_attribute("href")
        assert f"&size={rows.nth(n).locator('td').first.text_content()}&" in link


def test_a_board_is_typed_along_its_rows_and_a_word_clicked_is_drawn(opened, scorer):
    """The keyboard alone is enough."""
    tab = opened("/board?size=3x3")
    expect(tab.locator(".tile").first).to_be_focused()
    tab.keyboard.type("bldeaerts")
    found = scorer.words(BOARD)
    has_text(tab, "#score", "430")
    contains_text(tab, "#told", f"{len(found)} words of scowl70")
    assert tab.locator("#words button").count() == len(found)
    assert f"letters={BOARD}" in tab.url
    word = tab.get_by_role("button", name="treadles", exact=True)
    word.click()
    path = next(item.path for item in found if item.word == "treadles")
    assert word.get_attribute("data-path") == ",".join(map(str, path))
    assert word.get_attribute("aria-pressed") == "true"
    assert tab.locator(".tile.on").count() == len(path)
    for drawn, cell in zip(tab.locator("#trace polyline").evaluate(POINTS), path, strict=True):
        assert drawn == pytest.approx(
            middle(tab.locator(f".tile[data-cell='{cell}']").bounding_box()), abs=1.5
        )
    has_text(tab, "#spoken", "treadles: 11 points")
    word.click()
    assert tab.locator("#trace polyline").count() == 0
    tab.get_by_role("button", name="alerted", exact=True).focus()
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("document.activeElement.textContent") == "baldest"
    has_text(tab, "#spoken", "baldest: 5 points")
    tab.locator(".tile").last.focus()
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("Backspace")
    has_text(tab, "#told", "1 more letter")


def test_the_keys_tell_the_score_with_each_letter_and_nothing_before_its_answer_is_there(
    opened, scorer
):
    tab = opened(f"/board?letters={BOARD}")
    settle(tab, "/board")
    tab.click(".tile[data-cell='8']")
    swapped = tab.locator("#near button", has_text="berlasdet")
    expect(swapped).to_contain_text("row 3, column 2, T and row 3, column 3, S swapped")
    expect(tab.locator("#near button", has_text="perlatdes")).to_contain_text(
        "row 1, column 1, B to P"
    )
    key = tab.locator("#keys button[data-letter='p']")
    has_text(key, "small", str(scorer.score("berlatdep")))
    held = []
    tab.route("**/api/board?*", lambda route: held.append(route))
    key.click()
    has_text(tab, "#told", "being scored")
    assert tab.text_content("#score") == "–"
    for name in ("#words", "#facts", "#near"):
        assert tab.locator(name).evaluate("element => element.inert"), name
    held[0].continue_()
    has_text(tab, "#score", str(scorer.score("berlatdep")))
    for name in ("#words", "#facts", "#near"):
        expect(tab.locator(f"{name}:not([inert])")).to_have_count(1)


def paste(tab, text):
    tab.evaluate(
        """text => { const clipboardData = new DataTransfer(); clipboardData.setData("text", text);
        const event = new ClipboardEvent("paste",
            { clipboardData, bubbles: true, cancelable: true });
        document.activeElement.dispatchEvent(event); }""",
        text,
    )


def test_it_opens_on_a_roll_that_is_typed_over_rolled_again_and_climbed_from(opened):
    tab = opened("/board", expected_faults=True)
    has_text(tab, "#score", re.compile(r"\d"))
    assert [tab.input_value(name) for name in ("#size", "#dice")] == ["4x4", "new"]
    expect(tab.locator(".tile").first).to_be_focused()
    tab.keyboard.type("quite")
    assert [tile.input_value() for tile in tab.locator(".tile").all()[:4]] == ["Qu", "I", "T", "E"]
    held = []
    tab.route(re.compile(r"api/board\?"), lambda route: held.append(route), times=1)
    tab.keyboard.type("s")
    with tab.expect_response(re.compile("letters=cat")):
        paste(tab, "cat/dogs")
    with tab.expect_response("**/api/around?*"):
        held[0].continue_()
    contains_text(tab, "#told", "has 2 rows of 3 and 4 letters")
    tab.select_option("#dice", "big")
    tab.click("#roll")
    expect(tab.locator(".tile")).to_have_count(25)
    contains_text(tab, "#told", "words of")
    best = "ligdrmanesietildsracsepes"
    climbed = {"pool": 128, "complete": True, "found": [(best, 10_000)]}
    tab.route("**/api/climb?*", lambda route: route.fulfill(json=climbed))
    tab.click("#climb")
    contains_text(tab, "#done", "No proof")
    tab.locator("#climbed-list button").first.click()
    expect(tab).to_have_url(re.compile(f"letters={best}"))
    tab.select_option("#size", "2x2")
    expect(tab.locator(".tile")).to_have_count(4)


def test_letters_that_are_typed_while_another_board_is_read_stay(opened):
    tab = opened("/board?size=3x3")
    held = []
    tab.route(re.compile(r"api/board\?"), lambda route: held.append(route), times=1)
    tab.locator(".tile").first.click()
    paste(tab, BOARD)
    tab.keyboard.type("ab")
    with tab.expect_response(re.compile(f"letters={BOARD}")):
        held[0].continue_()
    tab.keyboard.type("c")
    expect(tab).to_have_url(re.compile("size=3x3"))
    assert [tile.input_value() for tile in tab.locator(".tile").all()[:4]] == ["A", "B", "C", ""]
    contains_text(tab, "#told", "6 more letters")


def test_other_tiles_and_rules(opened):
    """Typed into cells, pasted, and in an address; what needs the usual board waits."""
    tab = opened("/board?size=3x3")
    tab.locator(".tile").first.click()
    tab.keyboard.type("[th]er.[a/e]*[-ing]ks")
    contains_text(tab, "#told", "words of scowl70")
    faces = ["Th", "E", "R", ".", "A/E", "*", "-Ing", "K", "S"]
    assert [tile.input_value() for tile in tab.locator(".tile").all()] == faces
    assert tab.is_disabled("#climb")
    assert tab.is_hidden("#near")
    tab.get_by_role("button", name="seeing", exact=True).click()
    assert tab.locator("#trace polyline").count() == 1
    address = tab.url
    tab.goto(address)
    contains_text(tab, "#told", "words of scowl70")
    assert tab.url == address
    assert [tile.input_value() for tile in tab.locator(".tile").all()] == faces
    tab.locator(".tile").first.click()
    paste(tab, "stare/linos/gedra")
    has_text(tab, "#score", "395")
    assert tab.locator(".tile").count() == 15
    tab.goto(
        tab.url.split("?")[0] + f"?letters={BOARD}&letter_values=scrabble&scores=1,1,2,3,4,5,6"
    )
    has_text(tab, "#score", "2,671")
    tab.fill("#letter_values", "")
    tab.fill("#min_letters", "9")
    tab.press("#min_letters", "Enter")
    has_text(tab, "#score", "0")
    expect(tab.locator("#climb")).to_be_enabled()


def test_a_board_is_copied_pasted_played_and_sent(opened):
    tab = opened("/board?letters=quietzabe", permissions=["clipboard-read", "clipboard-write"])
    settle(tab, "/board")
    for button, said, expected in (
        ("#copy-text", "Text copied.", r"^Qu E  A\nU  T  B\nI  Z  E\n\nquietzabe: \d+ points"),
        ("#copy-svg", "SVG copied.", r"^<svg [^>]*aria-label=\"Board Qu E A / U T B / I Z E\""),
    ):
        tab.click(button)
        has_text(tab, "#done", said)
        assert re.search(expected, tab.evaluate("navigator.clipboard.readText()"))
    copied = "B  L  D\nE  A  E\nR  T  S\n\nberlatdes: 430 points, 210 words of x"
    for text in ("bld/eae/rts", "b l d\ne a e\nr t s", copied):
        tab.locator(".tile").first.click()
        paste(tab, text)
        expect(tab).to_have_url(re.compile("letters=berlatdes"))
        tab.locator(".tile").first.press("Delete")
    paste(tab, BOARD)
    contains_text(tab, "#place", "none of the other 5,429,503,678,975 3x3 boards")
    assert "127.0.0.1" not in tab.inner_text("[aria-label=Share]")
    tab.get_by_text("Save as page").click()
    with tab.expect_download() as to_play:
        tab.get_by_role("link", name="To play").click()
    assert "<h1>Find 430 points in 210 words</h1>" in to_play.value.path().read_text()
    with tab.expect_download() as saved:
        tab.get_by_role("link", name="With answers").click()
    page = saved.value.path().read_text()
    assert saved.value.suggested_filename == "board.html"
    assert "127.0.0.1" not in page
    assert 'href="/' not in page
    assert "treadles" in page
    tab.click("#play-it")
    tab.keyboard.press("Enter")
    tab.keyboard.type("treadles\n")
    has_text(tab, "#game-spoken", "treadles: 11 points")
    tab.keyboard.press("Escape")
    expect(tab.locator("#entry")).to_be_hidden()
    has_text(tab, "#score", "430")


def test_a_fresh_board_is_rolled_and_its_answers_stay_hidden_until_the_end(opened):
    tab = opened("/board?letters=tear")
    settle(tab, "/board")
    tab.get_by_role("button", name="Roll and play").click()
    expect(tab.locator("#game")).to_be_visible()
    contains_text(tab, "#tally", "find 20 words; most people know")
    (known,) = re.findall(r"know (\d+)", tab.text_content("#tally"))
    assert int(known) >= 20
    assert tab.locator("#game-words button").count() == 0
    first = tab.get_attribute("#game-tiles", "aria-label")
    tab.fill("#goal", "1")
    tab.get_by_role("button", name="Roll again").click()
    expect(tab.locator("#game-tiles")).not_to_have_attribute("aria-label", first)
    tab.click("#start")
    tab.click("#stop")
    contains_text(tab, "#game-spoken", "The goal is not reached.")
    assert tab.locator("#game-words button").count() > 0


def test_a_refusal_goes_when_a_board_is_rolled(opened):
    """It names what the page offers, no option of the command line."""
    tab = opened("/board?letters=tear", expected_faults=True)
    settle(tab, "/board")
    tab.select_option("#dice", "spanish")
    tab.click("#roll")
    contains_text(tab, "#done", "take a Spanish list that has such letters, or other dice")
    assert "--" not in tab.text_content("#done")
    tab.select_option("#dice", "new")
    tab.get_by_role("button", name="Roll and play").click()
    expect(tab.locator("#game")).to_be_visible()
    contains_text(tab, "#done", "Rolled ")


@pytest.mark.parametrize("button", ["Roll", "Roll and play"])
def test_dice_chosen_while_others_roll_stay_chosen(opened, button):
    tab = opened("/board?letters=tear")
    settle(tab, "/board")
    held = []
    tab.route("**/api/game?*", lambda route: held.append(route), times=1)
    with tab.expect_request("**/api/game?*"):
        tab.get_by_role("button", name=button, exact=True).click()
    tab.select_option("#dice", "big")
    held[0].continue_()
    contains_text(tab, "#done", "Rolled ")
    assert [tab.input_value(name) for name in ("#size", "#dice")] == ["4x4", "big"]


def test_a_class_has_bounds_story_and_trees_and_what_is_none_is_refused_in_words(opened):
    tab = opened("/class", expected_faults=True)
    tab.get_by_role("link", name="A small example").click()
    expect(tab.locator("svg.tree")).to_have_count(2)
    tab.get_by_label("Letters of each cell").fill("T ai e r")
    tab.get_by_label("Cutoff").fill("20")
    tab.get_by_role("button", name="Bound it").click()
    contains_text(tab, "#story", "eliminated at once")
    has_text(tab, "#done", "No board of the class scores more than 14.")
    tab.get_by_label("Cutoff").fill("")
    tab.get_by_role("button", name="Bound it").click()
    contains_text(tab, "#story", "With a cutoff")
    assert "--" not in tab.text_content("main"), "options are for the terminal"
    assert "class=T+ai+e+r" in tab.url
    for letters, told in (
        ("+".join(["abcdefghijklmnopqrstuvwxyz"] * 9), "too large to be looked at"),
        ("17", "expected one group of letters"),
        ("<b>", "<b>"),
    ):
        tab.goto(tab.url.split("?")[0] + f"?class={letters}")
        contains_text(tab, "#fault", told)


def test_records_say_what_their_rows_prove_and_warn_of_the_published_table(opened):
    tab = opened("/records")
    cards = tab.locator(".cards li[data-key]")
    expect(tab.locator(".cards .pill.proven")).to_have_count(cards.count())
    assert "4x4-enable2k" in cards.first.text_content(), "the largest comes first"
    card = cards.filter(has_text="3x3-enable2k")
    expect(card).to_contain_text("545 points")
    expect(card).to_contain_text(
        f"With enable2k none of the other {26**9 - 1:,} 3x3 boards beats it."
    )
    expect(card.locator("svg")).to_have_attribute("aria-label", "Board D L P / E A E / S T R")
    for board in ("gesorntreaieslps", "delratpes"):
        assert board in tab.text_content("aside")
    best = tab.locator("tbody tr").filter(has_text="scowl70").filter(has_text="3x3")
    expect(best).to_contain_text("berlatdes")
    expect(best).to_contain_text("3x3-scowl70")
    languages = tab.locator("#runs h2").all_text_contents()
    assert languages[0] == "English"
    assert {"French", "Spanish"} <= set(languages)
    for command in ("import /usr/share/dict/spanish --name debian-spanish --letter ñ=w", "verify "):
        assert command in tab.content()
    assert tab.locator("pre.code:visible").count() == 0, "commands are folded"
    card.get_by_role("link").click()
    has_text(tab, "nav [aria-current]", "Records")


def test_the_largest_proof_leads_and_a_box_says_what_is_being_read(opened):
    tab = opened("/")
    known = {"best": None, "said": "", "line": "", "share": None}
    runs = [
        {"name": name, "key": name, "state": state, "dims": dims, **known}
        for name, state, dims in (
            ("small", "proven", "2x2"),
            ("open", "incomplete", "4x4"),
            ("large", "proven", "3x4"),
            ("new", "reading", None),
        )
    ]
    tab.route("**/api/runs", lambda route: route.fulfill(json=runs))
    tab.reload()
    cards = tab.locator(".cards li:not(#own)")
    expect(cards).to_have_count(4)
    names = tab.locator(".cards .name a").all_text_contents()
    assert names == ["large", "small", "open", "new"]
    expect(cards.last.locator(".drawn")).to_have_text("Reading the rows of new")


@pytest.mark.parametrize("device", DEVICES)
def test_the_steps_and_the_dice_fit(opened, device):
    tab = opened("/board?letters=perslatgsineters", **DEVICES[device])
    settle(tab, "/board")
    for name in ("#near", ".joined"):
        width, inside = tab.locator(name).evaluate("e => [e.clientWidth, e.scrollWidth]")
        assert inside <= width
    tab.locator("#near").scroll_into_view_if_needed()
    tab.locator("#near button").last.click(trial=True, timeout=5000)


def test_the_best_boards_come_first_and_the_readers_own_beside_them(opened):
    tab = opened("/?letters=zzzzzzzzz")
    root = tab.url.split("?")[0]
    cards, own = tab.locator(".cards li"), tab.locator("#own")
    expect(own).to_contain_text("0 points")
    expect(own).to_contain_text("Proven. With scowl70 at least ")
    expect(cards.first).to_contain_text(f"none of the other {26**4 - 1:,} 2x2 boards beats it")
    assert cards.first.locator("progress").is_hidden()
    tab.goto(f"{root}board?letters={BOARD}")
    has_text(tab, "#score", "430")
    tab.goto(f"{root}records")
    expect(own).to_contain_text("430 points")
    expect(own).to_contain_text(f"none of the other {26**9 - 1:,} 3x3 boards beats it")
    drawn = "Your board. Row 1: B, L, D. Row 2: E, A, E. Row 3: R, T, S."
    assert tab.get_attribute("#own .tiles", "aria-label") == drawn
    tab.goto(f"{root}board?letters=tezz&size=2x2")
    has_text(tab, "#score", re.compile(r"\d"))
    tab.locator("nav").get_by_role("link", name="Runs").click()
    tab.get_by_role("link", name="small").click()
    expect(own).to_contain_text("fewer than the best of this run")
    assert tab.is_hidden("#percent"), "a finished run has no bar"
    assert tab.is_hidden("#check"), "digests are folded"
    tab.get_by_text("Check it").click()
    contains_text(tab, "#check", "Digest of the result")
    contains_text(tab, "#check", re.compile(r"\d KiB taken, [\d.]+ [MGT]iB free"))


def test_a_run_that_goes_on_says_how_much_is_searched_and_what_its_workers_do(opened):
    tab = opened("/")
    expect(tab.locator(".pill.proven")).to_have_count(1)

    def unproven(route):
        (run,) = route.fetch().json()
        said = "The best found so far; 1 of 3 classes is done (33.3 %)."
        route.fulfill(json=[run | {"state": "incomplete", "said": said, "share": 1 / 3}])

    busy = [
        ["2", "<b>far</b>", "class 1,234 5=ab and 2 more units", "1 min 01 s", "1.5 GiB"],
        ["7", "near", "class 3", "2 s", ""],
    ]
    now = [["Time left", "about 5 s (4 s to 9 s)"], ["Workers", "<b>2</b>"]]

    def run_on(route):
        answer = route.fetch().json()
        route.fulfill(json=answer | {"state": "running", "busy": busy, "now": now})

    tab.route("**/api/runs", unproven)
    tab.reload()
    expect(tab.locator(".cards li").first).to_contain_text(
        "The best found so far; 1 of 3 classes is done (33.3 %)."
    )
    assert tab.is_visible(".cards progress")
    tab.route(re.compile(r"/api/runs/[0-9a-f]+$"), run_on)
    tab.get_by_role("link", name="small").click()
    has_text(tab, "nav [aria-current]", "Runs")
    expect(tab.locator("#busy tr")).to_have_count(2)
    assert tab.locator("#busy tr").first.locator("td").all_text_contents() == busy[0]
    assert tab.locator("#busy tr").last.locator("td").nth(2).text_content() == "class 3"
    contains_text(tab, "#now", "about 5 s (4 s to 9 s)")
    contains_text(tab, "#now", "<b>2</b>")
    settle(tab, "RUN")
    keeps_nobody_out(tab, DESK)


@pytest.mark.nightly
def test_a_run_is_watched_until_it_ends_without_a_reload(opened, folder):
    """The run is of seconds, and stopped until the page shows it."""
    out, words = folder / "watched", folder / "short.txt"
    lines = (ROOT / "configs/wordlists/scowl70.txt").read_text().splitlines(keepends=True)
    words.write_text("".join(line for line in lines if "s" not in line and len(line) <= 6))
    options = ("--wordlist", str(words), "--cutoff", "170", "--workers", "0", "--out", str(out))
    command = [*COMMAND, "run", "3x3", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not (out / files.RUN).exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        try:
            tab = opened("/")
            tab.get_by_role("link", name="watched").click()
            tab.evaluate("window.never = 'reloaded'")
            has_text(tab, "#state", "running")
        finally:
            process.send_signal(signal.SIGCONT)
        expect(tab.locator("#state")).to_have_text("proven", timeout=240_000)
        assert process.wait(60) == 0
    assert tab.evaluate("window.never") == "reloaded"
    expect(tab.locator("#percent")).to_be_hidden()
    contains_text(tab, "#cost", re.compile("(s|min) of one worker.*, wall time: on a busy"))
    contains_text(tab, "#claim", "Proven. Of all")
    expect(tab.locator("#best li").first).to_contain_text("202 points")
