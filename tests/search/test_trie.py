"""The compact trie holds exactly its words."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardclass.errors import InputError
from search.scoring.trie import CHILD_SHIFT, CODE_SHIFT, LETTER_MASK, N_CODES, Trie, build_trie

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
        stack += [(prefix + string.ascii_lowercase[x], (record >> CHILD_SHIFT) + i) for i, x in enumerate(letters)]
    return found


@given(WORDS, st.integers(0, 7))
def test_round_trip(words: dict[str, int], max_len: int) -> None:
    trie = build_trie(list(words), list(words.values()), max_len)
    kept = {word: points for word, points in words.items() if points and len(word) <= max_len}
    assert words_of(trie) == kept
    prefixes = {word[:k] for word in kept for k in range(len(word) + 1)} | {""}
    assert len(trie.nodes) == len(prefixes)


@given(WORDS, st.randoms())
def test_order_and_repetition_do_not_matter(words: dict[str, int], rng) -> None:
    items = list(words.items()) * 2
    rng.shuffle(items)
    one = build_trie([w for w, _ in items], [p for _, p in items], 6)
    two = build_trie(sorted(words), [words[w] for w in sorted(words)], 6)
    assert (one.nodes == two.nodes).all()
    assert (one.points == two.points).all()


@pytest.mark.parametrize("word", ["Abc", "ab-c", "été", "ab c"])
def test_refuses_other_characters(word: str) -> None:
    with pytest.raises(InputError, match="a-z"):
        build_trie(["abc", word], [1, 1], 16)


def test_refuses_too_many_different_points() -> None:
    words = [a + b for a in "abc" for b in string.ascii_lowercase][:64]
    with pytest.raises(InputError, match="64 different"):
        build_trie(words, range(1, 65), 16)
    assert len(words_of(build_trie(words[:63], range(1, 64), 16))) == 63
