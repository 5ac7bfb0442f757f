"""Nodes: whatever is forced in whatever order, every board keeps an image in some part, and parts
do not overlap.
"""

from __future__ import annotations

import random
from dataclasses import fields, replace
from itertools import product
from math import prod

import pytest

from orderly_boggle.boardclass.board import LETTERS
from orderly_boggle.boardclass.errors import ConfigError, InputError
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.partition import letter_mask
from orderly_boggle.boardclass.parts import join
from orderly_boggle.configs.model import SearchConfig
from orderly_boggle.search.node import (
    Node,
    class_node,
    force,
    letters_of,
    node_at,
    residual_demands,
    split,
    split_at,
    split_cells,
)
from orderly_boggle.search.params import LETTER_ORDER, Budgets, Rules
from tests.params import Params
from tests.reference.classes import slow_images
from tests.reference.splits import Rules as SlowRules, slow_split
from tests.search.harness import seeds
from tests.search.test_breaker import random_params

ALPHABET = "aet"  # enumerated in full


def random_class(rng: random.Random, dims: str, alphabet: str = ALPHABET) -> tuple[str, ...]:
    """Return letters per cell, more often than not alike under some symmetries."""
    rows = geometry(dims).symmetries.tolist()
    widest = 2 if dims == "3x3" else 3
    letters = ["".join(sorted(rng.sample(alphabet, rng.randint(1, widest)))) for _ in rows[0]]
    for row in rng.sample(rows, rng.randint(0, 3)):
        for _ in rows[0]:
            for cell, other in enumerate(row):
                letters[cell] = letters[other] = max(
                    letters[cell], letters[other], key=lambda x: (len(x), x)
                )
    return tuple(letters)


def masks(letters: tuple[str, ...]) -> list[int]:
    return [letter_mask(x) for x in letters]


def class_images(letters: tuple[str, ...], dims: str, board: str) -> set[str]:
    """Return the images of a board that lie in the class, the board among them."""
    w, h = geometry(dims).dims
    found = {"".join(image) for image in slow_images(board, w, h)}
    return {
        image for image in found if all(x in cell for x, cell in zip(image, letters, strict=True))
    }


def holds(node: Node, board: str) -> bool:
    return all(node.masks[c] >> (ord(x) - 97) & 1 for c, x in enumerate(board))


def leaves(rng: random.Random, root: Node, dims: str, params: Params, n_splits: int) -> list[Node]:
    """Split random nodes, checking every split on the way."""
    nodes = [root]
    for _ in range(n_splits):
        open_nodes = [node for node in nodes if split_cells(node, geometry(dims), params)]
        if not open_nodes:
            break
        node = rng.choice(open_nodes)
        cell = rng.choice(split_cells(node, geometry(dims), params))
        parts = split_at(node, cell, params)
        check_parts(node, cell, parts)
        nodes = [other for other in nodes if other is not node] + parts
    return nodes


def check_parts(node: Node, cell: int, parts: list[Node]) -> None:
    """Parts are not empty, lie within the node, differ on the split cell, and are further along
    than the node.
    """
    seen = 0
    for part in parts:
        assert all(part.masks)
        assert all(mine & ~whole == 0 for mine, whole in zip(part.masks, node.masks, strict=True))
        assert not part.masks[cell] & seen
        seen |= part.masks[cell]
        assert part.is_bare(cell)
        assert node.bare & ~part.bare == 0
        assert part.masks != node.masks or part.bare != node.bare
        assert part.path.startswith(f"{node.path}/" if node.path else f"{cell}=")


def test_a_part_counts_its_boards_however_many_they_are():
    """All letters on each cell: 26^7 are the first beyond 2^31, 26^14 the first beyond 2^63."""
    every = letter_mask(LETTERS)
    for n_cells in range(1, 26):
        for n_letters in (25, 26):
            node = Node((every,) * (n_cells - 1) + (every >> 26 - n_letters,), 0)
            assert node.n_boards == 26 ** (n_cells - 1) * n_letters


@pytest.mark.parametrize(("dims", "seed"), seeds({"2x2": 60, "2x3": 60, "3x3": 30}))
def test_no_board_is_lost_and_none_is_there_twice(dims, seed):
    """Whatever is split: every board has an image that meets the demands, and each of these is in
    one leaf.
    """
    rng = random.Random(f"{dims} {seed}")
    params = random_params(rng)
    letters = random_class(rng, dims)
    root = class_node(masks(letters), geometry(dims), params)
    demands = residual_demands(masks(letters), geometry(dims), params.demands)
    nodes = leaves(rng, root, dims, params, rng.choice([0, 1, 3, 20]))
    place = params.demand_order.index

    def meets(board: str) -> bool:
        return all(place(board[c]) <= place(board[d]) for c, d in demands)

    for board in map("".join, product(*letters)):
        assert any(meets(image) for image in class_images(letters, dims, board))
        n_leaves = sum(holds(node, board) for node in nodes)
        assert n_leaves == 1 or (n_leaves == 0 and not meets(board))
    # Demands still open are among those of the class, so a search that heeds them loses nothing
    # either.
    assert all(set(node.demands) <= set(demands) for node in nodes)


def test_demands_of_whole_symmetry_leave_an_eighth():
    """On a class of all letters the demands pick, of boards without equal letters, one of the eight
    images.
    """
    letters = ("abcdefghi",) * 9
    demands = residual_demands(masks(letters), geometry("3x3"))
    rng = random.Random(1)
    for _ in range(200):
        board = "".join(rng.sample("abcdefghi", 9))
        images = class_images(letters, "3x3", board)
        assert len(images) == 8
        assert sum(all(image[c] <= image[d] for c, d in demands) for image in images) == 1


def test_cells_of_one_letter_do_not_use_up_the_symmetry():
    letters = [
        letter_mask("a" if kind == "center" else LETTER_ORDER)
        for kind in geometry("4x4").cell_types
    ]
    letters[10] = letter_mask("e")
    assert residual_demands(letters, geometry("4x4"), "every") == ((6, 9),), "both are a"
    assert residual_demands(letters, geometry("4x4")) == ((1, 4),)


def test_class_node_makes_single_letters_and_fused_cells_bare():
    letters = ("ab", "c", "ab", "ab", "abc", "ab", "a", "ab", "abd")
    node = class_node(masks(letters), geometry("3x3"), Params(fused=("center",)))
    assert [c for c in range(9) if node.is_bare(c)] == [1, 4, 6]
    assert node.n_boards == prod(map(len, letters))
    assert not class_node(masks(letters), geometry("3x3"), Params(fused=())).is_bare(4)


@pytest.mark.parametrize("seed", range(60))
def test_every_split_is_that_of_the_slow_twin(seed):
    rng = random.Random(seed)
    board = geometry(rng.choice(["2x3", "3x3", "2x9", "4x5"]))
    params = random_params(rng)
    letters = ["".join(sorted(rng.sample(LETTERS, rng.randint(1, 26)))) for _ in range(board.n)]
    node = replace(class_node(masks(letters), board, params), demands=())
    names = ("letter_order", "unfuse_parts", "force_groups", "max_free", "coarse_groups")
    rules = SlowRules(*(getattr(params, name) for name in names))
    while cells := split_cells(node, board, params):
        bare = [cell for cell in range(board.n) if node.is_bare(cell)]
        expected = slow_split(
            [letters_of(mask) for mask in node.masks], bare, board.cell_order, rules
        )
        assert list(expected) == cells
        for cell in cells:
            parts = split_at(node, cell, params)
            assert [part.path for part in parts] == [
                join(node.path, cell, group) for group in expected[cell]
            ]
        node = rng.choice(parts)
    root = replace(class_node(masks(letters), board, params), demands=())
    assert node_at(root, node.path, board, params) == node


def test_a_class_of_4x5_is_fused_at_two_edges_before_anything_is_unfused():
    board, params = geometry("4x5"), Params()
    letters = tuple("jqxz" if kind == "center" else LETTERS for kind in board.cell_types)
    node = class_node(masks(letters), board, params)
    for cell in board.cell_order[6:8]:
        parts = split(node, board, params)
        assert [part.path for part in parts] == [
            join(node.path, cell, group) for group in params.coarse_groups
        ]
        node = parts[-1]
    assert split_cells(node, board, params) == sorted(
        board.cell_order[:8], key=board.cell_order.index
    )


def test_fused_cells_split_before_free_ones_are_forced():
    params = Params(fused=("center",), unfuse_parts=2)
    node = class_node(masks(("ab",) * 4 + ("abcd",) + ("abe",) * 4), geometry("3x3"), params)
    assert split_cells(node, geometry("3x3"), Params()) == [4]
    parts = split(node, geometry("3x3"), params)
    ordered = "".join(sorted("abcd", key=LETTER_ORDER.index))
    assert [part.path for part in parts] == [f"4={ordered[:2]}", f"4={ordered[2:]}"]
    one = force(parts[0], 4, letters_of(parts[0].masks[4])[0], params)
    assert split_cells(one, geometry("3x3"), Params()) == [1]


def test_the_fused_cell_with_the_strongest_letter_is_unfused_first():
    letters = ("e",) * 5 + ("jqxz", "e", "e", "e", "cd", "bgu") + ("e",) * 5
    node = class_node(masks(letters), geometry("4x4"), Params())
    assert split_cells(node, geometry("4x4"), Params()) == [5, 9, 10]
    assert [part.path for part in split(node, geometry("4x4"), Params())] == ["9=c", "9=d"]


@pytest.mark.parametrize("seed", range(30))
def test_paths_name_nodes_for_good(seed):
    rng = random.Random(seed)
    dims = rng.choice(["2x2", "2x3", "3x3", "3x4"])
    params = random_params(rng)
    root = class_node(masks(random_class(rng, dims, "aetqz")), geometry(dims), params)
    for node in leaves(rng, root, dims, params, 6):
        assert node_at(root, node.path, geometry(dims), params) == node
    assert node_at(root, "", geometry(dims), params) == root


@pytest.mark.parametrize(
    "path", ["0=x", "4", "4=", "9=a", "4=ab/4=ab/0=a", "/", "4=e/", "-1=a", "nonsense", "4=e//5=a"]
)
def test_paths_to_nowhere_are_refused(path):
    params = Params(fused=(), force_groups=tuple(LETTER_ORDER))
    root = class_node(masks(("ae",) * 9), geometry("3x3"), params)
    with pytest.raises(InputError, match="no node"):
        node_at(root, path, geometry("3x3"), params)


BUDGETS = [field.name for field in fields(Params) if isinstance(field.default, int)]
ORDERS = ["", "abc", LETTERS + "a", LETTERS[:-1] + "y", LETTERS.upper(), LETTERS[:-1] + "é"]
GROUPS = [
    *((), ("abc",), tuple(LETTER_ORDER[1:]), (*LETTER_ORDER, "a"), (*LETTER_ORDER[:-1], "s")),
    *((LETTERS[:13], LETTERS[12:]), (LETTERS, LETTERS), (LETTERS.upper(),)),
]
REFUSED = [
    *(
        ({"letter_order": order}, "letter_order .*expected each letter a-z once")
        for order in ORDERS
    ),
    *(
        ({"force_groups": groups}, "force_groups .*each letter a-z in exactly one group")
        for groups in GROUPS
    ),
    *(({"unfuse_parts": n}, f"unfuse_parts {n}: expected 2 or more") for n in (1, 0, -1)),
    *(({"memory_mb": n}, f"memory_mb {n}: expected 1 or more") for n in (0, -1)),
    *(
        ({"coarse_groups": groups}, "coarse_groups .*each letter a-z in exactly one group")
        for groups in GROUPS[1:]
    ),
    *(({name: -1}, f"{name} -1: expected") for name in BUDGETS),
    *(({"max_free": n}, f"max_free {n}: expected 1 to 14") for n in (0, 15)),
    ({"demands": "some"}, "demands 'some': expected one of open, every"),
    ({"fused": ("center", "rim")}, "fused .*expected some of"),
]


@pytest.mark.parametrize(("values", "said"), REFUSED)
def test_values_that_would_lose_boards_or_never_end_are_refused(values, said):
    with pytest.raises(ConfigError, match=said) as caught:
        Params(**values)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_demands_compare_by_the_order_of_their_rule():
    """Rows of older runs are of the second one."""
    assert Rules().demand_order == LETTER_ORDER[::-1]
    assert Rules(demands="every").demand_order == LETTER_ORDER


def test_others_are_accepted():
    assert Params().force_groups == tuple(LETTER_ORDER)
    for groups in ((LETTERS,), (LETTERS[:5], LETTERS[5:]), ("", LETTERS), tuple(reversed(LETTERS))):
        assert Params(force_groups=groups).force_groups == groups
    least = {
        name: {"unfuse_parts": 2, "memory_mb": 1, "max_free": 1}.get(name, 0) for name in BUDGETS
    }
    assert vars(replace(Params(), **least)).items() >= least.items()


def test_every_parameter_reaches_the_search_from_a_config():
    order, groups = LETTERS[::-1], [LETTERS[:13], LETTERS[13:]]
    given: dict[str, object] = {name: 3 + place for place, name in enumerate(BUDGETS)}
    given |= {
        "max_free": 7,
        "coarse_groups": groups,
        "fused": ["corner", "edge"],
        "letter_order": order,
        "force_groups": groups,
        "demands": "every",
    }
    given["memory_mb"] = 77
    given["absorb_forced"] = 0
    search = SearchConfig.model_validate(given)
    params = {**vars(search.rules()), **vars(search.budgets())}
    for name, value in given.items():
        assert params[name] == (tuple(value) if isinstance(value, list) else value)
    assert set(given) == {field.name for field in fields(Params)}
    assert list(SearchConfig.model_fields) == [field.name for field in fields(Params)]
    assert set(SearchConfig().model_dump().values()) == {None}, "each is left to its default"
    assert SearchConfig(fused=[]).rules().fused == ()
    assert (SearchConfig().rules(), SearchConfig().budgets()) == (Rules(), Budgets())
