"""The kernel of a walk from board to board: scores what a move changes, not the whole board
(AVX-512 machines).

A move changes the letter of one cell, or swaps two cells.  Of the board of the walk all paths are
kept, by their last cell.  What a word loses or gains by a move lies on paths through the cells that
change:

- A word stays if one of its paths avoids these cells.  For one cell that is known beforehand: the
  cells that all paths of a word have in common.
- A new path begins at such a cell, or goes on to one from a path that avoids them all; the first of
  these cells on the path says from where, so every path is met once.

From there paths are extended as :mod:`orderly_boggle.search.scoring.scorer_simd` does it, on the
changed board.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import int32, int64, types, uint8
from numba.extending import intrinsic

from orderly_boggle.boardclass.arrays import Int32s, Int64s, UInt8s
from orderly_boggle.boardclass.jit import frozen, kernel, read_only, writable
from orderly_boggle.search.bits import popcount
from orderly_boggle.search.scoring.scorer_kernels import CELLS_MASK, MAX_CELLS, next_generation
from orderly_boggle.search.scoring.scorer_simd import (
    CAPACITY,
    CODE_MASK,
    I64,
    LANES,
    LANES_TYPE,
    PLACE_SHIFT,
    Lanes,
    Lanewise,
    extend,
    pointers,
)
from orderly_boggle.search.scoring.trie import CHILD_SHIFT, CODE_SHIFT, LETTER_MASK, Trie
from orderly_boggle.search.scoring.walks import SWAP

_TAIL = 0xFFFFFFFF
_OUTGROWN = -1
_UNKNOWN = -2


class Hits(NamedTuple):
    """A queue of paths, see :class:`orderly_boggle.search.scoring.scorer_simd.Queue`, and where its
    hits lie.
    """

    records: Int64s
    places: Int64s
    hits: Int64s
    hit_places: Int64s  # last cell << 32 | used cells


class Paths(NamedTuple):
    """The paths of the board of a walk that some letter carries on, by their last cell."""

    records: Int64s
    places: Int64s  # -1 behind the last path of a cell, up to a multiple of LANES
    first: Int64s  # [MAX_CELLS + 1], where the paths of each cell begin


class Words(NamedTuple):
    """The words of the board of a walk, and those that a move makes."""

    seen: UInt8s  # [n_nodes], the generation of the board on which the word was last found
    made: UInt8s  # [n_nodes], the generation of the move that last made or kept the word
    common: Int32s  # [n_nodes], the cells that all paths of the word have in common
    generations: tuple[Int64s, Int64s]  # [1] each, of ``seen`` and ``made``
    lost: Int64s  # [MAX_CELLS], points of the words that need a cell


class WalkMemory(NamedTuple):
    """What the kernel writes to; no two threads have the same."""

    lanes: Lanes
    open_lanes: Lanes  # the same places and letters, all letters around each cell
    back: Int64s  # [25, 8], the lane of a cell among those of each neighbour
    queue: Hits
    hits: Hits  # of the board: hits and their places; paths until these are sorted
    paths: Paths
    words: Words
    known: Int32s  # [MAX_CELLS, SWAP + MAX_CELLS], the score after each move, or _UNKNOWN


def make_walk_memory(trie: Trie, lanes: Lanes) -> tuple[Trie, WalkMemory]:
    """Return the trie as the kernel takes it, and the memory of a thread; its pages cost nothing
    until a board needs them.
    """
    size = CAPACITY + 2 * LANES
    queue, hits = (Hits(*(np.zeros(size, np.int64) for _ in range(4))) for _ in range(2))
    n_sorted = CAPACITY + (MAX_CELLS + 2) * LANES
    paths = Paths(
        np.zeros(n_sorted, np.int64),
        np.zeros(n_sorted, np.int64),
        np.zeros(MAX_CELLS + 1, np.int64),
    )
    n_nodes = len(trie.nodes)
    words = Words(
        np.zeros(n_nodes, np.uint8),
        np.zeros(n_nodes, np.uint8),
        np.zeros(n_nodes, np.int32),
        (np.zeros(1, np.int64), np.zeros(1, np.int64)),
        np.zeros(MAX_CELLS, np.int64),
    )
    open_lanes = lanes._replace(around=np.full_like(lanes.around, LETTER_MASK))
    back = np.zeros_like(lanes.places)
    for cell, lane in np.argwhere(lanes.places >= 0):
        near = lanes.places[cell, lane] >> PLACE_SHIFT
        back[cell, lane] = np.flatnonzero(lanes.places[near] >> PLACE_SHIFT == cell)[0]
    read = Trie(frozen(trie.nodes), frozen(trie.points))
    known = np.zeros((MAX_CELLS, SWAP + MAX_CELLS), np.int32)
    return read, WalkMemory(lanes, open_lanes, back, queue, hits, paths, words, known)


@intrinsic
def _enter(
    typing_context: Any,
    nodes: Any,
    paths: Any,
    queue: Any,
    at: Any,
    cell: Any,
    closed: Any,
    letter: Any,
    around: Any,
    tails: Any,
) -> Any:
    """Take eight kept paths from ``at`` on to a cell with the letter bit ``letter``, those that use
    no cell of ``closed``; pack and return as ``extend`` does.
    """
    del typing_context
    signature = int64(nodes, paths, queue, int64, int64, int64, int64, int64, int64)

    def codegen(context: Any, b: Any, sig: Any, arguments: Any) -> Any:
        v, pointer = Lanewise(b), pointers(context, b, sig, arguments)
        _, _, _, at, cell, closed, letter, around, tails = arguments
        records_in, places_in = (v.load(b.gep(pointer(1, field), [at])) for field in range(2))
        letters = v.splat(letter)
        free = b.not_(v.any_bit(places_in, v.splat(closed)))
        alive = b.and_(v.any_bit(letters, records_in), free)
        below = v.popcount(b.and_(records_in, b.sub(letters, v.constant(1))))
        child = b.add(b.lshr(records_in, v.constant(CHILD_SHIFT)), below)
        records = v.gather(pointer(0), child, alive)
        goes_on = v.any_bit(records, v.splat(around))
        is_word = v.any_bit(records, v.constant(CODE_MASK))
        one = b.shl(v.constant(1), v.splat(cell))
        place = b.or_(b.shl(v.splat(cell), v.constant(PLACE_SHIFT)), one)
        places = b.or_(b.and_(places_in, v.constant(CELLS_MASK)), place)
        tail, n_hits = b.and_(tails, I64(_TAIL)), b.lshr(tails, I64(32))
        v.pack(pointer(2, 0), tail, records, goes_on)
        v.pack(pointer(2, 1), tail, places, goes_on)
        code = b.shl(b.and_(records, v.constant(CODE_MASK)), v.constant(32 - CODE_SHIFT))
        v.pack(pointer(2, 2), n_hits, b.or_(child, code), is_word)
        return b.add(tails, b.or_(v.count(goes_on), b.shl(v.count(is_word), I64(32))))

    return signature, codegen


_HITS = types.NamedUniTuple(writable(int64), 4, Hits)
_PATHS = types.NamedUniTuple(writable(int64), 3, Paths)
_WORDS = types.NamedTuple(
    (
        writable(uint8),
        writable(uint8),
        writable(int32),
        types.UniTuple(writable(int64), 2),
        writable(int64),
    ),
    Words,
)
_MEMORY = types.NamedTuple(
    (
        LANES_TYPE,
        LANES_TYPE,
        writable(int64, 2),
        _HITS,
        _HITS,
        _PATHS,
        _WORDS,
        writable(int32, 2),
    ),
    WalkMemory,
)
_TRIE = types.NamedTuple((read_only(int64), read_only(int32)), Trie)
_BOARD = writable(uint8)


@kernel(int64(_TRIE, _HITS, int64, int64, int64))
def _begin(trie: Trie, queue: Hits, cell: int, letter: int, tails: int) -> int:
    """Put the path of one cell with a letter at the end of the queue, if a word begins with it."""
    root, bit = trie.nodes[0], 1 << letter
    if not root & bit:
        return tails
    child = (root >> CHILD_SHIFT) + popcount(root & (bit - 1))
    record = trie.nodes[child]
    place = (cell << PLACE_SHIFT) | (1 << cell)
    queue.records[tails & _TAIL] = record
    queue.places[tails & _TAIL] = place
    tails += 1
    if record & CODE_MASK:
        n_hits = tails >> 32
        queue.hits[n_hits] = ((record & CODE_MASK) << (32 - CODE_SHIFT)) | child
        queue.hit_places[n_hits] = place
        tails += 1 << 32
    return tails


@kernel(int64(_TRIE, LANES_TYPE, _HITS, int64))
def _walk(trie: Trie, lanes: Lanes, queue: Hits, tails: int) -> int:
    """Extend all paths of the queue; return its tails, or _OUTGROWN."""
    head = 0
    while head < tails & _TAIL:
        if tails & _TAIL > CAPACITY or tails >> 32 > CAPACITY:
            return _OUTGROWN
        place, record = queue.places[head], queue.records[head]
        cell, used = place >> PLACE_SHIFT, place & CELLS_MASK
        tails = extend(trie.nodes, lanes, queue, cell, record, used, tails)
        head += 1
    return tails


@kernel(types.void(_BOARD, _MEMORY, int64))
def _show_letter(board: Any, memory: WalkMemory, cell: int) -> None:
    """Write the letter of a cell of the board to the lanes."""
    lanes, back = memory.lanes, memory.back
    for lane in range(LANES):
        near = lanes.places[cell, lane] >> PLACE_SHIFT
        if near < 0:
            continue
        lanes.letters[near, back[cell, lane]] = 1 << int64(board[cell])
        letters = 0
        for other in range(LANES):
            place = lanes.places[near, other]
            if place >= 0:
                letters |= 1 << int64(board[place >> PLACE_SHIFT])
        for other in range(LANES):
            place = lanes.places[near, other]
            if place >= 0:
                lanes.around[place >> PLACE_SHIFT, back[near, other]] = letters


@kernel(types.void(_HITS, _PATHS, int64))
def _keep_paths(found: Hits, paths: Paths, n_paths: int) -> None:
    """Sort the paths of the board by their last cell."""
    first = paths.first
    first[:] = 0
    for i in range(n_paths):
        first[found.places[i] >> PLACE_SHIFT] += 1
    begin = 0
    for cell in range(MAX_CELLS):
        end = begin + first[cell]
        first[cell] = begin
        begin = (end + LANES - 1) // LANES * LANES
        for i in range(end, begin):
            paths.places[i] = -1
    first[MAX_CELLS] = begin
    for i in range(n_paths):
        cell = found.places[i] >> PLACE_SHIFT
        paths.records[first[cell]] = found.records[i]
        paths.places[first[cell]] = found.places[i]
        first[cell] += 1
    for cell in range(MAX_CELLS, 0, -1):
        first[cell] = (first[cell - 1] + LANES - 1) // LANES * LANES
    first[0] = 0


@kernel(int64(_TRIE, _HITS, _WORDS, int64))
def _keep_words(trie: Trie, found: Hits, words: Words, n_hits: int) -> int:
    """Note the words of the board, and what is lost with each cell; return the score."""
    current = next_generation(words.seen, words.generations[0])
    for i in range(n_hits):
        node, used = found.hits[i] & _TAIL, found.hit_places[i] & CELLS_MASK
        if words.seen[node] != current:
            words.seen[node] = current
            words.common[node] = used
        else:
            words.common[node] &= used
    words.lost[:] = 0
    counted = next_generation(words.made, words.generations[1])
    score = 0
    for i in range(n_hits):
        node = found.hits[i] & _TAIL
        if words.made[node] == counted:
            continue
        words.made[node] = counted
        worth = trie.points[found.hits[i] >> 32]
        score += worth
        cells = int64(words.common[node])
        while cells:
            words.lost[popcount((cells & -cells) - 1)] += worth
            cells &= cells - 1
    return score


@kernel(int64(_TRIE, _BOARD, _MEMORY))
def _read(trie: Trie, board: Any, memory: WalkMemory) -> int:
    """Keep all paths and words of the board; return its score and number of hits << 32, or
    _OUTGROWN.
    """
    tails = 0
    for cell in range(len(board)):
        _show_letter(board, memory, cell)
        tails = _begin(trie, memory.hits, cell, int64(board[cell]), tails)
    tails = _walk(trie, memory.open_lanes, memory.hits, tails)
    if tails == _OUTGROWN:
        return _OUTGROWN
    _keep_paths(memory.hits, memory.paths, tails & _TAIL)
    score = _keep_words(trie, memory.hits, memory.words, tails >> 32)
    return ((tails >> 32) << 32) | score


@kernel(int64(_TRIE, _BOARD, _MEMORY, int64, int64, int64))
def _enter_cell(
    trie: Trie, board: Any, memory: WalkMemory, cell: int, closed: int, tails: int
) -> int:
    """Put all paths to the queue whose first cell of ``closed`` is ``cell``, as far as this
    cell.
    """
    queue, paths = memory.queue, memory.paths
    letter = int64(board[cell])
    tails = _begin(trie, queue, cell, letter, tails)
    around = 0
    for lane in range(LANES):
        if memory.lanes.places[cell, lane] >= 0:
            around |= memory.lanes.letters[cell, lane]
    for lane in range(LANES):
        near = memory.lanes.places[cell, lane] >> PLACE_SHIFT
        if near < 0 or closed >> near & 1:
            continue
        n_new = paths.first[near + 1] - paths.first[near]
        if (tails & _TAIL) + n_new > CAPACITY or (tails >> 32) + n_new > CAPACITY:
            return _OUTGROWN
        for at in range(paths.first[near], paths.first[near + 1], LANES):
            bit = 1 << letter
            tails = _enter(trie.nodes, paths, queue, at, cell, closed, bit, around, tails)
    return tails


@kernel(int64(_TRIE, _BOARD, _MEMORY, int64, int64))
def _changed(trie: Trie, board: Any, memory: WalkMemory, score: int, cell: int) -> int:
    """Return the score of the board, which has a new letter on a cell, or _OUTGROWN."""
    words, queue = memory.words, memory.queue
    bit = 1 << cell
    tails = _enter_cell(trie, board, memory, cell, bit, 0)
    if tails != _OUTGROWN:
        tails = _walk(trie, memory.lanes, queue, tails)
    if tails == _OUTGROWN:
        return _OUTGROWN
    current = words.generations[0][0]
    made = next_generation(words.made, words.generations[1])
    score -= words.lost[cell]
    for i in range(tails >> 32):
        node = queue.hits[i] & _TAIL
        stays = words.seen[node] == current and not words.common[node] & bit
        if not stays and words.made[node] != made:
            words.made[node] = made
            score += trie.points[queue.hits[i] >> 32]
    return score


@kernel(int64(_TRIE, _BOARD, _MEMORY, int64, int64, int64))
def _swapped(trie: Trie, board: Any, memory: WalkMemory, n_hits: int, cell: int, other: int) -> int:
    """Return the score of the board, two cells of which were swapped, or _OUTGROWN; ``n_hits`` of
    the board before.
    """
    words, queue, hits = memory.words, memory.queue, memory.hits
    closed = (1 << cell) | (1 << other)
    tails = _enter_cell(trie, board, memory, cell, closed, 0)
    if tails != _OUTGROWN:
        tails = _enter_cell(trie, board, memory, other, closed, tails)
    if tails != _OUTGROWN:
        tails = _walk(trie, memory.lanes, queue, tails)
    if tails == _OUTGROWN:
        return _OUTGROWN
    made = next_generation(words.made, words.generations[1])
    score = 0
    for i in range(n_hits):
        node = hits.hits[i] & _TAIL
        if not hits.hit_places[i] & closed and words.made[node] != made:
            words.made[node] = made
            score += trie.points[hits.hits[i] >> 32]
    for i in range(tails >> 32):
        node = queue.hits[i] & _TAIL
        if words.made[node] != made:
            words.made[node] = made
            score += trie.points[queue.hits[i] >> 32]
    return score


@kernel(int64(_TRIE, _BOARD, _MEMORY, int64, int64, int64))
def _tried(trie: Trie, board: Any, memory: WalkMemory, found: int, cell: int, move: int) -> int:
    """Return the score of the board after a move, or _OUTGROWN; the board stays as it is.

    ``found`` is what :func:`_read` said of the board, ``move`` the new letter of the cell, or
    SWAP + the cell that it is swapped with.
    """
    score, n_hits = found & _TAIL, found >> 32
    before = board[cell]
    if move < SWAP:
        board[cell] = uint8(move)
        value = _changed(trie, board, memory, score, cell)
        board[cell] = before
        return value
    other = move - SWAP
    board[cell], board[other] = board[other], before
    _show_letter(board, memory, cell)
    _show_letter(board, memory, other)
    value = _swapped(trie, board, memory, n_hits, cell, other)
    board[other], board[cell] = board[cell], before
    _show_letter(board, memory, cell)
    _show_letter(board, memory, other)
    return value


_WALK = int64(
    _TRIE,
    writable(uint8, 2),
    writable(int32),
    read_only(uint8, 2),
    read_only(int32),
    _MEMORY,
    writable(int32),
)


@kernel(_WALK)
def walk_board(
    trie: Trie,
    boards: Any,
    scores: Any,
    moves: Any,
    slacks: Any,
    memory: WalkMemory,
    values: Any,
) -> int:
    """Walk from a board: a move is taken if the score falls by at most its slack; return how many
    moves were tried, fewer than all when a board outgrows the memory.

    ``boards`` uint8[2, n] and ``scores`` int32[2] are the board that the walk is at and the best
    board so far; both are kept up.  ``moves`` is uint8[k, 2], ``slacks`` int32[k], see
    :mod:`orderly_boggle.search.scoring.walks`.  ``values`` int32[k] gets the score that each move
    makes.
    """
    board, known = boards[0], memory.known
    found = _read(trie, board, memory)
    known[:] = _UNKNOWN
    for k in range(len(moves)):
        if found == _OUTGROWN:
            return k
        score = found & _TAIL
        cell, move = int64(moves[k, 0]), int64(moves[k, 1])
        other, after = cell, move
        if move >= SWAP:
            other = move - SWAP
            after = int64(board[other])
        values[k] = score
        if after == board[cell]:
            continue
        value = int64(known[cell, move])
        if value == _UNKNOWN:
            value = _tried(trie, board, memory, found, cell, move)
            if value == _OUTGROWN:
                return k
            known[cell, move] = value
            if other != cell:
                known[other, SWAP + cell] = value
        values[k] = value
        if value + slacks[k] < score:
            continue
        board[other], board[cell] = board[cell], uint8(after)
        scores[0] = value
        if value > scores[1]:
            scores[1] = value
            boards[1] = board
        found = _read(trie, board, memory)
        known[:] = _UNKNOWN
    return len(moves)
