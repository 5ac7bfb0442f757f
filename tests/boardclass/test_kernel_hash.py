"""The name of the cache: a hash of all code whose results are kept there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from orderly_boggle.boardclass.jit import kernel_hash
from tests.conftest import ROOT

FLOORS = ("boardclass", "search")
HASHES = """
import sys
from orderly_boggle.boardclass.jit import kernel_hash
for _ in sys.stdin:
    kernel_hash.cache_clear()
    print(kernel_hash(), flush=True)
"""


def test_a_changed_kernel_anywhere_changes_the_hash(tmp_path):
    """A changed constant counts, in a module with kernels, one that makes shared arrays or one that
    they use; a changed word does not.
    """
    for name in ("orderly_boggle", *FLOORS):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True, ignore=ignored)
    copy = subprocess.Popen(
        [sys.executable, "-c", HASHES],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    stdin, stdout = copy.stdin, copy.stdout
    assert stdin is not None
    assert stdout is not None

    def hash_now() -> str:
        stdin.write("\n")
        stdin.flush()
        return stdout.readline().strip()

    before = kernel_hash()
    assert hash_now() == before
    sources = [path for floor in FLOORS for path in sorted((ROOT / floor).rglob("*.py"))]
    with_kernels = [path.relative_to(ROOT) for path in sources if "@kernel(" in path.read_text()]
    used = [Path("search/bits.py"), Path("boardclass/geometry.py")]
    used += [Path("search/trees/forest.py"), Path("search/trees/generator.py")]  # of the rim
    for path in (*with_kernels, *used):
        text = (ROOT / path).read_text()
        other = text.replace('"""', '"""Another word. ', 1)
        (tmp_path / path).write_text(f"{other}\n# A comment.\n")
    assert hash_now() == before
    hashes = {before}
    changed = [*with_kernels[::5], with_kernels[-1], *used]
    for path in changed:
        with (tmp_path / path).open("a") as file:
            file.write("\n_ANOTHER = 1\n")
        hashes.add(hash_now())
    assert len(hashes) == 1 + len(changed)
    (tmp_path / "search" / "breaker.py").write_text("ANOTHER = 1\n")
    assert hash_now() in hashes, "it has no kernel, and none uses it"
    stdin.close()
    assert copy.wait() == 0


KEPT = """
import ast, sys
parse = ast.parse
def parse_none_of_ours(source, *others, **named):
    assert not isinstance(source, bytes), "a source is parsed"
    return parse(source, *others, **named)
if sys.argv[1] == "kept":
    ast.parse = parse_none_of_ours
from orderly_boggle.boardclass.jit import kernel_hash
print(kernel_hash())
"""


def hash_in_a_process(folder, how=""):
    """Return the hash that another process finds, whose caches are in a folder; ``kept``: without
    parsing.
    """
    done = subprocess.run(
        [sys.executable, "-c", KEPT, how],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_hash_is_kept_while_the_sources_are_the_same_and_nothing_else_is_believed(tmp_path):
    right = hash_in_a_process(tmp_path)
    assert hash_in_a_process(tmp_path, "kept") == right == kernel_hash()
    (kept,) = (tmp_path / "kernel-hashes").iterdir()
    key, found = kept.read_text().split()
    assert found == right
    for text in ("", "\0" * 81, key, f"{key} {right[:-1]}", f"{'0' * 64} {'1' * 16}"):
        kept.write_text(text)
        assert hash_in_a_process(tmp_path) == right
    kept.write_text(f"{key} {'1' * 16}\n")
    kept.parent.chmod(0o777)  # anybody may have written it
    assert hash_in_a_process(tmp_path) == right
