"""What people typed elsewhere, in bug reports and questions, and the values that an independent solver worked out.

    boards, tiles, rules (D, E, F)   here: on the command line and by what the Board page asks
    lists (B, C, F4)                 here: what `wordlist check` says and `wordlist import` makes of them

A blank behind a word (A1) and other alphabets (B8) are in test_cli_wordlist.py.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from boardclass.errors import InputError
from cluster.web.jobs import score_board

# what was typed, the options, the score, None if it is refused; scowl70
SCORED = {
    "d1": ("star line gods pest", {}, 681),
    "d1 in lines": ("S T A R\nL I N E\n\nG O D S\nP E S T", {}, 681),
    "d3": ("berlatdes cinlatper", {}, None),
    "d4": ("starelingods", {"dims": "4x3"}, 285),
    "d5": ("stlage rida eons", {"dims": "5x3"}, None),
    "d6": ("star/elin/gods", {}, 304),
    "d7": ("4 4\nS  N  R  T\nO  I  E  L\nE  Qu T  T\nR  S  A  T\n", {}, 391),
    "d8": ("abc/def/gh", {}, None),
    "e1": ("dsrodg/temens/rasito/dgntrp/reiaes/tsclpd", {}, 13748),
    "e2": ("stare/linos/gedra", {}, 395),
    "e4": ("Th e r / i n g / s a l", {}, 89),
    "e4 in lines": ("Th e r\ni n g\ns a l", {}, 89),
    "e6": ("ste/r.a/lin", {}, 30),
    "e8": ("c*t/sea/rdo", {}, 868),
    "e9": ("c [a/e] t / sro / din", {}, 124),
    "e10": ("[-ing] k s / rat / neb", {}, 201),
    "f1": ("berlatdes", {"letter_values": "scrabble", "scores": "1,1,2,3,4,5,6"}, 2671),
}


@pytest.mark.parametrize("name", SCORED)
def test_a_board_as_it_was_typed_has_its_score_here_and_on_the_page(orderly, name):
    text, options, expected = SCORED[name]
    given = [part for key, value in options.items() for part in (f"--{key.replace('_', '-')}", value)]
    answer = orderly("score", "-w", "scowl70", *given, "--format", "json", stdin=text)
    points, values = options.get("scores", "standard"), options.get("letter_values")
    asked = (text, options.get("dims"), "scowl70", "", points, False, 3, values)
    if expected is None:
        assert (answer.code, answer.out) == (2, "")
        with pytest.raises(InputError):
            score_board(*asked)
        return
    assert [row["score"] for row in json.loads(answer.out)] == [expected]
    told = score_board(*asked)
    assert told["score"] == sum(word["points"] for word in told["words"]) == expected
    again = score_board("".join(told["cells"]), told["dims"], "scowl70", "", points)
    assert values or again["score"] == expected, "the page sends the cells down the columns"


FRENCH = ["mère", "pré", "été", "épi", "tri", "trime", "reine", "père", "prise", "mise"]
SPANISH = ["año", "niña", "caña", "una", "cana", "ana", "nao", "onda"]
QUIZ = ["geeks", "quiz", *(f"{a}zz{b}" for a in "abcdefghijklmnop" for b in "abcdefghijklmnop")]
QATAR = ["qatariana", *(f"zz{a}{b}" for a in "abcdefghij" for b in "abcdefghij")]
# lines, options of import, a board, its score, what is said of the file when it is not a plain list
IMPORTED = {
    "b1": (["Ibis", "idea", "side", "tide"], (), "ide/tas", 2, ""),  # whatever the locale, see below
    "b3, c1": (FRENCH, (), "merpetise", 4, "accents folded"),
    "b4": (["tea 12", "eat 7", "ate 1"], (), "te/ax", 3, "columns with blanks between, words from column 1"),
    "b6": (["tea", "bed/breakfast", "eat"], (), "te/ax", 2, "digit, dot or other sign  bed/breakfast"),
    "b9": (['["tea", "eat",', ' "ate"]'], (), "te/ax", 3, "read as ASCII, JSON"),
    "c2": (SPANISH, ("--letter", "ñ=w"), "año/nac/uid", 6, ""),
    "f3": (QUIZ, ("--plain-q",), "giz/uek/qse", 3, ""),
    "f4": (QATAR, ("--plain-q",), "qat/ira/ana", 11, ""),
}


@pytest.mark.parametrize("name", IMPORTED)
def test_a_list_as_people_have_it_is_taken_by_the_command_that_the_refusal_names(orderly, name, tmp_path, monkeypatch):
    lines, options, board, expected, said = IMPORTED[name]
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LC_ALL", "tr_TR.UTF-8")
    file = tmp_path / "mine.txt"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    if not options:
        refused = orderly("wordlist", "check", file)
        assert (refused.code, said in refused.out) == (2, True)
        assert f"orderly wordlist import {file}" in refused.err
        assert not (tmp_path / "data").exists()
    made = orderly("wordlist", "import", file, *options)
    assert (made.code, said in made.out) == (0, True)
    assert orderly("wordlist", "check", "mine").code == 0
    scored = orderly("score", "-w", "mine", "--format", "json", stdin=board)
    assert [row["score"] for row in json.loads(scored.out)] == [expected], scored.err
    assert score_board(board, None, "mine")["score"] == expected


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/usr/share/dict/american-english").exists(), reason="needs Debian's wamerican")
def test_the_list_of_debian_that_a_turkish_locale_halved(orderly, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setitem(os.environ, "LC_ALL", "tr_TR.UTF-8")
    made = json.loads(orderly("wordlist", "import", "/usr/share/dict/american-english", "--format", "json").out)
    assert made["n_words"] >= 63_737
    scored = orderly("score", "-w", "american-english", "--format", "json", stdin="brenstaid")
    assert [row["score"] for row in json.loads(scored.out)] == [57]
