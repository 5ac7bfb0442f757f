"""Runs of a stranger that ask what a published run answers: boards taken away, a cutoff lowered,
every seal renewed.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

from orderly_boggle.results.proof import packaged
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.files import PUBLISHED
from orderly_boggle.results.storage.local import open_folder
from orderly_boggle.results.store.documents import publish_document
from orderly_boggle.results.store.run import open_run
from tests.cluster.whole_run import without_boards
from tests.results.helpers import write_rows


def without_best(name, folder, n_kept=0):
    """Write a published run anew as if none of its classes had a board, but for ``n_kept``."""
    old = open_run(PUBLISHED / name)
    rows, n_boards = [], 0
    for row in old.rows():
        n_boards += bool(row.candidates)
        rows.append(without_boards(row) if n_boards > n_kept else row)
    write_rows(folder, rows, old.question, old.made)
    return folder


def at_cutoff(name, folder, cutoff):
    """Write a published run anew as if its cutoff had been lower."""
    old = open_run(PUBLISHED / name)
    lower = replace(old.question, cutoff=cutoff)
    rows = [
        replace(row, fingerprint=lower.digest, max_bound=min(row.max_bound, cutoff - 1))
        for row in old.rows()
    ]
    write_rows(folder, rows, lower, old.made)
    return folder


def check_refused(answer, told, ending="do not believe this run"):
    assert (answer.code, answer.out) == (5, "")
    assert told in answer.err
    assert ending in answer.err


def test_the_boards_of_a_published_run_must_be_listed(orderly, tmp_path):
    """None of them searches a verdict again, so it is the published boards that refuse them."""
    for n_kept in (0, 1):
        folder = without_best("3x3-scowl70", tmp_path / str(n_kept), n_kept)
        check_refused(
            orderly("verify", folder, "--quick"),
            "refuted by a run that comes with the program: 3x3-scowl70 lists ",
        )
    lower = at_cutoff("3x3-scowl70", tmp_path / "lower", 380)
    passed = orderly.done("verify", lower, "--quick")
    assert "0 of 26 verdicts searched again. If they are right: Of all" in " ".join(passed.split())
    check_refused(orderly("verify", lower), "which reaches the cutoff 380")


def test_a_published_run_confirms_others_but_not_itself(orderly, tmp_path):
    copy = shutil.copytree(PUBLISHED / "3x3-scowl70", tmp_path / "copy")
    told = orderly.json("verify", copy, "--quick")
    assert told["checked"].endswith("the boards are those of 3x3-scowl70, which comes with orderly")
    assert not told["verified"], "no climb was made"
    itself = orderly("verify", "3x3-scowl70", "--quick")
    assert (itself.code, "comes with orderly" in itself.out) == (0, False)
    higher = tmp_path / "higher"
    asked = ("3x3", "--cutoff", 430, "--extend", copy, "--workers", 0, "--out", higher)
    orderly.done("run", *asked)
    answer = orderly.done("verify", higher)
    assert answer.startswith("Verified: ")
    (higher / files.CLAIM).unlink()
    run = open_run(higher)
    write_rows(tmp_path / "none", map(without_boards, run.rows()), run.question, run.made)
    check_refused(orderly("verify", tmp_path / "none", "--quick"), "berlatdes, which scores 430")


def test_what_is_kept_of_a_published_run_counts_for_its_files_only_and_verify_looks_again(
    orderly, tmp_path, monkeypatch
):
    """A forged record, and a run that has changed since the record was made."""
    name = "3x3-scowl70"
    run = shutil.copytree(PUBLISHED / name, tmp_path / name)
    monkeypatch.setattr(packaged, "PUBLISHED", tmp_path)
    told = json.loads((PUBLISHED / packaged.PROVEN).read_text())
    del told["sha256"]

    def forge(**changed):
        packaged._kept.cache_clear()
        summary = told["runs"][name]["summary"] | changed
        kept = {name: told["runs"][name] | {"summary": summary}}
        publish_document(open_folder(tmp_path), packaged.PROVEN, {"runs": kept})

    forge()
    sound = orderly("top", run)
    assert "as worked out when the run was published" in sound.err
    orderly.done("verify", run, "--quick")
    listed = told["runs"][name]["summary"]["listed"]
    forge(listed=listed | {"boards": [["aaaaaaaaa", 999, 1]]})
    assert "999" in orderly("top", run).out  # it is believed as the program is
    check_refused(
        orderly("verify", run, "--quick"), "says of 3x3-scowl70", "do not believe what top"
    )
    (run / files.RESULTS / "more").write_bytes(b"")  # no reader would look at it
    read = orderly("top", run)
    assert (read.code, "lists aaaaaaaaa, which scores 999" in read.err) == (5, True)
    forge()
    read = orderly("top", run)
    assert (read.out, read.err) == (sound.out, "")  # its rows were read
    checked = orderly("verify", run, "--quick")
    check_refused(checked, "says of 3x3-scowl70", "do not believe what top")
    (tmp_path / packaged.PROVEN).write_text("{")
    packaged._kept.cache_clear()
    assert orderly("top", run).code == 3
