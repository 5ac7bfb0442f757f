"""``bound`` and ``explain``: pinned bounds, trees that say what bounds say, a story that ends as
the search does.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from functools import partial

import pytest

from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.search import class_bounds, explain as explained
from orderly_boggle.search.explain import as_dot, as_svg, as_text, orderly_tree, sum_choice_tree
from orderly_boggle.search.scoring.scorer import Scorer
from tests.conftest import rows_of

STANDARD = parse_scores("standard")
WORDS = ("tar", "tier", "rite", "tire", "tie", "air", "rat", "tea", "ire", "ate")
LIST = "\n".join((*WORDS, ""))
CLASS = ("t", "i", "ae", "r")  # the paper's example: t {a,e} over i r
TYPED = " ".join(CLASS)


def bound_of(node):
    """Recompute a bound from points and children."""
    below = [bound_of(child) for child in node.children]
    assert node.bound == (max(below) if node.kind == "choice" else node.points + sum(below))
    return node.bound


def size(node):
    return 1 + sum(map(size, node.children))


@pytest.mark.parametrize(
    ("letters", "words", "pinned"),
    [
        (CLASS, WORDS, None),
        ("ebeefe", ("bee", "beef", "fee"), 12),
        (("ab",) * 4, ("aba", "abab", "bab"), None),
    ],
)
def test_the_trees_have_the_bounds(letters, words, pinned):
    dims = "2x2" if len(letters) == 4 else "2x3"
    walk = class_bounds.walk_class(tuple(letters), Scorer(dims, words, STANDARD))
    loose = sum_choice_tree(tuple(letters), words, STANDARD, geometry(dims))
    assert bound_of(loose) == walk.max_bound == (pinned or walk.max_bound)
    nodes = orderly_tree(walk.terms, geometry(dims))
    assert bound_of(nodes) == class_bounds.orderly_bounds(walk.terms)[0]
    for node in (loose, nodes):
        n_nodes = size(node)
        assert as_text(node).count("\n") + 1 == n_nodes
        assert as_dot(node).count("[shape=") == n_nodes
        assert len(ET.fromstring(as_svg(node)).findall("{*}rect")) == n_nodes


def test_trees_on_the_command_line(orderly, words, tmp_path):
    drawn = orderly.done("bound", TYPED, "--tree", "-w", words)
    assert "Orderly tree" in drawn
    assert "cell 1.2  max" in drawn
    lines = {line.strip() for line in drawn.splitlines()}
    assert {"2.2=r tier +1", "2.1=i  sum 1"} <= lines, "a leaf has nothing to add up"
    for kind in ("svg", "dot"):
        orderly.done("bound", TYPED, "--out", tmp_path / f"t.{kind}", "-w", words)
        assert {path.name for path in tmp_path.glob(f"*.{kind}")} == {
            f"t-orderly.{kind}",
            f"t-sum-choice.{kind}",
        }


def test_a_tree_of_more_nodes_than_anybody_looks_at_is_refused(monkeypatch):
    board = geometry("2x2")
    terms = class_bounds.walk_class(CLASS, Scorer("2x2", WORDS, STANDARD)).terms
    n_nodes = class_bounds.n_nodes(terms)
    monkeypatch.setattr(explained, "MAX_NODES", n_nodes)
    orderly_tree(terms, board)
    monkeypatch.setattr(explained, "MAX_NODES", n_nodes - 1)
    with pytest.raises(InputError, match=f"the orderly tree has more than {n_nodes - 1} nodes"):
        orderly_tree(terms, board)
    with pytest.raises(InputError, match=f"the Sum/Choice tree has more than {n_nodes - 1} nodes"):
        sum_choice_tree(CLASS, WORDS, STANDARD, board)


# golden: class 2520743 of `bdfgjvwxz aeiou lnrsy chkmpt` on 3x4; the list has no q, so the letters
# are written out
PINNED = "chkmpt aeiou lnrsy lnrsy lnrsy aeiou chkmpt aeiou lnrsy aeiou lnrsy bdfgjvwxz"


def test_pinned_classes(orderly, enable2k):
    record = orderly.json("bound", PINNED, "-w", "enable2k")
    assert (record["orderly_bound"], record["n_boards"]) == (5496, 9 * 5**9 * 6**2)
    assert min(record["sum_bound"], record["max_bound"]) > 0
    letters = "lnrsy aeiou chkmpt chkmpt aeiou lnrsy lnrsy aeiou bdfgjvwxz"
    assert (
        rows_of(orderly("bound", letters, "-w", "enable2k", "--format", "csv"))[0]["orderly_bound"]
        == "1231"
    )
    assert "1,231" in orderly.done("bound", letters, "-w", "enable2k")
    story = orderly.json("explain", letters, "-w", "enable2k", "--cutoff", "500")
    assert (story["orderly_bound"], bool(story["levels"])) == (1231, True)


def test_a_class_number_is_one_of_the_buckets_or_of_the_preset(orderly, words):
    bound = partial(orderly.done, "bound", "-w", words, "--format", "json")
    by_number = json.loads(
        bound("2520743", "--dims", "3x4", "--buckets", "bdfgjqvwxz aeiou lnrsy chkmpt")
    )
    assert by_number["class"] == PINNED.replace("bdfgjvwxz", "bdfgjqvwxz")
    assert by_number == json.loads(bound(by_number["class"]))
    assert json.loads(bound("3", "--dims", "3x3"))["n_boards"] == 26**8


def test_explain_ends_as_the_search_does(orderly, words):
    explain = partial(orderly.done, "explain", TYPED, "-w", words)
    best = max(int(score) for score in Scorer("2x2", WORDS, STANDARD).scores(["tiar", "tier"]))
    over = explain("--cutoff", best)
    assert "Scored exactly, 1 of them reach" in over or "Scored exactly, 2 of them reach" in over
    assert "stands for 2 boards" in over
    assert "eliminated at once" in explain("--cutoff", 1000)
    assert "With a cutoff" in explain()
    story = json.loads(explain("--cutoff", best, "--format", "json"))
    assert (
        max(item["bound"] for item in story["forced"])
        <= story["orderly_bound"]
        <= story["max_bound"]
    )
    for cutoff in range(1, story["orderly_bound"] + 2):
        assert ("of them reach" in explain("--cutoff", cutoff)) == (cutoff <= best), cutoff


def test_a_class_of_which_no_part_is_left_ends_with_the_cells_that_were_forced(orderly, words):
    story = partial(orderly.done, "explain", " ".join(["aeirt"] * 4), "-w", words, "--cutoff")
    assert "Eliminated after 1 forced cell: no bound reaches the cutoff." in story(10)
    assert "Eliminated after 3 forced cells: no bound reaches the cutoff." in story(6)
    assert "Scored exactly, 24 of them reach the cutoff." in story(5)


def test_what_would_fill_the_memory_is_left_to_the_search(orderly, words, monkeypatch):
    arguments = ("explain", " ".join(["aeirt"] * 4), "-w", words, "--cutoff", 5)
    whole = orderly.json(*arguments)
    assert len(whole["levels"]) > 1
    monkeypatch.setattr(class_bounds, "MAX_TERMS", whole["n_terms"])
    short = orderly.json(*arguments)
    assert len(short["levels"]) < len(whole["levels"])
    assert short["levels"] == whole["levels"][: len(short["levels"])]
    assert short["n_boards_reaching"] == whole["n_boards_reaching"] > 0
    for command in ("explain", "bound"):
        answer = orderly.fails(2, command, "4", "--dims", "3x3")
        assert "explain NUMBER --run DIR" in answer


def test_explain_a_stored_class(orderly, small_runs):
    (row,) = orderly.json("explain", "0", "--run", small_runs / "whole")
    assert (row["path"], row["status"]) == ("", "eliminated")


def test_a_class_is_written_for_other_solvers(orderly, tmp_path):
    for kind, begins, ends in (
        ("cfn", "{", "}"),
        ("lp", "\\ 2x2 rst rst ae ae, scowl70, standard points", "End"),
        ("mps", "* 2x2 rst rst ae ae, scowl70, standard points", "ENDATA"),
    ):
        written = orderly("export", "rst rst ae ae", "--format", kind)
        assert (written.code, written.err) == (0, "")
        lines = written.out.splitlines()
        assert (lines[0], lines[-1]) == (begins, ends)
        assert "multi" in written.out, "the file says what is maximised"
        target = tmp_path / f"model.{kind}"
        told = orderly("export", "rst rst ae ae", "--format", kind, "--out", str(target))
        assert (told.code, target.read_text()) == (0, written.out)
    relaxed = orderly("export", "rst rst ae ae", "--format", "lp", "--relaxed")
    assert "orderly bound" in relaxed.out
    assert "Binaries" not in relaxed.out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("rst rst ae ae", "--format", "cfn", "--relaxed"), "--format lp or mps"),
        ((" ".join(["abcdefghijklmnopqrstuvwxyz"] * 9), "--format", "lp"), "too large"),
        (("rst rst ae ae",), "--format"),
    ],
)
def test_what_cannot_be_written_for_other_solvers_is_refused(orderly, tmp_path, options, says):
    target = tmp_path / "model"
    refused = orderly("export", *options, "--out", str(target))
    assert refused.code == 2
    assert says in refused.err
    assert not target.exists()
