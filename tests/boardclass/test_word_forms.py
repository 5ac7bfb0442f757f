"""The forms of word files: each has its example, a signature that no other form answers to first,
and a refusal for what is near it.
"""

from __future__ import annotations

import gzip
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest

from orderly_boggle.boardclass.errors import WordListError
from orderly_boggle.boardclass.word_entries import read_entries
from orderly_boggle.boardclass.word_forms import FORMS, entries_of
from orderly_boggle.boardclass.word_forms.form import Given
from orderly_boggle.boardclass.word_import import (
    ImportRules,
    import_words,
    judge_stems,
    parse_letters,
)
from tests.conftest import ROOT

HERE = ROOT / "boardclass" / "word_forms"


def words_of(text: str, column: str | None = None, form: str | None = None) -> list[str]:
    return entries_of(text, column, "mine.txt", form).words


def test_every_form_is_a_file_and_every_file_a_form():
    files = {path.stem for path in HERE.glob("*.py")} - {"__init__", "form"}
    modules = [
        import_module(f"orderly_boggle.boardclass.word_forms.{name}") for name in sorted(files)
    ]
    assert {module.FORM.name for module in modules} == set(FORMS)


@pytest.mark.parametrize("name", FORMS)
def test_the_example_of_a_form_is_read_by_its_signature_and_by_its_name(name):
    form = FORMS[name]
    given = Given(form.example, None, "mine.txt")
    first = next(other for other, each in FORMS.items() if each.fits(given))
    assert first == name
    assert tuple(words_of(form.example, form=name)) == form.words
    if name == "stems":  # they are a list only for who says so
        with pytest.raises(WordListError, match="flags of ispell or hunspell"):
            words_of(form.example)
    else:
        assert tuple(words_of(form.example)) == form.words
    held = entries_of(form.example, None, "mine.txt", name)
    assert held.n_entries >= len(form.words)


@pytest.mark.parametrize("name", FORMS)
def test_no_word_of_a_form_is_taken_for_another_by_a_plain_list(name):
    """A list of the words of an example, one a line, is a plain list."""
    text = "\n".join(FORMS[name].words) + "\n"
    assert entries_of(text, None, "mine.txt").read_as == ["one word a line"]


TANGLET = """AAL Aal
AALAEHNLICH aalähnlich
AALE Aale
AUSSEN außen
LAUFEN laufen Laufen
GEHEN
UEBER über
ÉTÉ été
OEUF œuf
"""


def test_words_in_capitals_with_their_spellings_beside_them():
    """As the game Tanglet 1.6.3 has them."""
    entries = entries_of(TANGLET, None, "words")
    found = import_words(entries, ImportRules(), "mine", "words")
    assert found.words.words == (
        *("aal", "aalaehnlich", "aale", "aussen", "ete", "gehen", "laufen", "oeuf", "ueber"),
    )
    assert entries.n_entries == sum(len(line.split()) for line in TANGLET.splitlines())
    spoken = "TEA  T IY1\nTREE  T R IY1\n"
    for other in (spoken, "AA a volcanic rock\nAAH an interjection\nAAL a shrub\n"):
        with pytest.raises(WordListError, match="--column 1"):
            words_of(other)


def test_affixes_are_no_words_and_the_way_out_is_there(tmp_path):
    """ispell has no .dic beside its affixes."""
    affixes = tmp_path / "french.aff"
    affixes.write_text("SFX S Y 1\nSFX S 0 s .\n")
    with pytest.raises(WordListError, match="import the list of its words"):
        read_entries(affixes)
    (tmp_path / "french.dic").write_text("1\nthé/S\n")
    with pytest.raises(WordListError, match=r"import 'french\.dic' beside it"):
        read_entries(affixes)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("title", ["Trees", "Short Words", "Les  jours", "word"])
def test_a_title_above_words_in_capitals_is_no_word(title, end):
    """Tux Typing has one in each of its files, and a comment may repeat it."""
    text = end.join([f"# {title}", title, "ASH", "ELM", "MAPLE", "OAK", ""])
    for form in (None, "plain", "capitals"):
        found = entries_of(text, None, "trees.txt", form)
        assert [word for word in found.words if not word.startswith("#")] == [
            "ASH",
            "ELM",
            "MAPLE",
            "OAK",
        ]
        assert found.others["title above words in capitals"] == [title]
    assert found.n_entries == 6


@pytest.mark.parametrize(
    "text", ["Trees\nASH\nELM\n", "ash\nELM\nOAK\nFIR\nYEW\nbeech\n", "A\nASH\nELM\nOAK\n"]
)
def test_what_is_above_other_words_is_a_word(text):
    assert entries_of(text, None, "trees.txt").words == text.split()


def test_stems_with_flags_are_refused_or_taken_by_their_name(tmp_path):
    """As ispell's american.med+.mwl of Debian has them."""
    text = "abandon/DGRS\nabase/DGRS\nabaci\naback\nable/RTU\nabove\n"
    path = tmp_path / "american.mwl.gz"
    path.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(WordListError, match=r"'abandon/DGRS'.*--form stems takes the stems alone"):
        read_entries(path)
    entries = read_entries(path, form="stems")
    assert entries.words == ["abandon", "abase", "abaci", "aback", "able", "above"]
    assert entries.others == {"flags of a stem": ["DGRS", "DGRS", "RTU"]}
    assert "are missing" in entries.read_as[1]
    table = "Aaron,noun,Aarons/Aaron\ntea,noun,teas/tea\neat,verb,ate/eats\n"
    assert words_of(table) == ["Aaron", "tea", "eat"], "flags follow a word, not a row"
    # a slash in a few lines is none of flags
    assert words_of("and/or\n" + "\n".join(f"tea{c}" for c in "abcdefghijk"))[0] == "and/or"


KVTML = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE kvtml PUBLIC "kvtml2.dtd" "http://edu.kde.org/kanagram/kvtml2.dtd">
<kvtml version="2.0"><information><title>Pets</title></information>
<identifiers><identifier id="0"><locale>en</locale></identifier>{more}</identifiers>
<entries>
<entry id="0"><translation id="0"><text>hamster</text><comment>it sleeps</comment></translation>
{one}</entry>
<entry id="1"><translation id="0"><text>été</text></translation>{two}</entry>
</entries></kvtml>
"""


def test_the_words_of_one_language_of_a_vocabulary():
    text = KVTML.format(more="", one="", two="")
    entries = entries_of(text, None, "pets.kvtml")
    assert entries.words == ["hamster", "été"]
    assert entries.others == {
        "text of another element": ["Pets", "en", "it sleeps"],
        "attribute of an element": ["2.0", "0", "0", "0", "1", "0"],
    }
    both = KVTML.format(
        more='<identifier id="1"><locale>de</locale></identifier>',
        one='<translation id="1"><text>Hamster</text></translation>',
        two='<translation id="1"><text>Sommer</text></translation>',
    )
    with pytest.raises(WordListError, match=r"say which, --column N \(1 en, 2 de\)"):
        words_of(both)
    assert words_of(both, "2") == words_of(both, "de") == ["Hamster", "Sommer"]
    with pytest.raises(WordListError, match="has 2 languages"):
        words_of(both, "3")
    assert words_of(both, "comment") == ["it sleeps"]
    remark = '<translation id="1"><text>a pet</text></translation>'
    unnamed = KVTML.format(more="", one=remark, two="")
    assert words_of(unnamed) == ["hamster", "été"], "no identifier names the other translation"
    with pytest.raises(WordListError, match="without words"):
        words_of("<?xml version='1.0'?><kvtml></kvtml>")


def test_xml_asks_for_the_element_and_expands_nothing():
    text = "<?xml version='1.0'?><list><w>tea</w><n>hot</n><w>tree</w></list>"
    with pytest.raises(WordListError, match=r"--column NAME, one of w \(2\), n \(1\)"):
        words_of(text)
    for column in ("all", "x"):
        with pytest.raises(WordListError, match="is XML: say which element"):
            words_of(text, column)
    assert words_of(text, "w") == ["tea", "tree"]
    bomb = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>'
    with pytest.raises(WordListError, match="defines entities"):
        words_of(bomb, "a")
    with pytest.raises(WordListError, match="looks like XML and is not"):
        words_of("<?xml version='1.0'?><list><w>tea</list>", "w")


def test_the_values_of_an_object_of_json():
    """The first as the voices of GCompris 3.1 have it: words beside names of files."""
    text = '{"10.ogg": "ten", "bat.ogg": "bat", "u0041.ogg": "eagle"}'
    for column in (None, "all", "values"):
        assert words_of(text, column) == ["ten", "bat", "eagle"]
    assert words_of(text, "keys") == ["10.ogg", "bat.ogg", "u0041.ogg"]
    said = '{"tea": "a drink", "tree": "a plant"}'
    assert words_of(said) == ["tea", "tree"]
    assert words_of(said, "values") == ["a drink", "a plant"]
    deep = '{"a": {"b": ["tea", 3], "c": "tree"}, "n": 7}'
    assert words_of(deep, "values") == ["tea", "tree"]
    assert entries_of(deep, "values", "x").n_entries == 8, "keys and numbers are counted"


def test_a_line_that_says_what_is_between_the_columns_is_no_word():
    for first in ("sep=;", '"sep=;"', "SEP=;"):
        entries = entries_of(f"{first}\nWort;Punkte\nTisch;3\nStuhl;4\n", None, "list.csv")
        assert entries.words == ["Tisch", "Stuhl"]
        assert entries.n_entries == 7
    assert words_of("sep=:\nword:n\ntea:1\ntree:2\n") == ["tea", "tree"]


def test_the_index_of_a_dictionary_and_not_what_it_says(tmp_path):
    """The places of dictd are digits of base 64, one behind the other."""
    assert words_of("ad hoc\tA\tB8\ntea\tB8\tBy\nteas\tB8\tBy\n") == ["ad hoc", "tea", "teas"]
    table = "tea\tdrink\thot\ntree\tplant\ttall\nmouse\tbeast\tsmall\n"
    assert len(words_of(table)) == 9, "cells that are words are no places"
    path = tmp_path / "eng.dict.dz"
    path.write_bytes(gzip.compress(b"tea\n  a drink\n"))
    with pytest.raises(WordListError, match=r"import the \.index beside it"):
        read_entries(path)


def test_the_files_of_wordnet():
    licence = "  1 This software and database is being provided to you\n  2 by Princeton\n"
    index = "abandon v 5 4 @ ~ $ + 5 5 02228049 02227759 02076694 00613411 00614075  \n"
    entries = entries_of(f"{licence}aah v 1 1 @ 1 0 00865794  \n{index}", None, "index.verb")
    assert entries.words == ["aah", "abandon"]
    assert entries.n_entries == 6
    data = '00001837 02 r 02 quick 0 fast(a) 0 000 | in a hurry; "do it fast"  \n'
    assert words_of(licence + data) == ["quick", "fast"]
    assert words_of("abandon%2:40:00:: 00614057 5 2\n") == ["abandon"]


@pytest.mark.parametrize(
    "text",
    [
        "It was the best of times.\nIt was the worst of times.\n",
        "The quick brown fox\njumps over the lazy dog\nwhile nobody looks at it at all\n",
        "SET UTF-8\nPFX A Y 1\nPFX A 0 re .\n",
        "name=value\nother=3\nthird=x\n",
        "#!/bin/sh\nset -e\ncd /tmp\nls -l\n",
    ],
)
def test_prose_and_settings_are_refused_with_their_first_lines(text):
    first = next(line for line in text.splitlines() if not line.startswith("#"))
    with pytest.raises(WordListError) as caught:
        words_of(text)
    told = str(caught.value)
    assert f"it begins {first[:20]!r}"[:-1] in told


PAIRS = "tea,Tee\ntree,Baum\nbread,Brot\nhouse,Haus\n"
# a text of no form, and what is said of it: each way is tried below
REFUSED = {
    "tea:3\ntree:4\n": "it begins 'tea:3', 'tree:4'; a line sep=: above it takes 'tea', 'tree'",
    "tea^n\ntree^n\n": "a line sep=^ above it takes 'tea', 'tree'",
    "tea: 3\ntree: 4\n": "no single word in most cells of column 1; it begins 'tea: 3', 'tree",
    "1) tea\n2) tree\n": "it begins '1) tea', '2) tree'; --column 2 takes 'tea', 'tree'",
    "a1,tea\na2,tree\n": "most cells of column 1; it begins 'a1,tea', 'a2,tree'; --column 2 takes",
    "[t]\ntea\ntree\n[e]\neat\n": "looks like JSON and is not",
    '[\n"tea",\n"tree",\n]\n': "it begins '[', '\"tea\",', '\"tree\",'; --form plain takes 'tea",
    "['tea', 'tree']": "it begins \"['tea', 'tree']\"; expected one word a line",
    "<p>tea</p>\n<p>tree</p>\n": "it begins '<p>tea</p>', '<p>tree</p>'; expected one word a line",
    "<?xml version='1.0'?>\n<w>tea</w>\n<w>": "looks like XML and is not: ",
    "http://a.org/Tea1\nhttp://a.org/Tree2\n": "expected one word a line",
    "yes, he said\nno\n and, they said\nshe went on\n": "--column 1 takes 'yes', 'and', 'she'",
    "It was the best, the best of times,\nit was the worst, the worst,\n": "expected one word a",
    "int a;\nint b;\nreturn a;\n": "expected one word a line",
    "Pack my box with five dozen liquor jugs.\n": "--column 1 --names keep takes 'Pack'; --",
    "This is a list of words.\nPublic domain.\n": "--column 4 takes 'list'; --column all takes",
    "total 8\n-rw-r--r-- 1 me me 4 a.txt\n-rw-r--r-- 1 me me 4 b.txt\n": "it begins 'total 8', ",
    PAIRS: "has two columns of words, and either or both may be the list; it begins 'tea,Tee', ",
    "tea Tee\ntree Baum\n": "--column 2 --names keep takes 'Tee', 'Baum'; --column all takes",
    '[["tea", "Tee"], ["tree", "Baum"]]': "--column 1 takes 'tea', 'tree'; --column 2 --names keep",
    "tea:Tee\ntree:Baum\n": "a line sep=: above it, --column 1 takes 'tea', 'tree'",
    "tea/noun\ntree/noun\n": "a line sep=/ above it takes 'tea', 'tree'",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_refusal_shows_the_first_lines_and_options_that_work(tmp_path, text):
    path = tmp_path / "mine.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(WordListError) as caught:
        read_entries(path)
    told = str(caught.value)
    assert REFUSED[text] in told
    for way in told.split("; ")[2:]:
        option, takes, words = way.partition(" takes ")
        if not takes:
            assert way == "expected one word a line"
            continue
        names = "keep" if " --names keep" in option else "drop"
        option = option.removesuffix(" --names keep")
        above, _, option = option.rpartition(" above it")
        path.write_text(f"{above.removeprefix('a line ')}\n{text}" if above else text, "utf-8")
        name, _, value = option.removeprefix(", ").removeprefix("--").partition(" ")
        entries = read_entries(path, **({name: value} if name else {}))
        found = import_words(entries, ImportRules(names), "mine", "mine.txt")
        assert set(words.lower().replace("'", "").split(", ")) & set(found.words.words), way


@pytest.mark.parametrize(
    "text",
    [
        '{"easy": ["cat", "dog", "cat"], "hard": ["axolotl", "dog"]}',
        '{"tea": "noun", "tree": "noun", "rate": ["noun", "verb"]}',
        '{"happy": ["glad", "merry"], "sad": ["unhappy", "blue"]}',
        '{"meta": {"author": "me", "date": "today"}, "data": ["tea", "tree"]}',
        '{"name": "x", "packages": {"node": {"version": "1", "licence": "MIT"}}}',
        '{"name": "x", "packages": {"modules/node": {"version": "1", "licence": "MIT"}}}',
    ],
)
def test_an_object_whose_keys_may_be_the_words_is_asked_about(text):
    with pytest.raises(WordListError, match="say where, --column keys, all for what is below them"):
        words_of(text)
    assert words_of(text, "keys")
    assert words_of(text, "all")


def test_what_is_said_of_many_keys_or_each_record_is_no_word():
    assert words_of('{"tea": ["noun"], "eat": ["verb"], "ate": ["verb"], "tree": ["noun"]}') == [
        *("tea", "eat", "ate", "tree")
    ]
    assert words_of('{"tea": {"pos": "n", "ipa": "ti"}, "tree": {"pos": "n"}}') == ["tea", "tree"]
    assert words_of('{"language": "en", "list": ["tea", "tree"]}') == ["tea", "tree"]
    lengths = '{"words": ["tea", "tree"], "lengths": {"3": 0, "4": 1}}'
    assert words_of(lengths) == ["tea", "tree"], "the only array, below a key of that name"


def test_a_key_of_json_that_stands_twice_is_not_lost():
    for text in ('{"t": ["tea"], "t": ["tree"]}', '[{"word": "tea", "word": "tree"}]'):
        with pytest.raises(WordListError, match=r"with the key '(t|word)' twice in an object"):
            words_of(text)


def test_a_column_that_records_do_not_have_is_refused():
    with pytest.raises(WordListError, match="--column NAME, one of 'w'"):
        words_of('[{"w": "tea"}, {"w": "tree"}]', "v")


def test_a_word_beside_which_a_number_is_missing_is_no_heading():
    assert words_of("tea,\ntree,1\neat,2\nrate,3\nlinos,4\nstare,5\n")[0] == "tea"


def test_a_first_line_that_may_be_a_heading_is_said_and_can_be_left_out():
    for heading, quoted in (("word", "word"), ("Mot", '"Mot"')):
        text = f"{quoted}\ntea\ntree\n"
        entries = entries_of(text, None, "mine.csv")
        assert entries.words == [quoted, "tea", "tree"]
        assert f"--column {heading} leaves it out" in entries.read_as[1]
        below = entries_of(text, heading, "mine.csv")
        assert (below.words, below.others) == (["tea", "tree"], {"heading": [quoted]})
    assert len(entries_of("tea\nword\n", None, "mine.csv").read_as) == 1


def test_xml_needs_no_declaration_and_its_attributes_are_counted():
    text = "<!-- list -->\n<list>\n<w pos='noun'>tea</w>\n<w pos='noun'>tree</w>\n</list>\n"
    entries = entries_of(text, "w", "mine.xml")
    assert entries.words == ["tea", "tree"]
    assert entries.others == {"attribute of an element": ["noun", "noun"]}
    with pytest.raises(WordListError, match="is XML without text in its elements"):
        words_of("<list><w v='tea'/></list>")
    bomb = '<!-- -->\n<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>'
    with pytest.raises(WordListError, match="is no list of words"):
        words_of(bomb)


def test_a_table_that_is_like_an_index_is_none():
    """Letters are digits of base 64, and numbers follow words elsewhere, too."""
    table = entries_of("teas\ttea\tn\ntrees\ttree\tn\neats\teat\tv\n", None, "mine.tsv")
    assert "columns with tabs between" in table.read_as[0]
    table = entries_of("tea n 3 1\ntree n 4 2\n", None, "mine.txt")
    assert "columns with blanks between" in table.read_as[0]
    assert table.words == ["tea", "tree"]


def test_a_line_that_wordnet_does_not_have_is_not_called_its_licence():
    entries = entries_of("  1 The licence\ntea\ntree\n", None, "mine.txt", "wordnet")
    assert entries.others == {
        "line of the licence": ["  1 The licence"],
        "line that no file of WordNet has": ["tea", "tree"],
    }


def test_stems_may_have_fields_behind_their_flags():
    """As hunspell(5) has them."""
    text = "tea/S po:noun\ntree/MS po:noun is:plural\neat/G\n"
    entries = entries_of(text, None, "mine.txt", "stems")
    assert entries.words == ["tea", "tree", "eat"]
    with pytest.raises(WordListError, match="--form stems takes the stems alone"):
        words_of(text)


def test_a_form_that_there_is_not():
    with pytest.raises(WordListError, match="--form 'rtf': expected one of files, json, xml"):
        words_of("tea\n", form="rtf")


AFFIXES = "SET UTF-8\nSFX A Y 1\nSFX A 0 s .\n"


def dictionary(folder: Path, stems: list[str], mark: str = "") -> Path:
    (folder / "toy.aff").write_text(mark + AFFIXES, "utf-8")
    (folder / "toy.dic").write_text(f"{len(stems)}\n" + "\n".join(stems) + "\n", "utf-8")
    return folder / "toy.dic"


def test_a_dictionary_of_too_many_words_is_refused_before_it_is_expanded(tmp_path):
    """Debian's Italian and Lithuanian ones stand for some 40 million."""
    endings = ["".join(pair) for pair in product("abcdefgh", repeat=2)]
    lines = [f"SFX A 0 {ending}/B .\nSFX B 0 {ending} .\n" for ending in endings]
    suffixes = sorted("".join(lines).splitlines())
    affixes = "\n".join(["SET UTF-8", "SFX A Y 64", *suffixes[:64], "SFX B Y 64", *suffixes[64:]])
    stems = ["".join(letters) + "/A" for letters in product("klmnoprstu", repeat=4)]
    (tmp_path / "toy.aff").write_text(affixes + "\n")
    (tmp_path / "toy.dic").write_text(f"{len(stems)}\n" + "\n".join(stems) + "\n")
    moves: list[str] = []
    with pytest.raises(WordListError, match=r"some 41,610,000 words, by 400 of its stems; at most"):
        read_entries(tmp_path / "toy.dic", move=lambda text, _: moves.append(text))
    assert moves == []


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_a_dictionary_of_another_alphabet_is_refused_before_it_is_expanded(tmp_path, mark):
    """Its forms may be millions: whoever has no symbols for its letters need not wait for them.
    The affixes of kk_KZ (Debian's hunspell-kk) begin with a byte order mark.
    """
    path = dictionary(tmp_path, ["абай/A", "кот/A", "tea/A"], mark)
    moves: list[str] = []

    def read(letters: list[str]) -> list[str]:
        rules = ImportRules(letters=parse_letters(letters))
        judge = lambda stems: judge_stems(stems, rules, "toy.dic")  # noqa: E731
        return read_entries(path, judge=judge, move=lambda text, _: moves.append(text)).words

    with pytest.raises(WordListError, match=r"2 words have letters of another alphabet \('а', CYR"):
        read([])
    assert moves == [], "nothing was expanded"
    symbols = ["а=a", "б=b", "й=j", "к=k", "о=o", "т=t"]
    assert sorted(read(symbols)) == ["tea", "teas", "абай", "абайs", "кот", "котs"]
    assert moves == ["0 of 3 stems, 0 words"]
