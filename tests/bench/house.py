"""How often a reader of the program meets the same thing, and what a statement asks of them: the
table of the house, printed by ``python -m tests.bench.size``.
"""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.bench.prose import PRODUCT, ROOT, files, text_of
from tests.soundness.mutate import load_mutants

READER = "results/store/format_1.py"  # of older files
# what a question consists of, under all names that it has had
_PARTS = (
    {"dims"},
    {"points", "scores"},
    {"cutoff"},
    {"buckets", "partition"},
    {"cell_order", "order"},
    {"rules", "params", "search"},
)
_LEAST = 4  # of these make a type one that holds a question
_TABLES = {"info", "run_info", "structure"}
_loose = re.compile(r"\b(?:dict|Mapping)\[str, (?:Any|object)\]")
# a parameter of a question that there has always been: whoever names it would name a new one, too
PARAMETER = "unfuse_parts"

# what Python tells of the files that it opens and the directories that it lists
_WATCHED = """
import json, sys
folder, options, how = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
reads, walks = [], []

def note(event, given):
    if event == "open" and str(given[0]).endswith("run.json"):
        reads.append(given)
    if event == "os.scandir" and str(given[0]) == folder:
        walks.append(given)

from orderly_boggle.cluster.driver.driver import run
from orderly_boggle.configs.model import load_config

asked = load_config(None, options | {"out": folder})
sys.addaudithook(note)
outcome = run(asked, **how)
print(len(reads), len(walks), outcome.n_computed)
"""


def watched(folder: Path, options: dict[str, object], **how: str) -> list[int]:
    """Run a config in a process of its own; return how often ``run.json`` was opened and the run
    directory listed, and how many verdicts were computed.
    """
    command = [sys.executable, "-c", _WATCHED, str(folder), json.dumps(options), json.dumps(how)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [int(text) for text in done.stdout.split()]


def modules() -> Iterator[tuple[str, str]]:
    """Yield name and text of each Python file of the product."""
    for folder in PRODUCT:
        for path in files(folder):
            if path.suffix == ".py":
                yield str(path.relative_to(ROOT)), path.read_text()


def question_types() -> list[str]:
    """Return the types with fields for at least four of the six parts of a question."""
    found = []
    for name, text in modules():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                held = {
                    each.target.id
                    for each in node.body
                    if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
                }
                if sum(bool(held & names) for names in _PARTS) >= _LEAST:
                    found.append(f"{node.name} ({name})")
    return found


def key_accesses() -> int:
    """Return how often a table of ``run.json`` is asked by a string, outside the reader of old
    files.
    """
    n = 0
    for name, text in modules():
        if name == READER:
            continue
        for node in ast.walk(ast.parse(text)):
            asked = None
            if isinstance(node, ast.Subscript):
                asked = node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                asked = node.func.value if node.func.attr == "get" else None
            n += getattr(asked, "id", getattr(asked, "attr", "")) in _TABLES
    return n


def loose_dictionaries() -> int:
    """Return how often a dictionary of anything is a type, in all spellings."""
    return sum(len(_loose.findall(text)) for _, text in modules())


def files_of_a_parameter() -> list[str]:
    """Return the files that name one parameter of a question."""
    return [name for name, text in modules() if re.search(rf"\b{PARAMETER}\b", text)]


def statements() -> tuple[int, int, int]:
    """Return the number of statements, without docstrings; of conditional expressions; and of
    comments.
    """
    n_statements = n_conditionals = n_comments = 0
    for _, text in modules():
        for node in ast.walk(ast.parse(text)):
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            n_statements += isinstance(node, ast.stmt) and not is_text
            n_conditionals += isinstance(node, ast.IfExp)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            n_comments += token.type == tokenize.COMMENT
    return n_statements, n_conditionals, n_comments


def tracked(folder: str) -> int:
    """Return how many files of a folder git keeps."""
    listed = ["git", "ls-files", folder]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    return len(done.stdout.splitlines())


def table(folder: Path) -> list[str]:
    """Return the lines of the table; a run is made in an empty ``folder``."""
    options: dict[str, object] = {"dims": "2x2", "cutoff": 14, "workers": 0}
    watched(folder / "run", options)
    n_reads, n_walks, _ = watched(folder / "run", options)
    types = [each for each in question_types() if READER not in each]
    named = files_of_a_parameter()
    n_statements, n_conditionals, n_comments = statements()
    python = [text_of(name, (".py",)) for name in PRODUCT]
    n_tokens = sum(text.tokens for text in python)
    n_lines = sum(text.code_lines for text in python)
    rows: list[tuple[str, str]] = [
        (
            "types that hold a question",
            f"{len(types)}: {', '.join(types)}, and {READER} reads old files",
        ),
        ("accesses by key to what a run was asked", f"{key_accesses()}"),
        ("loose dictionaries, all spellings", f"{loose_dictionaries()}"),
        ("orderly run: run.json read, run walked", f"{n_reads}, {n_walks}"),
        ("files that a new parameter changes", f"{len(named)}: {', '.join(named)}"),
        ("tracked files of published runs", f"{tracked('results/published')}"),
        ("seeded bugs quoted as text", f"{len(load_mutants())}"),
        ("tokens a statement", f"{n_tokens / n_statements:.1f}"),
        ("conditionals a 1,000 statements", f"{1000 * n_conditionals / n_statements:.1f}"),
        ("comments a 100 code lines", f"{100 * n_comments / n_lines:.1f}"),
        ("README, words", f"{len((ROOT / 'README.md').read_text().split()):,}"),
    ]
    return [f"{name:42}{value}" for name, value in rows]
