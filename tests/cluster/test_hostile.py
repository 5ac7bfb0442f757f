"""Run directories of strangers: no command trusts, follows, obeys or trips over what is in one.

Forged (tests/cluster/forge.py): every command ends with an exit code of its own, never as a bug;
prints no control characters; and ``run --drop-damaged`` either ends with the answer of the run as
it was or refuses.  Damaged: every command says what it said before, or refuses with a file and a
remedy, or says that nothing is proven; the last one repairs.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import partial
from itertools import product
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pytest

from orderly_boggle.cluster.cli import app as cli
from orderly_boggle.results.errors import SpecialFileError
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.store.rows import SCHEMA
from tests.cluster import forge
from tests.cluster.forge import ESCAPES, Forger
from tests.cluster.small import parts_apart
from tests.conftest import Answer
from tests.samples import daily

NAMES = (
    *(files.RUN, files.MANIFEST, files.EVENTS, files.CLAIM, files.AUDITS, files.LOCK, files.OWNER),
    *(files.RESULTS, files.CERTIFICATES, "results/part", "notes", "results/notes"),
)
FINE = frozenset((0, 2, 3, 4, 5))
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
REMEDY = re.compile("--drop-damaged|remove|start one")
CLIMBED = re.compile("over [0-9,]+ boards")  # as many as there is time for
RUN = ("run", "2x2", "--cutoff", "5", "--workers", "0")


def call(*arguments: object) -> Answer:
    """Run a command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        mock.patch.object(sys, "argv", ["orderly", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as left:
            code = int(left.code or 0)
    return Answer(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


class Campaign:
    """A finished run with everything that a run can have, and one in several parts, to be tampered
    with in copies.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.whole, self.in_parts = folder, folder / "whole", folder / "parts"
        self.words = ("-w", folder / "list.txt")
        self.words[1].write_text("".join(f"{word}\n" for word in forge.WORDS))
        (folder / "boards.txt").write_text("aert\n")
        whole = self.whole
        for command in (
            (*RUN, "--out", whole),
            ("certify", whole),
            ("audit", whole),
            ("verify", whole),
        ):
            assert call(*command, *self.words).code == 0, command
        with mock.patch("orderly_boggle.results.store.store.FLUSH_ROWS", 20), parts_apart():
            assert call(*RUN, *self.words, "--out", self.in_parts).code == 0

    def copy(self, of: Path | None = None) -> Path:
        """Return a copy of a run to tamper with; the one before it is gone."""
        run = self.folder / "RUN"
        shutil.rmtree(run, ignore_errors=True)
        return Path(shutil.copytree(of or self.whole, run, symlinks=True))

    def commands(self, run: Path) -> Iterator[tuple[object, ...]]:
        """Yield what is asked of each forged run; the last one repairs it."""
        for fmt in ("table", "json", "csv"):
            yield "status", run, "--format", fmt
            yield "top", run, "--format", fmt
        yield "query", run, "SELECT * FROM classes"
        yield "query", run, "SELECT * FROM runs", "--format", "csv"
        yield (
            "query",
            run,
            "SELECT sum(n_boards), sum(seconds), max(max_bound) FROM classes",
            "--format",
            "json",
        )
        yield "compare", run, self.folder / "boards.txt"
        yield "report", run, *self.words, "--out", self.folder / "page.html"
        yield "explain", "255", "--run", run
        yield "verify", run
        yield "verify", run, *self.words, "--format", "json"
        yield "audit", run, *self.words
        yield "certify", run, *self.words
        yield *RUN, *self.words, "--out", run
        yield *RUN, *self.words, "--out", run, "--drop-damaged"

    def ask(self, run: Path, forgery: str) -> Answer:
        """Give every command the forged run; return what the last one said, which repairs it."""
        for command in self.commands(run):
            said = call(*command)
            assert said.code in FINE, (forgery, command, said)
            assert "Traceback" not in said.err, (forgery, command, said)
            assert not UNSAFE.search(said.out + said.err), (forgery, command)
        return said

    def repair(self, run: Path) -> Answer:
        return call(*RUN, *self.words, "--out", run, "--drop-damaged")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    return Campaign(tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize("n", daily([1], [20]))
@pytest.mark.parametrize("kind", Forger.KINDS)
def test_nonsense_under_valid_seals(campaign, kind, n):
    forger = Forger(7)
    for _ in range(n):
        run = campaign.copy()
        campaign.ask(run, getattr(forger, kind)(run))


@pytest.mark.parametrize("times", daily([1], [20]))
@pytest.mark.parametrize(("kind", "n"), [("flip", 5), ("cut", 3), ("swap", 2), ("lose", 3)])
def test_damage_is_told_and_repaired(campaign, kind, n, times):
    forger, n_noticed = Forger(20), 0
    for _ in range(n * times):
        run = campaign.copy(campaign.in_parts)
        asked = [(name, run, "--format", "json") for name in ("status", "top", "verify")]
        asked.insert(2, ("query", run, "SELECT * FROM classes", "--format", "json"))
        truth = [call(*command) for command in asked]
        victims = forger.damage(run, kind)
        for command, before in zip(asked, truth, strict=True):
            said = call(*command)
            if said.code == 3:
                named = (
                    any(victim.name in said.err for victim in victims) or files.MANIFEST in said.err
                )
                assert (said.out, named, bool(REMEDY.search(said.err))) == ("", True, True), said
            elif (said.code, CLIMBED.sub("", said.out)) != (
                before.code,
                CLIMBED.sub("", before.out),
            ):
                assert said.code in (0, 4, 5), said
                assert '"proven": true' not in said.out, said
                assert said.code or command[0] == "status", said
        n_noticed += said.code != 0
        repaired = campaign.repair(run)
        if {victim.name for victim in victims} == {files.RUN, files.MANIFEST}:
            assert repaired.code == 3, "nothing is left that tells which run this is"
        else:
            assert repaired.code == 0, repaired
            assert json.loads(call(*asked[0]).out)["digest"] == json.loads(truth[0].out)["digest"]
    assert n_noticed > 0.7 * n * times, "the rest is the end of the manifest, or spaces in JSON"


# ---- the examples of nonsense that were found by hand


def document(name: str, *keys: str, value: object):
    def change(run: Path) -> None:
        values = place = forge.unsealed(run / name)
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value
        forge.seal(run / name, values)

    return change


def rows(**columns: object):
    def change(run: Path) -> None:
        for name, value in columns.items():
            forge.write_part(
                run, forge.with_value(forge.read_part(run, files.RESULTS), name, -1, value)
            )

    return change


NO_AUDIT = {
    **dict.fromkeys(("n_leaves_checked", "n_scored", "n_boards", "n_boards_all", "n_parts"), 0),
    **dict.fromkeys(("certificates", "boards"), ""),
}
NAMED = {
    "a part of 0 rows": lambda run: forge.write_part(run, SCHEMA.empty_table()),
    "bad UTF-8 in a board": rows(candidates=[{"board": b"\xff", "score": 8}]),
    "bad UTF-8 in a child": rows(children=[b"\xff"]),
    "a list for the wordlist": document(files.RUN, "made", "words", value=[]),
    "scores: []": document(files.RUN, "question", "points", value=[]),
    "a cutoff of 10^40": document(files.RUN, "question", "cutoff", value=10**40),
    "a board of 99,999 x 99,999": document(files.RUN, "question", "dims", value="99999x99999"),
    "rules of the search that cannot be": document(
        files.RUN, "question", "rules", "unfuse_parts", value="x"
    ),
    "half a surrogate pair": document(files.RUN, "made", "scores", value="\ud800"),
    "a path of 3,600 characters": rows(
        status="split", candidates=[], children=["/".join(["0=a"] * 900)]
    ),
    "a chain of 2,400 narrower parts": rows(
        status="split", candidates=[], children=["/".join(["3=qrstvwxyz"] * 300)]
    ),
    "seconds 1e308": rows(seconds=1e308),
    "certificates without columns": lambda run: forge.write_certificates(run, pa.table({"a": [1]})),
    "an audit that divides by zero": document(files.AUDITS, "audits", value=[NO_AUDIT]),
}


@pytest.mark.parametrize("name", daily([*NAMED][::2], NAMED))
def test_named_nonsense(campaign, name):
    """Each ends in a typed error or in an answer; the last command drops it."""
    run = campaign.copy()
    NAMED[name](run)
    repaired = campaign.ask(run, name)
    assert repaired.code == 0, repaired.err
    assert call("verify", run, *campaign.words).code == 0


def test_what_was_dropped_is_told(campaign):
    run = campaign.copy()
    rows(host=b"\xff")(run)
    part = f"results/{next((run / files.RESULTS).iterdir()).name}"
    said = campaign.repair(run)
    assert said.code == 0
    assert f"dropped {part}: its rows are computed again" in said.err
    assert "UTF8" in said.err
    assert [
        line["name"] for line in forge.read_lines(run / files.EVENTS) if line["event"] == "dropped"
    ] == [part]
    run = campaign.copy()
    document(files.RUN, "made", "words", value=[])(run)
    document(files.CLAIM, "n_words", value="many")(run)
    document(files.AUDITS, "audits", value=[{}])(run)
    said = campaign.repair(run)
    assert said.code == 0
    assert "made.words is []" in said.err
    for name in (files.RUN, files.CLAIM, files.AUDITS):
        assert f"dropped {name}" in said.err


# ---- links and special files


def put(place: Path, kind: str, target: Path) -> None:
    """Put a link to ``target`` or a special file in the place of a file or folder, or one of these
    for the other.
    """
    was_folder = place.is_dir()
    if was_folder:
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    if kind == "link":
        place.symlink_to(target)
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "other":
        place.touch() if was_folder else place.mkdir()
    else:
        with socket.socket(socket.AF_UNIX) as made, chdir(place.parent):  # a socket's path is short
            made.bind(place.name)


def content(victim: Path) -> dict[Path, bytes]:
    return {
        path: path.read_bytes() for path in (victim.rglob("*") if victim.is_dir() else [victim])
    }


@pytest.mark.parametrize(
    ("name", "kind"),
    daily(
        [
            *product(NAMES, ["link"]),
            *product((files.RUN, files.RESULTS), ("pipe", "socket", "other")),
        ],
        [
            *product(NAMES, ("pipe", "socket")),
            *product((*files.PLAIN, *files.FOLDERS[1:]), ["other"]),
        ],
    ),
)
def test_links_and_special_files_are_refused(campaign, tmp_path, name, kind):
    """And directories in place of files, files in place of directories."""
    run = campaign.copy()
    if name == "results/part":
        name = f"results/{next((run / files.RESULTS).iterdir()).name}"
    victim = tmp_path / "victim"
    if (run / name).is_dir():
        shutil.copytree(run / name, victim)
    else:
        victim.write_bytes((run / name).read_bytes() if (run / name).exists() else b"precious\n")
    put(run / name, kind, victim)
    before = content(victim)
    for command in campaign.commands(run):
        said = call(*command)
        assert (said.code, said.out) == (3, ""), command
        assert f"{run / name} is a " in said.err
        assert "remove it" in said.err
    assert content(victim) == before


def test_a_link_put_there_later_is_not_followed(campaign, tmp_path):
    """The directory was looked through before: what opens the files must refuse as well."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "precious").write_text("precious\n")
    before = content(victim)
    run = campaign.copy()
    folder = LocalFolder(run)
    for name in (files.EVENTS, files.MANIFEST, files.CLAIM):
        put(run / name, "link", victim / "precious")
    put(run / files.RESULTS, "link", victim)
    for act in (
        partial(folder.note, files.EVENTS, "line\n"),
        partial(folder.append_line, files.MANIFEST, "line", 0),
        partial(folder.read, files.CLAIM),
        partial(folder.read_tail, files.EVENTS, 10),
        partial(folder.publish, "results/new", b"x"),
        partial(folder.remove, "results/precious"),
        partial(folder.names, files.RESULTS),
        partial(folder.read, "results/precious"),
    ):
        with pytest.raises(SpecialFileError, match="symbolic link"):
            act()
    folder.publish(files.CLAIM, b"{}")  # renamed over the link
    assert not (run / files.CLAIM).is_symlink()
    assert content(victim) == before


def test_a_log_with_a_second_name_is_not_written_to_and_the_run_directory_itself_may_be_a_link(
    campaign, tmp_path
):
    (tmp_path / "elsewhere").symlink_to(campaign.whole)
    assert call("status", tmp_path / "elsewhere").code == 0
    run = campaign.copy()
    os.link(run / files.EVENTS, tmp_path / "other")
    before = content(tmp_path / "other")
    assert call("status", run).code == 0
    with pytest.raises(SpecialFileError, match="second name"):
        LocalFolder(run).note(files.EVENTS, "line\n")
    assert content(tmp_path / "other") == before


# ---- control characters


def everywhere(run: Path) -> None:
    """Put control characters wherever text can stand and be shown."""
    for keys in (("words", "name"), ("scores",), ("versions", ESCAPES)):
        document(files.RUN, "made", *keys, value=ESCAPES)(run)
    rows(**dict.fromkeys(("host", "cpu", "kernel_hash", "message"), ESCAPES.encode()))(run)
    for name in ("statement", "strength", "wordlist"):
        document(files.CLAIM, name, value=ESCAPES)(run)
    lines = forge.read_lines(run / files.EVENTS)
    for line in lines:
        line |= {
            name: ESCAPES
            for name in ("message", "text", "host", "best_board", "board")
            if name in line
        }
        line |= {"hosts": {ESCAPES: 1}, "flagged": [ESCAPES]} if line["event"] == "progress" else {}
    lines[-1] |= {"event": "stopped", "reason": ESCAPES, "message": ESCAPES}
    forge.write_lines(run / files.EVENTS, lines)


def test_control_characters_are_shown_escaped(campaign):
    run = campaign.copy()
    everywhere(run)
    shown = []
    for command in (
        *campaign.commands(run),
        ("query", run, "SELECT DISTINCT host, message FROM classes", "--format", "csv"),
        ("query", run, "SELECT DISTINCT host, message FROM classes", "--format", "json"),
        ("query", run, f"SELECT '{ESCAPES}' AS \"{ESCAPES}\""),
        ("query", run, f'SELECT "{ESCAPES}" FROM boards'),
        ("top", run, *campaign.words, "--min-words", "1"),
    ):
        said = call(*command)
        assert said.code in FINE, said
        assert not UNSAFE.search(said.out + said.err), command
        shown.append(said.out)
    assert any("\\x1b]0;owned\\x07" in out for out in shown)
    assert any("\\u001b]0;owned\\u0007" in out for out in shown)  # in JSON
    page = (campaign.folder / "page.html").read_text()
    assert not UNSAFE.search(page)
    assert "\\u202e" in page
    run = campaign.copy()
    table = forge.with_value(forge.read_part(run, files.CERTIFICATES), "forced", 0, ESCAPES)
    forge.write_certificates(run, forge.sealed_certificates(table))
    of_certificates = call("audit", run, *campaign.words)
    (run / "results" / ESCAPES.replace("/", "").replace("\r", "")).symlink_to("/")
    of_files = call("status", run)
    assert (of_certificates.code, of_files.code) == (5, 3)
    assert not UNSAFE.search(of_certificates.out + of_certificates.err + of_files.err)
