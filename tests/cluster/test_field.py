"""Every method of the field, by its command: none may fall out unseen.

What programs for these boards have done, and what the paper describes.  Each entry is a system, how
it is asked, and what its answer must contain; a method that is removed fails here whatever else
was changed with it.
"""

from __future__ import annotations

import pytest

CLASS = "rst rst ae ae"
FIELD = {
    "a trie, depth first": ("solve rate --method trie", "rate"),
    "each word by itself": ("solve rate --method words", "rate"),
    "every path, looked up": ("solve rate --method paths", "rate"),
    "a queue of prefixes beside a sorted list": ("solve rate --method heap", "rate"),
    "hill climbing with a pool": ("climb --dims 2x2 --pool 20 --method pool", "aert"),
    "simulated annealing": ("climb --dims 2x2 --pool 20 --method anneal", "aert"),
    "a genetic algorithm": ("climb --dims 2x2 --pool 20 --method genetic", "aert"),
    "boards around a board": ("neighbours aert", "aest"),
    "boards with a word": ("climb --dims 2x2 --pool 20 --contains tea", "aert"),
    "words that use every cell": ("longest --dims 2x2 --word tear", "tear"),
    "bounds of a class": (["bound", CLASS], "orderly bound"),
    "the bound by forced cell": (["explain", CLASS], "Forcing one cell"),
    "the trees of a class": (["bound", CLASS, "--tree"], "Sum/Choice tree"),
    "a class for other solvers": (["export", CLASS, "--format", "lp"], "Maximize"),
    "numbers of paths": ("paths 4x4", "12,029,640"),
    "branch and bound": ("run 2x2 --workers 0 --cutoff 14 --out RUN", "Proven"),
    "boards by dice": ("roll --dice classic -n 2 --seed 1", "board"),
    "tiles of several letters": ("show [un-]Th/ea", "the"),
}


@pytest.mark.parametrize("system", FIELD)
def test_each_system_of_the_field_answers(orderly, tmp_path, system):
    asked, expected = FIELD[system]
    words = asked if isinstance(asked, list) else asked.split()
    words = [word.replace("RUN", str(tmp_path / "run")) for word in words]
    answer = orderly(*words)
    assert answer.code == 0, answer.err
    assert expected in answer.out
