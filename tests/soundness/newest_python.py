"""The notebook and the quick tests on the newest Python that this machine has.

    python -m tests.soundness.newest_python [--python PATH] [TEST ...]

An environment of its own is made in a temporary folder, with the newest versions of all packages
that the project takes.  Exit code 1 when one has no build for that Python, or a test fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NEWEST = 20  # of the 3.x that are looked for
TESTS = ("tests/docs", "tests/boardclass", "tests/configs")
COMPILE = (
    "from orderly_boggle import score; score('berlatdes', 'scowl70')"  # or the notebook says so
)
_VERSION = "import sys; print(*sys.version_info[:2])"


def version_of(python: str) -> tuple[int, ...]:
    """Return the version of an interpreter; nothing when it does not start."""
    done = subprocess.run([python, "-c", _VERSION], capture_output=True, text=True, check=False)
    return tuple(map(int, done.stdout.split()))


def newest() -> str | None:
    """Return the newest interpreter that starts and is newer than this one: on the PATH, or
    installed next to this one, as pyenv and uv do.
    """
    folders = sorted(Path(sys.base_prefix).parent.glob("*/bin"), reverse=True)
    path = os.pathsep.join([os.environ["PATH"], *map(str, folders)])
    for minor in range(NEWEST, sys.version_info.minor, -1):
        for folder in path.split(os.pathsep):
            python = shutil.which(f"python3.{minor}", path=folder)
            if python and version_of(python) == (3, minor):
                return python
    return None


def main() -> int:
    """Make the environment, run the tests, say with which Python."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", default=newest(), help="by default the newest that is found")
    parser.add_argument("tests", nargs="*", default=TESTS)
    options = parser.parse_args()
    here = ".".join(map(str, sys.version_info[:2]))
    if options.python is None:
        sys.stdout.write(f"NOT TRIED: no Python newer than {here} is found (--python PATH)\n")
        return 0
    version = ".".join(map(str, version_of(options.python)))
    if not version:
        sys.stdout.write(f"{options.python} is no Python that starts\n")
        return 1
    with tempfile.TemporaryDirectory(prefix="orderly-python-") as folder:
        python = f"{folder}/bin/python"
        commands = (
            [options.python, "-m", "venv", folder],
            [python, "-m", "pip", "install", "-qq", "--editable", f"{ROOT}[test]"],
            [python, "-c", COMPILE],
            [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options.tests],
        )
        for command in commands:
            code = subprocess.run(command, cwd=ROOT, check=False).returncode
            if code:
                sys.stdout.write(f"Python {version}: {' '.join(command)}: exit code {code}\n")
                return 1
    sys.stdout.write(f"Python {version}: {' '.join(options.tests)} pass\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
