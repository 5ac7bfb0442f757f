"""``report`` from the command line."""

from __future__ import annotations

import webbrowser

import pytest

from tests.conftest import ROOT

pytest.importorskip("altair", reason="the report needs the extra: pip install 'orderly-boggle[report]'")

PUBLISHED = ROOT / "results" / "published" / "3x3-scowl70"


def test_report_of_a_real_run(orderly, tmp_path, monkeypatch):
    run = tmp_path / "run"
    assert orderly("run", "2x2", "--cutoff", "13", "--workers", "0", "--out", run).code == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    answer = orderly("report", run, "-n", "1")
    assert answer.code == 0, answer.err
    html = (tmp_path / "elsewhere" / "run.html").read_text()
    assert "Proven." in html
    assert html.count('<article class="card') == 1
    assert orderly("report", run, "--out", tmp_path / "page.html").code == 0
    assert (tmp_path / "page.html").stat().st_size > 10_000
    for options in (["--out", tmp_path], ["--wordlist", "nosuch"]):
        answer = orderly("report", run, *options)
        assert (answer.code, answer.out) == (2, "")
    assert orderly("report", "nosuch").code == 2
    assert orderly("status", run).code == 0


def test_the_page_is_handed_to_the_browser_of_this_machine(orderly, tmp_path, monkeypatch):
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    monkeypatch.setattr(webbrowser, "_tryorder", None)  # it looks for browsers once
    monkeypatch.chdir(tmp_path)
    answer = orderly("report", PUBLISHED, "-n", "0", "--open")
    assert (answer.code, answer.out.rpartition(", ")[2].strip()) == (0, "handed to a browser")
    assert (tmp_path / "opened").read_text().strip() == (tmp_path / "3x3-scowl70.html").as_uri()


def test_without_a_browser_nothing_is_said_that_did_not_happen(orderly, tmp_path, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    answer = orderly("report", PUBLISHED, "-n", "0", "--open", "--out", tmp_path / "page.html")
    assert (answer.code, answer.out.rpartition(", ")[2].strip()) == (0, "no browser was found to open it")
    assert (tmp_path / "page.html").exists()
