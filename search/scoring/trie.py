"""Compact trie: one int64 per node, children side by side, built with numpy from the sorted word
list.

Node record, from bit 0: mask of the letters that go on (26 bits), points code (6 bits, 0 = no word
ends here), index of the first child (31 bits).  The children of a node lie side by side in letter
order, so the child for letter ``l`` is the first child plus the number of mask bits below ``l``.
Nodes are numbered breadth-first: the few thousand nodes of the first levels, which every board
visits, share a few pages.

>>> trie = build_trie({"tea": 1, "teas": 1, "tee": 1}, max_len=3)
>>> len(trie.nodes), trie.points[:2].tolist()
(5, [0, 1])
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import Int32s, Int64s
from orderly_boggle.boardclass.errors import InputError

N_LETTERS = 26
LETTER_MASK = (1 << N_LETTERS) - 1
CODE_SHIFT = 26
N_CODES = 64
CHILD_SHIFT = 32


class Trie(NamedTuple):
    """Arrays only, so that it travels through ``ray.put`` unharmed."""

    nodes: Int64s  # one record per node, root first (layout: see the module)
    points: Int32s  # [64], points of a points code; ``points[0]`` is 0


def build_trie(points: Mapping[str, int], max_len: int) -> Trie:
    """Return the trie of the words of at most ``max_len`` cells (letters in q-form).

    ``points`` are those of each word, at least 0; a word worth nothing is left out.

    Raises InputError if more than 63 different numbers of points occur, or a word holds anything
    but a-z.
    """
    kept = sorted(w for w, p in points.items() if 0 < len(w) <= max_len and p > 0)
    value = [points[w] for w in kept]
    codes = {p: i + 1 for i, p in enumerate(sorted(set(value)))}
    if len(codes) >= N_CODES:
        raise InputError(
            f"{len(codes)} different numbers of points; a trie holds at most {N_CODES - 1}"
        )
    table = np.zeros(N_CODES, np.int32)
    table[1 : len(codes) + 1] = list(codes)
    if not kept:
        return Trie(np.zeros(1, np.int64), table)
    of_words = np.array([codes[p] for p in value], np.int64)
    return Trie(_records(_letter_matrix(kept), of_words), table)


def _letter_matrix(words: Sequence[str]) -> Int64s:
    """Return int64[n_words, longest]: 0..25 for a-z, -1 behind the end; raises InputError for other
    characters.
    """
    longest = max(len(w) for w in words)
    text = "".join(w.ljust(longest, "`") for w in words).encode("ascii")
    letters = np.frombuffer(text, np.uint8).reshape(len(words), longest)
    return letters.astype(np.int64) - ord("a")


def _records(letters: Int64s, code: Int64s) -> Int64s:
    """Return the node records of the sorted, distinct words in ``letters``, with their points
    codes.

    Row r opens a node at every depth beyond what it shares with row r - 1, so depth by depth the
    nodes come out in order.
    """
    n_words, longest = letters.shape
    # row differs from the one before within the first `depth` letters
    differs = np.ones(n_words, bool)
    differs[1:] = False
    node = np.zeros(n_words, np.int64)  # node of each row at the depth before
    records = [np.zeros(1, np.int64)]
    n_nodes = 1
    for depth in range(longest + 1):
        if depth < longest:
            here = letters[:, depth] >= 0
        else:
            here = np.zeros(n_words, bool)
        last = ~here & (letters[:, depth - 1] >= 0 if depth else True)
        records[-1][node[last] - (n_nodes - len(records[-1]))] |= code[last] << CODE_SHIFT
        if not here.any():
            break
        differs[1:] |= letters[1:, depth] != letters[:-1, depth]
        opens = here & differs
        parent = node[opens] - (n_nodes - len(records[-1]))
        np.bitwise_or.at(records[-1], parent, 1 << letters[opens, depth])
        child = n_nodes + np.arange(len(parent))
        first = np.ones(len(parent), bool)
        first[1:] = parent[1:] != parent[:-1]
        records[-1][parent[first]] |= child[first] << CHILD_SHIFT
        node = n_nodes + np.cumsum(opens) - 1
        records.append(np.zeros(len(parent), np.int64))
        n_nodes += len(parent)
    return np.concatenate(records)
