"""Scenes of the papers' figures, shared by tests/physics and benchmarks/validation.py."""

from __future__ import annotations

from typing import Any

import numpy as np

import meshes
import shellcore as sc
from shellcore.energies.hinge import hinge_angles
from shellcore.system import System

# Bending over in-plane stiffness of the drapes, per square metre (quadratic bending paper, figure 3).
DRAPE_RATIOS = (1e-5, 1e-3, 1e-2)
# What the papers step by, and what their figures were measured with.
EULER: dict[str, Any] = {"integrator": "implicit_euler", "strain_limit": 1e-3}
FLEXURAL = (100.0, 1000.0, 10000.0)
SIDE, BALL = 1.6, 0.4


def drape(
    ratio: float, bending: str, n: int = 32, frames: int = 72, contact: str = "penalty"
) -> tuple[sc.Shell, np.ndarray, list[float]]:
    """A square cloth let down on a ball, heavily damped, one step a frame: shell, final positions, speeds [m/s]."""
    points, faces = meshes.unstructured((n + 1) ** 2, SIDE, SIDE, seed=1)
    points = points - [SIDE / 2, SIDE / 2, 0.0]
    stretch = 40.0
    material = sc.Material(stretch=stretch, bend=ratio * stretch, poisson=0.25, areal_density=0.3, thickness=2e-3)
    # An unsettled start: smooth bumps of a few millimetres, the same for every model.
    bumps = sum(np.sin(k * points[:, 0] + k) * np.cos(1.3 * k * points[:, 1] - k) for k in (3, 5, 7, 11))
    start = points + np.outer(BALL + 0.003 + 0.001 * bumps, [0.0, 0.0, 1.0])
    damping = sc.Damping(mass=2.0, stiffness=0.05)
    shell = sc.Shell(points, faces, material, bending=bending, start=start, damping=damping, rest_angles="flat")
    # Self-contact or not, it comes out alike; what is compared is bending.
    ball = sc.Sphere((0.0, 0.0, 0.0), BALL, friction=0.5)
    scene = sc.Scene([shell], colliders=[ball], self_contact=False, contact=contact)
    speeds, x = [], start
    for frame in sc.simulate(scene, frames, fps=24, substeps=1, solver="newton", **EULER):
        speeds.append(float(np.sqrt((frame.velocities**2).sum(axis=1).mean())))
        x = frame.positions
    return shell, x, speeds


def fold_scale(shell: sc.Shell, x: np.ndarray) -> float:
    """Root mean square curvature [1/m] of the hanging part of a drape, κ = |e|θ/A per hinge, weighted by area."""
    edge = shell.rest_positions[shell.hinges[:, 1]] - shell.rest_positions[shell.hinges[:, 0]]
    area = shell.areas[shell.mesh.hinge_faces].sum(axis=1)
    curvature = np.linalg.norm(edge, axis=1) * hinge_angles(x, shell.hinges) / area
    hanging = x[shell.hinges[:, :2]].mean(axis=1)[:, 2] < 0.7 * BALL
    if not hanging.any():
        return 0.0
    return float(np.sqrt((area * curvature**2)[hanging].sum() / area[hanging].sum()))


def beam(stiffness: float, folded: bool, bending: str = "hinge", n: int = 20) -> sc.Shell:
    """Flat or v-beam of Discrete Shells, figure 2: held at one end; its flexural stiffness in units of 1e-5 N·m."""
    points, faces = meshes.v_beam(n, 3, 1.0, 0.15, np.radians(40.0) if folded else 0.0)
    material = sc.Material(stretch=2e3, poisson=0.25, bend=1e-5 * stiffness, areal_density=0.15, thickness=1e-3)
    shell = sc.Shell(points, faces, material, bending=bending)
    shell.clamp(np.flatnonzero(points[:, 0] < 1.5 / n))
    return shell


def droop(shell: sc.Shell, x: np.ndarray) -> float:
    """How far the free end hangs down [m]."""
    tip = shell.rest_positions[:, 0] > 1.0 - 1e-9
    return float((shell.rest_positions[tip, 2] - x[tip, 2]).mean())


def energy(scene: sc.Scene, frame: Any) -> float:
    """Elastic, kinetic and gravitational energy [J]."""
    system = System(scene)
    elastic = sum(part.value(frame.positions) for part in system.elastic())
    kinetic = 0.5 * float((system.mass[:, None] * frame.velocities**2).sum())
    return elastic + kinetic - float(system.mass @ (frame.positions @ scene.gravity))


def falling(shape: str, ratio: float, frames: int = 24) -> tuple[sc.Shell, list[Any]]:
    """A cylinder or bowl that falls on the floor, stretch over bending A|e|²/D = ratio (Cubic Shells, section 8)."""
    if shape == "cylinder":
        points, faces = meshes.cylinder(24, 12, 0.15, 0.4)
        points = points[:, [2, 0, 1]]  # on its side
    else:
        points, faces = meshes.hemisphere(8, 0.2)
        points = points * [1.0, 1.0, -1.0]
    points = points - [0.0, 0.0, points[:, 2].min() - 0.1]
    stretch = 4000.0
    edges = sc.Shell(points, faces, sc.Material(stretch=1.0, bend=1e-9, areal_density=1.0, thickness=1e-3)).mesh.edges
    mean = float(((points[edges[:, 1]] - points[edges[:, 0]]) ** 2).sum(axis=1).mean())
    bend = stretch * mean / ratio / (1 + 1e-9)
    material = sc.Material(stretch=stretch, poisson=0.25, bend=bend, areal_density=1.0, thickness=2e-3)
    shell = sc.Shell(points, faces, material, bending="cubic", damping=sc.Damping(stiffness=0.002))
    scene = sc.Scene([shell], colliders=[sc.Plane((0, 0, 0), (0, 0, 1), friction=0.3)])
    return shell, list(sc.simulate(scene, frames, fps=24, substeps=2, solver="auto", **EULER))


def edge_strain(shell: sc.Shell, x: np.ndarray) -> float:
    """Largest change of an edge's length over its rest length."""
    a, b = shell.mesh.edges.T
    rest = np.linalg.norm(shell.rest_positions[b] - shell.rest_positions[a], axis=1)
    return float(np.abs(np.linalg.norm(x[b] - x[a], axis=1) / rest - 1).max())


def torn_flag(frames: int = 48) -> tuple[sc.Shell, list[Any]]:
    """A flag of soft rubber, held along its mast in a gale that stretches it to several times its length."""
    points, faces = meshes.grid(20, 12, 1.0, 0.6)
    points = points[:, [0, 2, 1]]
    material = sc.Material(stretch=0.3, poisson=0.25, bend=1e-5, areal_density=0.15, thickness=1e-3)
    shell = sc.Shell(points, faces, material, bending="cubic")
    shell.pin(np.flatnonzero(points[:, 0] < 1e-9))
    wind = sc.Wind(velocity=(4.0, 14.0, 0.0), drag=1.0)
    return shell, list(sc.simulate(sc.Scene([shell], wind=wind), frames, fps=24, substeps=1, solver="auto", **EULER))
