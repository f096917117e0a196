"""Figure 9 of Thomaszewski et al. 2006: a twisted sleeve wrinkles finely, and its wrinkles merge into bigger folds.

Twisted slowly it cannot: the folds of the critical torsion only deepen (docs/theory/subdivision.md). Here torsion is
far beyond critical before anything has grown, and short waves grow first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import meshes
import shellcore as sc

# The paper's scheme: one linear system a step.
EULER: dict[str, Any] = {
    "integrator": "implicit_euler", "substeps": 1, "solver": "newton", "iterations": 1, "strain_limit": 1e-3,
}  # fmt: skip
RADIUS, LENGTH = 0.05, 0.2
WALL = RADIUS / 200
RATE, STEP = 60.0, 1e-4  # rad/s, s


def sleeve(around: int, along: int) -> tuple[sc.Shell, np.ndarray]:
    """A sleeve of the paper's cotton, out of round by 5% of its wall in waves 2 to 24 alike, and its true cylinder."""
    cylinder, faces = meshes.cylinder(around, along, RADIUS, LENGTH)
    angle, height = np.arctan2(cylinder[:, 1], cylinder[:, 0]), cylinder[:, 2] / LENGTH
    rng = np.random.default_rng(3)
    waves = range(2, 25)
    bumps = sum(
        np.sin(np.pi * k * height) * np.cos(m * angle + rng.uniform(0, 2 * np.pi)) for m in waves for k in (1, 2, 3)
    )
    outward = np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    points = cylinder + (0.05 * WALL / np.sqrt(3 * len(waves) / 4) * bumps)[:, None] * outward
    cotton = sc.Material(
        stretch=5000.0, poisson=0.25, bend=5000.0 * WALL**2 / 12, bend_poisson=0.25, areal_density=0.15, thickness=WALL
    )
    damping = sc.Damping(viscosity=1e-5)
    return sc.Shell(sc.fit_control(points, faces), faces, cotton, bending="subdivision", damping=damping), cylinder


def spectrum(limit: np.ndarray, around: int) -> np.ndarray:
    """Depth [m] of each number of waves around the middle half of a sleeve."""
    radius = np.hypot(limit[:, 0], limit[:, 1]).reshape(-1, around)
    rings = len(radius)
    depth = np.abs(np.fft.rfft(radius - radius.mean(axis=1)[:, None], axis=1)) * 2 / around
    return np.sqrt((depth[rings // 4 : 3 * rings // 4 + 1] ** 2).mean(axis=0))


@pytest.mark.parametrize(
    ("around", "along", "last"),
    [(44, 33, 0.42), (62, 35, 0.42), pytest.param(62, 35, 0.72, marks=pytest.mark.long)],
)
def test_wrinkles_merge_as_the_torsion_grows(around: int, along: int, last: float) -> None:
    shell, cylinder = sleeve(around, along)
    low, top = np.arange(around), np.arange(len(cylinder) - around, len(cylinder))

    def turned(t: float) -> np.ndarray:
        c, s = np.cos(RATE * t), np.sin(RATE * t)
        return cylinder[top] @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])

    shell.clamp(low, cylinder[low])
    shell.clamp(top, turned)
    seen = []
    scene = sc.Scene([shell], gravity=(0, 0, 0), self_contact=False)
    steps = round(last / RATE / STEP)
    for frame in sc.simulate(scene, frames=steps, fps=1.0 / STEP, **EULER):
        depth = spectrum(shell.limit(frame.control()), around)
        # Wrinkles are seen from half of the wall's thickness on; before that they are what the sleeve was made with.
        if depth.max() > 0.5 * WALL:
            mean = float((np.arange(len(depth)) * depth**2).sum() / (depth**2).sum())
            seen.append((int(depth.argmax()), mean, depth.max() / WALL))
    folds, mean, deep = (np.array(column) for column in zip(*seen, strict=True))
    assert folds[0] >= folds[-1] + 2, folds
    # They merge and do not come again.
    assert (np.diff(folds) > 0).sum() <= 1, folds
    assert mean[-1] < 0.85 * mean[0] and deep[-1] > 8.0
    if last > 0.6:
        # 7 is what slow twisting gives from the start.
        assert folds[-1] == 7
