"""The report in a real browser: a click and a tap draw the path of a word; a phone, a dark page and paper."""

from __future__ import annotations

import pytest

pytest.importorskip("altair", reason="the report needs the extra: pip install 'orderly-boggle[report]'")
pytest.importorskip("vl_convert", reason="the report needs the extra: pip install 'orderly-boggle[report]'")
pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'orderly-boggle[test]'")


from tests.results.helpers import all_rows
from tests.results.pages import make_page

WORD = "button[data-path]"
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return make_page(tmp_path_factory.mktemp("report") / "toy", all_rows())


@pytest.fixture
def opened(browser, page):
    """Open the page as a device would: ``opened(**options)``; nothing but the file is asked for, nothing fails."""
    contexts, asked, failed = [], [], []

    def call(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("pageerror", lambda error: failed.append(str(error)))
        tab.goto(page.as_uri())
        return tab

    yield call
    for context in contexts:
        context.close()
    assert asked == [page.as_uri()] * len(contexts)
    assert failed == []


def centres(tab, path):
    """Return where the cells of a path are on the screen."""
    boxes = [tab.locator("svg.board").first.locator("rect").nth(cell).bounding_box() for cell in path]
    return [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]


def drawn_points(tab):
    """Return where the corners of the drawn path are on the screen."""
    return tab.locator("g.path polyline").first.evaluate(
        "line => Array.from(line.points, p => { const q = p.matrixTransform(line.getScreenCTM()); return [q.x, q.y]; })"
    )


@pytest.mark.parametrize("device", [{"viewport": {"width": 1200, "height": 900}}, PHONE], ids=["desk", "phone"])
def test_a_word_shows_its_path_on_the_board(opened, device):
    tab = opened(**device)
    assert tab.locator("g.path polyline").count() == 0
    word = tab.locator(WORD).first
    (word.tap if "has_touch" in device else word.click)()
    path = [int(cell) for cell in word.get_attribute("data-path").split(",")]
    assert len(path) == len(word.text_content()) >= 3
    for drawn, centre in zip(drawn_points(tab), centres(tab, path), strict=True):
        assert drawn == pytest.approx(centre, abs=1)
    assert tab.locator("svg.board rect.on").count() == len(set(path))
    assert tab.locator(".spoken").first.text_content().startswith(f"{word.text_content()}: ")
    assert word.get_attribute("aria-pressed") == "true"
    (word.tap if "has_touch" in device else word.click)()
    assert tab.locator("g.path polyline").count() == 0


def test_a_phone_need_not_scroll_sideways(opened):
    tab = opened(**PHONE)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    value = tab.locator(".facts td").nth(2)
    assert value.bounding_box()["width"] > 200, "a long value has the width of the page"


def lightness(colour):
    return sum(int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]) / 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_stand_out_in_light_and_dark(opened, scheme):
    tab = opened(color_scheme=scheme)
    colour = "(e, name) => getComputedStyle(e)[name]"
    paper = lightness(tab.locator("body").evaluate(colour, "backgroundColor"))
    assert (paper < 60) == (scheme == "dark")
    for selector, name in (("body", "color"), ("svg.board text", "fill"), (".words button", "color")):
        ink = lightness(tab.locator(selector).first.evaluate(colour, name))
        assert abs(ink - paper) > 80, selector


def test_on_paper_every_word_is_there_and_the_board_is_not_a_page(opened, tmp_path):
    tab = opened(color_scheme="dark")
    assert tab.locator("details:not([open])").count() > 0
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    assert tab.locator("details:not([open])").count() == 0
    assert not tab.locator(".screen").first.is_visible()
    assert lightness(tab.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")) == 255
    assert tab.locator("svg.board").first.bounding_box()["width"] < 300
    tab.pdf(path=tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def test_a_screenshot_has_something_on_it(opened, tmp_path):
    picture = tmp_path / "page.png"
    opened(**PHONE).screenshot(path=picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000
