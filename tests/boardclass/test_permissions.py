"""Compiled kernels are loaded, that is run, only from a folder where nobody else can put any."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from boardclass import jit
from boardclass.permissions import open_file_below, open_to_others
from tests.conftest import ROOT

WHERE = "from boardclass import jit; print(jit.config.CACHE_DIR); print(jit.kernel_hash())"


@pytest.fixture
def own(tmp_path):
    """A folder like a user's own: nothing above it is writable for others."""
    folder = (tmp_path / "own").resolve()
    folder.mkdir(mode=0o700)
    return folder


def loaded(folder):
    """Return where a process with this NUMBA_CACHE_DIR keeps its kernels, their hash, and what it says."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", WHERE], capture_output=True, text=True, cwd=ROOT, env=environment, check=True
    )
    return (*done.stdout.split(), done.stderr)


def test_a_folder_of_ones_own_is_used_without_a_word(own):
    used, digest, said = loaded(own)
    assert used == str(own / f"kernels-{digest}")
    assert said == ""
    assert (own / f"kernels-{digest}").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("which", ["the folder", "the one above", "a file in it", "a link in it"])
def test_a_folder_that_others_can_write_to_is_not_used(own, which):
    (cache := own / f"kernels-{jit.kernel_hash()}").mkdir(mode=0o700)
    if which == "the folder":
        cache.chmod(0o777)
    elif which == "the one above":
        own.chmod(0o777)
    elif which == "a file in it":
        (cache / "planted.nbi").write_bytes(b"")
        (cache / "planted.nbi").chmod(0o666)
    else:
        (cache / "planted.nbi").symlink_to("/nonexistent")
    used, _, said = loaded(own)
    assert not used.startswith(str(own))
    assert "the kernel cache is not used" in said
    assert str(own) in said
    assert "NUMBA_CACHE_DIR" in said
    assert not os.path.lexists(used), "what was compiled for one command goes with it"


def test_a_folder_of_another_user_is_not_used(own):
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    (cache := own / f"kernels-{jit.kernel_hash()}").mkdir(mode=0o700)
    os.chown(cache, 12345, 12345)
    assert "belongs to another user (12345)" in loaded(own)[2]


def test_a_sticky_folder_above_is_no_danger(own):
    inner = own / "inner"
    inner.mkdir(mode=0o700)
    own.chmod(0o1777)
    assert open_to_others(inner) == ""
    own.chmod(0o0777)
    assert "others can write to" in open_to_others(inner)


def test_a_place_that_is_none_is_told(own):
    (own / "file").write_text("")
    used, _, said = loaded(own / "file")
    assert "the kernel cache is not used" in said
    assert not used.startswith(str(own))


def test_every_file_is_looked_at(own):
    deep = own / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "kernel.nbc").write_bytes(b"")
    assert open_file_below(own) == ""
    (deep / "kernel.nbc").chmod(0o646)
    assert "kernel.nbc" in open_file_below(own)


def test_what_is_compiled_is_announced_and_compiled_once_whatever_its_words(own, tmp_path):
    """A comment above a kernel moves its line and the time of its file; a constant makes other code."""
    for floor in ("boardclass", "search"):
        shutil.copytree(ROOT / floor, tmp_path / floor, ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / "search" / "keys.py"
    text = path.read_text()

    def said():
        command, env = [sys.executable, "-c", "import search.keys"], {**os.environ, "NUMBA_CACHE_DIR": str(own)}
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env, check=True).stderr

    assert said() == "orderly: compiling kernels, about 40 s the first time\n"
    assert said() == ""
    path.write_text("# A comment.\n" + text)
    assert said() == ""
    path.write_text(text + "\n_ANOTHER = 1\n")
    assert "compiling kernels" in said()
