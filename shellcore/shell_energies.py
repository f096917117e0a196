"""Energies of one shell: membrane, bending and damping of the models it was built with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .checks import instance
from .dynamics.stage import Stage
from .energies.base import Energy
from .energies.cubic import Cubic
from .energies.fem import Fem
from .energies.hinge import Hinge, hinge_angles, hinge_weights
from .energies.quadratic import crouzeix_raviart, vertex_form
from .energies.springs import AreaSprings, EdgeSprings, SeamLengths, spring_constants
from .energies.viscosity import AngleViscosity, StrainViscosity
from .errors import ShellError, ShellWarning
from .linalg.assembly import Hessian
from .shell import Shell
from .stretch_guard import StretchGuard
from .subdivision.energy import KelvinVoigt
from .subdivision.model import FaceStrains, SubdivisionModel
from .subdivision.supports import ToControl
from .types import Floats, Ints, Sparse

# Stretch over bending, A|e|²/D, below which a curved cubic shell leaves its model (Cubic Shells, section 8).
STIFFEST_BENDING = 100.0


@dataclass
class Bending:
    """Bending of one shell: the force's energy, and the energies whose Hessians stand in for its own.

    `angles` measures hinges for damping and fields; `companion` is the cubic model of the same hinges, source of
    the CS and CC Jacobians (None for the vertex form, whose own matrix is constant).
    """

    energy: Energy
    angles: Hinge
    companion: Cubic | None
    has_membrane: bool = False
    """Whether the energy is that of a whole shell, stretch and bending together."""

    def hessian(self, x: Floats, jacobian: str) -> Hessian:
        """Of the force: "exact" (NH), "cubic" (CS) or "constant" (CC)."""
        if jacobian == "exact":
            return self.energy.hessian(x, psd=False)
        if self.companion is None:
            return self.energy.hessian(x)
        return self.companion.hessian(x, psd=jacobian == "constant")

    def stiffness(self) -> Sparse:
        """Constant (n, n) matrix."""
        return self.energy.stiffness() if self.companion is None else self.companion.stiffness()

    def energy_of(self, which: Ints, x: Floats) -> float:
        """Energy [J] of some hinges, (k,), at positions x."""
        if isinstance(self.energy, Cubic):
            corners = x[self.angles.hinges[which]]
            return float(self.energy.forms.energies(corners, which, self.angles.rest_angles[which]).sum())
        change = hinge_angles(x, self.angles.hinges[which]) - self.angles.rest_angles[which]
        return float(self.angles.energies(change, which).sum())

    def set_rest_angles(self, angles: Floats) -> None:
        """New rest angles [rad], (h,), for all three."""
        self.angles.set_rest_angles(angles)
        if self.companion is not None:
            self.companion.set_rest_angles(angles)


@dataclass
class ShellEnergies:
    """What one shell's deformation costs."""

    membranes: list[Energy]
    strains: Fem | FaceStrains
    """Measures strain and stress of the faces."""
    bending: Bending
    viscosities: list[StrainViscosity | AngleViscosity] = field(default_factory=list)
    whole_viscosity: KelvinVoigt | None = None
    """Of a subdivision shell: it changes the energy of bending for a step."""
    angle_damper: AngleViscosity | None = None
    """The viscosity that must know of moving rest angles."""
    guard: StretchGuard | None = None
    """Set where the energy could run away under stretch."""

    def bending_of_step(self, stage: Stage) -> Bending:
        """Bending in a step."""
        whole = self.whole_viscosity
        return self.bending if whole is None else replace(self.bending, energy=whole.begin_step(stage))

    def stiffen(self, factor: float) -> None:
        """Multiply the stiffness of the membrane, and of what measures its stress."""
        stretched: list[Any] = [*self.membranes, self.bending.energy] if self.bending.has_membrane else self.membranes
        for part in stretched if self.strains in stretched else [*stretched, self.strains]:
            part.stiffen(factor)


def elastic_energies(shell: Shell) -> ShellEnergies:
    """Membrane and bending energies of one shell alone, to look at or to measure.

    `membranes` and `bending.energy` answer value [J], gradient [N] and Hessian [N/m] at positions (n, 3) of its
    vertices; `bending.hessian(x, jacobian)` is what Newton's method takes instead of the exact one.
    """
    instance(shell, Shell, "what elastic_energies takes", "elastic_energies(shell)")
    if shell.loop is not None:
        raise ShellError(
            "elastic_energies is for shells whose unknowns are their vertices: bending='subdivision' has others"
        )
    return shell_energies(shell, 0, len(shell.rest_positions), 1.0)


def shell_energies(shell: Shell, at: int, vertex_count: int, scale: float) -> ShellEnergies:
    """Energies of a shell of hinges whose vertices start at `at` in a stack of `vertex_count`.

    `scale`: factor on the membrane's stiffness.
    """
    n, mesh, rest = vertex_count, shell.mesh, shell.rest
    a11, a22, a12, a66 = shell.material.membrane_moduli(len(mesh.faces))
    moduli = (scale * a11, scale * a22, scale * a12, scale * a66)
    fem = Fem(rest.points, rest.mesh.faces, rest.axes, moduli, at, n, mesh.faces)
    return _completed(shell, fem, _bending(shell, at, n), at, n)


def recut(before: ShellEnergies, shell: Shell, kept: Ints, at: int, vertex_count: int) -> ShellEnergies:
    """Energies of a shell after a cut: of its hinges `kept`, (k,), and of all its faces, on their new vertices."""
    assert isinstance(before.strains, Fem)
    fem = before.strains.recut(shell.faces + at, vertex_count)
    old = before.bending
    angles = old.angles.recut(shell.mesh, kept, at, vertex_count)
    if old.companion is None:
        rest = shell.rest
        form = vertex_form(rest.points, shell.mesh, shell.hinge_rigidity, at, vertex_count, rest.mesh)
        return _completed(shell, fem, Bending(form, angles, None), at, vertex_count)
    companion = old.companion.recut(shell.mesh, kept, at, vertex_count)
    bending = Bending(angles if old.energy is old.angles else companion, angles, companion)
    return _completed(shell, fem, bending, at, vertex_count)


def _completed(shell: Shell, fem: Fem, bending: Bending, at: int, n: int) -> ShellEnergies:
    """All energies of a shell of hinges, from its membrane and bending."""
    mesh, rest = shell.mesh, shell.rest
    membranes: list[Energy] = [fem]
    if shell.membrane == "springs":
        k_length, k_area = spring_constants(rest.points, rest.mesh, rest.axes, fem.moduli)
        lengths = None
        if rest.corners is not None:
            lengths = SeamLengths.of(rest.points, rest.mesh, rest.axes, fem.moduli)
        membranes = [EdgeSprings(rest.points, mesh, k_length, at, n, lengths)]
        if k_area.any():
            membranes.append(AreaSprings(rest.points, mesh, k_area, at, n, rest.mesh))
    parts = ShellEnergies(membranes, fem, bending)
    rate = shell.damping.stiffness + shell.damping.viscosity
    if rate > 0.0:
        parts.viscosities.append(StrainViscosity(fem, rate))
    length = np.linalg.norm(rest.hinge_edges, axis=1)
    coefficients = rate * parts.bending.angles.weights + shell.damping.hinge * length
    if coefficients.any():
        plain = hinge_weights(rest.points, rest.mesh, np.ones(len(mesh.hinges)))
        weight = coefficients / np.maximum(plain, 1e-300)
        constant = crouzeix_raviart(rest.points, mesh, weight, at, n, rest.mesh).matrix
        parts.angle_damper = AngleViscosity(parts.bending.angles, coefficients, constant)
        parts.viscosities.append(parts.angle_damper)
    energy = parts.bending.energy
    if isinstance(energy, Cubic) and (not energy.flat or shell.rest_angles_move or shell.plasticity is not None):
        parts.guard = StretchGuard(mesh.edges, rest.edges, at, mesh.vertex_count)
    return parts


def _bending(shell: Shell, at: int, n: int) -> Bending:
    mesh, rest, rigidity = shell.mesh, shell.rest, shell.hinge_rigidity
    angles = shell.rest_angles_at(0.0)
    simplified = shell.hinge_energy == "simplified"
    form = "sine" if shell.hinge_energy == "sine" else "angle"
    weights = hinge_weights(rest.points, rest.mesh, rigidity, shell.hinge_area, simplified)
    hinge = Hinge(mesh, weights, angles, form, at, n)
    if shell.bending == "quadratic" and shell.quadratic_form == "vertex":
        return Bending(vertex_form(rest.points, mesh, rigidity, at, n, rest.mesh), hinge, None)
    if shell.bending == "hinge":
        # The cubic companion must weigh hinges as the force does, whatever tile areas that uses.
        plain = hinge_weights(rest.points, rest.mesh, np.ones(len(mesh.hinges)))
        companion = Cubic(rest.points, mesh, weights / plain, angles, at, n, rest.mesh)
        return Bending(hinge, hinge, companion)
    cubic = Cubic(rest.points, mesh, rigidity, angles, at, n, rest.mesh)
    return Bending(cubic, hinge, cubic)


def subdivision_energies(
    shell: Shell, model: SubdivisionModel, at: int, vertex_count: int, scale: float, to_control: ToControl | None
) -> ShellEnergies:
    """The same of a subdivision shell, whose one energy has stretch and bending together."""
    energy = model.energy(vertex_count, scale, to_control)
    hinges = Hinge(shell.mesh, np.zeros(len(shell.hinges)), shell.rest_angles_at(0.0), "angle", at, vertex_count)
    parts = ShellEnergies([], FaceStrains(energy), Bending(energy, hinges, None, has_membrane=True))
    rate = shell.damping.stiffness + shell.damping.viscosity
    if rate > 0.0:
        parts.whole_viscosity = KelvinVoigt(energy, rate)
    return parts


def warn_of_soft_stretch(index: int, shell: Shell, parts: ShellEnergies) -> None:
    """Say so where a curved cubic shell is outside its model."""
    guard, energy = parts.guard, parts.bending.energy
    if guard is None or not isinstance(energy, Cubic) or energy.flat:
        return
    a11, a22, _, _ = shell.material.membrane_moduli(len(shell.faces))
    ratio = float(np.minimum(a11, a22).min() * guard.mean_length_2 / max(shell.hinge_rigidity.max(), 1e-300))
    if ratio < STIFFEST_BENDING:
        warnings.warn(
            f"shell {index}: stretch is only {ratio:.3g} times as stiff as bending at the size of an edge "
            f"(A|e|²/D); the cubic model assumes at least {STIFFEST_BENDING:.0f} and may swell. "
            "Use bending='hinge', a thinner material or a coarser mesh",
            ShellWarning,
            stacklevel=5,
        )
