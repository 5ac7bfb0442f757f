"""The compact trie holds exactly its words."""

from __future__ import annotations

import itertools
import string

import pytest
from hypothesis import given, strategies as st

from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.search.scoring.trie import (
    CHILD_SHIFT,
    CODE_SHIFT,
    LETTER_MASK,
    N_CODES,
    Trie,
    build_trie,
)

WORDS = st.dictionaries(st.text("abcz", min_size=1, max_size=6), st.integers(0, 5), max_size=40)


def words_of(trie: Trie) -> dict[str, int]:
    """Return the words with their points, by walking every node."""
    found = {}
    stack = [("", 0)]
    while stack:
        prefix, node = stack.pop()
        record = int(trie.nodes[node])
        if code := record >> CODE_SHIFT & (N_CODES - 1):
            found[prefix] = int(trie.points[code])
        letters = [x for x in range(26) if record & LETTER_MASK & 1 << x]
        stack += [
            (prefix + string.ascii_lowercase[x], (record >> CHILD_SHIFT) + i)
            for i, x in enumerate(letters)
        ]
    return found


@given(WORDS, st.integers(0, 7))
def test_round_trip(words: dict[str, int], max_len: int) -> None:
    trie = build_trie(words, max_len)
    kept = {word: points for word, points in words.items() if points and len(word) <= max_len}
    assert words_of(trie) == kept
    prefixes = {word[:k] for word in kept for k in range(len(word) + 1)} | {""}
    assert len(trie.nodes) == len(prefixes)


@given(WORDS, st.randoms())
def test_order_does_not_matter(words: dict[str, int], rng) -> None:
    items = list(words.items())
    rng.shuffle(items)
    one = build_trie(dict(items), 6)
    two = build_trie(dict(sorted(items)), 6)
    assert (one.nodes == two.nodes).all()
    assert (one.points == two.points).all()


def test_refuses_too_many_different_points() -> None:
    words = [*map("".join, itertools.product("abc", string.ascii_lowercase))][:64]
    with pytest.raises(InputError, match="64 different"):
        build_trie({word: i + 1 for i, word in enumerate(words)}, 16)
    assert len(words_of(build_trie({word: i + 1 for i, word in enumerate(words[:63])}, 16))) == 63
