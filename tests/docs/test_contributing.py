"""The examples of CONTRIBUTING.md work as they stand."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.bench.size import PRODUCT
from tests.conftest import COMMAND, ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
SUPER = "from boardclass.scores import parse_scores; print(parse_scores('super').points[3:6])"


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


@pytest.mark.parametrize("line", re.findall(r"^    orderly (.+)$", PAGE, re.MULTILINE))
def test_examples_run(line, orderly, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(block("toml"))
    assert orderly(*line.split()).out


def test_a_command_and_a_score_table_are_added(tmp_path):
    """In a copy of the program, with what the page says and nothing else."""
    for folder in PRODUCT:
        without = shutil.ignore_patterns("published", "ongoing", "__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=without)
    (tmp_path / "cluster/cli/vowels.py").write_text(block("python"))
    for name, file, after in (
        ("vowels", "cluster/cli/app.py", '    "Single boards": {\n'),
        ("super", "boardclass/scores.py", "TABLES = {\n"),
    ):
        (line,) = re.findall(rf'^    ("{name}": .+)$', PAGE, re.MULTILINE)
        text = (tmp_path / file).read_text()
        assert text.count(after) == 1
        (tmp_path / file).write_text(text.replace(after, f"{after}        {line}\n"))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    (asked,) = re.findall(r"`orderly (vowels .+?)`", PAGE)
    said = [
        subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        for command in (
            [*COMMAND, *asked.split()],
            [*COMMAND, "vowels", "a?"],
            [sys.executable, "-c", SUPER],
        )
    ]
    assert json.loads(said[0].stdout) == [{"board": "berlatdes", "vowels": 3}]
    assert said[1].returncode == 2
    assert "'a?'" in said[1].stderr
    assert said[2].stdout == "(0, 1, 2)\n"
