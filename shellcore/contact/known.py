"""Which pairs are known: candidates of the broad phase for the way under way, without those that may not touch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShellError
from ..scene import Scene
from ..types import Bools, Floats
from .bodies import Bodies
from .candidates import NONE, BroadPhase, Candidates
from .passing import Passing
from .seams import Seams

# Broad phase margin as a share of the mean edge: with sheets or meshes to meet, and with planes and spheres only. What
# comes nearer than that unforeseen is met in another round; a margin of ¼ instead spared none of them and cost a
# drape of 6.4k vertices with self-contact 0.66 instead of 0.40 s a frame.
MARGIN, MARGIN_ALONE = 0.04, 1.0
# Where things move slowly the margin is this many times the way of a step, up to that share of the mean edge: what is
# found lasts for many steps (an explicit step of 400 vertices with self-contact took 14 ms when each looked anew).
LASTING, WIDEST = 20.0, 0.15
# Share of vertices that have gone astray from which candidates are sought anew.
ANEW = 0.25


class Known:
    """Candidates from one look to the next. `stack` (total, 3): where things start; `edge` [m]: a mean edge."""

    def __init__(self, scene: Scene, bodies: Bodies, stack: Floats, edge: float) -> None:
        self._bodies = bodies
        analytic = not bodies.together and bodies.mesh_surface is None
        self._least = self._margin = (MARGIN_ALONE if analytic else MARGIN) * edge
        self._widest = 0.0 if analytic else WIDEST * edge
        # What may press unforeseen has a row in time: a force met when it is already large adds energy (a sheet with
        # an explicit membrane flew off in steps of 1 ms where this was a seventh).
        self.near = (0.5 if analytic else 2.0 * np.sqrt(3.0)) * self._margin
        """Distance [m] beyond the reach of a force from which pairs are looked out for."""
        self._broad = BroadPhase(bodies, stack)
        self._candidates: Candidates | None = None
        self._built_at: Floats | None = None
        self._met = NONE
        self._seams = Seams(scene, bodies)
        self._sewn = bool(scene.attachments)
        self.passing: Passing | None = None
        """Faces that intersected at the start and may cross."""
        self.builds = 0
        """Broad phases since this was last set to zero."""

    @property
    def candidates(self) -> Candidates:
        """What may meet on the way that was asked for last."""
        assert self._candidates is not None
        return self._candidates

    def begin(self, stack: Floats, move: Floats) -> None:
        """What the last step found, for a way from `stack` by about `move`, both (total, 3): enough to begin with."""
        wide = LASTING * float(np.abs(move).max())
        self._margin = wide if self._least < wide < self._widest else self._least
        self._take(stack, self._broad.glance(stack, move, self._margin))
        self._met = NONE if self._broad.known is None else self._broad.known

    def nothing_near(self, *places: Floats) -> bool:
        """Whether it is known that nothing meets on straight ways between `places` (total, 3)."""
        return self._broad.nothing_near(*places)

    def build(self, stack: Floats, move: Floats) -> None:
        """Have candidates, all sought anew, for the way from `stack` to stack + move."""
        self._take(stack, self._broad.build(stack, move, self._margin))
        self._met = NONE if self._broad.known is None else self._broad.known
        self.builds += 1

    def find(self, stack: Floats, move: Floats) -> None:
        """Have candidates for the way from `stack` (total, 3), where the shadow is, to stack + move.

        In the second round of a step most vertices are where the first took them and are to stay near: only those
        that are not are looked up again, at a quarter of the cost.
        """
        broad, count = self._broad, self._bodies.count
        off = broad.off(stack, stack + move)
        if broad.margin < 0 or off[count:].any() or off.sum() > ANEW * count:
            self.build(stack, move)
        elif not (self._built_at is stack and not off.any()):
            self._met = self._met.joined(broad.around(stack, move, self._margin, off))
            self._take(stack, broad.solids(stack, move, self._margin).joined(self._met))

    def widen(self, found: Candidates, stack: Floats, way: Floats, changed: Bools) -> Candidates:
        """Add to `found` what vertices that have `changed` (total,) their way may meet, and return that alone."""
        more = self._allowed(self._broad.around(stack, way, self._margin, changed))
        self._candidates = found.joined(more)
        return more

    def _take(self, stack: Floats, found: Candidates) -> None:
        """Candidates of a way that starts at `stack`."""
        self._built_at = stack
        self._candidates = self._allowed(found)

    def _allowed(self, found: Candidates) -> Candidates:
        """Candidates without those of seams and of faces that pass through each other."""
        exempt = self._seams.exempt
        if exempt[: self._bodies.count].any():
            found = found.without(exempt)
        return found if self.passing is None else self.passing.left_out(found)

    def open_seams(self, stack: Floats, t: float) -> None:
        """Let sewn vertices touch whose seams have opened at `stack` (total, 3) by t [s]."""
        if self._seams.open(self._met, stack, t):
            self._built_at = None

    def forget(self, half: float) -> None:
        """Start anew for shells whose halves of contact distances are up to `half` [m]."""
        self._candidates, self._built_at = None, None
        self._broad.widen(half)

    def kept(self) -> dict[str, Any]:
        """Plain arrays for a saved state: pairs that the next step begins with, seams that have not opened."""
        known = self._broad.known
        kept = {"sewn": self._seams.exempt[: self._bodies.count]} if self._sewn else {}
        kept |= {} if self.passing is None else self.passing.kept()
        if known is None:
            return kept
        near = {"near_faces": known.vertex_face.astype(np.int32), "near_edges": known.edge_edge.astype(np.int32)}
        return near | kept | self._broad.kept()

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what `kept` gave."""
        count, total = self._bodies.count, self._bodies.total
        if "sewn" in saved:
            sewn = np.array(saved["sewn"], dtype=bool)
            if sewn.shape != (count,):
                raise ShellError("resume: sewn must have one entry a vertex; is it a state of this scene?")
            self._seams.exempt[:count] &= sewn
        self.passing = Passing.restored(self._bodies, saved)
        if "near_faces" not in saved or not self._broad.meshes:
            return
        faces, edges = (np.array(saved[name], dtype=np.int64) for name in ("near_faces", "near_edges"))
        for rows in (faces, edges):
            if rows.ndim != 2 or rows.shape[1] != 4 or not ((rows >= 0) & (rows < total)).all():
                raise ShellError("resume: near_faces, near_edges do not fit the meshes; is it a state of this scene?")
        self._broad.restore(Candidates(faces, edges, np.zeros((0, 3)), np.zeros(len(faces))), saved)
