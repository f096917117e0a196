"""Energy that a step gained by mistake, taken out of its velocities again.

Of a step of implicit Euler from (x₀, v₀) to (x₁, v₁), x₁ = x₀ + h v₁, in a potential U with what residual r the solver
left, M(v₁ − v₀)/h = −∇U(x₁) + r, the energy changes by

    K₁ + U₁ − K₀ − U₀ = −½ |v₁ − v₀|²_M + r·Δ + [U₁ − U₀ − ∇U₁·Δ],        Δ = x₁ − x₀.

The first term is what implicit Euler takes. The bracket is negative where U is convex, but the energy of a shell that
turns under pressure is not: Green's strain is quadratic, so that a membrane with stress S adds −½ ∫ S : ΔFᵀΔF to it,
which is positive for compression. A bowl that rocks on its rim is carried by compressed faces, and they drive it on:
implicit Euler adds h ∑ m v₁ × v₀ to its angular momentum. Halving steps only halves that.

No work is done from outside while a step's potential stays the same, so what comes out above zero is wrong, whatever it
stems from, and v₁ gives it back: exactly that, nothing where a step loses energy.

Newmark's scheme keeps the energy of linear motion only. Where it leaves stretch unresolved, which turns with the sheet,
it gains more and more of it: a sheet hung by two corners had 3 times its largest kinetic energy after a second of 24
steps, 150 times after one of 96. Its energy rises and falls a little in every step of a good run, so there the sum over
all steps is what counts (`Gains`), and a step that would raise it too far is taken by implicit Euler.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ShellError
from .linalg.vectors import inner
from .types import Bools, Floats, Ints

if TYPE_CHECKING:
    from .integrators import State
    from .step_potential import StepPotential
    from .system import System

Part = slice | Ints

# Of the largest kinetic energy so far: what all steps of Newmark's together may have gained, and what of earlier losses
# they may gain back. Well resolved runs stay within −0.015 and 0.002.
MOST_GAINED, REGAINED = 0.01, 0.05
# Steps that are taken by implicit Euler at most before Newmark's scheme is tried again.
LONGEST_REST = 63


@dataclass
class Gains:
    """The books of a run of Newmark's: what its steps have gained together, and whether it rests from gaining."""

    gained: float = 0.0
    """Energy [J]."""
    most: float = 0.0
    """Largest kinetic energy so far [J]."""
    rest: int = 0
    """Steps of implicit Euler after the one that replaced the last bad step; twice as many and one after the next, or
    a sheet that rings is woken again and again."""
    left: int = 0
    """How many of them are to come."""
    since: int = 0
    """Good steps since."""

    def after_step(self, gain: float, before: float, after: float) -> Gains:
        """After a step that gained so much, with kinetic energies [J] before and after it."""
        most = max(self.most, before, after - max(gain, 0.0))
        return replace(self, gained=max(self.gained + gain, -REGAINED * most), most=most)

    def overdrawn(self, before: Gains) -> bool:
        """Whether these gained what they should not have in the step from `before`."""
        return self.gained > max(before.gained, MOST_GAINED * self.most)

    def kept_up(self) -> Gains:
        """After a good step of Newmark's."""
        return replace(self, since=self.since + 1, rest=0 if self.since > 2 * self.rest else self.rest)

    def rested(self) -> Gains:
        """After a step of implicit Euler: one of a rest, or the one that begins it."""
        if self.left:
            return replace(self, left=self.left - 1)
        rest = min(2 * self.rest + 1, LONGEST_REST)
        return replace(self, rest=rest, left=rest, since=0)

    def kept(self) -> dict[str, Any]:
        """Plain numbers for a saved state."""
        return {"gained_energy": np.array(astuple(self))} if self.most else {}

    @staticmethod
    def restored(saved: dict[str, Any]) -> Gains:
        """What `kept` gave."""
        gains = np.asarray(saved.get("gained_energy", astuple(Gains())), dtype=np.float64)
        if gains.shape != (5,) or not (np.isfinite(gains).all() and gains[1:].min() >= 0.0):
            raise ShellError("resume: gained_energy must be five finite numbers, all but the first not negative")
        return Gains(float(gains[0]), float(gains[1]), *(int(number) for number in gains[2:]))


class Balance:
    """The books of a run: what a step starts with, what it gives back at its end."""

    def __init__(self) -> None:
        self.stored: float | None = None
        """Energy [J] that contacts held at the end of the last step, where it is to be kept."""
        self.gains = Gains()

    def open(self, system: System, potential: StepPotential, start: Floats) -> float:
        """Energy [J] that a step has at its `start` (n, 3): the potential there, kinetic energy and all.

        Springs of contacts are as stiff as a step is short: in one that is halved they hold more than the last step
        left in them. That is not to be had (if colliders move it may be their work).
        """
        available = potential.value_and_gradient(start)[0]
        if self.stored is not None and system.still:
            available -= max(system.stored(start) - self.stored, 0.0)
        return available

    def close(self, system: System, state: State, excess: float) -> float:
        """End a step at `state`, whose velocities give back its `excess` [J]; what they could give."""
        if not excess > 0.0:
            return 0.0
        shells = system.supported(state.x)
        state.v, given = lowered(state.x, state.v, system.mass, system.free, shells, excess)
        return given

    def kept(self) -> dict[str, Any]:
        """Plain numbers for a saved state."""
        kept: dict[str, Any] = {} if self.stored is None else {"contact_energy": self.stored}
        return kept | self.gains.kept()

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what `kept` gave."""
        stored = saved.get("contact_energy")
        if stored is not None and not (np.isfinite(stored) and stored >= 0.0):
            raise ShellError(f"resume: contact_energy must be finite and not negative, not {stored}")
        self.stored = None if stored is None else float(stored)
        self.gains = Gains.restored(saved)


def kinetic(system: System, v: Floats) -> float:
    """Kinetic energy [J] of what moves freely at velocities v (n, 3)."""
    return 0.5 * inner(system.mass[:, None] * v, np.where(system.free, v, 0.0))


def lowered(
    x: Floats, v: Floats, mass: Floats, free: Bools, shells: Sequence[tuple[Part, bool]], excess: float
) -> tuple[Floats, float]:
    """Velocities (n, 3) with `excess` [J] less kinetic energy, and what was taken [J].

    `x` [m], `v` [m/s], `free` (n, 3) components, `mass` [kg], (n,); `shells`: the unknowns of each, and whether
    something at rest (a floor, a pin) supports it. Such a shell gives up a share of all its motion: what rolls goes on
    to do so. One in flight gives up a share of what is not rigid, which keeps both momenta; where that is too little,
    of all but its mean, which keeps the linear one.
    """
    taken, v = 0.0, v.copy(order="K")
    for rigid in (True, False):
        given = np.zeros_like(v)
        for part, supported in shells:
            own, at = v[part], x[part]
            given[part] = own if supported else own - _carried(at, own, mass[part], rigid)
        given[~free] = 0.0
        most = 0.5 * float(mass @ (given * given).sum(axis=1))
        if most <= 0.0:
            continue
        # K(v − s u) = K(v) − (2s − s²) K(u): u is a share of v that is square to the rest.
        share = 1.0 - np.sqrt(max(1.0 - (excess - taken) / most, 0.0))
        v -= share * given
        taken += min(excess - taken, most)
        if taken >= excess:
            break
    return v, taken


def _carried(x: Floats, v: Floats, mass: Floats, turning: bool) -> Floats:
    """Velocities (k, 3) of the motion without deformation that has the momentum of v, and its spin if `turning`."""
    total = mass.sum()
    mean = mass @ v / total
    if not turning:
        return np.broadcast_to(mean, v.shape)
    arm = x - mass @ x / total
    spin = mass @ np.cross(arm, v)
    squares = (mass[:, None] * arm).T @ arm
    # Of what lies on one line the spin about it is none.
    rate = np.linalg.lstsq(np.trace(squares) * np.eye(3) - squares, spin, rcond=1e-12)[0]
    motion: Floats = mean + np.cross(rate, arm)
    return motion
