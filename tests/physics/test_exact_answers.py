"""Deflections and modes against exact answers, on equilateral meshes, for every hinge model; all within 2%."""

from __future__ import annotations

import cases
import numpy as np
import pytest

CURL = 1 - 1 / 9  # EI/D of a free narrow strip: the mesh's bending Poisson ratio is −1/3


@pytest.mark.parametrize("bending", cases.MODELS)
@pytest.mark.parametrize("gamma", [0.1, 1, 10, 100])
def test_heavy_cantilever(gamma: float, bending: str) -> None:
    # The lightest case bends so little that only a very thin sheet is kept from curling across.
    found = cases.heavy_cantilever(gamma, bending, thickness=1e-5 if gamma < 5 else 1e-4)
    drop, x = cases.HEAVY[gamma]
    assert found["drop"] == pytest.approx(drop, rel=0.02)
    assert found["x"] == pytest.approx(x, rel=0.02)
    assert abs(found["drop"] - drop) < 0.01 and abs(found["x"] - x) < 0.01


def test_heavy_cantilever_does_not_care_which_way_the_mesh_lies() -> None:
    # No row of edges lies across: where curvature changes, only small elements bend without stretching.
    points, faces = cases.strip_mesh(20, 0.25, 1.0)
    turned = np.column_stack([points[:, 1], points[:, 0], 0 * points[:, 0]]), faces
    found = cases.heavy_cantilever(10, "hinge", thickness=1e-4, mesh=turned)
    assert found["drop"] == pytest.approx(cases.HEAVY[10][0], abs=0.01)
    assert found["x"] == pytest.approx(cases.HEAVY[10][1], abs=0.01)


@pytest.mark.parametrize("bending", ["hinge", "quadratic"])
@pytest.mark.parametrize("load", [1, 2, 4, 10])
def test_tip_load(load: float, bending: str) -> None:
    table = {row[0]: row for row in cases.reference("cantilever_endload.csv")}
    deflection, shortening = cases.tip_loaded(load, bending)
    assert deflection == pytest.approx(table[load][2], rel=0.02)
    assert shortening == pytest.approx(table[load][1], rel=0.02)


@pytest.mark.parametrize("bending", cases.MODELS)
def test_end_shear(bending: str) -> None:
    table = cases.reference("sze_cantilever_end_shear.csv")[[5, 10, 15, 20]]
    # Thinner than the benchmark's 0.1, whose answer is the inextensible one: see `cases`.
    found = cases.end_shear(table[:, 0], bending, thickness=1e-3)
    np.testing.assert_allclose(found, table[:, 1:], rtol=0.02)


@pytest.mark.parametrize("bending", cases.MODELS)
def test_roll_up_to_a_full_circle(bending: str) -> None:
    table = cases.reference("cantilever_rollup_exact.csv")[3::4]
    found = cases.roll_up(table[:, 0], bending)
    assert table[-1, 0] == 1.0
    assert np.abs(found - table[:, 1:]).max() < 0.02 * 12.0 / (2 * np.pi)


@pytest.mark.parametrize("bending", cases.MODELS)
@pytest.mark.parametrize("edge", ["clamped", "supported"])
def test_square_plate(edge: str, bending: str) -> None:
    assert cases.square_plate(edge, bending) == pytest.approx(cases.PLATE[edge], rel=0.02)


@pytest.mark.parametrize("bending", cases.MODELS)
@pytest.mark.parametrize(("ends", "roots"), [("clamped", cases.CLAMPED_FREE), ("free", cases.FREE_FREE)])
def test_beam_modes_of_a_sheet_bent_to_cylinders(ends: str, roots: tuple[float, ...], bending: str) -> None:
    found = cases.beam_modes(ends, bending, cylindrical=True, count=len(roots))
    np.testing.assert_allclose(found**2, np.square(roots), rtol=0.02)


@pytest.mark.parametrize("bending", cases.MODELS)
@pytest.mark.parametrize(("ends", "roots"), [("clamped", cases.CLAMPED_FREE), ("free", cases.FREE_FREE)])
def test_beam_modes_of_a_narrow_strip_see_the_models_own_poisson_ratio(
    ends: str, roots: tuple[float, ...], bending: str
) -> None:
    found = cases.beam_modes(ends, bending, cylindrical=False, count=len(roots))
    np.testing.assert_allclose(found**2, np.square(roots) * np.sqrt(CURL), rtol=0.02)


@pytest.mark.parametrize("bending", cases.MODELS)
def test_vibrating_strip_keeps_time(bending: str) -> None:
    found = cases.swinging_strip(bending)
    assert found**2 == pytest.approx(cases.CLAMPED_FREE[0] ** 2 * np.sqrt(CURL), rel=0.02)
