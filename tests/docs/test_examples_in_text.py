"""Every ``>>>`` example of the packages and the documentation gives what it says."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from tests.conftest import ROOT

PACKAGES = ("boardclass", "search", "results", "configs", "cluster")
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if ">>> " in path.read_text(encoding="utf-8")
)


def failures(finished: doctest.TestResults) -> int:
    assert finished.attempted > 0
    return finished.failed


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name, with_a_run, monkeypatch):
    monkeypatch.chdir(with_a_run)
    assert failures(doctest.testmod(import_module(name))) == 0


@pytest.mark.parametrize("name", PAGES)
def test_examples_of_a_page(name, with_a_run, monkeypatch):
    monkeypatch.chdir(with_a_run)
    assert failures(doctest.testfile(str(ROOT / name), module_relative=False, encoding="utf-8")) == 0


def test_the_names_of_the_library_have_examples():
    """What the documentation tells people to import is shown in use."""
    assert {
        "boardclass.board",
        "boardclass.partition",
        "boardclass.wordlist",
        "search.breaker",
        "search.scoring.scorer",
        "search.solvers",
        "results.store.run",
    } <= set(MODULES)
