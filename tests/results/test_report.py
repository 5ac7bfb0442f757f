"""The report: what the page holds, with and without bounds, and that it fetches nothing
(test_report_browser.py).
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

pytest.importorskip(
    "jinja2", reason="the report needs the extra: pip install 'orderly-boggle[report]'"
)

from orderly_boggle.boardclass.geometry import cell_name
from orderly_boggle.results.reading.report import histogram
from tests.results.helpers import all_rows, toy_question
from tests.results.pages import make_page


@pytest.mark.parametrize(
    "values", [[5.0], [1, 2, 3], [0.001, 50.0], [3, 3, 3], [10**6, 10**6 + 1], [0, 47]]
)
def test_a_histogram_holds_every_value_once(values):
    rows = histogram(values)
    starts = [float(text.removeprefix("from ").replace(",", "")) for text, _ in rows]
    assert sum(n for _, n in rows) == len(values)
    assert len(rows) <= 26
    assert starts == sorted(starts)
    for k, (start, (_, n)) in enumerate(zip(starts, rows, strict=True)):
        end = starts[k + 1] if k + 1 < len(rows) else math.inf
        assert n == sum(start <= value < end for value in values)


def test_nothing_has_no_histogram():
    assert histogram([]) == []


def test_a_figure_of_one_bar_is_left_out(tmp_path):
    rows = [replace(row, seconds=2.0) for row in all_rows()]
    html = make_page(tmp_path / "run", rows).read_text()
    assert "Where the time goes" in html
    assert "<h3>Cost of a class</h3>" not in html


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return make_page(tmp_path_factory.mktemp("report") / "toy", all_rows())


def test_the_page_fetches_nothing(page):
    html = page.read_text()
    assert re.findall(r"""\b(?:src|srcset|href|action)\s*=\s*["']?(?!["']?#)""", html) == []
    assert re.findall(r"<[a-z][^>]*\son[a-z]+\s*=", html) == [], "no script in an attribute"
    assert not re.search(r"@import|url\((?!#)", html)
    assert "default-src 'none'" in html


def test_the_page_says_what_was_found_and_what_is_open(page):
    html = page.read_text()
    assert "Proven.</strong> Of all 456,976 2x2 boards" in html
    assert "&lt;toy &amp; co&gt;" in html
    assert "<toy & co>" not in html
    for text in (
        "Coverage",
        "The search",
        "Hosts",
        toy_question().words_sha256,
    ):
        assert text in html
    assert "Where the time goes" not in html, "no second was counted"
    assert html.count('<article class="card') == 2
    assert html.count("data-path=") >= 2
    assert re.search(r"\b1 unit[,.]", html)
    assert not re.search(r"\b1 units", html)
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))


def test_the_page_of_an_unfinished_run_says_found_so_far(tmp_path):
    rows = [replace(row, seconds=float(i), max_bound=0) for i, row in enumerate(all_rows())]
    html = " ".join(make_page(tmp_path / "begun", rows[1:]).read_text().split())
    assert "<strong>Not proven yet.</strong> 5 of 6 board classes are settled" in html
    for text in (
        "Boards at or above the cutoff, found",
        "The most expensive classes",
        "subclasses included,",
    ):
        assert f"{text} so far" in html
    for false in ("Proven.", "456,976"):
        assert false not in html


def test_the_page_tells_where_the_time_went(tmp_path):
    rows = [replace(row, seconds=float(i)) for i, row in enumerate(all_rows())]
    html = make_page(tmp_path / "run", rows, events='{"half a li').read_text()
    section = html.partition('<section id="time"')[2].partition("</section>")[0]
    assert "<h3>Cost of a class</h3>" in section
    cells = [rf'<td class="n">{value}</td>' for value in (r"(\d+)", r"([\d.]+)", r"([\d.]+) %")]
    dearest = re.findall(r"\s*".join(cells), section)
    assert dearest[:2] == [
        (str(rows[5].class_id), "5.0", "33.3"),
        (str(rows[4].class_id), "4.0", "26.7"),
    ]


def test_the_boards_one_step_away_are_neighbours_and_in_order(page):
    html = page.read_text()
    table = html.partition("The best boards one step away")[2].partition("</table>")[0]
    rows = re.findall(
        r'<code>([a-z]+)</code></td>\s*<td class="text">([^<]+)</td>\s*<td class="n">(\d+)</td>',
        table,
    )
    (best,) = re.findall(r"The score of <code>([a-z]+)</code>", html)
    shades = re.findall(r'<td style="--shade: ([01]\.\d\d)">\d+</td>', html)
    assert (len(shades), max(shades), min(shades)) == (4 * 26, "1.00", "0.00")
    assert len(rows) == 5
    assert [int(score) for *_, score in rows] == sorted(
        (int(score) for *_, score in rows), reverse=True
    )
    for board, change, _ in rows:
        differing = [
            cell for cell, (old, new) in enumerate(zip(best, board, strict=True)) if old != new
        ]
        assert 1 <= len(differing) <= 2
        assert all(cell_name(cell, 2) in change for cell in differing)
        assert len(differing) == 1 or sorted(board) == sorted(best)
