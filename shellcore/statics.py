"""The state of rest: Newton's method on the static potential, made to work for thin sheets.

A step that bends also stretches, to second order, and a thin sheet answers with stresses far above the true ones.
Two things follow, and each has its remedy:

- These stresses spoil the next step's Hessian. There, stress is an unknown of its own (`mixed.py`).
- Energy rises before it falls, so a line search would cut every step. Steps are taken whole, and judged after a few of
  them (the watchdog technique of Chamberlain et al. 1982): if the energy is not below that of the
  last state trusted, go back there and hold on to it by a spring μM/2 |x − home|² (a proximal point, or an implicit
  Euler step without memory). μ grows with every return and shrinks to zero as energy falls.

Where the Hessian has negative eigenvalues (counted from the factor's pivots) it is shifted until it has none.

Wind, friction and pressure on open rims have no potential: they are taken at the last state, in passes. A pass that
finds nothing (a loose cloth slides off a ball before friction has anything to press on) is taken again on a spring to
where it began, as damped motion would; the spring fades as passes succeed (pseudo-transient continuation).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, diags

from .checks import floats, not_negative, number, positive
from .dynamics.stage import Stage
from .energies.base import Energy
from .energies.carried import acting
from .energies.drag import NormalDrag
from .energies.penalty import CREEP
from .energies.pins import SoftPins
from .energies.pressure import Pressure
from .errors import ShellError, StepFailed, listed
from .linalg.assembly import Hessian
from .linalg.factor import Factor
from .linalg.threads import limited
from .loose import loose_shells
from .mixed import MixedStress
from .scene import Scene, as_scene
from .solver import ROUND_OFF
from .system import System
from .types import Floats, Sparse

# Residual goal as a share of the largest nodal load.
TOLERANCE = 1e-6
MOST = 600
# Whole steps before the energy must have fallen; share of the fall a quadratic model expects that is enough.
PATIENCE, ENOUGH = 8, 0.1
# A step turns or stretches no edge by more than this, and is never cut below that share of Newton's.
LARGEST_TURN, SMALLEST_SHARE = 0.5, 1e-6
# Least shift tried, as a share of the stiffest vertex: rigid motions of a shell that nothing holds need no more, for
# their zero eigenvalues may come out below zero by round-off.
FAINT = 1e-12
# Passes over what has no potential (open rims under pressure, wind, friction), taken at the last state.
PASSES = 200
# Largest spring μ [1/s²] that holds a pass, as steps of a millisecond would.
STIFFEST_HOLD = 1e6
# A pass that takes a vertex further than this many sizes has found the way out, not rest.
FAR = 20.0
# Below this spring [1/s²] a pass goes without.
LOOSE = 1e-2
# Step length [s] that sets contact stiffness and lagged terms, as a frame at 24 a second would.
STEP = 1.0 / 24.0


class _Static:
    """The static potential at a frozen time, and what it takes to judge a residual."""

    def __init__(self, system: System, t: float, x: Floats, moved: Floats, hold: float = 0.0) -> None:
        still = np.zeros_like(x)
        # Friction acts against the last pass's motion: what slides is held by μN, whatever way it still has to go.
        speeds = moved / STEP if system.penalties else still
        terms = system.begin_step(Stage.euler(t - STEP, STEP, x, speeds))
        # At rest nothing dissipates: damping is left out, and drag counts as the force it is on a still sheet.
        lasting = [e for e in terms.energies if not any(e is v for v in system.viscosities)]
        self.system = system
        self.free = system.free
        self._held = ~system.free
        self.force = terms.force
        wind = system.scene.wind
        self.lagged = wind is not None or bool(system.scene.forces)
        if wind is not None:
            self.force = system.dead_force(t)
            points = system.on_surface(x)
            normals, speeds = system.area_normals(points), np.zeros_like(points)
            pushed = wind.force(t, points, speeds, normals) + system.pushed(t, points, speeds, normals)
            self.force += pushed if system.surface is None else system.surface.carry(pushed)
            lasting = [e for e in lasting if not isinstance(acting(e), NormalDrag)]
        self.energies: list[Energy] = lasting + system.elastic()
        if hold > 0.0:
            self.energies.append(SoftPins(np.repeat(hold * system.mass[:, None], 3, axis=1), x))
        self.lagged |= any(not pressure.closed for _, pressure in system.pressures)
        self.lagged |= system.contact.exists
        self.rubs = system.contact.rubs or any(penalty.friction > 0 for penalty in system.penalties)
        self.lagged |= self.rubs

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        value = -float(np.vdot(self.force, x - self.system.start))
        gradient = -self.force
        for energy in self.energies:
            part, by_x = energy.value_and_gradient(x)
            value += part
            gradient = gradient + by_x
        gradient[self._held] = 0.0
        return value, gradient

    def largest_load(self, x: Floats) -> float:
        """Largest force [N] that loads a vertex: dead loads, wind, pressure; where there are none, what pins bear."""
        load = self.force.copy()
        bearing = np.zeros_like(x)
        for energy in self.energies:
            if isinstance(acting(energy), Pressure):
                load -= energy.gradient(x)
            else:
                bearing += energy.gradient(x)
        return _largest(load) or _largest(np.where(self._held, bearing, 0.0))

    def hessian(self, x: Floats, stresses: MixedStress) -> Hessian:
        """Exact, but for the stress in the geometric part of membranes, which is carried along."""
        total = stresses.hessian(x)
        for energy in self.energies:
            if energy not in stresses.membranes:
                total = total + energy.hessian(x, psd=False)
        return total

    def round_off(self, x: Floats) -> float:
        return sum(energy.round_off(x) for energy in self.energies)


def equilibrium(
    scene: Scene,
    tolerance: float | None = None,
    *,
    time: float = 0.0,
    start: Floats | None = None,
    strain_limit: float = 0.0,
    stats: dict[str, Any] | None = None,
    progress: Callable[[dict[str, Any]], object] | None = None,
    budget: float | None = None,
    threads: int | None = None,
) -> Floats:
    """Static solution [m], (n, 3), all shells stacked, from `start` (default: where the shells start).

    `tolerance` [N]: largest residual force on a free vertex; default 1e-6 of the largest nodal load. Where
    round-off of the forces is larger than that, round-off is the goal, once steps have died out. `stats` is filled
    with what was reached: residual, goal, which of the two bounds it, iterations; `state`, which `start` also takes;
    `hidden`, the ghosts of each shell. `time` [s]: when loads and targets are taken.

    `strain_limit`: flat sheets stiffer than they need to be are made just stiff enough to strain by this under their
    loads, as `simulate` does by default at 1e-3 (`stretch_cap.py`; `stats["stretch_scales"]` says by how much). The
    default here, 0, leaves the material as it is. Paper on a coarse mesh bends 2 to 25% too stiffly so, because
    its flat triangles cannot bend across their edges without stretching.

    `progress`: called after every iteration with what `stats` would hold so far (iterations, passes, residual and goal
    [N]); False from it ends the search. `budget` [s]: so does time. Both raise StepFailed, whose `state` is a `start`
    to go on from. Shells that nothing can hold are named before the first iteration.

    Shells rest on colliders and on each other; on themselves only with `Scene(self_contact=True)`. `threads`: how many
    may work, by default as many as find work; results are the same to the last bit.
    """
    with limited(threads):
        return _at_rest(scene, tolerance, time, start, strain_limit, stats, progress, budget)


def _at_rest(
    scene: Scene,
    tolerance: float | None,
    time: float,
    start: Floats | None,
    strain_limit: float,
    stats: dict[str, Any] | None,
    progress: Callable[[dict[str, Any]], object] | None,
    budget: float | None,
) -> Floats:
    scene = as_scene(scene).at_rest()
    strain_limit = not_negative(strain_limit, "strain_limit")
    system = System(scene, strain_limit)
    meant = f"positions of shape {(system.visible, 3)} [m]"
    x = system.start.copy() if start is None else floats(start, "start", meant)
    if x.shape == (system.visible, 3):
        x = system.with_hidden(x)
    if x.shape != system.start.shape:
        raise ShellError(f"start must have shape {(system.visible, 3)}, not {x.shape}")
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if len(bad):
        raise ShellError(f"start of vertices {listed(bad)} is not finite", vertices=bad)
    if tolerance is not None:
        tolerance = number(tolerance, "tolerance", "positive [N]", lambda given: given > 0.0)
    time = number(time, "time", "a finite number [s]")
    if budget is not None:
        budget = positive(budget, "budget", " [s]")
    x = system.targets(time, x)
    bodies, way = loose_shells(system, x, time)
    if bodies:
        names = f"shells {listed(bodies)}" if len(bodies) > 1 else f"shell {bodies[0]}"
        along = ", ".join(f"{part:.3g}" for part in way)
        raise StepFailed(
            f"nothing holds {names}: loads carry it off along ({along}). Pin it, tie it to what is held, or put a "
            "collider in its way"
        )
    watch = _Watch(system, progress, budget)
    moved = np.inf
    report: dict[str, Any] = {"iterations": 0, "factorisations": 0, "passes": 0}
    size = float(np.ptp(system.start, axis=0).max())
    still = 1e-9 * size
    hold, slid = 0.0, np.zeros_like(x)
    for _ in range(PASSES):
        static = _Static(system, time, x, slid, hold)
        settled = x
        report["passes"] += 1
        try:
            x = _minimised(static, x, tolerance, report, watch)
        except StepFailed:
            if watch.ended or hold >= STIFFEST_HOLD:
                raise
            hold = max(16.0 * hold, 1.0 / STEP**2)
            slid = np.zeros_like(x)
            continue
        if system.contact.exists:
            x = system.contact.follow(x, np.inf)[0]
        slid = x - settled
        moved = float(np.abs(slid).max())
        if moved > FAR * size:
            raise StepFailed(
                f"nothing holds {watch.shell_of(slid)}: a vertex went {moved:.3g} m; pin one, or add friction"
            )
        # Friction is smoothed: below this much a step it cannot tell sticking from sliding.
        enough = max(still, STEP * CREEP) if static.rubs else still
        if hold == 0.0 and (not static.lagged or moved <= enough):
            break
        hold = hold / 4.0 if hold > LOOSE else 0.0
    else:
        raise StepFailed(
            f"the equilibrium still moved by {moved:.3g} m after {PASSES} passes over wind, friction or rim pressure"
        )
    control = system.control(x)
    if stats is not None:
        hidden = [np.array(control[a:b]) for a, b in pairwise(system.hidden_offsets)]
        stats.update(report | {"state": x, "hidden": hidden, "stretch_scales": list(system.stretch_scales)})
    return control[: system.visible]


class _Watch:
    """Who looks on while a state of rest is looked for: a caller who may end it, and a clock."""

    def __init__(
        self, system: System, progress: Callable[[dict[str, Any]], object] | None, budget: float | None
    ) -> None:
        self._system, self._progress, self._budget = system, progress, budget
        self._began = perf_counter()
        self.ended = False
        """Whether either has ended it."""

    def shell_of(self, moved: Floats) -> str:
        """The shell whose unknowns moved most, of (n, 3), in words."""
        far = np.abs(self._system.control(moved)).max(axis=1)[: self._system.visible]
        return f"shell {int(np.searchsorted(self._system.offsets, int(np.argmax(far)), side='right')) - 1}"

    def look(self, x: Floats, report: dict[str, Any]) -> None:
        """After an iteration at x (n, 3): raise if that is enough."""
        why = ""
        if self._progress is not None and self._progress(dict(report)) is False:
            why = "was cancelled"
        elif self._budget is not None and perf_counter() - self._began > self._budget:
            why = f"took longer than its budget of {self._budget:g} s"
        if why:
            self.ended = True
            raise StepFailed(
                f"the equilibrium {why}, after {report['iterations']} iterations, with a residual of "
                f"{report['residual']:.3g} N (goal {report['goal']:.3g} N)",
                state=x,
            )


def _minimised(static: _Static, x: Floats, tolerance: float | None, report: dict[str, Any], watch: _Watch) -> Floats:
    system = static.system
    free = np.flatnonzero(static.free.ravel())
    inertia = np.repeat(system.mass, 3)[free]
    held_mass = system.mass[:, None] * static.free
    turning = _Turning(system)
    value, gradient = static.value_and_gradient(x)
    if not np.isfinite(value):
        raise StepFailed("the energy of the start shape is not finite")
    home = (x, value, gradient)
    stresses = MixedStress(static.energies, x)
    spring, shift, tries = 0.0, 0.0, 0
    expected = 0.0
    for _ in range(MOST):
        matrix = static.hessian(x, stresses).matrix()
        goal = _Goal.of(static, matrix, x, tolerance)
        residual = _largest(gradient)
        report |= {"residual": residual, "goal": max(goal.tolerance, goal.round_off), "bound": goal.bound(residual)}
        if len(free) == 0:
            return x
        reduced = csc_matrix(matrix)[free][:, free]
        unit = float(reduced.diagonal().max()) / float(inertia.max())
        factor, shift = _definite(reduced, inertia, spring, shift, unit, report)
        moves = np.zeros(x.size)
        pull = gradient + spring * held_mass * (x - home[0])
        moves[free] = factor.solve(-pull.ravel()[free])
        direction: Floats = moves.reshape(x.shape)
        if max(spring, shift) <= FAINT * unit and goal.reached(residual, float(np.abs(direction).max())):
            return x
        share = min(1.0, LARGEST_TURN / turning(direction))
        while share > SMALLEST_SHARE and not system.admissible(x, x + share * direction):
            share *= 0.5
        if tries == 0:
            expected = -0.5 * float(np.vdot(direction, pull))
        stresses.advance(x, direction, share)
        x = x + share * direction
        value, gradient = static.value_and_gradient(x)
        report["iterations"] += 1
        watch.look(x, report)
        tries += 1
        blur = static.round_off(x) + ROUND_OFF * abs(value)
        if value <= home[1] - ENOUGH * expected + blur:
            home = (x, value, gradient)
            spring = 0.0 if spring < 1e-13 * unit else spring / (16.0 if tries <= 4 else 4.0 if tries <= 7 else 2.0)
            spring = max(spring, shift / 16.0)
            tries = 0
        elif tries > PATIENCE or not np.isfinite(value):
            x, value, gradient = home
            stresses = MixedStress(static.energies, x)
            spring = max(16.0 * spring, 1e-12 * unit)
            tries = 0
            if spring > 1e6 * unit:
                raise StepFailed(f"the residual stuck at {residual:.3g} N (goal {report['goal']:.3g} N)")
    raise StepFailed(
        f"no equilibrium in {MOST} iterations: residual {report['residual']:.3g} N, goal {report['goal']:.3g} N"
    )


def _definite(
    matrix: Sparse, inertia: Floats, spring: float, last: float, unit: float, report: dict[str, Any]
) -> tuple[Factor, float]:
    """Factor of matrix + (spring + shift) M with the least shift tried that leaves no negative eigenvalue."""
    shift = last / 8.0 if last > 1e-11 * unit else 0.0
    while True:
        factor = _factored(matrix + diags((spring + shift) * inertia))
        report["factorisations"] += 1
        if factor is not None and factor.negative_pivots == 0:
            return factor, shift
        shift = max(8.0 * shift, 2.0 * spring, FAINT * unit)
        if shift > 1e6 * unit:
            raise StepFailed("no descent direction: the model is degenerate in this state")


class _Turning:
    """How far a displacement field turns or stretches any edge: |Δd|/|ē|."""

    def __init__(self, system: System) -> None:
        pairs = zip(system.scene.shells, system.offsets, strict=False)
        parts = [(s.mesh.edges + at, s.rest.edges) for s, at in pairs]
        self._edges = np.concatenate([edges for edges, _ in parts])
        self._lengths = np.concatenate([np.linalg.norm(rest, axis=1) for _, rest in parts])

    def __call__(self, displacement: Floats) -> float:
        change = displacement[self._edges[:, 1]] - displacement[self._edges[:, 0]]
        return max(float((np.linalg.norm(change, axis=1) / self._lengths).max()), 1e-300)


def _factored(matrix: Any) -> Factor | None:
    try:
        return Factor(matrix)
    except RuntimeError:  # exactly singular
        return None


def _largest(forces: Floats) -> float:
    return float(np.sqrt((forces**2).sum(axis=1)).max())


@dataclass(frozen=True)
class _Goal:
    """Residual to reach [N]: `tolerance`, or `round_off` once steps have died out (below `still` [m])."""

    tolerance: float
    round_off: float
    still: float

    @staticmethod
    def of(static: _Static, matrix: Sparse, x: Floats, tolerance: float | None) -> _Goal:
        extent = float(np.abs(x - x.mean(axis=0)).max())
        round_off = 4.0 * float(np.finfo(np.float64).eps) * float(matrix.diagonal().max()) * extent
        return _Goal(TOLERANCE * static.largest_load(x) if tolerance is None else tolerance, round_off, 1e-7 * extent)

    def bound(self, residual: float) -> str:
        return "tolerance" if residual <= self.tolerance or self.tolerance >= self.round_off else "round-off"

    def reached(self, residual: float, step: float) -> bool:
        # Stiff membranes blur forces in their plane by more than the loads that bend them: there, a residual
        # within round-off says nothing as long as Newton still wants to move.
        return residual <= self.tolerance or (residual <= self.round_off and step <= self.still)
