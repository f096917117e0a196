"""Handles: positions, orientations, groups, springs, conflicts, pins that move, free shells."""

from __future__ import annotations

import numpy as np
import pytest

import meshes
import shellcore as sc
from modal_cases import rotation, settled

MATERIAL = sc.Material(stretch=2e4, bend=0.05, areal_density=0.3, thickness=1e-3)
STILL = (0.0, 0.0, 0.0)


def strip(clamped: bool = True, damping: float = 8.0, **options: object) -> sc.Shell:
    points, faces = meshes.equilateral(16, 4, 0.025)
    shell = sc.Shell(points, faces, MATERIAL, bending="hinge", damping=sc.Damping(mass=damping), **options)
    if clamped:
        shell.clamp(np.flatnonzero(points[:, 0] < 1e-9))
    return shell


def end(shell: sc.Shell) -> np.ndarray:
    x = shell.rest_positions[:, 0]
    return np.flatnonzero(x > x.max() - 1e-9)


def test_a_position_handle_takes_a_vertex_to_its_target() -> None:
    shell = strip()
    modal = sc.ModalShell(shell, 20, gravity=STILL)
    vertex = int(end(shell)[0])
    goal = shell.rest_positions[vertex] + [-0.05, 0.0, 0.15]
    handle = modal.position_handle(vertex, shell.rest_positions[vertex])
    for part in np.linspace(0.0, 1.0, 30):
        handle.target = shell.rest_positions[vertex] * (1 - part) + part * goal
        x = modal.step(1 / 30)
        # From the flat state no mode shortens the strip: the first steps miss by a little.
        assert np.linalg.norm(x[vertex] - handle.target) < 0.01 * 0.4
    x = settled(modal)
    np.testing.assert_allclose(x[vertex], goal, atol=1e-4 * 0.4)
    assert handle.error == pytest.approx(np.linalg.norm(x[vertex] - goal), abs=1e-5)
    assert not modal.report.conflicts
    handle.release()
    np.testing.assert_allclose(settled(modal), shell.rest_positions, atol=1e-5)
    handle.release()
    handle.target = goal  # a released handle moves nothing
    np.testing.assert_allclose(settled(modal, 30), shell.rest_positions, atol=1e-5)


def test_an_orientation_handle_turns_its_vertices() -> None:
    shell = strip()
    modal = sc.ModalShell(shell, 20, gravity=STILL)
    tip = end(shell)
    handle = modal.orientation_handle(tip, np.eye(3))
    for part in np.linspace(0.0, 1.0, 40):
        handle.target = rotation(1, -0.9 * part)
        modal.step(1 / 30)
    settled(modal)
    w = np.einsum("ncm,m->nc", modal.rotations[tip], modal.amplitudes).mean(axis=0)
    np.testing.assert_allclose(w, [0.0, -0.9, 0.0], atol=1e-3)
    assert handle.error < 1e-3
    assert handle.force.shape == (1, 3)


def test_turns_beyond_half_a_turn_add_up() -> None:
    shell = strip()
    modal = sc.ModalShell(shell, 20, gravity=STILL)
    handle = modal.orientation_handle(end(shell), np.eye(3))
    for angle in np.linspace(0.0, 4.5, 120):
        handle.target = rotation(0, angle)  # a twist about the strip
        modal.step(1 / 30)
    w = np.einsum("ncm,m->nc", modal.rotations[end(shell)], modal.amplitudes).mean(axis=0)
    assert w[0] == pytest.approx(4.5, abs=0.02)


def test_a_group_follows_its_mean_or_every_target() -> None:
    shell = strip()
    tip = end(shell)
    modal = sc.ModalShell(shell, 20, gravity=STILL)
    goal = shell.rest_positions[tip].mean(axis=0) + np.array([-0.02, 0.0, 0.1])
    modal.position_handle(tip, goal)
    x = settled(modal)
    np.testing.assert_allclose(x[tip].mean(axis=0), goal, atol=1e-4)
    modal = sc.ModalShell(shell, 20, gravity=STILL)
    goal = shell.rest_positions[tip] + [-0.02, 0.0, 0.1]
    modal.position_handle(tip, goal)
    np.testing.assert_allclose(settled(modal)[tip], goal, atol=1e-3)


def test_more_rows_than_modes_meet_in_the_least_squares_sense() -> None:
    shell = strip()
    modal = sc.ModalShell(shell, 6, gravity=STILL)
    far = np.flatnonzero(shell.rest_positions[:, 0] > 0.2)
    lifted = shell.rest_positions[far] + [0.0, 0.0, 0.01]
    modal.position_handle(far, lifted)
    x = settled(modal)
    assert np.abs(x[far] - lifted).max() < 0.005
    assert modal.report.rows == 3 * len(far)


def test_a_soft_handle_is_a_spring() -> None:
    """Force k (target − x), shared with the sheet's own stiffness: small enough to be linear."""
    shell = strip()
    modal = sc.ModalShell(shell, 30, gravity=STILL)
    vertex = int(end(shell)[2])
    phi = modal.shapes[vertex, 2]
    give = float((phi**2 / modal.eigenvalues).sum())
    k = 0.7 / give
    handle = modal.position_handle(vertex, shell.rest_positions[vertex] + [0.0, 0.0, 1e-4], stiffness=k)
    x = settled(modal, 500)
    assert x[vertex, 2] == pytest.approx(1e-4 * 0.7 / 1.7, rel=1e-3)
    assert handle.force[0, 2] == pytest.approx(k * (1e-4 - x[vertex, 2]), rel=1e-3)
    assert not modal.report.conflicts  # a spring may miss


def test_a_handle_bears_what_the_sheet_weighs() -> None:
    """Held at both ends, each bears half: the force of a handle is that of a support."""
    shell = strip(clamped=False)
    edge = np.flatnonzero(shell.rest_positions[:, 0] < 1e-9)
    shell.pin(edge)
    modal = sc.ModalShell(shell, 30, gravity=(0.0, 0.0, -0.05))
    handle = modal.position_handle(end(shell), shell.rest_positions[end(shell)])
    settled(modal, 600)
    assert handle.force.sum(axis=0)[2] == pytest.approx(0.5 * shell.mass.sum() * 0.05, rel=0.02)


def test_conflicts_are_shared_and_reported() -> None:
    shell = strip()
    modal = sc.ModalShell(shell, 20, gravity=STILL)
    vertex = int(end(shell)[1])
    here = shell.rest_positions[vertex]
    lift = np.array([0.0, 0.0, 0.05])
    up, down = modal.position_handle(vertex, here + lift), modal.position_handle(vertex, here - lift)
    x = settled(modal)
    np.testing.assert_allclose(x[vertex], here, atol=1e-6)
    assert {id(h) for h in modal.report.conflicts} == {id(up), id(down)}
    assert up.error == pytest.approx(0.05, rel=1e-3)
    assert "cannot be met" in str(modal.report)
    down.release()
    x = settled(modal)
    assert not modal.report.conflicts
    assert x[vertex, 2] == pytest.approx(0.05, abs=1e-4)


def test_a_handle_on_a_pinned_vertex_is_a_conflict_not_a_failure() -> None:
    shell = strip()
    modal = sc.ModalShell(shell, 12, gravity=STILL)
    handle = modal.position_handle(0, shell.rest_positions[0] + [0.0, 0.0, 0.1])
    x = settled(modal, 60)
    np.testing.assert_allclose(x, shell.rest_positions, atol=1e-3)
    assert modal.report.conflicts == [handle]


def test_pins_that_move_become_handles() -> None:
    shell = strip(clamped=False)
    edge = np.flatnonzero(shell.rest_positions[:, 0] < 1e-9)
    shell.pin(edge)
    tip = end(shell)
    rest = shell.rest_positions[tip]
    lift = np.array([0.0, 0.0, 0.05])
    shell.pin(tip, lambda t: rest + lift * min(t, 1.0), axes=(False, False, True))
    modal = sc.ModalShell(shell, 20, gravity=STILL)
    assert len(modal.handles) == 1
    x = settled(modal, 120)
    np.testing.assert_allclose(x[tip, 2], 0.05, atol=1e-3)
    assert modal.report.rows == len(tip)


def test_a_free_shell_is_carried_and_turned_by_handles() -> None:
    shell = strip(clamped=False, damping=4.0)
    modal = sc.ModalShell(shell, 16)
    assert modal.free
    held = np.flatnonzero(shell.rest_positions[:, 0] < 0.06)
    rest = shell.rest_positions[held]
    position, orientation = modal.position_handle(held, rest), modal.orientation_handle(held, np.eye(3))
    for k in range(150):
        angle = 1.5 * min(1.0, k / 60)
        turn = rotation(2, angle)
        position.target = rest @ turn.T + [0.0, 0.0, 0.3 * min(1.0, k / 60)]
        orientation.target = turn
        x = modal.step(1 / 30)
    assert position.error < 2e-3
    assert orientation.error < 0.02
    np.testing.assert_allclose(x[held], position.target, atol=4e-3)
    # The free end is carried along and hangs.
    tip = x[end(shell)].mean(axis=0)
    assert tip[2] < 0.3
    assert tip[1] > 0.1


def test_bad_handles_are_refused() -> None:
    modal = sc.ModalShell(strip(), 8)
    with pytest.raises(sc.ShellError, match="outside"):
        modal.position_handle(10_000, np.zeros(3))
    with pytest.raises(sc.ShellError, match="at least one"):
        modal.position_handle([], np.zeros(3))
    with pytest.raises(sc.ShellError, match="target"):
        modal.position_handle([1, 2], np.zeros((3, 3)))
    with pytest.raises(sc.ShellError, match="finite"):
        modal.position_handle(1, [0.0, np.nan, 0.0])
    with pytest.raises(sc.ShellError, match="rotation matrix"):
        modal.orientation_handle(1, 2 * np.eye(3))
    with pytest.raises(sc.ShellError, match="rotation matrix"):
        modal.orientation_handle(1, np.diag([1.0, 1.0, -1.0]))
    with pytest.raises(sc.ShellError, match="stiffness"):
        modal.position_handle(1, np.zeros(3), stiffness=-1.0)
    handle = modal.position_handle([1, 2], np.zeros(3))
    with pytest.raises(sc.ShellError, match="shape"):
        handle.target = np.zeros((2, 3))
