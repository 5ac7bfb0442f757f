"""How wide, how nested and how large the text of the program is (``python -m tests.bench.size``).

Counts do not depend on where a formatter breaks lines: commas and parentheses are no tokens, and
neighbouring strings are one.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PRODUCT = ("orderly_boggle", "boardclass", "search", "results", "configs", "cluster")
SUFFIXES = (".py", ".js", ".j2", ".html")
WIDTH = 100
LONG_FUNCTION = 60  # lines, its docstring included
_SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_js_token = re.compile(
    r"//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`|"
    r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[\w$]+|[^\s\w]",
    re.DOTALL,
)
_template_token = re.compile(r"[\w-]+|[^\s\w]")


@dataclass
class Text:
    """What was counted in some files."""

    tokens: int = 0
    code_lines: int = 0
    characters: int = 0  # of code lines, without indentation
    wide_lines: int = 0
    nested_comprehensions: int = 0
    lambdas: int = 0
    nested_conditionals: int = 0
    loose_dictionaries: int = 0  # dict[str, Any]
    long_functions: int = 0

    def __add__(self, other: Text) -> Text:
        return Text(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def width(self) -> float:
        """Characters a code line, indentation off."""
        return self.characters / max(1, self.code_lines)


def files(folder: str) -> list[Path]:
    """Return the Python, JavaScript and template files of a folder that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = (ROOT / line for line in listed.stdout.splitlines())
    return [path for path in paths if path.suffix in SUFFIXES and path.is_file()]


def text_of(folder: str, suffixes: tuple[str, ...] = SUFFIXES) -> Text:
    """Count a folder."""
    paths = (path for path in files(folder) if path.suffix in suffixes)
    return sum(map(_text_of, paths), Text())


@cache
def _text_of(path: Path) -> Text:
    text = path.read_text()
    found = Text(wide_lines=sum(len(line) > WIDTH for line in text.splitlines()))
    if path.suffix == ".py":
        return found + _python(text)
    pattern = _js_token if path.suffix == ".js" else _template_token
    tokens = [token for token in pattern.findall(text) if not token.startswith(("//", "/*"))]
    found.tokens = sum(token not in ",()" for token in tokens)
    return found


def _python(text: str) -> Text:
    tree, found = ast.parse(text), Text()
    docstrings = set(_docstring_lines(tree))
    code: set[int] = set()
    was_string = False
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _SILENT or token.start[0] in docstrings:
            continue
        code.update(range(token.start[0], token.end[0] + 1))
        is_string = token.type == tokenize.STRING
        found.tokens += token.string not in ",()" and not (is_string and was_string)
        was_string = is_string
    lines = text.splitlines()
    found.code_lines = len(code)
    found.characters = sum(len(lines[number - 1].strip()) for number in code)
    nodes = list(ast.walk(tree))
    found.lambdas = sum(isinstance(node, ast.Lambda) for node in nodes)
    found.nested_comprehensions = sum(map(_is_nested_comprehension, nodes))
    found.nested_conditionals = sum(map(_is_nested_conditional, nodes))
    found.loose_dictionaries = text.count("dict[str, Any]")
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef))
    found.long_functions = sum(
        (node.end_lineno or 0) - node.lineno >= LONG_FUNCTION for node in functions
    )
    return found


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, owners) and ast.get_docstring(node) is not None:
            first = node.body[0]
            yield from range(first.lineno, (first.end_lineno or first.lineno) + 1)


def _is_nested_comprehension(node: ast.AST) -> bool:
    """Return whether a comprehension has a second ``for``, or another one inside."""
    if not isinstance(node, _COMPREHENSIONS):
        return False
    return len(node.generators) > 1 or _holds(node, _COMPREHENSIONS)


def _is_nested_conditional(node: ast.AST) -> bool:
    return isinstance(node, ast.IfExp) and _holds(node, (ast.IfExp,))


def _holds(node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> bool:
    return any(isinstance(below, kinds) for below in ast.walk(node) if below is not node)


def private_names(paths: Iterable[Path]) -> int:
    """Return how often tests reach for a private name of the product: ``module._name``."""
    n = 0
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                owner = node.value
                is_own = isinstance(owner, ast.Name) and owner.id in ("self", "cls")
                n += _is_private(node.attr) and not is_own
            elif isinstance(node, ast.ImportFrom):
                n += sum(_is_private(alias.name) for alias in node.names)
    return n


def replaced_names(paths: Iterable[Path]) -> int:
    """Return how often tests replace an attribute: ``monkeypatch.setattr`` and the like."""
    n = 0
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            n += isinstance(node, ast.Attribute) and node.attr == "setattr"
    return n


def _is_private(name: str) -> bool:
    # what ends so, such as ``_repr_html_``, is called from outside
    return name.startswith("_") and not name.endswith("_")
