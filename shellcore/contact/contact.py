"""Contact of a scene: an energy for the solvers and a bound on their steps.

A step goes: `begin_step` (where colliders go, how stiff, friction from the forces at the start), `predict` (the guess,
with what is in the way pushed along), then rounds of: the solver minimises with nearest points and normals frozen
(`Rows`), and `follow` takes the shadow of the step, which never crosses anything, as far as it can towards the
solver's answer. When the shadow arrives and a fresh look changes nothing, the step is done; its end is the shadow's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..assembly import Hessian
from ..energies.base import Energy
from ..errors import ShellError
from ..scene import Scene
from ..types import Bools, Floats, Ints, Sparse
from ..vectors import by_columns, inner
from .bodies import Bodies
from .bound import alike, pushed, shortened, unsafe
from .candidates import NONE, BroadPhase, Candidates
from .friction import CREEP, Friction
from .lips import Lips
from .pairs import Pairs
from .rows import Rows
from .seams import Seams
from .start import found_at, refuse
from .struck import Struck
from .untangle import Untangling

# Spring of a contact: so many times a vertex's inertia m/h², plus so many times its weight over the contact distance,
# plus a share of its stretch stiffness: little against colliders, where sheets rest and springs that are too hard for
# the solver's tolerance flicker and lose their friction; much between shells, which are pressed together.
INERTIAL, WEIGHTS, STRETCH, STRETCH_BETWEEN = 25.0, 20.0, 0.05, 0.5
# Broad phase margin as a share of the mean edge: with sheets or meshes to meet, and with planes and spheres only. What
# comes nearer than that unforeseen is met in another round; a margin of ¼ instead spared none of them and cost a
# drape of 6.4k vertices with self-contact 0.66 instead of 0.40 s a frame.
MARGIN, MARGIN_ALONE = 0.04, 1.0
# Steps that `shorter` compares.
FRACTIONS = tuple(0.5**k for k in range(1, 8))
# Rise of all normal forces over a step from which friction is taken from its end.
IMPACT = 2.0
# Factor on the springs of what was pressed through, a round.
HARDER = 8.0
# How often a way is tried before it is cut short for all vertices alike; rounds of pushing.
WAYS, PUSHES, GLIMPSES = 8, 30, 5
# How often what would cross is turned aside before it is cut short.
SLIDES = 2
# Pairs that are looked at first for the nearest.
FIRST = 64
# Share of vertices that have gone astray from which candidates are sought anew.
ANEW = 0.25


class Contact(Energy):
    """All contacts of a scene. `mass` [kg], (n,); `free` (n, 3): components that no pin holds."""

    def __init__(self, scene: Scene, mass: Floats, free: Bools, start: Floats) -> None:
        self._scene = scene
        self.bodies = bodies = Bodies(scene)
        self.exists = bodies.together or bool(scene.colliders)
        colliders = np.zeros(bodies.total - bodies.count)
        stretch = [
            np.full(len(s.rest_positions), max(float(np.max(a)) for a in s.material.stretch)) for s in scene.shells
        ]
        self._stretch = np.concatenate([*stretch, colliders])
        self._mass = np.concatenate([mass, colliders])
        self._weight = WEIGHTS * float(np.linalg.norm(scene.gravity)) * self._mass
        self._count = bodies.count
        self._fixed: Bools = ~free
        self._held: Bools = np.asarray(self._fixed.any(axis=1))
        # Who gives way when pushed: first what is free, then pins too; colliders never.
        self._yielding = [
            np.concatenate([1.0 * ~self._held, colliders]),
            np.concatenate([np.ones(len(mass)), colliders]),
        ]
        self._goal = bodies.place(0.0)
        # Vertices of colliders that do not move in this step.
        self._at_rest = np.zeros(bodies.total, dtype=bool)
        edges = bodies.shell_surface.edges
        edge = start[edges[:, 1]] - start[edges[:, 0]]
        self._edge = float(np.sqrt(np.einsum("ij,ij->i", edge, edge)).mean())
        analytic = not bodies.together and bodies.mesh_surface is None
        self._margin = (MARGIN_ALONE if analytic else MARGIN) * self._edge
        # What may press unforeseen has a row in time: a force met when it is already large adds energy (a sheet with
        # an explicit membrane flew off in steps of 1 ms where this was a seventh).
        self._near = (0.5 if analytic else 2.0 * np.sqrt(3.0)) * self._margin
        self._shadow = _stacked(start, self._goal)
        self._broad = BroadPhase(bodies, self._shadow)
        self._candidates: Candidates | None = None
        self._built_at: Floats | None = None
        self._met = NONE
        self._friction: Friction | None = None
        self._rows: Rows | None = None
        self._nearby: Pairs | None = None
        self._went = np.zeros_like(self._shadow)
        self._bound: Floats | None = None
        self._struck = Struck()
        self._tied = np.arange(bodies.count, bodies.total)
        self._seams = Seams(scene, bodies)
        # What intersected at the start and passes.
        self._passing = np.zeros(bodies.total, dtype=bool)
        self.tangled = 0
        """Intersections at the start that were let be, or that planes and spheres have yet to push out."""
        self.untangled = 0
        """Pairs of faces that intersected at the start and were moved apart."""
        self.late = False
        """Whether colliders have not reached the end of their step."""
        self.blocked = ""
        """What keeps the shadow from arriving, in words."""
        self.report: dict[str, Any] = {}
        self.new_report()

    def check_start(self, x: Floats, t: float) -> Floats:
        """Where to start at time t [s] instead of x (n, 3): there, unless tangled sheets are to be moved apart.

        Raises if there are intersections and the scene does not say what to do.
        """
        if not self.exists:
            return x
        found = found_at(self._scene, x, t)
        if found.count == 0:
            return x
        how, before = self._scene.intersections, len(found.shells) + len(found.meshes)
        if how == "error":
            refuse(found)
        if how == "untangle" and before:
            stack = _stacked(x, self.bodies.place(t))
            moved, found = Untangling(self._scene, self.bodies, self._held).run(
                stack, lambda place: found_at(self._scene, place, t)
            )
            left = len(found.shells) + len(found.meshes)
            if left:
                refuse(found, before - left)
            x, self.untangled = by_columns(moved), before
        self.tangled = found.count
        if how == "ignore":
            faces = self.bodies.shell_surface.faces
            # The colliders' faces are not told apart: what is tangled passes through all of them.
            self._passing[faces[np.concatenate([found.shells.ravel(), found.meshes[:, 0]])]] = True
            self._passing[self._count :] = True
        return x

    @property
    def _exempt(self) -> Bools | None:
        """Vertices (total,) that do not touch each other."""
        exempt: Bools = self._seams.exempt | self._passing
        return exempt if exempt[: self._count].any() else None

    def end_frame(self, x: Floats, t: float) -> None:
        """See which seams have opened, and what has come out of planes and spheres (`intersections="untangle"`)."""
        if self._seams.open(self._met, self._shadow, t):
            self._built_at = None
        if self.tangled and self._scene.intersections == "untangle":
            self.tangled = found_at(self._scene, x, t).count

    def close_cracks(self, closed: Bools) -> Lips | None:
        """Keep copies (n,) along cracks that have not opened from passing through each other: the sheet drawn in there
        is what this contact sees from now on; None if it is the sheet as it is."""
        bodies = self.bodies
        own = bodies.touches_itself[bodies.owner[: self._count]] & bodies.together
        bodies.lips = lips = Lips(self._scene, bodies, closed & own)
        bodies.rest = lips.rest
        self._candidates, self._built_at = None, None
        self._broad.widen(2.0 * float((bodies.half + lips.rim).max()))
        return lips if lips.rim.any() else None

    def closed_cracks(self) -> Bools:
        """Vertices (n,) with a lip of the same crack no further than the contact distance from where the shadow is."""
        lips, pairs = self.bodies.lips, self._nearby
        assert lips is not None and pairs is not None
        return lips.near(pairs, pairs.nearest(self._shadow)[2])

    def kept(self) -> dict[str, Any]:
        """Plain arrays for a saved state: pairs that the next step begins with, seams that have not opened."""
        known = self._broad.known
        sewn = {"sewn": self._seams.exempt[: self._count]} if self._scene.attachments else {}
        if known is None:
            return sewn
        near = {"near_faces": known.vertex_face.astype(np.int32), "near_edges": known.edge_edge.astype(np.int32)}
        return near | sewn

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what `kept` gave."""
        if "sewn" in saved:
            sewn = np.array(saved["sewn"], dtype=bool)
            if sewn.shape != (self._count,):
                raise ShellError("resume: sewn must have one entry a vertex; is it a state of this scene?")
            self._seams.exempt[: self._count] &= sewn
        if "near_faces" not in saved or not self._broad.meshes:
            return
        faces, edges = (np.array(saved[name], dtype=np.int64) for name in ("near_faces", "near_edges"))
        for rows in (faces, edges):
            if rows.ndim != 2 or rows.shape[1] != 4 or not ((rows >= 0) & (rows < self.bodies.total)).all():
                raise ShellError("resume: near_faces, near_edges do not fit the meshes; is it a state of this scene?")
        self._broad.known = Candidates(faces, edges, np.zeros((0, 3)), np.zeros(len(faces)))

    def new_report(self) -> None:
        """Forget the counts so far."""
        self.report = {"contact_builds": 0, "contact_rounds": 0, "pins_yielded": 0, "unsettled": 0}

    # The start of a step

    def begin_step(self, t: float, h: float, x: Floats, v: Floats, targets: Floats, gravity: Floats) -> None:
        """From t to t + h [s], starting at x (n, 3) with velocities v; `targets` (n, 3) of held components."""
        self._inertia = self._mass * (INERTIAL / (h * h)) + STRETCH * self._stretch
        self._between = (STRETCH_BETWEEN - STRETCH) * self._stretch
        placed, self._goal = self.bodies.place(t), self.bodies.place(t + h)
        self._at_rest[self._count :] = (placed == self._goal).all(axis=1)
        self._struck = Struck()
        self._shadow = _stacked(x, placed)
        self._targets = targets
        self.late = False
        free_fall = np.where(self._held[:, None], targets - x, h * v + h * h * gravity)
        move = _stacked(free_fall, self._goal - placed)
        # What the last step found is enough to begin with: what is missing, `follow` meets.
        self._take(self._shadow, self._broad.glance(self._shadow, move, self._margin))
        self._met = self._broad.known or NONE
        self._look(move)
        self._begun, self._creep = self._shadow, CREEP * h
        assert self._rows is not None
        self._lag(self._rows.pushes_of(self._shadow))
        self._lagged = False

    def predict(self, guess: Floats) -> Floats:
        """Where the search starts: `guess` (n, 3) with what would collide pushed along, as in an inelastic impact."""
        move = _stacked(guess, self._goal) - self._shadow
        pinned = bool(self._held.any())
        move = pushed(self._pairs, move, self._yielding[0], PUSHES if pinned else GLIMPSES)
        if pinned:
            # Pins yield only to what they would cross after all that is free has given way.
            held = np.concatenate([self._held, np.zeros(len(move) - self._count, dtype=bool)])
            theirs = self._pairs.picked(np.flatnonzero(held[self._pairs.corners].any(axis=0)))
            stuck = theirs.picked(unsafe(theirs, self._shadow, move)[0])
            move = pushed(stuck, move, self._yielding[1], GLIMPSES)
        ahead = (self._shadow + move)[: self._count]
        if self._held.any():
            off = np.where(self._fixed, np.abs(ahead - self._targets), 0.0).max(axis=1)
            self.report["pins_yielded"] = int((off > 1e-6 * self._edge).sum())
        return by_columns(ahead)

    # Between minimisations

    def follow(self, x: Floats, tolerance: float) -> tuple[Floats, bool, bool]:
        """Take the shadow towards the solver's x (n, 3) and look again: where it is, whether it arrived and settled.

        It has arrived when colliders are at their goal and it is within `tolerance` [m] (root mean square) of x; it has
        settled if the gaps that were frozen for the solver were right to within that too.
        """
        assert self._rows is not None
        goal = _stacked(x, self._goal)
        settled = self._rows.drift(goal, x) <= 2.0 * tolerance
        self._harden(x)
        settled &= not self.impact(x)
        self._shadow = self._shadow + self._safe_way(goal - self._shadow)
        settled &= not self._overlooked(2.0 * tolerance)
        off = goal - self._shadow
        late = float(np.abs(off[self._count :]).max(initial=0.0))
        arrived = late <= 1e-9 * self._edge
        self.late = not arrived
        if arrived:
            self._shadow[self._count :] = self._goal
        behind = off[: self._count]
        arrived &= float(np.sqrt(inner(behind, behind) / len(behind))) <= tolerance
        self.report["contact_rounds"] += 1
        if not (arrived and settled):
            self._look(goal - self._shadow)
        return by_columns(self._shadow[: self._count]), arrived, settled

    def _harden(self, x: Floats) -> None:
        """Stiffen what the solver pressed through its core: a load far above a vertex's own inertia and weight."""
        assert self._rows is not None
        deep = self._rows.pressed_through(x)
        deep = deep[deep < self._count]
        self._inertia[deep] *= HARDER
        self._between[deep] *= HARDER

    def _safe_way(self, wish: Floats) -> Floats:
        """A displacement near to `wish` (total, 3) that crosses nothing on the way from the shadow."""
        stack, move = self._shadow, wish
        self._find(stack, move)
        pairs = Pairs(self.bodies, self._known(), stack)
        if self.late:
            for mobile in self._yielding:
                move = pushed(pairs, move, mobile, PUSHES)
            self._build(stack, move)
            pairs = Pairs(self.bodies, self._known(), stack)
        found, whole, way = self._known(), pairs, move
        bad, sure = unsafe(pairs, stack, way)
        self._struck.add(pairs.picked(bad), stack, way, sure)
        # What was safe stays so unless a vertex of it goes another way.
        doubtful = np.zeros(len(pairs), dtype=bool)
        doubtful[bad] = True
        for attempt in range(WAYS):
            if len(bad) == 0:
                break
            if attempt < SLIDES:
                # At first what would cross is only turned aside: it slides along what is in its way.
                way = pushed(pairs.picked(bad), way, self._yielding[0], GLIMPSES)
            else:
                factor = shortened(pairs, stack, way, self._tied)
                if factor is None:
                    break
                way = factor[:, None] * way
            changed = np.asarray((way != move).any(axis=1))
            if changed[self._count :].any():
                self._build(stack, way)
                pairs = Pairs(self.bodies, self._known(), stack)
                bad = unsafe(pairs, stack, way)[0]
                continue
            more = self._broad.around(stack, way, self._margin, changed)
            more = more if self._exempt is None else more.without(self._exempt)
            self._candidates = found.joined(more)
            others = Pairs(self.bodies, more, stack)
            pairs = whole.joined(others)
            again = whole.rows_of(others, np.flatnonzero(doubtful | changed[whole.corners].any(axis=0)))
            bad = again[unsafe(pairs.picked(again), stack, way)[0]]
        if len(bad):
            # One factor for all: what was looked at first then holds the whole way.
            way = alike(whole, stack, move) * move
        self.blocked = self._tightest(pairs, pairs.room())
        self._nearby, self._went, self._bound = pairs, way, None
        return way

    def _look(self, move: Floats) -> Pairs:
        """Nearest points at the shadow, and rows for the known pairs that could press after going by `move`."""
        self._pairs = pairs = Pairs(self.bodies, self._known(), self._shadow)
        room = pairs.distance - pairs.radius - pairs.reach
        low, high = pairs.along(move)
        which = room <= 1.2 * np.maximum(high - low, 0.0) + self._near
        as_struck, struck = self._struck.into(pairs, self._shadow)
        which[struck] = True
        self._rows = Rows(as_struck, which, self._strength, self._goal, struck)
        self._nearby, self._went, self._bound = pairs, np.zeros_like(self._shadow), None
        return pairs

    def _strength(self, corners: Ints, full: Floats) -> Floats:
        """Spring constants [N/m], (r,), of pairs with `corners` (4, r) whose force begins at a gap of `full` [m]."""
        total = self._inertia[corners].sum(axis=0) + self._weight[corners].sum(axis=0) / full
        shells = (corners < self._count).sum(axis=0)
        strength: Floats = (total + np.where(shells == 4, self._between[corners].sum(axis=0), 0.0)) / shells
        return strength

    def _lag(self, normal: Floats) -> None:
        """Friction from the `normal` forces of rows [N], (r,)."""
        assert self._rows is not None
        mu = _friction(self.bodies, self._rows.corners)
        friction = Friction(self._rows, mu, self._begun, self._goal, self._creep, normal)
        self._friction = friction if len(friction) else None
        self._normal_force = friction.normal_force

    def impact(self, x: Floats) -> bool:
        """Where sheets have just met, the forces at the start of the step say nothing of friction: once a step it is
        taken from the solver's forces instead."""
        assert self._rows is not None
        if self._lagged or not self.bodies.friction.any():
            return False
        pushes = self._rows.pushes(x)
        now = float(pushes.sum())
        self._lagged = now > IMPACT * self._normal_force and now > 0
        if self._lagged:
            self._lag(pushes)
        return self._lagged

    def _overlooked(self, depth: float) -> bool:
        """Whether pairs that the solver knew nothing of end more than `depth` [m] inside the reach of their force.

        A step begins with the candidates of the last one.
        """
        assert self._rows is not None and self._nearby is not None
        reach = self._nearby.reach - depth
        near = np.flatnonzero(self._least() < reach)
        if len(near) == 0:
            return False
        part = self._nearby.picked(near)
        inside = near[part.nearest(self._shadow)[2] - part.radius < reach[near]]
        return not self._rows.have(self._nearby, inside)

    def _least(self) -> Floats:
        """A bound from below on distances of the pairs looked at last where the shadow is [m], (p,)."""
        assert self._nearby is not None
        if self._bound is None:
            low, high = self._nearby.along(self._went)
            # Sides that were separated along n by more than they approached along it are no nearer than the difference.
            self._bound = self._nearby.distance - self._nearby.radius - np.maximum(high - low, 0.0)
        return self._bound

    def _nearest(self) -> float:
        """Smallest distance of what may touch where the shadow is [m]."""
        if self._nearby is None:
            return np.inf
        least = self._least()
        order = np.argsort(least)[:FIRST]
        best = self._distance(np.sort(order))
        rest = np.flatnonzero(least < best)
        return best if len(rest) <= len(order) else min(best, self._distance(rest))

    def _distance(self, rows: Ints) -> float:
        """Smallest distance of some of the pairs looked at last, where the shadow is [m]."""
        assert self._nearby is not None
        part = self._nearby.picked(rows)
        return float((part.nearest(self._shadow)[2] - part.radius).min(initial=np.inf))

    def _tightest(self, pairs: Pairs, room: Floats) -> str:
        if len(pairs) == 0:
            return ""
        worst = int(np.argmin(room))
        a, b = (int(self.bodies.owner[k]) for k in pairs.corners[[0, 3], worst])
        names = [f"shell {k}" if k >= 0 else f"collider {-1 - k}" for k in (a, b)]
        inside = [int(k) for k in pairs.corners[:, worst] if k < self._count]
        return f"{names[0]} meets {names[1]} at vertex {inside[0]}, with {max(room[worst], 0.0):.3g} m to spare"

    # The energy, with colliders at the end of the step

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        assert self._rows is not None
        value, gradient = self._rows.value_and_gradient(x)
        if self._friction is not None:
            part, by_x = self._friction.value_and_gradient(x)
            value += part
            gradient += by_x
        return value, gradient

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        assert self._rows is not None
        total = self._rows.hessian(x)
        return total if self._friction is None else total + self._friction.hessian(x)

    def shorter(self, x: Floats, direction: Floats, slope: float) -> float:
        """Largest of ½, ¼, … that lowers contact energy plus what else a step of `direction` should bring.

        The rest of the potential is taken for a quadratic with its least at the full step. Contact energy along a
        line costs a fraction of a gradient.
        """
        assert self._rows is not None
        line = self._rows.line(x, direction)
        # The rest's slope is the whole's less that of contact.
        rest = slope - line.slope
        for share in FRACTIONS:
            model = rest * share * (1.0 - 0.5 * share) if rest < 0 else rest * share
            if line.rise(share) + model <= 0.1 * share * slope:
                return float(share)
        return 0.5

    def presses(self, x: Floats) -> bool:
        """Whether any contact has stiffness at x."""
        assert self._rows is not None
        return self._friction is not None or bool((self._rows.gaps(x)[0] < self._rows.full).any())

    def stiffness_at(self, x: Floats) -> Sparse:
        """A bound on the Hessian at x that is alike for all directions, (n, n) [N/m]: for preconditioners."""
        assert self._rows is not None
        total = self._rows.stiffness_at(x)
        return total if self._friction is None else total + self._friction.stiffness_at(x)

    def round_off(self, x: Floats) -> float:
        assert self._rows is not None
        pushes = float(self._rows.pushes(x).sum())
        return 4.0 * float(np.finfo(np.float64).eps) * pushes * float(np.abs(x).max())

    def forces(self, x: Floats) -> Floats:
        """Contact forces without friction [N], (n, 3)."""
        if self._rows is None:
            return np.zeros_like(x)
        return -self._rows.value_and_gradient(x)[1]

    def stored(self, x: Floats) -> float:
        """Energy [J] that contacts hold for shells at x (n, 3) and give back; friction keeps none."""
        # A cut makes a new contact, which has not looked at anything before its first step.
        return 0.0 if self._rows is None else self._rows.value_and_gradient(x)[0]

    @property
    def still(self) -> bool:
        """Whether no collider moves in this step."""
        return bool(self._at_rest[self._count :].all())

    def leaning(self, x: Floats) -> Bools:
        """Vertices (n,) that colliders which are at rest in this step press on, for shells at x (n, 3)."""
        pressed = np.zeros(self.bodies.total, dtype=bool)
        if self._rows is not None:
            corners = self._rows.corners[:, self._rows.pushes(x) > 0]
            pressed[corners[:, self._at_rest[corners].any(axis=0)]] = True
        return pressed[: self._count]

    def summary(self, x: Floats) -> dict[str, Any]:
        """For the stats of a frame: contacts that press, smallest distance [m] of what may touch, counts."""
        contacts = 0 if self._rows is None else int((self._rows.pushes(x) > 0).sum())
        counts = {
            "contacts": contacts,
            "nearest": self._nearest(),
            "intersections": self.tangled,
        }
        return (
            self.report
            | counts
            | {
                "intersections_at_start": self._scene.intersections,
                "untangled": self.untangled,
            }
        )

    def _build(self, stack: Floats, move: Floats) -> None:
        self._take(stack, self._broad.build(stack, move, self._margin))
        self._met = self._broad.known or NONE
        self.report["contact_builds"] += 1

    def _find(self, stack: Floats, move: Floats) -> None:
        """Have candidates for the way from the shadow, `stack` (total, 3), to stack + move.

        In the second round of a step most vertices are where the first took them and are to stay near: only those
        that are not are looked up again, at a quarter of the cost.
        """
        broad = self._broad
        off = broad.off(stack, stack + move)
        if broad.margin < 0 or off[self._count :].any() or off.sum() > ANEW * self._count:
            self._build(stack, move)
        elif not (self._built_at is stack and not off.any()):
            self._met = self._met.joined(broad.around(stack, move, self._margin, off))
            self._take(stack, broad.solids(stack, move, self._margin).joined(self._met))

    def _take(self, stack: Floats, found: Candidates) -> None:
        """Candidates of a way that starts at `stack`."""
        self._built_at = stack
        self._candidates = found if self._exempt is None else found.without(self._exempt)

    def _known(self) -> Candidates:
        assert self._candidates is not None
        return self._candidates


def _stacked(shells: Floats, colliders: Floats) -> Floats:
    """Vectors of the whole stack, (total, 3), by columns."""
    return by_columns(np.concatenate([shells, colliders]))


def _friction(bodies: Bodies, corners: Ints) -> Floats:
    """Coulomb's coefficient of pairs with `corners` (4, r): the collider's, or the geometric mean of two shells'."""
    a, b = corners[0], corners[3]
    shells = (a < bodies.count) & (b < bodies.count)
    both = np.sqrt(bodies.friction[a] * bodies.friction[b])
    collider = np.where(a >= bodies.count, bodies.friction[a], bodies.friction[b])
    mu: Floats = np.where(shells, both, collider)
    return mu
