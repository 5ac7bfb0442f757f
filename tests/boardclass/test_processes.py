"""Processes that share out work load no module from the folder at hand."""

from __future__ import annotations

import os
import subprocess
import sys

from boardclass.processes import pool
from tests.conftest import ROOT

SCRIPT = """
from boardclass.processes import pool

if __name__ == "__main__":
    with pool(2) as executor:
        print(sum(executor.map(abs, [-1, -2])))
"""


def test_processes_load_no_module_from_the_folder_at_hand(tmp_path, elsewhere):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, script],
        cwd=elsewhere,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("3\n", "")


def test_the_environment_is_as_it_was_afterwards(monkeypatch):
    for before in (None, "2"):
        if before is None:
            monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
        else:
            monkeypatch.setenv("PYTHONSAFEPATH", before)
        with pool(1, os.putenv, "A_NAME", "x") as executor:
            assert executor.submit(os.getenv, "PYTHONSAFEPATH").result() == "1"
        assert os.environ.get("PYTHONSAFEPATH") == before
