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
from ..scene import Scene
from ..types import Bools, Floats, Sparse
from ..vectors import by_columns, inner
from .bodies import Bodies
from .bound import alike, pushed, shortened
from .candidates import BroadPhase, Candidates
from .friction import CREEP, Friction
from .pairs import Pairs
from .rows import Rows
from .start import attached, checked_start

# Spring of a contact: so many times a vertex's inertia m/h², plus so many times its weight over the contact distance.
INERTIAL, WEIGHTS, STRETCH = 25.0, 20.0, 0.5
# Broad phase margin as a share of the mean edge: with sheets or meshes to meet, and with planes and spheres only.
MARGIN, MARGIN_ALONE = 0.25, 1.0
# Steps that `first_step` compares.
FRACTIONS: Floats = 0.5 ** np.arange(8, dtype=np.float64)
# Rise of all normal forces over a step from which friction is taken from its end.
IMPACT = 2.0
# Factor on the springs of what was pressed through, a round.
HARDER = 8.0
# How often a way is tried before it is cut short for all vertices alike; rounds of pushing.
WAYS, PUSHES, GLIMPSES = 4, 30, 8


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
        self._stretch = STRETCH * np.concatenate([*stretch, colliders])
        self._mass = np.concatenate([mass, colliders])
        self._weight = WEIGHTS * float(np.linalg.norm(scene.gravity)) * self._mass
        self._count = bodies.count
        self._held = np.asarray(~free.all(axis=1))
        # Who gives way when pushed: first what is free, then pins too; colliders never.
        self._yielding = [
            np.concatenate([1.0 * ~self._held, colliders]),
            np.concatenate([np.ones(len(mass)), colliders]),
        ]
        self._goal = bodies.place(0.0)
        edges = bodies.shell_surface.edges
        edge = start[edges[:, 1]] - start[edges[:, 0]]
        self._edge = float(np.sqrt(np.einsum("ij,ij->i", edge, edge)).mean())
        analytic = not bodies.together and bodies.mesh_surface is None
        self._margin = (MARGIN_ALONE if analytic else MARGIN) * self._edge
        self._shadow = np.concatenate([start, self._goal])
        self._broad = BroadPhase(bodies, self._shadow)
        self._candidates: Candidates | None = None
        self._built_at: Floats | None = None
        self._friction: Friction | None = None
        self._rows: Rows | None = None
        self._nearest = np.inf
        # What is sewn together starts at distance zero: its vertices do not collide with each other.
        self._sewn = np.concatenate([attached(scene), np.zeros(bodies.total - bodies.count, dtype=bool)])
        self._exempt: Bools | None = self._sewn if self._sewn.any() else None
        self.tangled = 0
        """Intersections at the start that were let be."""
        self.late = False
        """Whether colliders have not reached the end of their step."""
        self.blocked = ""
        """What keeps the shadow from arriving, in words."""
        self.report: dict[str, Any] = {}
        self.new_report()

    def check_start(self, x: Floats, t: float) -> None:
        """Find intersections at x (n, 3), time t [s]; raises unless the scene says to let them be."""
        if not self.exists:
            return
        found, involved = checked_start(self._scene, x, t)
        self.tangled = found.count
        if involved.any():
            # The colliders' faces are not told apart: what is tangled passes through all of them.
            tangled = np.concatenate([involved, np.ones(self.bodies.total - self._count, dtype=bool)])
            self._exempt = tangled | self._sewn

    def end_frame(self, x: Floats, t: float) -> None:
        """Let faces that have come apart touch again (`intersections="untangle"`)."""
        if self.tangled and self._exempt is not None and self._scene.intersections == "untangle":
            self.tangled = checked_start(self._scene, x, t)[0].count
            if self.tangled == 0:
                self._exempt = self._sewn if self._sewn.any() else None

    def let_be(self, vertices: Bools) -> None:
        """Shell vertices (n,) that do not touch each other for now: copies along a crack that has not opened."""
        colliders = np.zeros(self.bodies.total - self._count, dtype=bool)
        self._sewn = np.concatenate([attached(self._scene) | vertices, colliders])
        self._exempt = self._sewn if self._sewn.any() else None
        self._candidates, self._built_at, self._broad.margin = None, None, -1.0

    def distance_apart(self, count: int) -> Floats:
        """Half of the contact distance of each shell vertex [m], (count,)."""
        half: Floats = self.bodies.half[:count]
        return half

    def new_report(self) -> None:
        """Forget the counts so far."""
        self.report = {"contact_builds": 0, "contact_rounds": 0, "pins_yielded": 0, "unsettled": 0}

    # The start of a step

    def begin_step(self, t: float, h: float, x: Floats, v: Floats, targets: Floats, gravity: Floats) -> None:
        """From t to t + h [s], starting at x (n, 3) with velocities v; `targets` (n, 3) of held components."""
        self._inertia = self._mass * (INERTIAL / (h * h)) + self._stretch
        placed, self._goal = self.bodies.place(t), self.bodies.place(t + h)
        self._shadow = np.concatenate([x, placed])
        self.late = False
        free_fall = np.where(self._held[:, None], targets - x, h * v + h * h * gravity)
        move = np.concatenate([free_fall, self._goal - placed])
        self._build(self._shadow, move)
        self._look(move)
        self._begun, self._creep = self._shadow, CREEP * h
        self._lag(self._shadow)
        self._lagged = False

    def predict(self, guess: Floats) -> Floats:
        """Where the search starts: `guess` (n, 3) with what would collide pushed along, as in an inelastic impact."""
        move = np.concatenate([guess, self._goal]) - self._shadow
        for mobile in self._yielding if self._held.any() else self._yielding[:1]:
            move = pushed(self._pairs, move, mobile, GLIMPSES)
        ahead = (self._shadow + move)[: self._count]
        if self._held.any():
            off = np.abs(ahead - guess).max(axis=1)[self._held]
            self.report["pins_yielded"] = int((off > 1e-6 * self._edge).sum())
        return by_columns(ahead)

    # Between minimisations

    def follow(self, x: Floats, tolerance: float) -> tuple[Floats, bool, bool]:
        """Take the shadow towards the solver's x (n, 3) and look again: where it is, whether it arrived and settled.

        It has arrived when colliders are at their goal and it is within `tolerance` [m] (root mean square) of x; it has
        settled if the gaps that were frozen for the solver were right to within that too.
        """
        assert self._rows is not None
        goal = np.concatenate([x, self._goal])
        settled = self._rows.drift(goal) <= 2.0 * tolerance
        self._harden(goal)
        settled &= not self._impact(goal)
        self._shadow = self._shadow + self._safe_way(goal - self._shadow)
        off = goal - self._shadow
        late = float(np.abs(off[self._count :]).max(initial=0.0))
        arrived = late <= 1e-9 * self._edge
        self.late = not arrived
        if arrived:
            self._shadow[self._count :] = self._goal
        behind = off[: self._count]
        arrived &= float(np.sqrt(np.vdot(behind, behind) / len(behind))) <= tolerance
        self.report["contact_rounds"] += 1
        if not (arrived and settled):
            self._look(goal - self._shadow)
        return by_columns(self._shadow[: self._count]), arrived, settled

    def _harden(self, goal: Floats) -> None:
        """Stiffen what the solver pressed through its core: a load far above a vertex's own inertia and weight."""
        assert self._rows is not None
        pressed = self._rows.at[self._rows.gaps(goal)[0] < 0]
        if len(pressed):
            deep = np.unique(self._rows.pairs.vertices[pressed])
            deep = deep[deep < self._count]
            self._inertia[deep] *= HARDER

    def _safe_way(self, wish: Floats) -> Floats:
        """A displacement near to `wish` (total, 3) that crosses nothing on the way from the shadow."""
        stack, move = self._shadow, wish
        tied = np.arange(self._count, self.bodies.total)
        for _ in range(WAYS):
            if not (self._built_here() and self._broad.covers(stack + move)):
                self._build(stack, move)
            pairs = Pairs(self.bodies, self._known(), stack)
            way = move
            if self.late:
                for mobile in self._yielding:
                    way = pushed(pairs, way, mobile, PUSHES)
            way = shortened(pairs, stack, way, tied)[:, None] * way
            if self._broad.covers(stack + way):
                break
            move = way
        else:
            # One factor for all: every part of the way that was looked at is then covered.
            self._build(stack, move)
            pairs = Pairs(self.bodies, self._known(), stack)
            way = alike(pairs, stack, move) * move
        self.blocked = self._tightest(pairs, pairs.room())
        self._nearest = float((pairs.nearest(stack + way)[2] - pairs.radius).min(initial=np.inf))
        return way

    def _look(self, move: Floats) -> Pairs:
        """Nearest points at the shadow, and rows for the pairs that could press after going by `move`."""
        stack = self._shadow
        if not (self._built_here() or self._broad.covers(stack)):
            self._build(stack, move)
        self._pairs = pairs = Pairs(self.bodies, self._known(), stack)
        room = pairs.distance - pairs.radius - pairs.reach
        low, high = pairs.along(move)
        which = room <= 1.2 * np.maximum(high - low, 0.0) + 0.5 * self._margin
        self._rows = Rows(pairs, which, self._inertia, self._weight)
        self._nearest = float((pairs.distance - pairs.radius).min(initial=np.inf))
        return pairs

    def _lag(self, pressed: Floats) -> float:
        """Friction from the normal forces at `pressed` (total, 3); their sum [N]."""
        assert self._rows is not None
        mu = _friction(self.bodies, self._rows.pairs, self._rows.at)
        friction = Friction(self._rows, mu, self._begun, self._creep, pressed)
        self._friction = friction if len(friction) else None
        self._normal_force = friction.normal_force
        return friction.normal_force

    def _impact(self, goal: Floats) -> bool:
        """Where sheets have just met, the forces at the start of the step say nothing of friction: once a step it is
        taken from the solver's forces instead."""
        assert self._rows is not None
        if self._lagged or not self.bodies.friction.any():
            return False
        before, now = self._normal_force, float(-self._rows.slopes(goal).sum())
        self._lagged = now > IMPACT * before and now > 0
        if self._lagged:
            self._lag(goal)
        return self._lagged

    def _tightest(self, pairs: Pairs, room: Floats) -> str:
        if len(pairs) == 0:
            return ""
        worst = int(np.argmin(room))
        a, b = (int(self.bodies.owner[k]) for k in pairs.vertices[worst, [0, 3]])
        names = [f"shell {k}" if k >= 0 else f"collider {-1 - k}" for k in (a, b)]
        inside = [int(k) for k in pairs.vertices[worst] if k < self._count]
        return f"{names[0]} meets {names[1]} at vertex {inside[0]}, with {max(room[worst], 0.0):.3g} m to spare"

    # The energy, with colliders at the end of the step

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        assert self._rows is not None
        stack = self._stack(x)
        value, gradient = self._rows.value_and_gradient(stack)
        if self._friction is not None:
            part, by_x = self._friction.value_and_gradient(stack)
            value += part
            gradient += by_x
        return value, gradient

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        assert self._rows is not None
        stack = self._stack(x)
        total = self._rows.hessian(stack)
        return total if self._friction is None else total + self._friction.hessian(stack)

    def first_step(self, x: Floats, direction: Floats, slope: float) -> float:
        """Largest of 1, ½, ¼, … that lowers contact energy plus what else a step of `direction` should bring.

        The rest of the potential is taken for a quadratic with its least at the full step. Contact energy along a
        line costs a hundredth of a gradient; without this look ahead every other gradient of a drape was thrown away.
        """
        assert self._rows is not None
        stack = self._stack(x)
        value, gradient = self._rows.value_and_gradient(stack)
        rest = slope - inner(gradient, direction)
        values = self._rows.along_line(stack, direction, FRACTIONS) - value
        model = np.where(rest < 0, rest * FRACTIONS * (1.0 - 0.5 * FRACTIONS), rest * FRACTIONS)
        good = np.flatnonzero(values + model <= 0.1 * FRACTIONS * slope)
        return float(FRACTIONS[good[0]]) if len(good) else 1.0

    def presses(self, x: Floats) -> bool:
        """Whether any contact has stiffness at x."""
        assert self._rows is not None
        return self._friction is not None or bool((self._rows.slopes(self._stack(x)) < 0).any())

    def stiffness_at(self, x: Floats) -> Sparse:
        """The Hessian at x made alike for all directions, (n, n): for preconditioners."""
        assert self._rows is not None
        stack = self._stack(x)
        total = self._rows.stiffness_at(stack)
        return total if self._friction is None else total + self._friction.stiffness_at(stack)

    def round_off(self, x: Floats) -> float:
        assert self._rows is not None
        slopes = self._rows.slopes(self._stack(x))
        return 4.0 * float(np.finfo(np.float64).eps) * float(np.abs(slopes).sum()) * float(np.abs(x).max())

    def forces(self, x: Floats) -> Floats:
        """Contact forces without friction [N], (n, 3)."""
        if self._rows is None:
            return np.zeros_like(x)
        return -self._rows.value_and_gradient(self._stack(x))[1]

    def summary(self, x: Floats) -> dict[str, Any]:
        """For the stats of a frame: contacts that press, smallest distance [m] of what may touch, counts."""
        if self._rows is None:
            return {}
        contacts = int((self._rows.slopes(self._stack(x)) < 0).sum())
        counts = {"contacts": contacts, "nearest": self._nearest, "intersections": self.tangled}
        return self.report | counts | {"intersections_at_start": self._scene.intersections}

    def _stack(self, x: Floats) -> Floats:
        return np.concatenate([x, self._goal]) if len(self._goal) else x

    def _build(self, stack: Floats, move: Floats) -> None:
        self._candidates = self._broad.build(stack, move, self._margin)
        self._built_at = stack
        if self._exempt is not None:
            self._candidates = self._candidates.without(self._exempt)
        self.report["contact_builds"] += 1

    def _built_here(self) -> bool:
        """Whether candidates were built for a way that starts where the shadow is."""
        return self._built_at is self._shadow

    def _known(self) -> Candidates:
        assert self._candidates is not None
        return self._candidates


def _friction(bodies: Bodies, pairs: Pairs, at: Any) -> Floats:
    """Coulomb's coefficient: the collider's, or the geometric mean of two shells'."""
    a, b = pairs.vertices[at, 0], pairs.vertices[at, 3]
    shells = (a < bodies.count) & (b < bodies.count)
    both = np.sqrt(bodies.friction[a] * bodies.friction[b])
    collider = np.where(a >= bodies.count, bodies.friction[a], bodies.friction[b])
    mu: Floats = np.where(shells, both, collider)
    return mu
