"""The strict loader: identity of known lists, every refusal, lookup order."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import itertools
import lzma
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import example, given, strategies as st

from orderly_boggle.boardclass.errors import WordListError, quote
from orderly_boggle.boardclass.word_entries import read_entries
from orderly_boggle.boardclass.wordlist import (
    REASONS,
    WordList,
    available_names,
    header_of,
    known_name,
    load_wordlist,
    parse_wordlist,
    sources,
    user_folder,
    words_in_q_form,
)
from tests.reference.classes import slow_normalise

BOM = b"\xef\xbb\xbf"
CLEAN = [f"{a}{b}ord" for a, b in itertools.product("abcdefghijklmnoprstvwz", "aeiou")] * 2
LINES = sorted({*CLEAN, *(f"{word}s" for word in CLEAN), "quiz", "quit"})
GOOD = "".join(f"{word}\n" for word in LINES).encode()


def parse(data: bytes) -> WordList:
    return parse_wordlist(data, "mine", "mine.txt")


def test_a_clean_list():
    result = parse(GOOD)
    assert result.words == tuple(sorted(word.replace("qu", "q") for word in LINES))
    assert result.counts == dict.fromkeys(REASONS, 0)
    assert result.n_lines == len(LINES)
    assert result.sha256 == hashlib.sha256("\n".join(result.words).encode()).hexdigest()


@pytest.mark.parametrize(
    "data",
    [
        GOOD[:-1],
        BOM + GOOD,
        "\r\n".join([*reversed(LINES)]).encode(),
        GOOD.replace(b"\n", b"\t \r\n"),
    ],
    ids=["no final newline", "byte order mark", "CRLF and other order", "trailing blanks"],
)
def test_harmless_differences_change_nothing(data):
    assert parse(data) == parse(GOOD)


def test_lines_that_can_be_on_no_board_are_left_out_and_counted():
    result = parse(
        b"cat\nab\nqat\n\ncat\nqit\nsuq\nquiqz\n" + b"a" * 64 + b"\n" + b"a" * 65 + b"\nquiz\nqui"
    )
    assert result.words == ("a" * 64, "cat", "qi", "qiz")
    assert result.counts == {"too short": 2, "too long": 1, "q without u": 4, "duplicate": 1}
    assert result.n_lines == len(result.words) + sum(result.counts.values())


@pytest.mark.parametrize(
    "line",
    [
        "café",
        "caf\xe9".encode("latin-1"),
        "it's",
        "Africa",
        "two words",
        "walk\t12",
        "vis-a-vis",
        "# a comment",
        "1. cat",
        "do\0g",
        "cat\rdog",
        "\ufeffcat",
        "cat\xa0",
        "\N{FULLWIDTH LATIN SMALL LETTER A}bc",
        "é",
    ],
)
def test_one_line_that_is_no_word_refuses_the_list(line):
    line = line.encode() if isinstance(line, str) else line
    value = quote(line.decode("utf-8", "backslashreplace"))
    with pytest.raises(WordListError) as caught:
        parse(GOOD + line + b"\r\n" + GOOD)
    assert f"'mine.txt', line {len(LINES) + 1}: {value} is not a word of letters a-z; " in str(
        caught.value
    )
    with pytest.raises(WordListError, match=r"\(the first of 2 such lines\)"):
        parse(GOOD + line + b"\n" + line)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no usable word (it is empty)"),
        (BOM, "no usable word (it is empty)"),
        (b"a\nqat\n" + b"x" * 1000, "no usable word (1 too short; 1 too long; 1 q without u)"),
        (BOM + BOM + GOOD, "line 1: '\\ufeffaaord' is not a word"),
        (GOOD.decode().encode("utf-16"), "line 1: '\\\\xff\\\\xfea"),
        (GOOD.replace(b"\n", b"\r"), "line 1: 'aaord\\r"),
        (b"X" * 1_000_000, "line 1: 'XXX"),
    ],
)
def test_other_files_are_refused(data, said):
    with pytest.raises(WordListError, match=re.escape(said)) as caught:
        parse(data)
    assert "'mine.txt'" in str(caught.value)
    assert len(str(caught.value)) < 400
    assert caught.value.exit_code == 2


@given(
    st.binary(max_size=60)
    | st.text(max_size=40).map(str.encode)
    | st.lists(
        st.sampled_from(
            ["cat", "quiz", "qat", "ab", "\ufeff", "\r", "\n", "\r\n", "\t", "/", "A", "\0", "é"]
        )
    ).map(lambda parts: "".join(parts).encode())
)
@example(BOM + b"\n")
@example(b"\n" + BOM)
def test_any_bytes_are_a_list_of_playable_words_or_a_typed_error(data):
    try:
        result = parse(data)
    except WordListError:
        return
    text = data.decode("utf-8-sig")
    assert list(result.words) == slow_normalise(text.split("\n"))
    assert result.words


def test_names_are_found_in_order_and_in_all_three_forms(tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    monkeypatch.setenv(
        "ORDERLY_WORDLISTS", os.pathsep.join(map(str, [tmp_path / "none", first, second]))
    )
    (second / "mine.txt").write_bytes(b"cat\n")
    assert load_wordlist("mine").words == ("cat",)
    (first / "mine.txt.gz").write_bytes(gzip.compress(b"dog\n"))
    assert load_wordlist("mine").words == ("dog",)
    (first / "other.txt.xz").write_bytes(lzma.compress(b"quay\n"))
    assert load_wordlist("other").words == ("qay",)
    found = available_names()
    assert (found["mine"], found["other"]) == (first / "mine.txt.gz", first / "other.txt.xz")
    for path in (str(second / "mine.txt"), first / "other.txt.xz"):
        assert load_wordlist(path).name in ("mine", "other")
    monkeypatch.delenv("ORDERLY_WORDLISTS")
    with pytest.raises(
        WordListError, match=r"no word list named 'mine': expected one of .*scowl70"
    ):
        load_wordlist("mine")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a\0b",
        "no-such-list",
        "x" * 5000,
        "./none.txt",
        "a\0/b.txt",
        "..",
        "/",
        "/dev/zero",
        "~nobody/x.txt",
    ],
)
def test_lists_that_are_not_there(name):
    with pytest.raises(WordListError) as caught:
        load_wordlist(name)
    assert len(str(caught.value)) < 700


def test_a_compressed_list_that_is_cut_off_or_damaged(tmp_path):
    packed = gzip.compress(GOOD)
    for number, (suffix, data) in enumerate(
        [
            ("gz", packed[:-9]),
            ("gz", packed[:40]),
            ("gz", GOOD),
            ("gz", packed[:-8] + b"\0" * 8),
            ("gz", packed[:60] + bytes(packed[60] ^ 1 for _ in "x") + packed[61:]),
            ("xz", lzma.compress(GOOD)[:-9]),
            ("xz", b""),
            ("xz", GOOD),
        ]
    ):
        path = tmp_path / f"{number}.txt.{suffix}"
        path.write_bytes(data)
        with pytest.raises(WordListError, match=r"is cut off or damaged .*fetch it again"):
            load_wordlist(path)


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)]
)
def test_all_streams_of_a_list_are_read_or_it_is_damaged(tmp_path, suffix, pack):
    """Some programs pack a file as several streams; a library passes over one that it does not
    know, and words would be missing.
    """
    path = tmp_path / f"list.txt.{suffix}"
    first = pack(b"tea\n")
    second = pack(b"rates\n")
    path.write_bytes(first + second)
    assert load_wordlist(path).words == ("rates", "tea")
    path.write_bytes(first + bytes(8))
    assert load_wordlist(path).words == ("tea",), "zeros that fill up a block"
    for damaged in (b"?" + second[1:], second[:-1]):
        path.write_bytes(first + damaged)
        with pytest.raises(WordListError, match=r"is cut off or damaged .*fetch it again"):
            load_wordlist(path)


@pytest.mark.parametrize("name", ["list.txt", "list.txt.gz", "list.dic"])
def test_what_git_lfs_keeps_of_a_list_is_called_so(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    for read in (load_wordlist, read_entries):
        with pytest.raises(WordListError, match=r"pointer of git-lfs.*git lfs pull"):
            read(path)


def test_a_huge_file_is_not_read_to_its_end(tmp_path):
    """A gzip file may have many members; each of these unpacks to a MiB."""
    path = tmp_path / "bomb.txt.gz"
    member = gzip.compress(b"cat\n" * 2**18)
    path.write_bytes(member * 65)
    assert path.stat().st_size < 2**20
    with pytest.raises(WordListError, match="more than 64 MiB"):
        load_wordlist(path)


def test_a_known_name_must_be_the_known_list(tmp_path):
    path = tmp_path / "enable2k.txt"
    path.write_bytes(GOOD)
    with pytest.raises(
        WordListError, match=r"'enable2k' means the list with 1c11e988.*cut off or another edition"
    ):
        load_wordlist(path)
    assert load_wordlist(path.rename(tmp_path / "enable.txt")).words
    assert known_name(sources()["twl06"].sha256) == "twl06"
    assert known_name("0" * 64) is None


def test_enable2k_is_the_pinned_list(enable2k):
    result = load_wordlist(enable2k.name)
    assert result == enable2k
    assert result.sha256 == "1c11e988d3b84707444bdf4575cc11e093c3471b73bf39d623cc724d17326a37"
    assert (result.n_lines, len(result.words)) == (173_528, 173_402)
    assert result.counts == {"too short": 96, "too long": 0, "q without u": 30, "duplicate": 0}
    assert list(result.words) == slow_normalise(
        available_names()["enable2k"].read_text("ascii").split("\n")
    )


def test_a_user_without_a_home_has_the_other_folders(monkeypatch):
    monkeypatch.setitem(sys.modules, "platformdirs", SimpleNamespace(user_data_path=without_home))
    with pytest.raises(WordListError, match=r"no folder for your own word lists: .*ORDERLY_WORD"):
        user_folder()
    assert "scowl70" in available_names()


def without_home(_name: str) -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_a_users_own_folder_is_looked_into(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    user_folder().mkdir(parents=True)
    (user_folder() / "mine.txt").write_bytes(GOOD)
    assert load_wordlist("mine").words == parse(GOOD).words


def test_words_that_a_caller_gives():
    assert words_in_q_form(parse(GOOD)) == parse(GOOD).words
    assert words_in_q_form(["quit", "tea"]) == ("qit", "tea")
    for word in ("Tea", "qat", "", 3):
        with pytest.raises(WordListError, match="is not a word: expected letters a-z as people"):
            words_in_q_form([word])  # type: ignore[list-item]


def test_a_list_with_a_plain_q_is_for_boards_without_qu(tmp_path):
    (tmp_path / "mine.txt").write_text(header_of({}, plain_q=True) + "qat\ntea\n")
    assert load_wordlist(tmp_path / "mine.txt", plain_q=None).words == ("qat", "tea")
    with pytest.raises(WordListError, match="has a plain q, and here a q is a Qu cell"):
        load_wordlist(tmp_path / "mine.txt")
    # what searches and scores would take it for the list of qua, quat ..., with their points
    with pytest.raises(WordListError, match="'mine' has a plain q"):
        words_in_q_form(load_wordlist(tmp_path / "mine.txt", plain_q=None))


def test_a_list_whose_q_is_another_letter_has_no_qu_and_a_symbol_has_one_letter(tmp_path):
    """A run of such a list was called proven, and its run.json could not be read again."""
    (tmp_path / "mine.txt").write_text("# letter q is kj\ntea\nqat\n")
    with pytest.raises(WordListError, match="has a plain q, and here a q is a Qu cell"):
        load_wordlist(tmp_path / "mine.txt")
    for second in ("w is kj", "v is nj"):
        with pytest.raises(WordListError, match=f"line 2: '# letter {second}' is not a word"):
            parse(f"# letter w is nj\n# letter {second}\ntea\n".encode())


def test_a_list_with_qu_may_be_read_with_a_plain_q_and_stays_the_same_list(tmp_path):
    (tmp_path / "mine.txt").write_text("qat\nquit\n")
    with_qu, plain = (load_wordlist(tmp_path / "mine.txt", plain_q=q) for q in (False, True))
    assert (with_qu.words, plain.words) == (("qit",), ("qat", "quit"))
    assert (plain.name, plain.sha256) == (with_qu.name, with_qu.sha256)


def test_a_folder_that_cannot_be_is_passed_over(monkeypatch):
    monkeypatch.setenv("ORDERLY_WORDLISTS", "x" * 5000)
    assert "scowl70" in available_names()


def test_a_list_of_which_no_word_is_left():
    with pytest.raises(WordListError, match="no word of mine is left"):
        parse(b"tea\neat\n").without(["tea", "eat"])
    assert parse(b"tea\neat\n").without(["tea"]).words == ("eat",)
