"""The vector scoring kernel: breadth-first, the eight neighbours of a cell in one step (AVX-512
machines).

One step takes a path from a queue and looks at the neighbours of its last cell as eight lanes of 64
bits: lanes whose cell is free and whose letter goes on in the trie stay alive, their child records
are gathered, and what stays alive is packed to the end of the queue (paths that can go on) and of
the hit list (paths that spell a word).  No branch depends on a board, and the loads of different
paths overlap; a depth-first walk spends most of its time on mispredicted branches and cache misses.
The instructions are generic LLVM vector intrinsics (llvm.masked.gather,
llvm.experimental.vector.compress): any machine can run them, but without AVX-512 they are slower
than the portable kernel, so :func:`supported` decides.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import int32, int64, types, uint8
from numba.extending import intrinsic

from orderly_boggle.boardclass.arrays import Int64s
from orderly_boggle.boardclass.jit import kernel, writable
from orderly_boggle.search.bits import call, machine_has, popcount
from orderly_boggle.search.scoring.scorer_kernels import (
    CELLS_MASK,
    MAX_CELLS,
    SIGNATURE_ARRAYS,
    next_generation,
)
from orderly_boggle.search.scoring.trie import CHILD_SHIFT, CODE_SHIFT

LANES = 8
CAPACITY = 1 << 17
PLACE_SHIFT = 32  # place: cell << 32 | used cells
CODE_MASK = 63 << CODE_SHIFT
_MIN_LLVM = 20  # llvm.experimental.vector.compress


def supported() -> bool:
    """Return whether this machine and this numba can run the vector kernel fast."""
    is_new = llvm.llvm_version_info[0] >= _MIN_LLVM
    return is_new and machine_has("avx512f", "avx512bw", "avx512dq", "avx512vpopcntdq")


class Lanes(NamedTuple):
    """What the eight neighbours of each cell look like, one row of lanes per cell."""

    # [25, 8], ``cell << 32 | 1 << cell`` of each neighbour; -1 for a missing one, never free
    places: Int64s
    letters: Int64s  # [25, 8], bit of the letter of each neighbour
    around: Int64s  # [25, 8], letters around each neighbour


class Queue(NamedTuple):
    """Scratch of one board: ``CAPACITY`` paths and hits, plus the lanes that a packed store may
    spill over the end.
    """

    records: Int64s  # trie record of the path's node
    places: Int64s  # last cell << 32 | used cells
    hits: Int64s  # points code << 32 | node of the word


def make_queue() -> Queue:
    """Return an empty queue; its pages cost nothing until a board needs them."""
    size = CAPACITY + 2 * LANES
    return Queue(np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64))


def make_lanes(neighbours: tuple[tuple[int, ...], ...]) -> Lanes:
    """Return the lanes of a geometry; the kernel fills letters and ``around`` per board."""
    places = np.full((MAX_CELLS, LANES), -1, np.int64)
    for cell, near in enumerate(neighbours):
        places[cell, : len(near)] = [other << PLACE_SHIFT | 1 << other for other in near]
    return Lanes(places, np.zeros_like(places), np.zeros_like(places))


_I32 = ir.IntType(32)
I64 = ir.IntType(64)
_VECTOR = ir.VectorType(I64, LANES)
_MASK = ir.VectorType(ir.IntType(1), LANES)


class Lanewise:
    """Builds LLVM code on vectors of eight 64-bit lanes."""

    def __init__(self, builder: Any) -> None:
        self.b = builder

    def call(self, name: str, result: Any, *values: Any) -> Any:
        """Call an LLVM intrinsic."""
        return call(self.b, name, result, *values)

    def splat(self, value: Any) -> Any:
        """Return a vector of one value."""
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        one = self.b.insert_element(undefined, value, _I32(0))
        return self.b.shuffle_vector(
            one, undefined, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
        )

    def constant(self, value: int) -> Any:
        """Return a vector of one number."""
        return ir.Constant(_VECTOR, [value] * LANES)

    def load(self, pointer: Any) -> Any:
        """Return the vector at an address."""
        return self.b.load(self.b.bitcast(pointer, _VECTOR.as_pointer()), align=8)

    def any_bit(self, left: Any, right: Any) -> Any:
        """Return which lanes of two vectors have a bit in common."""
        return self.b.icmp_unsigned("!=", self.b.and_(left, right), self.constant(0))

    def popcount(self, vector: Any) -> Any:
        """Return the number of set bits of each lane."""
        return self.call("llvm.ctpop.v8i64", _VECTOR, vector)

    def gather(self, base: Any, index: Any, alive: Any) -> Any:
        """Return the records at the indices that are alive, 0 elsewhere."""
        address = self.b.add(
            self.splat(self.b.ptrtoint(base, I64)), self.b.shl(index, self.constant(3))
        )
        pointers = self.b.inttoptr(address, ir.VectorType(I64.as_pointer(), LANES))
        return self.call(
            "llvm.masked.gather.v8i64.v8p0", _VECTOR, pointers, _I32(8), alive, self.constant(0)
        )

    def pack(self, pointer: Any, at: Any, vector: Any, alive: Any) -> None:
        """Store what is alive side by side."""
        packed = self.call(
            "llvm.experimental.vector.compress.v8i64", _VECTOR, vector, alive, self.constant(0)
        )
        self.b.store(
            packed, self.b.bitcast(self.b.gep(pointer, [at]), _VECTOR.as_pointer()), align=8
        )

    def count(self, alive: Any) -> Any:
        """Return how many lanes are alive."""
        bits = self.b.zext(self.b.bitcast(alive, ir.IntType(LANES)), I64)
        return self.call("llvm.ctpop.i64", I64, bits)


def pointers(context: Any, b: Any, sig: Any, arguments: Any) -> Callable[..., Any]:
    """Return a function that gives a pointer to the array at an argument of a call, or at a field
    of it.
    """

    def pointer(argument: int, field: int | None = None) -> Any:
        kind = sig.args[argument]
        value = arguments[argument]
        if field is not None:
            kind = kind.types[field]
            value = b.extract_value(value, field)
        return context.make_array(kind)(context, b, value).data

    return pointer


@intrinsic
def extend(
    typing_context: Any,
    nodes: Any,
    lanes: Any,
    queue: Any,
    cell: Any,
    record: Any,
    used: Any,
    tails: Any,
) -> Any:
    """Pack what goes on from one path to the queue and the hits; return the new queue length |
    number of hits << 32.  A queue that has a fourth array gets the places of the hits there.
    """
    del typing_context
    signature = int64(nodes, lanes, queue, int64, int64, int64, int64)

    def codegen(context: Any, b: Any, sig: Any, arguments: Any) -> Any:
        v, pointer = Lanewise(b), pointers(context, b, sig, arguments)
        _, _, _, cell, record, used, tails = arguments
        row = b.mul(cell, I64(LANES))
        places, letters, around = (v.load(b.gep(pointer(1, field), [row])) for field in range(3))
        records_in, used_in = v.splat(record), v.splat(used)
        free = b.icmp_unsigned(
            "==", b.and_(b.and_(places, used_in), v.constant(CELLS_MASK)), v.constant(0)
        )
        alive = b.and_(v.any_bit(letters, records_in), free)
        below = v.popcount(b.and_(records_in, b.sub(letters, v.constant(1))))
        child = b.add(v.splat(b.lshr(record, I64(CHILD_SHIFT))), below)
        records = v.gather(pointer(0), child, alive)
        goes_on = v.any_bit(records, around)
        is_word = v.any_bit(records, v.constant(CODE_MASK))
        tail, n_hits = b.and_(tails, I64(0xFFFFFFFF)), b.lshr(tails, I64(32))
        v.pack(pointer(2, 0), tail, records, goes_on)
        v.pack(pointer(2, 1), tail, b.or_(places, used_in), goes_on)
        code = b.shl(b.and_(records, v.constant(CODE_MASK)), v.constant(32 - CODE_SHIFT))
        v.pack(pointer(2, 2), n_hits, b.or_(child, code), is_word)
        if len(sig.args[2].types) > len(Queue._fields):
            v.pack(pointer(2, 3), n_hits, b.or_(places, used_in), is_word)
        return b.add(tails, b.or_(v.count(goes_on), b.shl(v.count(is_word), I64(32))))

    return signature, codegen


LANES_TYPE = types.NamedUniTuple(writable(int64, 2), 3, Lanes)
_QUEUE = types.NamedUniTuple(writable(int64), 3, Queue)


@kernel(
    int64(*SIGNATURE_ARRAYS, LANES_TYPE, _QUEUE, writable(uint8), writable(int64), writable(int32))
)
def score_boards_simd(
    nodes: Any, points: Any, neighbour_masks: Any, boards: Any, lanes: Lanes, queue: Queue,
    seen: Any, generation: Any, out: Any,
) -> int:  # fmt: skip
    """Fill ``out`` with the scores of ``boards``; return how many are done (fewer when a board
    outgrows the queue).

    ``seen`` and ``generation`` as in the portable kernel.
    """
    n_boards, n = boards.shape
    around = np.zeros(MAX_CELLS, np.int64)
    for b in range(n_boards):
        tails = 0
        for cell in range(n):
            bit = 1 << int64(boards[b, cell])
            letters = 0
            for lane in range(LANES):
                place = lanes.places[cell, lane]
                if place >= 0:
                    other = 1 << int64(boards[b, place >> PLACE_SHIFT])
                    lanes.letters[cell, lane] = other
                    letters |= other
            around[cell] = letters
            if nodes[0] & bit:
                child = (nodes[0] >> CHILD_SHIFT) + popcount(nodes[0] & (bit - 1))
                tail = tails & 0xFFFFFFFF
                queue.records[tail] = nodes[child]
                queue.places[tail] = (cell << PLACE_SHIFT) | (1 << cell)
                tails += 1
                if nodes[child] & CODE_MASK:
                    queue.hits[tails >> 32] = (
                        (nodes[child] & CODE_MASK) << (32 - CODE_SHIFT)
                    ) | child
                    tails += 1 << 32
        for cell in range(n):
            for lane in range(LANES):
                place = lanes.places[cell, lane]
                if place >= 0:
                    lanes.around[cell, lane] = around[place >> PLACE_SHIFT]
        head = 0
        while head < tails & 0xFFFFFFFF:
            if tails & 0xFFFFFFFF > CAPACITY or tails >> 32 > CAPACITY:
                return b
            place = queue.places[head]
            record = queue.records[head]
            tails = extend(
                nodes, lanes, queue, place >> PLACE_SHIFT, record, place & CELLS_MASK, tails
            )
            head += 1
        current = next_generation(seen, generation)
        score = 0
        for i in range(tails >> 32):
            node = queue.hits[i] & 0xFFFFFFFF
            score += points[queue.hits[i] >> 32] * (seen[node] != current)
            seen[node] = current
        out[b] = score
    return n_boards
