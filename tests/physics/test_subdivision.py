"""Subdivision shells against exact answers: plates, strips, a roof. References in tests/references and `cases`."""

from __future__ import annotations

import cases
import numpy as np
import pytest
from loop_plates import PLATE, SMALL, plate, rest

import meshes
import shellcore as sc
from shellcore.subdivision.supports import Slopes, across_border

STRIP = sc.Material(stretch=1.2e5, shear=6e4, bend=100.0, bend_shear=50.0, areal_density=1.0, thickness=0.1)


@pytest.mark.parametrize("edge", ["clamped", "supported"])
def test_square_plate_converges_at_order_three_or_more(edge: str) -> None:
    errors = np.array([abs(plate(n, edge) / cases.PLATE[edge] - 1) for n in (6, 12)])
    assert errors[1] < 0.003
    assert np.log2(errors[0] / errors[1]) > 3.0


def test_one_point_is_softer_and_tied_ghosts_are_stiffer() -> None:
    assert 1.02 < plate(12, "clamped", quadrature=1) / cases.PLATE["clamped"] < 1.04
    # The paper's ghosts: 15% off where free ones are 0.004% off.
    assert plate(16, "clamped", ghosts="tied") / cases.PLATE["clamped"] == pytest.approx(0.8456, abs=2e-3)


def test_a_quarter_of_a_plate() -> None:
    errors = []
    for n in (5, 10):
        points, faces = meshes.grid(n, n, 0.5, 0.5, "one")
        shell = sc.Shell(points, faces, PLATE, bending="subdivision")
        x, y = points[:, 0], points[:, 1]
        shell.clamp(np.flatnonzero((x < 1e-9) | (y < 1e-9)))
        shell.symmetry(np.flatnonzero(x > 0.5 - 1e-9), 0)
        shell.symmetry(np.flatnonzero(y > 0.5 - 1e-9), 1)
        limit, _ = rest(shell, gravity=(0, 0, -SMALL))
        errors.append(-limit[-1, 2] / SMALL / cases.PLATE["clamped"] - 1)
    # A slope held at vertices only is of second order (Green and Turkiyyah 2004).
    assert 0 < errors[1] < 0.01 and np.log2(errors[0] / errors[1]) > 1.5


@pytest.mark.parametrize(("d", "reference"), [((1, 1, 0.5), 0.00544016), ((1, 0.5, 0.2), 0.00859352)])
def test_orthotropic_plate(d: tuple[float, float, float], reference: float) -> None:
    # H = D12 + 2 D66, with D12 = 0.
    woven = sc.Material(
        stretch=1e4, bend=(d[0], d[1]), bend_shear=d[2] / 2, bend_poisson=0.0, areal_density=1.0, thickness=0.01
    )
    assert plate(12, "supported", woven) == pytest.approx(reference, rel=1e-3)


def strip(length: float, nx: int, ny: int) -> tuple[sc.Shell, np.ndarray, np.ndarray]:
    """A strip along x of width 1, clamped at x = 0; the vertices of its tip and their shares of the width."""
    points, faces = meshes.grid(nx, ny, length, 1.0, "one")
    shell = sc.Shell(points, faces, STRIP, bending="subdivision")
    shell.clamp(np.flatnonzero(points[:, 0] < 1e-9))
    tip = np.flatnonzero(points[:, 0] > length - 1e-9)
    return shell, tip, cases.row_shares(points[tip, 1])


def test_end_shear() -> None:
    shell, tip, share = strip(10.0, 16, 2)
    table = cases.reference("sze_cantilever_end_shear.csv")[[5, 10, 20]]
    state = None
    for fraction, u, w in table:
        shell.loads.clear()
        shell.load(tip, np.outer(share, [0.0, 0.0, 4.0 * fraction]))
        limit, stats = rest(shell, start=state)
        state = stats["state"]
        moved = share @ limit[tip] - [10.0, 0.5, 0.0]
        assert moved[2] == pytest.approx(w, rel=0.01)
        assert -moved[0] == pytest.approx(u, rel=0.01)


def test_roll_up_to_a_full_circle() -> None:
    # The tip is turned and left free to move: the moment of a pure bend does the same.
    length = 12.0
    shell, tip, share = strip(length, 24, 2)
    _, rows, across = across_border(shell.loop, shell.loop.complete(shell.rest_positions), tip)

    def turned(t: float) -> np.ndarray:
        return np.outer(across[:, 0], [np.cos(2 * np.pi * t), 0.0, np.sin(2 * np.pi * t)])

    shell.border_slopes.append(Slopes(rows, np.ones((len(tip), 3), dtype=bool), turned))
    state = None
    for t in np.arange(1, 9) / 8:
        limit, stats = rest(shell, time=t, start=state)
        state = stats["state"]
        angle = 2 * np.pi * t
        exact = np.array([np.sin(angle), 0.0, 1 - np.cos(angle)]) * length / angle + [0, 0.5, 0]
        assert np.abs(share @ limit[tip] - exact).max() < 0.01 * length / (2 * np.pi)


def test_scordelis_lo_roof() -> None:
    errors = []
    for n in (8, 16):
        flat, faces = meshes.grid(n, n, 1.0, 1.0, "one")
        angle = np.radians(80.0) * (flat[:, 0] - 0.5)
        points = np.column_stack([25 * np.sin(angle), 50 * flat[:, 1], 25 * np.cos(angle)])
        material = sc.Material.solid(young=4.32e8, poisson=0.0, thickness=0.25, density=1.0)
        shell = sc.Shell(sc.fit_control(points, faces), faces, material, bending="subdivision")
        shell.pin(np.flatnonzero(np.abs(flat[:, 1] - 0.5) > 0.5 - 1e-9), axes=(True, False, True))
        shell.pin([int(np.argmin(((flat - [0.5, 0.5, 0]) ** 2).sum(axis=1)))], axes=(False, True, False))
        scale = 1e-4
        limit, _ = rest(shell, gravity=(0, 0, -scale * 90 / 0.25))
        edge = int(np.argmin(((flat - [0, 0.5, 0]) ** 2).sum(axis=1)))
        errors.append(abs((points - limit)[edge, 2] / scale / 0.300601 - 1))
    assert errors[1] < 0.01
    assert errors[0] / errors[1] > 3.0


@pytest.mark.parametrize(
    ("edge", "exact"),
    [
        ("supported", np.pi**2 * np.array([2, 5, 5, 8, 10, 10])),
        ("clamped", [35.985, 73.394, 73.394, 108.22, 131.58, 132.20]),
        ("free", [13.468, 19.596, 24.270, 34.801, 34.801, 61.093]),
    ],
)
def test_frequencies_of_plates(edge: str, exact: np.ndarray) -> None:
    # λ = ωa²√(ρh/D) of square plates, ν = 0.3 (Leissa 1973).
    points, faces = meshes.grid(10, 10, 1.0, 1.0, "one")
    shell = sc.Shell(points, faces, PLATE, bending="subdivision")
    if edge == "supported":
        shell.pin(shell.mesh.boundary_vertices)
    if edge == "clamped":
        shell.clamp(shell.mesh.boundary_vertices)
    modes = sc.ModalShell(shell, modes=6)
    assert modes.free == (edge == "free")
    np.testing.assert_allclose(2 * np.pi * modes.frequencies, exact, rtol=2e-3)


def test_modes_sag_as_a_plate_does() -> None:
    points, faces = meshes.grid(8, 8, 1.0, 1.0, "one")
    shell = sc.Shell(points, faces, PLATE, bending="subdivision", damping=sc.Damping(mass=100.0))
    shell.pin(shell.mesh.boundary_vertices)
    modes = sc.ModalShell(shell, modes=24, gravity=(0, 0, -SMALL))
    for _ in range(200):
        x = modes.step(0.02)
    assert -x[40, 2] / SMALL == pytest.approx(cases.PLATE["supported"], rel=0.01)
    np.testing.assert_allclose(x[shell.mesh.boundary_vertices], points[shell.mesh.boundary_vertices], atol=1e-12)
