"""The comparison with the cutoff, compiled for kernels; the rule stands in ``cutoff.py``."""

from __future__ import annotations

from boardclass import cutoff
from boardclass.jit import kernel

reaches = kernel("boolean(int64, int64)")(cutoff.reaches)
