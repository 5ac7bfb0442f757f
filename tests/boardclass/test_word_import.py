"""The importer: every form of file, every rule, and no entry that is not counted."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardclass.errors import WordListError
from boardclass.word_files import Entries, expanded, read_entries
from boardclass.word_import import Imported, Rules, import_words, parse_letters
from boardclass.wordlist import load_wordlist, parse_wordlist

WORDS = ["gâteau", "naïve", "quiche", "straße", "tea", "tree"]
PLAIN = ("gateau", "naive", "qiche", "strasse", "tea", "tree")


def make(*entries: str, **rules: object) -> Imported:
    return import_words(Entries(list(entries), []), Rules(**rules), "mine", "mine.txt")


def lines_of(found: Imported) -> dict[str, int]:
    return {step.what: step.lines for step in found.steps}


def zipped(*texts: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("folder/", b"")
        for number, data in enumerate(texts):
            archive.writestr(f"folder/{number}.txt", data)
        archive.writestr("__MACOSX/folder/list.txt", b"junk")
    return held.getvalue()


TEXT = "".join(f"{word}\n" for word in WORDS)
UTF8 = TEXT.encode()
FORMS = {
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
    "capitals": ("txt", "\n".join(word.replace("ß", "ss").upper() for word in WORDS).encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_file_gives_the_same_list(tmp_path, form):
    suffix, data = FORMS[form]
    path = tmp_path / f"list.{suffix}"
    path.write_bytes(data)
    assert import_words(read_entries(path), Rules(), "mine", "mine").words.words == PLAIN


def test_encoding_and_column_can_be_told(tmp_path):
    path = tmp_path / "polish.csv"
    path.write_bytes("lp;hasło\n1;żółw\n2;mąka\n".encode("iso-8859-2"))
    words, read_as = read_entries(path, "iso-8859-2", "hasło")
    assert words == ["żółw", "mąka"]
    assert read_as == [
        "iso-8859-2, as told",
        "columns with semicolons between, words from column 2 below its heading",
    ]
    assert make(*words).words.words == ("maka", "zolw")
    assert read_entries(path, "iso-8859-2", "2").words == ["żółw", "mąka"]
    assert "guess" in read_entries(path).read_as[0]
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
            "no column '3': expected 1 to 2, or one of 'a', 'b'",
        ),
        ("a.json", b'["tea", 7]', {}, "JSON with 7 in it"),
        ("a.json", b'["tea"', {}, "looks like JSON and is not"),
        ("a.txt", b"te\0a\ntree\n", {}, "NUL character"),
        ("a.txt", gzip.compress(UTF8)[:-9], {}, "cut off or damaged"),
        ("a.zip", zipped(UTF8)[:-9], {}, "cut off or damaged"),
        ("a.zip", zipped(UTF8, UTF8), {}, "holds 2 files"),
        (
            "a.dic",
            b"2\ntree/S\nword/S\n",
            {},
            "'a.aff', which says what its flags mean, is missing",
        ),
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
        "left out: there already": 1,
        "words of the new list": 3,
    }
    examples = {step.what: step.example for step in found.steps}
    assert examples["accents folded"] == "été > ete"
    assert examples["left out: name or other word with a capital"] == "Tea"
    assert any(note.startswith("folded: é; --letter é=w would keep é") for note in found.notes)


@given(
    st.lists(st.text("aéñQqu'- Ж1ß\N{COMBINING ACUTE ACCENT}", max_size=6), max_size=30), st.data()
)
def test_no_entry_is_lost_uncounted(entries, data):
    rules = {
        "names": data.draw(st.sampled_from(["drop", "keep"])),
        "accents": data.draw(st.sampled_from(["fold", "drop", "keep"])),
        "letters": data.draw(st.sampled_from([{}, {"ñ": "w"}, {"é": "a"}])),
        "plain_q": data.draw(st.booleans()),
    }
    try:
        found = make(*entries, **rules)
    except WordListError:
        return
    left_out = sum(lines for what, lines in lines_of(found).items() if what.startswith("left out"))
    assert left_out + len(found.words) == len(entries)
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


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"names": "some"}, "--names 'some': expected drop or keep"),
        ({"accents": "no"}, "--accents 'no': expected fold or drop or keep"),
        ({"letters": {"ñ": ""}}, "such as ñ=w"),
        ({"letters": {"abc": "w"}}, "--letter 'abc=w'"),
        ({"letters": {"ñ": "w", "é": "w"}}, "one symbol to two letters"),
    ],
)
def test_rules_that_cannot_be(rules, said):
    with pytest.raises(WordListError) as caught:
        Rules(**rules)
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
    )
    from spylls.hunspell import Dictionary

    referee = Dictionary.from_files(str(tmp_path / "toy"))
    assert [word for word in words if not referee.lookup(word)] == []
    shaken = random.Random(1)
    for _ in range(3000):  # what the referee takes of pieces put together must be there as well
        stem = shaken.choice(STEMS).partition("/")[0]
        before, after = (
            ["", "re", "ge", "non"],
            ["", "s", "d", "ds", "ed", "t", "zu", "lich", "eds"],
        )
        word = shaken.choice(before) + stem + shaken.choice(after)
        assert referee.lookup(word) == (word in words), word
    found = import_words(read_entries(tmp_path / "toy.dic"), Rules(), "toy", "toy.dic")
    assert "spelling dictionary" in found.notes[0]


def test_comments_and_blank_lines_between_columns_are_counted(tmp_path):
    (tmp_path / "list.tsv").write_text(
        "# words and counts\n" + "".join(f"{word}\t3\n" for word in PLAIN) + "\n"
    )
    found = import_words(
        read_entries(tmp_path / "list.tsv"), Rules(plain_q=True), "mine", "list.tsv"
    )
    assert lines_of(found)["left out: blank line or comment"] == 2
