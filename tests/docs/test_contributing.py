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
SUPER = "from orderly_boggle import parse_scores; print(parse_scores('super').points[3:6])"


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


@pytest.mark.parametrize("line", re.findall(r"^    orderly (.+)$", PAGE, re.MULTILINE))
def test_examples_run(line, orderly, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(block("toml"))
    assert orderly(*line.split()).out


# a run of before there was the rule is stored by the program as it is
STORED = """
import sys
from orderly_boggle.configs.model import load_config
from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.results.store.store import Store
from orderly_boggle.search.question import ask
asked = load_config("2x2", {"cutoff": 14, **eval(sys.argv[2])})
words = load_wordlist("scowl70")
question = asked.resolve(words, 14)
with Store.open(sys.argv[1], question, None) as store:
    print(store.question == question)
    print(*eval(f"[{sys.argv[3]}]"))
"""
RULE = "vars(store.question.rules).get('unfuse_last')"


@pytest.fixture
def copied(tmp_path):
    for folder in PRODUCT:
        without = shutil.ignore_patterns("published", "ongoing", "__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True, ignore=without)
    return tmp_path


def stored(folder, run, told=RULE, **options):
    command = [sys.executable, "-c", STORED, str(run), repr(options), told]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_a_rule_of_a_question_is_added(copied, tmp_path_factory):
    """One line: it is configured, stored, read from a run that does not know it, and compared."""
    run = tmp_path_factory.mktemp("stored")
    assert stored(copied, run).stdout.split() == ["True", "None"]
    (line,) = re.findall(r"^    (unfuse_last: int = .+)$", PAGE, re.MULTILINE)
    file = copied / "search/params.py"
    before = "    # letter groups that a free cell is forced to"
    assert file.read_text().count(before) == 1
    file.write_text(file.read_text().replace(before, f"    {line}\n{before}"))
    assert stored(copied, run).stdout.split() == ["True", "3"]
    refused = stored(copied, run, search={"unfuse_last": 5}).stderr
    assert "unfuse_last: asked for 5, stored 3" in refused
    new = tmp_path_factory.mktemp("new")
    assert stored(copied, new, search={"unfuse_last": 5}).stdout.split() == ["True", "5"]
    assert stored(copied, new, search={"unfuse_last": 5}).stdout.split() == ["True", "5"]
    assert "unfuse_last: asked for 3, stored 5" in stored(copied, new).stderr
    wrong = stored(copied, new, search={"unfuse_last": 1}).stderr
    assert "search.unfuse_last = 1: input should be greater than or equal to 2" in wrong


# what is said of a run of which nothing is known but its question
TOLD = """
import json, sys
from dataclasses import replace
from pathlib import Path
from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.cluster.web.jobs import BoardRequest
from orderly_boggle.results.proof.audit import RunQuestion, Unreadable, identity
from orderly_boggle.results.proof.claim import digest_of, statement_of
from orderly_boggle.results.proof.summary import BoardList, Wording
from orderly_boggle.results.store.run import open_run
run = open_run(sys.argv[1])
question, none = run.question, BoardList.of([], 0)
print(statement_of(question, none, Wording.of(question, run.made.words)))
print(digest_of(question, none, complete=True))
print("scored as before:", replace(question, wraps=0).scored == question.scored)
kept = json.loads(Path(sys.argv[1], "run.json").read_text())
print("stored:", kept["question"].get("wraps"))
try:
    print("shown:", BoardRequest(letters="aert", location=sys.argv[1]).scoring.table.name)
except InputError as error:
    print("not shown:", error)
try:
    print("audited:", RunQuestion(identity(kept), "it").digest == question.digest)
except Unreadable as error:
    print("not audited:", error)
"""


def test_a_value_that_the_answer_depends_on_is_added(copied, tmp_path_factory):
    """One line: runs of before keep their files and digests, and of others nothing is said without
    the value.
    """
    run = tmp_path_factory.mktemp("stored")
    assert stored(copied, run, told="question.digest").stdout.split()[0] == "True"
    digest = stored(copied, run, told="question.digest").stdout.split()[1]
    (line,) = re.findall(r"^    (wraps: int = .+)$", PAGE, re.MULTILINE)
    file = copied / "search/question.py"
    after = "    rules: Rules = field(default_factory=Rules)\n"
    assert file.read_text().count(after) == 1
    file.write_text(file.read_text().replace(after, f"{after}    {line}\n"))
    asked = {"told": "question.digest, store.question.wraps"}
    assert stored(copied, run, **asked).stdout.split() == ["True", digest, "0"]
    refused = stored(copied, run, wraps=1).stderr
    assert "wraps: asked for 1, stored 0" in refused
    new = tmp_path_factory.mktemp("new")
    other = stored(copied, new, **asked, wraps=1).stdout.split()
    assert (other[0], other[2]) == ("True", "1")
    assert other[1] != digest
    wrong = stored(copied, run, wraps=2).stderr
    assert "wraps = 2: input should be less than or equal to 1" in wrong
    asking = "ask('2x2', '0' * 64, 'words', 14, question.buckets, wraps=2)"
    wrong = stored(copied, run, told=asking).stderr
    assert "wraps 2: expected int, at least 0, at most 1" in wrong
    before, now = (told_of(copied, folder) for folder in (run, new))
    assert ") and standard points, none scores 14" in before[0]
    assert ") and standard points, wraps = 1, none scores 14" in now[0]
    assert before[1] != now[1], "a digest is that of an answer to one question"
    assert before[2:4] == ["scored as before: True", "stored: None"]
    assert before[4:] == ["shown: standard", "audited: True"]
    assert now[2:4] == ["scored as before: False", "stored: 1"]
    assert "not shown: boards of this run score by {'wraps': 1}, which the board page" in now[4]
    assert "not audited: it asks wraps = 1, which this checker does not know" in now[5]


def told_of(folder, run):
    """Return the lines that are said of a run by the program in a folder."""
    command = [sys.executable, "-c", TOLD, str(run)]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()


def test_a_command_and_a_score_table_are_added(copied):
    """In a copy of the program, with what the page says and nothing else."""
    tmp_path = copied
    (tmp_path / "cluster/cli/vowels.py").write_text(block("python"))
    for line, file, after in (
        ('"vowels": "vowels",', "cluster/cli/app.py", '    "Single boards": {\n'),
        ('"vowels": "orderly', "cluster/cli/examples.py", "EXAMPLES = {\n"),
        ('"super": ', "boardclass/scores.py", "TABLES = {\n"),
    ):
        (line,) = re.findall(rf"^    ({line}.*)$", PAGE, re.MULTILINE)
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
