"""The types of numpy arrays, by what they hold; shapes are told where an array is used."""

import numpy as np
from numpy.typing import NDArray

Int8s = NDArray[np.int8]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
UInt8s = NDArray[np.uint8]
UInt32s = NDArray[np.uint32]
UInt64s = NDArray[np.uint64]
Float64s = NDArray[np.float64]
