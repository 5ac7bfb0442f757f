"""The changes that the campaigns draw from: they fit the code, and stand where they say."""

from __future__ import annotations

import ast

import pytest

from tests.soundness.changes import bugs, deletions, narrowings
from tests.soundness.deletions import judged
from tests.soundness.mutate import ROOT, drawn_mutants

TEXT = """
def f(x, ys):
    ys &= ~x  # ä
    for y in ys:
        if y < x and (
            y > 3
        ):
            continue
        x = min(
            x,
            y + 1,
        )
        g(x)
    return x
"""


def told(kind):
    return [(change.line, change.what) for change in kind("f.py", TEXT)]


def test_narrowing_statements_are_removed_and_one_value_of_a_minimum_is_taken():
    assert told(narrowings) == [
        (3, "without: ys &= ~x"),
        (5, "without: if y < x and ( y > 3 ): continue"),
        (9, "x for min( x, y + 1, )"),
        (9, "y + 1 for min( x, y + 1, )"),
    ]


def test_conditions_of_comprehensions_and_bodies_that_leave_at_their_end_narrow():
    text = "def f(xs):\n    if not xs:\n        g()\n        return []\n"
    text += "    return [x for x in xs if x > 2 if x < 9]\n"
    assert [(change.line, change.what) for change in narrowings("f.py", text)] == [
        (2, "without: if not xs: ... return []"),
        (5, "without the condition x > 2"),
        (5, "without the condition x < 9"),
    ]


def test_bugs_are_comparisons_conditions_sums_and_deletions():
    assert told(bugs) == [
        (3, "without: ys &= ~x"),
        (8, "without: continue"),
        (13, "without: g(x)"),
        (5, "True for the condition y < x and ( y > 3 )"),
        (5, "False for the condition y < x and ( y > 3 )"),
        (5, "y > 3 for y < x and ( y > 3 )"),
        (5, "y < x for y < x and ( y > 3 )"),
        (5, "y <= x for y < x"),
        (6, "y >= 3 for y > 3"),
        (9, "max( x, y + 1, ) for min( x, y + 1, )"),
        (11, "y - 1 for y + 1"),
    ]


@pytest.mark.parametrize("kind", [deletions, narrowings, bugs])
def test_a_change_is_another_program_of_as_many_lines(kind):
    for change in kind("f.py", TEXT):
        assert ast.dump(ast.parse(change.source)) != ast.dump(ast.parse(TEXT))
        assert change.source.count("\n") == TEXT.count("\n")
        assert change.source.splitlines()[: change.line - 1] == TEXT.splitlines()[: change.line - 1]
        assert (
            change.source.splitlines()[change.last_line :] == TEXT.splitlines()[change.last_line :]
        )


def test_bugs_of_kernels_are_drawn_by_a_seed():
    some = drawn_mutants(20, seed=3)
    assert some == drawn_mutants(20, seed=3) != drawn_mutants(20, seed=4)
    for mutant in some:
        compile(mutant.applied(ROOT), mutant.file, "exec")
        assert mutant.source != (ROOT / mutant.file).read_text()
        assert all((ROOT / test).exists() for test in mutant.tests)


def test_survivors_that_were_judged_are_changes_of_the_code_as_it_is():
    """A judgement of a statement that is gone says nothing of what stands in its place."""
    reasons = judged()
    changes = set()
    for file in {file for file, _, _ in reasons}:
        for kind in (deletions, narrowings, bugs):
            changes |= {(file, change.function, change.what) for change in kind(file)}
    assert sorted(reasons.keys() - changes) == []
    assert all(reasons.values())
