"""Names of the types of arrays, for signatures."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Reals = NDArray[np.floating[Any]]  # float32, or float64
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Bools = NDArray[np.bool_]
Rows = NDArray[np.signedinteger[Any]]  # numbers of rows: int32, or int64 for long data
