"""Files of compiled kernels that a power cut or a bad disk has damaged: noticed, and compiled
again.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import int64

from orderly_boggle.boardclass import numba_inside
from orderly_boggle.boardclass.jit import kernel_hash
from tests.samples import daily

PLACES = range(40)
PAGE = 512


def cut_short(content: bytes, place: int) -> bytes:
    return content[: place * len(content) // len(PLACES)]  # the first one is empty


def overwritten(content: bytes, place: int) -> bytes:
    start = place * len(content) // len(PLACES)
    size = min(PAGE, len(content) - start)
    return (
        content[:start]
        + bytes(byte ^ 0xFF for byte in content[start : start + size])
        + (content[start + size :])
    )


def one_bit_flipped(content: bytes, place: int) -> bytes:
    at = place * (len(content) - 1) // (len(PLACES) - 1)
    return content[:at] + bytes([content[at] ^ 1 << place % 8]) + content[at + 1 :]


def longer(content: bytes, place: int) -> bytes:
    return content + bytes(place + 1)


KINDS = (cut_short, overwritten, one_bit_flipped, longer)
CASES = [(kind, place) for kind in KINDS for place in PLACES]


def triple(number: int) -> int:
    return 3 * number


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for compiled kernels of this process."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize(("kind", "place"), daily(CASES[::13], CASES))
def test_what_is_damaged_anywhere_is_compiled_again(
    folder: Path, kind: Callable[[bytes, int], bytes], place: int, ending: str
) -> None:
    told: list[str] = []

    def compiled() -> int:
        kernel = numba_inside.compiled(
            triple, int64(int64), lambda: told.append("damaged"), cache=True, nogil=True
        )
        assert kernel(14) == 42
        return sum(kernel.stats.cache_hits.values())

    assert compiled() == 0
    (file,) = folder.rglob(f"*.{ending}")
    sound = file.read_bytes()
    assert compiled() == 1
    file.write_bytes(kind(sound, place))
    assert not told
    assert compiled() == 0
    assert told == ["damaged"]
    assert compiled() == 1
    assert told == ["damaged"]
    file.unlink()
    assert compiled() == 0
    assert told == ["damaged"]


def copied_kernels(to: Path) -> list[Path]:
    """Return the files of all kernels that are compiled here, copied to another folder."""
    there = Path(numba.config.CACHE_DIR)
    copy = to / f"kernels-{kernel_hash()}"
    shutil.copytree(there, copy, ignore=lambda _, names: {"paths", "rims", "words"} & set(names))
    to.chmod(0o700)
    return sorted(path for path in copy.rglob("*.nb?"))


SCORE = "from orderly_boggle.search import score; print(score('berlatdes', 'scowl70'))"


def start(code: str, folder: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_process_says_it_in_one_line_and_several_find_it_at_once(tmp_path: Path) -> None:
    from orderly_boggle.search import score

    assert score("berlatdes", "scowl70") == 430  # the kernels are there
    files = [
        path for path in copied_kernels(tmp_path) if "scor" in path.name or "bits" in str(path)
    ]
    draw = np.random.default_rng(1)
    for file in files:
        kind = KINDS[draw.integers(len(KINDS))]
        file.write_bytes(kind(file.read_bytes(), int(draw.integers(len(PLACES)))))
    several = [start(SCORE, tmp_path) for _ in range(3)]
    for process in several:
        out, told = process.communicate(timeout=250)
        assert (out, process.returncode) == ("430\n", 0), told
        assert told.count("\n") <= 1, told
    first = start(SCORE, tmp_path)
    out, told = first.communicate(timeout=250)
    assert (out, told) == ("430\n", "")


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_command_goes_on_with_empty_kernels_and_is_not_interrupted(
    tmp_path: Path, ending: str
) -> None:
    for file in copied_kernels(tmp_path):
        if file.suffix == f".{ending}" and "score" in file.name:
            file.write_bytes(b"")
    code = "from orderly_boggle.cluster.cli.start import main; main()"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    told = subprocess.run(
        [sys.executable, "-c", code, "score"],
        env=environment,
        input="berlatdes\n",
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert "430" in told.stdout
    assert told.stderr.count("\n") == 1
    assert "were damaged" in told.stderr


def test_the_end_of_a_file_is_no_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    from orderly_boggle.cluster.cli import app

    def cut(*_: object, **__: object) -> None:
        raise EOFError("Ran out of input")

    monkeypatch.setattr("orderly_boggle.boardclass.board.read_board", cut)
    monkeypatch.setattr("orderly_boggle.cluster.boards.scoring.read_board", cut)
    assert app._exit_code(["show", "berlatdes"], debug=False) == 1
