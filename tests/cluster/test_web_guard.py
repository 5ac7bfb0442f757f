"""Who is answered by ``orderly serve``: nobody without the token, under another name, or with
another method.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import re
import shutil
import signal
import socket
import subprocess
import time
from urllib.parse import quote

import pytest

pytest.importorskip("uvicorn", reason="needs the extra: pip install 'orderly-boggle[serve]'")

import segno

from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.cluster.web.server import own_address
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.documents import format_document
from tests.cluster.processes import descendants, listening_addresses
from tests.cluster.web import Client, asking, cookie_of, serving
from tests.conftest import COMMAND, flip_bit, make_in

PATHS = [
    "/",
    "/records",
    "/board",
    "/class",
    "/runs/000000000000",
    "/api/runs",
    "/api/records",
    "/api/board?letters=abcd",
    "/api/game?dice=new",
    "/static/site.css",
    "/static/lib.js",
    "/static/board.css",
    "/nowhere",
]
FILES = [
    "/static/../app.py",
    "/static/%2e%2e/app.py",
    "/static/..%2fapp.py",
    "/static//etc/passwd",
    "/static/%2fetc%2fpasswd",
    "/runs/../../etc/passwd",
    "/runs/..%2f..%2fsecret.txt",
    "/api/runs/..%2foutside",
    "/api/runs/%00",
    "/api/runs/outside",
]
SECRET = "this must not be read"
HOSTILE = "<script>alert(1)</script>\u202e\x1b[2J"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, proven):
    """Return a folder of runs: proven ones, links to one outside, and two that a stranger wrote."""
    top = tmp_path_factory.mktemp("web")
    for name in (
        "outside",
        "runs/good",
        "runs/to-move",
        "runs/to-change",
        "runs/<b>bold",
        "runs/holds-a-link",
    ):
        shutil.copytree(proven, top / name)
    (top / "runs" / "linked").symlink_to(top / "outside")
    (top / "secret.txt").write_text(SECRET)
    log = top / "runs" / "holds-a-link" / files.EVENTS
    log.unlink()
    log.symlink_to(top / "secret.txt")
    # whoever made a run can write what was checked, and seal it
    claim = top / "runs" / "to-change" / files.CLAIM
    rewrite(
        claim,
        lambda values: values.update(
            strength="complete, audited every one of 2,000,000,000 leaves"
        ),
    )
    bold = top / "runs" / "<b>bold"
    rewrite(bold / files.RUN, lambda values: values["made"]["words"].update(name=HOSTILE))
    stopped = {"time": 1.0, "session": "x", "event": "stopped", "reason": "E", "message": HOSTILE}
    (bold / files.EVENTS).write_text(json.dumps(stopped) + "\n")
    return top


def rewrite(file, change):
    values = json.loads(file.read_text())
    del values["sha256"]
    change(values)
    file.write_bytes(format_document(values))


@pytest.fixture(scope="module")
def server(folder):
    with serving(folder / "runs") as client:
        yield client


def settled(client, key):
    """Ask for a run until its rows were read."""
    for _ in range(600):
        pulse = client.ask(f"/api/runs/{key}").json
        if pulse["state"] != "reading":
            return pulse
        time.sleep(0.1)
    pytest.fail("the run was never read")


def key_of(client, name):
    return next(run["key"] for run in client.ask("/api/runs").json if run["name"] == name)


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_answered_without_the_token(server, path):
    wrong = (
        {},
        {"Cookie": f"orderly-{server.port}=wrong"},
        {"Cookie": f"other={server.token}"},
        {"Cookie": "orderly"},
    )
    for headers in wrong:
        reply = server.ask(path, headers)
        assert reply.status == 403
        assert reply.headers["content-type"].startswith("text/html")
        assert "Open the address that <code>orderly serve</code> printed" in reply.body.decode()
        assert "set-cookie" not in reply.headers
    for query in (
        "token=",
        "token=wrong",
        f"token={server.token[:-1]}",
        f"TOKEN={server.token}",
        "token=%ff%fe",
    ):
        assert server.ask(f"/?{query}", {}).status == 403


@pytest.mark.parametrize("path", PATHS)
def test_with_the_cookie_every_answer_has_a_strict_policy(server, path):
    reply = server.ask(path)
    assert reply.status == (404 if path in ("/nowhere", "/runs/000000000000") else 200)
    assert (b"There is no such page" in reply.body) == (reply.status == 404)
    policy = dict(
        part.strip().split(" ", 1) for part in reply.headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in reply.headers["content-security-policy"]
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["cache-control"] in ("no-store", "no-cache")
    assert "access-control-allow-origin" not in reply.headers
    for page in (
        re.findall(rb"<[^>]*>", reply.body)
        if reply.headers["content-type"].startswith("text/html")
        else ()
    ):
        assert not re.search(rb"\son[a-z]+=|\sstyle=|<style|https?://", page), (
            "the policy forbids it, or it is foreign"
        )


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(server):
    reply = server.ask(f"/board?letters=abcd&token={server.token}", {})
    assert (reply.status, reply.headers["location"]) == (303, "/board?letters=abcd")
    cookie = reply.headers["set-cookie"].lower()
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip() for part in cookie.split(";")}
    for path in ("//evil.example/x", "/%5Cevil.example", "/%2F/evil.example"):
        assert server.ask(f"{path}?token={server.token}", {}).headers["location"] == "/"


HOSTS = [
    "evil.example",
    "evil.example:8765",
    "127.0.0.1.evil.example",
    "",
    "0.0.0.0",
    "192.168.1.7",
    "a b",
]


def test_another_name_for_this_machine_is_refused_and_loopback_is_answered_at_any_port(
    server,
):
    for host in HOSTS:
        assert server.ask("/", {**server.cookie, "Host": host}).status in (400, 421), host
        assert server.ask(f"/?token={server.token}", {"Host": host}).status in (400, 421), host
    for host in ("127.0.0.1", "localhost:1", "[::1]:4321", "LOCALHOST"):  # tunnels
        assert server.ask("/", {**server.cookie, "Host": host}).status == 200, host


def test_other_methods_than_to_look_and_several_hosts_are_refused(server):
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"]:
        for path in ("/", "/api/runs", "/static/site.css"):
            assert server.ask(path, method=method).status == 405
    twice = {"Host": "127.0.0.1", "host": "127.0.0.1"}
    assert server.ask("/", server.cookie | twice).status == 400
    assert server.ask(f"/api/board?letters={'a' * 5000}").status == 422


@pytest.mark.parametrize("path", FILES)
def test_no_address_names_a_file(server, path):
    reply = server.ask(path)
    assert reply.status == 404
    assert SECRET.encode() not in reply.body
    assert b"root:" not in reply.body
    assert b"def make_app" not in reply.body


def test_a_word_list_is_a_name_never_a_path(server):
    for name in ("/etc/passwd", "../secret.txt", "./secret.txt", "~/x", "a\x00b", "no-such-list"):
        reply = server.ask(f"/api/board?letters=abcd&list={quote(name)}")
        assert (reply.status, "no word list named" in reply.json["error"]) == (422, True), name


def test_links_are_not_followed(server):
    runs = {run["name"]: run for run in server.ask("/api/runs").json}
    assert {"good", "holds-a-link"} < set(runs)
    assert "linked" not in runs
    told = settled(server, runs["holds-a-link"]["key"])
    assert told["state"] == "unreadable"
    assert "symbolic link" in told["error"]
    assert SECRET not in json.dumps(told)


def test_a_run_that_became_a_link_is_not_opened(server, folder):
    key = key_of(server, "to-move")
    assert settled(server, key)["state"] == "proven", settled(server, key)
    (folder / "runs" / "to-move").rename(folder / "moved")
    (folder / "runs" / "to-move").symlink_to(folder / "outside")
    for _ in range(600):
        reply = server.ask(f"/api/runs/{key}")
        if reply.json.get("state", reply.status) in ("unreadable", 404):
            return
        time.sleep(0.1)
    pytest.fail("it is still read")


def test_a_run_is_never_called_proven_after_a_file_has_changed_nor_as_strong_as_its_claim_says(
    server, folder
):
    key = key_of(server, "to-change")
    assert settled(server, key)["state"] == "proven", settled(server, key)
    answer = server.ask(f"/api/runs/{key}/proven")
    assert answer.json["proven"] is True
    assert "beats it" in answer.json["boards"][0]["said"]
    assert b"2,000,000,000" not in answer.body
    flip_bit(next((folder / "runs" / "to-change" / files.RESULTS).iterdir()))
    state = "proven"
    for _ in range(600):  # a look is kept for a second, and for longer where it took long
        state = server.ask(f"/api/runs/{key}").json["state"]
        if state != "proven":
            break
        time.sleep(0.1)
    assert state in ("reading", "unreadable")
    (told,) = (run for run in server.ask("/api/runs").json if run["key"] == key)
    for said in (
        json.dumps(told),
        *(server.ask(f"/api/runs/{key}{path}").body.decode() for path in ("", "/proven")),
    ):
        assert not re.search(r'"proven": ?true|beats it|of all', said)
    assert settled(server, key)["state"] == "unreadable"


def test_a_board_of_a_run_is_scored_with_its_own_list_and_points_or_not_at_all(
    tmp_path, monkeypatch
):
    lists = tmp_path / "lists"
    lists.mkdir()
    (lists / "few.txt").write_text("tea\neat\nate\nrate\ntear\n")
    monkeypatch.setenv("ORDERLY_WORDLISTS", str(lists))
    question = ("run", "2x2", "-w", "few", "--scores", "5", "--cutoff", "10", "--workers", "0")
    make_in(tmp_path, *question, "--out", "run")
    with serving(tmp_path / "run") as client:
        (run,) = client.ask("/api/runs").json
        ours = client.ask(f"/api/board?letters=aert&run={run['key']}").json
        other = client.ask("/api/board?letters=aert&list=scowl70").json
        assert (ours["wordlist"], ours["score"], ours["n_words"]) == ("few", 25, 5)
        assert (other["wordlist"], other["score"]) == ("scowl70", 14)
        assert (
            max(map(max, client.ask(f"/api/around?letters=aert&run={run['key']}").json["scores"]))
            == 25
        )
        assert client.ask("/api/board?letters=aert&run=000000000000").status == 404
        (lists / "few.txt").write_text("tea\neat\nate\nrate\n")  # another list of the same name
        refused = client.ask(f"/api/board?letters=aert&run={run['key']}")
        assert refused.status == 422
        assert "a run with the word list 'few', which is not here" in refused.json["error"]


def test_tiles_and_rules_are_asked_for_by_name(server):
    told = server.ask(f"/api/board?letters={quote('[-ing] k s / rat / neb')}&bonus=4=dw").json
    assert [told[name] for name in ("board", "dims", "usual")] == ["[-ing]ks/rat/neb", "3x3", None]
    assert told["cells"] == ["[-ing]", *"rnkaestb"]
    assert told["score"] == 201 + sum(
        word["points"] // 2 for word in told["words"] if 4 in word["path"]
    )
    svg = server.ask(
        f"/api/board.svg?letters={quote('[-ing]ks/rat/neb')}&word=betaking"
    ).body.decode()
    assert ">-Ing</text>" in svg
    assert "polyline" in svg
    for asked, said in {
        "board?letters=berlatdes&min_letters=x": "min_letters is 'x'",
        "board?letters=berlatdes&bonus=9=tw": "bonus '9=tw': expected ROW.COLUMN up to 3.3",
        "around?letters=ste/r.a/lin": "has a hole: expected letters a-z and Qu",
        "climb?letters=berlatdes&plain_q=1": "need the usual rules",
        "game?dice=./mine.toml": "no dice './mine.toml' on this page",
    }.items():
        assert said in server.ask(f"/api/{asked}").json["error"]
    for cutoff in ("0", f"{1:012}{9:05000}"):
        assert server.ask(f"/class?class=t+ai+e+r&cutoff={cutoff}").status == 400


def test_stored_text_of_a_stranger_comes_out_harmless(server):
    key = key_of(server, "<b>bold")
    settled(server, key)
    paths = ("/", f"/runs/{key}", f"/api/runs/{key}", f"/api/runs/{key}/proven")
    answers = [server.ask(path).body for path in paths]
    assert b"<b>bold" not in answers[0] + answers[1]
    assert b"&lt;b&gt;bold" in answers[1]
    for body in answers[2:]:
        assert b"\x1b" not in body
        assert "\u202e".encode() not in body
        json.loads(body)
    assert b"\\\\u202e" in answers[2] + answers[3]


def test_other_hosts_than_loopback_and_what_is_not_there_are_bad_input(orderly, tmp_path):
    for host in (
        "192.168.1.1",
        "0.0.0.0",
        "::",
        "example.org",
        "10.0.0.1",
        "",
        "127.0.0.1.example.org",
    ):
        answer = orderly("serve", tmp_path, "--host", host, "--port", "0")
        assert (answer.code, answer.out, "expected 127.0.0.1 or ::1" in answer.err) == (
            2,
            "",
            True,
        ), host
    assert orderly("serve", tmp_path / "none", "--port", "0").code == 2
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answer = orderly("serve", tmp_path, "--port", taken.getsockname()[1])
    assert (answer.code, "--port 0" in answer.err) == (2, True)


@pytest.fixture
def own():
    """Return the address of this machine in its private network."""
    try:
        return own_address()
    except InputError as error:
        pytest.skip(f"this machine is in no private network: {error}")


def test_a_network_that_was_asked_for_is_answered_with_the_token_only(folder, own):
    with serving(folder / "runs", lan=True) as client:
        assert client.host == own
        page = client.ask("/")
        assert f"open to the network of {own}" in page.body.decode()
        assert client.ask("/", {}).status == 403
        assert client.ask("/", {**client.cookie, "Host": "evil.example"}).status == 421
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", client.port), 5)


@pytest.mark.parametrize(("own", "said"), [("8.8.8.8", "private network"), (None, "in no network")])
def test_a_machine_without_a_private_address_serves_no_network(
    orderly, folder, monkeypatch, own, said
):
    class Probe(socket.socket):
        def connect(self, _):
            if own is None:
                raise OSError(errno.ENETUNREACH, "Network is unreachable")

        def getsockname(self):
            return own, 1

    monkeypatch.setattr("orderly_boggle.cluster.web.server.socket.socket", Probe)
    answer = orderly.fails(2, "serve", folder / "runs", "--lan", "--port", "0")
    assert said in answer


@contextlib.contextmanager
def command_serving(folder, *options):
    """Run the command in a process of its own, until it is stopped."""
    with subprocess.Popen(
        [*COMMAND, "serve", str(folder / "runs"), "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        yield process


def test_the_address_for_a_network_is_a_code_as_well(folder, own, terminal):
    with command_serving(folder, "--lan") as process:
        client = Client(process.stdout.readline().strip())
        assert (client.host, client.ask("/").status) == (own, 200)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    drawn = io.StringIO()
    segno.make(client.address, error="l").terminal(drawn, border=2, compact=True)
    assert drawn.getvalue().split("\n")[3] in err
    assert "nothing is encrypted" in err


def test_the_command_listens_on_loopback_only_and_ends_with_ctrl_c(folder, terminal):
    """A second Ctrl-C, while an answer is still awaited, does not break off the end."""
    with command_serving(folder) as process:
        client = Client(process.stdout.readline().strip())
        assert client.ask("/").status == 200
        assert listening_addresses(descendants(process.pid)) == {"0100007F"}
        with contextlib.closing(asking(client, "/api/climb?letters=aert", cookie_of(client))):
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert client.token not in out + err
    assert "Traceback" not in err
