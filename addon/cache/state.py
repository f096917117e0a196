"""The solver's state on disk, so that a bake can go on where it stopped."""

from pathlib import Path
from typing import Any

import numpy as np

from . import arrays
from .files import CacheError


def save(path: Path, state: dict[str, Any], frame: int, fingerprint: str) -> None:
    """Write the state after `frame`, replacing an older one in one step."""
    values = {f"state_{name}": np.asarray(value) for name, value in state.items()}
    mark = np.frombuffer(fingerprint.encode(), np.uint8)
    arrays.save(path, {"frame": np.int64(frame), "fingerprint": mark, **values})


def load(path: Path) -> tuple[dict[str, Any], int, str]:
    """State, the frame it belongs to, and the fingerprint of what it was made from."""
    try:
        read = arrays.load(path)
        frame, fingerprint = int(read.pop("frame")), bytes(read.pop("fingerprint")).decode()
    except (ValueError, KeyError, TypeError):
        raise CacheError(f"{path.name} is damaged, so the bake cannot be resumed: start a new bake") from None
    state = {name.removeprefix("state_"): array for name, array in read.items()}
    return {name: float(a) if a.ndim == 0 else a for name, a in state.items()}, frame, fingerprint
