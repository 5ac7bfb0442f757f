"""The board that a cutoff was climbed to is told as the best known, until the search has one."""

from __future__ import annotations

import io
import json
import re

import pytest

pytest.importorskip("uvicorn", reason="needs the extra: pip install 'orderly-boggle[serve]'")
pytest.importorskip(
    "jinja2", reason="the report needs the extra: pip install 'orderly-boggle[report]'"
)

from rich.console import Console

from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.cluster.watch.screen import draw
from orderly_boggle.cluster.watch.view import Watcher
from orderly_boggle.configs.model import load_config
from orderly_boggle.results.store.run import open_run
from tests.cluster.test_states import looked, written
from tests.cluster.web import serving
from tests.cluster.whole_run import seal_run, store_rows, without_boards

NONE_FOUND = "none found by the search so far"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run that has found nothing yet, and two of which nobody should be told a best board."""
    top = tmp_path_factory.mktemp("best-known")
    config = {"dims": "2x2", "cutoff": "auto", "workers": 0, "out": str(top / "whole")}
    assert run(load_config(None, config)).complete
    whole = open_run(top / "whole")
    rows = [row for row in whole.rows() if not row.candidates]
    for name in ("begun", "boasting"):
        written(top / "runs" / name, whole, rows[:9])
    climbed = whole.made.climbed
    assert climbed is not None
    seal_run(top / "runs" / "boasting", climbed={"board": climbed.board, "score": 9999, "seed": 0})
    store_rows(top / "runs" / "lost", whole, map(without_boards, whole.rows()))
    return top / "runs"


@pytest.fixture(scope="module")
def best(folder):
    climbed = open_run(folder / "begun").made.climbed
    assert climbed is not None
    return climbed.board, climbed.score


def screen(place):
    watcher = Watcher(str(place))
    looked(watcher)
    shown = Console(width=100, height=40, record=True, file=io.StringIO())
    shown.print(draw(watcher.look(), 100, 40))
    return shown.export_text()


def test_every_reader_tells_the_best_known(orderly, folder, best, tmp_path):
    board, score = best
    begun = folder / "begun"
    told = f"{score} points: {board}, from the climb"
    assert f"{told}; {NONE_FOUND}" in re.sub(r"\s+", " ", orderly("status", begun).out)
    record = orderly.json("status", begun)
    assert (record["best_score"], record["n_boards"]) == (None, 0)
    assert (record["climbed_board"], record["climbed_score"]) == best
    assert f"best known: {told}" in orderly("top", begun, "--format", "json").err
    drawn = screen(begun)
    assert f"best known, from the climb; {NONE_FOUND}" in drawn
    assert f"{score}  {board}" in drawn
    page = tmp_path / "page.html"
    assert orderly("report", begun, "--out", page).code == 4
    html = re.sub(r"\s+", " ", page.read_text())
    assert "The search has stored no board that reaches the cutoff so far." in html
    assert f"{score} points, " in html
    assert f"<code>{board}</code></h3> <p>The best known, from the climb; 9 of " in html


def test_the_pages_draw_the_best_known(folder, best):
    said = {}
    with serving(folder) as client:
        while len(said) < 3:
            for pulse in client.ask("/api/runs").json:
                if pulse["version"] and pulse["state"] != "reading":
                    answer = client.ask(f"/api/runs/{pulse['key']}/proven").json
                    if answer["dims"]:
                        said[pulse["name"]] = pulse, answer
    pulse, answer = said["begun"]
    board, score = best
    begin = "The best known, from the climb; the search has found none so far"
    for shown in (pulse["best"], *answer["boards"]):
        assert (shown["board"], shown["score"]) == (board, score)
        assert shown["said"].startswith(begin)
        assert "<svg" in shown["svg"]
    assert answer["boards_told"].startswith(begin)
    for name in ("boasting", "lost"):
        pulse, answer = said[name]
        assert (pulse["best"], answer["boards"]) == (None, [])
        assert "The search has found no board" in answer["boards_told"]


@pytest.mark.parametrize("name", ["boasting", "lost", "../whole"])
def test_it_is_not_told_where_something_speaks_against_it(orderly, folder, best, tmp_path, name):
    """``run.json`` boasts of more than the cutoff; the rows are all there, without the board; the
    run is proven.
    """
    place = folder / name
    status = orderly("status", place)
    assert "from the climb" not in status.out
    assert json.loads(orderly("status", place, "--format", "json").out)["climbed_board"] is None
    assert "from the climb" not in orderly("top", place).err
    orderly("report", place, "--out", tmp_path / "page.html")
    assert "from the climb" not in (tmp_path / "page.html").read_text()
    assert "from the climb" not in screen(place)
