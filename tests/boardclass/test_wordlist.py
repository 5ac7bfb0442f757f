"""The strict loader: identity of known lists, every refusal, lookup order."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from boardclass import wordlist as module
from boardclass.errors import WordListError
from boardclass.wordlist import (
    KNOWN_SHA256,
    REASONS,
    available_names,
    known_name,
    load_wordlist,
    normalised_sha256,
    parse_wordlist,
)
from tests.reference.classes import slow_normalise

BOM = b"\xef\xbb\xbf"
CLEAN = [f"{a}{b}ord" for a in "abcdefghijklmnoprstvwz" for b in "aeiou"] * 2
LINES = sorted({*CLEAN, *(f"{word}s" for word in CLEAN), "quiz", "quit"})
GOOD = "".join(f"{word}\n" for word in LINES).encode()


def parse(data: bytes, name: str = "mine") -> module.WordList:
    return parse_wordlist(data, name, "mine.txt")


def many(n: int) -> list[bytes]:
    """Return n different good words."""
    return [b"a" + bytes(97 + i // 16**k % 16 for k in range(4)) for i in range(n)]


def test_a_clean_list():
    result = parse(GOOD)
    assert result.words == tuple(sorted(word.replace("qu", "q") for word in LINES))
    assert result.counts == dict.fromkeys(REASONS, 0)
    assert result.n_lines == len(LINES)
    assert result.sha256 == hashlib.sha256("\n".join(result.words).encode()).hexdigest()
    assert result.n_letters("qiz") == 4


@pytest.mark.parametrize(
    "data",
    [GOOD[:-1], GOOD.replace(b"\n", b"\r\n"), BOM + GOOD, BOM + GOOD.replace(b"\n", b"\r\n")[:-2], b"".join(
        f"{word}\n".encode() for word in reversed(LINES)
    )],
    ids=["no final newline", "CRLF", "one BOM", "BOM and CRLF", "other order"],
)  # fmt: skip
def test_harmless_differences_change_nothing(data):
    assert parse(data) == parse(GOOD)


def test_reasons_are_counted_up_to_half_a_percent():
    words = [*many(994), b"a" * 64]
    assert len(set(words)) == 995
    bad = [b"ab", b"qat", b"it's", words[0], b"a" * 65]
    result = parse(b"\n".join(words + bad))
    assert result.counts == {"too short": 1, "too long": 1, "q without u": 1, "not a-z": 1, "duplicate": 1}
    assert len(result.words) == 995
    with pytest.raises(WordListError, match=r"6 of 1001 lines are unusable, expected at most 0\.5 %") as caught:
        parse(b"\n".join([*words, *bad, b"caf\xc3\xa9"]))
    for quoted in ("1 too short (line 996: 'ab')", "(line 997: 'qat')", '2 not a-z (line 998: "it\'s")', "(line 999: "):
        assert quoted in str(caught.value)


def test_quantity_is_judged_after_qu_became_q():
    assert parse(b"quiz\nqui\n").words == ("qi", "qiz")
    with pytest.raises(WordListError, match="1 q without u"):
        parse(b"quiz\nquiqz\n")
    with pytest.raises(WordListError, match="1 q without u"):
        parse(b"quiz\nsuq\n")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"\n \r\n\n", "is empty"),
        (BOM, "is empty"),
        (BOM + BOM + GOOD, "line 1: second byte order mark"),
        (GOOD + BOM + GOOD, f"line {len(LINES) + 1}: second byte order mark"),
        (GOOD.decode().encode("utf-16"), "line 1: UTF-16 or UTF-32 byte order mark .*iconv"),
        (GOOD.decode().encode("utf-32"), "UTF-16 or UTF-32 byte order mark"),
        (GOOD.decode().encode("utf-16-le"), "line 1: NUL byte"),
        (GOOD.decode().encode("utf-16-be"), "line 1: NUL byte"),
        (GOOD + b"do\0g\n", f"line {len(LINES) + 1}: NUL byte in 'do\\\\x00g'"),
        (GOOD.replace(b"\n", b"\r"), "line 1: carriage return without line feed in 'aaord"),
        (GOOD + b"cat\rdog\n", f"line {len(LINES) + 1}: carriage return"),
        (GOOD + b"cat\r\r\ndog\n", f"line {len(LINES) + 1}: carriage return"),
        (GOOD.upper(), "line 1: upper case in 'AAORD'; .*tr A-Z a-z"),
        (GOOD + b"\nAfrica\n", f"line {len(LINES) + 2}: upper case in 'Africa'"),
        (GOOD + b"walk/DGS\n", f"line {len(LINES) + 1}: flags after a slash in 'walk/DGS'"),
        (GOOD + b"walk\t12\n", f"line {len(LINES) + 1}: tab in 'walk\\\\t12'"),
        (GOOD + b"x" * 1000 + b"\n", f"line {len(LINES) + 1}: line of 1000 bytes"),
        (b"x" * 1_000_000, "line 1: line of 1000000 bytes in 'xxx"),
        (GOOD + b"caf\xe9\ncaf\xc3\xa9\n", "2 not a-z .*'caf\\\\\\\\xe9'"),
        (GOOD + b"two words\n\n", "2 not a-z"),
        (GOOD + GOOD, "duplicate"),
        (b"1. cat\n2. dog\n", "2 of 2 lines are unusable.*line 1: '1. cat'"),
        (b"cat,1\n", "'cat,1'"),
        (b"a\nb\nc\n", "3 too short"),
        ("\N{FULLWIDTH LATIN SMALL LETTER A}bc\n".encode(), "1 not a-z"),
        (b"\x1f\x8b\x08\x00" + GOOD, "NUL byte"),
    ],
)  # fmt: skip
def test_foreign_formats_are_refused(data, said):
    with pytest.raises(WordListError, match=said) as caught:
        parse(data)
    assert "'mine.txt'" in str(caught.value)
    assert len(str(caught.value)) < 700
    assert caught.value.exit_code == 2


@given(
    st.binary(max_size=60)
    | st.text(max_size=40).map(str.encode)
    | st.lists(
        st.sampled_from(["cat", "quiz", "qat", "ab", "\ufeff", "\r", "\n", "\r\n", "\t", "/", "A", "\0", "é"])
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


def test_names_are_found_in_order_and_in_all_three_forms(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    (second / "mine.txt").write_bytes(b"cat\n")
    assert load_wordlist("mine", [first, second, tmp_path / "none"]).words == ("cat",)
    (first / "mine.txt.gz").write_bytes(gzip.compress(b"dog\n"))
    assert load_wordlist("mine", [first, second]).words == ("dog",)
    (first / "other.txt.xz").write_bytes(lzma.compress(b"quay\n"))
    assert load_wordlist("other", [first, second]).words == ("qay",)
    assert available_names([first, second]) == {"mine": first / "mine.txt.gz", "other": first / "other.txt.xz"}
    assert load_wordlist(str(second / "mine.txt")).name == "mine"
    assert load_wordlist(first / "other.txt.xz").name == "other"


def test_the_environment_names_folders(tmp_path, monkeypatch):
    (tmp_path / "mine.txt").write_bytes(b"cat\n")
    monkeypatch.setenv("ORDERLY_WORDLISTS", os.pathsep.join([str(tmp_path / "none"), str(tmp_path)]))
    assert load_wordlist("mine").words == ("cat",)
    monkeypatch.delenv("ORDERLY_WORDLISTS")
    with pytest.raises(WordListError, match=r"no word list named 'mine': expected one of .*scowl70"):
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
        "~nobody-of-that-name/x.txt",
    ],
)
def test_lists_that_are_not_there(name):
    with pytest.raises(WordListError) as caught:
        load_wordlist(name)
    assert len(str(caught.value)) < 700


def test_a_compressed_list_that_is_cut_off_or_damaged(tmp_path):
    packed = gzip.compress(GOOD)
    for number, (suffix, data) in enumerate([
        ("gz", packed[:-9]), ("gz", packed[:40]), ("gz", GOOD), ("gz", packed[:-8] + b"\0" * 8),
        ("gz", packed[:60] + bytes(packed[60] ^ 1 for _ in "x") + packed[61:]),
        ("xz", lzma.compress(GOOD)[:-9]), ("xz", GOOD),
    ]):  # fmt: skip
        path = tmp_path / f"{number}.txt.{suffix}"
        path.write_bytes(data)
        with pytest.raises(WordListError, match=r"is cut off or damaged .*fetch it again"):
            load_wordlist(path)


def test_a_huge_file_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 2**20)
    path = tmp_path / "bomb.txt.gz"
    path.write_bytes(gzip.compress(b"cat\n" * 2**19))
    with pytest.raises(WordListError, match="more than 1 MiB"):
        load_wordlist(path)


def test_a_known_name_must_be_the_known_list(tmp_path):
    path = tmp_path / "enable2k.txt"
    path.write_bytes(GOOD)
    with pytest.raises(
        WordListError, match=r"'enable2k' means the list with 1c11e988.*cut off or another edition; rename"
    ):
        load_wordlist(path)
    path.rename(tmp_path / "enable.txt")
    assert load_wordlist(tmp_path / "enable.txt").words


def test_known_names():
    assert known_name(KNOWN_SHA256["twl06"]) == "twl06"
    assert known_name(normalised_sha256(["cat"])) is None


def test_enable2k_is_the_pinned_list(enable2k):
    result = load_wordlist(enable2k.name)
    assert result == enable2k
    assert result.sha256 == "1c11e988d3b84707444bdf4575cc11e093c3471b73bf39d623cc724d17326a37"
    assert (result.n_lines, len(result.words)) == (173_528, 173_402)
    assert result.counts == {"too short": 96, "too long": 0, "q without u": 30, "not a-z": 0, "duplicate": 0}
    assert list(result.words) == slow_normalise(available_names()["enable2k"].read_text("ascii").split("\n"))
