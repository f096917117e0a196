"""What can go wrong, said in words a user can act on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class ShellError(ValueError):
    """Bad input. The message names the vertex, edge, face or argument at fault and what to do.

    `vertices`, `edges` and `faces` hold the indices at fault, so that a caller can select them.
    """

    def __init__(
        self,
        message: str,
        *,
        vertices: Iterable[int] = (),
        edges: Iterable[tuple[int, int]] = (),
        faces: Iterable[int] = (),
    ) -> None:
        super().__init__(message)
        self.vertices = [int(v) for v in vertices]
        self.edges = [(int(a), int(b)) for a, b in edges]
        self.faces = [int(f) for f in faces]


class StepFailed(RuntimeError):
    """A time step did not converge even at the smallest step; frames yielded so far stay valid.

    `time` is the simulated time [s] reached; `state` resumes from there (see `simulate`).
    """

    def __init__(self, message: str, *, time: float = 0.0, state: Any = None) -> None:
        super().__init__(message)
        self.time = time
        self.state = state


class ShellWarning(UserWarning):
    """Valid input that leaves a model's range of validity; said once, before the run."""


def listed(indices: Iterable[int], most: int = 5) -> str:
    """'3, 8, 12 and 40 more': a few indices for an error message."""
    items = [str(int(i)) for i in indices]
    if len(items) <= most:
        return ", ".join(items)
    return ", ".join(items[:most]) + f" and {len(items) - most} more"
