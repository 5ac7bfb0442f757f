"""The bundled dice and what a file of dice must look like."""

from __future__ import annotations

import pytest

from boardclass.errors import ConfigError
from boardclass.scores import parse_scores
from configs.dicesets import all_dice, dice_for, dice_names, load_dice


def test_bundled_sets():
    assert dice_names() == ["big", "classic", "new", "super"]
    for dice in all_dice():
        assert dice.n == {"big": 25, "classic": 16, "new": 16, "super": 36}[dice.name]
        assert all(len(faces) == 6 for faces in dice.dice), dice.name
        assert sum("q" in faces for faces in dice.dice) == 1 + (dice.name == "super")
        points = parse_scores(dice.scores).points
        assert [points[n] for n in range(3, 11)] == {
            "big": [0, 1, 2, 3, 5, 11, 11, 11],
            "super": [0, 1, 2, 3, 5, 11, 18, 20],
        }.get(dice.name, [1, 1, 2, 3, 5, 11, 11, 11])


def test_every_letter_is_on_some_die():
    for dice in all_dice():
        faces = {face for die in dice.dice for face in die}
        assert set("abcdefghijklmnopqrstuvwxyz") <= faces
        others = {".", "an", "er", "he", "in", "th"} if dice.name == "super" else set()
        assert faces - set("abcdefghijklmnopqrstuvwxyz") == others


def test_a_file_of_ones_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('title = "coins"\ndims = "2x2"\ndice = "aQu bc dd eee"\n')
    assert load_dice(str(path)).dice == ("aq", "bc", "dd", "eee")
    assert dice_for(str(path), 4).title == "coins"


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('title = "x"\ndims = "2x2"\ndice = "ab cd ef"', "3 dice"),
        ('title = "x"\ndims = "2x2"\ndice = "ab c1 ef gh"', "'c1'"),
        ('title = "x"\ndims = "2x2"', "dice"),
        ('title = "x"\ndims = "2by2"\ndice = "a b c d"', "2by2"),
        ('title = "x"\ndims = "2x2"\ndice = "a b c d"\ncolour = 1', "colour"),
        ('title = "x"\ndims = "2x2"\ndice = 4', "dice"),
        ("no toml", "TOML"),
        ('dice = "\xff"', "TOML"),
    ],
)
def test_what_is_no_set_of_dice(tmp_path, text, quoted):
    path = tmp_path / "bad.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=quoted):
        load_dice(str(path))


def test_unknown_names_and_other_sizes():
    with pytest.raises(ConfigError, match="did you mean 'classic'"):
        load_dice("clasic")
    with pytest.raises(ConfigError, match="cannot read"):
        load_dice("./nosuch.toml")
    with pytest.raises(ConfigError, match="expected classic or new"):
        dice_for("big", 16)
    with pytest.raises(ConfigError, match="a TOML file"):
        dice_for("new", 9)
