"""The importer: every form of file, every rule, and no entry that is not counted."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product

import pytest
from hypothesis import given, strategies as st

from orderly_boggle.boardclass.errors import WordListError
from orderly_boggle.boardclass.word_entries import expanded, read_entries
from orderly_boggle.boardclass.word_files import decoded
from orderly_boggle.boardclass.word_forms import Entries, entries_of
from orderly_boggle.boardclass.word_import import (
    Imported,
    ImportRules,
    import_words,
    parse_letters,
    spellings,
)
from orderly_boggle.boardclass.wordlist import load_wordlist, parse_wordlist

WORDS = ["gâteau", "naïve", "quiche", "straße", "tea", "tree"]
PLAIN = ("gateau", "naive", "qiche", "strasse", "tea", "tree")


def make(*entries: str, **rules: object) -> Imported:
    return import_words(Entries(list(entries), []), ImportRules(**rules), "mine", "mine.txt")


def lines_of(found: Imported) -> dict[str, int]:
    return {step.what: step.lines for step in found.steps}


def left_out_of(found: Imported) -> int:
    return sum(step.lines for step in found.steps if step.what.startswith("left out"))


def zipped(*texts: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("folder/", b"")
        for number, data in enumerate(texts):
            archive.writestr(f"folder/{number}.txt", data)
        archive.writestr("__MACOSX/folder/list.txt", b"junk")
    return held.getvalue()


def office(name: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("[Content_Types].xml", b"")
        archive.writestr(name, b"<xml/>")
    return held.getvalue()


def tarred(*texts: bytes) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for number, data in enumerate(texts):
            member = tarfile.TarInfo(f"folder/{number}.txt")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return held.getvalue()


TEXT = "".join(f"{word}\n" for word in WORDS)
UTF8 = TEXT.encode()
FORMS: dict[str, tuple[str, bytes]] = {
    "plain": ("txt", UTF8),
    "CRLF": ("txt", TEXT.replace("\n", " \r\n").encode()),
    "old Macintosh": ("txt", TEXT.replace("\n", "\r").encode()),
    "byte order mark": ("txt", b"\xef\xbb\xbf" + UTF8),
    "UTF-16": ("txt", TEXT.encode("utf-16")),
    "UTF-16 without mark": ("txt", TEXT.encode("utf-16-le")),
    "UTF-16 the other way": ("txt", TEXT.encode("utf-16-be")),
    "UTF-32": ("txt", TEXT.encode("utf-32")),
    "Latin-1": ("txt", TEXT.encode("latin-1")),
    "decomposed": ("txt", TEXT.replace("â", "a\u0302").encode()),
    "gzip": ("txt.gz", gzip.compress(UTF8)),
    "gzip without suffix": ("txt", gzip.compress(UTF8)),
    "bzip2": ("txt.bz2", bz2.compress(UTF8)),
    "xz": ("txt.xz", lzma.compress(UTF8)),
    "zip": ("zip", zipped(UTF8)),
    "comments": ("txt", b"# a list\n\n" + UTF8),
    "words and counts": ("tsv", "".join(f"{word}\t{i}\n" for i, word in enumerate(WORDS)).encode()),
    "counts and words": (
        "txt",
        "".join(f"  {i} {word}\n" for i, word in enumerate(WORDS)).encode(),
    ),
    "CSV": (
        "csv",
        ("id,word\n" + "".join(f"{i},{word}\n" for i, word in enumerate(WORDS))).encode(),
    ),
    "semicolons": ("csv", "".join(f"{word};x{i}\n" for i, word in enumerate(WORDS)).encode()),
    "JSON": ("json", json.dumps(WORDS).encode()),
    "JSON with lines": ("json", json.dumps(WORDS, indent=1, ensure_ascii=False).encode()),
    "JSON object": ("json", json.dumps(dict.fromkeys(WORDS, 1)).encode()),
    "one line": ("txt", " ".join(WORDS).encode()),
    "one line with commas": ("txt", ", ".join(WORDS).encode()),
    "one line with semicolons": ("txt", ";".join(WORDS).encode()),
    "one line with bars": ("txt", "|".join(WORDS).encode()),
    "columns of words": ("csv", "gâteau,naïve,quiche\nstraße,tea,tree\n".encode()),
    "columns of words, ragged": ("txt", "gâteau\tnaïve\tquiche\nstraße\ttea\ntree\n".encode()),
    "some lines with commas": ("txt", "gâteau\nnaïve, quiche\nstraße\ntea\ntree\n".encode()),
    "three words a line": ("txt", "gâteau naïve quiche\nstraße tea tree\n".encode()),
    "quoted words": ("txt", "".join(f'"{word}",\n' for word in WORDS).encode()),
    "quoted lines": ("txt", "".join(f'"{word}"\n' for word in WORDS).encode()),
    "bullets": ("md", "".join(f"- {word}\n" for word in WORDS).encode()),
    "heading and text": (
        "csv",
        ("Word,part of speech\n" + "".join(f"{word},noun\n" for word in WORDS)).encode(),
    ),
    "text before the words": (
        "tsv",
        ("pos\tlemma\n" + "".join(f"noun\t{word}\n" for word in WORDS)).encode(),
    ),
    "kind before the words": ("tsv", "".join(f"noun\t{word}\n" for word in WORDS).encode()),
    "Markdown": (
        "md",
        ("| word | n |\n|---|---|\n" + "".join(f"| {w} | 1 |\n" for w in WORDS)).encode(),
    ),
    "JSON below a key": ("json", json.dumps({"words": WORDS, "entries": 6}).encode()),
    "JSON two levels down": ("json", json.dumps({"n": 1, "data": {"words": WORDS}}).encode()),
    "JSON by letter": (
        "json",
        json.dumps({"n": WORDS[:2], "q": WORDS[2:4], "t": WORDS[4:]}).encode(),
    ),
    "JSON by length": ("json", json.dumps({"6+": WORDS[:4], "3": ["tea"], "4": ["tree"]}).encode()),
    "JSON lists in a list": ("json", json.dumps([WORDS[:4], WORDS[4:]]).encode()),
    "JSON rows with numbers": ("json", json.dumps([[word, 3] for word in WORDS]).encode()),
    "JSON records": ("json", json.dumps([{"id": 1, "word": word} for word in WORDS]).encode()),
    "JSON, what is said of each": (
        "json",
        json.dumps({word: {"pos": "noun"} for word in WORDS}).encode(),
    ),
    "JSON, kinds of each": ("json", json.dumps({word: ["noun"] for word in WORDS}).encode()),
    "JSON in lines": ("jsonl", "".join(f'{{"word": "{word}"}}\n' for word in WORDS).encode()),
    "tar": ("tar", tarred(UTF8)),
    "tar.gz": ("tar.gz", gzip.compress(tarred(UTF8))),
    "zero-width spaces": ("txt", TEXT.replace("\n", "\u200b\n").encode()),
    "soft hyphens": ("txt", TEXT.replace("e", "e\u00ad").encode()),
    "marks of direction": ("txt", TEXT.replace("\n", "\u200e\n\u200f").encode()),
    "no-break spaces": ("txt", TEXT.replace("\n", "\u00a0\n").encode()),
    "byte order mark in the middle": ("txt", TEXT.replace("tea", "\ufefftea").encode()),
    "full width": ("txt", TEXT.replace("tea", "ｔｅａ").encode()),
    "marks of 12dicts": ("txt", TEXT.replace("ea\n", "ea%\n").replace("ee\n", "ee!\n").encode()),
    "capitals": ("txt", "\n".join(word.replace("ß", "ss").upper() for word in WORDS).encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_file_gives_the_same_list(tmp_path, form):
    suffix, data = FORMS[form]
    path = tmp_path / f"list.{suffix}"
    path.write_bytes(data)
    entries = read_entries(path)
    found = import_words(entries, ImportRules(), "mine", "mine")
    assert found.words.words == PLAIN
    assert left_out_of(found) + len(found.words) == entries.n_entries, "the steps add up"


def test_encoding_and_column_can_be_told(tmp_path):
    path = tmp_path / "polish.csv"
    path.write_bytes("lp;hasło\n1;żółw\n2;mąka\n".encode("iso-8859-2"))
    words, read_as, others = read_entries(path, "iso-8859-2", "hasło")
    assert words == ["żółw", "mąka"]
    assert others == {"heading": ["lp", "hasło"], "cell of another column": ["1", "2"]}
    assert read_as == [
        "iso-8859-2, as told",
        "columns with semicolons between, words from column 2 below its heading",
    ]
    assert make(*words).words.words == ("maka", "zolw")
    assert read_entries(path, "iso-8859-2", "2").words == ["żółw", "mąka"]
    with pytest.raises(WordListError, match=r"Latin-1, a guess.*--encoding names another"):
        read_entries(path)
    (tmp_path / "objects.json").write_text('[{"w": "tea"}, {"w": "tree"}]')
    assert read_entries(tmp_path / "objects.json", column="w").words == ["tea", "tree"]


@pytest.mark.parametrize(
    ("name", "data", "options", "said"),
    [
        ("a.txt", UTF8, {"encoding": "klingon"}, "--encoding 'klingon'"),
        ("a.txt", b"caf\xe9", {"encoding": "utf-8"}, "--encoding 'utf-8'"),
        ("a.txt", UTF8, {"column": "2"}, "no columns"),
        (
            "a.csv",
            b"a,b\nc,d\n",
            {"column": "3"},
            "has columns 1 to 2: 'a', 'b'",
        ),
        ("a.json", b'["tea", 7]', {}, "JSON with 7 in it"),
        ("a.json", b'["tea"', {}, "looks like JSON and is not"),
        ("a.txt", b"te\0a\ntree\n", {}, "NUL character"),
        ("a.txt", gzip.compress(UTF8)[:-9], {}, "cut off or damaged"),
        ("a.zip", zipped(UTF8)[:-9], {}, "cut off or damaged"),
        ("a.zip", zipped(UTF8, UTF8), {}, "holds 2 files"),
        ("a.tar.gz", gzip.compress(tarred(UTF8, UTF8)), {}, "holds 2 files"),
        ("a.tar", tarred(UTF8)[:600], {}, "cut off or damaged"),
        ("a.xlsx", office("xl/workbook.xml"), {}, "office program: save it as CSV or text"),
        ("a.ods", office("content.xml"), {}, "office program: save it as CSV or text"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), {}, "save it as CSV"),
        ("a.pdf", b"%PDF-1.4 tea", {}, "is a PDF: save its words as text"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c", {}, "unpack it first"),
        ("a.rcc", b"qres\0\0\0\x03\0", {}, "a resource file of Qt (.rcc)"),
        ("a.zst", b"\x28\xb5\x2f\xfd\x04", {}, "unzstd FILE"),
        ("en.cwl", b"\x02\x00tea", {}, "aspell dump master | aspell expand"),
        (
            "a.json",
            b'{"words": ["tea"], "stop": ["the"], "n": 2}',
            {},
            "all for what is below them, or NAME",
        ),
        ("a.json", b'{"tea": 1, "words": {"tree": 2}, "more": ["eat"]}', {}, "one of 'tea', 'wo"),
        ("a.json", b'[{"w": "tea", "n": 1}]', {}, "--column NAME, one of 'w', 'n'"),
        ("a.json", b'{"words": ["tea"]}', {"column": "wrods"}, "no such key or column"),
        ("a.json", b'["tea", ["tree"]]', {}, "JSON with ['tree'] in it"),
        (
            "FR.DIC",
            b"2\ntree/S\nword/S\n",
            {},
            "'FR.aff', which says what its flags mean, is missing",
        ),
        (
            "a.dic",
            b"2\ntree/S\nword/S\n",
            {},
            "'a.aff', which says what its flags mean, is missing",
        ),
        ("en.aff", b"SFX S Y 1\n", {}, "import the list of its words"),
        ("none.txt", None, {}, "No such file"),
    ],
    # not the data: an archive holds the second in which it was made, and every process must name
    # tests alike
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_files_that_cannot_be_read(tmp_path, name, data, options, said):
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(WordListError) as caught:
        read_entries(path, **options)
    assert said in str(caught.value)


def test_a_pipe_is_no_list_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "list.txt")
    with pytest.raises(WordListError, match="is not a regular file"):
        read_entries(tmp_path / "list.txt")


def test_bytes_that_windows_does_not_know_are_latin():
    assert decoded(b"na\xefve \x81", None, "list.txt")[0] == "na\xefve \x81"


def test_a_spelling_dictionary_needs_its_reader(tmp_path, monkeypatch):
    (tmp_path / "en.dic").write_text("1\ntea\n")
    (tmp_path / "en.aff").write_text("SET UTF-8\n")
    monkeypatch.setitem(sys.modules, "spylls.hunspell", None)
    with pytest.raises(WordListError, match=r"pip install 'orderly-boggle\[spelling\]'"):
        read_entries(tmp_path / "en.dic")


def test_a_spelling_dictionary_that_is_damaged(tmp_path):
    (tmp_path / "en.dic").write_text("1\ntea/A\n")
    (tmp_path / "en.aff").write_text("SET no-such-encoding\nSFX A Y many\n")
    with pytest.raises(WordListError, match=r"'.*en\.dic' cannot be read \(.*fetch it again"):
        read_entries(tmp_path / "en.dic")
    (tmp_path / "en.aff").unlink()
    (tmp_path / "en.aff.gz").write_bytes(gzip.compress(b"SET UTF-8\n")[:-9])
    with pytest.raises(WordListError, match=r"en\.aff\.gz' is cut off") as caught:
        read_entries(tmp_path / "en.dic")
    assert "spelling dictionary" not in str(caught.value)


def test_every_step_that_changes_a_word_is_counted():
    found = make("tea,", "año", "eat", letters={"ñ": "w"})
    assert found.words.words == ("awo", "eat", "tea")
    assert lines_of(found) == {
        "marks beside a word removed": 1,
        "letters written by their symbols": 1,
        "words of the new list": 3,
    }
    assert any("--plain-q takes them" in note for note in make("qat", "tea").notes)


def test_words_to_leave_out_are_met_in_each_spelling_of_a_list():
    assert spellings(["Été"], []) == {"été", "ete"}
    assert spellings(["Año", "été"], ["ñ"]) == {"año", "été", "ete"}


def test_rows_of_json_that_hold_nothing_or_more_rows():
    assert entries_of("[[], []]", None, "list.json").words == []
    assert entries_of('[[["tea", 1], ["eat", 2]]]', None, "list.json").words == ["tea", "eat"]


def test_what_is_done_is_counted_with_an_example():
    found = make(
        "# note",
        "",
        "tea",
        "Tea",
        "NATO",
        "it's",
        "vis-à-vis",
        "ad hoc",
        "3rd",
        "été",
        "at",
        "qat",
        "tea",
        "tree",
        "x" * 65,
    )
    assert found.words.words == ("ete", "tea", "tree")
    assert lines_of(found) == {
        "left out: blank line or comment": 2,
        "left out: name or other word with a capital": 2,
        **dict.fromkeys(
            ("left out: apostrophe", "left out: hyphen", "left out: more than one word"), 1
        ),
        "left out: digit, dot or other sign": 1,
        "accents folded": 1,
        **dict.fromkeys(("left out: too short", "left out: too long", "left out: q without u"), 1),
        "left out: repeated": 1,
        "words of the new list": 3,
    }
    examples = {step.what: step.example for step in found.steps}
    assert examples["accents folded"] == "été > ete"
    assert examples["left out: name or other word with a capital"] == "Tea"
    assert any(note.startswith("folded: é; --letter é=w would keep é") for note in found.notes)


SIGNS = "aéñQqu'- Ж1ß·lĳIİıς%\u200b\u00ad\N{COMBINING ACUTE ACCENT}"


@given(st.lists(st.text(SIGNS, max_size=6), max_size=30), st.data())
def test_no_entry_is_lost_uncounted(entries, data):
    rules = {
        "names": data.draw(st.sampled_from(["drop", "keep"])),
        "accents": data.draw(st.sampled_from(["fold", "drop", "keep"])),
        "letters": data.draw(
            st.sampled_from([{}, {"ñ": "w"}, {"é": "a"}, {"l·l": "w"}, {"ı": "q"}])
        ),
        "plain_q": data.draw(st.booleans()),
    }
    try:
        found = make(*entries, **rules)
    except WordListError:
        return
    assert left_out_of(found) + len(found.words) == len(entries)
    assert lines_of(found)["words of the new list"] == len(found.words)
    assert sum(found.words.counts.values()) == 0
    assert parse_wordlist(found.text.encode(), "mine", "mine") == found.words


def test_names_accents_and_plain_q():
    assert make("Haus", "tun", names="keep").words.words == ("haus", "tun")
    assert any("--names keep" in note for note in make("Haus", "Hund", "tun").notes)
    assert make("été", "tea", accents="drop").words.words == ("tea",)
    assert make("quinquennial", "quququ", "quit").words.words == ("qinqennial", "qit", "qqq")
    plain = make("qatar", "quit", plain_q=True)
    assert (plain.words.words, plain.words.plain_q) == (("qatar", "quit"), True)
    assert plain.words.sha256 != make("quit", "tea").words.sha256
    with pytest.raises(
        WordListError, match=r"no word of 'mine.txt' is left: 1 left out: too short"
    ):
        make("at")
    with pytest.raises(WordListError, match="--names keep takes them, and names too"):
        make("Haus", "Hund")
    with pytest.raises(WordListError, match="it is empty"):
        make()
    with pytest.raises(WordListError, match=r"é, ñ have no symbol in 'mine.txt': add --letter é=X"):
        make("été", "año", accents="keep")
    assert make("été", "año", accents="keep", letters={"ñ": "w", "é": "k"}).words.words == (
        "awo",
        "ktk",
    )


def test_a_letter_of_its_own_is_written_by_its_symbol(tmp_path):
    found = make("año", "caña", "kiwi", "ana", letters=parse_letters(["Ñ=W"]))
    assert found.words.words == ("ana", "awo", "cawa")
    assert found.words.letters == {"w": "ñ"}
    assert lines_of(found)["left out: w, which stands for ñ in this list"] == 1
    assert found.text.startswith("# letter w is ñ\n")
    (tmp_path / "spanish.txt").write_text(found.text, "utf-8")
    assert load_wordlist(tmp_path / "spanish.txt").letters == {"w": "ñ"}
    assert make("kiwi", "web", letters={"w": "v", "v": "w"}).words.words == ("kivi", "veb")
    assert make("chico", "lluvia", letters={"ch": "k", "ll": "w"}).words.words == ("kico", "wuvia")


def test_a_letter_with_two_symbols_is_refused():
    assert parse_letters(["ñ=w", "Ñ=W"]) == {"ñ": "w"}
    with pytest.raises(WordListError, match="'ñ=x': ñ has the symbol w already"):
        parse_letters(["ñ=w", "ñ=x"])


def test_the_forms_of_a_word_on_a_line_are_taken_and_a_word_of_two_is_not(tmp_path):
    """What ``aspell expand`` prints; and lists that hold some words such as ad hoc."""
    path = tmp_path / "expanded.txt"
    path.write_text("rate rates rated\ntea teas tea's\nlinos\nstare stares\n")
    entries = read_entries(path)
    assert entries.read_as[1] == (
        "words with blanks between; --column 1 takes the first of each line"
    )
    assert make(*entries.words).words.words == (
        *("linos", "rate", "rated", "rates", "stare", "stares", "tea", "teas"),
    )
    path.write_text("ad hoc\nhot dog\nice cream\ntea\ntree\nrates\n")
    found = import_words(read_entries(path), ImportRules(), "mine", "mine")
    assert found.words.words == ("rates", "tea", "tree")
    assert lines_of(found)["left out: more than one word"] == 3
    assert any("--column all every word" in note for note in found.notes)
    assert len(read_entries(path, column="all").words) == 9
    assert read_entries(path, column="1").words[:4] == ["ad", "hot", "ice", "tea"]
    path.write_text("ad hoc\nhot dog\nice cream\ntea\n")
    said = (
        "it begins 'ad hoc', 'hot dog', 'ice cream'; --form plain takes 'tea'; --column 1 takes "
        "'hot', 'ice', 'tea'; --column 2 takes 'hoc', 'dog', 'cream'; --column all takes 'hoc', "
    )
    with pytest.raises(WordListError, match=said):
        read_entries(path)
    assert read_entries(path, form="plain").words == ["ad hoc", "hot dog", "ice cream", "tea"]


@pytest.mark.parametrize(
    "text",
    [
        "AA a volcanic rock [n AAS]\nAAH an interjection / to exclaim [v AAHED]\nAAL a shrub [n]\n",
        "tea - a hot drink\nrates - what is paid\ntree - a high plant\n",
        "TEA  T IY1\nTREE  T R IY1\nRATES  R EY1 T S\n",
    ],
    ids=["definitions", "dashes", "pronunciations"],
)
def test_what_is_said_of_a_word_is_no_word_of_the_list(tmp_path, text):
    path = tmp_path / "list.txt"
    path.write_text(text)
    with pytest.raises(
        WordListError, match=r"--column 1 takes '(AAH', 'AAL|TEA', 'TREE|tea', 'rates)'"
    ):
        read_entries(path)
    first = [line.split()[0] for line in text.splitlines()]
    assert read_entries(path, column="1").words == first


def test_lists_below_keys_that_may_be_words_are_refused_until_one_says_which(tmp_path):
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"hot": ["cold"], "dry": ["wet", "damp"]}))
    with pytest.raises(WordListError, match="--column keys, all for what is below them, or NAME"):
        read_entries(path)
    for column, words in {"keys": "hot dry", "all": "cold wet damp", "dry": "wet damp"}.items():
        entries = read_entries(path, column=column)
        assert (entries.words, entries.n_entries) == (words.split(), 5)
    path.write_text('{"word": "tea", "kind": "noun"}')
    assert read_entries(path).words == ["tea"]


def test_a_quote_without_its_partner_swallows_no_line(tmp_path):
    (tmp_path / "list.csv").write_text('tea,1\n"tree,2\neat,3\nate,4\nrate,5\n')
    found = import_words(read_entries(tmp_path / "list.csv"), ImportRules(), "mine", "list.csv")
    assert found.words.words == ("ate", "eat", "rate", "tea", "tree")


CELLS_OF_SEVERAL_LINES = {
    'word,meaning\ntea,"a drink\nhot"\ntree,"a plant\nlarge\nold"\n': "tea tree",
    'word,meaning\ntea,"a\nb\nc\nd\ne\nf\nhot"\n': "tea",
    'word,meaning\n"ate\neat",past\ntea,drink\ntree,plant\n': "tea tree",
}


@pytest.mark.parametrize("text", CELLS_OF_SEVERAL_LINES)
def test_a_cell_of_several_lines_is_no_word(tmp_path, text):
    (tmp_path / "list.csv").write_text(text)
    found = import_words(read_entries(tmp_path / "list.csv"), ImportRules(), "mine", "list.csv")
    assert " ".join(found.words.words) == CELLS_OF_SEVERAL_LINES[text]


cell = st.one_of(
    st.sampled_from(["tea", "tree", "eat", "Rate", "noun", "word", "", "12", "a b", "é"])
)


@given(st.lists(st.lists(cell, min_size=1, max_size=4), min_size=1, max_size=8), st.data())
def test_every_cell_of_a_table_is_taken_or_counted(tmp_path_factory, rows, data):
    sign = data.draw(st.sampled_from(list(",;\t|")))
    path = tmp_path_factory.mktemp("table") / "list.csv"
    path.write_text("".join(sign.join(row) + "\n" for row in rows))
    try:
        entries = read_entries(path, column=data.draw(st.sampled_from([None, "1", "all"])))
        found = import_words(entries, ImportRules(), "mine", "mine")
    except WordListError:
        return
    assert left_out_of(found) + len(found.words) == entries.n_entries
    held = "".join([*entries.words, *sum_of(entries.others)])
    letters = Counter(c for c in path.read_text() if c.isalnum())
    assert Counter(c for c in held if c.isalnum()) == letters


values = st.recursive(
    st.sampled_from(["tea", "tree", "eat", "noun", 7, None, True]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["word", "rate", "n", "stare"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(values, st.sampled_from([None, "keys", "word"]))
def test_every_key_and_value_of_json_is_taken_or_counted(tmp_path_factory, value, column):
    path = tmp_path_factory.mktemp("json") / "list.json"
    path.write_text(json.dumps(value if isinstance(value, (dict, list)) else [value]))
    try:
        entries = read_entries(path, column=column)
    except WordListError:
        return
    held = Counter([*entries.words, *sum_of(entries.others)]) - Counter([""])
    assert held == Counter(leaves_of(json.loads(path.read_text())))


def sum_of(others: Mapping[str, Sequence[str]]) -> list[str]:
    return [item for items in others.values() for item in items]


def leaves_of(value: object) -> list[str]:
    if isinstance(value, dict):
        return [leaf for key, below in value.items() for leaf in [key, *leaves_of(below)]]
    if isinstance(value, list):
        return [leaf for below in value for leaf in leaves_of(below)]
    return [value if isinstance(value, str) else json.dumps(value)]


# the words of a list, the options, what becomes of them, what is counted
LETTERS: dict[str, tuple[str, tuple[str, ...], str, str]] = {
    "Turkish capitals": ("KIZ IŞIK İZİ SICAK", ("ı=w",), "kwz wswk izi swcak", ""),
    "Turkish capitals, folded": ("KIZ IŞIK İYİ", (), "kiz isik iyi", ""),
    "Turkish, dotted": ("İĞNE IĞDIR", ("ğ=q", "ı=w"), "iqne wqdwr", ""),
    "Dutch": ("blĳ rĳst kijk drie", ("ij=y",), "bly ryst kyk drie", ""),
    "Dutch, told by the ligature": ("blĳ kijk ĲSJE", ("ĳ=y",), "bly kyk", "with a capital"),
    "Dutch, folded": ("blĳ kijk", (), "blij kijk", "compatibility characters taken apart"),
    "Croatian": ("ǆep ljeto ǌuh", ("dž=q", "lj=w", "nj=x"), "qep weto xuh", ""),
    "Catalan": ("col·legi anys il·lusió", ("ny=y", "l·l=w"), "cowegi ays iwusio", ""),
    "Catalan, other dots": ("col•legi coŀlegi il∙lusió", ("l·l=w",), "cowegi iwusio", "repeated"),
    "Catalan, folded": ("col·legi anys", (), "collegi anys", "accents folded"),
    "Hungarian": ("dzsungel madzag zseb", ("dzs=w", "dz=q", "zs=x"), "wungel maqag xeb", ""),
    "Breton": ("c'hoar c’hoari marc'h", ("c'h=k",), "koar koari mark", ""),
    "Uzbek": ("oʻzbek gʻalaba tog‘", ("o'=w", "g'=q"), "wzbek qalaba toq", ""),
    "q for a letter": ("şarkı quiz şeker", ("ş=q",), "qarki qeker", "q, which stands for ş"),
    "folded to a letter that has a symbol": ("ǿre tea", ("ø=z",), "tea zre", ""),
    "folded to a letter that is a symbol": ("été tea äna", ("ä=e",), "ena", "e, which stands for"),
    "Greek": (
        "λόγος ΦΩΣ ἅλς",
        ("λ=l", "ο=o", "γ=g", "σ=s", "φ=f", "ω=w", "α=a"),
        "als fws logos",
        "capitals made small",
    ),
    "Russian, in part": ("чай ёж мой", ("ч=c", "а=a", "и=i", "е=e", "м=m", "о=o"), "cai moi", "ж"),
    "two qu": ("quinquagesima quequa qat", (), "quequa quinquagesima", "q without u"),
    "a letter with a mark of its own": ("ɛ̃bɛ tea", ("ɛ̃=w", "ɛ=x"), "tea wbx", ""),
}


@pytest.mark.parametrize("language", LETTERS)
def test_letters_in_one_order_for_every_script(tmp_path, language):
    words, options, expected, counted = LETTERS[language]
    keep = language == "Greek"
    found = make(
        *words.split(), letters=parse_letters(list(options)), names="keep" if keep else "drop"
    )
    listed = [word.replace("q", "qu") for word in found.words.words]
    if found.words.plain_q:
        listed = list(found.words.words)
    assert listed == sorted(expected.split())
    steps = " ".join(f"{step.what} {step.example}" for step in found.steps)
    assert counted in steps
    assert left_out_of(found) + len(found.words) == len(words.split())
    (tmp_path / "list.txt").write_text(found.text, "utf-8")
    again = load_wordlist(tmp_path / "list.txt", plain_q=None)
    assert (again.words, again.letters) == (found.words.words, found.words.letters)


def test_a_list_with_q_as_a_symbol_is_one_with_a_plain_q():
    found = make("şarkı", "şaka", letters={"ş": "q"})
    assert (found.words.plain_q, found.words.letters) == (True, {"q": "ş"})
    assert [found.words.spell(word) for word in found.words] == ["şaka", "şarki"]


def test_what_nobody_sees_is_removed_and_said():
    found = make("tea\u200b", "li\u00adnos", "\ufeffrates", "st\u2060are", "eat\x7f", "tree")
    assert found.words.words == ("eat", "linos", "rates", "stare", "tea", "tree")
    (step,) = [step for step in found.steps if step.what == "invisible characters removed"]
    assert step == (step.what, 5, "tea\\u200b > tea")
    fillers = "\u034f\u115f\u17b4\u180b\u2800\u3164\ufe0f\uffa0\U000e0100"
    found = make("tree", *(f"tea{chr(97 + n)}{c}" for n, c in enumerate(fillers)))
    assert len(found.words) == 1 + len(fillers)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"names": "some"}, "--names 'some': expected drop or keep"),
        ({"accents": "no"}, "--accents 'no': expected fold or drop or keep"),
        ({"letters": {"ñ": ""}}, "such as ñ=w"),
        ({"letters": {"abcd": "w"}}, "--letter 'abcd=w'"),
        ({"letters": {"a b": "w"}}, "--letter 'a b=w'"),
        ({"letters": {"'h": "w"}}, "of one to three signs"),
        ({"letters": {"ñ": "w", "é": "w"}}, "one symbol to two letters"),
    ],
)
def test_rules_that_cannot_be(rules, said):
    with pytest.raises(WordListError) as caught:
        ImportRules(**rules)
    assert said in str(caught.value)


# languages that one word game has lists for (Lexica); the words are ours
GAME = {
    "Breton": ("bugel ene ñev c'hoar", ["bugel", "ene", "nev"]),
    "Croatian": ("đak čaša džep", ["casa", "dak", "dzep"]),
    "French": ("cœur garçon", ["coeur", "garcon"]),
    "German": ("über straße", ["strasse", "uber"]),
    "Hungarian": ("tűz ház", ["haz", "tuz"]),
    "Italian": ("perché qatariana", ["perche"]),
    "Polish": ("łódź żółw", ["lodz", "zolw"]),
    "Turkish": ("ışık çay dağ", ["cay", "dag", "isik"]),
}


def test_the_lists_of_a_game_are_taken_without_options_or_their_alphabet_is_named():
    assert {name: list(make(*words.split()).words) for name, (words, _) in GAME.items()} == {
        name: expected for name, (_, expected) in GAME.items()
    }
    for other in ("абажур лодка кот tea", "کتاب خانه", "ねこさん いぬたち"):
        with pytest.raises(WordListError, match=r"\d words .* which is not supported"):
            make(*other.split())
    assert lines_of(make("tea", "tree", "кот"))["left out: letter of another alphabet"] == 1


AFFIXES = """SET UTF-8\nFLAG UTF-8\nNEEDAFFIX x\nFORBIDDENWORD f\nONLYINCOMPOUND o\nCIRCUMFIX c
PFX R Y 1\nPFX R 0 re .
PFX G Y 1\nPFX G 0 ge/c .
PFX N N 1\nPFX N 0 non .
SFX S Y 3\nSFX S y ies [^aeiou]y\nSFX S 0 s [aeiou]y\nSFX S 0 s [^y]
SFX D Y 2\nSFX D 0 d/S e\nSFX D 0 ed [^e]
SFX T Y 1\nSFX T 0 t/c .
SFX Z N 1\nSFX Z 0 zu .
SFX L Y 1\nSFX L 0 lich/x .
SFX C Y 1\nSFX C 0 fuge/o .
"""
STEMS = [
    "cry/S",
    "play/SDR",
    "tree/SDR",
    "mach/GTx",
    "word/o",
    "sees/f",
    "see/S",
    "spiel/GTN",
    "herb/ZR",
    "freund/LSR",
    "look/SN",
    "haus/CR",
]


def test_a_spelling_dictionary_is_expanded_as_its_referee_reads_it(tmp_path):
    (tmp_path / "toy.aff").write_text(AFFIXES)
    (tmp_path / "toy.dic").write_text("\n".join([str(len(STEMS)), *STEMS]) + "\n")
    words = expanded(tmp_path / "toy.dic")
    assert {
        "cry",
        "cries",
        "played",
        "replays",
        "treed",
        "treeds",
        "gemacht",
        "nonspiel",
        "herbzu",
    } <= set(words)
    assert set(words).isdisjoint(
        {"mach", "macht", "gemach", "word", "sees", "nonspielt", "reherbzu", "freundlich"}
        | {"nonlooks", "hausfuge", "rehausfuge"}
    )
    from spylls.hunspell import Dictionary

    referee = Dictionary.from_files(str(tmp_path / "toy"))
    assert [word for word in words if not referee.lookup(word)] == []
    shaken = random.Random(1)
    for _ in range(3000):  # what the referee takes of pieces put together must be there as well
        stem = shaken.choice(STEMS).partition("/")[0]
        before = ["", "re", "ge", "non"]
        after = ["", "s", "d", "ds", "ed", "t", "zu", "lich", "eds", "fuge"]
        word = shaken.choice(before) + stem + shaken.choice(after)
        assert referee.lookup(word) == (word in words), word
    found = import_words(read_entries(tmp_path / "toy.dic"), ImportRules(), "toy", "toy.dic")
    assert "spelling dictionary" in found.notes[0]


@pytest.mark.parametrize("packed", [False, True])
def test_a_dictionary_is_found_under_other_names(tmp_path, packed):
    """Capitals, as on a disk of DOS, and packed."""
    texts = {"TOY.DIC": "1\ncry/S\n", "Toy.aff": AFFIXES}
    for name, text in texts.items():
        data = gzip.compress(text.encode()) if packed else text.encode()
        (tmp_path / f"{name}{'.gz' * packed}").write_bytes(data)
    path = tmp_path / f"TOY.DIC{'.gz' * packed}"
    assert read_entries(path).words == ["cries", "cry"]


def test_comments_and_blank_lines_between_columns_are_counted(tmp_path):
    (tmp_path / "list.tsv").write_text(
        "# words and counts\n" + "".join(f"{word}\t3\n" for word in PLAIN) + "\n"
    )
    found = import_words(
        read_entries(tmp_path / "list.tsv"), ImportRules(plain_q=True), "mine", "list.tsv"
    )
    assert lines_of(found)["left out: blank line or comment"] == 2


def test_only_words_that_are_left_out_for_a_capital_are_said_to_have_one() -> None:
    hint = "many words have a capital"
    assert any(hint in note for note in make("Haus", "Baum", "und").notes)
    assert not any(hint in note for note in make("apple/S", "banana/MS", "fig").notes)


def test_another_way_to_read_a_file_is_named_only_where_it_is_one():
    """The columns of an index, and elements of XML, are no words of a line."""
    lines = "".join(f"a{letter} b\ntea{letter}\n" for letter in "bcdfgh")
    plain = import_words(entries_of(lines, None, "x"), ImportRules(), "x", "x")
    assert any("--column 1 takes the first word" in note for note in plain.notes)
    index = "ad hoc\tA\tB\nice cream\tB\tB\ntea\tC\tB\n"
    for text, column in ((index, None), (index, "1"), ("word;n\nice tea;1\nice;2\n", None)):
        found = import_words(entries_of(text, column, "x"), ImportRules(), "x", "x")
        assert lines_of(found)["left out: more than one word"]
        assert not any("--column" in note for note in found.notes)


def test_a_long_list_of_another_alphabet_is_refused_at_once():
    """A word in fifty says it; a list that is foreign by half is taken word by word."""
    foreign = [f"{'абвг' * 3}{chr(0x430 + n % 32)}" for n in range(100_000)]
    with pytest.raises(WordListError, match=r"2,000 of 2,000 words looked at have letters of ano"):
        import_words(Entries(foreign, ["UTF-8"]), ImportRules(), "mine", "mine.txt")
    own = ["".join(word) for word in product("abcdefghij", repeat=4)]
    with pytest.raises(WordListError, match=r": 20,000 words have letters of another alphabet"):
        import_words(Entries(own + foreign[:20_000], []), ImportRules(), "mine", "mine.txt")
    made = import_words(Entries(own + foreign[:5_000], []), ImportRules(), "mine", "mine.txt")
    assert list(made.words.words) == own


def test_a_long_list_tells_how_far_it_is():
    words = ["".join(word) for word in product("abcdefghij", repeat=4)]
    moves: list[tuple[str, float]] = []
    entries = Entries([*words, *words, "it"], ["ASCII"])
    import_words(entries, ImportRules(), "mine", "mine.txt", lambda *told: moves.append(told))
    assert [text for text, _ in moves] == [
        "0 of 20,001 entries, 0 words",
        "10,000 of 20,001 entries, 10,000 words",
        "20,000 of 20,001 entries, 10,000 words",
    ]
    assert moves[-1][1] == 20_000 / 20_001
