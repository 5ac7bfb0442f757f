"""Every command and option that the documentation names exists."""

from __future__ import annotations

import re

import pytest
import typer.main

from cluster.cli.app import app
from tests.conftest import ROOT

PAGES = sorted((ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "results").rglob("*.md")))
GENERAL = {"--help", "-h", "--debug", "--version", "--install-completion", "--show-completion"}


def options_of(command):
    return {name for parameter in command.params for name in getattr(parameter, "opts", ())} | GENERAL


def used(page):
    """Yield the words of each use of ``orderly`` in code: in blocks to the end of the line, in text to the backtick."""
    text = page.read_text(encoding="utf-8")
    inline = re.findall(r"`orderly ([^`]+)`", text)
    blocks = re.findall(r"^(?:    |\$ |.*\| )(?:\.venv/bin/)?orderly (.+)$", text, re.MULTILINE)
    for line in (*inline, *blocks):
        line = re.sub(r"\"[^\"]*\"|'[^']*'", "TEXT", line.partition("  #")[0])
        yield re.split(r" [|<>] ", line)[0].split()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_options_exist(page):
    root = typer.main.get_command(app)
    for words in used(page):
        command, rest = root, words
        while rest and hasattr(command, "get_command") and (inner := command.get_command(None, rest[0])):
            command, rest = inner, rest[1:]
        if hasattr(command, "get_command") and rest:
            assert not re.fullmatch(r"[a-z]+", rest[0]), words
        options = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
        assert options <= options_of(command), words


def test_some_are_found():
    assert sum(len(list(used(page))) for page in PAGES) > 50
