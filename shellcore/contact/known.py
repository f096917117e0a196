"""Which pairs are known: candidates of the broad phase for the way under way, without those that may not touch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShellError
from ..scene import Scene
from ..types import Bools, Floats
from .bodies import Bodies
from .candidates import NONE, Candidates
from .mesh_pairs import MeshPairs
from .passing import Passing
from .seams import Seams
from .shell_pairs import ShellPairs
from .solid_pairs import SolidPairs
from .tree import BoxTree

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
        mesh = bodies.mesh_surface
        analytic = not bodies.together and mesh is None
        self._least = self._margin = (MARGIN_ALONE if analytic else MARGIN) * edge
        self._widest = 0.0 if analytic else WIDEST * edge
        # What may press unforeseen has a row in time: a force met when it is already large adds energy (a sheet with
        # an explicit membrane flew off in steps of 1 ms where this was a seventh).
        self.near = (0.5 if analytic else 2.0 * np.sqrt(3.0)) * self._margin
        """Distance [m] beyond the reach of a force from which pairs are looked out for."""
        tree = None if analytic else BoxTree.over(stack[bodies.shell_surface.faces].mean(axis=1))
        self._half = float(bodies.half[: bodies.count].max())
        self._solids = SolidPairs(bodies)
        self._shells = ShellPairs(bodies, tree) if bodies.together and tree else None
        self._meshes = MeshPairs(bodies, mesh, tree, stack, edge) if mesh and tree else None
        self._lists: list[ShellPairs | MeshPairs] = [kind for kind in (self._shells, self._meshes) if kind is not None]
        self._candidates: Candidates | None = None
        # Pairs of shells for the way that was asked for last.
        self._own = NONE
        self._seams = Seams(scene, bodies)
        self._sewn = bool(scene.attachments)
        self.passing: Passing | None = None
        """Faces that intersected at the start and may cross."""
        self.builds = 0
        """Looks at all shells or all meshes since this was last set to zero."""

    @property
    def candidates(self) -> Candidates:
        """What may meet on the way that was asked for last."""
        assert self._candidates is not None
        return self._candidates

    def begin(self, stack: Floats, move: Floats, other: Floats) -> None:
        """Candidates to begin with, for a way from `stack` by something between `move` and `other`, all (total, 3).

        Of pairs of shells those that the last step found: they last longer than those of a sheet that comes down on a
        collider, of which the last step knew half (1.0 instead of 1.75 rounds and 29 instead of 39 gradients a step of
        a drape of 6.4k vertices).
        """
        wide = LASTING * float(np.abs(move).max())
        self._margin = wide if self._least < wide < self._widest else self._least
        found = self._solids.look(stack, move, self._margin, self._half)
        if self._shells is not None:
            if self._shells.found is None:
                self._look_at_shells(stack, move)
            elif self._shells.complete and self._shells.outside(stack, stack + move).any():
                self._shells.lapse()
            assert self._shells.found is not None
            self._own = self._shells.found
            found = found.joined(self._own)
        meshes = self._meshes
        if meshes is not None:
            ends = stack + move, stack + other
            if meshes.found is None or not meshes.complete or meshes.outside(stack, *ends).any():
                self.builds += 1
                meshes.look(stack, move, other)
            assert meshes.found is not None
            found = found.joined(meshes.found)
        self._candidates = self._allowed(found)

    def nothing_near(self, start: Floats, end: Floats) -> bool:
        """Whether it is known that nothing meets on the straight way from `start` to `end`, (total, 3) each."""
        return self._solids.nothing_near(start, end) and all(kind.nothing_near(start, end) for kind in self._lists)

    def build(self, stack: Floats, move: Floats) -> None:
        """Have candidates, all sought anew, for the way from `stack` to stack + move."""
        for kind in self._lists:
            kind.lapse()
        self.find(stack, move)

    def find(self, stack: Floats, move: Floats, looked: bool = False) -> Candidates | None:
        """Have candidates for the way from `stack` (total, 3), where the shadow is, to stack + move.

        Most vertices go about where they were expected to, and in the second round of a step where the first took them:
        only those that do not are looked up again, at a quarter of the cost. Where the candidates were `looked` at
        since this step began they stay, and what has come to them is returned; None if all of them are new.
        """
        before, simple = self._candidates, not len(self._solids)
        found = self._solids.look(stack, move, self._margin, self._half)
        shells = NONE if self._shells is None else self._news_of_shells(self._shells, stack, move)
        meshes = NONE if self._meshes is None else self._news_of_meshes(self._meshes, stack, move)
        if looked and before is not None and simple and not len(found) and shells is not None and meshes is not None:
            news = self._allowed(shells.joined(meshes))
            self._candidates = before.joined(news) if len(news) else before
            return news
        found = found.joined(self._own)
        if self._meshes is not None:
            assert self._meshes.found is not None
            found = found.joined(self._meshes.found)
        self._candidates = self._allowed(found if meshes is None else found.joined(meshes))
        return None

    def _news_of_shells(self, shells: ShellPairs, stack: Floats, move: Floats) -> Candidates | None:
        """Pairs of shells that have come to those known; None if they were all sought anew."""
        off = shells.outside(stack, stack + move) if shells.complete else None
        if off is None or off.sum() > ANEW * len(off):
            self._look_at_shells(stack, move)
            return None
        if not off.any():
            return NONE
        news = shells.around(stack, move, self._margin, off)
        self._own = self._own.joined(news)
        return news

    def _look_at_shells(self, stack: Floats, move: Floats) -> None:
        assert self._shells is not None
        self._own = self._shells.look(stack, move, self._margin)
        self.builds += 1

    def _news_of_meshes(self, meshes: MeshPairs, stack: Floats, move: Floats) -> Candidates | None:
        """The same of pairs with meshes."""
        count = self._bodies.count
        off = meshes.astray(stack, move) if meshes.complete else None
        if off is None or off[count:].any() or off.sum() > ANEW * count:
            self.builds += 1
            meshes.look(stack, move)
            return None
        return meshes.around(stack, move, off) if off.any() else NONE

    def widen(self, found: Candidates, stack: Floats, way: Floats, changed: Bools) -> Candidates:
        """Add to `found` what vertices that have `changed` (total,) their way may meet, and return that alone."""
        more = NONE
        if self._shells is not None:
            more = self._shells.around(stack, way, self._margin, changed)
        if self._meshes is not None:
            # Not only what has changed: faces of what is astray were looked up as their other corners went before.
            more = more.joined(self._meshes.around(stack, way, self._meshes.astray(stack, way)))
        more = self._allowed(more)
        self._candidates = found.joined(more)
        return more

    def _allowed(self, found: Candidates) -> Candidates:
        """Candidates without those of seams and of faces that pass through each other."""
        exempt = self._seams.exempt
        if exempt[: self._bodies.count].any():
            found = found.without(exempt)
        return found if self.passing is None else self.passing.left_out(found)

    def open_seams(self, stack: Floats, t: float) -> None:
        """Let sewn vertices touch whose seams have opened at `stack` (total, 3) by t [s]."""
        self._seams.open(self._own, stack, t)

    def forget(self, half: float) -> None:
        """Start anew for shells whose halves of contact distances are up to `half` [m]."""
        self._half, self._candidates = half, None
        for kind in self._lists:
            kind.lapse()
            kind.found, kind.half = None, half

    def kept(self) -> dict[str, Any]:
        """Plain arrays for a saved state: pairs that the next step begins with, seams that have not opened."""
        kept = {"sewn": self._seams.exempt[: self._bodies.count]} if self._sewn else {}
        kept |= {} if self.passing is None else self.passing.kept()
        for kind in self._lists:
            kept |= kind.kept()
        return kept

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what `kept` gave."""
        count = self._bodies.count
        if "sewn" in saved:
            sewn = np.array(saved["sewn"], dtype=bool)
            if sewn.shape != (count,):
                raise ShellError("resume: sewn must have one entry a vertex; is it a state of this scene?")
            self._seams.exempt[:count] &= sewn
        self.passing = Passing.restored(self._bodies, saved)
        for kind in self._lists:
            kind.restore(saved)
