"""The state of rest: Newton's method on the static potential, regularised where it must be.

Thin sheets make plain Newton crawl: a step that bends also stretches, to second order. So the exact Hessian is
shifted by μ M (a pseudo-transient step of implicit Euler without memory): μ grows while the Hessian has
negative eigenvalues (counted from the factor's pivots) or the step must be cut, and shrinks to zero
as steps succeed, which leaves Newton's quadratic convergence at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, diags

from .assembly import Hessian
from .energies.base import Energy
from .errors import ShellError, StepFailed
from .linalg import Factor
from .scene import Scene, as_scene
from .solver import Counts, line_search
from .system import System
from .types import Floats

# Residual goal as a share of the largest nodal load.
TOLERANCE = 1e-6
MOST = 600
# Passes over what has no potential (open rims under pressure, wind, friction), taken at the last state.
PASSES = 60
# Step length [s] that sets contact stiffness and lagged terms, as a frame at 24 a second would.
STEP = 1.0 / 24.0


class _Static:
    """The static potential at a frozen time, as the solvers want it."""

    def __init__(self, system: System, t: float, x: Floats) -> None:
        still = np.zeros_like(x)
        terms = system.begin_step(t - STEP, STEP, x, still)
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
            normals = system.area_normals(x)
            self.force += wind.force(t, x, still, normals)
            for source in system.scene.forces:
                self.force += source.force(t, x, still, normals)
            lasting = [e for e in lasting if type(e).__name__ != "NormalDrag"]
        self.energies: list[Energy] = lasting + system.elastic()
        self.lagged |= any(not pressure.closed for _, pressure in system.pressures)
        self.lagged |= any(penalty.surface.friction > 0 for penalty in system.penalties)

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        value = -float(np.vdot(self.force, x - self.system.start))
        gradient = -self.force
        for energy in self.energies:
            part, by_x = energy.value_and_gradient(x)
            value += part
            gradient = gradient + by_x
        gradient[self._held] = 0.0
        return value, gradient

    def hessian(self, x: Floats) -> Hessian:
        total = Hessian(len(x))
        for energy in self.energies:
            total = total + energy.hessian(x, psd=False)
        return total

    def round_off(self, x: Floats) -> float:
        return sum(energy.round_off(x) for energy in self.energies)

    def precondition(self, residual: Floats) -> Floats:
        raise NotImplementedError  # statics factors the Hessian itself

    def factored(self, hessian: Hessian) -> Callable[[Floats], Floats]:
        raise NotImplementedError

    def admissible(self, x: Floats, trial: Floats) -> bool:
        return self.system.admissible(x, trial)


def equilibrium(
    scene: Scene,
    tolerance: float | None = None,
    *,
    time: float = 0.0,
    start: Floats | None = None,
    stats: dict[str, Any] | None = None,
) -> Floats:
    """Static solution [m], (n, 3), all shells stacked, from `start` (default: where the shells start).

    `tolerance` [N]: largest residual force on a free vertex; default 1e-6 of the largest nodal load. Where
    round-off of the forces is larger than that, round-off is the goal. `stats` is filled with what was
    reached: residual, goal, which of the two set it, iterations. `time` [s]: when loads and targets are taken.
    """
    scene = as_scene(scene)
    system = System(scene)
    x = system.start.copy() if start is None else np.array(start, dtype=np.float64)
    if x.shape != system.start.shape:
        raise ShellError(f"start must have shape {system.start.shape}, not {x.shape}")
    x = system.targets(time, x)
    report: dict[str, Any] = {"iterations": 0, "factorisations": 0, "passes": 0}
    for _ in range(PASSES):
        static = _Static(system, time, x)
        settled = x
        x = _minimised(static, x, tolerance, report)
        report["passes"] += 1
        moved = float(np.abs(x - settled).max())
        if not static.lagged or moved <= 1e-9 * float(np.ptp(system.start, axis=0).max()):
            break
    else:
        raise StepFailed(
            f"the equilibrium still moved by {moved:.3g} m after {PASSES} passes over wind or rim pressure"
        )
    if stats is not None:
        stats.update(report)
    return x


def _minimised(static: _Static, x: Floats, tolerance: float | None, report: dict[str, Any]) -> Floats:
    system = static.system
    free = np.flatnonzero(static.free.ravel())
    mass = np.repeat(system.mass, 3)
    value, gradient = static.value_and_gradient(x)
    if not np.isfinite(value):
        raise StepFailed("the energy of the start shape is not finite")
    shift = 0.0
    for _ in range(MOST):
        matrix = static.hessian(x).matrix()
        goal, bound = _goal(static, matrix, x, gradient, tolerance)
        residual = float(np.sqrt((gradient**2).sum(axis=1)).max())
        report |= {"residual": residual, "goal": goal, "bound": bound}
        if residual <= goal or len(free) == 0:
            return x
        reduced = csc_matrix(matrix)[free][:, free]
        inertia = mass[free]
        unit = float(reduced.diagonal().max()) / float(inertia.max())
        while True:
            factor = _factored(reduced + diags(shift * inertia))
            report["factorisations"] += 1
            if factor is not None and factor.negative_pivots == 0:
                break
            shift = max(4.0 * shift, 1e-9 * unit)
            if shift > 1e6 * unit:
                raise StepFailed("no descent direction: the model is degenerate in this state")
        direction = np.zeros(x.size)
        direction[free] = factor.solve(-gradient.ravel()[free])
        direction = direction.reshape(x.shape)
        slope = float(np.vdot(gradient, direction))
        counts = Counts()
        found = line_search(static, x, value, direction, slope, counts)
        if found is None:
            if shift == 0.0 and residual <= 1e3 * goal:
                report["bound"] = "round-off"
                return x
            shift = max(16.0 * shift, 1e-9 * unit)
            if shift > 1e6 * unit:
                raise StepFailed(f"the residual stuck at {residual:.3g} N (goal {goal:.3g} N)")
            continue
        x, value, gradient = found
        report["iterations"] += 1
        # One evaluation: the full step held. More: it overshot and the model was trusted too far.
        if counts.gradients == 1:
            shift = 0.0 if shift <= 1e-10 * unit else shift / 8.0
        elif counts.gradients > 2:
            shift = max(4.0 * shift, 1e-9 * unit)
    raise StepFailed(f"no equilibrium in {MOST} iterations: residual {report['residual']:.3g} N, goal {goal:.3g} N")


def _factored(matrix: Any) -> Factor | None:
    try:
        return Factor(matrix)
    except RuntimeError:  # exactly singular
        return None


def _goal(static: _Static, matrix: Any, x: Floats, gradient: Floats, tolerance: float | None) -> tuple[float, str]:
    """Residual to reach [N], and what sets it."""
    extent = float(np.abs(x - x.mean(axis=0)).max())
    round_off = 4.0 * float(np.finfo(np.float64).eps) * float(matrix.diagonal().max()) * extent
    if tolerance is None:
        loads = np.sqrt((static.force**2).sum(axis=1)).max()
        tolerance = TOLERANCE * float(loads)
    return max(tolerance, round_off), "tolerance" if tolerance >= round_off else "round-off"
