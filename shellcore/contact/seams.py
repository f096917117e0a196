"""Sewn vertices: they start at distance zero, so they do not touch each other until their seam has opened.

A seam that has been released may lie closed or crossed, where contact could only lock it. So a vertex of it touches
again from the frame on in which it is further than the contact distance from all that it was exempt from, and none of
its faces intersects another.
"""

from __future__ import annotations

import numpy as np

from ..scene import Scene
from ..types import Bools, Floats
from .bodies import Bodies
from .candidates import Candidates
from .intersections import intersections
from .pairs import Pairs


class Seams:
    """Vertices of attachments. `exempt` (total,): those of the stack that do not touch each other."""

    def __init__(self, scene: Scene, bodies: Bodies) -> None:
        self._bodies = bodies
        offsets = scene.offsets()
        self.exempt: Bools = np.zeros(bodies.total, dtype=bool)
        self._release = np.full(bodies.total, -np.inf)
        for tie in scene.attachments:
            for shell, vertices in zip(tie.shells, tie.vertices, strict=True):
                at = next(k for k, mine in enumerate(scene.shells) if mine is shell)
                self.exempt[vertices + offsets[at]] = True
                np.maximum.at(self._release, vertices + offsets[at], tie.release)

    def open(self, near: Candidates, x: Floats, t: float) -> bool:
        """Let vertices touch whose seam has been released by t [s] and has opened at x (total, 3); whether there were
        any. `near`: all pairs of meshes that may be within the contact distance."""
        released = self.exempt & (self._release <= t)
        if not released.any():
            return False
        bodies = self._bodies
        pairs = Pairs(bodies, near.within(self.exempt), x)
        touching = np.flatnonzero(pairs.distance <= bodies.half[pairs.corners[0]] + bodies.half[pairs.corners[3]])
        stuck = np.zeros(bodies.total, dtype=bool)
        stuck[pairs.corners[:, touching]] = True
        faces = bodies.shell_surface.faces
        around = faces[self.exempt[faces].any(axis=1)]
        stuck[around[intersections(x[: bodies.count], around)]] = True
        self.exempt = self.exempt & ~(released & ~stuck)
        return bool((released & ~stuck).any())
