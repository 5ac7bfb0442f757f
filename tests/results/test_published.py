"""The runs that come with the project: complete, sound, and with the published boards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.errors import MismatchError, WordListError
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.scores import points_in_words
from orderly_boggle.boardclass.wordlist import known_name, load_wordlist, sources
from orderly_boggle.results.proof import packaged
from orderly_boggle.results.proof.claim import read_claim
from orderly_boggle.results.proof.coverage import check_coverage
from orderly_boggle.results.proof.packaged import packaged_summary
from orderly_boggle.results.proof.prove import boards, summary
from orderly_boggle.results.storage.files import PUBLISHED
from orderly_boggle.results.store.run import open_run
from orderly_boggle.search import score
from tests.conftest import ROOT, published_boards
from tests.results.crosscheck import boards_by_sql
from tests.samples import daily

# cutoff, boards, best score, classes: each run that is published has a line
RUNS = {
    "3x3-debian-danish": (587, 1, 587, 26),
    "3x3-debian-dutch": (498, 1, 498, 26),
    "3x3-debian-french": (755, 1, 755, 26),
    "3x3-debian-german": (499, 1, 499, 26),
    "3x3-debian-italian": (409, 1, 409, 26),
    # the climb that gave the cutoff missed the best one
    "3x3-debian-portuguese": (801, 2, 857, 26),
    "3x3-debian-spanish": (418, 1, 418, 26),
    "3x3-debian-swedish": (438, 1, 438, 26),
    "3x3-enable2k": (500, 42, 545, 26),
    "3x3-scowl35": (270, 8, 302, 26),
    "3x3-scowl70": (400, 10, 430, 26),
    "3x3-yawl": (600, 130, 705, 26),
    "3x4-debian-italian": (1242, 2, 1250, 351),
    "3x4-debian-spanish": (1332, 1, 1332, 351),
    "3x4-debian-swedish": (1250, 1, 1250, 351),
    "3x4-enable2k": (1500, 33, 1651, 351),
    "3x4-scowl35": (700, 17, 767, 351),
    "3x4-scowl70": (1060, 45, 1167, 351),
    "3x4-yawl": (1800, 71, 1959, 351),
    "3x5-enable2k": (3100, 2, 3106, 1800),
    "3x5-scowl70": (2150, 2, 2175, 1800),
    "4x4-enable2k": (3600, 2, 3625, 7260),
    "4x4-enable2k-words": (1150, 2, 1158, 7260),
}
NAMES = sorted(path.parent.name for path in (ROOT / "results" / "published").glob("*/run.json"))
# from which score others listed boards
COMPARED = {"3x3-enable2k": 500, "3x4-enable2k": 1500, "4x4-enable2k": 3500}
FOLDER = Path("results") / "published"
TEXTS = (
    "README.md",
    "docs/4x4.md",
    "docs/trust.md",
    "cluster/web/templates/records.html.j2",
)


def test_the_preset_of_a_size_names_the_run_that_answers_it():
    answered = [name for name in NAMES if name.endswith("-scowl70")]
    assert answered
    for name in answered:
        size, _ = name.split("-")
        preset = (ROOT / "configs" / f"{size}.toml").read_text("utf-8")
        assert f"run {name}, which comes with the program" in " ".join(preset.split())


def test_each_run_that_is_published_is_known_here_and_has_a_source_that_says_what_is_in_its_list():
    assert sorted(RUNS) == NAMES
    for name in NAMES:
        run = open_run(ROOT / FOLDER / name)
        source = sources()[known_name(run.question.words_sha256) or ""]
        scores = points_in_words(run.question.points)
        parts = [run.question.dims, source.name]
        if scores != "standard":
            parts.append(scores)
        assert name == "-".join(parts)
        assert source.language == "English" or source.contains
        told = run.made.words
        assert (source.n_words, source.letters or {}) == (told.n_words, told.letters)
        claim = read_claim(run)
        assert claim is not None
        assert ("w stands for \u00f1" in claim.statement) == (source.language == "Spanish")


def test_the_table_of_others_names_the_best_board_for_yawl_with_the_score_of_another():
    best = boards(ROOT / FOLDER / "3x3-yawl")[0]
    assert (best.board, best.score) == ("delratpes", 705)
    assert canonical_board("stleaeprd", geometry("3x3")) == best.board, (
        "as it is printed there, with 659"
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_board_is_covered_and_the_claim_is_complete(name):
    run = open_run(ROOT / FOLDER / name)
    found = summary(run)
    kept = packaged_summary(ROOT / FOLDER / name)
    assert kept is not None, "write it anew: python -m tests.bench.packaged"
    assert kept == replace(found, rests_on=kept.rests_on)
    assert (found.proven, found.notes) == (True, ())
    listed = found.listed.boards
    assert (found.question.cutoff, len(listed), listed[0].score, found.n_classes_done) == RUNS[name]
    assert boards_by_sql(run) == found.listed
    coverage = check_coverage(run)
    assert coverage.complete, coverage.message()
    stored = [path for path in (ROOT / FOLDER / name).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in stored) < 4 << 20
    assert {path.suffix for path in stored} <= {".json", ".jsonl", ".parquet", ""}, "no words"


@pytest.mark.parametrize("name", COMPARED)
def test_its_boards_are_the_published_ones(name):
    cutoff, *_ = RUNS[name]
    dims = name.split("-")[0]
    listed = {
        (canonical_board(board, geometry(dims)), score)
        for board, score in published_boards(f"best-{name}-{COMPARED[name]}").items()
        if score >= cutoff
    }
    found = {
        (canonical_board(x.board, geometry(dims)), x.score) for x in boards(ROOT / FOLDER / name)
    }
    assert found == listed


@pytest.mark.parametrize("name", ["4x4-enable2k", "4x4-enable2k-words"])
def test_texts_tell_its_points_and_words(name, enable2k):
    best = boards(ROOT / FOLDER / name)[0].board
    points = score(best, enable2k)
    words = score(best, enable2k, "words")
    for text in TEXTS:
        told = (ROOT / text).read_text()
        assert best in told
        assert f"{points:,} points" in told
        assert f"{words:,} words" in told


@pytest.mark.parametrize("name", daily(["3x3-scowl70"], NAMES))
def test_verify_accepts_it(name, orderly):
    sha256 = open_run(ROOT / FOLDER / name).question.words_sha256
    try:
        words = load_wordlist(known_name(sha256) or "")
    except WordListError as error:
        pytest.skip(f"needs the word list of the run: {error}")
    checked = orderly("verify", ROOT / FOLDER / name)
    assert checked.code == 0, checked.err
    assert words.sha256 == sha256


def test_what_is_kept_of_a_run_must_be_what_its_rows_prove(monkeypatch):
    place = PUBLISHED / "3x3-scowl70"
    packaged.check(place)
    other = replace(packaged.worked_out(place.name), files_sha256="0" * 64)
    monkeypatch.setattr(packaged, "worked_out", lambda _: other)
    with pytest.raises(MismatchError, match="is not what its rows prove now"):
        packaged.check(place)
