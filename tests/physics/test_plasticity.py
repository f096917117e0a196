"""Paper that stays folded, a can that stays dented."""

import numpy as np
import pytest

import shellcore as sc
from meshes import cylinder, grid
from shellcore.energies.hinge import hinge_angles


@pytest.mark.parametrize("bending", ["hinge", "cubic"])
@pytest.mark.parametrize("share", [3.0, 0.9])
def test_folded_paper_springs_back_as_theory_says(bending, share):
    """A sheet folded along its middle and let go keeps the fold less the elastic turn κ_y A/|e| of its hinges."""
    points, faces = grid(8, 4, 8e-3, 4e-3)
    law = sc.Plasticity.preset("paper")
    paper = sc.Material.preset("paper")

    def sheet():
        return sc.Shell(points, faces, paper, bending, plasticity=law)

    elastic = float(law.yield_curvature) * 1e-3  # A/|e| of a right grid is its spacing
    fold = share * elastic
    raised = points[:, 0] - 4e-3
    lifted = np.where(raised > 0, raised, 0.0)
    folded = points + np.outer(lifted * (np.cos(fold) - 1.0), [1, 0, 0]) + np.outer(lifted * np.sin(fold), [0, 0, 1])
    press = sheet()
    press.pin(np.arange(len(points)), lambda t: points + min(24 * t, 1.0) * (folded - points))
    pressed = list(sc.simulate(sc.Scene([press], gravity=(0, 0, 0)), 3))[-1]
    free = sheet()
    free.pin(np.flatnonzero(raised < -2.5e-3))
    frame = list(sc.simulate(sc.Scene([free], gravity=(0, 0, 0)), 12, resume=pressed.state, tolerance=1e-9))[-1]
    angles = hinge_angles(frame.positions, free.hinges)
    crease = np.flatnonzero(np.abs(points[free.hinges[:, :2], 0] - 4e-3).max(axis=1) < 1e-9)
    assert len(crease) == 4
    kept = max(fold - elastic, 0.0)
    assert angles[crease] == pytest.approx(kept, abs=1e-4)
    assert np.abs(np.delete(angles, crease)).max() < 1e-4


def pressed_can(load, law, frames=8):
    """Mean travel [mm] of seven vertices of a can's wall pressed by `load` [N]: at the worst, and when let go."""
    points, faces = cylinder(30, 10, 0.033, 0.06)
    damping = sc.Damping(mass=60.0)
    can = sc.Shell(points, faces, sc.Material.preset("can_wall"), "hinge", plasticity=law, damping=damping)
    can.pin(can.mesh.boundary_vertices)
    pad = np.argsort(np.linalg.norm(points - np.array([0.033, 0.0, 0.03]), axis=1))[:7]
    times = np.array([0.0, 0.4, 0.6]) * frames / 24

    def push(t):
        return np.tile([-load / len(pad) * np.interp(t, times, [0.0, 1.0, 0.0]), 0.0, 0.0], (len(pad), 1))

    can.load(pad, push)
    run = list(sc.simulate(sc.Scene([can], gravity=(0, 0, 0)), frames, tolerance=1e-6))
    travel = [1e3 * float(points[pad, 0].mean() - frame.positions[pad, 0].mean()) for frame in run]
    return max(travel), travel[-1], run[-1]


def test_a_can_keeps_a_dent_above_its_yield_load_only():
    law = sc.Plasticity.preset("can_wall")
    deepest, left, frame = pressed_can(30.0, law)
    assert deepest > 0.5 and abs(left) < 1e-3
    assert not frame.state["plastic_0_stretch"].any()
    deepest, left, frame = pressed_can(250.0, law)
    assert deepest > 2.0 and 0.3 * deepest < left < deepest
    assert frame.state["plastic_0_stretch"].max() > 1e-3
    # The same load on a can that cannot yield: it is the flow that stays, not another shape of the elastic wall.
    assert abs(pressed_can(250.0, None)[1]) < 1e-3
