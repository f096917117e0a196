"""Modal warping against closed forms, the full simulation, and the figures of the paper (Choi, Woo and Ko 2007)."""

from __future__ import annotations

import cases
import numpy as np
import pytest

import meshes
import modal_cases
import shellcore as sc

PLATE_MODES = np.array([19.739, 49.348, 49.348, 78.957, 98.696, 98.696])


def strip_frequencies(ends: str, bending: str, count: int) -> np.ndarray:
    """(ω² ρL⁴/D)^½ of a narrow strip's bending modes; those that twist are left out."""
    rows = 80
    mesh = cases.strip_mesh(rows, 1.0, 0.05)
    held = None if ends == "clamped" else lambda shell, base: None
    shell = cases.strip(mesh, cases.thin_material(1.0, 1e-3), bending, held=held).shell
    modal = sc.ModalShell(shell, 12)
    points = shell.rest_positions
    across = points[:, 0] - points[:, 0].mean()
    row = np.round(points[:, 1] * rows).astype(int)
    bent = [cases._row_twist(modal.shapes[:, 2, k], row, across) < 0.5 for k in range(12)]
    return np.sqrt(modal.eigenvalues[bent][:count])


@pytest.mark.parametrize("bending", ["hinge", "cubic"])
def test_frequencies_of_beams(bending: str) -> None:
    """Within 1% of a beam of rigidity D(1 − 1/9): a narrow hinge strip on equilateral triangles curls with ν = −1/3."""
    clamped = np.array(cases.CLAMPED_FREE) ** 2 * np.sqrt(modal_cases.NARROW)
    free = np.array(cases.FREE_FREE) ** 2 * np.sqrt(modal_cases.NARROW)
    np.testing.assert_allclose(strip_frequencies("clamped", bending, 3), clamped, rtol=0.01)
    np.testing.assert_allclose(strip_frequencies("free", bending, 2), free, rtol=0.01)


def plate_frequencies(mesh: meshes.Mesh, fit: bool = False) -> np.ndarray:
    points, faces = mesh
    shell = sc.Shell(points, faces, cases.thin_material(1.0, 1e-2), bending="hinge", hinge_fit=fit)
    shell.pin(np.flatnonzero((np.abs(points[:, :2] - 0.5) > 0.5 - 1e-9).any(axis=1)))
    return np.sqrt(sc.ModalShell(shell, 6).eigenvalues)


def test_frequencies_of_a_simply_supported_plate() -> None:
    """Within 1% on nearly equilateral triangles; a grid of split squares is stiff by the mesh error that docs state."""
    n = 24
    points, faces = meshes.equilateral(n, 2 * round(n / np.sqrt(3.0)), 1.0 / n)
    points = points * [1.0, 1.0 / points[:, 1].max(), 1.0]
    np.testing.assert_allclose(plate_frequencies((points, faces)), PLATE_MODES, rtol=0.01)
    grid = meshes.grid(n, n, 1.0, 1.0)
    assert 0.10 < plate_frequencies(grid)[0] / PLATE_MODES[0] - 1 < 0.20
    assert 0.0 < plate_frequencies(grid, fit=True)[0] / PLATE_MODES[0] - 1 < 0.04


def test_figure_3_length_of_a_sagging_beam() -> None:
    """Linear modes lengthen a beam, warping hardly shortens it, both as the closed form says up to 90°."""
    beam = modal_cases.Beam()
    for tip in (0.2, 0.65, 1.0, 1.3, np.pi / 2):
        linear, warped = (modal_cases.length(curve) - 1 for curve in modal_cases.sagging(tip))
        q = beam.sagged(tip)
        by_modes = modal_cases.length(beam.centre(beam.modal.linear_positions(q))) - 1
        by_warp = modal_cases.length(beam.centre(beam.modal.warped_positions(q))) - 1
        assert by_modes == pytest.approx(linear, abs=0.005)
        assert by_warp == pytest.approx(warped, abs=0.005)
        if tip == 0.65:
            assert by_modes > 0.10
            assert -0.03 < by_warp < 0.0


def test_warping_shortens_by_a_twelfth_of_the_angle_squared_under_constant_curvature() -> None:
    s = np.linspace(0, 1, 2001)
    for phi in (0.2, 0.4):
        w, slope = 0.5 * phi * s**2, np.maximum(phi * s, 1e-12)
        curve = np.column_stack([s - w * (1 - np.cos(slope)) / slope, w * np.sin(slope) / slope])
        assert 1 - modal_cases.length(curve) == pytest.approx(phi**2 / 12, rel=0.05)


@pytest.mark.parametrize(("tip", "error"), [(0.3, 0.008), (0.65, 0.022), (1.0, 0.036)])
def test_figure_3_at_rest_against_the_full_model(tip: float, error: float) -> None:
    """Tip of the beam at rest, in lengths, against the nonlinear equilibrium; stated in docs/theory/modal.md."""
    gravity = (0.0, 0.0, -6.0 * tip * modal_cases.NARROW)
    beam = modal_cases.Beam(rows=40, gravity=gravity, damping=sc.Damping(mass=6.0))
    x = modal_cases.settled(beam.modal, 400)
    full = sc.equilibrium(sc.Scene([beam.strip.shell], gravity=gravity))
    assert np.linalg.norm(beam.strip.tip_at(x) - beam.strip.tip_at(full)) < error


def test_figure_3_tip_path_against_the_full_simulation() -> None:
    """A beam let go under gravity, one swing down and up; the error is stated in docs/theory/modal.md."""
    path, full = modal_cases.swings()
    gap = np.linalg.norm(path - full, axis=1)
    assert full[:, 2].min() < -0.5  # it swings far
    assert gap.max() < 0.12
    assert np.sqrt((gap**2).mean()) < 0.06


def test_figure_4_a_v_beam_is_stiffer_most_of_all_when_soft() -> None:
    ratios = []
    for rigidity in (0.3, 1.0, 3.0):
        droops = []
        for fold in (0.0, 1.2):
            modal, x = modal_cases.drooping(fold, rigidity)
            tip = modal.shell.rest_positions[:, 0] > 1 - 1e-9
            droops.append(-(x - modal.shell.rest_positions)[tip, 2].mean())
            stretch = modal_cases.stretches(modal.shell, x)
            assert stretch.min() > 0.7
            assert stretch.max() < 1.2
        assert droops[0] > 3.0 * droops[1]
        ratios.append(droops[0] / droops[1])
    assert ratios[0] > ratios[1] > ratios[2]


def test_figure_5_position_orientation_and_both() -> None:
    for position, orientation in ((True, False), (False, True), (True, True)):
        beam, x, handles = modal_cases.manipulated(position, orientation)
        modal = beam.modal
        assert not modal.report.conflicts, str(modal.report)
        tip = beam.strip.tip_at(x)
        angle = np.einsum("ncm,m->nc", modal.rotations[beam.tip], modal.amplitudes).mean(axis=0)[0]
        if position and not orientation:
            goal = modal_cases.sagging(0.8)[1][-1]
            np.testing.assert_allclose(tip[1:], goal, atol=2e-3)
        elif orientation and not position:
            assert angle == pytest.approx(1.2, abs=2e-3)
            assert tip[2] > 0.3
        else:
            np.testing.assert_allclose(tip[1:], [0.96, 0.4], atol=2e-3)
            assert angle == pytest.approx(0.2, abs=0.01)
        assert modal_cases.length(beam.centre(x)) == pytest.approx(1.0, abs=0.12)
        assert all(handle.error < 0.01 for handle in handles)


def test_figure_6_a_character_of_four_sheets() -> None:
    """Sheets follow the skeleton at their joints and swing behind it elsewhere."""
    dancer = modal_cases.Character()
    lag = dict.fromkeys(dancer.sheets, 0.0)
    for _ in range(120):
        placed = dancer.step()
        for name, x in placed.items():
            bone = dancer.bone(name, dancer.time)
            rigid = dancer.sheets[name].shell.rest_positions @ bone[:3, :3].T + bone[:3, 3]
            away = np.linalg.norm(x - rigid, axis=1)
            assert away[dancer.held[name]].max() < 0.01
            lag[name] = max(lag[name], float(away.max()))
            assert np.median(modal_cases.stretches(dancer.sheets[name].shell, x)) == pytest.approx(1.0, abs=0.15)
    # A rigid sheet would not lag; one that came off would lag by more than its size.
    assert all(0.003 < value < 1.0 for value in lag.values()), lag
