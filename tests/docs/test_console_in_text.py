"""What the documentation shows of the command line is what it prints: ``console`` blocks, a ``$``
before a command.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from tests.conftest import ROOT, make_in
from tests.samples import daily

_MATCHING = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def steps(page: Path) -> Iterator[tuple[str, str]]:
    """Yield the commands of a page in order, and what it says they print; ``...`` stands for
    anything.
    """
    for block in re.findall(
        r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            yield command, expected


def prepared(folder: Path) -> dict[str, str]:
    """Return an environment with the command ``python`` and no word list but the bundled one."""
    tools = folder / "bin"
    tools.mkdir()
    (tools / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tools / "python").chmod(0o755)
    for name in ("configs", "docs"):
        (folder / name).symlink_to(ROOT / name)
    names = {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "ORDERLY_WORDLISTS": "",
    }
    return {**os.environ, **names}


def printed(command: str, folder: Path, environment: dict[str, str]) -> str:
    """Run a command in a folder and return its standard output; it must succeed."""
    name, *arguments = shlex.split(command)
    if name == "orderly":
        with mock.patch.dict(os.environ, environment):
            return make_in(folder, *arguments)
    bash = ["bash", "-c", command]
    done = subprocess.run(
        bash, cwd=folder, env=environment, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return done.stdout


FILES = sorted((ROOT / "README.md", *(ROOT / "docs").rglob("*.md")))
PAGES = {str(path.relative_to(ROOT)): list(steps(path)) for path in FILES}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "page",
    daily(["docs/algorithm.md"], [page for page, found in PAGES.items() if found]),
)
def test_commands_print_what_the_page_says(page, tmp_path):
    environment = prepared(tmp_path)
    assert len(PAGES["docs/tutorial.md"]) > 5
    for command, expected in PAGES[page]:
        output = printed(command, tmp_path, environment)
        agrees = doctest.OutputChecker().check_output(expected, output, _MATCHING)
        assert agrees, f"{command}\n--- the page\n{expected}--- the program\n{output}"
