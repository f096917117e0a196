"""Names for the arrays that pass between rooms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]
Bools = NDArray[np.bool_]

# scipy's sparse classes carry no useful static type across the versions we support.
Sparse = Any
