"""The bundled list is the pinned one, with its licence; the bundled dice, and what a file of dice
must look like.
"""

from __future__ import annotations

import hashlib

import pytest

from orderly_boggle.boardclass.errors import ConfigError, WordListError
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import load_wordlist, sources
from orderly_boggle.cluster.boards.dicesets import all_dice, dice_for, dice_names, load_dice
from tests.reference.classes import slow_normalise
from tests.soundness.scowl_lists import FOLDER, LIST_SHA256


def test_the_list_is_the_pinned_one():
    """That is the one which scowl_lists.py makes of the Debian package: it compares both digests
    itself.
    """
    data = (FOLDER / "scowl70.txt").read_bytes()
    licence = (FOLDER / "scowl70.LICENSE").read_text("ascii")
    assert hashlib.sha256(data).hexdigest() == LIST_SHA256[70]
    common = (FOLDER / "scowl35.txt").read_bytes()
    assert hashlib.sha256(common).hexdigest() == LIST_SHA256[35]
    assert set(common.split()) < set(data.split())
    result = load_wordlist(FOLDER / "scowl70.txt")
    assert result.sha256 == "77d297e2980bb842f851716efffa988859a5177c63c7af7cf65d87d843d0610b"
    assert len(result.words) == result.n_lines == 111_460
    assert set(result.counts.values()) == {0}
    assert list(result.words) == slow_normalise(data.decode("ascii").split("\n"))
    assert {"color", "quiz", "zymurgy"} & set(result.words) == {"color", "zymurgy"}
    assert "Permission to use, copy, modify, distribute and sell these word" in licence


@pytest.mark.parametrize("name", ["scowl35", "scowl70", "enable2k", "yawl"])
def test_what_is_known_of_a_list_is_what_its_file_gives(name):
    try:
        words = load_wordlist(name)
    except WordListError as error:
        pytest.skip(str(error))
    known = sources()[name]
    left_out = {reason: count for reason, count in words.counts.items() if count}
    letters = known.letters or {}
    assert (known.n_words, known.left_out, letters) == (len(words), left_out, words.letters)


def test_bundled_sets():
    german, spanish = ["german", "german-big", "german-box"], ["spanish", "spanish-big"]
    assert dice_names() == ["big", "classic", *german, "new", *spanish, "super"]
    for dice in all_dice():
        if dice.language != "English":
            continue
        assert dice.n == {"big": 25, "classic": 16, "new": 16, "super": 36}[dice.name]
        assert all(len(faces) == 6 for faces in dice.dice), dice.name
        assert sum("q" in faces for faces in dice.dice) == 1 + (dice.name == "super")
        points = parse_scores(dice.scores).points
        assert [points[n] for n in range(3, 11)] == {
            "big": [0, 1, 2, 3, 5, 11, 11, 11],
            "super": [0, 1, 2, 3, 5, 11, 18, 20],
        }.get(dice.name, [1, 1, 2, 3, 5, 11, 11, 11])
        faces = {face for die in dice.dice for face in die}
        others = {".", "an", "er", "he", "in", "th"} if dice.name == "super" else set()
        assert faces == set("abcdefghijklmnopqrstuvwxyz") | others


@pytest.mark.parametrize(
    ("name", "letters"),
    [("german", "abcdefghijklmnopqrstuvwxyz"), ("spanish", "abcdefghijlmnñopqrstuvxyz")],
)
def test_bundled_sets_of_other_languages(name, letters):
    """Umlauts are written out; no Spanish word of the set's list has k or w."""
    for dice in [dice for dice in all_dice() if dice.name.startswith(name)]:
        width = 5 if dice.name.endswith("big") else 4
        assert (dice.n, dice.dims, dice.language.lower()) == (width**2, f"{width}x{width}", name)
        assert all(len(faces) == 6 for faces in dice.dice)
        assert dice.letters == set(letters)


def test_faces_of_several_letters_and_letters_beyond_a_z(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('title = "x"\ndims = "2x2"\ndice = "a[ch][LL]Qu ñb.Th n\u0303o rr"\n', "utf-8")
    dice = load_dice(str(path))
    assert dice.dice == (("a", "ch", "ll", "q"), ("ñ", "b", ".", "th"), "ño", "rr")
    assert dice.letters == set("achlqñbtor") | {"h"}


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('title = "x"\ndims = "2x2"\ndice = "ab c[] ef gh"', r"die 'c\[\]'"),
        ('title = "x"\ndims = "2x2"\ndice = "ab c[h ef gh"', r"die 'c\[h'"),
        ('title = "x"\ndims = "2x2"\nlanguage = 3\ndice = "ab cd ef gh"', "language = 3"),
        ('title = "x"\ndims = "2x2"\ndice = "ab cd ef"', "3 dice"),
        ('title = "x"\ndims = "2x2"\ndice = "ab c1 ef gh"', "'c1'"),
        ('title = "x"\ndims = "2x2"', "0 dice"),
        ('title = "x"\ndims = "2x2"\ndice = ["ab", "c1", "ef", "gh"]', "'c1'"),
        ('title = "x"\ndims = "2x2"\ndice = ["ab", "", "ef", "gh"]', "die ''"),
        ('title = "x"\ndims = "2x2"\ndice = 4', "dice = 4: expected title, dims such as 4x4, dice"),
        ('title = 3\ndims = "2x2"\ndice = "a b c d"', "title = 3: expected title"),
        ('dims = "2x2"\ndice = "a b c d"', "title is missing: expected title"),
        ('title = "x"\ndims = "2by2"\ndice = "a b c d"', "dims = '2by2': expected"),
        ('title = "x"\ndims = "2x2"\ndice = "a b c d"\ncolour = 1', "colour"),
        ('titel = "x"\ndims = "2x2"\ndice = "a b c d"', "titel = 'x': expected title"),
        ("no toml", "TOML"),
        ('dice = "\xff"', "TOML"),
    ],
)
def test_what_is_no_set_of_dice(tmp_path, text, quoted):
    path = tmp_path / "mine.toml"
    path.write_text('title = "coins"\ndims = "2x2"\ndice = "aQu bc dd eee"\n')
    assert load_dice(str(path)).dice == ("aq", "bc", "dd", "eee")
    assert dice_for(str(path), 4).title == "coins"
    path.write_text('title = "coins"\ndims = "2x2"\ndice = ["aQu", "bc", "dd", "eee"]\n')
    assert load_dice(str(path)).dice == ("aq", "bc", "dd", "eee")
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=quoted):
        load_dice(str(path))


def test_unknown_names_and_other_sizes():
    with pytest.raises(ConfigError, match="did you mean 'classic'"):
        load_dice("clasic")
    with pytest.raises(
        ConfigError, match=r"no dice './nosuch.toml': expected a TOML file or one of big"
    ):
        load_dice("./nosuch.toml")
    fitting = "classic or german or german-box or new or spanish"
    with pytest.raises(ConfigError, match=f"expected {fitting}"):
        dice_for("big", 16)
    with pytest.raises(ConfigError, match="a TOML file"):
        dice_for("new", 9)
