"""``--help`` of each command ends with an example, and each example runs as it stands."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess

import pytest

from orderly_boggle.cluster.cli import app as cli, wordlist
from orderly_boggle.cluster.cli.examples import EXAMPLES
from tests.cluster.small import WORDS
from tests.conftest import COMMAND
from tests.samples import daily

ON_A_TERMINAL = {"watch": b"q", "play": b"\x04"}  # and what ends them
OTHERS = sorted(EXAMPLES.keys() - ON_A_TERMINAL.keys() - {"serve", "wordlist get"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory, small_runs):
    """What the examples name: a list, boards, a file to import, runs."""
    top = tmp_path_factory.mktemp("examples")
    words = [*WORDS, "seat", "neatest", "stonetoes"]
    (top / "mylist.txt").write_text("\n".join(words) + "\n")
    (top / "boards.txt").write_text("berlatdes\nabcdefghi\n")
    (top / "words.csv").write_text("n,word\n" + "".join(f"{n},{w}\n" for n, w in enumerate(words)))
    for name in ("share1", "share2", "share3"):
        shutil.copytree(small_runs / name, top / "runs" / name)
    shutil.copytree(small_runs / "whole", top / "runs" / "2x2-scowl70-auto")
    return top


def test_every_command_has_one():
    subcommands = {f"wordlist {item.name}" for item in wordlist.wordlist.registered_commands}
    assert set(EXAMPLES) == set(cli.PLACES) | subcommands


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_ends_the_help(orderly, name):
    said = orderly.done(*name.split(), "--help")
    assert said.endswith(f"\n  Example: {EXAMPLES[name]}\n")
    assert len(re.findall(r"\borderly ", said.partition("\n\n")[2])) >= 1
    assert EXAMPLES[name].startswith(f"orderly {name.split()[0]}")


@pytest.mark.parametrize("name", daily([name for name in OTHERS if name != "tune"], OTHERS))
def test_it_runs(orderly, folder, monkeypatch, tmp_path, name):
    here = shutil.copytree(folder, tmp_path / "here")
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    command, _, file = EXAMPLES[name].partition(" < ")
    for needed in NEEDS.get(name, ()):
        assert orderly(*shlex.split(EXAMPLES[needed])[1:]).code == 0
    answer = orderly(*shlex.split(command)[1:], stdin=(here / file).read_text() if file else "")
    assert (answer.code, bool(answer.out)) == (0, True), answer.err


NEEDS = {"audit": ("certify",)}


@pytest.mark.parametrize("name", ON_A_TERMINAL)
def test_it_runs_on_a_terminal(terminal_of, folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    shown = terminal_of(*EXAMPLES[name].split()[1:])
    shown.wait_for("proven" if name == "watch" else "Find 20 words")
    shown.type(ON_A_TERMINAL[name])
    assert shown.end() == 0


def test_serve_runs(folder, terminal):
    pytest.importorskip("uvicorn", reason="needs the extra: pip install 'orderly-boggle[serve]'")
    arguments = EXAMPLES["serve"].split()[1:]
    port = arguments.index("--port") + 1
    arguments[port] = "0"  # that of the example may be taken
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, env={**os.environ, "BROWSER": "true"},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert "http://127.0.0.1:" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.wait(60)


def test_get_names_a_list_that_there_is(orderly, monkeypatch):
    """Its bytes come from a network, which a test may not have: test_cli_wordlist.py."""
    from orderly_boggle.boardclass.wordlist import sources

    assert sources()[EXAMPLES["wordlist get"].split()[-1]].url


def test_what_an_audit_counts_is_told_in_words(orderly, folder, tmp_path):
    """A number is told with what it counts; programs get the names that they always had."""
    run = shutil.copytree(folder / "runs/2x2-scowl70-auto", tmp_path / "run")
    orderly.done("certify", run, "--classes", "0")
    said = orderly.done("audit", run)
    values = orderly.json("audit", run)
    assert re.search(rf"^ends with a bound below the cutoff +{values['n_leaves']:,}$", said, re.M)
    assert re.search(rf"^of these, scored here +{values['n_scored']:,}$", said, re.M)
    assert re.search(rf"^boards that the run lists +{values['n_listed']:,}$", said, re.M)
    assert not re.search(r"^n ", said, re.M)


def test_watch_tells_once_that_a_run_was_stopped():
    from orderly_boggle.cluster.watch.screen import _happened
    from orderly_boggle.results.log_events import Stopped

    line = _happened(Stopped(reason="Interrupted", message="stopped by SIGTERM: 3 of 55")).plain
    assert line.endswith("  stopped by SIGTERM: 3 of 55")
    other = _happened(Stopped(reason="DamagedError", message="part-1 is damaged")).plain
    assert other.endswith("  stopped DamagedError part-1 is damaged")
