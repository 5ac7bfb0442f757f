"""``make run`` and ``make test`` say what they download, file by file, and how much it will be."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.conftest import ROOT

PIP = """#!/bin/sh
echo 'Obtaining file:///here'
echo 'Collecting numba<0.69'
echo '  Downloading numba-0.66.0-cp311.whl.metadata (2.8 kB)'
echo '  Downloading numba-0.66.0-cp311.whl (3.8 MB)'
echo 'Using cached ray-2.52.0-cp311.whl (72.1 MB)'
echo 'Requirement already satisfied: rich in here'
echo 'Installing collected packages: numba, ray'
exit %d
"""


@pytest.fixture
def make(tmp_path):
    if shutil.which("make") is None:
        pytest.skip("needs make")

    def call(stamp, code=0):
        python = tmp_path / "venv/bin/python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.write_text(PIP % code)
        python.chmod(0o755)
        command = ["make", f"VENV={tmp_path}/venv", f"{tmp_path}/venv/{stamp}"]
        # what "make test" hands down would make this make speak of folders
        values = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        done = subprocess.run(
            command, cwd=ROOT, env=values, capture_output=True, text=True, check=False
        )
        return done, (tmp_path / "venv" / stamp).exists()

    return call


@pytest.mark.parametrize(("extras", "size"), [("run", "0.7 GB"), ("test", "1.7 GB")])
def test_it_says_what_is_downloaded_and_how_much_in_all(make, extras, size):
    done, is_done = make(f".installed-{extras}")
    assert (done.returncode, is_done) == (0, True), done.stderr
    first, *files = done.stdout.splitlines()
    assert size in first
    assert files == [
        "  numba-0.66.0-cp311.whl (3.8 MB)",
        "  ray-2.52.0-cp311.whl (72.1 MB)",
        "  now they are installed ...",
    ]
    assert f"({size})" in (ROOT / "README.md").read_text("utf-8")


def test_what_pip_could_not_install_is_not_taken_for_installed(make):
    done, is_done = make(".installed-run", 1)
    assert (done.returncode != 0, is_done) == (True, False)
