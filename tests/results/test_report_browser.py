"""The report in a real browser: a click and a tap draw the path of a word; a phone, a dark page and
paper.
"""

from __future__ import annotations

from itertools import product

import pytest

pytest.importorskip(
    "jinja2", reason="the report needs the extra: pip install 'orderly-boggle[report]'"
)

from tests.browsing import DESK, PHONE, POINTS, TABLET, keeps_nobody_out, middle
from tests.results.helpers import all_rows
from tests.results.pages import make_page, make_published_page
from tests.samples import daily

WORD = "button[data-path]"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return make_page(tmp_path_factory.mktemp("report") / "toy", all_rows())


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    return make_page(tmp_path_factory.mktemp("report") / "begun", all_rows()[1:])


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return make_published_page(tmp_path_factory.mktemp("report") / "published.html")


@pytest.fixture
def opened(tabs, page):
    """Open a page as a device would: ``opened(**options)``; nothing but the file is asked for,
    nothing fails.
    """
    given = []

    def call(file=page, **options):
        given.append(file.as_uri())
        tab = tabs.new(**options)
        tab.goto(file.as_uri())
        return tab

    yield call
    assert tabs.asked == given


@pytest.mark.parametrize("device", [DESK, PHONE], ids=["desk", "phone"])
def test_a_word_shows_its_path_on_the_board(opened, device):
    tab = opened(**device)
    assert tab.locator("g.path polyline").count() == 0
    word = tab.locator(WORD).first
    (word.tap if "has_touch" in device else word.click)()
    path = [int(cell) for cell in word.get_attribute("data-path").split(",")]
    assert len(path) == len(word.text_content()) >= 3
    cells = tab.locator("svg.board").first.locator("rect")
    for drawn, cell in zip(
        tab.locator("g.path polyline").first.evaluate(POINTS), path, strict=True
    ):
        assert drawn == pytest.approx(middle(cells.nth(cell).bounding_box()), abs=1)
    assert tab.locator("svg.board rect.on").count() == len(set(path))
    assert tab.locator(".spoken").first.text_content().startswith(f"{word.text_content()}: ")
    assert word.get_attribute("aria-pressed") == "true"
    (word.tap if "has_touch" in device else word.click)()
    assert tab.locator("g.path polyline").count() == 0


COVERED = """() => {
  document.querySelectorAll("details").forEach((details) => { details.open = true; });
  scrollTo(0, 0);
  // and the part of the page in which it can be seen: its list is scrolled by itself
  const middle = (target) => {
    const box = target.getBoundingClientRect();
    const frame = (target.closest(".list") || document.documentElement).getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    return { target, x, y, seen: y > frame.top + 1 && y < frame.bottom - 1 };
  };
  const buttons = document.querySelectorAll(".card button, .card summary, .card input");
  const places = [...buttons].map(middle);
  const [covered, met] = [[], new Set()];
  for (let at = 0; at <= document.documentElement.scrollHeight - innerHeight; at += 5) {
    scrollTo(0, at);
    const shown = places.filter(({ y, seen }) => seen && y > at + 1 && y < at + innerHeight - 1);
    for (const { target, x, y } of shown) {
      met.add(target);
      const top = document.elementFromPoint(x, y - at);
      if (!target.contains(top)) covered.push([at, target.textContent]);
    }
  }
  return { covered, met: met.size };
}"""


@pytest.mark.parametrize("device", [DESK, PHONE], ids=["desk", "phone"])
def test_nothing_covers_what_can_be_clicked_wherever_the_page_is_scrolled_to(
    opened, published, device
):
    tab = opened(published, **device)
    found = tab.evaluate(COVERED)
    assert found["covered"] == []
    assert found["met"] > 30
    tab.evaluate("document.querySelector('.card').scrollIntoView()")
    # the words pass, the board stays in sight
    tab.evaluate("document.querySelector('.list').scrollTo(0, 10000)")
    word = tab.locator(WORD).nth(209)
    (word.tap if "has_touch" in device else word.click)()
    board = tab.locator("svg.board").first.bounding_box()
    assert board["y"] >= 0
    assert board["y"] + board["height"] <= device["viewport"]["height"]
    assert tab.locator("g.path polyline").count() == 1


LOOKS = [*product(("light", "dark"), (DESK, TABLET, PHONE))]


@pytest.mark.parametrize(("scheme", "device"), daily([LOOKS[0], LOOKS[-1]], LOOKS))
def test_axe_finds_nothing_that_keeps_people_out(opened, published, begun, scheme, device):
    for file in (published, begun):
        tab = opened(file, color_scheme=scheme, **device)
        tab.evaluate(
            "document.querySelectorAll('details').forEach((item) => { item.open = true; })"
        )
        # all are alike
        tab.evaluate("document.querySelectorAll('.card ~ .card').forEach((card) => card.remove())")
        keeps_nobody_out(tab, device)


def test_words_are_filtered_and_paper_has_them_all(opened, published):
    tab = opened(published)
    card = tab.locator(".card").first
    card.get_by_label("Words with").fill("TREBLE")
    seen = card.locator(f"{WORD}:visible").all_text_contents()
    assert sorted(seen) == ["treble", "trebled", "trebles"]
    assert card.locator("output").text_content() == "3 of 210"
    assert [text[:19] for text in card.locator("h4:visible").all_text_contents()] == [
        "7 letters 2 of 22 w",
        "6 letters 1 of 31 w",
    ]
    card.get_by_label("Words with").fill("<b>")
    assert card.locator("output").text_content() == "0 of 210"
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert card.locator(f"{WORD}:visible").count() == 210
    assert card.locator("output").text_content() == ""


def test_on_paper_every_word_is_there_and_the_board_is_not_a_page(opened, tmp_path):
    tab = opened(color_scheme="dark")
    assert tab.locator("details:not([open])").count() > 0
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    assert tab.locator("details:not([open])").count() == 0
    assert not tab.locator(".screen").first.is_visible()
    assert (
        tab.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    assert tab.locator("svg.board").first.bounding_box()["width"] < 300
    tab.pdf(path=tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
