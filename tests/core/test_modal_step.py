"""Steps in time: forces, damping, base motion, free flight, and ten thousand steps of rough handling."""

from __future__ import annotations

import numpy as np
import pytest

import meshes
import shellcore as sc
from modal_cases import rotation, settled

MATERIAL = sc.Material(stretch=2e4, bend=0.05, areal_density=0.3, thickness=1e-3)
STILL = (0.0, 0.0, 0.0)


def strip(clamped: bool = True, **options: object) -> sc.Shell:
    points, faces = meshes.equilateral(16, 4, 0.025)
    shell = sc.Shell(points, faces, MATERIAL, bending="hinge", **options)
    if clamped:
        shell.clamp(np.flatnonzero(points[:, 0] < 1e-9))
    return shell


def moved(offset: np.ndarray, turn: np.ndarray | None = None) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3] = np.eye(3) if turn is None else turn
    matrix[:3, 3] = offset
    return matrix


def test_a_mode_swings_at_its_frequency_and_keeps_its_energy() -> None:
    modal = sc.ModalShell(strip(), 6, gravity=STILL)
    omega = np.sqrt(modal.eigenvalues[0])
    modal.rates[0] = 1e-4
    h = 0.05 / omega
    energies, amplitudes = [], []
    for _ in range(500):
        modal.step(h)
        energies.append(0.5 * (modal.rates**2 + modal.eigenvalues * modal.amplitudes**2).sum())
        amplitudes.append(modal.amplitudes[0])
    assert np.ptp(energies) < 1e-12 * energies[0]
    # Average acceleration turns by 2 atan(ωh/2) a step.
    expected = 1e-4 / omega * np.sin(2 * np.arctan(0.025) * np.arange(1, 501))
    np.testing.assert_allclose(amplitudes, expected, atol=1e-9 / omega * 1e-1)


def test_order_of_the_step() -> None:
    """Against the exact answer to a constant force with damping: the error falls fourfold with half the step."""
    shell = strip(damping=sc.Damping(mass=3.0))
    modal = sc.ModalShell(shell, 4, gravity=STILL)
    square = modal.eigenvalues[0]
    omega = np.sqrt(square - 1.5**2)
    t = 0.6
    exact = (1 - np.exp(-1.5 * t) * (np.cos(omega * t) + 1.5 / omega * np.sin(omega * t))) / square
    force = 1e-6 * shell.mass[:, None] * modal.shapes[:, :, 0]
    gaps = []
    for steps in (60, 120, 240):
        modal.reset()
        for _ in range(steps):
            modal.step(t / steps, forces=force)
        gaps.append(abs(modal.amplitudes[0] / 1e-6 - exact) / abs(exact))
    rates = np.log2(np.array(gaps[:-1]) / gaps[1:])
    assert (np.abs(rates - 2.0) < 0.1).all(), (gaps, rates)


def test_small_motions_are_those_of_linear_modal_analysis() -> None:
    """Under a load of size s the warped motion departs from the linear one by s²."""
    gaps = []
    shell = strip()
    for size in (0.4, 0.2, 0.1):
        modal = sc.ModalShell(shell, 12, gravity=(0.0, 0.1 * size, -size))
        q, v = np.zeros(12), np.zeros(12)
        force = np.einsum("ncm,nc->m", modal.shapes, shell.mass[:, None] * modal.gravity)
        worst = 0.0
        h = 0.01
        rule = None
        for _ in range(60):
            x = modal.step(h)
            rule = modal._rule
            ahead = rule.keep * v - rule.pull * q + rule.push * force
            q, v = q + rule.before * v + rule.after * ahead, ahead
            worst = max(worst, float(np.abs(x - modal.linear_positions(q)).max()))
        gaps.append(worst)
    rates = np.log2(np.array(gaps[:-1]) / gaps[1:])
    assert (np.abs(rates - 2.0) < 0.15).all(), (gaps, rates)


def test_modes_too_fast_for_the_step_settle() -> None:
    modal = sc.ModalShell(strip(), 20, gravity=(0.0, 0.0, -0.1))
    h = 4.0 / np.sqrt(modal.eigenvalues[0])
    x = settled(modal, 40, h)
    static = np.einsum("ncm,nc->m", modal.shapes, modal.shell.mass[:, None] * modal.gravity) / modal.eigenvalues
    np.testing.assert_allclose(x, modal.warped_positions(static), atol=2e-4)


def test_damping() -> None:
    """Rayleigh's parts decay a mode by exp(−½(ξ + ζω²)t); hinges dissipate what their angle rates do."""
    for damping in (sc.Damping(mass=2.0), sc.Damping(stiffness=2e-3), sc.Damping(mass=1.0, viscosity=1e-3)):
        modal = sc.ModalShell(strip(damping=damping), 3, gravity=STILL)
        decay = damping.mass + (damping.stiffness + damping.viscosity) * modal.eigenvalues[0]
        modal.rates[0] = 1e-5
        h, steps = 0.01 / np.sqrt(modal.eigenvalues[0]), 2000
        for _ in range(steps):
            modal.step(h)
        energy = modal.rates[0] ** 2 + modal.eigenvalues[0] * modal.amplitudes[0] ** 2
        assert np.log(1e-10 / energy) == pytest.approx(decay * h * steps, rel=0.02)
    shell = strip(damping=sc.Damping(hinge=1e-4))
    modal = sc.ModalShell(shell, 3)
    plain = sc.ModalShell(strip(), 3)
    assert (modal._decay > 0).all()
    assert not plain._decay.any()
    # Hinges with weight w dissipate as the stiffness part ζ does with 1e-4 |e| for ζ w: both are sums over angle rates.
    ratio = modal._decay / modal.eigenvalues
    x, hinges = shell.rest_positions, shell.hinges
    edge = np.linalg.norm(x[hinges[:, 1]] - x[hinges[:, 0]], axis=1)
    weight = 0.05 * edge**2 / (2 * np.sqrt(3) / 4 * 0.025**2)
    inside = edge > 0.99 * 0.025
    assert ratio[0] == pytest.approx((1e-4 * edge / weight)[inside].mean(), rel=0.2)


def test_an_accelerated_base_is_gravity() -> None:
    """A base that accelerates by a shakes the shell as gravity −a would."""
    a = np.array([0.3, -0.2, 1.5])
    h = 1 / 120
    driven, heavy = sc.ModalShell(strip(), 12, gravity=STILL), sc.ModalShell(strip(), 12, gravity=tuple(-a))
    driven.base_motion(np.eye(4), 0.0)
    velocity, place = np.zeros(3), np.zeros(3)
    for k in range(1, 120):
        velocity = velocity + h * a
        place = place + h * velocity
        driven.base_motion(moved(place), k * h)
        x, y = driven.step(h), heavy.step(h)
        np.testing.assert_allclose(x - place, y, atol=1e-9)


def test_a_base_that_stops_stops() -> None:
    modal = sc.ModalShell(strip(damping=sc.Damping(mass=6.0)), 12, gravity=STILL)
    modal.base_motion(np.eye(4), 0.0)
    modal.step(0.05)
    modal.base_motion(moved([0.0, 0.0, 0.2], rotation(2, 0.4)), 0.05)
    modal.step(0.05)
    assert np.abs(modal.amplitudes).max() > 1e-3
    x = settled(modal)
    np.testing.assert_allclose(x, modal.shell.rest_positions @ rotation(2, 0.4).T + [0, 0, 0.2], atol=1e-5)


def test_a_turning_base_drives_by_centrifugal_force() -> None:
    """A strip along x that turns about z, clamped at a tilt: it is bent as the load m ω² r bends it."""
    shell = strip(damping=sc.Damping(mass=8.0))
    shell_2 = strip(damping=sc.Damping(mass=8.0))
    tilt = rotation(1, 0.3)
    spin = 1.2
    h = 1 / 60
    modal = sc.ModalShell(shell, 12, gravity=STILL)
    for k in range(600):
        modal.base_motion(moved(np.zeros(3), rotation(2, spin * k * h) @ tilt), k * h)
        modal.step(h)
    still = sc.ModalShell(shell_2, 12, gravity=STILL)
    bent = still.positions
    for _ in range(600):
        # In the frame of the base: outward from the world's z axis.
        world = bent @ tilt.T
        load = shell.mass[:, None] * spin**2 * world * [1.0, 1.0, 0.0]
        bent = still.step(h, forces=load @ tilt)
    np.testing.assert_allclose(modal.amplitudes, still.amplitudes, atol=2e-3 * np.abs(still.amplitudes).max())


def test_scaled_and_backward_bases_are_refused() -> None:
    modal = sc.ModalShell(strip(), 4)
    with pytest.raises(sc.ShellError, match="scale"):
        modal.base_motion(np.diag([2.0, 2.0, 2.0, 1.0]), 0.0)
    with pytest.raises(sc.ShellError, match="4 × 4"):
        modal.base_motion(np.eye(3), 0.0)
    modal.base_motion(np.eye(4), 1.0)
    with pytest.raises(sc.ShellError, match="goes on in time"):
        modal.base_motion(np.eye(4), 0.5)
    free = sc.ModalShell(strip(clamped=False), 4)
    with pytest.raises(sc.ShellError, match="held"):
        free.base_motion(np.eye(4), 0.0)


def test_a_free_shell_falls_and_turns_as_a_rigid_body() -> None:
    spin, velocity = np.array([0.4, 0.1, 2.0]), np.array([1.0, 0.0, 0.5])
    points, _ = meshes.equilateral(16, 4, 0.025)
    shell = strip(clamped=False)
    centre = shell.mass @ points / shell.mass.sum()
    shell = strip(clamped=False, velocities=velocity + np.cross(spin, points - centre))
    modal = sc.ModalShell(shell, 10)
    h, steps = 1 / 60, 120
    before = modal._body.momentum.copy()
    for _ in range(steps):
        x = modal.step(h)
    t = h * steps
    expected = centre + velocity * t + 0.5 * np.array([0.0, 0.0, -9.81]) * t**2
    np.testing.assert_allclose(shell.mass @ x / shell.mass.sum(), expected, atol=1e-9)
    np.testing.assert_allclose(modal._body.momentum, before, atol=1e-15)
    a, b = shell.mesh.edges.T
    stretch = np.linalg.norm(x[a] - x[b], axis=1) / np.linalg.norm(points[a] - points[b], axis=1)
    np.testing.assert_allclose(stretch, 1.0, atol=5e-3)


def test_forces_move_a_free_shell() -> None:
    shell = strip(clamped=False)
    modal = sc.ModalShell(shell, 10, gravity=STILL)
    push = np.zeros_like(shell.rest_positions)
    push[0] = [0.0, 0.0, 1e-4]
    for _ in range(30):
        x = modal.step(1 / 60, forces=push)
    mass = shell.mass.sum()
    centre = shell.mass @ (x - shell.rest_positions) / mass
    assert centre[2] == pytest.approx(0.5 * 1e-4 / mass * 0.25, rel=1e-3)
    momentum = np.cross(shell.rest_positions[0] - shell.mass @ shell.rest_positions / mass, push[0]) * 0.5
    np.testing.assert_allclose(modal._body.momentum, momentum, rtol=0.02, atol=1e-8)


def test_loads_pressure_wind_and_user_forces() -> None:
    class Lift:
        def force(self, t: float, x: np.ndarray, v: np.ndarray, area_normals: np.ndarray) -> np.ndarray:
            return 0.5 * area_normals

    rise = {}
    for name in ("load", "pressure", "user", "wind"):
        shell = strip(damping=sc.Damping(mass=8.0), pressure=0.5 if name == "pressure" else None)
        if name == "load":
            normals = sc.ModalShell(shell, 1)._loads.normals(shell.rest_positions)
            shell.load(np.arange(len(normals)), 0.5 * normals)
        wind = sc.Wind((0.0, 0.0, 0.9), drag=1.0) if name == "wind" else None
        modal = sc.ModalShell(shell, 12, gravity=STILL, wind=wind, forces=[Lift()] if name == "user" else ())
        rise[name] = settled(modal)[:, 2].max()
    # ½ρu² = 0.496 Pa: nearly the same push from all four.
    assert rise["pressure"] == pytest.approx(rise["user"], rel=1e-9)
    assert rise["load"] == pytest.approx(rise["user"], rel=0.05)
    assert rise["wind"] == pytest.approx(rise["user"], rel=0.1)
    assert rise["load"] > 0.005


def test_strong_wind_on_a_light_sheet_stays_bounded() -> None:
    shell = strip()
    modal = sc.ModalShell(shell, 16, wind=sc.Wind((30.0, 5.0, 20.0), drag=1.2, lift=0.5))
    for _ in range(300):
        x = modal.step(1 / 30)
    assert np.abs(x).max() < 10.0


def test_reset_starts_again() -> None:
    modal = sc.ModalShell(strip(), 8)
    first = [modal.step(1 / 30).copy() for _ in range(5)]
    modal.reset()
    assert modal.time == 0.0
    np.testing.assert_array_equal(modal.positions, modal.shell.rest_positions)
    np.testing.assert_array_equal([modal.step(1 / 30) for _ in range(5)], first)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clamped", "steps"), [(True, 10_000), (False, 2_000), pytest.param(False, 10_000, marks=pytest.mark.long)]
)
def test_ten_thousand_steps_of_rough_handling(clamped: bool, steps: int) -> None:
    """Targets that wander and jump, turns at random, handles taken and let go: all stays finite and within reach."""
    shell = strip(clamped, damping=sc.Damping(mass=0.5))
    modal = sc.ModalShell(shell, 16)
    rng = np.random.default_rng(5)
    rest = shell.rest_positions
    handles: list[sc.Handle] = [modal.position_handle(20, rest[20])]
    angles: dict[int, float] = {}
    furthest = 0.0
    for k in range(steps):
        if k % 50 == 0:
            if len(handles) > 5:
                handles.pop(int(rng.integers(1, len(handles)))).release()
            vertex = int(rng.integers(len(rest)))
            stiffness = None if rng.random() < 0.5 else 10.0 ** rng.uniform(-2, 4)
            kind = modal.position_handle if rng.random() < 0.6 else modal.orientation_handle
            handles.append(kind(vertex, rest[vertex] if kind == modal.position_handle else np.eye(3), stiffness))
        handle = handles[k % len(handles)]
        jump = 0.3 if k % 100 < 2 else 0.01
        if handle.kind == "position":
            away = handle.target - rest[handle.vertices[0]] + rng.normal(0.0, jump, 3)
            handle.target = rest[handle.vertices[0]] + np.clip(away, -0.3, 0.3)
        else:
            angle = np.clip(angles.get(id(handle), 0.0) + rng.normal(0.0, 10 * jump), -3.0, 3.0)
            angles[id(handle)] = angle
            handle.target = rotation(handle.vertices[0] % 3, angle)
        x = modal.step(1 / 30)
        furthest = max(furthest, float(np.abs(x - rest).max()))
    assert np.isfinite(x).all()
    assert furthest < (4.0 if clamped else 20.0), furthest
    # Let go of all but one: it comes to hang from that.
    for handle in handles[1:]:
        handle.release()
    modal._decay[:] = 5.0
    x = settled(modal)
    assert np.abs(x - rest).max() < 1.0
