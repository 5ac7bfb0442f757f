"""Bare surroundings: closed descriptors, no home, a folder that is gone.  No command ever calls
that a bug of ours.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from orderly_boggle.cluster.cli.app import PLACES
from tests.conftest import COMMAND, make_in
from tests.samples import daily

COMMANDS = {  # with what each needs to be done in a second or two
    "plan": "2x2 --cutoff 14 --seconds 0",
    "tune": "2x2 --cutoff 14 --rounds 2",
    "run": "2x2 --cutoff 14 --workers 0 --out OUT/new",
    "merge": "OUT/merged RUN",
    "derive": "RUN --out OUT/derived",
    "repeat": "RUN --sample 1",
    "certify": "RUN --sample 1",
    "audit": "RUN --leaves 1",
    "serve": "RUN --host 8.8.8.8",  # a server would not end
    "query": "RUN 'SELECT 1'",
    "compare": "RUN OUT/boards",
    "report": "RUN --out OUT/page.html -n 0",
    "climb": "--dims 2x2 --runs 1 --pool 2 --workers 1",
    "longest": "--dims 2x2 --workers 1",
    "wordlist": "list",
    **dict.fromkeys(("roll", "score", "play"), ""),
    **dict.fromkeys(("status", "verify", "runs", "watch", "top"), "RUN"),
    **dict.fromkeys(("neighbours", "show", "solve", "lists"), "aert"),
    **dict.fromkeys(("bound", "explain"), "'t ai e r'"),
    "export": "'t ai e r' --format lp",
    "paths": "3x3",
}
NOBODY = "setpriv --reuid 12345 --regid 12345 --clear-groups"
AROUND = {  # what stands before and behind the command in a shell
    "stdin": ("", "<&-"),
    "stdout": ("", ">&-"),
    "stderr": ("", "2>&-"),
    "gone": ('mkdir gone; cd gone; rmdir "$PWD";', ""),
    "no home": (f"chmod -R a+rwX .; env -u HOME -u XDG_CACHE_HOME -u NUMBA_CACHE_DIR {NOBODY}", ""),
}
QUICK = (
    ("score", "stdin"),
    ("query", "stdout"),
    ("run", "stderr"),
    ("status", "gone"),
    ("status", "no home"),
)


def called(proven, out, command, before, after):
    """Call a command in a shell; return code and all that it printed."""
    (out / "boards").write_text("aert,14\n")
    run = shutil.copytree(proven, out / "run", dirs_exist_ok=True)
    if command == "audit":
        make_in(out, "certify", "run", "--sample", "1")
    words = shlex.split(COMMANDS[command].replace("RUN", str(run)).replace("OUT", str(out)))
    done = subprocess.run(
        ["bash", "-c", f'{before} "$@" {after}', "bash", *COMMAND, command, *words],
        cwd=out,
        input="berlatdes\n",
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_every_command_is_tried():
    assert set(COMMANDS) == set(PLACES)


@pytest.mark.timeout(1800)  # a user without a home compiles each kernel anew
@pytest.mark.parametrize(
    ("command", "name"),
    daily(QUICK, product(COMMANDS, AROUND)),
)
def test_bare_surroundings_are_no_bug(proven, command, name):
    if name == "no home" and (os.geteuid() != 0 or not shutil.which("setpriv")):
        pytest.skip("only root can be somebody else")
    with TemporaryDirectory() as folder:  # those of pytest are for one user only, and must stay so
        code, said = called(proven, Path(folder), command, *AROUND[name])
    assert "internal error" not in said
    assert "Traceback" not in said
    expected = {("score", "stdin"): 2, ("watch", name): 2, ("serve", name): 2}.get(
        (command, name), 0
    )
    assert code in (
        expected,
        5 if command == "compare" else expected,
        2 if name == "gone" else expected,
    ), said
    if command == "score" and name != "gone":
        assert {"stdin": "standard input is closed: expected boards", "stdout": ""}.get(
            name, "430"
        ) in said


def test_a_run_deleted_under_a_command_is_named(orderly, tmp_path, monkeypatch):
    def gone(*_):
        (tmp_path / "run" / "run.json").read_bytes()

    (tmp_path / "run").mkdir()
    monkeypatch.setattr("orderly_boggle.results.store.run.open_run", gone)
    answer = orderly.fails(2, "status", tmp_path / "run")
    assert "run.json' is gone: something deleted it" in answer
