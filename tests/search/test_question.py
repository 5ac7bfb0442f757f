"""The question of a run: spelled once, compared in one place, with the digests of all stored
rows.
"""

from __future__ import annotations

import inspect
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.boardclass.geometry import cell_order_of
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.results.storage.files import published_places
from orderly_boggle.results.store.run import open_run
from orderly_boggle.search.params import LETTER_ORDER, Rules
from orderly_boggle.search.question import Question, ask, later_fields

BUCKETS = "aeiou bcdfghjklmnpqrstvwxyz"
OPEN_RIM = "center: aeiou bcdfghjklmnpqrstvwxyz, abcdefghijklmnopqrstuvwxyz"
SHA256 = "0" * 64
ASKED = ask("3x4", SHA256, "standard", 14, BUCKETS)
OTHERS = {
    "dims": ask("2x6", SHA256, "standard", 14, BUCKETS),
    "words_sha256": replace(ASKED, words_sha256="1" * 64),
    "points": replace(ASKED, points=parse_scores("words").points),
    "cutoff": replace(ASKED, cutoff=15),
    "buckets": ask("3x4", SHA256, "standard", 14, "abcdefghijklmnopqrstuvwxyz"),
    "cell_order": replace(ASKED, cell_order=cell_order_of("3x4", "rows")),
    "rules": replace(ASKED, rules=Rules(demands="every")),
}
RULES = {
    "fused": ("edge",),
    "letter_order": LETTER_ORDER[::-1],
    "demands": "every",
    "unfuse_parts": 2,
    "force_groups": ("abcdefghijklm", "nopqrstuvwxyz"),
    "max_free": 3,
    "coarse_groups": (),
}


def test_every_value_can_be_asked_for():
    """A config accepts each of them: one that goes no further would be dropped in silence."""
    *named, others = inspect.signature(ask).parameters.values()
    assert others.kind is others.VAR_KEYWORD, "later ones"
    asked = [each.name for each in (*named, *later_fields())]
    assert asked == [field.name for field in fields(Question)]


def test_the_cases_are_all_there_is():
    assert list(OTHERS) == [each.name for each in fields(Question)]
    assert list(RULES) == [each.name for each in fields(Rules)]


@pytest.mark.parametrize("name", sorted(published_places()))
def test_published_rows_are_of_the_question(name):
    run = open_run(name)
    (digest,) = {row.fingerprint for row in run.rows()}
    stored = run.question
    asked = ask(
        stored.dims,
        stored.words_sha256,
        stored.points,
        stored.cutoff,
        stored.buckets,
        stored.cell_order,
    )
    assert asked.digest == digest == stored.digest


def test_it_is_spelled_in_one_way():
    same = [
        ask(" 4X3", SHA256, parse_scores("standard"), np.int64(14), f"default: {BUCKETS}"[9:]),
        ask("3x4", SHA256, [1, 1, 2, 3, 5, 11], 14, "uoiea zyxwvtsrqpnmlkjhgfdcb"),
        ask("3x4", SHA256, ASKED.points, 14, ASKED.buckets, ASKED.cell_order, Rules()),
        pickle.loads(pickle.dumps(ASKED)),
    ]
    for question in same:
        assert question == ASKED
        assert (question.digest, question.differences(ASKED)) == (ASKED.digest, [])
    assert ASKED.geometry.cell_order == ASKED.cell_order
    assert (ASKED.n_cells, ASKED.partition.text) == (12, ASKED.buckets)


@pytest.mark.parametrize("name", OTHERS)
def test_a_value_that_differs_is_told(name):
    other = OTHERS[name]
    told = ASKED.differences(other)
    assert any(line.startswith(f"{name}: ") for line in told) or name == "rules"
    assert told
    assert all("asked for" in line and "stored" in line for line in told)
    assert not any("(" in line for line in told), "lists are quoted as in a config"
    # how classes are cut is no part of what a row is of
    assert (other.digest == ASKED.digest) == (name == "rules")


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(("dims", "is_wide"), [("2x2", False), ("4x5", True)])
def test_rules_are_compared_where_they_cut(name, dims, is_wide):
    usual = ask(dims, SHA256, "words", 14, BUCKETS)
    other = replace(usual, rules=replace(Rules(), **{name: RULES[name]}))
    differs = is_wide or name not in ("max_free", "coarse_groups") or other.n_fused_first > 0
    assert bool(usual.differences(other)) == bool(other.differences(usual)) == differs
    assert all(line.startswith(f"{name}: asked for") for line in usual.differences(other))


def test_a_wide_class_is_fused_first():
    assert ask("4x4", SHA256, "words", 14, BUCKETS).n_fused_first == 0
    assert ask("4x5", SHA256, "words", 14, BUCKETS).n_fused_first == 2
    assert ask("3x5", SHA256, "words", 14, BUCKETS, rules=Rules(fused=())).n_fused_first == 3
    no_groups = Rules(coarse_groups=())
    assert ask("4x5", SHA256, "words", 14, BUCKETS, rules=no_groups).n_fused_first == 0


@pytest.mark.parametrize(
    ("dims", "buckets", "order", "most"),
    [
        ("4x5", OPEN_RIM, (), 14),
        ("3x6", OPEN_RIM, cell_order_of("3x6", "pairs"), 14),
        ("4x5", BUCKETS, (), 12),  # no class of it is open
        ("4x5", OPEN_RIM, range(20), 12),  # cells of the rim come before those of the centre
        ("4x6", OPEN_RIM, (), 12),
    ],
)
def test_only_open_classes_have_cells_outside_their_keys(dims, buckets, order, most):
    """A node of any other class would split and split, and never be grown."""
    asked = ask(dims, SHA256, "words", 14, buckets, order, Rules(max_free=14))
    assert asked.rules == Rules(max_free=most)
    few = ask(dims, SHA256, "words", 14, buckets, order, Rules(max_free=5))
    assert few.rules == Rules(max_free=5)


REFUSED = [
    ({"cutoff": 0}, "cutoff 0"),
    ({"cutoff": "many"}, "cutoff 'many'"),
    ({"cutoff": 2**31}, "cutoff 2147483648"),
    ({"words_sha256": "x" * 64}, "words_sha256"),
    ({"points": (0, 0, 0)}, "points"),
    ({"points": (*ASKED.points, 1)}, "points"),
    ({"points": (0, 0, 0, -1)}, "points"),
    ({"dims": "4x3"}, "not spelled as a run does"),
    ({"dims": "9x9"}, "'9x9'"),
    ({"buckets": BUCKETS}, "not spelled as a run does"),
    ({"buckets": "aeiou"}, "missing letters"),
    ({"cell_order": (0, 1)}, "cell order"),
    ({"cell_order": (0,) * 12}, "cell order"),
]


@pytest.mark.parametrize(("changes", "said"), REFUSED)
def test_what_is_no_question_is_refused(changes, said):
    with pytest.raises(InputError, match=said):
        replace(ASKED, **changes)


@pytest.mark.parametrize("cutoff", ["14", None, 1.5, 0])
def test_a_cutoff_is_a_number(cutoff):
    with pytest.raises(InputError, match="cutoff"):
        ask("3x4", SHA256, "standard", cutoff, BUCKETS)
