"""Completion in a real shell: what bash has in COMPREPLY after a TAB."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

SCRIPT = """
eval "$(orderly --show-completion)"
while read -r -a COMP_WORDS; do
    [ "${COMP_WORDS[-1]}" = TAB ] && COMP_WORDS[-1]=""
    COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
    _orderly_completion orderly
    echo "${COMPREPLY[*]}"
done
"""
CASES = {
    "orderly cl": {"climb"},
    "orderly climb --method TAB": {"pool", "anneal", "genetic"},
    "orderly climb --ex": {"--exclude"},
    "orderly climb --dims 4": {"4x4", "4x5"},
    "orderly run 2": {"2x2"},
    "orderly show tea -w scow": {"scowl70"},
    "orderly show tea --scores p": {"powers"},
    "orderly top runs/x --rollable TAB": {"big", "classic", "new", "super"},
    "orderly roll --dice c": {"classic"},
    "orderly solve tea --method h": {"heap"},
    "orderly wordlist g": {"get"},
    "orderly wordlist get TAB": {"enable2k", "yawl"},
    "orderly compare runs/x no": set(),
}


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_completes(tmp_path, project_root):
    command = tmp_path / "orderly"
    command.write_text(f"#!{sys.executable}\nfrom cluster.cli.start import main\nmain()\n")
    command.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", SCRIPT],
        input="\n".join(CASES) + "\n",
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(project_root)},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    offered = dict(zip(CASES, map(set, map(str.split, done.stdout.splitlines())), strict=True))
    assert offered == CASES
