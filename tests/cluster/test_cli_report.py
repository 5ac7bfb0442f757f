"""``report`` from the command line."""

from __future__ import annotations

import pytest

pytest.importorskip("altair", reason="the report needs the extra: pip install 'orderly-boggle[report]'")


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
