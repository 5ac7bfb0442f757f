"""Who is answered by ``orderly serve``: nobody without the token, under another name, or with another method."""

from __future__ import annotations

import errno
import io
import json
import os
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

from boardclass.errors import InputError
from cluster.web.server import DEFAULT_HOST, LocalServer
from results.storage import files
from tests.cluster.processes import descendants, listening_addresses
from tests.cluster.web import Client, serving
from tests.conftest import COMMAND, ROOT, flip_bit, make_in

PATHS = (
    "/",
    "/records",
    "/board",
    "/class",
    "/runs/000000000000",
    "/api/runs",
    "/api/records",
    "/api/board?letters=abcd",
    "/api/roll?dice=new",
    "/static/site.css",
    "/static/lib.js",
    "/static/board.css",
    "/nowhere",
)
SECRET = "this must not be read"
HOSTILE = "<script>alert(1)</script>\u202e\x1b[2J"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, proven):
    """Return a folder of runs: a proven one, links to one outside, and one that a stranger wrote."""
    top = tmp_path_factory.mktemp("web")
    shutil.copytree(proven, top / "outside")
    shutil.copytree(top / "outside", top / "runs" / "good")
    (top / "runs" / "linked").symlink_to(top / "outside")
    (top / "secret.txt").write_text(SECRET)
    inner = top / "runs" / "holds-a-link"
    shutil.copytree(top / "outside", inner)
    (inner / files.EVENTS).unlink()
    (inner / files.EVENTS).symlink_to(top / "secret.txt")
    return top


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
    wrong = ({}, {"Cookie": f"orderly-{server.port}=wrong"}, {"Cookie": f"other={server.token}"}, {"Cookie": "orderly"})
    for headers in wrong:
        reply = server.ask(path, headers)
        assert reply.status == 403
        assert reply.headers["content-type"].startswith("text/html")
        assert "Open the address that <code>orderly serve</code> printed" in reply.body.decode()
        assert "set-cookie" not in reply.headers
    for query in ("token=", "token=wrong", f"token={server.token[:-1]}", f"TOKEN={server.token}", "token=%ff%fe"):
        assert server.ask(f"/?{query}", {}).status == 403


@pytest.mark.parametrize("path", PATHS)
def test_with_the_cookie_every_answer_has_a_strict_policy(server, path):
    reply = server.ask(path)
    assert reply.status == (404 if path in ("/nowhere", "/runs/000000000000") else 200)
    policy = dict(part.strip().split(" ", 1) for part in reply.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in reply.headers["content-security-policy"]
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["cache-control"] in ("no-store", "no-cache")
    assert "access-control-allow-origin" not in reply.headers
    for page in re.findall(rb"<[^>]*>", reply.body) if reply.headers["content-type"].startswith("text/html") else ():
        assert not re.search(rb"\son[a-z]+=|\sstyle=|<style|https?://", page), "the policy forbids it, or it is foreign"


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(server):
    reply = server.ask(f"/board?letters=abcd&token={server.token}", {})
    assert (reply.status, reply.headers["location"]) == (303, "/board?letters=abcd")
    cookie = reply.headers["set-cookie"].lower()
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip() for part in cookie.split(";")}
    for path in ("//evil.example/x", "/%5Cevil.example", "/%2F/evil.example"):
        assert server.ask(f"{path}?token={server.token}", {}).headers["location"] == "/"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "0.0.0.0", "192.168.1.7", "a b"]
)
def test_another_name_for_this_machine_is_refused_even_with_the_token(server, host):
    assert server.ask("/", {**server.cookie, "Host": host}).status in (400, 421)
    assert server.ask(f"/?token={server.token}", {"Host": host}).status in (400, 421)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:1", "[::1]:4321", "LOCALHOST"])
def test_loopback_names_are_answered_at_any_port_for_tunnels(server, host):
    assert server.ask("/", {**server.cookie, "Host": host}).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"])
def test_other_methods_are_refused(server, method):
    for path in ("/", "/api/runs"):
        reply = server.ask(path, method=method)
        assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD")


def test_an_address_that_is_too_long_is_refused(server):
    assert server.ask(f"/api/board?letters={'a' * 5000}").status == 414


@pytest.mark.parametrize(
    "path",
    [
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
    ],
)
def test_no_address_names_a_file(server, path):
    reply = server.ask(path)
    assert reply.status == 404
    assert SECRET.encode() not in reply.body
    assert b"root:" not in reply.body
    assert b"def make_app" not in reply.body


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret.txt", "./secret.txt", "~/x", "a\x00b", "no-such-list"])
def test_a_word_list_is_a_name_never_a_path(server, name):
    reply = server.ask(f"/api/board?letters=abcd&list={quote(name)}")
    assert reply.status == 422
    assert "no word list named" in reply.json["error"]


def test_links_are_not_followed(server, folder):
    runs = {run["name"]: run for run in server.ask("/api/runs").json}
    assert set(runs) == {"good", "holds-a-link"}
    told = settled(server, runs["holds-a-link"]["key"])
    assert told["state"] == "unreadable"
    assert "symbolic link" in told["error"]
    assert SECRET not in json.dumps(told)


def test_a_run_that_became_a_link_is_not_opened(folder, tmp_path):
    shutil.copytree(folder / "outside", tmp_path / "runs" / "one")
    with serving(tmp_path / "runs") as client:
        key = key_of(client, "one")
        assert settled(client, key)["state"] == "proven", settled(client, key)
        (tmp_path / "runs" / "one").rename(tmp_path / "moved")
        (tmp_path / "runs" / "one").symlink_to(folder / "outside")
        states = set()
        for _ in range(40):
            reply = client.ask(f"/api/runs/{key}")
            states.add(reply.json.get("state", reply.status))
            if states & {"unreadable", 404}:
                break
            time.sleep(0.2)
        assert states & {"unreadable", 404}


def test_a_run_is_never_called_proven_after_a_file_has_changed(folder, tmp_path):
    shutil.copytree(folder / "outside", tmp_path / "runs" / "one")
    part = next((tmp_path / "runs" / "one" / files.RESULTS).iterdir())
    with serving(tmp_path / "runs") as client:
        key = key_of(client, "one")
        assert settled(client, key)["state"] == "proven", settled(client, key)
        answer = client.ask(f"/api/runs/{key}/proven").json
        assert answer["proven"] is True
        assert "beats it" in answer["boards"][0]["said"]
        flip_bit(part)
        time.sleep(1.2)  # a reading is kept for a second
        seen = {client.ask(f"/api/runs/{key}").json["state"] for _ in range(3)}
        assert seen <= {"reading", "unreadable"}
        for path in ("/api/runs", f"/api/runs/{key}", f"/api/runs/{key}/proven"):
            assert not re.search(rb'"proven":true|beats it|of all', client.ask(path).body)
        assert settled(client, key)["state"] == "unreadable"


def test_a_board_of_a_run_is_scored_with_its_own_list_and_points_or_not_at_all(tmp_path, monkeypatch):
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
        assert max(map(max, client.ask(f"/api/around?letters=aert&run={run['key']}").json["scores"])) == 25
        assert client.ask("/api/board?letters=aert&run=000000000000").status == 404
    (lists / "few.txt").write_text("tea\neat\nate\nrate\n")  # another list of the same name
    with serving(tmp_path / "run") as client:
        refused = client.ask(f"/api/board?letters=aert&run={run['key']}")
        assert refused.status == 422
        assert "a run with the word list 'few', which is not here" in refused.json["error"]


def test_tiles_and_rules_are_asked_for_by_name(server):
    told = server.ask(f"/api/board?letters={quote('[-ing] k s / rat / neb')}&bonus=4=dw").json
    assert (told["board"], told["dims"], told["usual"], told["wordlist"]) == (
        "[-ing]ks/rat/neb",
        "3x3",
        None,
        "scowl70",
    )
    assert told["cells"] == ["[-ing]", *"rnkaestb"]
    assert told["score"] == 201 + sum(word["points"] // 2 for word in told["words"] if 4 in word["path"])
    svg = server.ask(f"/api/board.svg?letters={quote('[-ing]ks/rat/neb')}&word=betaking").body.decode()
    assert ">-Ing</text>" in svg
    assert "polyline" in svg
    for asked, said in {
        "board?letters=berlatdes&min_letters=x": "least length 'x'",
        "board?letters=berlatdes&bonus=9=tw": "bonus '9=tw': expected ROW.COLUMN up to 3.3",
        "around?letters=ste/r.a/lin": "has a hole: expected letters a-z and Qu",
        "climb?letters=berlatdes&plain_q=1": "need the usual rules",
    }.items():
        assert said in server.ask(f"/api/{asked}").json["error"]


def test_the_strength_that_a_claim_says_is_not_shown(folder, tmp_path):
    """Whoever made a run can write into its claim what was checked, and seal it."""
    from results.storage.local import open_folder
    from results.store.documents import format_document, read_document

    run = tmp_path / "runs" / "one"
    shutil.copytree(folder / "outside", run)
    values = read_document(open_folder(run), files.CLAIM, "")
    assert values is not None
    values["strength"] = "complete, audited every one of 2,000,000,000 leaves by an independent checker"
    (run / files.CLAIM).write_bytes(format_document(values))
    with serving(tmp_path / "runs") as client:
        key = key_of(client, "one")
        assert settled(client, key)["state"] == "proven"
        proven = client.ask(f"/api/runs/{key}/proven")
        assert proven.json["proven"] is True
        assert b"2,000,000,000" not in proven.body


def test_stored_text_of_a_stranger_comes_out_harmless(folder, tmp_path):
    from results.storage.local import open_folder
    from results.store.documents import format_document, read_document

    run = tmp_path / "runs" / "<b>bold"
    shutil.copytree(folder / "outside", run)
    values = read_document(open_folder(run), files.RUN, "")
    assert values is not None
    values["info"]["wordlist"]["name"] = HOSTILE
    (run / files.RUN).write_bytes(format_document(values))
    (run / files.EVENTS).write_text(
        json.dumps({"time": 1.0, "session": "x", "event": "stopped", "reason": "E", "message": HOSTILE}) + "\n"
    )
    with serving(tmp_path / "runs") as client:
        key = key_of(client, "<b>bold")
        settled(client, key)
        answers = [
            client.ask(path).body for path in ("/", f"/runs/{key}", f"/api/runs/{key}", f"/api/runs/{key}/proven")
        ]
    assert b"<b>bold" not in answers[0] + answers[1]
    assert b"&lt;b&gt;bold" in answers[1]
    for body in answers[2:]:
        assert b"\x1b" not in body
        assert "\u202e".encode() not in body
        json.loads(body)
    assert b"\\\\u202e" in answers[2] + answers[3]


@pytest.mark.parametrize(
    "host", ["192.168.1.1", "0.0.0.0", "::", "example.org", "10.0.0.1", "", "127.0.0.1.example.org"]
)
def test_other_hosts_than_loopback_are_bad_input(orderly, host):
    answer = orderly("serve", ROOT / "results" / "published", "--host", host, "--port", "0")
    assert (answer.code, answer.out) == (2, "")
    assert "expected 127.0.0.1 or ::1" in answer.err


def test_what_is_not_there_is_bad_input(orderly, tmp_path):
    assert orderly("serve", tmp_path / "none", "--port", "0").code == 2
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answer = orderly("serve", tmp_path, "--port", taken.getsockname()[1])
    assert answer.code == 2
    assert "--port 0" in answer.err


def test_a_network_that_was_asked_for_is_answered_with_the_token_only(folder):
    from cluster.web.server import own_address

    try:
        own = own_address()
    except InputError as error:
        pytest.skip(f"this machine is in no private network: {error}")
    with serving(folder / "runs", lan=True) as client:
        assert client.host == own
        page = client.ask("/")
        assert f"open to the network of {own}" in page.body.decode()
        assert client.ask("/", {}).status == 403
        assert client.ask("/", {**client.cookie, "Host": "evil.example"}).status == 421
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", client.port), 5)


@pytest.mark.parametrize(("own", "said"), [("8.8.8.8", "private network"), (None, "in no network")])
def test_a_machine_without_a_private_address_serves_no_network(orderly, folder, monkeypatch, own, said):
    class Probe(socket.socket):
        def connect(self, _):
            if own is None:
                raise OSError(errno.ENETUNREACH, "Network is unreachable")

        def getsockname(self):
            return own, 1

    monkeypatch.setattr("cluster.web.server.socket.socket", Probe)
    answer = orderly("serve", folder / "runs", "--lan", "--port", "0")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_the_address_for_a_network_is_a_code_as_well(orderly, folder, monkeypatch):
    monkeypatch.setattr("cluster.web.server.own_address", lambda: "127.0.0.1")
    monkeypatch.setattr("cluster.web.server.LocalServer.run", lambda self: self._socket.close())
    answer = orderly("serve", folder / "runs", "--lan", "--port", "0")
    assert answer.code == 0
    address = answer.out.strip()
    drawn = io.StringIO()
    segno.make(address, error="l").terminal(drawn, border=2, compact=True)
    assert drawn.getvalue().split("\n")[3] in answer.err
    assert "nothing is encrypted" in answer.err


def test_a_second_ctrl_c_does_not_break_off_the_end(tmp_path):
    server = LocalServer([str(tmp_path)], DEFAULT_HOST, 0, 0.0)
    for _ in range(2):
        server._server.handle_exit(signal.SIGINT, None)
    assert server._server.should_exit
    assert not server._server.force_exit, "that prints a traceback"
    server._socket.close()


def test_the_command_listens_on_loopback_only_and_ends_with_ctrl_c(folder, terminal):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [*COMMAND, "serve", str(folder / "runs"), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        assert process.stdout is not None
        client = Client(process.stdout.readline().strip())
        assert client.ask("/").status == 200
        assert listening_addresses(descendants(process.pid)) == {"0100007F"}
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert client.token not in out + err
    assert "Traceback" not in err
