"""Subdivision shells as clothes (figure 12 of Thomaszewski et al. 2006): trousers hung by the legs, a sweater worn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shellcore as sc
from sample_scenes.kit import figure
from sample_scenes.kit.garments import Garment, sweater, trousers
from shellcore.contact.intersections import intersections
from shellcore.system import System

# The paper's scheme.
EULER: dict[str, Any] = {"integrator": "implicit_euler", "strain_limit": 1e-3}
WAIST = 0.75
"""Height of the figure's waist [m]."""


def sewn(made: Garment, at: tuple[float, float, float], stretch: float, density: float, mass: float) -> sc.Shell:
    """A garment whose limit surface passes through the vertices it was cut with; flat cloth, so it rests flat."""
    cloth = sc.Material(
        stretch=stretch, poisson=0.3, bend=2e-5, bend_poisson=0.3, areal_density=density, thickness=1e-3
    )
    damping = sc.Damping(viscosity=1e-3, mass=mass)
    control = sc.fit_control(made.points + np.array(at), made.faces)
    return sc.Shell(control, made.faces, cloth, bending="subdivision", rest_angles="flat", damping=damping)


def test_trousers_hang_by_their_legs() -> None:
    made = trousers()
    assert 950 < len(made.points) < 1050
    shell = sewn(made, (0.0, 0.0, 0.0), stretch=3000.0, density=0.25, mass=10.0)
    legs = [made.openings[name] for name in ("left", "right")]
    for leg in legs:
        shell.pin(leg)
    scene = sc.Scene([shell], self_contact=True, contact_distance=3e-3)
    frames = list(sc.simulate(scene, frames=30, fps=50, substeps=1, solver="newton", iterations=1, **EULER))
    energies = [0.5 * (shell.mass[:, None] * frame.velocities**2).sum() for frame in frames]
    assert energies[-1] < 0.2 * max(energies)
    for frame in frames[::5]:
        limit, faces = shell.surface(frame.control(), 0)
        assert len(intersections(limit, faces)) == 0
        np.testing.assert_allclose(limit[legs[0]], made.points[legs[0]], atol=1e-9)
    # Each leg carries half of the weight of what is not held, once steps are solved: after one iteration each they are
    # 8% off.
    *_, still = sc.simulate(scene, frames=6, fps=50, substeps=1, solver="newton", resume=frames[-1].state, **EULER)
    system = System(scene)
    pull = system.bendings[0].energy.gradient(still.state["positions"])[:, 2]
    weight = 9.81 * system.mass[system.free.all(axis=1)].sum()
    left, right = (float(pull[leg].sum()) for leg in legs)
    assert left + right == pytest.approx(weight, rel=0.02)
    assert left == pytest.approx(right, rel=0.03)
    # Hung by a third of the waist's width, cloth of 3000 N/m strains by its weight ρgL/Et = 0.07%, and some times that
    # where it is held and where the legs join.
    strain = frames[-1].fields["strain"]
    assert 2e-4 < np.median(strain) < 2e-3 and strain.max() < 0.02


def turned(t: float) -> np.ndarray:
    """Rotation of the figure: it turns and leans to one side and back within 0.4 s, after 0.16 s."""
    share = 0.5 - 0.5 * np.cos(2 * np.pi * np.clip((t - 0.16) / 0.4, 0.0, 1.0))
    a, b = 0.5 * share, 0.2 * share
    turn = np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])
    return turn @ np.array([[np.cos(b), 0.0, np.sin(b)], [0.0, 1.0, 0.0], [-np.sin(b), 0.0, np.cos(b)]])


def crossings(shell: sc.Shell, frame: sc.Frame, solids: list[sc.Collider], levels: int) -> int:
    """Pairs of triangles that cross, of the limit surface refined so often and of what is worn under it."""
    x, faces = shell.surface(frame.control(), levels)
    count = len(faces)
    for solid in solids:
        faces = np.concatenate([faces, solid.faces + len(x)])
        x = np.concatenate([x, solid.place(frame.time)])
    # Arms and torso overlap.
    return int((intersections(x, faces) < count).any(axis=1).sum())


@pytest.mark.parametrize(
    ("fine", "substeps", "frames"), [(1, 2, 14), pytest.param(2, 4, 24, marks=pytest.mark.long)]
)  # fmt: skip
def test_a_sweater_on_a_moving_figure(fine: int, substeps: int, frames: int) -> None:
    made = sweater(fine)
    at = (-made.points[:, 0].mean(), 0.0, WAIST - 0.045)
    shell = sewn(made, at, stretch=1500.0, density=0.3, mass=2.0)
    solids = []
    for points, faces in (figure.torso(), figure.arm(-1.0), figure.arm(1.0)):

        def worn(t: float, points: np.ndarray = points) -> np.ndarray:
            return points @ turned(t).T + np.array([0.0, 0.0, WAIST])

        solids.append(sc.Collider(worn(0.0), faces, motion=worn))
    scene = sc.Scene([shell], colliders=solids, self_contact=True, contact_distance=4e-3)
    started = shell.limit(shell.rest_positions)
    options = {"fps": 25, "substeps": substeps, "solver": "newton", "iterations": 1} | EULER
    for frame in sc.simulate(scene, frames=frames, **options):
        assert crossings(shell, frame, solids, 0) == 0
        assert np.median(frame.fields["strain"]) < 0.02
        # Half of its turn: it follows.
        if frame.time == pytest.approx(0.36):
            out = shell.limit(frame.control()) @ turned(frame.time)
            sleeve = np.abs(started[:, 0]) > 0.3
            assert np.abs(out[sleeve, 1]).max() < 0.15
    limit = shell.limit(frame.control())
    # It has come down onto the shoulders and hangs from them: it covers the torso as before.
    assert started[:, 2].max() - 0.1 < limit[:, 2].max() < started[:, 2].max() + 0.05
    assert crossings(shell, frame, solids, 1) == 0
