"""Pairs that last: what a look found, and where every vertex may be until a pair that it did not find could touch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShellError
from ..linalg.vectors import by_columns
from ..types import Bools, Floats
from .bodies import Bodies
from .candidates import Candidates, of_meshes


class Lasting:
    """The last look of one kind of contact, of the first `size` vertices of the stack."""

    name = ""
    """Of its arrays in a saved state."""

    def __init__(self, bodies: Bodies, size: int) -> None:
        self.bodies = bodies
        self.size = size
        self.found: Candidates | None = None
        """Pairs of the last look; None before the first."""
        self._low: Floats | None = None
        self._high: Floats | None = None

    @property
    def complete(self) -> bool:
        """Whether `found` is complete while all vertices are in their boxes."""
        return self._low is not None

    def last(self, low: Floats, high: Floats) -> None:
        """What was found is complete while coordinates are between `low` and `high`, (size, 3) each [m]."""
        self._low, self._high = low, high

    def lapse(self) -> None:
        """What was found may be incomplete from now on."""
        self._low = self._high = None

    def outside(self, *places: Floats) -> Bools:
        """Vertices that are out of their boxes in any of some `places` (total, 3), (size,)."""
        assert self._low is not None and self._high is not None
        outside = np.zeros(self.size, dtype=bool)
        for x in places:
            part = x[: self.size]
            outside |= ((part < self._low) | (part > self._high)).any(axis=1)
        return outside

    def nothing_near(self, *places: Floats) -> bool:
        """Whether nothing was found, and nothing can have come on straight ways between `places` (total, 3)."""
        return self.found is not None and len(self.found) == 0 and self.complete and not self.outside(*places).any()

    def kept(self) -> dict[str, Any]:
        """Plain arrays for a saved state."""
        if self.found is None:
            return {}
        kept: dict[str, Any] = {
            "faces": self.found.vertex_face.astype(np.int32),
            "edges": self.found.edge_edge.astype(np.int32),
        }
        if self.complete:
            kept |= {"low": self._low, "high": self._high}
        return {f"{self.name}_{key}": value for key, value in kept.items()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what `kept` gave."""
        if f"{self.name}_faces" not in saved:
            return
        faces, edges = (np.array(saved[f"{self.name}_{key}"], dtype=np.int64) for key in ("faces", "edges"))
        for rows in (faces, edges):
            if rows.ndim != 2 or rows.shape[1] != 4 or not ((rows >= 0) & (rows < self.bodies.total)).all():
                self._refuse()
        self.found = of_meshes(faces, edges)
        if f"{self.name}_low" in saved:
            low, high = (by_columns(np.array(saved[f"{self.name}_{key}"], dtype=np.float64)) for key in ("low", "high"))
            if not low.shape == high.shape == (self.size, 3):
                self._refuse()
            self.last(low, high)

    def _refuse(self) -> None:
        raise ShellError(f"resume: {self.name}_… does not fit the meshes; is it a state of this scene?")
