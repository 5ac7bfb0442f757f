"""``orderly bound --tree`` and ``orderly explain``: why a class can be eliminated, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boardclass.cutoff import reaches
from boardclass.errors import InputError, quote
from cluster.answers import draw_tree
from cluster.answers.boards import class_letters, scorer_for, words_and_table
from cluster.answers.query import check_run_directory
from cluster.answers.render import Format, write_json, write_table
from cluster.streams import console

if TYPE_CHECKING:
    from boardclass.geometry import Dims
    from boardclass.wordlist import WordList
    from search.paper.teaching import TreeNode
    from search.paper.terms import Terms
    from search.scoring.scorer import Scorer

MAX_LEVELS = 4  # cells forced one after the other
MAX_PARTS = 2_000
_BUDGET = 50_000_000


def tree(
    text: str,
    dims_text: str | None,
    buckets: str | None,
    wordlist: str | None,
    scores: str | None,
    out: str | None,
) -> None:
    """Print the Sum/Choice tree and the orderly tree of a small class, or write them to FILE.svg or FILE.dot.

    Raises
    ------
    InputError
        When a tree is too large to look at, or the file cannot be written.
    """
    dims, letters = class_letters(text, dims_text, buckets)
    words, table = words_and_table(wordlist, scores)
    loose, orderly = trees(letters, words, scorer_for(dims, words, table))
    if out is None:
        say = console()
        for title, node in (("Sum/Choice tree (every path)", loose), ("Orderly tree (every term once)", orderly)):
            say.print(f"{title}: bound {node.bound:,}", style="bold", markup=False)
            say.print(draw_tree.as_text(node), markup=False, soft_wrap=True)
        return
    path = Path(out)
    drawings = {".svg": draw_tree.as_svg, ".dot": draw_tree.as_dot}
    if path.suffix not in drawings:
        raise InputError(f"{quote(out)}: expected a name that ends in .svg or .dot")
    for kind, node in (("orderly", orderly), ("sum-choice", loose)):
        target = path.with_name(f"{path.stem}-{kind}{path.suffix}")
        try:
            target.write_text(drawings[path.suffix](node), encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot write {quote(str(target))}: {error.strerror}; choose another name") from error
        console().print(f"{target}: bound {node.bound:,}", markup=False, soft_wrap=True)


def trees(letters: tuple[str, ...], words: WordList, scorer: Scorer) -> tuple[TreeNode, TreeNode]:
    """Return the Sum/Choice tree and the orderly tree of a small class.

    Raises
    ------
    InputError
        When one is too large to look at.
    """
    from search.paper import basic, teaching
    from search.paper.terms import class_terms

    orderly = teaching.orderly_nodes(basic.orderly_tree(class_terms(letters, scorer)))
    return teaching.sum_choice_tree(letters, words.words, scorer.table, scorer.geometry), orderly


def explain(
    text: str,
    dims_text: str | None,
    buckets: str | None,
    wordlist: str | None,
    scores: str | None,
    cutoff: int | None,
    run: str | None,
    fmt: Format,
) -> None:
    """Explain one class: its terms, its bounds, and where the cutoff eliminates it."""
    if run is not None and not text.strip().isdecimal():
        raise InputError(f"class {quote(text)}: with --run, name the class by its number in the run")
    given = {"dims": dims_text, "buckets": buckets, "wordlist": wordlist, "scores": scores, "cutoff": cutoff}
    if run is not None:
        if others := [f"--{name}" for name, value in given.items() if value is not None]:
            raise InputError(f"--run {quote(run)} settles what {' and '.join(others)} would: leave them out")
        _explain_stored(run, int(text), fmt)
        return
    dims, letters = class_letters(text, dims_text, buckets)
    words, table = words_and_table(wordlist, scores)
    scorer = scorer_for(dims, words, table)
    story = tell(dims, letters, scorer, cutoff)
    if fmt is Format.json:
        write_json(story)
    elif fmt is Format.csv:
        write_table(("cell", "letter", "bound"), [tuple(item.values()) for item in story["forced"]], fmt)
    else:
        for line in narrate(story):
            console().print(line, markup=False, soft_wrap=True)


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
            story["n_boards_reaching"] = _n_reaching(letters, scorer, cutoff, len(found))
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


def _n_reaching(letters: tuple[str, ...], scorer: Scorer, cutoff: int, n_found: int) -> int:
    """Return how many boards of the class score the cutoff or more, exactly."""
    from search.paper import basic

    if not n_found:
        return 0
    boards = [board for board, _ in basic.boards_reaching(letters, scorer, cutoff, n_branch=1, budget=_BUDGET)]
    return sum(reaches(int(score), cutoff) for score in scorer.scores(boards))


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
    yield "Forcing one cell:"
    for item in story["forced"]:
        yield f"  cell {item['cell']} = {item['letter']}: bound {item['bound']:,}"
    cutoff = story["cutoff"]
    if cutoff is None:
        yield "With a cutoff, the story goes on to where the class is eliminated."
    elif not reaches(story["orderly_bound"], cutoff):
        yield f"Cutoff {cutoff:,}: eliminated at once, by its orderly bound."
    else:
        yield from _narrate_levels(story, cutoff)


def _narrate_levels(story: dict[str, Any], cutoff: int) -> Iterator[str]:
    yield f"Cutoff {cutoff:,}: the orderly bound reaches it, so cells are forced one after the other:"
    for level in story["levels"]:
        yield (
            f"  cell {level['cell']}: {level['n_left']:,} of {level['n_parts']:,} parts left, "
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


def _explain_stored(directory: str, class_id: int, fmt: Format) -> None:
    """Print what a run stored about a class: every unit with its verdict."""
    check_run_directory(directory)
    from results.reading.sql import connect

    database = connect([directory])
    sql = (
        "SELECT path, status, n_boards, max_bound, len(candidates) AS candidates, n_terms, n_pushes, seconds "
        f"FROM classes WHERE class_id = {class_id:d} ORDER BY depth, path"
    )
    answer = database.query(sql)
    database.close()
    if not answer.rows:
        raise InputError(f"the run in {quote(directory)} has no verdict on class {class_id} yet, or no such class")
    write_table(answer.columns, answer.rows, fmt)
