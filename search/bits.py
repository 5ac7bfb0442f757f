"""Bit instructions for kernels: count, lowest and highest set bit, each one machine instruction.

numba offers none of the three, so they are LLVM intrinsics; with JIT off (NUMBA_DISABLE_JIT=1) plain Python stands in.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic


def _unary(name: str, has_zero_flag: bool) -> Any:
    """Return an intrinsic int64 -> int64 around ``llvm.<name>.i64``; where it counts zeros, never call it with 0."""

    @intrinsic
    def apply(typing_context: Any, value: Any) -> Any:
        if not isinstance(value, types.Integer):
            return None
        signature = types.int64(types.int64)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            i64 = ir.IntType(64)
            arguments = [i64, ir.IntType(1)] if has_zero_flag else [i64]
            function = builder.module.declare_intrinsic(f"llvm.{name}", (i64,), ir.FunctionType(i64, arguments))
            return builder.call(function, [args[0], ir.Constant(ir.IntType(1), 1)] if has_zero_flag else [args[0]])

        return signature, codegen

    return apply


if config.DISABLE_JIT:

    def popcount(value: int) -> int:
        """Return the number of set bits of a 64-bit value."""
        return (int(value) & 0xFFFFFFFFFFFFFFFF).bit_count()

    def lowest_bit(value: int) -> int:
        """Return the index of the lowest set bit of a 64-bit value that is not 0."""
        return ((int(value) & -int(value)) & 0xFFFFFFFFFFFFFFFF).bit_length() - 1

    def leading_zeros(value: int) -> int:
        """Return the number of zero bits above the highest set bit of a 64-bit value that is not 0."""
        return 64 - (int(value) & 0xFFFFFFFFFFFFFFFF).bit_length()

else:
    popcount = _unary("ctpop", False)
    lowest_bit = _unary("cttz", True)
    leading_zeros = _unary("ctlz", True)
