"""The rest problem of a subdivision shell, over its free unknowns: control vertices, ghosts, what supports exchange."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, diags, identity, kron

from ..errors import ShellError
from ..linalg.factor import solved
from ..pins import Pin
from ..scene import Scene
from ..shell import Shell
from ..subdivision.surface import LoopSurface
from ..system import System
from ..types import Floats, Sparse


@dataclass(frozen=True)
class LimitProblem:
    """Over k free unknowns: K (k, k) [N/m], and `weighted` (3q, k), displacements of q quadrature points times the root
    of their mass, so that mass is its square."""

    stiffness: Sparse
    weighted: Sparse
    nodes: Sparse
    """Displacements of the limit points, (3n, k)."""
    mass: Floats
    """Mass of the limit points [kg], (n,)."""
    gradient: Floats
    """Elastic force at rest where nothing holds it [N], (·, 3)."""
    points: tuple[Floats, Floats]
    """Positions (q, 3) [m] and mass (q,) [kg] of the quadrature points."""


def limit_problem(shell: Shell, pins: Sequence[Pin], springs: Floats) -> LimitProblem:
    """Of a subdivision shell with `pins`, which stay at rest, and `springs` (n, 3) [N/m] on its limit points."""
    assert shell.loop is not None
    held = copy(shell)
    held.pins = [pin for pin in pins if pin.stiffness is None]
    held.start = shell.rest_positions
    system = System(Scene([held]))
    whole = shell.loop.complete(shell.rest_positions)
    for part in shell.border_slopes:
        for t in (0.0, 0.1, 1.0):
            if np.abs((part.at(t) - part.rows @ whole)[part.axes]).max(initial=0.0) > 1e-9:
                raise ShellError(
                    "ModalShell takes clamps of a subdivision shell that stay at rest: pin the vertices and turn them "
                    "by orientation handles"
                )
    y = system.targets(0.0, system.start)
    energy = system.bendings[0].energy
    free = np.flatnonzero(system.free.ravel())
    to_control = identity(system.free.size, format="csr") if system.to_control is None else system.to_control.matrix()
    changed = csr_matrix(to_control.tocsc()[:, free])

    def read(rows: Sparse) -> Sparse:
        return csr_matrix(kron(rows, identity(3), format="csr") @ changed)

    points = system.models[0].points
    mass = points.areas * shell.material.face_areal_density(len(shell.faces))[points.faces]
    nodes = read(shell.loop.limits)
    stiffness = csr_matrix(energy.hessian(y, psd=False).matrix()[free][:, free])
    gradient = energy.gradient(y)
    gradient[~system.free] = 0.0
    return LimitProblem(
        stiffness=csr_matrix(stiffness + nodes.T @ diags(springs.ravel()) @ nodes),
        weighted=csr_matrix(diags(np.repeat(np.sqrt(mass), 3)) @ read(points.values)),
        nodes=nodes,
        mass=node_mass(shell.loop, points.values.T @ mass),
        gradient=gradient,
        points=(points.values @ whole, mass),
    )


def node_mass(surface: LoopSurface, control_mass: Floats) -> Floats:
    """Mass [kg] of limit points, (n,), that integrates every surface with ghosts on parallelograms as its basis
    functions of mass `control_mass` (n + g,) do: so that gravity pulls at modes as it should.
    """
    carried: Floats = surface.extrapolation.T @ control_mass
    mass = solved(csr_matrix((surface.limits @ surface.extrapolation).T), carried)
    if mass.min() > 0.0:
        return mass
    # Odd corners may ask for less than nothing; lumping at limit points by their own weights is of second order.
    lumped: Floats = np.maximum(surface.limits @ control_mass, 0.0)
    lumped *= control_mass.sum() / lumped.sum()
    return lumped
