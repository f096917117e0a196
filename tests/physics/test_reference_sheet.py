"""A sheet of 2 m hung by two corners: what a frame costs, and how far it is from the fully converged run."""

from itertools import pairwise

import numpy as np
import pytest

import shellcore as sc
from meshes import grid, unstructured

SIDE, FRAMES = 2.0, 24


def frames(mesh, count=FRAMES, **options):
    points, faces = mesh
    shell = sc.Shell(points, faces, sc.Material.preset("reference"), bending="quadratic")
    shell.pin([int(np.argmin(points[:, 0] + points[:, 1])), int(np.argmin(points[:, 0] - points[:, 1]))])
    return list(sc.simulate(sc.Scene([shell]), count, **options))


@pytest.mark.parametrize("mesh", [grid(23, 23, SIDE, SIDE), unstructured(600, SIDE, SIDE)], ids=["grid", "irregular"])
def test_few_gradients_come_near_the_converged_run(mesh):
    exact = frames(mesh, tolerance=1e-6 * SIDE, solver="quasi_newton")
    # A halved step is another motion, not a more exact one.
    assert sum(frame.stats["halvings"] for frame in exact) == 0
    quick = frames(mesh)
    off = quick[-1].positions - exact[-1].positions
    assert np.sqrt((off**2).sum() / len(off)) < 0.02 * SIDE
    assert np.mean([frame.stats["gradients"] for frame in quick]) <= 40


def test_both_roads_converge_to_the_same_minimum_without_halving():
    # Frame by frame from the same states: where a symmetric sheet buckles, round-off decides to which side. (A sheet of
    # 15 cells has two minima in its fourth frame, 1.3 mm and 0.1 mJ apart; Newton's method finds the lower one.)
    mesh = grid(17, 17, SIDE, SIDE)
    options = {"tolerance": 1e-8 * SIDE, "strain_limit": 0.0}
    run = frames(mesh, 6, solver="quasi_newton", **options)
    for before, after in pairwise(run):
        (other,) = frames(mesh, 1, solver="newton", resume=before.state, **options)
        assert after.stats["halvings"] == other.stats["halvings"] == 0
        assert np.abs(other.positions - after.positions).max() < 1e-6 * SIDE
