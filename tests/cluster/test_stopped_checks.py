"""What the commands that check a run say when they are stopped."""

from __future__ import annotations

import contextlib
import resource
import shutil
import signal
import subprocess
import sys
from functools import partial

import pyarrow as pa
import pytest

from orderly_boggle.boardclass.errors import IncompleteError, StoreError
from orderly_boggle.boardclass.wordlist import load_wordlist
from orderly_boggle.cluster.cli import app
from orderly_boggle.results.errors import StoreLockedError, WriteError
from orderly_boggle.results.proof.certificates import certificate_files, read_certificates
from orderly_boggle.results.proof.certify import Choice, certify
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.run import open_run
from tests.cluster.test_process import wait_for
from tests.conftest import COMMAND, ROOT
from tests.results.faults import Faults


def test_a_stopped_certify_keeps_what_it_has_and_goes_on(proven, tmp_path):
    run = open_run(shutil.copytree(proven, tmp_path / "run"))
    words = load_wordlist("scowl70").words
    reasons = iter(["", "", "", "SIGTERM"])
    with pytest.raises(IncompleteError) as stopped:
        certify(run, words, stop=lambda: next(reasons))
    where = run.folder.where(files.CERTIFICATES)
    assert str(stopped.value) == (
        f"stopped by SIGTERM: 3 new certificates stored in {where}; "
        "the same command goes on with the others"
    )
    done = certify(run, words)
    assert (done.parts, done.parts_from_before) == (52, 3)


def test_a_certify_that_cannot_write_gives_the_run_back(proven, tmp_path):
    run = open_run(shutil.copytree(proven, tmp_path / "run"))
    words = load_wordlist("scowl70").words
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # as if the disk were full
    try:
        with pytest.raises(WriteError):
            certify(run, words, Choice(sample=3))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert certify(run, words, Choice(sample=3)).parts == 3


@pytest.mark.parametrize("publish_every_s", [60.0, -1.0])
def test_a_write_that_failed_certifies_no_part_twice(
    proven, tmp_path, monkeypatch, publish_every_s
):
    """The file may be there all the same: the checker rejects boards that are in two rows."""
    words = load_wordlist("scowl70").words
    faults = Faults(monkeypatch)
    choice = Choice(sample=2)
    for at in range(20):
        run = open_run(shutil.copytree(proven, tmp_path / f"{at}"))
        faults.arm(at, "error")
        with contextlib.suppress(StoreError):
            certify(run, words, choice, publish_every_s=publish_every_s)
        faults.arm(-1, "error")
        certify(run, words, choice)
        rows = pa.concat_tables(
            read_certificates(run.folder, name) for name in certificate_files(run.folder)
        )
        assert rows.num_rows == 2, at


def test_a_certify_that_lost_the_run_stores_no_more(proven, tmp_path):
    run = open_run(shutil.copytree(proven, tmp_path / "run"))
    owner = tmp_path / "run" / files.OWNER

    def taken_over(text):
        if text.startswith("class"):
            owner.write_text("{}")  # of a driver that came while this process slept

    with pytest.raises(StoreLockedError):
        certify(run, load_wordlist("scowl70").words, Choice(sample=3), taken_over)
    assert not certificate_files(run.folder)


def test_an_audit_that_cannot_be_recorded_has_its_result_all_the_same(proven, tmp_path):
    place = shutil.copytree(proven, tmp_path / "run")
    certify(open_run(place), load_wordlist("scowl70").words, Choice(sample=1))

    def allow_little():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # as if the disk were full

    command = [*COMMAND, "audit", str(place)]
    done = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=allow_little, check=False
    )
    assert done.returncode == WriteError.exit_code
    assert done.stdout.startswith("Audited: 1 tree over ")
    assert f"cannot write {place / files.AUDITS}" in done.stderr


def started(tmp_path, *arguments):
    """Start a command; what it says is in ``tmp_path``/said."""
    with (tmp_path / "said").open("wb") as file:
        return subprocess.Popen([*COMMAND, *arguments], cwd=ROOT, stderr=file, stdout=file)


def says(tmp_path, text):
    return text in (tmp_path / "said").read_text()


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_certify_between_parts(tmp_path, number):
    shutil.copytree(ROOT / "results/published/3x3-scowl70", tmp_path / "run")
    child = started(tmp_path, "certify", str(tmp_path / "run"), "--force", "6")
    wait_for(child, tmp_path, partial(says, tmp_path, " leaves, "))
    child.send_signal(number)
    assert child.wait(60) == 4
    last = (tmp_path / "said").read_text().splitlines()[-1]
    assert last.startswith(f"orderly: stopped by {number.name}: ")
    assert last.endswith("; the same command goes on with the others")
    assert list((tmp_path / "run" / files.CERTIFICATES).glob("*.parquet"))
    assert not (tmp_path / "run" / files.OWNER).exists()


@pytest.mark.usefixtures("terminal")
def test_an_interrupted_repeat_says_what_is_left_of_it(tmp_path):
    published = str(ROOT / "results/published/3x3-scowl70")
    child = started(tmp_path, "repeat", published, "--sample", "26")
    wait_for(child, tmp_path, partial(says, tmp_path, "1/26 class "))
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == app.EXIT_INTERRUPTED
    last = (tmp_path / "said").read_text().splitlines()[-1]
    assert last.startswith("orderly: interrupted: it stores nothing, and begins anew; ")


# the reason of a failure is printed, and Ctrl-C comes in the middle of it
TYPED_AT_THE_REASON = """
import signal
from orderly_boggle.cluster.cli import app
# the parent may be one that was started with SIGINT ignored, as in the background of a script
signal.signal(signal.SIGINT, signal.default_int_handler)
app.tell = lambda text: signal.raise_signal(signal.SIGINT)
app.main()
"""


def test_ctrl_c_while_a_reason_is_printed_leaves_no_traceback(tmp_path):
    command = [sys.executable, "-c", TYPED_AT_THE_REASON, "top", str(tmp_path / "none")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (app.EXIT_INTERRUPTED, "")
