"""Type checkers read the annotations of the installed program: of the wheel, in a script that is
not of this project.

mypy runs every day.  pyright, of the version that is pinned here, runs where it is installed
(``pip install pyright==VERSION``) and each night (tests/soundness/types_outside.py).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile

import pytest

from tests.conftest import ROOT

PYRIGHT = "1.1.414"
SCRIPT = ROOT / "tests/docs/outside.py"
WRONG = """
from orderly_boggle import Scorer, score
score(3, "scowl70")
Scorer("3x3", "scowl70").score("berlatdes").upper()
"""


def said(*command, cwd):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return an environment with the wheel, that has what it needs from this one."""
    pytest.importorskip("build", reason="needs build: pip install 'orderly-boggle[test]'")
    top = tmp_path_factory.mktemp("typed")
    source = top / "source"
    for name in said("git", "ls-files", "-z", cwd=ROOT).stdout.split("\0"):
        # what a type checker does not read need not be copied
        read = (".py", ".pyi", ".toml", ".md", "py.typed", "LICENSE")
        if name.endswith(read) or (ROOT / name).is_symlink():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name, follow_symlinks=False)
    made = said(sys.executable, "-m", "build", "--wheel", "--outdir", top / "dist", source, cwd=top)
    if "Could not find a version" in made.stdout + made.stderr:
        pytest.skip("needs the package index, for what builds the wheel")
    assert made.returncode == 0, made.stderr
    environment = top / "venv"
    said(sys.executable, "-m", "venv", "--without-pip", environment, cwd=top)
    (packages,) = environment.glob("lib/*/site-packages")
    (wheel,) = (top / "dist").iterdir()
    with zipfile.ZipFile(wheel) as file:
        file.extractall(packages)
    # behind its own packages: those of this environment, but not this project
    (packages / "others.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n")
    (top / "work").mkdir()
    shutil.copy2(SCRIPT, top / "work/outside.py")
    (top / "work/wrong.py").write_text(WRONG)
    return environment / "bin/python", top / "work"


def test_mypy_takes_the_types_of_the_wheel(installed):
    pytest.importorskip("mypy", reason="needs mypy: pip install 'orderly-boggle[dev]'")
    python, folder = installed
    strict = ("--strict", "--python-executable", python, "--cache-dir", folder / "cache")
    mypy = (sys.executable, "-m", "mypy", *strict)
    good = said(*mypy, "outside.py", cwd=folder)
    assert (good.returncode, good.stdout) == (0, "Success: no issues found in 1 source file\n")
    wrong = said(*mypy, "wrong.py", cwd=folder)
    assert "[arg-type]" in wrong.stdout
    assert '"int" has no attribute "upper"' in wrong.stdout


def test_pyright_takes_the_types_of_the_wheel(installed):
    pyright = shutil.which("pyright") or ""
    if PYRIGHT not in (said(pyright, "--version", cwd=ROOT).stdout if pyright else ""):
        pytest.skip(f"needs pyright: pip install pyright=={PYRIGHT}")
    python, folder = installed
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    asked = (pyright, "--outputjson", "--pythonpath", python)
    good = json.loads(said(*asked, "outside.py", cwd=folder).stdout)
    assert good["generalDiagnostics"] == []
    wrong = json.loads(said(*asked, "wrong.py", cwd=folder).stdout)
    rules = {item["rule"] for item in wrong["generalDiagnostics"]}
    assert {"reportArgumentType", "reportAttributeAccessIssue"} <= rules
