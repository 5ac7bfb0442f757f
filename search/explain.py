"""Why a class can be eliminated, step by step, and its trees, drawn: what ``explain`` and ``bound
--tree`` show.

>>> from orderly_boggle.boardclass.scores import parse_scores
>>> from orderly_boggle.search.scoring.scorer import Scorer
>>> of_two = Scorer("2x2", ("tea", "tie", "rate"), parse_scores("standard"))
>>> story = story_of(of_two.dims, ("t", "ai", "e", "r"), of_two, None)
>>> story["n_boards"], story["orderly_bound"]
(2, 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, count
from math import prod
from typing import TYPE_CHECKING, NotRequired, TypedDict

from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.boardclass.geometry import cell_name, parse_dims, short_cell_name
from orderly_boggle.boardclass.printable import counted
from orderly_boggle.boardclass.scores import reaches

if TYPE_CHECKING:
    from orderly_boggle.boardclass.geometry import Dims, Geometry
    from orderly_boggle.boardclass.scores import ScoreTable
    from orderly_boggle.boardclass.wordlist import WordList
    from orderly_boggle.search.class_bounds import Terms
    from orderly_boggle.search.scoring.scorer import Scorer

MAX_LEVELS = 4  # cells forced one after the other
MAX_PARTS = 2_000
MAX_NODES = 400  # of a tree to look at
SUM = "sum"
CHOICE = "choice"


class Forced(TypedDict):
    """A class with one cell forced to a letter."""

    cell: int
    letter: str
    bound: int


class Level(TypedDict):
    """The parts of a class after one more cell was forced."""

    cell: int
    n_parts: int
    n_left: int
    largest_bound: int


# ``class`` is no name of a field
Story = TypedDict(
    "Story",
    {
        "class": str,
        "dims": str,
        "n_boards": int,
        "n_paths": int,
        "n_terms": int,
        "n_merged": int,
        "n_nodes": int,
        "sum_bound": int,
        "max_bound": int,
        "orderly_bound": int,
        "cutoff": int | None,
        "forced": list[Forced],
        "levels": list[Level],
        "n_multi_score": NotRequired[int],
        "n_boards_reaching": NotRequired[int],
    },
)


@dataclass(frozen=True)
class TreeNode:
    """A node to draw: its kind, cell and letter, the points of the words that end here, the bound
    with all below it.
    """

    kind: str
    label: str
    points: int
    bound: int
    children: tuple[TreeNode, ...] = ()


def sum_choice_tree(
    letters: Sequence[str], words: Sequence[str], table: ScoreTable, board: Geometry
) -> TreeNode:
    """Return the Sum/Choice tree of a small class, given as the letters of each cell; ``words`` are
    in q-form.

    A *sum* node stands for a prefix that ends on a cell and adds up what follows on the neighbours;
    a *choice* node stands for a cell with several letters, of which only the best counts.  Its
    bound counts every path (multi-score).
    """
    points = {word: table.of(word) for word in words if len(word) <= len(letters)}
    prefixes: set[str] = set()
    for word, worth in points.items():
        prefixes.update(accumulate(word) if worth else ())
    names = [short_cell_name(cell, board.dims.h) for cell in range(board.n)]
    n_nodes = count(1)

    def below(cells: Iterable[int], prefix: str, used: tuple[int, ...]) -> list[TreeNode]:
        choices = []
        for cell in cells:
            if cell not in used:
                options = []
                for letter in letters[cell]:
                    options.append(option(cell, prefix + letter, used))
                nodes = [node for node in options if node]
                # with one letter there is nothing to choose, and the picture is smaller
                is_choice = nodes and len(letters[cell]) > 1
                choices += [_choice(names[cell], nodes)] if is_choice else nodes
        return choices

    def option(cell: int, prefix: str, used: tuple[int, ...]) -> TreeNode | None:
        if prefix not in prefixes:
            return None
        # while it grows: this tree has a node for each path, of which there may be millions
        _check_size("Sum/Choice", next(n_nodes))
        own = points.get(prefix, 0)
        children = below(board.neighbours[cell], prefix, (*used, cell))
        label = f"{names[cell]}={prefix[-1]}" + f" {prefix}" * bool(own)
        if own or children:
            return _sum(label, own, children)
        return None

    return _sum("all words", 0, below(range(len(letters)), "", ()))


def _sum(label: str, points: int, children: Sequence[TreeNode]) -> TreeNode:
    bound = points + sum(child.bound for child in children)
    return TreeNode(SUM, label, points, bound, tuple(children))


def _choice(cell: str, options: Sequence[TreeNode]) -> TreeNode:
    bound = max(option.bound for option in options)
    return TreeNode(CHOICE, f"cell {cell}", 0, bound, tuple(options))


def orderly_tree(terms: Terms, board: Geometry) -> TreeNode:
    """Return the orderly tree of a small class: its terms once each, in cell order, so that equal
    literals meet.
    """
    from orderly_boggle.search.class_bounds import n_nodes

    def node(label: str, rows: Iterable[tuple[list[tuple[int, str]], int]]) -> TreeNode:
        own = 0
        # grouped by cell first: terms that need the same literal share a node, which makes it
        # orderly
        below: dict[int, dict[str, list[tuple[list[tuple[int, str]], int]]]] = {}
        for literals, points in rows:
            if literals:
                (cell, letter), *rest = literals
                below.setdefault(cell, {}).setdefault(letter, []).append((rest, points))
            else:
                own += points
        choices = []
        for cell, of_letter in below.items():
            name = short_cell_name(cell, board.dims.h)
            options = [node(f"{name}={letter}", rest) for letter, rest in of_letter.items()]
            choices.append(_choice(name, options))
        return _sum(label, own, choices)

    # counted beforehand: unlike the other one, this tree follows from the terms
    _check_size("orderly", n_nodes(terms))
    return node("all terms", zip(terms.literals(), terms.points.tolist(), strict=True))


def _check_size(kind: str, n_nodes: int) -> None:
    if n_nodes > MAX_NODES:
        raise InputError(
            f"the {kind} tree has more than {MAX_NODES} nodes: too many to look at; take fewer "
            "letters a cell or a shorter word list"
        )


def trees(letters: tuple[str, ...], words: WordList, scorer: Scorer) -> tuple[TreeNode, TreeNode]:
    """Return the Sum/Choice tree and the orderly tree of a small class. Raises InputError when one
    is too large.
    """
    from orderly_boggle.search.class_bounds import walk_class

    orderly = orderly_tree(walk_class(letters, scorer).terms, scorer.geometry)
    return sum_choice_tree(letters, words.words, scorer.table, scorer.geometry), orderly


def story_of(dims: Dims, letters: tuple[str, ...], scorer: Scorer, cutoff: int | None) -> Story:
    """Return what there is to say about a class, as plain values."""
    from orderly_boggle.search.class_bounds import (
        boards_reaching,
        by_letter,
        n_nodes,
        orderly_bounds,
        walk_class,
    )

    # by a walk that the search does not use: what is told here does not rest on its trees
    walk = walk_class(letters, scorer)
    terms = walk.terms
    bound = int(orderly_bounds(walk.terms)[0])
    first = terms.cells[0]
    forced = zip(sorted(set(letters[first])), by_letter(terms, letters, 0), strict=True)
    story: Story = {
        "class": " ".join(letters),
        "dims": str(dims),
        "n_boards": prod(map(len, letters)),
        "n_paths": walk.n_paths,
        "n_terms": walk.n_terms,
        "n_merged": len(terms.points),
        "n_nodes": n_nodes(terms),
        "sum_bound": walk.sum_bound,
        "max_bound": walk.max_bound,
        "orderly_bound": bound,
        "cutoff": cutoff,
        "forced": [
            {"cell": first, "letter": letter, "bound": int(values[0])}
            for letter, (values, _) in forced
        ],
        "levels": [],
    }
    if cutoff is not None and reaches(bound, cutoff):
        story["levels"], rest = _levels(terms, letters, cutoff)
        # what bounds could not rule out is scored: the story ends with boards or with none
        if len(rest.boards):
            boards = [board for board, _ in boards_reaching(rest, letters, cutoff)]
            story["n_multi_score"] = len(boards)
            scores = scorer.scores(boards).tolist()
            story["n_boards_reaching"] = sum(reaches(score, cutoff) for score in scores)
    return story


def _levels(terms: Terms, letters: tuple[str, ...], cutoff: int) -> tuple[list[Level], Terms]:
    """Force cell after cell while parts are left that are neither too many nor too large; return
    the result of each level, and the parts left at the end.
    """
    from orderly_boggle.search import class_bounds

    levels: list[Level] = []
    while len(terms.boards) and len(levels) < MAX_LEVELS and terms.cells:
        cell = terms.cells[0]
        # what is left is told as the work of OrderlyBound: no page shows more parts than that
        if len(terms.boards) * len(set(letters[cell])) > MAX_PARTS:
            break
        values: list[int] = []
        kept: list[Terms] = []
        for of_letter, parts in class_bounds.by_letter(terms, letters, cutoff):
            # of all parts, also those that are gone: the largest bound shows how near it was
            values += of_letter.tolist()
            kept.append(parts)
            if sum(len(parts.points) for parts in kept) > class_bounds.MAX_TERMS:
                return levels, terms
        terms = class_bounds.joined(kept)
        n_left = len(terms.boards)
        levels.append(
            {"cell": cell, "n_parts": len(values), "n_left": n_left, "largest_bound": max(values)}
        )
    return levels, terms


def model_lines(
    dims: Dims, letters: tuple[str, ...], listed: str, scorer: Scorer, kind: str, *, relaxed: bool
) -> Iterator[str]:
    """Yield the lines of a class as a model, ``kind`` being cfn, lp or mps.

    Raises InputError if the class is too large, or a network is to do without letters.
    """
    from orderly_boggle.search import models
    from orderly_boggle.search.class_bounds import walk_class

    # without variables for letters a network of costs has no variables at all
    if relaxed and kind == "cfn":
        raise InputError("--relaxed is for --format lp or mps: a network is made of the letters")
    terms = walk_class(letters, scorer, max_terms=models.MAX_NODES).terms
    name = f"{dims} {' '.join(letters)}, {listed}, {scorer.table.name} points"
    if kind == "cfn":
        return models.cfn_lines(terms, letters, f"multi-score of {name}")
    program = models.linear_program(terms, None if relaxed else letters)
    if relaxed:
        about = "objective: the orderly bound"
    else:
        about = models.OBJECTIVE
    write = {"lp": models.lp_lines, "mps": models.mps_lines}[kind]
    return write(program, f"{name}\n{about}")


def narrate(story: Story, *, forced: bool = True) -> Iterator[str]:
    """Yield the story in sentences; ``forced``: with the bounds by forced cell."""
    yield f"Class {story['class']} ({story['dims']}) stands for {story['n_boards']:,} boards."
    yield (
        f"{story['n_paths']:,} paths spell a word of the list somewhere in it; "
        f"{story['n_terms']:,} of them differ in word or cells; merged, the orderly tree holds "
        f"{story['n_merged']:,} terms in {story['n_nodes']:,} nodes."
    )
    yield (
        f"No board scores more than {story['sum_bound']:,} (every word that any board has, added "
        f"up), {story['max_bound']:,} (the best letter of each cell at each step) or "
        f"{story['orderly_bound']:,} (orderly)."
    )
    h = parse_dims(story["dims"]).h
    if forced:
        yield "Forcing one cell:"
    for item in story["forced"] if forced else ():
        yield f"  {cell_name(item['cell'], h)} = {item['letter']}: bound {item['bound']:,}"
    cutoff = story["cutoff"]
    if cutoff is None:
        yield "With a cutoff, the story goes on to where the class is eliminated."
        return
    if not reaches(story["orderly_bound"], cutoff):
        yield f"Cutoff {cutoff:,}: eliminated at once, by its orderly bound."
        return
    yield (
        f"Cutoff {cutoff:,}: the orderly bound reaches it, so cells are forced one after the other:"
    )
    for level in story["levels"]:
        rest = (
            f"{level['n_left']:,} of {level['n_parts']:,} parts left, largest bound "
            f"{level['largest_bound']:,}"
        )
        yield f"  {cell_name(level['cell'], h)}: {rest}"
    if "n_multi_score" not in story:
        n_forced = counted(len(story["levels"]), "forced cell")
        yield f"Eliminated after {n_forced}: no bound reaches the cutoff."
        return
    multi = story["n_multi_score"]
    n = story["n_boards_reaching"]
    yield (
        f"OrderlyBound searches the rest: {multi:,} boards have a multi-score of {cutoff:,} or "
        "more."
    )
    yield (
        f"Scored exactly, {n:,} of them reach the cutoff."
        if n
        else "Scored exactly, none reaches it: eliminated."
    )


_X = 118
_Y = 62
_W = 104
_H = 36


def caption(node: TreeNode) -> str:
    """Return what a node is called: label, points if any, bound."""
    if node.kind == CHOICE:
        sign = "max"
    else:
        sign = "sum"
    if node.points:
        own = f" +{node.points}"
    else:
        own = ""
    if not node.children:
        return f"{node.label}{own}"
    return f"{node.label}{own}  {sign} {node.bound}"


def as_text(node: TreeNode, indent: str = "") -> str:
    """Return one line a node, children indented below."""
    lines = [f"{indent}{caption(node)}"]
    for child in node.children:
        lines.append(as_text(child, f"{indent}   "))
    return "\n".join(lines)


def as_dot(node: TreeNode) -> str:
    """Return a Graphviz digraph; choice nodes are diamonds."""
    lines = ["digraph tree {", '  node [fontname="sans-serif"];']
    numbers = count()

    def add(item: TreeNode) -> int:
        number = next(numbers)
        shape = "box"
        if item.kind == CHOICE:
            shape = "diamond"
        label = caption(item).replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'  n{number} [shape={shape}, label="{label}"];')
        for child in item.children:
            lines.append(f"  n{number} -> n{add(child)};")
        return number

    add(node)
    return "\n".join([*lines, "}"]) + "\n"


def as_svg(node: TreeNode, *, styled: bool = True) -> str:
    """Return a picture, a parent in the middle above its children; ``styled``: for a file of its
    own.
    """
    shapes: list[str] = []
    n_leaves = depth_max = 0

    def place(item: TreeNode, depth: int) -> float:
        nonlocal n_leaves, depth_max
        depth_max = max(depth_max, depth)
        centres = [place(child, depth + 1) for child in item.children]
        if not centres:
            x = n_leaves * _X + _X / 2
            n_leaves += 1
        else:
            x = (centres[0] + centres[-1]) / 2
        y = depth * _Y + _H / 2 + 4
        for centre in centres:
            shapes.append(
                f'<line x1="{x:.0f}" y1="{y + _H / 2:.0f}" x2="{centre:.0f}" '
                f'y2="{y + _Y - _H / 2:.0f}"/>'
            )
        if item.kind == CHOICE:
            radius = _H / 2
        else:
            radius = 4
        shapes.append(
            f'<rect class="{item.kind}" x="{x - _W / 2:.0f}" y="{y - _H / 2:.0f}" width="{_W}" '
            f'height="{_H}" rx="{radius:.0f}"/><text x="{x:.0f}" '
            f'y="{y:.0f}">{escape(caption(item))}</text>'
        )
        return x

    place(node, 0)
    style = (
        "line{stroke:#888}rect{fill:#fff;stroke:#2a5d8f}rect.choice{fill:#fdf1dc;stroke:#b57512}"
        "text{font:12px sans-serif;text-anchor:middle;dominant-baseline:central}"
    )
    width = n_leaves * _X
    height = (depth_max + 1) * _Y
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}"'
    )
    head += f"><style>{style}</style>" if styled else ' class="tree">'
    return f"{head}{''.join(shapes)}</svg>\n"
