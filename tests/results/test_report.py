"""The report: what the page holds, that it fetches nothing, and that a real browser shows the path of a word."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

pytest.importorskip("altair", reason="the report needs the extra: pip install 'orderly[report]'")
pytest.importorskip("vl_convert", reason="the report needs the extra: pip install 'orderly[report]'")

from boardclass.scores import ScoreTable
from results.report import histogram, render
from results.rescore import rescore
from results.run import open_run
from results.store import Store
from search.scorer import Scorer
from tests.results.helpers import ToyScorer, all_rows, fingerprint

# every pair of letters that the boards of the toy run hold; its scores are not these words' points
WORDS = ["xyz", "wxy", "tvz", "wxyz", "tvzy"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report") / "toy"
    info = {"wordlist": {"name": "<toy & co>", "n_words": 3}, "scores": "standard"}
    with Store.open(folder, fingerprint(), info) as store:
        store.append(all_rows())
        store.flush()
        rescore(store, ToyScorer())
    html = render(open_run(folder), Scorer("2x2", WORDS, ScoreTable("toy", (0, 0, 0, 1, 1) + (2,) * 60)), 2)
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    return path


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in {"meta", "link", "br", "img", "hr", "input"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_the_page_is_well_formed_and_fetches_nothing(page):
    html = page.read_text()
    tags = _Tags()
    tags.feed(html)
    assert (tags.open, tags.wrong) == ([], [])
    fetching = [item for item in tags.attributes if item[1] in {"src", "href", "xlink:href", "action", "srcset"}]
    assert all((value or "").startswith("#") for _, _, value in fetching)
    assert "@import" not in html
    assert not re.search(r"url\((?!#)", html)
    assert "default-src 'none'" in html
    assert all(not name.startswith("on") for _, name, _ in tags.attributes)


def test_the_page_says_what_was_found_and_what_is_open(page):
    html = page.read_text()
    assert "Not proven yet." in html
    assert "&lt;toy &amp; co&gt;" in html
    assert "<toy & co>" not in html
    for text in ("Coverage", "Elimination by depth", "Hosts", "Around the best board", fingerprint().wordlist_sha256):
        assert text in html
    assert html.count('<article class="card') == 2
    assert html.count("data-path=") >= 2
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("values", [[5.0], [1, 2, 3], [0.001, 50.0], [3, 3, 3], [10**6, 10**6 + 1], [0, 47]])
def test_a_histogram_holds_every_value_once(values):
    rows = histogram(values)
    assert sum(row["n"] for row in rows) == len(values)
    assert len(rows) <= 50
    assert rows[0]["x"] <= min(values)
    assert max(values) < rows[-1]["x_end"] * (1 + 1e-9)


@pytest.fixture(scope="module")
def browser():
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        pytest.skip(f"needs a browser: one of {', '.join(BROWSERS)} (on Debian: apt-get install chromium)")
    return found


def shown(browser, page, tmp_path, *options):
    """Return what a headless browser prints for a page."""
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [*command, "--window-size=500,900", *options, f"file://{page}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"the browser does not run here: {done.stderr.strip()[-200:]}")
    return done.stdout


def test_a_click_on_a_word_draws_its_path(browser, page, tmp_path):
    click = "document.querySelector('button[data-path]').click();"
    wide = "document.body.dataset.wide = document.documentElement.scrollWidth > innerWidth;"
    clicked = tmp_path / "clicked.html"
    clicked.write_text(page.read_text().replace("</script>", f"{click}{wide}</script>"))
    dom = shown(browser, clicked, tmp_path, "--dump-dom")
    assert re.search(r'<polyline points="[0-9., ]+"', dom)
    assert dom.count('class="on"') >= 3
    assert 'aria-pressed="true"' in dom
    assert re.search(r'class="spoken" aria-live="polite">[a-z]+: \d+ points?<', dom)
    assert 'data-wide="false"' in dom, "a phone must not have to scroll sideways"
    untouched = shown(browser, page, tmp_path, "--dump-dom")
    assert "<polyline" not in untouched.partition("How the search went")[0]


def test_a_screenshot_has_something_on_it(browser, page, tmp_path):
    picture = tmp_path / "page.png"
    shown(browser, page, tmp_path, f"--screenshot={picture}")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000
