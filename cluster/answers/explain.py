"""Why a class can be eliminated, step by step, and its trees, drawn: what ``explain`` and ``bound --tree`` show."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import prod
from typing import TYPE_CHECKING, Any

from boardclass.cutoff import reaches
from boardclass.geometry import cell_name, parse_dims

if TYPE_CHECKING:
    from boardclass.geometry import Dims
    from boardclass.wordlist import WordList
    from search.paper.teaching import TreeNode
    from search.paper.terms import Terms
    from search.scoring.scorer import Scorer

MAX_LEVELS = 4  # cells forced one after the other
MAX_PARTS = 2_000
_BUDGET = 50_000_000


def trees(letters: tuple[str, ...], words: WordList, scorer: Scorer) -> tuple[TreeNode, TreeNode]:
    """Return the Sum/Choice tree and the orderly tree of a small class.

    Raises InputError when one is too large to look at.
    """
    from search.paper import basic, teaching
    from search.paper.terms import class_terms

    orderly = teaching.orderly_nodes(basic.orderly_tree(class_terms(letters, scorer)), scorer.geometry.dims.h)
    return teaching.sum_choice_tree(letters, words.words, scorer.table, scorer.geometry), orderly


def tell(dims: Dims, letters: tuple[str, ...], scorer: Scorer, cutoff: int | None) -> dict[str, Any]:
    """Return what there is to say about a class, as plain values."""
    from search.paper import basic
    from search.paper.terms import class_terms

    terms = class_terms(letters, scorer)
    root = basic.orderly_tree(terms)
    story: dict[str, Any] = {
        "class": " ".join(letters),
        "dims": str(dims),
        "n_boards": prod(map(len, letters)),
        "n_paths": terms.n_paths,
        "n_terms": terms.n_unique,
        "n_merged": len(terms.high),
        "n_nodes": root.n_nodes,
        "sum_bound": basic.sum_bound(letters, scorer),
        "max_bound": basic.max_bound(letters, scorer),
        "orderly_bound": root.bound,
        "cutoff": cutoff,
        "forced": [
            {"cell": terms.layout.cells[0], "letter": letter, "bound": basic.orderly_tree(terms.force(letter)).bound}
            for letter in terms.layout.letters[0]
        ],
        "levels": [],
    }
    if cutoff is not None:
        story["levels"], rest = _levels(terms, root.bound, cutoff)
        if rest:
            found = [item for part in rest for item in basic.tree_boards_reaching(part, cutoff, _BUDGET)]
            story["n_multi_score"] = len(found)
            boards = basic.boards_reaching(letters, scorer, cutoff, n_branch=1, budget=_BUDGET) if found else ()
            scores = scorer.scores([board for board, _ in boards]) if found else ()
            story["n_boards_reaching"] = sum(reaches(int(score), cutoff) for score in scores)
    return story


def _levels(terms: Terms, bound: int, cutoff: int) -> tuple[list[dict[str, int]], list[Any]]:
    """Force cell after cell while parts are left; return the result of each level, and the trees left at the end.

    Parts are made one at a time, and a level is given up when the parts that are left would fill the memory.
    """
    from search.paper import basic
    from search.paper import terms as paper_terms

    parts = [(terms, basic.orderly_tree(terms))] if reaches(bound, cutoff) else []
    levels: list[dict[str, int]] = []
    while parts and len(levels) < MAX_LEVELS and parts[0][0].layout.cells:
        layout = parts[0][0].layout
        if len(parts) * len(layout.letters[0]) > MAX_PARTS:
            break
        left, n_terms, bounds = [], 0, []
        for part in (part.force(letter) for part, _ in parts for letter in layout.letters[0]):
            made = basic.orderly_tree(part)
            bounds.append(made.bound)
            if reaches(made.bound, cutoff):
                left.append((part, made))
                n_terms += len(part.high)
            if n_terms > paper_terms.MAX_TERMS:
                return levels, [made for _, made in parts]
        parts = left
        levels.append(
            {"cell": layout.cells[0], "n_parts": len(bounds), "n_left": len(parts), "largest_bound": max(bounds)}
        )
    return levels, [made for _, made in parts]


def narrate(story: dict[str, Any]) -> Iterator[str]:
    """Yield the story in sentences."""
    yield f"Class {story['class']} ({story['dims']}) stands for {story['n_boards']:,} boards."
    yield (
        f"{story['n_paths']:,} paths spell a word of the list somewhere in it; {story['n_terms']:,} of them differ in "
        f"word or cells; merged, the orderly tree holds {story['n_merged']:,} terms in {story['n_nodes']:,} nodes."
    )
    yield (
        f"No board scores more than {story['sum_bound']:,} (every word that any board has, added up), "
        f"{story['max_bound']:,} (the best letter of each cell at each step) or {story['orderly_bound']:,} (orderly)."
    )
    h = parse_dims(story["dims"]).h
    yield "Forcing one cell:"
    for item in story["forced"]:
        yield f"  {cell_name(item['cell'], h)} = {item['letter']}: bound {item['bound']:,}"
    cutoff = story["cutoff"]
    if cutoff is None:
        yield "With a cutoff, the story goes on to where the class is eliminated."
    elif not reaches(story["orderly_bound"], cutoff):
        yield f"Cutoff {cutoff:,}: eliminated at once, by its orderly bound."
    else:
        yield from _narrate_levels(story, cutoff)


def _narrate_levels(story: dict[str, Any], cutoff: int) -> Iterator[str]:
    yield f"Cutoff {cutoff:,}: the orderly bound reaches it, so cells are forced one after the other:"
    h = parse_dims(story["dims"]).h
    for level in story["levels"]:
        yield (
            f"  {cell_name(level['cell'], h)}: {level['n_left']:,} of {level['n_parts']:,} parts left, "
            f"largest bound {level['largest_bound']:,}"
        )
    if "n_multi_score" not in story:
        yield f"Eliminated after {len(story['levels'])} forced cells: no bound reaches the cutoff."
        return
    yield (
        f"OrderlyBound searches the rest: {story['n_multi_score']:,} boards have a multi-score of {cutoff:,} or more."
    )
    n = story["n_boards_reaching"]
    yield f"Scored exactly, {n:,} of them reach the cutoff." if n else "Scored exactly, none reaches it: eliminated."


_X, _Y, _W, _H = 118, 62, 104, 36


def caption(node: TreeNode) -> str:
    """Return what a node is called: label, points if any, bound."""
    sign = "max" if node.kind == "choice" else "sum"
    own = f" +{node.points}" if node.points else ""
    return f"{node.label}{own}" if not node.children else f"{node.label}{own}  {sign} {node.bound}"


def as_text(node: TreeNode) -> str:
    """Return one line a node, children indented below."""
    return "\n".join([caption(node), *_lines(node, "")])


def _lines(node: TreeNode, indent: str) -> Iterator[str]:
    for child in node.children:
        last = child is node.children[-1]
        yield f"{indent}{'└─ ' if last else '├─ '}{caption(child)}"
        yield from _lines(child, indent + ("   " if last else "│  "))


def as_dot(node: TreeNode) -> str:
    """Return a Graphviz digraph; choice nodes are diamonds."""
    lines = ["digraph tree {", '  node [fontname="sans-serif"];']
    numbered: dict[int, TreeNode] = {}

    def add(item: TreeNode) -> int:
        number = len(numbered)
        numbered[number] = item
        shape = "diamond" if item.kind == "choice" else "box"
        label = caption(item).replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'  n{number} [shape={shape}, label="{label}"];')
        for child in item.children:
            lines.append(f"  n{number} -> n{add(child)};")
        return number

    add(node)
    return "\n".join([*lines, "}"]) + "\n"


def as_svg(node: TreeNode, *, styled: bool = True) -> str:
    """Return a picture, a parent in the middle above its children; ``styled``: for a file of its own."""
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
            line = f'<line x1="{x:.0f}" y1="{y + _H / 2:.0f}" x2="{centre:.0f}" y2="{y + _Y - _H / 2:.0f}"/>'
            shapes.append(line)
        radius = _H / 2 if item.kind == "choice" else 4
        shapes.append(
            f'<rect class="{item.kind}" x="{x - _W / 2:.0f}" y="{y - _H / 2:.0f}" width="{_W}" height="{_H}" '
            f'rx="{radius:.0f}"/><text x="{x:.0f}" y="{y:.0f}">{escape(caption(item))}</text>'
        )
        return x

    place(node, 0)
    style = (
        "line{stroke:#888}rect{fill:#fff;stroke:#2a5d8f}rect.choice{fill:#fdf1dc;stroke:#b57512}"
        "text{font:12px sans-serif;text-anchor:middle;dominant-baseline:central}"
    )
    width, height = n_leaves * _X, (depth_max + 1) * _Y
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head += f"><style>{style}</style>" if styled else ' class="tree">'
    return f"{head}{''.join(shapes)}</svg>\n"
