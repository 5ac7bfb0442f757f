"""Letter sums: adding the bounds of a choice to the sums of its level, the innermost step of
OrderlyBound.

A row holds the sums of one level, a value per letter, padded to ``ROW``: of 2 bytes where no sum of
a search needs more (search.trees.state), else of 4.  The bounds of a choice lie together, only
those of the letters it has.  They are spread to the places of their letters, added and compared in
vector instructions: of 8 lanes with AVX2, where a table says for every eight letters which bound
goes where, or, for sums of 2 bytes, of 32 lanes with AVX-512.  Elsewhere, and with JIT off, a loop
over the letters does the same.  Adding to the row of another depth copies it on the way, so a level
that a state does not touch is never copied.

>>> VERSION in ("AVX-512", "AVX2", "loop")
True
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import int16, int32, int64, types
from numba.core import cgutils
from numba.extending import intrinsic

from orderly_boggle.boardclass.jit import kernel, read_only, writable
from orderly_boggle.search.bits import call, lowest_bit, machine_has

ROW = 32  # letters 0..25, padded to whole vectors
_LANES = 8
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)
SUM_TYPES = ((int16, int16), (int32, int16), (int32, int32))  # of sums and bounds


HAS_AVX512 = machine_has("avx2", "avx512f", "avx512bw", "avx512vl", "avx512vbmi2")
HAS_AVX2 = machine_has("avx2")


@kernel(
    [
        int64(writable(value), int64, int64, read_only(bound), int64, int64)
        for value, bound in SUM_TYPES
    ]
)
def add_one_by_one(sums, source, target, bounds, at, letters):  # type: ignore[no-untyped-def]
    """Set ``sums[target : target + ROW]`` to the row at ``source`` plus a choice; return the
    largest of it.

    at : where the bounds of the choice are in ``bounds``
    letters : those of the choice, a mask
    """
    if source != target:
        for x in range(ROW):
            sums[target + x] = sums[source + x]
    while letters:
        sums[target + lowest_bit(letters)] += bounds[at]
        letters &= letters - 1
        at += 1
    largest = sums[target]
    for x in range(1, ROW):
        largest = max(largest, sums[target + x])
    return largest


class _Call:
    """The arguments of one call, and the LLVM code that is made for it."""

    def __init__(self, context: Any, builder: Any, kinds: Any, values: Any) -> None:
        self.builder = builder
        self.width = kinds[3].dtype.bitwidth
        self.sum_width = kinds[0].dtype.bitwidth
        self._data = {
            n: context.make_array(kinds[n])(context, builder, values[n]).data for n in (0, 3)
        }
        self._starts = {
            "source": (0, values[1]),
            "target": (0, values[2]),
            "bounds": (3, values[4]),
        }
        self.letters = values[5]

    def place(self, what: str, offset: Any, kind: Any) -> Any:
        """Return a pointer to what lies ``offset`` elements behind the start of a row, or of the
        bounds.
        """
        number, start = self._starts[what]
        pointer = self.builder.gep(self._data[number], [self.builder.add(start, offset)])
        return self.builder.bitcast(pointer, kind.as_pointer())

    def table(self, rows: list[list[int]]) -> Any:
        """Return a pointer to rows of bytes that lie in the code."""
        row = ir.ArrayType(ir.IntType(8), len(rows[0]))
        values = ir.Constant(
            ir.ArrayType(row, len(rows)), [ir.Constant(row, numbers) for numbers in rows]
        )
        return cgutils.global_constant(self.builder.module, "spread_eight", values)

    def add(self, first: int, row: Any, added: Any) -> Any:
        """Write the sums from letter ``first`` on, with what is ``added``, to the target; return
        them.
        """
        old = self.builder.load(self.place("source", _I64(first), row))
        old.align = self.sum_width // 8
        new = self.builder.add(old, added)
        self.builder.store(new, self.place("target", _I64(first), row)).align = old.align
        return new


def _all_at_once(c: _Call) -> Any:
    """Make the code for 32 lanes of 2 bytes; return the largest sum.

    An expanding load is microcoded on Zen 4, and LLVM makes one of a load and an expanding move.
    The empty assembly between them keeps them apart.
    """
    b = c.builder
    row = ir.VectorType(ir.IntType(16), ROW)
    mask_type = ir.VectorType(ir.IntType(1), ROW)
    zero = ir.Constant(row, [0] * ROW)
    n = call(b, "llvm.ctpop.i64", _I64, c.letters)
    there = b.trunc(b.sub(b.shl(_I64(1), n), _I64(1)), _I32)  # a mask of the bounds of the choice
    packed = call(
        b,
        f"llvm.masked.load.v{ROW}i16.p0",
        row,
        c.place("bounds", _I64(0), row),
        _I32(2),
        b.bitcast(there, mask_type),
        zero,
    )
    packed = b.asm(ir.FunctionType(row, [row]), "", "=v,0", [packed], side_effect=False)
    mask = b.bitcast(b.trunc(c.letters, _I32), mask_type)
    spread = call(b, f"llvm.x86.avx512.mask.expand.v{ROW}i16", row, packed, zero, mask)
    return call(b, f"llvm.vector.reduce.smax.v{ROW}i16", ir.IntType(16), c.add(0, row, spread))


def _eight_at_once(c: _Call) -> Any:
    """Make the code for 8 lanes, four times; return the largest sum."""
    b = c.builder
    lanes = ir.VectorType(ir.IntType(c.sum_width), _LANES)
    if c.width < 32:
        rows, spread = _bytes_of_eight(), _spread_narrow
    else:
        rows, spread = _which_of_eight(), _spread_wide
    table = c.table(rows)
    octets = ir.VectorType(ir.IntType(8), len(rows[0]))
    n_before = _I64(0)
    largest = None
    for first in range(0, ROW, _LANES):
        eight = b.and_(b.lshr(c.letters, _I64(first)), _I64((1 << _LANES) - 1))
        which = b.load(b.bitcast(b.gep(table, [_I64(0), eight]), octets.as_pointer()))
        which.align = 1
        new = c.add(first, lanes, spread(c, which, n_before, lanes))
        if largest:
            largest = call(b, f"llvm.smax.v{_LANES}i{c.sum_width}", lanes, largest, new)
        else:
            largest = new
        n_before = b.add(n_before, call(b, "llvm.ctpop.i64", _I64, eight))
    return call(b, f"llvm.vector.reduce.smax.v{_LANES}i{c.sum_width}", lanes.element, largest)


def _spread_narrow(c: _Call, which: Any, n_before: Any, lanes: Any) -> Any:
    """Return bounds of 2 bytes at the places of eight letters; ``which`` is a row of
    :func:`_bytes_of_eight`.
    """
    b = c.builder
    packed = b.load(c.place("bounds", n_before, which.type))
    packed.align = 2
    spread = call(b, "llvm.x86.ssse3.pshuf.b.128", which.type, packed, which)
    spread = b.bitcast(spread, ir.VectorType(ir.IntType(16), _LANES))
    if spread.type == lanes:
        return spread
    return b.sext(spread, lanes)


def _spread_wide(c: _Call, which: Any, n_before: Any, lanes: Any) -> Any:
    """Return bounds of 4 bytes at the places of eight letters; ``which`` is a row of
    :func:`_which_of_eight`.
    """
    b = c.builder
    zero = ir.Constant(lanes, [0] * _LANES)
    which = b.sext(which, lanes)
    packed = b.load(c.place("bounds", n_before, lanes))
    packed.align = 4
    return b.select(
        b.icmp_signed("<", which, zero), zero, call(b, "llvm.x86.avx2.permd", lanes, packed, which)
    )


def _bytes_of_eight() -> list[list[int]]:
    """Return for each mask of eight letters which two bytes belong to each letter; for none 128,
    which makes a zero.
    """
    which = np.repeat(_which_of_eight(), 2, axis=1)
    both = 2 * which + np.arange(2 * _LANES) % 2
    return np.where(which < 0, 128, both).tolist()


def _which_of_eight() -> list[list[int]]:
    """Return for each mask of eight letters which of its bounds belongs to each letter, -1 for
    none.
    """
    has_letter = np.arange(1 << _LANES)[:, None] >> np.arange(_LANES) & 1
    return np.where(has_letter, np.cumsum(has_letter, axis=1) - 1, -1).tolist()


def _vector_version(make: Callable[[_Call], Any], of_two_bytes: Callable[[_Call], Any]) -> Any:
    """Return an intrinsic that does what :func:`add_one_by_one` does with the code that ``make``
    makes, or another function for sums of 2 bytes.

    It may read the ``OVER`` cells behind the node as well (search.trees.tree).
    """

    @intrinsic
    def add(
        typing_context: Any, sums: Any, source: Any, target: Any, bounds: Any, at: Any, letters: Any
    ) -> Any:
        if not (isinstance(sums, types.Array) and isinstance(bounds, types.Array)):
            return None

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            c = _Call(context, builder, sig.args, args)
            return builder.sext((of_two_bytes if c.sum_width < 32 else make)(c), _I64)

        return int64(sums, int64, int64, bounds, int64, int64), codegen

    return add


add_all_at_once = _vector_version(_eight_at_once, _all_at_once)
add_eight_at_once = _vector_version(_eight_at_once, _eight_at_once)
if HAS_AVX512:
    VERSION = "AVX-512"
    add_letters = add_all_at_once
elif HAS_AVX2:
    VERSION = "AVX2"
    add_letters = add_eight_at_once
else:
    VERSION = "loop"
    add_letters = add_one_by_one
