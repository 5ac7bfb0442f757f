"""The bundled list is the pinned one, and its licence lies beside it."""

from __future__ import annotations

import hashlib
import io
import runpy
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import configs
from boardclass.wordlist import load_wordlist
from tests.reference.classes import slow_normalise

FOLDER = Path(configs.__file__).parent / "wordlists"


@pytest.fixture(scope="module")
def regenerate():
    return SimpleNamespace(**runpy.run_path(str(FOLDER / "regenerate.py")))


def test_the_list_is_the_pinned_one(regenerate):
    data = (FOLDER / "scowl70.txt").read_bytes()
    assert hashlib.sha256(data).hexdigest() == regenerate.LIST_SHA256
    result = load_wordlist("scowl70", [FOLDER])
    assert result.sha256 == "77d297e2980bb842f851716efffa988859a5177c63c7af7cf65d87d843d0610b"
    assert len(result.words) == result.n_lines == 111_460
    assert set(result.counts.values()) == {0}
    assert list(result.words) == slow_normalise(data.decode("ascii").split("\n"))
    assert {"color", "quiz", "zymurgy"} & set(result.words) == {"color", "zymurgy"}


def test_the_licence_grants_redistribution_with_its_notice():
    text = (FOLDER / "scowl70.LICENSE").read_text("ascii")
    for line in (
        "Copyright 2000-2011 by Kevin Atkinson",
        "Permission to use, copy, modify, distribute and sell these word",
    ):
        assert line in text


def test_the_script_reads_packages_and_picks_sizes(regenerate):
    folder = "./usr/share/dict/scowl/"
    files = {
        f"{folder}english-words.10": "the\na\nquiz\nqat\nisn't\n",
        f"{folder}american-words.70": "color\nCat\ncaf\xe9\nthe\n",
        f"{folder}american-words.80": "rarest\n",
        f"{folder}british-words.10": "colour\n",
        f"{folder}english-upper.10": "english\n",
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode("iso-8859-1"))
            tar.addfile(info, io.BytesIO(text.encode("iso-8859-1")))
    deb = b"!<arch>\n"
    for name, data in (("debian-binary", b"2.0"), ("data.tar.xz", packed.getvalue())):
        deb += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
    members = regenerate.data_members(deb)
    assert set(members) == set(files)
    assert regenerate.playable_words(members) == ["color", "quiz", "the"]
    with pytest.raises(SystemExit, match="not a Debian package"):
        regenerate.data_members(b"PK\x03\x04")


def test_the_script_refuses_another_package(regenerate, tmp_path, monkeypatch):
    (tmp_path / "scowl.deb").write_bytes(b"!<arch>\n")
    monkeypatch.setattr("sys.argv", ["regenerate.py", str(tmp_path / "scowl.deb")])
    with pytest.raises(SystemExit, match="expected de692546"):
        regenerate.main()
