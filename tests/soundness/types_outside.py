"""Installs the pinned pyright into an environment of its own, and has tests/docs/test_typed.py use
it: ``python -m tests.soundness.types_outside``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.conftest import ROOT
from tests.docs.test_typed import PYRIGHT


def main() -> None:
    """Install, run, and leave with 1 when it failed or something was skipped."""
    with tempfile.TemporaryDirectory() as folder:
        binaries = Path(folder) / "bin"
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = [binaries / "python", "-m", "pip", "install", "-q", f"pyright=={PYRIGHT}"]
        subprocess.run(install, check=True)
        # pyright is a program for node, which the test environment has
        path = os.pathsep.join(map(str, (binaries, Path(sys.executable).parent)))
        environment = os.environ | {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
        command = [sys.executable, "-m", "pytest", "-q", "-rs", "tests/docs/test_typed.py"]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False
        )
        sys.stdout.write(done.stdout)
        if done.returncode or "skipped" in done.stdout:
            sys.exit("types outside: failed, or something was skipped")


if __name__ == "__main__":
    main()
