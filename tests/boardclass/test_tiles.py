"""What people type, and what it is understood as: fifty ways to type ten boards, and what is
refused.
"""

from __future__ import annotations

import json
import pickle
import re

import pytest
from hypothesis import given, strategies as st

from orderly_boggle.boardclass.board import (
    Board,
    dims_of_length,
    in_symbols,
    read_board as read_plain,
    with_letters,
)
from orderly_boggle.boardclass.errors import BoardError, DimsError
from orderly_boggle.boardclass.geometry import DIMS, Dims, parse_dims
from orderly_boggle.cluster.boards.board_tables import json_boards
from orderly_boggle.cluster.boards.tiles import Tile, read_tiles
from orderly_boggle.cluster.boards.typed import read_board
from orderly_boggle.search.scoring.scorer import encode_boards

# the board as its letters down the columns: what was typed, with --dims if any
UNDERSTOOD: dict[str, list[str | tuple[str, str]]] = {
    "slgptioeandsrest": [
        "slgptioeandsrest",
        "SLGPTIOEANDSREST",
        "star/line/gods/pest",
        "STAR/LINE/GODS/PEST",
        "Star/Line/Gods/Pest",
        "star / line / gods / pest",
        "star line gods pest",
        "star, line, gods, pest",
        "star\nline\ngods\npest",
        "star\r\nline\r\ngods\r\npest\r\n",
        "S T A R / L I N E / G O D S / P E S T",
        "s,t,a,r/l,i,n,e/g,o,d,s/p,e,s,t",
        "S T A R\nL I N E\nG O D S\nP E S T\n",
        "\n  S  T  A  R\n\n  L  I  N  E\n  G  O  D  S\n  P  E  S  T",
        "4 4\nS T A R\nL I N E\nG O D S\nP E S T",
        "4\nstar\nline\ngods\npest",
        ("star/line/gods/pest", "4x4"),
        "[s][t][a][r]/line/gods/pest",
    ],
    "berlatdes": [
        "berlatdes",
        "bld/eae/rts",
        "bld eae rts",
        " BLD / eae/RTS\n",
        "3 3\nB L D\nE A E\nR T S",
    ],
    "soerniqsretatltt": [
        "4 4\nS  N  R  T\nO  I  E  L\nE  Qu T  T\nR  S  A  T\n",
        "snrt/oiel/eqtt/rsat",
        "snrt/oiel/eQutt/rsat",
        "snrt/oiel/equtt/rsat",
        "SNRT/OIEL/EQUTT/RSAT",
        "soerniQusretatltt",
        "soerniqusretatltt",
        "SNRT\nOIEL\nE Qu T T\nRSAT",
        "snrt oiel equtt rsat",
        "S N R T / O I E L / E QU T T / R S A T",
    ],
    "tarqselsrinoentp": ["tsre/aein/rlnt/Qusop", "tsre aein rlnt qusop", "tsre/aein/rlnt/[qu]sop"],
    "starelingods": [
        "starelingods",
        ("starelingods", "3x4"),
        "seg/tlo/aid/rns",
        "star elin gods",
        ("segtloaidrns", "4x3"),
        # 4 wide and 3 high: turned
        "star/elin/gods",
        ("star/elin/gods", "4x3"),
        ("star/elin/gods", "3x4"),
    ],
    "acbd": ["acbd", "ab/cd", "ab cd", "a b/c d", "2 2\nab\ncd"],
    "qiot": ["qiot", "quiot", "Quo/it", "quo/it", "QO/IT", "Qu o\ni t"],
    "acebdf": ["ab/cd/ef", "ace/bdf", "ace bdf", ("ace/bdf", "3x2")],
    "abcdqefghrijklsmnopt": ["abcdqefghrijklsmnopt", "abcdq/efghr/ijkls/mnopt"],
    "thingthin": ["thingthin", "Thingthin", "tnh/hgi/itn"],
}


@pytest.mark.parametrize(
    ("board", "typed"), [(board, way) for board, ways in UNDERSTOOD.items() for way in ways]
)
def test_golden_table_of_what_is_understood(board, typed):
    text, dims = (typed, None) if isinstance(typed, str) else typed
    assert read_board(text, dims) == (Board(board).dims, board)
    if re.search(r"[\d\[]", text):  # what other programs write, and tiles
        with pytest.raises(BoardError, match="expected letters a-z and Qu"):
            read_plain(text, dims)
    else:
        assert read_plain(text, dims) == (Board(board).dims, board)


@pytest.mark.parametrize(
    ("text", "dims", "said"),
    [
        ("berlatdes cinlatper", None, "is 2 rows of 9 letters, or more than one board"),
        ("berlatdes\ncinlatper", "3x3", "has 2 rows of 9 letters"),
        ("star line", None, "is 2 rows of 4 letters, or more than one board"),
        ("bld/eae/rts\ncna/ipt/lre", None, "is more than one: 2 lines with / in them"),
        ("s t a r", None, "is 4 cells without a sign where a row ends"),
        ("ab/cde", None, "has 2 rows of 2 and 3 letters"),
        ("abc/def/", None, "has 3 rows of 0 and 3 letters"),
        ("a/b", None, "has 2 rows of 1 letters"),
        ("star/line/gods/pest", "3x4", "has 4 rows of 4 letters: expected the 4 rows of 3 of 3x4"),
        ("3 3\nstar\nline\ngods\npest", None, "has 4 rows of 4, not 3 of 3 as its first line says"),
        ("abcde", None, "has 5 cells: expected 4 (2x2), 6 (2x3), 8 (2x4)"),
        ("abcdefgh", "3x3", "has 8 cells: expected 9 (3x3)"),
        ("abcdefgh1", None, "has '1', which is not a tile"),
        ("bld/eæe/rts", None, "has 'æ', which is not a tile"),
        ("", None, "has 0 cells"),
        (
            "TH E R/I N G/S A L",
            None,
            "has 'TH' among cells with blanks between: write a tile as [th]",
        ),
        ("b[ld/eae/rts", None, "has a '[' without its partner"),
        ("Thab/Inab/Eran/Hean", None, "can be read with 3 or 4 cells"),
        ("QuQuab", None, "can be read with 4 or 6 cells"),
        ("x" * 10_000, None, "has 10,000 characters"),
        ("ste/r.a/lin", None, "has a hole: expected letters a-z and Qu; orderly show, solve"),
        ("c*t/sea/rdo", None, "has a tile for any letter"),
        ("c [a/e] t/sro/din", None, "has a tile with a choice of letters"),
        ("Th e r/i n g/s a l", None, "has a tile with several letters"),
        ("[un-]ks/rat/neb", None, "has a tile only for the beginning of a word"),
        ("[-ing]ks/rat/neb", None, "has a tile only for the end of a word"),
        ("giz/uek/[q]se", None, "has a plain Q"),
        ("[a/]bc/def/ghi", None, "has '[a/]', which is not a tile"),
        (["bld", "eae", "rts"], None, "a board is a text, not ['bld', 'eae', 'rts']"),
    ],
)
def test_golden_table_of_what_is_refused(text, dims, said):
    with pytest.raises(BoardError, match=re.escape(said)) as caught:
        read_board(text, dims)
    assert len(str(caught.value)) < 400
    if "Th" in str(text):  # it knows no tiles but Qu
        return
    with pytest.raises(BoardError, match=r"expected|two ways") as caught:
        read_plain(text, dims)
    assert len(str(caught.value)) < 500


# one board as other programs write it
WRITTEN = {
    "drawn by show": "┌────┬────┬────┐\n│ B  │ L  │ D  │\n├────┼────┼────┤\n│ E  │ Qu │ E  │\n"
    "├────┼────┼────┤\n│ R  │ T  │ S  │\n└────┴────┴────┘\n",
    "drawn in ASCII": "+----+----+----+\n| B  | L  | D  |\n+----+----+----+\n| E  | Qu | E  |\n"
    "+----+----+----+\n| R  | T  | S  |\n+----+----+----+",
    "drawn with double lines": "╔═╦══╦═╗\n║b║ l║d║\n╠═╬══╬═╣\n║e║qu║e║\n╠═╬══╬═╣\n║r║ t║s║\n"
    "╚═╩══╩═╝",
    "Markdown": "| B | L | D |\n|---|:-:|--:|\n| E | Qu | E |\n| R | T | S |",
    "Markdown with an empty heading": "|  |  |  |\n|--|--|--|\n|b|l|d|\n|e|q|e|\n|r|t|s|",
    "bars between": "b | l | d\ne | qu | e\nr | t | s",
    "JSON of letters": '[["b","l","d"],["e","qu","e"],["r","t","s"]]',
    "JSON in lines": '[\n ["B", "L", "D"],\n ["E", "Qu", "E"],\n ["R", "T", "S"]\n]\n',
    "lists of Python": "[['b', 'l', 'd'], ['e', 'q', 'e'], ['r', 't', 's']]",
    "an array of Java": '{{"b","l","d"},{"e","qu","e"},{"r","t","s"}}',
    "JSON as commands print it": '[{"board": "berlqtdes", "score": 430}]',
    "a spreadsheet of Europe": "b;l;d\ne;qu;e\nr;t;s\n",
    "a spreadsheet": "b\tl\td\ne\tq\te\nr\tt\ts\n",
}


@pytest.mark.parametrize("form", WRITTEN)
def test_a_board_as_other_programs_write_it(form):
    assert read_board(WRITTEN[form]) == (Board("berlqtdes").dims, "berlqtdes")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("| a | b |\n| c |  |\n", "has '[]', which is not a tile"),
        ("| a | b |\n| c | d | e |\n", "has 2 rows of 2 and 3 letters"),
        ('[["a", 7], ["c", "d"]]', "without its partner"),
        ('[["a", "b"], ["c", "d"]', "has a '[' without its partner"),
        ('[["a", "b"], ["c", ""]]', "has '[]', which is not a tile"),
    ],
)
def test_tables_that_are_no_board(text, said):
    with pytest.raises(BoardError, match=re.escape(said)):
        read_board(text)


@given(st.integers(2, 4), st.integers(2, 4), st.data())
def test_what_json_holds_is_counted(w, h, data):
    """Every board of a list is read, in its order."""
    cells = st.text("abc", min_size=1, max_size=1)
    row = st.lists(cells, min_size=w, max_size=w)
    boards = data.draw(st.lists(st.lists(row, min_size=h, max_size=h), min_size=2, max_size=4))
    read = json_boards(json.dumps(boards))
    assert read == [("\n".join(map(" ".join, board)), None) for board in boards]
    listed = [{"board": "".join(map("".join, board)), "score": 7, "more": [1]} for board in boards]
    assert json_boards(json.dumps(listed)) == [(item["board"], 7) for item in listed]


def test_wxh_means_columns_and_rows():
    for size, w, h in (("4x3", 4, 3), ("3x4", 3, 4), ("2x6", 2, 6), ("6x2", 6, 2)):
        found = read_tiles("starelingods", size)
        assert (found.w, found.h) == (w, h)
    assert read_tiles("starelingods", "4x3").rows == [list("SRIO"), list("TEND"), list("ALGS")]
    said: list[str] = []
    read_board("star/elin/gods", None, said.append)
    read_board("seg/tlo/aid/rns", None, said.append)
    assert said == ["4 wide and 3 high: turned, the same game as 3x4"]
    with pytest.raises(DimsError):
        read_board("berlatdes", "1x9")
    with pytest.raises(DimsError, match="each 1 to 12, such as 4x3"):
        read_tiles("berlatdes", "9x13")


def test_a_string_of_letters_is_of_the_usual_size_and_the_reader_says_which_others_there_are():
    said: list[str] = []
    for text, dims in (
        ("abcdefghijklmnop", "4x4"),
        ("starelingods", "3x4"),
        ("Heabcdefghijklmn", "4x4"),  # 15 cells if He is a tile
        ("quabcdefgh", "3x3"),
        ("quabcdefghijklqumn", "4x4"),
        ("abcdefghij", "2x5"),
        ("star/elin/gods", "3x4"),
        ("abcdefgh/ijklmnop", "2x8"),
        ("ab/cd/ef/gh/ij/kl", "2x6"),
    ):
        assert str(read_board(text, None, said.append)[0]) == dims
    assert said == [
        "16 cells, read as 4x4: rows, or --dims 2x8, choose another size",
        "12 cells, read as 3x4: rows, or --dims 2x6, choose another size",
        "16 cells, read as 4x4: rows, or --dims 2x8, choose another size",
        "16 cells, read as 4x4: rows, or --dims 2x8, choose another size",
        "4 wide and 3 high: turned, the same game as 3x4",
        "8 wide and 2 high: turned, the same game as 2x8",
    ]
    assert str(read_board("abcdefghijklmnop", "2x8", said.append)[0]) == "2x8"
    assert len(said) == 6


def test_a_board_keeps_its_size():
    board = Board("abcdefgh/ijklmnop")
    assert (str(board.dims), len(board.rows)) == ("2x8", 8)
    assert {image.dims for image in board.images} == {board.dims, board.canonical.dims}
    assert len(board.images) == 4
    again = pickle.loads(pickle.dumps(board))
    assert (again, again.dims) == (board, board.dims)
    assert repr(board) == "Board('abcdefghijklmnop', '2x8')"
    assert Board("abcdefghijklmnop", "2x8").dims == board.dims
    assert Board(board).dims == board.dims, "a board keeps its size where one may be typed"
    assert repr(Board("starelingods")) == "Board('starelingods')"


def test_tiles():
    found = read_tiles("[th][a/E].*/[un-][-ing]qQu/[q]z[qu]e")
    assert found.rows == [
        ["Th", "A/E", ".", "*"],
        ["Un-", "-Ing", "Qu", "Qu"],
        ["Q", "Z", "Qu", "E"],
    ]
    assert found.tiles[found.h * 2] == Tile(())
    assert len(found.tiles[found.h * 3].spellings) == 26
    assert found.turned.turned == found
    assert found.turned.rows == [list(row) for row in zip(*found.rows, strict=True)]
    assert len(found.features) == 7
    assert read_tiles("qa/bc", plain_q=True).rows == [["Q", "A"], ["B", "C"]]
    assert read_tiles("star/elin/gods\n").features == []


@given(st.sampled_from(DIMS), st.data())
def test_every_way_to_write_a_board_says_the_same(name, data):
    dims = parse_dims(name)
    board = data.draw(st.text("abqtz", min_size=dims.n, max_size=dims.n))
    rows = Board(board, dims).rows
    flat = ["".join("q" if face == "Qu" else face for face in row) for row in rows]
    for text in (
        "/".join(flat),
        "\n".join(flat),
        "\n".join(" ".join(row) for row in rows),
    ):
        assert read_board(text) == read_board(text, dims) == (dims, board)
        assert read_plain(text) == read_plain(text, dims) == (dims, board)
    assert read_board(board.upper(), dims) == (dims, board)
    assert read_board(board.upper()) == (dims_of_length(dims.n), board)
    turned = "/".join(board[x * dims.h : (x + 1) * dims.h] for x in range(dims.w))
    assert read_board(turned) == (dims, board) or dims.w == dims.h


def test_length_tells_the_dims():
    squarest = [Dims(2, 2), Dims(2, 3), Dims(2, 4), Dims(3, 3), Dims(2, 5), Dims(3, 4), Dims(2, 7)]
    squarest += [Dims(3, 5), Dims(4, 4), Dims(3, 6), Dims(4, 5), Dims(3, 7), Dims(2, 11)]
    squarest += [Dims(4, 6), Dims(5, 5)]
    assert {dims_of_length(parse_dims(name).n) for name in DIMS} == set(squarest)
    for dims in squarest:
        assert dims_of_length(dims.n) == dims
    for n in (-1, 0, 1, 5, 7, 13, 26, 36):
        with pytest.raises(
            BoardError, match=f"no board has {n} letters: expected one of 4 \\(2x2\\)"
        ):
            dims_of_length(n)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abcdefgh",
        "quabcdefgh",
        "abc def ghi",
        "ab/cd/efg",
        "abcdefgh\0",
        "İ" * 9,
        "\u212a" * 9,
        "a" * 999,
    ],
)
def test_a_stored_board_is_letters_and_nothing_else(text):
    with pytest.raises(BoardError, match="expected 9 letters a-z, one a cell") as caught:
        encode_boards([text], 9)
    assert len(str(caught.value)) < 400


def test_a_board_is_typed_with_the_letters_of_its_list():
    assert with_letters("tear", {}) == "tear"
    assert with_letters("twqx", {"w": "ñ", "x": "dz"}) == "tñq[dz]"
    assert in_symbols("año", {"w": "ñ"}) == "awo"
    with pytest.raises(BoardError, match="w stands for ñ in this word list: write that letter"):
        in_symbols("awo", {"w": "ñ"})


def test_how_a_tile_is_typed():
    tiles = read_tiles("[qu]/t/[in]/[-ed]").tiles
    assert [tile.text for tile in tiles] == ["Qu", "t", "[in]", "[-ed]"]


def test_boards_of_json_and_of_nothing():
    assert json_boards("tear") is None
    assert json_boards('["tear", "teas"]') == [("tear", None), ("teas", None)]
    assert json_boards("[tear") is None


def test_a_board_is_drawn_in_columns():
    assert Board("qtear" + "s" * 4, "3x3").drawn == "Qu A  S\nT  R  S\nE  S  S"
