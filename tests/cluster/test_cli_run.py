"""``run``, ``status`` and ``top`` from end to end on small boards, and everything a run must refuse without a trace."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest

from boardclass.canonical import canonical_board
from boardclass.geometry import geometry
from boardclass.scores import parse_scores
from boardclass.wordlist import load_wordlist
from cluster.driver.driver import run
from configs.model import RunConfig
from results.store.run import open_run
from search.scoring.scorer import Scorer
from tests.conftest import COMMAND, make_in
from tests.samples import daily

SMALL = ("--dims", "2x2", "--cutoff", "12", "--workers", "0")


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def digest_of(orderly, run):
    return json.loads(orderly("status", run, "--format", "json").out)["digest"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty directory to run in."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_run_ends_with_the_board_and_the_claim(here):
    out = make_in(here, "run", *SMALL)
    (directory,) = (here / "runs").iterdir()
    assert directory.name == "2x2-scowl70-12"
    assert "│ A  │ R  │" in out
    words = " ".join(out.split())
    assert "Proven. Of all 456,976 2x2 boards" in words
    assert "score 12 or more; the highest score is 14" in words
    assert (directory / "claim.json").is_file()


def test_top_lists_the_best_boards_in_order(orderly, proven):
    n_boards = json.loads(orderly("status", proven, "--format", "json").out)["n_boards"]
    rows = list(csv.DictReader(io.StringIO(orderly("top", proven, "-n", "999", "--format", "csv").out)))
    assert len(rows) == n_boards
    assert list(rows[0]) == ["board", "score", "proven"]
    scores = [int(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= 12
    first = json.loads(orderly("top", proven, "-n", "3", "--format", "json").out)
    assert first == [{"board": row["board"], "score": int(row["score"]), "proven": True} for row in rows[:3]]
    assert rows[0]["board"] in orderly("top", proven).out
    again = orderly("score", "--format", "csv", stdin="\n".join(row["board"] for row in rows)).out
    assert [{**row, "proven": "True"} for row in csv.DictReader(io.StringIO(again))] == rows


def test_options_override_the_config(orderly, here):
    (here / "mine.toml").write_text('dims = "2x3"\ncutoff = 1\nwordlist = "nosuch"\n')
    (here / "words.txt").write_text("bee\nbeef\nfee\n")
    options = ("--dims", "2X2", "--wordlist", "./words.txt", "--cutoff", "2", "--scores", "1,7", "--workers", "0")
    answer = orderly("run", "mine.toml", *options, "--out", "mine")
    assert answer.code == 0, answer.err
    record = json.loads(orderly("status", "mine", "--format", "json").out)
    assert (record["dims"], record["wordlist"], record["cutoff"], record["best_score"]) == ("2x2", "words", 2, 9)


def test_memory_is_that_of_the_search_and_changes_no_result(orderly, here, proven):
    (here / "mine.toml").write_text('dims = "2x3"\n[search]\nmemory_mb = 64\nnode_budget = 7\n')
    for out, options in {"small": SMALL, "mine": ("mine.toml", *SMALL)}.items():
        answer = orderly("run", *options, "--memory", "16", "--out", out)
        assert answer.code == 0, answer.err
    runs = ("small", "mine", proven)
    digests = {digest_of(orderly, run) for run in runs}
    assert len(digests) == 1
    stored = (here / "mine" / "run.json").read_text()
    assert '"memory_mb": 16,' in stored
    assert '"node_budget": 7,' in stored


def test_a_run_keeps_the_cell_order_it_began_with(orderly, here):
    """The order is part of the question: one that is named must be the run's, and without a name the run's is taken."""
    (here / "few.txt").write_text("".join(f"{a}{b}{c}s\n" for a in "blprt" for b in "aeio" for c in "lnrt"))
    words = ("--wordlist", "few.txt", "--cutoff", "8", "--buckets", "aeiou bcdfghjklmnpqrstvwxyz")
    question = ("--dims", "2x3", *words, "--workers", "0")
    first = orderly("run", *question, "--order", "ring", "--out", "ring")
    assert first.code == 0, first.err
    assert json.loads((here / "ring" / "run.json").read_text())["fingerprint"]["cell_order"] == [1, 4, 2, 5, 3, 0]
    again = orderly("run", *question, "--out", "ring")
    assert again.code == 0, again.err
    assert "0 verdicts computed" in again.out
    before = files_in(here / "ring")
    refused = orderly("run", *question, "--order", "pairs", "--out", "ring")
    assert refused.code == 3
    assert "cell_order: asked for [1, 4, 0, 3, 2, 5], stored [1, 4, 2, 5, 3, 0]" in refused.err
    assert files_in(here / "ring") == before
    for command in ("verify", "certify", "audit"):
        answer = orderly(command, "ring")
        assert answer.code == 0, answer.err
    other = orderly("run", *question, "--out", "other")
    assert other.code == 0, other.err
    digests = {digest_of(orderly, run) for run in ("ring", "other")}
    assert len(digests) == 1


def test_no_board_at_the_cutoff_is_a_result_too(orderly, here):
    answer = orderly("run", "2x2", "--cutoff", "999", "--workers", "0", "--out", "none")
    assert answer.code == 0, answer.err
    assert "none scores 999 or more" in " ".join(answer.out.split())
    assert orderly("top", "none", "--format", "csv").out == "board,score,proven\n"


def test_a_missing_ray_is_told_before_anything_is_written(orderly, here, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    answer = orderly("run", "2x2", "--cutoff", "12", "--workers", "2", "--address", "local")
    assert (answer.code, answer.out) == (2, "")
    assert "--workers without --address" in answer.err
    assert files_in(here) == []


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("number", daily([signal.SIGINT, signal.SIGKILL], lambda number: number == signal.SIGINT))
def test_a_stopped_run_goes_on_and_ends_with_the_same_digest(orderly, here, project_root, number):
    buckets = "aeiou bcdfg hjklmnp qrstvwxyz"
    arguments = ("run", "--dims", "2x3", "--cutoff", "80", "--buckets", buckets, "--workers", "0")
    command = [*COMMAND, *arguments, "--out", "stopped"]
    environment = {**os.environ, "PYTHONPATH": str(project_root)}
    process = subprocess.Popen(command, cwd=here, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(600):
        if (here / "stopped" / "run.json").exists() or process.poll() is not None:
            break
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert b"Traceback" not in err
    assert process.returncode in {signal.SIGINT: (4, 0), signal.SIGKILL: (-signal.SIGKILL, 0)}[number], err
    assert orderly(*arguments, "--out", "stopped").code == 0
    assert orderly(*arguments, "--out", "whole").code == 0
    assert digest_of(orderly, "stopped") == digest_of(orderly, "whole")


def test_a_cutoff_far_too_low_is_refused_at_once_with_the_one_that_a_climb_suggests(orderly, tmp_path):
    words = [word for word in load_wordlist("scowl70").words if len(word) < 10]
    some = sorted(random.Random(1).sample(words, 1500))
    (tmp_path / "some.txt").write_text("".join(f"{word.replace('q', 'qu')}\n" for word in some))
    out = tmp_path / "run"
    answer = orderly("run", "3x3", "-w", tmp_path / "some.txt", "--cutoff", "12", "--workers", "0", "--out", out)
    assert (answer.code, answer.out) == (2, "")
    told = re.search(
        r"cutoff 12 is far too low: about .* climb found (\w+) with (\d+) points, so --cutoff \2 or", answer.err
    )
    assert told is not None, answer.err
    assert Scorer("3x3", some, parse_scores("standard")).score(told[1]) == int(told[2]) > 20
    assert not out.exists()


def test_a_run_that_began_goes_on_whatever_its_cutoff(orderly, tmp_path, monkeypatch):
    arguments = ("run", "2x2", "--cutoff", "14", "--workers", "0", "--out")
    before = orderly(*arguments, tmp_path / "old")
    monkeypatch.setattr("cluster.planning.plan.MAX_BOARDS", 0)
    assert orderly(*arguments, tmp_path / "new").code == 2
    again = orderly(*arguments, tmp_path / "old")
    assert (before.code, again.code) == (0, 0), again.err


# ---- the published 3x3 result: same boards, same digest for any workers

GOLDEN_QUESTION = ("run", "3x3", "--wordlist", "enable2k", "--cutoff", "500")
# Of the 42 published boards with their scores.
DIGEST = "6a8a2a998795c9b26e4fd1964fd3921974aa8c01b9be9bc723b04e4f450a578f"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("workers", [0, *(pytest.param(n, marks=[pytest.mark.nightly]) for n in (1, 2))])
def test_golden_3x3(enable2k, golden, orderly, tmp_path, workers):
    answer = orderly(*GOLDEN_QUESTION, "--workers", workers, "--out", tmp_path / "run")
    assert answer.code == 0, answer.err
    assert "exactly 42 up to symmetry" in " ".join(answer.out.split())
    rows = csv.DictReader(io.StringIO(orderly("top", tmp_path / "run", "-n", "99", "--format", "csv").out))
    found = [(row["board"], int(row["score"])) for row in rows]
    lines = (golden / "best-3x3-enable2k-500.txt").read_text().split("\n")
    published = [line.split(": ") for line in lines if line]
    expected = {(canonical_board(board, geometry("3x3")), int(score)) for board, score in published}
    assert len(found) == len(expected) == 42
    assert set(found) == expected
    assert found[0][1] == 545
    assert digest_of(orderly, tmp_path / "run") == DIGEST


# ---- run --extend: the answer at another cutoff is that of a search from scratch

LIKE = ("--dims", "2x3", "--buckets", "aeiou bcdfg hjklmnp qrstvwxyz", "--workers", "0")
MIDDLE = 60


@pytest.fixture(scope="module")
def digests(tmp_path_factory):
    """Return the directory of a run at a cutoff, searched from scratch, and its digest; each is made once."""
    folder = tmp_path_factory.mktemp("scratch")
    known = {}

    def at(cutoff):
        if cutoff not in known:
            out = str(folder / str(cutoff))
            config = RunConfig(dims="2x3", buckets=LIKE[3], cutoff=cutoff, out=out, workers=0)
            known[cutoff] = out, run(config).digest
        return known[cutoff]

    return at


@pytest.mark.slow
@pytest.mark.parametrize("cutoff", daily([40, MIDDLE - 1, 75], lambda cutoff: cutoff == MIDDLE - 1))
def test_the_answer_is_that_of_a_search_from_scratch(orderly, digests, tmp_path, cutoff):
    source, _ = digests(MIDDLE)
    command = ("run", *LIKE, "--cutoff", cutoff, "--out", tmp_path / "out", "--extend", source)
    answer = orderly(*command)
    assert answer.code == 0, answer.err
    told = re.search(rf"reused ([\d,]+) of ([\d,]+) verdicts of {source} \(cutoff {MIDDLE}\)", answer.err)
    assert told is not None, answer.err
    n_reused, n_verdicts = (int(number.replace(",", "")) for number in told.groups())
    assert n_verdicts == len(list(open_run(source).rows()))
    computed = re.search(r"([\d,]+) verdicts computed", answer.out)
    assert computed is not None
    if cutoff > MIDDLE:
        assert (n_reused, computed[1]) == (n_verdicts, "0")
    else:
        assert int(computed[1].replace(",", "")) == n_verdicts - n_reused > 0
        assert "do not hold at the new cutoff and are searched again" in answer.err
    record = json.loads(orderly("status", tmp_path / "out", "--format", "json").out)
    assert (record["state"], record["digest"]) == ("proven", digests(cutoff)[1])
    again = orderly(*command)
    assert again.code == 0
    assert "0 verdicts computed" in again.out
    assert orderly("verify", tmp_path / "out").code == 0


def test_another_question_is_not_extended(orderly, digests, tmp_path):
    source, _ = digests(MIDDLE)
    other = ("--dims", "2x3", "--cutoff", 70, "--workers", "0", "--out", tmp_path / "out", "--extend", source)
    answer = orderly("run", *other)
    assert (answer.code, answer.out) == (3, "")
    assert "partition: asked for" in answer.err
    assert not (tmp_path / "out").exists(), "nothing is written"
    assert orderly("run", *LIKE, "--cutoff", 70, "--extend", tmp_path / "none", "--out", tmp_path / "out").code == 3
    hint = orderly("run", *LIKE, "--cutoff", 70, "--out", source)
    assert hint.code == 3
    assert "cutoff: asked for 70, stored 60" in hint.err
    assert "--extend" in hint.err
