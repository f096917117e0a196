"""Names for the arrays that pass between rooms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]
Bools = NDArray[np.bool_]

Amount = float | Callable[[float], float]
"""A number, or a function of time [s] to one."""

# scipy's sparse classes carry no useful static type across the versions we support.
Sparse = Any
