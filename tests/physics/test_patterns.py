"""Patterns sewn to shapes come to rest at the stress that they must have.

Where the pieces close to a shape without stretching, all that is left is what bending asks of the membrane: a strain
of the order of (thickness × curvature)², which falls to a quarter where the sheet is half as thick. Bending itself is
that of the shape: π D H/R of a tube, ½ D cot²α φ ln(b/a) of a cone.
"""

from __future__ import annotations

import numpy as np
import patterns
import pytest

import shellcore as sc
from meshes import grid
from shellcore.system import System

YOUNG, RADIUS = 1e9, 0.1


def material(thickness: float, poisson: float = 0.3) -> sc.Material:
    return sc.Material.solid(young=YOUNG, poisson=poisson, thickness=thickness, density=1000)


def at_rest(
    pattern: patterns.Pattern, start: np.ndarray, thickness: float, bending: str, **options: object
) -> tuple[float, float]:
    """Largest principal strain, and bending energy over rigidity, of a pattern at rest after a `start` (n, 3)."""
    _, faces, uv = pattern
    shell = sc.Shell(start, faces, material(thickness), rest_uv=uv, bending=bending, **options)
    scene = sc.Scene([shell], gravity=(0, 0, 0), self_contact=False)
    x = np.asfortranarray(sc.equilibrium(scene))
    system = System(scene)
    e11, e22, e12 = system.strain_fields[0].strain(x)
    strain = float((0.5 * np.abs(e11 + e22) + np.hypot(0.5 * (e11 - e22), e12)).max())
    return strain, system.bendings[0].energy.value(x) / float(shell.hinge_rigidity.mean())


def disturbed(points: np.ndarray) -> np.ndarray:
    noise = np.random.default_rng(0).normal(size=points.shape)
    return points * np.array([1.02, 0.98, 1.02]) + 0.002 * RADIUS * noise


TUBE = patterns.tube(24, 6, 2.0 * np.pi * RADIUS, 0.15)
CONE = patterns.cone(24, 6, 0.08, 0.25, 4.0)
GORES = patterns.gores(8, 10, RADIUS)
SPHERE = RADIUS * GORES[0] / np.linalg.norm(GORES[0], axis=1)[:, None]


@pytest.mark.parametrize("bending", ["hinge", "quadratic", "cubic"])
@pytest.mark.parametrize(
    "pattern, start",
    [(TUBE, disturbed(TUBE[0])), (CONE, disturbed(CONE[0])), (GORES, SPHERE)],
    ids=["tube", "cone", "hemisphere"],
)
def test_what_closes_without_stretching_keeps_no_stress_but_bendings_own(
    pattern: patterns.Pattern, start: np.ndarray, bending: str
) -> None:
    points, faces, uv = pattern
    closed = sc.Shell(points, faces, material(1e-4), rest_uv=uv, bending=bending)
    assert closed.rest.off(points, closed.faces) < 1e-12
    assert closed.rest.off(start, closed.faces) > 0.04
    strain, _ = at_rest(pattern, start, 2e-4, bending)
    thinner, bent = at_rest(pattern, start, 5e-5, bending)
    # A sixteenth where every part scales alike; borders and folds, which are as wide as √(R t), a little more.
    assert strain < 3e-4 and thinner < strain / 8.0
    # It bends no more than the shape it closes to.
    whole = System(sc.Scene([closed])).bendings[0].energy.value(np.asfortranarray(points))
    assert bent == pytest.approx(whole / float(closed.hinge_rigidity.mean()), rel=0.1)


@pytest.mark.parametrize("membrane", ["fem", "springs"])
def test_bending_of_tube_and_cone(membrane: str) -> None:
    tube = at_rest(TUBE, disturbed(TUBE[0]), 1e-4, "hinge", membrane=membrane)[1]
    assert tube == pytest.approx(np.pi * 0.15 / RADIUS, rel=0.02)
    sine = 4.0 / (2.0 * np.pi)
    cone = at_rest(CONE, disturbed(CONE[0]), 1e-4, "hinge", membrane=membrane)[1]
    assert cone == pytest.approx(0.5 * (1.0 / sine**2 - 1.0) * 4.0 * np.log(0.25 / 0.08), rel=0.05)


@pytest.mark.parametrize("turn", [np.eye(2), np.diag([1.0, -1.0]), np.array([[0.6, -0.8], [0.8, 0.6]])])
def test_islands_turned_or_mirrored_rest_alike(turn: np.ndarray) -> None:
    points, faces, uv = TUBE
    half = uv[:, :, 0].mean(axis=1) > np.pi * RADIUS
    other = np.where(half[:, None, None], uv @ turn.T, uv)
    plain, turned = (at_rest((points, faces, each), disturbed(points), 2e-4, "hinge") for each in (uv, other))
    np.testing.assert_allclose(turned, plain, rtol=1e-6)


@pytest.mark.parametrize("membrane", ["fem", "springs"])
def test_unequal_sides_sewn_share_the_strain_by_stiffness(membrane: str) -> None:
    """Three strips side by side, the middle one shorter by a tenth, held flat by a grip at either end that is free to
    move: all are as long in the end, and the grip feels no force. ν = 0 keeps their widths out of it."""
    points, faces = grid(12, 6, 0.6, 0.3)
    middle = np.abs(points[faces][:, :, 1].mean(axis=1) - 0.15) < 0.05
    uv = points[faces][:, :, :2]
    uv[middle, :, 0] *= 0.9
    sheet = material(1e-3, 0.0) if membrane == "fem" else material(1e-3, 1.0 / 3.0)
    shell = sc.Shell(points, faces, sheet, rest_uv=uv, membrane=membrane)
    shell.pin(np.arange(len(points)), axes=(False, False, True))
    ends = [np.flatnonzero(np.abs(points[:, 0] - at) < 1e-9) for at in (0.0, 0.6)]
    shell.pin(ends[0], axes=(True, False, False))
    shell.pin([0], axes=(False, True, False))
    target = points[ends[1]].copy()

    def pull(length: float) -> tuple[float, np.ndarray]:
        held = sc.Shell(points, faces, sheet, rest_uv=uv, membrane=membrane)
        held.pins = list(shell.pins)
        target[:, 0] = length
        held.pin(ends[1], targets=target, axes=(True, False, False))
        scene = sc.Scene([held], gravity=(0, 0, 0), self_contact=False)
        x = np.asfortranarray(sc.equilibrium(scene))
        system = System(scene)
        force = sum(energy.gradient(x)[ends[1], 0].sum() for energy in system.elastic())
        return float(force), np.array(system.strain_fields[0].strain(x))

    lengths = np.array([0.57, 0.58, 0.59])
    forces = [pull(length)[0] for length in lengths]
    rest = float(np.interp(0.0, forces, lengths))
    if membrane == "springs":
        # Springs follow their own law of large strains: as long as small ones would have it to first order.
        assert rest == pytest.approx(3.0 / (2.0 / 0.6 + 1.0 / 0.54), rel=5e-3)
        return
    # Axial Green strain of each and the force S (l/l̄) of each width, S = Y E.
    exact = [sum(w * (l / r) * ((l / r) ** 2 - 1.0) for w, r in ((0.2, 0.6), (0.1, 0.54))) for l in lengths]  # noqa: E741
    np.testing.assert_allclose(np.array(forces), 0.5 * YOUNG * 1e-3 * np.array(exact), rtol=2e-3, atol=5.0)
    _, (e11, _, _) = pull(rest)
    np.testing.assert_allclose(e11[middle], 0.5 * ((rest / 0.54) ** 2 - 1.0), atol=1e-3)
    np.testing.assert_allclose(e11[~middle], 0.5 * ((rest / 0.6) ** 2 - 1.0), atol=1e-3)


def test_a_tube_narrower_than_what_holds_it_is_strained_by_as_much() -> None:
    """Cut a tenth narrower and held at the places of the wide one it is stretched round by a ninth."""
    points, faces, uv = TUBE
    narrow = uv * np.array([0.9, 1.0])
    shell = sc.Shell(points, faces, material(1e-4, 0.0), rest_uv=narrow, bending="hinge")
    shell.pin(np.arange(len(points)))
    e11, e22, e12 = System(sc.Scene([shell])).strain_fields[0].strain(np.asfortranarray(points))
    np.testing.assert_allclose(e11, 0.5 * (1.0 / 0.81 - 1.0), rtol=1e-10)
    assert max(np.abs(e22).max(), np.abs(e12).max()) < 1e-12
