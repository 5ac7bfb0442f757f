"""The words of a run as arrays that all workers of a machine share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from boardclass.geometry import Geometry
from boardclass.scores import n_letters
from search.scoring.trie import Trie, build_trie
from search.terms.words import Words, word_arrays


class Lexicon(NamedTuple):
    """The words of a run as a trie and as rows of letters: read only."""

    trie: Trie
    words: Words


def make_lexicon(board: Geometry, words: Sequence[str], points: Sequence[int], trie: Trie | None = None) -> Lexicon:
    """Return the arrays of the words that fit a board and are worth something; ``points`` by number of letters.

    trie : one made earlier of the same words and points, such as a scorer's
    """
    fitting = [w for w in words if len(w) <= board.n and points[n_letters(w)]]
    trie = trie or build_trie(fitting, [points[n_letters(w)] for w in fitting], board.n)
    codes = {int(p): code for code, p in enumerate(trie.points) if p}
    return Lexicon(trie, word_arrays(fitting, [codes[points[n_letters(w)]] for w in fitting]))
