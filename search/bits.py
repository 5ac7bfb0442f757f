"""Bit instructions for kernels: count, lowest and highest set bit, each one machine instruction.

numba offers none of the three, so they are LLVM intrinsics; with JIT off (NUMBA_DISABLE_JIT=1)
plain Python stands in.

>>> machine_has()  # nothing in particular
True
"""

from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import config, int64, types, void
from numba.core import cgutils
from numba.extending import intrinsic


def machine_has(*features: str) -> bool:
    """Return whether this machine has vector instructions, and code is compiled for this
    machine.
    """
    if config.DISABLE_JIT or config.CPU_NAME:
        return False
    offered = llvm.get_host_cpu_features()
    return all(offered.get(name, False) for name in features)


def call(builder: Any, name: str, result: Any, *values: Any) -> Any:
    """Call an LLVM intrinsic by name, from the code of an intrinsic of numba."""
    kind = ir.FunctionType(result, [value.type for value in values])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)


def _unary(name: str, has_zero_flag: bool) -> Any:
    """Return an intrinsic int64 -> int64 around ``llvm.<name>.i64``; one that counts zeros takes no
    0.
    """

    @intrinsic
    def apply(typing_context: Any, value: Any) -> Any:
        if not isinstance(value, types.Integer):
            return None
        signature = int64(int64)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            flag = [ir.Constant(ir.IntType(1), 1)] * has_zero_flag
            return call(builder, f"llvm.{name}.i64", ir.IntType(64), args[0], *flag)

        return signature, codegen

    return apply


@intrinsic
def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Prefetch the cache line of ``array[index]`` (one dimension, C-contiguous); a hint only."""
    if not isinstance(array, types.Array) or not isinstance(index, types.Integer):
        return None

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        how = [ir.Constant(ir.IntType(32), x) for x in (0, 3, 1)]  # to read, into all caches, data
        call(builder, "llvm.prefetch.p0", ir.VoidType(), pointer, *how)
        return context.get_dummy_value()

    return void(array, int64), codegen


if config.DISABLE_JIT:

    def prefetch(array: Any, index: int) -> None:
        """Do nothing: only kernels profit."""

    def popcount(value: int) -> int:
        """Return the number of set bits of a 64-bit value."""
        return (int(value) & 0xFFFFFFFFFFFFFFFF).bit_count()

    def lowest_bit(value: int) -> int:
        """Return the index of the lowest set bit of a 64-bit value that is not 0."""
        return ((int(value) & -int(value)) & 0xFFFFFFFFFFFFFFFF).bit_length() - 1

    def leading_zeros(value: int) -> int:
        """Return the number of zero bits above the highest set bit of a 64-bit value that is
        not 0.
        """
        return 64 - (int(value) & 0xFFFFFFFFFFFFFFFF).bit_length()

else:
    prefetch = _prefetch
    popcount = _unary("ctpop", False)
    lowest_bit = _unary("cttz", True)
    leading_zeros = _unary("ctlz", True)
