"""`equilibrium` reaches its residual on strongly nonlinear cases, counted by hand from the energies."""

from __future__ import annotations

from typing import Any

import cases
import numpy as np
import pytest

import shellcore as sc


def solved(scene: sc.Scene, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
    stats: dict[str, Any] = {}
    return sc.equilibrium(scene, stats=stats, **options), stats


def check(scene: sc.Scene, x: np.ndarray, stats: dict[str, Any], largest_load: float) -> None:
    left = cases.static_residual(scene, x)
    assert stats["bound"] in ("tolerance", "round-off")
    if stats["bound"] == "tolerance":
        assert left <= 1.01e-6 * largest_load
    # Summed in another order the forces differ by their round-off.
    assert left <= 3 * stats["goal"]


@pytest.mark.parametrize("bending", cases.MODELS)
def test_heavy_cantilever(bending: str) -> None:
    found = cases.heavy_cantilever(100, bending, thickness=1e-3)
    scene = sc.Scene([found["shell"]])
    assert found["stats"]["bound"] == "tolerance"
    check(scene, found["positions"], found["stats"], found["shell"].mass.max() * cases.GRAVITY)
    assert found["stats"]["iterations"] < 40


def test_round_off_is_named_where_it_binds() -> None:
    found = cases.heavy_cantilever(0.1, "quadratic", thickness=1e-5)
    assert found["stats"]["bound"] == "round-off"
    # The load is far below the round-off of stretching forces, and is answered all the same.
    assert found["stats"]["goal"] > 1e-3 * found["shell"].mass.max() * cases.GRAVITY
    assert found["drop"] == pytest.approx(cases.HEAVY[0.1][0], rel=0.02)


def test_roll_up_to_a_circle_in_one_go() -> None:
    rows, h = 40, 12.0 / 39.5
    beam = cases.strip(cases.strip_mesh(rows, rows * h, 1.0), cases.thin_material(100.0, 1e-2), "hinge")
    points = beam.shell.rest_positions
    inner = np.flatnonzero(np.abs(points[:, 1] - (rows - 1) * h) < 1e-6 * h)
    couple = cases.LineCouple(inner, beam.tip, points)
    scene = sc.Scene([beam.shell], gravity=(0, 0, 0), forces=[couple])
    x = points
    for fraction in (0.25, 0.5, 0.75, 1.0):
        couple.moment = fraction * 2.0 * np.pi * 100.0 * beam.width / 12.0
        x, stats = solved(scene, start=x)
    force = couple.force(0.0, x, 0 * x, x)
    check(scene, x, stats, np.linalg.norm(force, axis=1).max())
    assert np.linalg.norm(np.mean(couple.ends(x), axis=0)[1:]) < 0.02 * 12.0


@pytest.mark.parametrize("bending", ["hinge", "quadratic"])
def test_buckled_strip(bending: str) -> None:
    scene = cases.buckled_strip(bending)
    x, stats = solved(scene)
    check(scene, x, stats, np.inf)
    assert x[:, 2].max() > 0.25


def test_hanging_cloth() -> None:
    scene = cases.hanging_cloth()
    x, stats = solved(scene)
    assert stats["bound"] == "tolerance"
    check(scene, x, stats, scene.shells[0].mass.max() * cases.GRAVITY)


def test_inflated_pillow() -> None:
    scene = cases.pillow()
    x, stats = solved(scene)
    check(scene, x, stats, np.inf)
    assert 0.3 < np.ptp(x[:, 2]) < 0.6


def test_start_and_answer_do_not_depend_on_each_other() -> None:
    first = cases.heavy_cantilever(10, "hinge", thickness=1e-3)
    again, _ = solved(sc.Scene([first["shell"]]), start=first["positions"] + [0.0, 0.0, 0.0])
    np.testing.assert_allclose(again, first["positions"], atol=1e-7)
