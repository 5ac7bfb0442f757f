"""Letter sums: adding the bounds of a choice to the sums of its level, the innermost step of OrderlyBound.

A row holds the sums of one level, a value per letter, padded to ``ROW``.  The bounds of a choice lie together, only
those of the letters it has.  On AVX-512 machines they are spread to the places of their letters, added and compared in
a few vector instructions (generic LLVM ones: llvm.masked.expandload, llvm.vector.reduce.smax); elsewhere, and with JIT
off, a loop over the letters does the same.  Adding to the row of another depth copies it on the way, so a level that a
state does not touch is never copied.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from boardclass.jit import kernel, read_only, writable
from search.bits import lowest_bit
from search.trees.tree import BOUND_TYPES

ROW = 32  # letters 0..25, padded to whole vectors


def supported() -> bool:
    """Return whether this machine spreads and adds vectors fast."""
    if config.DISABLE_JIT or config.CPU_NAME:
        return False
    features = llvm.get_host_cpu_features()
    return all(features.get(name, False) for name in ("avx512f", "avx512bw", "avx512vl", "avx512vbmi2"))


@kernel([
    types.int64(writable(types.int32), types.int64, types.int64, read_only(bound), types.int64, types.int64)
    for bound in BOUND_TYPES
])  # fmt: skip
def add_one_by_one(sums, source, target, bounds, at, letters):  # type: ignore[no-untyped-def]
    """Set ``sums[target : target + ROW]`` to the row at ``source`` plus a choice; return the largest of it.

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


@intrinsic
def add_as_vector(typing_context: Any, sums: Any, source: Any, target: Any, bounds: Any, at: Any, letters: Any) -> Any:
    """Do what :func:`add_one_by_one` does in vector instructions."""
    if not (isinstance(sums, types.Array) and isinstance(bounds, types.Array)):
        return None
    signature = types.int64(sums, types.int64, types.int64, bounds, types.int64, types.int64)
    width = bounds.dtype.bitwidth

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        i32, i64 = ir.IntType(32), ir.IntType(64)
        row, entries, mask_type = (ir.VectorType(ir.IntType(n), ROW) for n in (32, width, 1))

        def place(number: int, index: Any) -> Any:
            data = context.make_array(sig.args[number])(context, builder, args[number]).data
            return builder.gep(data, [index])

        def call(name: str, result: Any, *values: Any) -> Any:
            kind = ir.FunctionType(result, [value.type for value in values])
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)

        mask = builder.bitcast(builder.trunc(args[5], i32), mask_type)
        spread = call(
            f"llvm.masked.expandload.v{ROW}i{width}", entries, place(3, args[4]), mask, ir.Constant(entries, [0] * ROW)
        )
        added = builder.sext(spread, row) if width < 32 else spread
        old = builder.load(builder.bitcast(place(0, args[1]), row.as_pointer()))
        old.align = 4
        new = builder.add(old, added)
        builder.store(new, builder.bitcast(place(0, args[2]), row.as_pointer())).align = 4
        return builder.sext(call(f"llvm.vector.reduce.smax.v{ROW}i32", i32, new), i64)

    return signature, codegen


add_letters = add_as_vector if supported() else add_one_by_one
