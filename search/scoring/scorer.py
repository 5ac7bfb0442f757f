"""Exact scorer: batches of boards to scores, one board to its words and to the best boards one step
away.

A machine with AVX-512 uses the vector kernel, any other the portable one (docs/notes/speed.md has
their rates).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import combinations, pairwise, product
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orderly_boggle.boardclass.arrays import Int32s, Int64s, UInt8s
from orderly_boggle.boardclass.board import LETTERS, NO_LETTERS, Board, with_letters
from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.errors import BoardError, quote
from orderly_boggle.boardclass.geometry import Dims, cell_name, geometry
from orderly_boggle.boardclass.scores import Scores, ScoreTable, check_overflow, parse_scores
from orderly_boggle.boardclass.wordlist import WordList, words_in_q_form
from orderly_boggle.search.question import Question
from orderly_boggle.search.scoring import walks
from orderly_boggle.search.scoring.trie import CHILD_SHIFT, CODE_SHIFT, N_CODES, Trie, build_trie
from orderly_boggle.search.scoring.walks import Walked


class Found(NamedTuple):
    """A word on a board: q-form, its points, and the cells of one way to spell it (the smallest
    path).
    """

    word: str
    points: int
    path: tuple[int, ...]


def encode_boards(boards: Iterable[str], n: int) -> UInt8s:
    """Return uint8[m, n], 0..25 a cell, of board texts of ``n`` letters a-z each."""
    # checked one by one: a letter outside a-z would be an index outside the trie
    texts = list(boards)
    is_board = re.compile(f"[a-z]{{{n}}}").fullmatch
    for text in texts:
        if not isinstance(text, str) or not is_board(text):
            raise BoardError(f"board {quote(text)}: expected {n} letters a-z, one a cell")
    cells = np.frombuffer("".join(texts).encode("ascii"), np.uint8)
    return cells.reshape(len(texts), n) - np.uint8(ord("a"))


def decode_boards(boards: UInt8s) -> list[str]:
    """Return the texts of the boards in uint8[m, n]."""
    m, n = boards.shape
    cells = np.ascontiguousarray(boards) + np.uint8(ord("a"))
    text = cells.tobytes().decode("ascii")
    return [text[i * n : (i + 1) * n] for i in range(m)]


class _Memory(NamedTuple):
    """What the kernels write to while they score; they release the GIL, so no two threads have the
    same.
    """

    seen: UInt8s  # [n_nodes], the generation in which the word of a node was last found
    generation: Int64s  # [1]
    vector: tuple[Any, Any] | None  # lanes and queue of the vector kernel; None: the portable one


class Scorer:
    """Scores boards of one size, exactly: the sum of the points of the distinct words on the board.

    Threads may share a scorer: each of them has working memory of its own in it, made with the
    first boards that it scores.

    words : name or path of a word list, a WordList, or words in q-form; those longer than the
        board are left out
    scores : a score table, its name, or points from three letters on
    portable : use the scalar kernel even where the vector kernel would run
    trie : one made earlier of the same words and scores

    Raises DimsError, WordListError or ScoreError if one of them cannot be read, or the points over
    the list might overflow.
    """

    def __init__(
        self,
        dims: Dims | str,
        words: str | Path | WordList | Sequence[str],
        scores: Scores = "standard",
        *,
        portable: bool = False,
        trie: Trie | None = None,
    ) -> None:
        self.geometry = geometry(dims)
        self.table = parse_scores(scores)
        self.trie: Trie = trie or trie_of(
            words_in_q_form(words, spelled=False), self.table, self.geometry.n
        )
        self._portable = portable
        # kernels write to it and release the GIL: a shared one gave wrong points now and then
        self._of_thread = threading.local()

    @classmethod
    def of(cls, question: Question, words: WordList | Sequence[str]) -> Scorer:
        """Return the scorer of the boards that a question is about, whose words are ``words``."""
        return cls(question.dims, words, question.table)

    def __repr__(self) -> str:
        return f"<Scorer of {self.dims} boards, {self.table.name} points>"

    def __reduce__(self) -> Any:
        # the trie goes with it: other processes need not read the list again
        made = partial(Scorer, portable=self._portable, trie=self.trie)
        return made, (self.dims, (), self.table)

    @property
    def _memory(self) -> _Memory:
        """Memory of the thread that asks, made with its first boards: loading the vector kernel
        takes half a second.
        """
        memory: _Memory | None = getattr(self._of_thread, "memory", None)
        if memory is None:
            memory = self._of_thread.memory = self._new_memory()
        return memory

    def _new_memory(self) -> _Memory:
        from orderly_boggle.search.scoring import scorer_simd

        vector = None
        if not self._portable and scorer_simd.supported():
            vector = scorer_simd.make_lanes(self.geometry.neighbours), scorer_simd.make_queue()
        seen = np.zeros(len(self.trie.nodes), np.uint8)
        return _Memory(seen, np.zeros(1, np.int64), vector)

    @property
    def dims(self) -> Dims:
        """Size of the boards."""
        return self.geometry.dims

    def score(self, board: str) -> int:
        """Return the exact score of a board."""
        return int(self.scores([board])[0])

    def scores(self, boards: Any) -> Int32s:
        """Return int32[m], the exact scores of m boards: uint8[m, n] of values 0..25, or texts: a
        list of them, an array, or a column of a data frame.

        Raises BoardError that quotes what is no board.
        """
        array = np.asarray(boards)
        if array.dtype.kind in "OUT" or not array.size:
            cells = encode_boards(array.ravel().tolist(), self.geometry.n)
        else:
            self._check(array)
            # kernels are compiled for arrays without strides
            cells = np.ascontiguousarray(array)
        memory = self._memory
        out = np.zeros(len(cells), np.int32)
        done = self._score_vector(cells, memory, out)
        # portable machine, or a board that outgrows the queue of the vector kernel
        while done < len(cells):
            if memory.vector is None:
                stop = len(cells)
            else:
                stop = done + 1
            done += self._score_portable(cells[done:stop], memory, out[done:stop])
            done += self._score_vector(cells[done:], memory, out[done:])
        return out

    def _check(self, boards: UInt8s) -> None:
        is_table = boards.dtype == np.uint8 and boards.ndim == 2
        if not is_table or boards.shape[1] != self.geometry.n:
            expected = f"expected uint8[m, {self.geometry.n}] for {self.dims}"
            raise BoardError(f"boards of type {boards.dtype} and shape {boards.shape}: {expected}")
        if boards.size and boards.max() > 25:
            raise BoardError(f"cell value {int(boards.max())}: expected 0 to 25 for a to z")

    def _score_portable(self, cells: UInt8s, memory: _Memory, out: Int32s) -> int:
        from orderly_boggle.search.scoring.scorer_kernels import score_boards

        masks = self.geometry.neighbour_masks
        seen, generation, _ = memory
        return int(score_boards(*self.trie, masks, cells, seen, generation, out))

    def _score_vector(self, cells: UInt8s, memory: _Memory, out: Int32s) -> int:
        """Fill ``out`` as far as the vector kernel comes; return how many boards that are, 0
        without the kernel.
        """
        seen, generation, vector = memory
        if vector is None or not len(cells):
            return 0
        from orderly_boggle.search.scoring.scorer_simd import score_boards_simd

        masks = self.geometry.neighbour_masks
        return int(score_boards_simd(*self.trie, masks, cells, *vector, seen, generation, out))

    def walk(self, boards: UInt8s, moves: UInt8s, slacks: Int32s) -> Walked:
        """Return where walks from the ``boards`` uint8[m, n] end: what
        :func:`orderly_boggle.search.scoring.walks.walk` gives with this scorer.

        moves : uint8[m, k, 2], slacks : int32[m, k], see there
        """
        self._check(boards)
        if self._memory.vector is None:
            return walks.walk(self, boards, moves, slacks)
        # the board where each walk is, and its best one
        both = np.repeat(boards[:, None], 2, axis=1)
        scores = np.repeat(self.scores(boards)[:, None], 2, axis=1)
        values = np.zeros(slacks.shape, np.int32)
        for i in range(len(boards)):
            self._walk_vector(both[i], scores[i], moves[i], slacks[i], values[i])
        return Walked(both[:, 0], scores[:, 0], both[:, 1], scores[:, 1], values)

    def scores_after(self, boards: UInt8s, of: Int64s, moves: UInt8s) -> Int32s:
        """Return int32[k], the scores of boards after one move each: what
        :func:`orderly_boggle.search.scoring.walks.scores_after` gives with this scorer.

        boards : uint8[m, n], of : int64[k], ascending, moves : uint8[k, 2], see there
        """
        self._check(boards)
        if self._memory.vector is None:
            return walks.scores_after(self, boards, of, moves)
        values = np.zeros(len(moves), np.int32)
        stay = np.full(len(moves), walks.NEVER, np.int32)
        ends = np.searchsorted(of, np.arange(len(boards) + 1)).tolist()
        for board, (begin, end) in zip(boards, pairwise(ends), strict=True):
            own = slice(begin, end)
            at = np.stack((board, board))
            scores = np.full(2, -walks.NEVER, np.int32)
            self._walk_vector(at, scores, moves[own], stay[own], values[own])
        return values

    def _walk_vector(
        self, boards: UInt8s, scores: Int32s, moves: UInt8s, slacks: Int32s, values: Int32s
    ) -> None:
        """Walk by the vector kernel; a board that outgrows its memory is scored as a whole."""
        from orderly_boggle.search.scoring.moves_simd import make_walk_memory, walk_board

        if not hasattr(self._of_thread, "walks"):
            assert self._memory.vector
            self._of_thread.walks = make_walk_memory(self.trie, self._memory.vector[0])
        trie, memory = self._of_thread.walks
        while len(moves):
            done = walk_board(trie, boards, scores, moves, slacks, memory, values)
            moves = moves[done:]
            slacks = slacks[done:]
            values = values[done:]
            if not len(moves):
                return
            once = walks.walk(self, boards[:1], moves[None, :1], slacks[None, :1])
            boards[0] = once.boards[0]
            scores[0] = once.scores[0]
            values[0] = once.values[0, 0]
            if scores[0] > scores[1]:
                boards[1] = boards[0]
                scores[1] = scores[0]
            moves = moves[1:]
            slacks = slacks[1:]
            values = values[1:]

    def words(self, board: str) -> list[Found]:
        """Return the words on a board that are worth points, sorted by word, one path each."""
        encode_boards([board], self.geometry.n)  # refuses what is no board
        words: dict[str, Found] = {}
        root = int(self.trie.nodes[0])
        stack: list[tuple[str, int, tuple[int, ...]]] = [
            ("", root, (cell,)) for cell in reversed(range(len(board)))
        ]
        while stack:
            prefix, record, path = stack.pop()
            bit = 1 << ord(board[path[-1]]) - ord("a")
            if not record & bit:
                continue
            n_smaller = (record & (bit - 1)).bit_count()
            record = int(self.trie.nodes[(record >> CHILD_SHIFT) + n_smaller])
            word = prefix + board[path[-1]]
            code = record >> CODE_SHIFT & (N_CODES - 1)
            if code and word not in words:
                words[word] = Found(word, int(self.trie.points[code]), path)
            near = []
            for cell in self.geometry.neighbours[path[-1]]:
                if cell not in path:
                    near.append(cell)
            stack += [(word, record, (*path, cell)) for cell in reversed(near)]
        return sorted(words.values())


def trie_of(words: tuple[str, ...], table: ScoreTable, n_cells: int) -> Trie:
    """Return the trie of the words that fit so many cells; raises ScoreError if their points might
    overflow.
    """
    points = {word: table.of(word) for word in words if len(word) <= n_cells}
    check_overflow(points.values(), table)
    return build_trie(points, n_cells)


_scorer = lru_cache(maxsize=4)(Scorer)


def score(board: str, words: str | Path | Iterable[str], scores: Scores = "standard") -> int:
    """Return the exact score of a board; for many boards, or the words with their paths, keep a
    :class:`Scorer`.  Any number of threads may call it at once.

    board : as people type it, such as ``berlatdes`` or ``bld/eae/rts``
    words : name or path of a word list, a word list, or words as people write them
    scores : name of a score table or points from three letters on, as in
        :func:`orderly_boggle.boardclass.scores.parse_scores`

    Raises BoardError, WordListError, ScoreError if the board, the words or the score table cannot
    be read.

    Examples
    --------
    >>> score("berlatdes", "scowl70")
    430
    >>> score("bld/eae/rts", "scowl70", "words")
    210
    >>> score("Qu i/t e", ["quit", "quite", "tie"])
    4
    """
    cells = Board(board)
    return _scorer(cells.dims, words_in_q_form(words), parse_scores(scores)).score(cells)


def letter_scores(board: str, scorer: Scorer) -> list[list[int]]:
    """Return the score with each of the letters a-z in each cell, one list a cell."""
    n = len(board)
    letters = np.arange(len(LETTERS))
    boards = np.tile(encode_boards([board], n), (n, len(letters), 1))
    for cell in range(n):
        boards[cell, :, cell] = letters
    scores: list[list[int]] = scorer.scores(boards.reshape(-1, n)).reshape(n, -1).tolist()
    return scores


def best_neighbours(
    board: str, scorer: Scorer, n: int, letters: Mapping[str, str] = NO_LETTERS
) -> list[tuple[str, str, int, int]]:
    """Return the ``n`` best boards one step away, up to symmetry: board, what was done, score,
    difference.
    """
    changes = _one_step(board, scorer.dims.h, letters)
    own, *values = scorer.scores([board, *changes]).tolist()
    best: dict[str, tuple[str, str, int, int]] = {}
    scored = sorted(zip(changes.items(), values, strict=True))
    for (other, change), value in sorted(scored, key=itemgetter(1), reverse=True):
        row = with_letters(other, letters), change, value, value - own
        best.setdefault(canonical_board(other, scorer.geometry), row)
    best.pop(canonical_board(board, scorer.geometry), None)
    return list(best.values())[:n]


def _one_step(board: str, h: int, letters: Mapping[str, str]) -> dict[str, str]:
    """Return the boards one step away, each with what was done."""
    names = [
        f"{cell_name(cell, h)}, {letters.get(letter, letter).upper()}"
        for cell, letter in enumerate(board)
    ]
    steps = {}
    for cell, new in product(range(len(board)), LETTERS):
        if new != board[cell]:
            changed = board[:cell] + new + board[cell + 1 :]
            steps[changed] = f"{names[cell]} to {letters.get(new, new).upper()}"
    for left, right in combinations(range(len(board)), 2):
        cells = list(board)
        cells[left], cells[right] = cells[right], cells[left]
        if board[left] != board[right]:
            steps.setdefault("".join(cells), f"{names[left]} and {names[right]} swapped")
    return steps
