"""Numbers as colours, readable by the colour-blind."""

from typing import Any

import numpy as np

# Compression blue, nothing grey, tension orange; and dark to bright for what has no sign.
SIGNED = np.array([[0.10, 0.25, 0.75], [0.35, 0.60, 0.90], [0.85, 0.85, 0.85], [0.95, 0.65, 0.25], [0.75, 0.20, 0.05]])
GROWING = np.array([[0.10, 0.05, 0.30], [0.25, 0.25, 0.55], [0.15, 0.55, 0.55], [0.50, 0.78, 0.35], [0.98, 0.90, 0.20]])


def ramp(values: Any, largest: float, signed: bool) -> Any:
    """RGBA, (n, 4), of values (n,); `largest` gets the strongest colour, 0: the largest there is."""
    values = np.nan_to_num(np.asarray(values, dtype=np.float64))
    top = largest if largest > 0 else float(np.abs(values).max(initial=0.0)) or 1.0
    share = np.clip(values / top, -1.0, 1.0)
    place = 2.0 * (share + 1.0) if signed else 4.0 * np.abs(share)
    table = SIGNED if signed else GROWING
    low = np.minimum(place.astype(np.int64), 3)
    part = (place - low)[:, None]
    return np.column_stack([table[low] * (1 - part) + table[low + 1] * part, np.ones(len(values))])
