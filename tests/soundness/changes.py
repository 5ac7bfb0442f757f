"""Small changes of a file of the product, by position in its syntax tree: what the campaigns of
deletions.py and mutate.py draw from.

    deletions(file)   each statement deleted
    narrowings(file)  each statement deleted that narrows under a condition: ``x &= ...``, an ``if``
                      whose body leaves at its end, a condition of a comprehension, a ``min``, of
                      which one value is taken
    bugs(file)        each comparison one off or turned round, each condition taken as met or not,
                      each ``and`` and ``or`` without one of its parts, ``+`` for ``-``, ``max`` for
                      ``min``, and the deletions

A change keeps the number of lines, so that whatever stands below it stays where it is.

>>> text = "def f(x, y):\\n    if x < y:\\n        return y\\n    x &= 3\\n    return min(x, y)\\n"
>>> [change.what for change in narrowings("f.py", text)]
['without: if x < y: return y', 'without: x &= 3', 'x for min(x, y)', 'y for min(x, y)']
>>> [change.what for change in bugs("f.py", text)][:3]
['without: return y', 'without: x &= 3', 'True for the condition x < y']
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
# calls of these names tell a user or a developer something
_SPEAKING = {"debug", "info", "warning", "echo", "print", "write", "flush", "tell", "say"}
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise, ast.Return, ast.Delete, ast.Continue)
_LEAVING = (ast.Continue, ast.Break, ast.Return, ast.Raise)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


class Change(NamedTuple):
    """One change: where it stands, what it is, and the file with it."""

    file: str
    line: int
    function: str
    what: str
    source: str
    last_line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.function}: {self.what}"


def has_kernels(file: str) -> bool:
    """Return whether a file is compiled."""
    return "@kernel(" in (ROOT / file).read_text()


class _Source:
    """The text of a file, in which nodes are replaced."""

    def __init__(self, file: str, text: str | None = None) -> None:
        self.file = file
        self.text = (ROOT / file).read_text() if text is None else text
        # columns of a syntax tree count bytes
        self._lines = self.text.encode().splitlines(keepends=True)

    def of(self, node: ast.expr | ast.stmt) -> str:
        """Return the text of a node in one line."""
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        lines = self._lines[first:last]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return " ".join(b"".join(lines).decode().split())

    def changed(self, function: str, node: ast.expr | ast.stmt, new: str, what: str) -> Change:
        """Return the file with a node replaced by a text of one line."""
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        more = "\n" * (last - first)
        if isinstance(node, ast.expr):
            new = f"({new}{more})"  # a line may end only within brackets
            more = ""
        begin = self._lines[first][: node.col_offset].decode()
        end = self._lines[last][node.end_col_offset :].decode()
        above = b"".join(self._lines[:first]).decode()
        below = b"".join(self._lines[last + 1 :]).decode()
        line_end = "" if end.endswith("\n") else "\n"
        source = f"{above}{begin}{new}{end}{more}{line_end}{below}"
        return Change(self.file, node.lineno, function, what, source, last + 1)

    def without(self, function: str, node: ast.stmt, what: str = "") -> Change:
        """Return the file without a statement."""
        return self.changed(function, node, "pass", what or self.of(node))


def deletions(file: str, text: str | None = None) -> Iterator[Change]:
    """Yield a file without each of its statements; kernels are left alone."""
    source = _Source(file, text)
    if "@kernel(" not in source.text:
        yield from _deletions(source)


def _deletions(source: _Source) -> Iterator[Change]:
    """Left alone is what linter and type checker miss at once."""
    for function, name in functions(ast.parse(source.text)):
        bound = Counter(
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        for node in _statements(function):
            if node is function.body[-1] and isinstance(node, ast.Return):
                continue
            if name.endswith("__init__") and isinstance(node, ast.Assign):
                continue
            if not _only_speaks(node) and not _binds_alone(node, bound):
                yield source.without(name, node)


def narrowings(file: str, text: str | None = None) -> Iterator[Change]:
    """Yield a file without each of its narrowing statements, kernels included."""
    source = _Source(file, text)
    for function, name in functions(ast.parse(source.text)):
        for node in _inside(function):
            if isinstance(node, ast.stmt) and (_leaves(node) or _narrows(node)):
                yield source.without(name, node, f"without: {_told(node, source.of)}")
            elif isinstance(node, ast.comprehension):
                for condition in node.ifs:
                    what = f"without the condition {source.of(condition)}"
                    yield source.changed(name, condition, "True", what)
            elif _calls(node, "min"):
                for argument in node.args:
                    new = source.of(argument)
                    yield source.changed(name, node, new, f"{new} for {source.of(node)}")


def bugs(file: str, text: str | None = None) -> Iterator[Change]:
    """Yield a file with each of the bugs that are drawn from, kernels included."""
    source = _Source(file, text)
    for change in _deletions(source):
        yield change._replace(what=f"without: {change.what}")
    for function, name in functions(ast.parse(source.text)):
        for node in _inside(function):
            if isinstance(node, ast.expr):
                old = source.of(node)
                for new in _wrong(node, source.of):
                    yield source.changed(name, node, new, f"{new} for {old}")
            elif isinstance(node, ast.If | ast.While):
                for new in ("True", "False")[isinstance(node, ast.While) :]:
                    told = f"{new} for the condition {source.of(node.test)}"
                    yield source.changed(name, node.test, new, told)


def _wrong(node: ast.expr, of: Callable[[ast.expr], str]) -> Iterator[str]:
    """Yield what may stand in place of an expression; ``of`` returns the text of one."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _TURNED and len(node.ops) == 1:
        turned = _TURNED[type(node.ops[0])]()
        yield ast.unparse(ast.Compare(node.left, [turned], node.comparators))
    elif isinstance(node, ast.BoolOp):
        for gone in range(len(node.values)):
            rest = [value for place, value in enumerate(node.values) if place != gone]
            yield ast.unparse(ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0])
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        if not isinstance(node.left, ast.Constant | ast.JoinedStr):
            yield ast.unparse(ast.BinOp(node.left, op, node.right))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield of(node.operand)
    elif _calls(node, "min") or _calls(node, "max"):
        yield ("max" if of(node).startswith("min") else "min") + of(node)[3:]


def _calls(node: ast.AST, name: str) -> bool:
    """Return whether a node calls ``min`` or ``max`` with several values."""
    called = getattr(getattr(node, "func", None), "id", "")
    several = len(getattr(node, "args", ())) > 1
    return called == name and several and not getattr(node, "keywords", ())


def _narrows(node: ast.stmt) -> bool:
    return isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitAnd)


def _told(node: ast.stmt, of: Callable[[ast.expr | ast.stmt], str]) -> str:
    """Return the text of a statement; of a long ``if`` its condition and how its body ends."""
    if isinstance(node, ast.If) and len(node.body) > 1:
        return f"if {of(node.test)}: ... {of(node.body[-1])}"
    return of(node)


def _leaves(node: ast.stmt) -> bool:
    if not isinstance(node, ast.If) or node.orelse:
        return False
    return isinstance(node.body[-1], _LEAVING)


def functions(
    tree: ast.AST, above: str = ""
) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    """Yield every function with its qualified name."""
    for node in ast.iter_child_nodes(tree):
        name = f"{above}{getattr(node, 'name', '')}"
        if isinstance(node, _FUNCTIONS):
            yield node, name
        yield from functions(
            node, f"{name}." if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) else above
        )


def _inside(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of the body of a function in their order, those of inner functions left
    out.
    """
    for statement in getattr(function, "body", ()):
        yield from _within(statement)


def _within(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _within(child)


def _statements(function: ast.AST) -> Iterator[ast.stmt]:
    """Yield the simple statements of a function, those of inner functions left out."""
    for node in ast.iter_child_nodes(function):
        if isinstance(node, _SIMPLE):
            yield node
        elif not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield from _statements(node)


def _only_speaks(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Expr):
        return False
    called = getattr(node.value, "func", None)
    name = getattr(called, "attr", getattr(called, "id", ""))
    return isinstance(node.value, ast.Constant) or name in _SPEAKING


def _binds_alone(node: ast.stmt, bound: Counter[str]) -> bool:
    """Return whether a statement binds a name that nothing else binds."""
    if not isinstance(node, ast.Assign):
        return False
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    stored = [name for name in names if bound[name]]
    return all(isinstance(target, ast.Name | ast.Tuple) for target in node.targets) and any(
        bound[name] == 1 for name in stored
    )
