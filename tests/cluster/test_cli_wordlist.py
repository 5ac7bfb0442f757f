"""``wordlist``: what is listed, counted, fetched and refused; the server is one of ours on the
loopback interface.
"""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import threading
from pathlib import Path

import pytest

from orderly_boggle.boardclass.wordlist import sources
from orderly_boggle.cluster.web.jobs import BoardRequest, draw, read_run, score_board


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


def test_list(orderly, tmp_path, monkeypatch):
    (tmp_path / "mine.txt").write_text("cat\nquit\n")
    (tmp_path / "bad.txt").write_text("CAT\n")
    monkeypatch.setenv("ORDERLY_WORDLISTS", str(tmp_path))
    rows = {row["name"]: row for row in orderly.json("wordlist", "list")}
    assert rows["mine"]["words"] == 2
    assert rows["scowl70"]["known_as"] == "scowl70"
    assert rows["bad"]["file"].startswith("unusable: ")
    # looked for there as well, from where the tests are run
    beside = Path("../shared/wordlists/yawl.txt")
    found = rows["yawl"]["file"]
    assert (
        Path(found).samefile(beside) if beside.is_file() else found == "orderly wordlist get yawl"
    )
    assert set(sources()) <= set(rows)
    assert all(source.url.startswith("https://") or source.note for source in sources().values())


def test_check_counts_by_reason(orderly, tmp_path):
    file = tmp_path / "mine.txt"
    letters = "abcdefghij"
    file.write_text(
        "".join(f"{a}{b}{c}x\n" for a in letters for b in letters for c in letters) + "ab\nqat\n"
    )
    record = orderly.json("wordlist", "check", file)
    assert (record["n_words"], record["too_short"], record["q_without_u"], record["known_as"]) == (
        1000,
        1,
        1,
        None,
    )
    file.write_text("cat\nCat\n")
    answer = orderly("wordlist", "check", file)
    assert (answer.code, "line 2" in answer.err) == (2, True)
    assert orderly.json("wordlist", "check", "scowl70")["known_as"] == "scowl70"


def test_another_alphabet_is_named(orderly, tmp_path, home):
    file = tmp_path / "russian.txt"
    file.write_text("\u043a\u043e\u0442\n\u0442\u043e\u0440\u0442\n", "utf-8")
    for command in ("check", "import"):
        answer = orderly.fails(2, "wordlist", command, file)
        assert "CYRILLIC SMALL LETTER KA" in answer
    assert not home.exists()


def test_import_makes_no_list_that_another_of_its_name_would_hide(
    orderly, tmp_path, home, monkeypatch
):
    """The folders of $ORDERLY_WORDLISTS come before that of the user."""
    monkeypatch.setenv("ORDERLY_WORDLISTS", str(tmp_path))
    (tmp_path / "mine.txt").write_text("toe\ntie\n")
    words = tmp_path / "words.csv"
    words.write_text("alpha\nbeta\n")
    said = orderly.fails(2, "wordlist", "import", words, "--name", "mine")
    assert "mine.txt' is another list" in said
    assert not home.exists()
    words.write_text("tie\ntoe\n")
    orderly.done("wordlist", "import", words, "--name", "mine")
    assert "use it: -w 'a b'" in orderly.done("wordlist", "import", words, "--name", "a b")


def test_import_makes_a_list_and_says_how(orderly, tmp_path, home):
    file = tmp_path / "french.txt"
    words = ["mère", "pré", "été", "épi", "tri", "trime", "reine", "père", "prise", "mise"]
    file.write_bytes("\r\n".join(words).encode("latin-1"))
    found = orderly.json("wordlist", "import", file)
    assert (found["name"], found["n_words"], found["file"]) == (
        "french",
        10,
        str(home / "french.txt"),
    )
    assert {"lines": 5, "what": "accents folded", "example": "mère > mere"} in found["steps"]
    assert "Latin-1, a guess" in found["notes"][0]
    assert orderly("wordlist", "import", file).code == 0, "the same list again"
    again = orderly.fails(2, "wordlist", "import", file, "--accents", "drop")
    assert "is another list: remove it, or give another name, --name NAME" in again
    orderly.done("wordlist", "import", file, "--accents", "drop", "--name", "plain")
    assert (home / "plain.txt").read_text() == "mise\nprise\nreine\ntri\ntrime\n"


def test_import_takes_rules(orderly, tmp_path, home):
    file = tmp_path / "spanish.csv"
    file.write_text("palabra;n\naño;4\nQatar;1\nqatar;2\n", "utf-8")
    options = ("--letter", "ñ=w", "--plain-q", "--names", "keep", "--name", "mine")
    orderly.done("wordlist", "import", file, *options)
    assert (home / "mine.txt").read_text(
        "utf-8"
    ) == "# letter w is ñ\n# q is a plain q\nawo\nqatar\n"
    for bad in (
        ("--name", "a/b"),
        ("--names", "some"),
        ("--letter", "x"),
        ("--column", "4"),
        ("--encoding", "no"),
    ):
        assert orderly("wordlist", "import", file, *bad).code == 2, bad


@pytest.fixture
def spanish(orderly, tmp_path):
    """Import a list in which w stands for ñ."""

    def make(*words):
        (tmp_path / "spanish.txt").write_text("\n".join(words), "utf-8")
        orderly.done("wordlist", "import", tmp_path / "spanish.txt", "--letter", "ñ=w")

    return make


def test_a_letter_of_its_own_is_typed_and_shown(orderly, spanish):
    spanish("año", "niña", "caña", "una", "cana", "ana", "nao", "onda", "kiwi")
    board = "año/nac/uid"
    score = functools.partial(orderly, "score", "-w", "spanish", "--format", "csv")
    assert score(stdin=board).out == "board,score\nanuñaiocd,6\n"
    shown = orderly.json("show", board, "-w", "spanish")
    assert sorted(word["word"] for word in shown["words"]) == [
        "ana",
        "año",
        "cana",
        "caña",
        "nao",
        "una",
    ]
    assert score(stdin="awo/nac/uid").out.endswith(",4\n"), "a w is a w"
    assert orderly("score", "-w", "scowl70", stdin=board).code == 2
    climbed = orderly.done(
        "climb", "--from", "año/nac", "-w", "spanish", "--contains", "año", "-n", "1"
    )
    assert ("Ñ" in climbed, "ñ" in climbed.splitlines()[-1]) == (True, True)
    longest = orderly(
        "longest", "-d", "2x2", "--word", "niña", "-w", "spanish", "--format", "csv"
    ).out.splitlines()[1]
    assert longest.startswith("niña,4,")
    assert "ñ" in longest.split(",")[2]
    near = orderly("neighbours", "año/nac", "-w", "spanish", "-n", "1000", "--format", "csv")
    assert '\nañanoc,"row 3, column 1, O and row 2, column 2, A swapped",' in near.out
    assert "w stands for ñ" in orderly("neighbours", "awo/nac", "-w", "spanish").err


def test_each_view_of_a_run_shows_the_letters_of_its_list(orderly, spanish, tmp_path):
    """The best board of 2x2 with these words has an ñ, which w stands for."""
    spanish("año", "niña", "caña", "mañana", "nao")
    run = tmp_path / "run"
    made = orderly("run", "2x2", "-w", "spanish", "--cutoff", "1", "--workers", "0", "--out", run)
    assert "│ Ñ " in made.out
    assert "w stands for ñ; 0 lines left out" in " ".join(made.out.split())
    csv = orderly("top", run, "--format", "csv", "-n", "1").out
    board, points, _ = csv.splitlines()[1].split(",")
    assert ("ñ" in board, "w" in board) == (True, False)
    scored = orderly("score", "-w", "spanish", "--format", "csv", stdin=csv).out.splitlines()[1]
    assert scored.split(",")[1] == points, "what top prints is what score reads"
    assert board in orderly("query", run, "SELECT board FROM boards").out
    assert f": {board};" in orderly("status", run).out
    assert (
        orderly("top", run, "--contains", "año", "--format", "csv", "-n", "1").out.count("ñ") == 1
    )
    assert "w stands for ñ" in orderly("top", run, "--contains", "awo").err
    (tmp_path / "listed.csv").write_text(csv, "utf-8")
    compared = orderly("compare", run, tmp_path / "listed.csv", "--format", "csv").out
    assert f"both,{board}," in compared, "what top prints is what compare reads and prints"
    page = tmp_path / "page.html"
    orderly.done("report", run, "--out", page)
    text = page.read_text("utf-8")
    assert all(
        item in text
        for item in (f"<code>{board}</code>", ">Ñ</text>", ">año</button>", "w stands for ñ")
    )
    best = read_run(str(run)).boards[0]
    assert (best.typed, "Ñ" in best.svg) == (board, True)
    asked = BoardRequest(board, size="2x2", list="spanish", word="año")
    assert ">Ñ</text>" in draw(asked)
    assert "año" in [item["word"] for item in score_board(asked)["words"]]
    dice = tmp_path / "w.toml"
    dice.write_text('title = "w"\ndims = "2x2"\ndice = "wwwwww aaaaaa nnnnno oooooi"\n')
    assert board not in orderly.done("top", run, "-n", "999", "--rollable", dice)
    assert orderly.json("runs", run)[0]["letters"] == {"w": "ñ"}
    assert board in orderly.done("runs", run)


def test_a_known_list_that_is_not_here_names_its_command(orderly):
    answer = orderly("show", "berlatdes", "-w", "twl06")
    assert (answer.code, "orderly wordlist get twl06" in answer.err) == (2, True)


def test_get_keeps_what_has_the_right_digest_and_nothing_else(orderly, served, home, monkeypatch):
    folder, url = served
    for name, data in {"list": b"CAT\r\nDOG\r\n", "page": b"<html>moved</html>"}.items():
        (folder / name).write_bytes(data)
    nowhere = "http://127.0.0.1:9/none"
    for address in (f"{url}/list", f"{url}/page", f"{url}/nosuch", "file:///etc/passwd", nowhere):
        answer = orderly("wordlist", "get", "enable2k", "--url", address)
        assert (answer.code, answer.out) == (2, ""), address
    assert "network" in answer.err
    assert not home.exists()
    other = sources()["enable2k"]._replace(sha256=hashlib.sha256(b"cat\ndog").hexdigest())
    monkeypatch.setitem(sources(), "enable2k", other)
    answer = orderly("wordlist", "get", "enable2k", "--url", f"{url}/list", "--format", "json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["n_words"] == 2
    assert [path.name for path in home.iterdir()] == ["enable2k.txt"]
    assert orderly.json("show", "catx", "-w", "enable2k")["n_words"] == 1
