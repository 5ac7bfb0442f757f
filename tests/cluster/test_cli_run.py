"""``run``, ``status`` and ``top`` from end to end on small boards, and everything a run must refuse
without a trace.
"""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time

import pytest

from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.configs.model import RunConfig
from orderly_boggle.results.store.run import open_run
from orderly_boggle.search.scoring.scorer import Scorer
from tests.cluster.whole_run import seal_claim
from tests.conftest import COMMAND, published_boards, rows_of
from tests.samples import daily

SMALL = ("--dims", "2x2", "--cutoff", "12", "--workers", "0")
BUCKETS = "aeiou bcdfg hjklmnp qrstvwxyz"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty directory to run in."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_run_that_another_answers_says_so_first(here):
    """With a command that can be run: the folder in it is one that does not exist yet."""
    command = [*COMMAND, "run", "3x4", "--cutoff", "1100", "--workers", "0", "--out", "runs/mine"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as driver:
        assert driver.stderr
        told = next(line for line in driver.stderr if "comes with the program" in line)
        driver.kill()
    derive = "orderly derive 3x4-scowl70 --cutoff 1100 --out runs/mine-derived"
    assert told == f"the run 3x4-scowl70, which comes with the program, answers this: {derive}\n"


def test_a_preset_that_is_answered_names_the_best_board_before_it_climbs(here):
    command = [*COMMAND, "run", "3x4", "--workers", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as driver:
        assert driver.stderr
        told = driver.stderr.readline()
        assert driver.stderr.readline().startswith("climbing")
        driver.kill()
    assert told == (
        "the run 3x4-scowl70, which comes with the program, proves the best of 3x4 for this list "
        "and these points: cindlatepers, 1,167 points (orderly top 3x4-scowl70); --wordlist and "
        "--scores ask for others, --cutoff for more boards\n"
    )
    assert not files_in(here)


def test_a_run_ends_with_the_board_and_the_claim_and_top_lists_the_boards(orderly, here):
    out = orderly.done("run", *SMALL)
    assert "│ A  │ R  │" in out
    words = " ".join(out.split())
    assert "Proven. Of all 456,976 2x2 boards" in words
    assert "score 12 or more; the highest score is 14" in words
    (directory,) = (here / "runs").iterdir()
    assert directory.name == "2x2-scowl70-12"
    assert (directory / "claim.json").is_file()
    rows = rows_of(orderly("top", directory, "-n", "999", "--format", "csv"))
    assert len(rows) == orderly.json("status", directory)["n_boards"]
    assert list(rows[0]) == ["board", "score", "proven"]
    scores = [int(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= 12
    first = orderly.json("top", directory, "-n", "3")
    assert first == [
        {"board": row["board"], "score": int(row["score"]), "proven": True} for row in rows[:3]
    ]
    assert rows[0]["board"] in orderly.done("top", directory)
    again = rows_of(
        orderly("score", "--format", "csv", stdin="\n".join(row["board"] for row in rows))
    )
    assert [{**row, "proven": "True"} for row in again] == rows
    assert "none scores 999 or more" in " ".join(
        orderly.done("run", *SMALL, "--cutoff", "999", "--out", "none").split()
    )
    assert orderly.done("top", "none", "--format", "csv") == "board,score,proven\n"


@pytest.mark.parametrize("size", ["3x2", "3X2", "2X2", "10x2"])
def test_any_size_stands_for_a_config(orderly, here, size):
    said = orderly.fails(2, "run", size, "--wordlist", "./missing.txt")
    assert "cannot read the word list 'missing.txt'" in said
    assert ("turned" in said) == (size != "2X2")


def test_a_run_below_home_lies_there(orderly, here, tmp_path, monkeypatch):
    """Where no shell puts it in, as in --out=~/mine or in a config."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (here / "one.txt").write_text("tea\n")
    asked = ("--wordlist", "./one.txt", "--cutoff", 1)
    done = orderly.done("run", *SMALL, *asked, "--out=~/mine")
    assert "more: orderly top ~/mine" in done
    assert open_run(tmp_path / "mine").question.cutoff == 1
    assert files_in(here) == ["one.txt"]
    assert orderly.json("status", "~/mine")["proven"]
    orderly.done("derive", "~/mine", "--out=~/derived")
    assert open_run("~/derived").question.cutoff == 1


def test_a_list_of_one_word_is_said_to_have_one(orderly, here):
    (here / "one.txt").write_text("tea\n")
    done = orderly.done("run", *SMALL, "--wordlist", "./one.txt", "--cutoff", 1, "--out", "one")
    assert "with the 1 word of one" in " ".join(done.split())
    status = orderly.json("status", "one")
    once = status["statement"].replace("1 word of", "1 words of")
    seal_claim(here / "one", here / "one", statement=once)
    assert orderly.json("status", "one")["notes"] == [], "as version 0.1.0 wrote it"


def test_options_override_the_config_and_memory_changes_no_result(orderly, here, proven):
    (here / "mine.toml").write_text(
        'dims = "2x3"\ncutoff = 1\nwordlist = "nosuch"\n[search]\nnode_budget = 7\n'
    )
    (here / "words.txt").write_text("bee\nbeef\nfee\n")
    options = (
        "--dims",
        "2X2",
        "--wordlist",
        "./words.txt",
        "--cutoff",
        "2",
        "--scores",
        "1,7",
        "--workers",
        "0",
    )
    orderly.done("run", "mine.toml", *options, "--out", "mine")
    record = orderly.json("status", "mine")
    assert (record["dims"], record["wordlist"], record["cutoff"], record["best_score"]) == (
        "2x2",
        "words",
        2,
        9,
    )
    orderly.done(
        "run",
        "mine.toml",
        *SMALL,
        "--wordlist",
        "scowl70",
        "--memory",
        "16",
        "--out",
        "little",
    )
    assert orderly.json("status", "little")["digest"] == orderly.json("status", proven)["digest"]
    budgets = open_run("little").made.budgets
    assert (budgets.memory_mb, budgets.node_budget) == (16, 7)


def test_a_run_keeps_the_cell_order_it_began_with(orderly, here):
    """The order is part of the question: one that is named must be the run's, and without a name
    the run's is taken.
    """
    (here / "few.txt").write_text(
        "".join(f"{a}{b}{c}s\n" for a in "blprt" for b in "aeio" for c in "lnrt")
    )
    words = ("--wordlist", "few.txt", "--cutoff", "8", "--buckets", "aeiou bcdfghjklmnpqrstvwxyz")
    question = ("run", "--dims", "2x3", *words, "--workers", "0")
    orderly.done(*question, "--order", "ring", "--out", "ring")
    assert open_run("ring").question.cell_order == (1, 4, 2, 5, 3, 0)
    assert "0 verdicts computed" in orderly.done(*question, "--out", "ring")
    before = files_in(here / "ring")
    refused = orderly(*question, "--order", "pairs", "--out", "ring")
    assert refused.code == 3
    assert "cell_order: asked for [1, 4, 0, 3, 2, 5], stored [1, 4, 2, 5, 3, 0]" in refused.err
    assert files_in(here / "ring") == before
    for command in ("verify", "certify", "audit"):
        orderly.done(command, "ring")
    orderly.done(*question, "--out", "other")
    assert orderly.json("status", "ring")["digest"] == orderly.json("status", "other")["digest"]


def test_a_missing_ray_is_told_before_anything_is_written(orderly, here, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    answer = orderly.fails(
        2, "run", "2x2", "--cutoff", "12", "--workers", "2", "--address", "local"
    )
    assert "--workers without --address" in answer
    assert files_in(here) == []


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """Return the directory of a 2x3 run at a cutoff, searched from scratch, and its digest; each is
    made once.
    """
    folder = tmp_path_factory.mktemp("scratch")
    known = {}

    def at(cutoff):
        if cutoff not in known:
            out = str(folder / str(cutoff))
            config = RunConfig(dims="2x3", buckets=BUCKETS, cutoff=cutoff, out=out, workers=0)
            known[cutoff] = out, run(config).digest
        return known[cutoff]

    return at


LARGER = ("run", "--dims", "2x3", "--buckets", BUCKETS, "--workers", "0")
MIDDLE = 60


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("number", daily([signal.SIGINT], [signal.SIGKILL]))
def test_a_stopped_run_goes_on_and_ends_with_the_same_digest(orderly, here, scratch, number):
    arguments = (*LARGER, "--cutoff", str(MIDDLE), "--out", "stopped")
    pipe = subprocess.PIPE
    process = subprocess.Popen([*COMMAND, *arguments], cwd=here, stdout=pipe, stderr=pipe)
    while not (here / "stopped" / "run.json").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert b"Traceback" not in err
    assert (
        process.returncode in {signal.SIGINT: (4, 0), signal.SIGKILL: (-signal.SIGKILL, 0)}[number]
    ), err
    orderly.done(*arguments)
    assert orderly.json("status", "stopped")["digest"] == scratch(MIDDLE)[1]


@pytest.mark.slow
@pytest.mark.parametrize("cutoff", daily([MIDDLE - 1], [40, 75]))
def test_the_answer_of_an_extended_run_is_that_of_a_search_from_scratch(
    orderly, scratch, tmp_path, cutoff
):
    source, _ = scratch(MIDDLE)
    command = (*LARGER, "--cutoff", cutoff, "--out", tmp_path / "out", "--extend", source)
    answer = orderly(*command)
    assert answer.code == 0, answer.err
    told = re.search(
        rf"reused ([\d,]+) of ([\d,]+) verdicts of {source} \(cutoff {MIDDLE}\)", answer.err
    )
    computed = re.search(r"([\d,]+) verdicts computed", answer.out)
    assert told is not None, answer.err
    assert computed is not None
    n_reused, n_verdicts, n_computed = (
        int(number.replace(",", "")) for number in (*told.groups(), computed[1])
    )
    assert n_verdicts == len(list(open_run(source).rows()))
    assert n_computed == n_verdicts - n_reused
    assert (n_computed == 0) == (cutoff > MIDDLE)
    record = orderly.json("status", tmp_path / "out")
    assert (record["state"], record["digest"]) == ("proven", scratch(cutoff)[1])
    assert "0 verdicts computed" in orderly.done(*command)
    orderly.done("verify", tmp_path / "out")


def test_another_question_is_not_extended(orderly, scratch, tmp_path):
    source, _ = scratch(MIDDLE)
    asked = ("--cutoff", 70, "--out")
    other = orderly.fails(
        3, "run", "--dims", "2x3", "--workers", "0", *asked, tmp_path / "out", "--extend", source
    )
    assert "buckets: asked for" in other
    assert orderly(*LARGER, *asked, tmp_path / "out", "--extend", tmp_path / "none").code == 2
    assert not (tmp_path / "out").exists(), "nothing is written"
    hint = orderly(*LARGER, *asked, source)
    assert hint.code == 3
    assert "cutoff: asked for 70, stored 60" in hint.err
    assert "--extend" in hint.err


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_cutoff_far_above_what_a_climb_finds_is_told(orderly, tmp_path, command):
    more = ("--workers", "0", "--out", tmp_path / "run") if command == "run" else ("--seconds", 0)
    for cutoff, is_far in ((30, True), (15, False)):
        told = orderly(command, "2x2", "--cutoff", cutoff, *more).err
        assert ("far above what a short climb found, aert with 14 points" in told) == is_far, told


def test_a_cutoff_far_too_low_is_refused_unless_the_run_began(orderly, tmp_path, monkeypatch):
    words = [word for word in load_wordlist("scowl70").words if len(word) < 10]
    some = sorted(random.Random(1).sample(words, 1500))
    (tmp_path / "some.txt").write_text("".join(f"{word.replace('q', 'qu')}\n" for word in some))
    out = tmp_path / "run"
    answer = orderly(
        "run", "3x3", "-w", tmp_path / "some.txt", "--cutoff", "8", "--workers", "0", "--out", out
    )
    assert (answer.code, answer.out, out.exists()) == (2, "", False)
    told = re.search(
        r"cutoff 8 is far too low: .* climb found (\w+) with (\d+) points, so --cutoff \2 or",
        answer.err,
    )
    assert told is not None, answer.err
    assert Scorer("3x3", some, parse_scores("standard")).score(told[1]) == int(told[2]) > 20
    orderly.done("run", *SMALL, "--out", tmp_path / "old")
    monkeypatch.setattr("orderly_boggle.cluster.planning.plan.MAX_BOARDS", 0)
    assert orderly("run", *SMALL, "--out", tmp_path / "new").code == 2
    orderly.done("run", *SMALL, "--out", tmp_path / "old")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "workers", [0, *(pytest.param(n, marks=[pytest.mark.nightly]) for n in (1, 2))]
)
def test_golden_3x3(enable2k, orderly, tmp_path, workers):
    """The published 3x3 result: same boards, same digest for any workers."""
    question = ("run", "3x3", "--wordlist", "enable2k", "--cutoff", "500")
    out = orderly.done(*question, "--workers", workers, "--out", tmp_path / "run")
    assert "exactly 42 up to symmetry" in " ".join(out.split())
    rows = rows_of(orderly("top", tmp_path / "run", "-n", "99", "--format", "csv"))
    found = [(row["board"], int(row["score"])) for row in rows]
    published = published_boards("best-3x3-enable2k-500").items()
    expected = {(canonical_board(board, geometry("3x3")), score) for board, score in published}
    assert len(found) == len(expected) == 42
    assert set(found) == expected
    assert found[0][1] == 545
    # of the 42 boards with their scores
    digest = "6a8a2a998795c9b26e4fd1964fd3921974aa8c01b9be9bc723b04e4f450a578f"
    assert orderly.json("status", tmp_path / "run")["digest"] == digest
