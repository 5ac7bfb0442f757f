"""Trees as text, as DOT for Graphviz, and as SVG: nested nodes in, text out."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Protocol

_X, _Y, _W, _H = 118, 62, 104, 36


class NodeLike(Protocol):
    """A node to draw (``search.paper.teaching.TreeNode``)."""

    @property
    def kind(self) -> str:
        """``sum`` or ``choice``."""

    @property
    def label(self) -> str:
        """What it stands for."""

    @property
    def points(self) -> int:
        """Points of the words that end here."""

    @property
    def bound(self) -> int:
        """Bound of the subtree."""

    @property
    def children(self) -> tuple[NodeLike, ...]:
        """Nodes below."""


def caption(node: NodeLike) -> str:
    """Return what a node is called: label, points if any, bound."""
    sign = "max" if node.kind == "choice" else "sum"
    own = f" +{node.points}" if node.points else ""
    return f"{node.label}{own}" if not node.children else f"{node.label}{own}  {sign} {node.bound}"


def as_text(node: NodeLike) -> str:
    """Return one line a node, children indented below."""
    return "\n".join([caption(node), *_lines(node, "")])


def _lines(node: NodeLike, indent: str) -> Iterator[str]:
    for child in node.children:
        last = child is node.children[-1]
        yield f"{indent}{'└─ ' if last else '├─ '}{caption(child)}"
        yield from _lines(child, indent + ("   " if last else "│  "))


def as_dot(node: NodeLike) -> str:
    """Return a Graphviz digraph; choice nodes are diamonds."""
    lines = ["digraph tree {", '  node [fontname="sans-serif"];']
    numbered: dict[int, NodeLike] = {}

    def add(item: NodeLike) -> int:
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


def as_svg(node: NodeLike, *, styled: bool = True) -> str:
    """Return a picture: leaves side by side, every parent in the middle above its children.

    Parameters
    ----------
    node : NodeLike
    styled : bool
        Whether the style sheet goes with it, for a file of its own.
    """
    shapes: list[str] = []
    n_leaves = depth_max = 0

    def place(item: NodeLike, depth: int) -> float:
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
