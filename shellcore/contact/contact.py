"""Contact of a scene: an energy for the solvers and a bound on their steps.

A step goes: `begin_step` (where colliders go, how stiff, friction from the forces at the start), `predict` (the guess,
with what is in the way pushed along), then rounds of: the solver minimises with nearest points and normals frozen
(`Frozen`), and `follow` takes the shadow of the step, which never crosses anything, as far as it can towards the
solver's answer (`Shadow`). When the shadow arrives and a fresh look changes nothing, the step is done; its end is the
shadow's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dynamics.stage import Stage
from ..linalg.vectors import by_columns, inner
from ..scene import Scene
from ..types import Bools, Floats
from .bodies import Bodies
from .bound import HALVINGS, pushed, unsafe
from .fans import unfolded
from .frozen import Frozen
from .known import Known
from .lips import Lips
from .normal_cones import NormalCones
from .passing import Passing
from .rows import Rows
from .shadow import GLIMPSES, PUSHES, Shadow
from .start import found_at, passing, refuse
from .strength import Strength
from .untangle import Untangling

# A vertex that ends further than this share of a mean edge from where the solver had it is caught: another round. One
# of thousands does not show in a mean, and edges of drapes on themselves were crushed by up to 80% for a frame.
CAUGHT = 0.1
# Share of the last acceleration in how far things are looked for: what lies on something does not fall freely. With
# 0.65, as in the solver's guess, a drape of 1.6k / 6.4k vertices takes 34 / 82 instead of 37 / 93 ms a frame.
HELD_UP = 0.65
# Rounds of pushing what would collide out of the way for a guess, where no pin is in the way: with 5 a drape of 1.6k
# vertices takes 42 instead of 37 ms a frame.
GLANCES = 1


class Contact(Frozen):
    """All contacts of a scene. `mass` [kg], (n,); `free` (n, 3): components that no pin holds.

    `start`, `at` (n, 3): where the run starts, and where it is, which differ after a cut.
    """

    def __init__(self, scene: Scene, mass: Floats, free: Bools, start: Floats, at: Floats) -> None:
        bodies = Bodies(scene)
        super().__init__(bodies)
        self._scene = scene
        self.exists = bodies.together or bool(scene.colliders)
        self._strength = Strength(scene, bodies, mass)
        self._fixed: Bools = ~free
        self._held: Bools = np.asarray(self._fixed.any(axis=1))
        edges = bodies.shell_surface.edges
        edge = start[edges[:, 1]] - start[edges[:, 0]]
        self._edge = float(np.sqrt(np.einsum("ij,ij->i", edge, edge)).mean())
        # In the order in which the broad phase finds pairs their forces are added up: it must be that of a resumed run.
        self._known = Known(scene, bodies, _stacked(start, self._goal), self._edge)
        # Who gives way when pushed: first what is free, then pins too; colliders never.
        solid = np.zeros(bodies.total - bodies.count)
        yielding = [np.concatenate([1.0 * ~self._held, solid]), np.concatenate([np.ones(len(mass)), solid])]
        self._shadow = Shadow(bodies, self._known, _stacked(at, self._goal), yielding)
        meshes = bodies.mesh_surface
        self._sharp = False
        self._cones = None if meshes is None else NormalCones(meshes, bodies.total - _mesh_vertices(bodies))
        self.tangled = 0
        """Intersections at the start that were let be, or that planes and spheres have yet to push out."""
        self.untangled = 0
        """Pairs of faces that intersected at the start and were moved apart."""
        self.late = False
        """Whether colliders have not reached the end of their step."""
        self.report: dict[str, Any] = {}
        self.new_report()

    @property
    def blocked(self) -> str:
        """What keeps the shadow from arriving, in words."""
        return self._shadow.blocked

    def check_start(self, x: Floats, t: float) -> Floats:
        """Where to start at time t [s] instead of x (n, 3): there, unless tangled sheets are to be moved apart.

        Raises if there are intersections and the scene does not say what to do.
        """
        if not self.exists:
            return x
        surface, depth = self.bodies.shell_surface, 0.5 * float(self.bodies.half[: self._count].min())
        # Leaving smooth neighbours out takes a sheet of 100k vertices from 8 to 2 s.
        smooth = unfolded(surface.faces, surface.inner, x, None, 0.0) if self.bodies.together else None
        found = found_at(self._scene, x, t, depth, smooth)
        if found.count == 0:
            return x
        how, before = self._scene.intersections, len(found.shells) + len(found.meshes)
        if how == "error":
            refuse(self._scene, found)
        if how == "untangle" and before:
            stack = _stacked(x, self.bodies.place(t))
            moved, found = Untangling(self._scene, self.bodies, self._held).run(
                stack, lambda place: found_at(self._scene, place, t)
            )
            left = len(found.shells) + len(found.meshes)
            if left:
                refuse(self._scene, found, before - left)
            x, self.untangled = by_columns(moved), before
        self.tangled = found.count
        if how == "ignore" and before:
            self._known.passing = passing(self._scene, self.bodies, found)
        return x

    def go_on_from(self, other: Contact) -> None:
        """Take up what another has learnt of the same scene before a cut."""
        self.report, self.tangled, self.untangled = other.report, other.tangled, other.untangled
        self._known.builds = other._known.builds
        before = other._known.passing
        if before is not None:
            self._known.passing = Passing(self.bodies, before.shells, before.meshes)

    def end_frame(self, x: Floats, t: float) -> None:
        """See which seams have opened, and what has come out of planes and spheres (`intersections="untangle"`)."""
        self._known.open_seams(self._shadow.at, t)
        if self.tangled and self._scene.intersections == "untangle":
            self.tangled = found_at(self._scene, x, t).count

    def close_cracks(self, closed: Bools) -> Lips | None:
        """Keep copies (n,) along cracks that have not opened from passing through each other: the sheet drawn in there
        is what this contact sees from now on; None if it is the sheet as it is."""
        bodies = self.bodies
        own = bodies.touches_itself[bodies.owner[: self._count]] & bodies.together
        bodies.lips = lips = Lips(self._scene, bodies, closed & own)
        bodies.rest = lips.rest
        self._known.forget(float((bodies.half + lips.rim)[: self._count].max()))
        return lips if lips.rim.any() else None

    def closed_cracks(self) -> Bools:
        """Vertices (n,) with a lip of the same crack no further than the contact distance from where the shadow is."""
        lips, pairs = self.bodies.lips, self._shadow.pairs
        assert lips is not None and pairs is not None
        return lips.near(pairs, pairs.nearest(self._shadow.at)[2])

    def kept(self) -> dict[str, Any]:
        """Plain arrays for a saved state: pairs that the next step begins with, seams that have not opened, springs."""
        return self._known.kept() | self._strength.kept()

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what `kept` gave."""
        self._known.restore(saved)
        self._strength.restore(saved)
        if self._known.passing is not None:
            self.tangled = len(self._known.passing)

    def new_report(self) -> None:
        """Forget the counts so far."""
        self.report = {"contact_rounds": 0, "pins_yielded": 0, "unsettled": 0}
        self._known.builds = 0

    def keep_springs(self, lasting: bool) -> None:
        """Whether springs that a load has hardened stay so in the steps to come."""
        self._strength.lasting = lasting

    def soften(self) -> None:
        """Have springs that explicit steps can follow."""
        self._strength.soften()

    # The start of a step

    # Where pins or loads leap beyond all bounds numbers overflow: the solvers see that their value is not finite.
    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def begin_step(self, stage: Stage, targets: Floats, gravity: Floats) -> None:
        """Over a stage of a step; `targets` (n, 3) of held components."""
        x, v, h = stage.start, stage.speeds, stage.span
        self._strength.begin_step(stage.h, gravity, stage.smooth)
        self.bodies.rub(stage.closes)
        placed, self._goal = self.bodies.place(stage.opens), self.bodies.place(stage.closes)
        self._at_rest[self._count :] = (placed == self._goal).all(axis=1)
        begun = _stacked(x, placed)
        self._shadow.begin(begun)
        self._targets = targets
        # Steps of a first-order scheme, which go far and end early, count on faces ahead to be felt too soon.
        self._sharp = stage.smooth
        # What slides goes far in them: an edge is a short part of its way.
        self._shadow.halvings = HALVINGS + int(stage.smooth)
        self.late = False
        held, way = self._held[:, None], self._goal - placed
        if stage.before is not None:
            gravity = HELD_UP * stage.before + (1.0 - HELD_UP) * gravity
        move = _stacked(np.where(held, targets - x, h * v + h * h * gravity), way)
        if self._nothing_near(begun, begun + move):
            self.bears = False
            return
        # What nothing holds falls; what is held up stays, or goes on where it is carried along.
        held_up = np.where(held, targets - x, 0.0 if self.still else h * v)
        self._known.begin(begun, move, _stacked(held_up, way))
        self._look(move)
        self._begin_friction(begun, _stacked(stage.base, self._goal - stage.h * self._speeds(stage, placed)), stage.h)

    def _speeds(self, stage: Stage, placed: Floats) -> Floats:
        """Velocities of colliders [m/s], (total − count, 3), at the end of a stage that they begin `placed`."""
        if self.still or not stage.smooth:
            return (self._goal - placed) / stage.span
        began, middle = (self.bodies.place(t) for t in (stage.began, 0.5 * (stage.began + stage.closes)))
        return stage.speed_of(began, middle, self._goal)

    def _look(self, move: Floats) -> None:
        """Nearest points at the shadow, and rows for the known pairs that could press after going by `move`."""
        pairs = self._shadow.look()
        room = pairs.distance - pairs.radius - pairs.reach
        low, high = pairs.along(move)
        which = room <= 1.2 * np.maximum(high - low, 0.0) + self._known.near
        as_struck, struck = self._shadow.struck(pairs)
        which[struck] = True
        cones = self._cones if self._sharp else None
        rows = Rows(as_struck, which, self._strength.of, self._goal, struck, cones)
        if cones is not None:
            rows.tell_by(as_struck, rows.at, self._shadow.at)
        self._rows, self.refrozen = rows, False

    def _nothing_near(self, *places: Floats) -> bool:
        """Whether the last look found nothing, and would find nothing on straight ways between `places` (total, 3)."""
        seen = self._rows is None or len(self._rows) > 0 or self._friction is not None
        return not seen and self._known.nothing_near(*places)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def predict(self, guess: Floats) -> Floats:
        """Where the search starts: `guess` (n, 3) itself, or with what would collide pushed along, as in an inelastic
        impact."""
        at, pairs, yielding = self._shadow.at, self._shadow.pairs, self._shadow.yielding
        assert pairs is not None and self._rows is not None
        wish = _stacked(guess, self._goal) - at
        pinned = bool(self._held.any())
        self.report["pins_yielded"] = 0
        # Of pairs that say the same one is enough here: two fifths of those of a sheet on a ball.
        telling = pairs.picked(self._rows.at)
        move = pushed(telling, wish, yielding[0], PUSHES if pinned else GLANCES)
        if pinned:
            # Pins yield only to what they would cross after all that is free has given way.
            held = np.concatenate([self._held, np.zeros(len(move) - self._count, dtype=bool)])
            theirs = pairs.picked(np.flatnonzero(held[pairs.corners].any(axis=0)))
            stuck = theirs.picked(unsafe(theirs, at, move)[0])
            move = pushed(stuck, move, yielding[1], GLIMPSES)
        if np.array_equal(move, wish):
            return guess
        ahead = (at + move)[: self._count]
        if pinned:
            off = np.where(self._fixed, np.abs(ahead - self._targets), 0.0).max(axis=1)
            self.report["pins_yielded"] = int((off > 1e-6 * self._edge).sum())
        return by_columns(ahead)

    # Between minimisations

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def follow(self, x: Floats, tolerance: float) -> tuple[Floats, bool, bool]:
        """Take the shadow towards the solver's x (n, 3) and look again: where it is (x itself, if nothing was in the
        way), whether it arrived and settled.

        It has arrived when colliders are at their goal and it is within `tolerance` [m] (root mean square) of x; it has
        settled if the gaps that were frozen for the solver were right to within that too.
        """
        assert self._rows is not None
        shadow, goal = self._shadow, _stacked(x, self._goal)
        if self._nothing_near(shadow.at, goal):
            self._strength.rest()
            shadow.at = goal
            return x, True, True
        settled = self._rows.drift(goal, x) <= 2.0 * tolerance
        self._strength.harden(self._rows.pressed(x, 0.0), self._rows.pressed(x, 0.5))
        settled &= not self.impact(x)
        shadow.go(goal, self.late)
        settled &= not shadow.overlooked(self._rows, 2.0 * tolerance, self._cones if self._sharp else None)
        off = goal - shadow.at
        late = float(np.abs(off[self._count :]).max(initial=0.0))
        arrived = late <= 1e-9 * self._edge
        self.late = not arrived
        if arrived:
            shadow.at[self._count :] = self._goal
        behind = off[: self._count]
        arrived &= float(np.sqrt(inner(behind, behind) / len(behind))) <= tolerance
        settled &= float(np.abs(behind).max()) <= CAUGHT * self._edge
        self.report["contact_rounds"] += 1
        if not (arrived and settled):
            self._look(goal - shadow.at)
        return x if shadow.at is goal else by_columns(shadow.at[: self._count]), arrived, settled

    def summary(self, x: Floats) -> dict[str, Any]:
        """For the stats of a frame: contacts that press, smallest distance [m] of what may touch, counts."""
        ignored = self._known.passing
        return self.report | {
            "contact_builds": self._known.builds,
            "contacts": 0 if self._rows is None else int((self._rows.pushes(x) > 0).sum()),
            "nearest": self._shadow.nearest(),
            "intersections": self.tangled,
            "intersections_at_start": self._scene.intersections,
            "untangled": self.untangled,
            "ignored_pairs": 0 if ignored is None else len(ignored),
        }


def _mesh_vertices(bodies: Bodies) -> int:
    """How many vertices mesh colliders have: the last of the stack."""
    return sum(len(mesh.positions) for mesh in bodies.meshes)


def _stacked(shells: Floats, colliders: Floats) -> Floats:
    """Vectors of the whole stack, (total, 3), by columns."""
    return by_columns(np.concatenate([shells, colliders]))
