"""Compiled kernels are loaded, that is run, only from a folder where nobody else can put any."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orderly_boggle.boardclass import jit
from tests.conftest import ROOT

WHERE = (
    "from orderly_boggle.boardclass import jit; "
    "print(jit.config.CACHE_DIR); print(jit.kernel_hash())"
)


@pytest.fixture
def own(tmp_path):
    """A folder like a user's own: nothing above it is writable for others."""
    folder = (tmp_path / "own").resolve()
    folder.mkdir(mode=0o700)
    return folder


def loaded(folder):
    """Return where a process with this NUMBA_CACHE_DIR keeps its kernels, their hash, and what it
    says.
    """
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", WHERE]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=environment, check=True
    )
    return (*done.stdout.split(), done.stderr)


def test_only_a_folder_of_ones_own_is_used(own):
    """Without a word; otherwise it is said why not, and what was compiled for one command goes with
    it.
    """
    used, digest, said = loaded(own)
    assert (used, said) == (str(own / f"kernels-{digest}"), "")
    assert Path(used).stat().st_mode & 0o077 == 0
    Path(used).chmod(0o777)
    (own / "file").write_text("")
    for folder in (own, own / "file"):
        used, _, said = loaded(folder)
        assert not used.startswith(str(own))
        assert all(
            text in said
            for text in ("the kernel cache is not used", str(folder), "NUMBA_CACHE_DIR")
        )
        assert not os.path.lexists(used)


def test_what_was_not_used_for_a_month_is_removed(own):
    used, *_ = loaded(own)
    names = ("kernels-of-old", "kernels-of-late", "others")
    for name in names:
        (own / name / "rims").mkdir(parents=True)
    day_s = 24 * 3600
    for name, n_days in zip(names, (31, 29, 1000), strict=True):
        os.utime(own / name, times=(time.time() - n_days * day_s,) * 2)
    os.utime(used, times=(0, 0))
    assert loaded(own)[0] == used
    names_left = {path.name for path in own.iterdir()} - {"kernel-hashes"}
    assert names_left == {Path(used).name, *names[1:]}


def test_every_folder_above_and_every_file_below_is_looked_at(own):
    inner = own / "inner"
    (inner / "a" / "b").mkdir(mode=0o700, parents=True)
    file = inner / "a" / "b" / "kernel.nbc"
    file.write_bytes(b"")
    assert jit.open_to_others(inner) == ""
    file.chmod(0o646)
    assert jit.open_to_others(inner) == f"others can write to {file} (mode 646)"
    file.unlink()
    file.symlink_to("/nonexistent")
    assert jit.open_to_others(inner) == f"{file} is a link"
    file.unlink()
    own.chmod(0o1777)
    assert jit.open_to_others(inner) == "", "there only owners can rename"
    for folder in (own, inner):
        folder.chmod(0o0777)
        assert jit.open_to_others(inner) == f"others can write to {folder} (mode 777)"
        folder.chmod(0o0700)
    if os.geteuid() == 0:  # only root can give a folder away
        os.chown(inner, 12345, 12345)
        assert "belongs to another user (12345)" in jit.open_to_others(inner)


def test_what_is_compiled_is_announced_and_compiled_once_whatever_its_words(own, tmp_path):
    """A comment above a kernel moves its line and the time of its file; a constant makes other
    code.
    """
    for name in ("orderly_boggle", "boardclass", "search"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True, ignore=ignored)
    path = tmp_path / "search" / "keys.py"
    text = path.read_text()

    def said():
        command = [sys.executable, "-c", "import orderly_boggle.search.keys"]
        env = {**os.environ, "NUMBA_CACHE_DIR": str(own), "NUMBA_DISABLE_JIT": "0"}
        return subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=env, check=True
        ).stderr

    assert said() == "orderly: compiling kernels, about 40 s the first time\n"
    path.write_text("# A comment.\n" + text)
    assert said() == ""
    path.write_text(text + "\n_ANOTHER = 1\n")
    assert "compiling kernels" in said()
