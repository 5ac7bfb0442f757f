"""``bound --tree`` and ``explain``: the trees say what the bounds say, and the story ends as the search does."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from boardclass.geometry import geometry
from boardclass.scores import parse_scores
from cluster.answers.explain import as_dot, as_svg, as_text, orderly_tree, sum_choice_tree
from search import class_bounds
from search.scoring.scorer import Scorer

STANDARD = parse_scores("standard")
WORDS = ("tar", "tier", "rite", "tire", "tie", "air", "rat", "tea", "ire", "ate")
LIST = "\n".join((*WORDS, ""))
CLASS = ("t", "i", "ae", "r")  # the paper's example: t {a,e} over i r
SMALL = ("e", "b", "e", "e", "f", "e")


def bound_of(node):
    """Recompute a bound from points and children."""
    below = [bound_of(child) for child in node.children]
    assert node.bound == (max(below) if node.kind == "choice" else node.points + sum(below))
    return node.bound


def size(node):
    return 1 + sum(map(size, node.children))


@pytest.mark.parametrize(
    ("letters", "words"), [(CLASS, WORDS), (SMALL, ("bee", "beef", "fee")), (("ab",) * 4, ("aba", "abab", "bab"))]
)
def test_the_trees_have_the_bounds(letters, words):
    dims = "2x2" if len(letters) == 4 else "2x3"
    scorer = Scorer(dims, words, STANDARD)
    walk = class_bounds.walk_class(letters, scorer)
    loose = sum_choice_tree(letters, words, STANDARD, geometry(dims))
    assert bound_of(loose) == walk.max_bound
    if words == ("bee", "beef", "fee"):
        assert loose.bound == 12, "golden: the multi-score of 2x3"
    nodes = orderly_tree(walk.terms, geometry(dims))
    assert bound_of(nodes) == class_bounds.bounds(walk.terms)[0]
    for node in (loose, nodes):
        n_nodes = size(node)
        assert as_text(node).count("\n") + 1 == n_nodes
        assert as_dot(node).count("[shape=") == n_nodes
        picture = ET.fromstring(as_svg(node))
        assert len(picture.findall("{*}rect")) == n_nodes


def test_tree_on_the_command_line(orderly, words, tmp_path):
    answer = orderly("bound", " ".join(CLASS), "--tree", "-w", words)
    assert answer.code == 0, answer.err
    assert "Orderly tree" in answer.out
    assert "cell 1.2  max" in answer.out
    for kind in ("svg", "dot"):
        answer = orderly("bound", " ".join(CLASS), "--out", tmp_path / f"t.{kind}", "-w", words)
        assert answer.code == 0, answer.err
        assert (tmp_path / f"t-orderly.{kind}").exists()
        assert (tmp_path / f"t-sum-choice.{kind}").exists()


def told(orderly, *arguments):
    answer = orderly("explain", *arguments)
    assert answer.code == 0, answer.err
    return answer.out


def test_explain_ends_as_the_search_does(orderly, words):
    best = max(int(score) for score in Scorer("2x2", WORDS, STANDARD).scores(["tiar", "tier"]))
    over = told(orderly, " ".join(CLASS), "-w", words, "--cutoff", best)
    assert "Scored exactly, 1 of them reach" in over or "Scored exactly, 2 of them reach" in over
    assert "stands for 2 boards" in over
    assert "eliminated at once" in told(orderly, " ".join(CLASS), "-w", words, "--cutoff", 1000)
    assert "With a cutoff" in told(orderly, " ".join(CLASS), "-w", words)
    story = json.loads(told(orderly, " ".join(CLASS), "-w", words, "--cutoff", best, "--format", "json"))
    assert story["orderly_bound"] <= story["max_bound"]
    assert max(item["bound"] for item in story["forced"]) <= story["orderly_bound"]
    for cutoff in range(1, story["orderly_bound"] + 2):
        text = told(orderly, " ".join(CLASS), "-w", words, "--cutoff", cutoff)
        assert ("of them reach" in text) == (cutoff <= best), cutoff


def test_a_level_whose_parts_would_fill_the_memory_is_left_to_the_search(orderly, words, monkeypatch):
    arguments = (" ".join(["aeirt"] * 4), "-w", words, "--cutoff", 5, "--format", "json")
    whole = json.loads(told(orderly, *arguments))
    assert len(whole["levels"]) > 1
    monkeypatch.setattr(class_bounds, "MAX_TERMS", whole["n_terms"])
    short = json.loads(told(orderly, *arguments))
    assert len(short["levels"]) < len(whole["levels"])
    assert short["levels"] == whole["levels"][: len(short["levels"])]
    assert short["n_boards_reaching"] == whole["n_boards_reaching"] > 0


@pytest.mark.parametrize("command", ["explain", "bound"])
def test_an_open_class_is_too_large(orderly, monkeypatch, command):
    """It would fill the memory; a run tells the story of such a class."""
    monkeypatch.setattr(class_bounds, "MAX_TERMS", 100_000)
    answer = orderly(command, "4", "--dims", "3x3")
    assert (answer.code, answer.out) == (2, "")
    assert "explain NUMBER --run DIR" in answer.err


def test_explain_a_pinned_class(orderly, enable2k):
    letters = "lnrsy aeiou chkmpt chkmpt aeiou lnrsy lnrsy aeiou bdfgjvwxz"
    story = json.loads(told(orderly, letters, "-w", "enable2k", "--cutoff", "500", "--format", "json"))
    assert story["orderly_bound"] == 1231
    assert story["levels"]


def test_explain_a_stored_class(orderly, proven):
    rows = json.loads(told(orderly, "0", "--run", proven, "--format", "json"))
    assert rows[0]["path"] == ""
    assert rows[0]["status"] in ("eliminated", "candidates", "split")
    assert orderly("explain", "0", "--run", "nosuch").code == 2
