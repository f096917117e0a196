"""Broad phase of shells with planes and spheres."""

from __future__ import annotations

import numpy as np

from ..types import Floats, Ints
from .bodies import Bodies
from .candidates import NOTHING, Candidates
from .lasting import Lasting
from .moving import Moving, Way
from .tree import Boxes


class SolidPairs(Lasting):
    """Pairs with planes and spheres, found anew in every step: that costs little."""

    def __init__(self, bodies: Bodies) -> None:
        super().__init__(bodies, bodies.total)

    def __len__(self) -> int:
        """How many were found last."""
        return 0 if self.found is None else len(self.found)

    def look(self, x: Floats, move: Floats, margin: float, half: float) -> Candidates:
        """Find all pairs for the way from x (total, 3) to x + move, any part of it, and then within `margin` [m].

        `half` [m]: largest half of shells' contact distances.
        """
        faces: list[Ints] = []
        radii: list[Floats] = []
        normals = self._planes(x, move, margin, half, faces, radii)
        self._spheres(x, move, margin + half, faces, radii)
        self.found = Candidates(
            np.concatenate([NOTHING, *faces]), NOTHING, normals, np.concatenate([np.zeros(0), *radii])
        )
        end = x + move
        self.last(end - margin, end + margin)
        return self.found

    def _planes(
        self, x: Floats, move: Floats, margin: float, half: float, faces: list[Ints], radii: list[Floats]
    ) -> Floats:
        """Vertices that may reach a plane, on any part of their way: least of the heights at its ends."""
        bodies, found = self.bodies, []
        for at, normal in zip(bodies.planes_at, bodies.normals, strict=True):
            height = (x[: bodies.count] - x[at]) @ normal
            # A vertex that is cut short stays behind anywhere between.
            raised = height - move[at] @ normal
            height = np.minimum(np.minimum(height, raised), raised + move[: bodies.count] @ normal)
            near = np.flatnonzero(height <= 2.0 * np.sqrt(3.0) * margin + 4.0 * half)
            faces.append(np.column_stack([near, np.full((len(near), 3), at)]))
            radii.append(np.zeros(len(near)))
            found.append(np.broadcast_to(normal, (len(near), 3)))
        return np.concatenate([np.zeros((0, 3)), *found])

    def _spheres(self, x: Floats, move: Floats, wide: float, faces: list[Ints], radii: list[Floats]) -> None:
        """Faces that may reach a sphere, on any part of their way, and their corners."""
        if len(self.bodies.spheres_at) == 0:
            return
        corners = self.bodies.shell_surface.faces
        boxes = Moving(self.bodies.shell_surface, Way(x, move), wide).faces.from_rest()
        for at, radius in zip(self.bodies.spheres_at, self.bodies.radii, strict=True):
            ball = Boxes.of(x, move, np.array([[at]]), wide + radius)
            near = boxes.meet(np.arange(len(corners)), ball, np.zeros(len(corners), dtype=int))
            # Corners as well: where a face rolls over the ball, the nearest point leaps from one to another.
            ends = np.unique(corners[near])
            faces.append(np.column_stack([ends, np.full((len(ends), 3), at)]))
            faces.append(np.column_stack([np.full(len(near), at), corners[near]]))
            radii.append(np.full(len(ends) + len(near), radius))
