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
from ..vectors import by_columns
from .bodies import Bodies
from .bound import alike, pushed, shortened, unsafe
from .candidates import BroadPhase, Candidates
from .friction import CREEP, Friction
from .lips import Lips
from .pairs import Pairs
from .rows import Rows
from .start import attached, checked_start
from .struck import Struck

# Spring of a contact: so many times a vertex's inertia m/h², plus so many times its weight over the contact distance.
INERTIAL, WEIGHTS, STRETCH = 25.0, 20.0, 0.5
# Broad phase margin as a share of the mean edge: with sheets or meshes to meet, and with planes and spheres only; and
# how much nearer than free flight brings them the solver may take things (only a guess: more rounds if not).
MARGIN, MARGIN_ALONE, AHEAD = 0.04, 1.0, 0.25
# Steps that `first_step` compares.
FRACTIONS = tuple(0.5**k for k in range(8))
# Rise of all normal forces over a step from which friction is taken from its end.
IMPACT = 2.0
# Factor on the springs of what was pressed through, a round.
HARDER = 8.0
# How often a way is tried before it is cut short for all vertices alike; rounds of pushing.
WAYS, PUSHES, GLIMPSES = 8, 30, 8
# How often what would cross is turned aside before it is cut short.
SLIDES = 2


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
        self._ahead = 0.0 if analytic else AHEAD * self._edge
        self._shadow = np.concatenate([start, self._goal])
        self._broad = BroadPhase(bodies, self._shadow)
        self._candidates: Candidates | None = None
        self._built_at: Floats | None = None
        self._friction: Friction | None = None
        self._rows: Rows | None = None
        self._stacked: tuple[Floats, Floats] | None = None
        self._nearby: Pairs | None = None
        self._struck = Struck()
        self._tied = np.arange(bodies.count, bodies.total)
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

    def new_report(self) -> None:
        """Forget the counts so far."""
        self.report = {"contact_builds": 0, "contact_rounds": 0, "pins_yielded": 0, "unsettled": 0}

    # The start of a step

    def begin_step(self, t: float, h: float, x: Floats, v: Floats, targets: Floats, gravity: Floats) -> None:
        """From t to t + h [s], starting at x (n, 3) with velocities v; `targets` (n, 3) of held components."""
        self._inertia = self._mass * (INERTIAL / (h * h)) + self._stretch
        placed, self._goal = self.bodies.place(t), self.bodies.place(t + h)
        self._stacked = None
        self._struck = Struck()
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
        if not (self._built_here() and self._broad.covers(stack + move)):
            self._build(stack, move)
        pairs = Pairs(self.bodies, self._known(), stack)
        if self.late:
            for mobile in self._yielding:
                move = pushed(pairs, move, mobile, PUSHES)
            self._build(stack, move)
            pairs = Pairs(self.bodies, self._known(), stack)
        first, whole, way = self._known(), pairs, move
        safe = False
        for attempt in range(WAYS):
            bad, sure = unsafe(pairs, stack, way)
            if len(bad) == 0:
                safe = True
                break
            if attempt == 0:
                self._struck.add(pairs.picked(bad), stack, way, sure)
            if attempt < SLIDES:
                # At first what would cross is only turned aside: it slides along what is in its way.
                way = pushed(pairs.picked(bad), way, self._yielding[0], GLIMPSES)
            else:
                factor = shortened(pairs, stack, way, self._tied)
                if factor is None:
                    break
                way = factor[:, None] * way
            pairs = self._joined(first, stack, move, way)
        if not safe:
            # One factor for all: what was looked at first then holds the whole way.
            way = alike(whole, stack, move) * move
        self.blocked = self._tightest(pairs, pairs.room())
        self._nearby = pairs
        return way

    def _joined(self, first: Candidates, stack: Floats, move: Floats, way: Floats) -> Pairs:
        """Pairs of `first`, found for the way `move`, with those of `way` where that differs."""
        changed = np.asarray((way != move).any(axis=1))
        if changed[self._count :].any():
            self._build(stack, way)
        else:
            more = self._broad.around(stack, way, self._margin, changed)
            self._candidates = first.joined(more if self._exempt is None else more.without(self._exempt))
        return Pairs(self.bodies, self._known(), stack)

    def _look(self, move: Floats) -> Pairs:
        """Nearest points at the shadow, and rows for the known pairs that could press after going by `move`."""
        self._pairs = pairs = Pairs(self.bodies, self._known(), self._shadow)
        room = pairs.distance - pairs.radius - pairs.reach
        low, high = pairs.along(move)
        which = room <= 1.2 * np.maximum(high - low, 0.0) + 0.5 * (self._margin + self._ahead)
        as_struck, struck = self._struck.into(pairs)
        which[struck] = True
        self._rows = Rows(as_struck, which, self._inertia, self._weight, struck)
        self._nearby = pairs
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

    def _nearest(self) -> float:
        """Smallest distance of what may touch where the shadow is [m]."""
        if self._nearby is None:
            return np.inf
        return float((self._nearby.nearest(self._shadow)[2] - self._nearby.radius).min(initial=np.inf))

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
        line = self._rows.line(self._stack(x), direction)
        # The rest's slope is the whole's less that of contact.
        rest = slope - line.slope
        for share in FRACTIONS:
            model = rest * share * (1.0 - 0.5 * share) if rest < 0 else rest * share
            if line.rise(share) + model <= 0.1 * share * slope:
                return float(share)
        return 1.0

    def presses(self, x: Floats) -> bool:
        """Whether any contact has stiffness at x."""
        assert self._rows is not None
        return self._friction is not None or bool((self._rows.slopes(self._stack(x)) < 0).any())

    def vertex_stiffness(self, x: Floats) -> Floats:
        """Diagonal of `stiffness_at`, (n,)."""
        assert self._rows is not None
        stack = self._stack(x)
        total = self._rows.vertex_stiffness(stack)
        return total if self._friction is None else total + self._friction.vertex_stiffness(stack)

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
        # A cut makes a new contact, which has not looked at anything before its first step.
        contacts = 0 if self._rows is None else int((self._rows.slopes(self._stack(x)) < 0).sum())
        counts = {"contacts": contacts, "nearest": self._nearest(), "intersections": self.tangled}
        return self.report | counts | {"intersections_at_start": self._scene.intersections}

    def _stack(self, x: Floats) -> Floats:
        """x (n, 3) with colliders at the end of the step; the same array when asked again for the same x."""
        if self._stacked is None or self._stacked[0] is not x:
            self._stacked = x, np.concatenate([x, self._goal]) if len(self._goal) else x
        return self._stacked[1]

    def _build(self, stack: Floats, move: Floats) -> None:
        self._candidates = self._broad.build(stack, move, self._margin, self._ahead)
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
