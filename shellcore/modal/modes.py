"""The lowest modes of a shell about its rest shape: K Φ = M Φ Λ with Φᵀ M Φ = I.

K is the exact second derivative at rest of whatever membrane and bending the shell has, plus the springs of soft pins
and clamps; M the lumped mass. Pins at rest leave the problem; a free shell's six rigid motions are taken out exactly.
The nodes of a subdivision shell are its limit points; its modes follow from the mass of the basis functions
themselves (`limit.py`).
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, diags

from ..errors import ShellError, listed
from ..linalg.assembly import Hessian
from ..linalg.eigen import lowest_eigenpairs, lowest_modes_through
from ..linalg.threads import limited
from ..pins import Pin
from ..scene import Scene
from ..shell import Shell
from ..system import System
from ..types import Bools, Floats, Sparse
from .limit import LimitProblem, limit_problem

# Changes when what is stored means something else, so that old files are not taken for new.
VERSION = 1
# Round-off of an eigenvalue as a share of the largest entry of M⁻½KM⁻½.
ROUND_OFF = 1e-13
# Elastic force that still counts as none at rest: that of stretching one edge by this share of the shell's size.
AT_REST = 1e-9


@dataclass
class RestProblem:
    """K (3n, 3n) [N/m] with coordinates of a vertex adjacent, lumped mass (n,) [kg], free components (n, 3)."""

    stiffness: Sparse
    mass: Floats
    free: Bools
    unheld: bool
    """Whether nothing holds the shell, not even a spring."""
    shift: float
    """A number [1/s²] of the order of the lowest eigenvalue, never below round-off."""
    blur: float
    """What round-off makes of eigenvalues [1/s²]."""
    limit: LimitProblem | None = None
    """Of a subdivision shell, which has other unknowns than nodes: those `stiffness` is about."""


@dataclass
class Modes:
    """Mode shapes (3, n, m) [1/√kg], components first, and eigenvalues ω² (m,) [1/s²]."""

    shapes: Floats
    eigenvalues: Floats
    fingerprint: str


def rests(shell: Shell, pin: Pin) -> bool:
    """Whether a pin holds its vertices where they rest, at all times."""
    return not callable(pin.targets) and bool(
        np.allclose(pin.at(0.0), nodes_at_rest(shell)[pin.vertices], rtol=0.0, atol=1e-12 * _size(shell))
    )


def nodes_at_rest(shell: Shell) -> Floats:
    """Where the nodes of a shell rest [m], (n, 3): its vertices, or the limit points of a subdivision shell."""
    return shell.limit(shell.rest_positions)


def rest_problem(shell: Shell) -> RestProblem:
    """What the modes of a shell follow from; raises where its rest shape is not in equilibrium."""
    if shell.rest_angles_move:
        raise ShellError("ModalShell takes rest angles that do not change with time: use simulate for those that do")
    if any(callable(pin.stiffness) for pin in shell.pins):
        raise ShellError(
            "ModalShell takes stiffness of pins that does not change with time: give a number, or use simulate"
        )
    free, springs = _held(shell)
    unheld = bool(free.all()) and not springs.any()
    if shell.loop is not None:
        limit = limit_problem(shell, [pin for pin in shell.pins if rests(shell, pin)], springs)
        stiffness, gradient, mass = limit.stiffness, limit.gradient, limit.mass
    else:
        system, limit = System(Scene([shell])), None
        mass = system.mass
        total, gradient = Hessian(len(free)), np.zeros_like(springs)
        for energy in system.elastic():
            total = total + energy.hessian(shell.rest_positions, psd=False)
            gradient += energy.gradient(shell.rest_positions)
        stiffness = csr_matrix(total.matrix() + diags(springs.ravel()))
    force = np.sqrt((gradient**2).sum(axis=1))
    loose = np.flatnonzero(force > AT_REST * float(stiffness.diagonal().max()) * _size(shell))
    if len(loose):
        raise ShellError(
            f"the rest shape is not in equilibrium: its own stress pulls at vertices {listed(loose)}. Modes need a "
            "rest state that stays: use rest_angles='shape', or build the Shell from the positions of an equilibrium",
            vertices=loose,
        )
    stiffness = 0.5 * (stiffness + stiffness.T)
    largest = float(stiffness.diagonal().max() / mass.mean())
    if limit is None:
        largest = float((stiffness.diagonal() / np.repeat(mass, 3)).max())
    rigidity = float(np.mean([np.mean(d) for d in shell.material.bending_moduli(len(shell.faces))[:2]]))
    density = float(mass.sum() / shell.areas.sum())
    bending = rigidity / density * (np.pi / _size(shell)) ** 4
    blur = ROUND_OFF * largest
    return RestProblem(stiffness, mass, free, unheld, max(0.1 * bending, blur), blur, limit)


def _held(shell: Shell) -> tuple[Bools, Floats]:
    """Which components of nodes pins at rest leave free, (n, 3), and the springs [N/m] of soft ones, (n, 3)."""
    free, springs = np.ones_like(shell.rest_positions, dtype=bool), np.zeros_like(shell.rest_positions)
    for pin in shell.pins + shell.slopes:
        if not rests(shell, pin):
            continue
        if pin.stiffness is None:
            free[np.ix_(pin.vertices, np.flatnonzero(pin.axes))] = False
        else:
            np.add.at(springs, pin.vertices, np.outer(pin.stiffness_at(0.0), pin.axes).astype(np.float64))
    return free, springs


def fingerprint(problem: RestProblem, count: int) -> str:
    """Name of a problem's solution: equal only where stiffness, mass, pins and the number of modes are."""
    digest = hashlib.sha256(f"modes {VERSION} {count}".encode())
    matrix = problem.stiffness
    moved = () if problem.limit is None else (problem.limit.weighted.data, problem.limit.nodes.data)
    for array in (matrix.data, matrix.indices, matrix.indptr, problem.mass, problem.free, *moved):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


@limited(None)
def solve_modes(shell: Shell, problem: RestProblem, count: int) -> Modes:
    """The lowest `count` modes above the rigid ones (fewer where the shell has fewer)."""
    at = np.flatnonzero(problem.free.ravel())
    if len(at) == 0:
        raise ShellError("every vertex is pinned: there is nothing left to move")
    if problem.limit is None:
        root = np.sqrt(np.repeat(problem.mass, 3))
        scaled = diags(1.0 / root[at]) @ problem.stiffness[at][:, at] @ diags(1.0 / root[at])
        rigid = rigid_motions(shell.rest_positions, problem.mass) if problem.unheld else None
        values, vectors, negative = lowest_eigenpairs(scaled.tocsc(), count, problem.shift, rigid)
        floor = ROUND_OFF * float(scaled.diagonal().max())
    else:
        rigid = rigid_motions(*problem.limit.points) if problem.unheld else None
        weighted = problem.limit.weighted
        values, vectors, negative = lowest_modes_through(problem.stiffness, weighted, count, problem.shift, rigid)
        floor = max(1e-6 * problem.shift, problem.blur)
    if negative or (len(values) and values[0] < -floor):
        raise ShellError(
            "the rest state is not stable: it would leave its shape by itself"
            + (f" (lowest eigenvalue {values[0]:.3g} 1/s²)" if len(values) else "")
            + ". Use bending='hinge', a stiffer stretch or a finer mesh, or simulate instead of ModalShell"
        )
    n = len(shell.rest_positions)
    shapes = np.zeros((3 * n, len(values)))
    if problem.limit is None:
        shapes[at] = vectors / root[at][:, None]
    else:
        shapes[:] = problem.limit.nodes @ vectors
    # An eigenvector has no sign of its own: its largest component is made positive.
    shapes *= np.sign(shapes[np.abs(shapes).argmax(axis=0), np.arange(len(values))])
    by_components = np.ascontiguousarray(shapes.reshape(n, 3, -1).transpose(1, 0, 2))
    return Modes(by_components, np.maximum(values, 0.0), fingerprint(problem, count))


def rigid_motions(x: Floats, mass: Floats) -> Floats:
    """Orthonormal basis (3n, 6) of M^½ times translations and rotations, coordinates of a vertex adjacent."""
    centred = x - mass @ x / mass.sum()
    root = np.sqrt(mass)
    fields = [np.broadcast_to(axis, x.shape) for axis in np.eye(3)] + [np.cross(axis, centred) for axis in np.eye(3)]
    basis: Floats = np.linalg.qr(np.stack([(root[:, None] * f).ravel() for f in fields], axis=1))[0]
    return basis


def load_modes(path: Path, wanted: str) -> Modes | None:
    """Modes kept in a file, or None where it does not hold those with this fingerprint."""
    try:
        with np.load(path, allow_pickle=False) as file:
            if str(file["fingerprint"]) != wanted:
                return None
            return Modes(file["shapes"], file["eigenvalues"], wanted)
    except (OSError, KeyError, ValueError, EOFError):
        return None


def save_modes(path: Path, modes: Modes) -> None:
    """Keep modes in a file of plain arrays; a reader sees the whole file or none."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with open(part, "wb") as file:
        np.savez(file, shapes=modes.shapes, eigenvalues=modes.eigenvalues, fingerprint=np.array(modes.fingerprint))
    os.replace(part, path)


def _size(shell: Shell) -> float:
    return float(np.linalg.norm(np.ptp(nodes_at_rest(shell), axis=0)))
