"""The wheel and the source archive: built without warnings, installed into fresh environments, used
elsewhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from orderly_boggle.boardclass.distribution import NAME
from tests.conftest import ROOT

FOLDERS = ("boardclass", "cluster", "configs", "results", "search")
pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1800)]

# what would let an installed program find this project, or write nothing
OURS = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")


def said(*command, cwd):
    """Return what a command printed; it must end with 0."""
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """Build both from what git knows, so that nothing that merely lies about gets in."""
    pytest.importorskip("build", reason=f"needs build: pip install '{NAME}[test]'")
    folder = tmp_path_factory.mktemp("distribution")
    source = folder / "source"
    for name in said("git", "ls-files", "-z", cwd=ROOT).split("\0"):
        if name and ((ROOT / name).is_file() or (ROOT / name).is_symlink()):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name, follow_symlinks=False)
    told = said(sys.executable, "-m", "build", "--outdir", folder / "dist", source, cwd=folder)
    assert "warn" not in told.lower(), told
    return sorted((folder / "dist").iterdir())


def test_the_archives_hold_what_the_program_reads(archives):
    wheel, archive = archives
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    with tarfile.open(archive) as file:
        packed = {name.partition("/")[2] for name in file.getnames()}
    ours = {
        f"orderly_boggle/{path}"
        for path in said("git", "ls-files", cwd=ROOT).split()
        if path.split("/")[0] in FOLDERS
    }
    read = {path for path in ours if not path.startswith("orderly_boggle/results/ongoing/")}
    read -= {"orderly_boggle/cluster/web/answers.d.ts"}  # for the type checker
    assert read - names == set()
    assert read - packed == set()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"orderly_boggle"}


@pytest.mark.parametrize("kind", ["wheel", "source"])
def test_it_works_outside_the_repository(archives, kind, tmp_path):
    archive = archives[kind == "source"]
    said(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    binaries = tmp_path / "venv" / "bin"
    said(
        binaries / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        f"{NAME}[report] @ {archive.as_uri()}",
        cwd=tmp_path,
    )
    assert "orderly " in said(binaries / "orderly", "--version", cwd=tmp_path)
    assert "Proven." in said(
        binaries / "orderly", "run", "2x2", "--workers", 0, "--out", "run", cwd=tmp_path
    )
    assert "complete" in said(binaries / "orderly", "verify", "run", cwd=tmp_path)
    assert "perslatgsineters" in said(binaries / "orderly", "top", "4x4-enable2k", cwd=tmp_path)
    said(binaries / "orderly", "report", "run", "--out", "page.html", cwd=tmp_path)
    assert (tmp_path / "page.html").stat().st_size > 10_000
