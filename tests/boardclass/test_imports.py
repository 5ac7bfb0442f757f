"""What stays light: no command should wait for numba before it computes anything."""

from __future__ import annotations

import subprocess
import sys

LIGHT = "errors geometry canonical board partition wordlist scores"


def test_only_the_kernel_modules_load_numba():
    modules = ", ".join(f"boardclass.{name}" for name in LIGHT.split())
    code = f"import sys, {modules}, configs.model; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
