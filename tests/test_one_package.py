"""Everything is imported as ``orderly_boggle``: what other people call ``search``, ``results``,
``configs`` or ``cluster`` is theirs, in an environment and in the folder at hand.

In a checkout the links of ``orderly_boggle`` and the folders that they lead to are the same files:
imported under both names, each class would exist twice.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import COMMAND, ROOT

FOLDERS = ("boardclass", "cluster", "configs", "results", "search")
LINKS = {name: f"../{name}" for name in FOLDERS}
_ANY = "|".join(FOLDERS)
# code in a text: a script that a test starts, an example, a page
_IN_CODE = re.compile(rf"\bfrom ({_ANY})(\.\w+)* import\b|^\W*import ({_ANY})\b|-m ({_ANY})\.\w")
_PAGES = (".md", ".ipynb", ".sh", ".yaml", ".pbs", ".sbatch", ".sge", ".toml", "Dockerfile", "run")


def tracked() -> list[Path]:
    """Return the files that git knows, or would know."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [ROOT / line for line in listed.stdout.splitlines()]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def links_in(folder: Path) -> dict[str, str]:
    """Return the links of a folder with what each says."""
    return {path.name: str(path.readlink()) for path in folder.iterdir() if path.is_symlink()}


def is_ours(name: str) -> bool:
    """Return whether a dotted name begins with a module of ours, without the name of the package.

    >>> is_ours("search.keys"), is_ours("search.fused"), is_ours("orderly_boggle.search.keys")
    (True, False, False)
    """
    folder, _, rest = name.partition(".")
    inner = rest.partition(".")[0]
    module = ROOT / folder / inner
    is_there = module.is_dir() or module.with_suffix(".py").is_file()
    return folder in FOLDERS and inner != "" and is_there


def old_names(path: Path, text: str) -> list[str]:
    """Return what a file of Python imports, or says to import, without ``orderly_boggle``."""
    found = []
    for node in ast.walk(ast.parse(text)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [str(node.module)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            code = map(_IN_CODE.search, node.value.splitlines())
            found += [match[0] for match in code if match]
            # what is patched, or imported by its name; of a text that is put together the beginning
            if "." in node.value and re.fullmatch(r"[\w.]+", node.value):
                names = [node.value]
        found += [name for name in names if name in FOLDERS or is_ours(name)]
    return [f"{path.relative_to(ROOT)}: {name}" for name in found]


def test_nothing_says_an_old_name():
    """In Python, texts of tests included; in pages, launch files and what starts CI."""
    found = []
    for path in tracked():
        if path == Path(__file__) or path.name == "CHANGELOG.md":
            continue
        if path.suffix == ".py":
            found += old_names(path, path.read_text())
        elif path.name.endswith(_PAGES) and not path.is_relative_to(ROOT / "results/published"):
            lines = path.read_text(encoding="utf-8").splitlines()
            found += [f"{path.name}: {line}" for line in lines if _IN_CODE.search(line)]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "import search",
        "from results.store import run",
        "def f():\n    import cluster.cli.app as app",
        "CODE = 'from search import score; score(1)'",
        "CODE = '''\nimport configs\n'''",
        "patch('results.store.run.open_run')",
        "import_module(f'cluster.cli.{name}')",
        "CODE = 'python -m cluster.workers.process'",
    ],
)
def test_an_old_name_is_noticed(text):
    assert len(old_names(ROOT / "text.py", text)) == 1


def test_the_package_has_the_public_names_of_its_parts_and_nothing_is_typed_twice():
    import orderly_boggle
    from orderly_boggle import boardclass, results, search

    names = [name for part in (boardclass, results, search) for name in part.__all__]
    assert sorted(orderly_boggle.__all__) == sorted(names)
    assert len(set(names)) == len(names)
    assert not set(names) & set(FOLDERS)
    for part in (boardclass, results, search):
        for name in part.__all__:
            assert getattr(orderly_boggle, name) is getattr(part, name)
    assert [path for path in tracked() if path.name == "py.typed"] == [
        ROOT / "orderly_boggle/py.typed"
    ]
    assert links_in(ROOT / "orderly_boggle") == LINKS


def test_a_folder_that_lost_its_links_in_a_bucket_gets_them_back(tmp_path):
    """The buckets that SkyPilot sends a folder through keep no links."""
    setup = (ROOT / "configs/launch/sky.yaml").read_text().splitlines()
    (line,) = (line for line in setup if "orderly_boggle" in line)
    (tmp_path / "orderly_boggle").mkdir()
    for _ in range(2):  # on a machine that kept them they stay
        subprocess.run(["sh", "-ec", line], cwd=tmp_path, check=True)
        assert links_in(tmp_path / "orderly_boggle") == LINKS


def test_importing_the_package_loads_none_of_its_parts():
    code = "import sys, orderly_boggle; print([m for m in sys.modules if 'orderly_boggle.' in m])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"


# each process, workers included, writes down at once what it imports
_WATCHED = """
import sys
folders = {folders!r}
def note(event, given):
    if event == "import" and given[0].partition(".")[0] in folders:
        with open({file!r}, "a") as file:
            file.write(given[0] + "\\n")
    if event == "import" and given[0] == "orderly_boggle":
        with open({file!r} + ".ours", "a") as file:
            file.write(str(sys.orig_argv) + "\\n")
sys.addaudithook(note)
"""


def test_no_process_of_a_command_imports_an_old_name(tmp_path):
    """They could be imported here: PYTHONPATH has the top of the checkout."""
    file = tmp_path / "imported"
    (tmp_path / "sitecustomize.py").write_text(_WATCHED.format(folders=FOLDERS, file=str(file)))
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    for arguments in (
        ["run", "2x2", "--cutoff", "14", "--workers", "1", "--out", "run"],
        ["status", "run"],
        ["verify", "run", "--quick"],
        ["query", "run", "select count(*) from boards"],
        ["climb", "--dims", "2x2", "--workers", "1"],
        ["show", "berlatdes"],
    ):
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, (arguments, done.stderr)
    assert not file.exists(), file.read_text()
    assert "orderly_boggle.cluster.workers.process" in Path(f"{file}.ours").read_text()


_SCRIPT = """
from orderly_boggle import open_run, score
from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.configs.model import load_config

if __name__ == "__main__":
    print(score("berlatdes", "scowl70"))
    config = load_config("2x2", {"cutoff": 14, "workers": 1, "out": "run"})
    print(run(config).complete, open_run("run").question.cutoff)
    print(open_run("4x4-enable2k").question.cutoff > 3000)
"""
_NAMES = (
    "boardclass.py",
    "cluster/__init__.py",
    "configs/__init__.py",
    "results/__init__.py",
    "search.py",
)


@pytest.fixture
def crowded(tmp_path):
    """A folder with modules of all five names, which say so when something imports them."""
    folder = tmp_path / "crowded"
    for name in _NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("raise SystemExit('this is mine')\n")
    return folder


def test_a_script_may_stand_beside_modules_of_these_names(crowded):
    (crowded / "script.py").write_text(_SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=crowded, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "430\nTrue 14\nTrue\n"), done.stderr


def test_a_notebook_may_stand_beside_modules_of_these_names(crowded):
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
    from tests.notebooks import carry_out

    cell = nbformat.v4.new_code_cell(_SCRIPT)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    carry_out(notebook, crowded)
    said = "".join(output.get("text", "") for output in notebook.cells[0].outputs)
    assert said == "430\nTrue 14\nTrue\n"


def environment_in(folder: Path) -> tuple[Path, Path]:
    """Return Python and the folder of packages of a new environment, which also has the packages of
    this one, but not this project.
    """
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/*/site-packages")
    (packages / "others.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n")
    return folder / "bin/python", packages


def without_ours(environment) -> dict[str, str]:
    """Return an environment in which nothing leads to this checkout."""
    return {name: value for name, value in environment.items() if name != "PYTHONPATH"}


def said(*command, cwd, **more):
    """Return what a command printed; it must end with 0."""
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=without_ours(os.environ) | more,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if "Could not find a version" in done.stdout or "No matching distribution" in done.stdout:
        pytest.skip("needs the package index, for what builds the wheel")
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of what git knows, links as links."""
    folder = tmp_path_factory.mktemp("one-package") / "source"
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        # nothing is proven again here: certificates are most of what is published
        if "/certificates/" in name or name.startswith(("tests/", "docs/", "findings/")):
            continue
        if (ROOT / name).is_file() or (ROOT / name).is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


@pytest.fixture(scope="module")
def wheel(source):
    """Build it from a checkout; each night tests/test_distribution.py has it from the archive."""
    pytest.importorskip("build", reason="needs build: pip install 'orderly-boggle[test]'")
    dist = source.parent / "dist"
    said(sys.executable, "-m", "build", "--wheel", "--outdir", dist, source, cwd=source.parent)
    (built,) = dist.glob("*.whl")
    return built


def test_the_wheel_has_one_package_and_all_modules_once(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = [name for name in file.namelist() if ".dist-info/" not in name]
        kinds = {info.external_attr >> 28 for info in file.infolist()}
    assert kinds == {0o10}, "regular files, no links"
    assert {name.partition("/")[0] for name in names} == {"orderly_boggle"}
    modules = {name.removeprefix("orderly_boggle/") for name in names if name.endswith(".py")}
    ours = {
        str(path.relative_to(ROOT))
        for path in tracked()
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in FOLDERS
    }
    assert modules == ours | {"__init__.py"}
    assert "orderly_boggle/py.typed" in names
    assert "orderly_boggle/configs/wordlists/scowl70.txt" in names


def package_of_another(folder: Path, name: str) -> Path:
    """Return a wheel of somebody's package of this name."""
    path = folder / f"{name}-9.0-py3-none-any.whl"
    info = f"{name}-9.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{name}/__init__.py", "IT_IS = 'mine'\n")
        file.writestr(f"{name}/model.py", "")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.0\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")
    return path


def installed_beside(folder: Path, first: list[object], then: list[object]) -> None:
    """Install wheels one after the other; the program finds all its folders."""
    python, _ = environment_in(folder / "venv")
    # pip of this environment installs into that one
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps"]
    for wheels in (first, then):
        said(*pip, "--no-compile", "--disable-pip-version-check", *wheels, cwd=folder)
    orderly = folder / "venv/bin/orderly"
    assert "perslatgsineters" in said(orderly, "top", "4x4-enable2k", cwd=folder)
    assert "treadles" in said(orderly, "show", "berlatdes", cwd=folder)
    assert said(orderly, "roll", "--dice", "big", cwd=folder)


@pytest.mark.parametrize("order", ["before", "after"])
def test_packages_of_the_old_names_are_installed_beside_it(wheel, order, tmp_path):
    others = [package_of_another(tmp_path, name) for name in FOLDERS]
    steps = ([wheel], others) if order == "after" else (others, [wheel])
    installed_beside(tmp_path, *map(list, steps))
    python = tmp_path / "venv/bin/python"
    for name in FOLDERS:
        assert said(python, "-c", f"import {name}; print({name}.IT_IS)", cwd=tmp_path) == "mine\n"


@pytest.mark.nightly
@pytest.mark.timeout(1800)  # kernels are compiled for each environment
@pytest.mark.parametrize("order", ["before", "after"])
def test_the_packages_of_the_index_are_installed_beside_it(wheel, order, tmp_path):
    """Each of these overwrote modules of ours while ours had their names."""
    others = ["results==2.0.1789346060", "cluster==1.4.1.post3", "configs==3.0.3"]
    steps = ([wheel], others) if order == "after" else (others, [wheel])
    installed_beside(tmp_path, *map(list, steps))
    orderly, kernels = tmp_path / "venv/bin/orderly", str(tmp_path / "kernels")
    asked = ("run", "2x2", "--cutoff", "14", "--workers", "1", "--out", "run")
    assert "Proven." in said(orderly, *asked, cwd=tmp_path, NUMBA_CACHE_DIR=kernels)
    assert "aert" in said(orderly, "top", "run", cwd=tmp_path)
    assert "complete" in said(orderly, "verify", "run", cwd=tmp_path, NUMBA_CACHE_DIR=kernels)


def test_an_editable_install_leads_to_the_package_only(source, tmp_path):
    python, _ = environment_in(tmp_path / "venv")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps"]
    said(*pip, "--disable-pip-version-check", "--editable", source, cwd=tmp_path)
    code = (
        "import importlib.util, orderly_boggle.search, sys\n"
        f"print([name for name in {FOLDERS} if importlib.util.find_spec(name)])\n"
        "print(orderly_boggle.search.__file__)"
    )
    told = said(python, "-c", code, cwd=tmp_path).splitlines()
    assert told == ["[]", f"{source}/orderly_boggle/search/__init__.py"]
    assert "berlatdes" in said(tmp_path / "venv/bin/orderly", "top", "3x3-scowl70", cwd=tmp_path)
