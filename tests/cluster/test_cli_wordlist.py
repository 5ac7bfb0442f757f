"""``wordlist``: what is listed, counted, fetched and refused; the server is one of ours on the loopback interface."""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import threading
from pathlib import Path

import pytest

from boardclass import wordlist
from boardclass.wordlist import KNOWN_SHA256
from configs.sources import sources


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A user without word lists of his own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("ORDERLY_WORDLISTS", raising=False)
    return tmp_path / "data" / "orderly" / "wordlists"


@pytest.fixture
def served(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_documented_sources_are_the_known_lists():
    assert set(sources()) == set(KNOWN_SHA256)
    for source in sources().values():
        assert source.url.startswith("https://") or source.note


def test_list(orderly, tmp_path, monkeypatch):
    (tmp_path / "mine.txt").write_text("cat\nquit\n")
    (tmp_path / "bad.txt").write_text("CAT\n")
    monkeypatch.setenv("ORDERLY_WORDLISTS", str(tmp_path))
    rows = {row["name"]: row for row in json.loads(orderly("wordlist", "list", "--format", "json").out)}
    assert rows["mine"]["words"] == 2
    assert rows["scowl70"]["known_as"] == "scowl70"
    assert rows["bad"]["file"].startswith("unusable: ")
    beside = Path("../shared/wordlists/yawl.txt")  # looked for there as well, from where the tests are run
    found = rows["yawl"]["file"]
    assert Path(found).samefile(beside) if beside.is_file() else found == "orderly wordlist get yawl"
    assert set(sources()) <= set(rows)


def test_check_counts_by_reason(orderly, tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text(
        "".join(f"{a}{b}{c}x\n" for a in "abcdefghij" for b in "abcdefghij" for c in "abcdefghij") + "ab\nqat\n"
    )
    record = json.loads(orderly("wordlist", "check", file, "--format", "json").out)
    assert (record["n_words"], record["too_short"], record["q_without_u"], record["known_as"]) == (1000, 1, 1, None)
    file.write_text("cat\nCat\n")
    answer = orderly("wordlist", "check", file)
    assert (answer.code, answer.out) == (2, "")
    assert "line 2" in answer.err
    assert json.loads(orderly("wordlist", "check", "scowl70", "--format", "json").out)["known_as"] == "scowl70"
    assert orderly("wordlist", "check", "nosuch").code == 2


def test_get_keeps_what_has_the_right_digest(orderly, served, home, monkeypatch):
    folder, url = served
    (folder / "list").write_bytes(b"CAT\r\nDOG\r\n")
    known = {**KNOWN_SHA256, "enable2k": hashlib.sha256(b"cat\ndog").hexdigest()}
    monkeypatch.setattr(wordlist, "KNOWN_SHA256", known)
    monkeypatch.setattr("cluster.cli.wordlist.KNOWN_SHA256", known)
    answer = orderly("wordlist", "get", "enable2k", "--url", f"{url}/list", "--format", "json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["n_words"] == 2
    assert [path.name for path in home.iterdir()] == ["enable2k.txt"]
    assert json.loads(orderly("show", "catx", "-w", "enable2k", "--format", "json").out)["n_words"] == 1


def test_get_refuses_and_keeps_nothing(orderly, served, home):
    folder, url = served
    (folder / "list").write_bytes(b"cat\ndog\n")
    (folder / "page").write_bytes(b"<html>moved</html>")
    for where in ("list", "page", "nosuch"):
        answer = orderly("wordlist", "get", "yawl", "--url", f"{url}/{where}")
        assert (answer.code, answer.out) == (2, ""), where
    for name, options in {"nosuch": [], "twl06": [], "yawl": ["--url", "file:///etc/passwd"]}.items():
        assert orderly("wordlist", "get", name, *options).code == 2
    assert not home.exists()


def test_get_without_network_says_so(orderly, home):
    answer = orderly("wordlist", "get", "yawl", "--url", "http://127.0.0.1:9/none")
    assert (answer.code, answer.out) == (2, "")
    assert "network" in answer.err
    assert not home.exists()
