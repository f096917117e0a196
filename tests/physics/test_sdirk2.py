"""The scheme of second order: its order with everything that acts, impacts, sliding, steps by accuracy, resume."""

import numpy as np
import pytest

import shellcore as sc
from meshes import grid

FPS = 24.0
# Takes the ringing of stretch, which no step here is short enough for, out of what is measured.
QUIET = sc.Damping(viscosity=0.02)


def hung(material="denim", cells=4, tilt=50.0, **more):
    """A sheet of 0.6 m hung by its upper edge, `tilt` [°] from straight down; its positions at rest."""
    points, faces = grid(cells, cells, 0.6, 0.6)
    points = points - [0.0, points[:, 1].max(), 0.0]
    tilt = np.radians(tilt)
    start = np.column_stack([points[:, 0], points[:, 1] * np.sin(tilt), points[:, 1] * np.cos(tilt)])
    shell = sc.Shell(points, faces, sc.Material.preset(material), start=start, **more)
    return shell, np.flatnonzero(points[:, 1] > -1e-9)


def swing():
    shell, top = hung()
    shell.pin(top)
    return sc.Scene([shell], self_contact=False)


def damped():
    shell, top = hung(damping=sc.Damping(mass=3.0, viscosity=0.02, hinge=1e-4))
    shell.pin(top)
    return sc.Scene([shell], self_contact=False)


def led():
    shell, top = hung(tilt=0.0, damping=QUIET)
    held = shell.start[top]
    shell.pin(top, targets=lambda t: held + np.array([0.0, 0.1 * np.sin(6.0 * t) ** 2, 0.0]))
    return sc.Scene([shell], self_contact=False)


def blown():
    shell, top = hung(tilt=10.0, damping=QUIET)
    shell.pin(top)
    wind = sc.Wind(lambda t, x: np.array([0.0, 3.0 + np.sin(9.0 * t), 0.0]))
    return sc.Scene([shell], wind=wind, self_contact=False)


def pressed():
    shell, top = hung(tilt=0.0, pressure=lambda t: 3.0 * np.sin(7.0 * t), damping=QUIET)
    shell.pin(top)
    return sc.Scene([shell], self_contact=False)


def subdivided():
    shell, top = hung(bending="subdivision", damping=QUIET)
    shell.pin(top)
    return sc.Scene([shell], self_contact=False)


def frames(scene, count, **options):
    return list(sc.simulate(scene, count, fps=FPS, integrator="sdirk2", strain_limit=0.0, **options))


@pytest.mark.parametrize("scene", [damped, led, blown, pressed, subdivided], ids=lambda build: build.__name__)
def test_everything_in_a_step_is_of_second_order(scene):
    built = scene()

    def end(steps):
        return frames(built, 4, substeps=steps, tolerance=1e-11)[-1].positions

    coarse, middle, fine = (end(steps) for steps in (16, 32, 64))
    # Four, were steps short enough for the first term of the error alone.
    assert np.linalg.norm(coarse - middle) / np.linalg.norm(middle - fine) > 3.2
    assert float(np.abs(middle - fine).max()) < 1e-4


def test_what_swings_keeps_its_energy():
    shell, top = hung()
    shell.pin(top)
    lowest = 9.81 * float(shell.mass @ shell.rest_positions[:, 1])
    end = {}
    for name, options in (("implicit_euler", {}), ("sdirk2", {})):
        frame = list(sc.simulate(sc.Scene([shell], self_contact=False), 24, fps=FPS, integrator=name, **options))[-1]
        height = 9.81 * float(shell.mass @ frame.positions[:, 2])
        kinetic = 0.5 * float(shell.mass @ (frame.velocities**2).sum(axis=1))
        end[name] = kinetic + height - lowest
    begun = 9.81 * float(shell.mass @ shell.start[:, 2]) - lowest
    assert 0.8 * begun < end["sdirk2"] < 1.001 * begun
    assert end["implicit_euler"] < 0.4 * begun


def test_free_flight_is_exact():
    points, faces = grid(3, 3, 0.3, 0.3)
    shell = sc.Shell(points, faces, sc.Material.preset("cotton"), velocities=np.tile([1.0, 0.0, 2.0], (len(points), 1)))
    last = frames(sc.Scene([shell], self_contact=False), 10)[-1]
    t = last.time
    np.testing.assert_allclose(last.positions, points + np.array([t, 0.0, 2.0 * t - 0.5 * 9.81 * t * t]), atol=1e-9)


def laid(speed, floor, height, mu=0.3, material="leather"):
    points, faces = grid(6, 6, 0.3, 0.3)
    points = points - [0.15, 0.15, 0.0]
    shell = sc.Shell(
        points, faces, sc.Material.preset(material), start=points + np.array([0.0, 0.0, height]), friction=mu
    )
    shell.velocities = np.tile([speed, 0.0, 0.0], (len(points), 1))
    return sc.Scene([shell], colliders=[floor], self_contact=False), shell


@pytest.mark.parametrize("steps", [1, 4, None])
@pytest.mark.parametrize("material", ["silk", "paper", "rubber"])
def test_what_falls_flat_neither_bounces_nor_gains(material, steps):
    scene, shell = laid(0.0, sc.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), friction=0.3), 0.05, material=material)
    energies = [9.81 * float(shell.mass @ shell.start[:, 2])]
    for frame in frames(scene, 16, substeps=steps):
        kinetic = 0.5 * float(shell.mass @ (frame.velocities**2).sum(axis=1))
        energies.append(kinetic + 9.81 * float(shell.mass @ frame.positions[:, 2]))
    assert max(energies) <= 1.0001 * energies[0]
    # It has landed in the third frame, and lies.
    assert max(energies[4:]) < 0.02 * energies[0]
    assert float(np.abs(frame.velocities).max()) < 2e-3


def floor_of(cells, friction):
    """A plane, or a mesh of so many cells a side, turned so that none of its edges lies along the way."""
    if not cells:
        return sc.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), friction=friction), 0.0
    points, faces = grid(cells, cells, 6.0, 6.0)
    points = points - [3.0, 3.0, 0.0]
    turn = np.array([[np.cos(0.3), -np.sin(0.3), 0.0], [np.sin(0.3), np.cos(0.3), 0.0], [0.0, 0.0, 1.0]])
    return sc.Collider(points @ turn.T, faces, friction=friction, thickness=1e-3), 0.5e-3


@pytest.mark.parametrize("steps", [1, 4, None])
@pytest.mark.parametrize("cells", [0, 3, 20])
@pytest.mark.parametrize("material", ["leather", "paper"])
def test_what_is_thrown_slides_as_far_as_it_should_however_the_floor_is_cut(material, cells, steps):
    mu, speed = 0.3, 2.0
    floor, lift = floor_of(cells, mu)
    scene, _ = laid(speed, floor, 0.0012 + lift, mu, material)
    last = frames(scene, 20, substeps=steps)[-1]
    way = speed**2 / (2 * mu * 9.81)
    half_a_step = 0.5 * speed / (FPS * (steps or 1))
    assert abs(float(last.positions[:, 0].mean()) - way) < 0.05 * way + half_a_step
    assert float(np.abs(last.velocities).max()) < 0.02


def test_accuracy_sets_the_steps():
    fine = frames(swing(), 8, substeps=64, tolerance=1e-8)[-1].positions
    errors, steps = [], []
    for accuracy in ("draft", "default", "final", 3e-4):
        run = frames(swing(), 8, accuracy=accuracy)
        errors.append(float(np.abs(run[-1].positions - fine).max()) / 0.6)
        steps.append(sum(frame.stats["steps"] for frame in run))
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[1] < 0.03 and errors[2] < 0.003 and errors[3] < 0.001
    assert steps[0] < steps[1] < steps[2] < steps[3]
    assert [frame.stats["steps"] for frame in frames(swing(), 3, substeps=3)] == [3, 3, 3]


@pytest.mark.parametrize("accuracy", ["fine", 0.0, -1.0, 2.0, np.nan, None, True])
def test_an_accuracy_that_is_none(accuracy):
    with pytest.raises(sc.ShellError, match="accuracy"):
        frames(swing(), 1, accuracy=accuracy)


def test_other_solvers_are_refused():
    with pytest.raises(sc.ShellError, match="solver"):
        frames(swing(), 1, solver="quasi_newton")
    assert frames(swing(), 1, solver="newton")[0].stats["solver"] == "newton"


@pytest.mark.parametrize("scene", [swing, damped, led], ids=lambda build: build.__name__)
def test_resume_is_identical(scene):
    whole = frames(scene(), 6)
    again = frames(scene(), 3, resume=whole[2].state)
    for one, other in zip(whole[3:], again, strict=True):
        assert one.time == other.time
        assert np.array_equal(one.positions, other.positions)
        assert np.array_equal(one.velocities, other.velocities)


def test_resume_in_contact_is_identical():
    plane = sc.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), friction=0.3)
    whole = frames(laid(1.0, plane, 0.02)[0], 8)
    again = frames(laid(1.0, plane, 0.02)[0], 4, resume=whole[3].state)
    assert all(np.array_equal(a.positions, b.positions) for a, b in zip(whole[4:], again, strict=True))


def test_a_collider_that_swings_carries_what_lies_on_it():
    points, faces = grid(6, 6, 0.3, 0.3)
    points = points - [0.15, 0.15, 0.0]
    body, body_faces = grid(2, 2, 1.0, 1.0)
    body = body - [0.5, 0.5, 0.0]
    way = 0.05

    def motion(t):
        return body + np.array([way * (1.0 - np.cos(4.0 * t)), 0.0, 0.0])

    shell = sc.Shell(
        points, faces, sc.Material.preset("leather"), start=points + np.array([0.0, 0.0, 0.0013]), friction=0.8
    )
    table = sc.Collider(body, body_faces, friction=0.8, thickness=1e-3, motion=motion)
    last = frames(sc.Scene([shell], colliders=[table], self_contact=False), 12, substeps=2)[-1]
    moved = float((last.positions - points)[:, 0].mean())
    assert abs(moved - way * (1.0 - np.cos(4.0 * last.time))) < 0.02 * way


@pytest.mark.parametrize("cells, accuracy, frames", [(10, "default", 12), (16, "draft", 14)])
def test_stiff_paper_that_falls_on_a_ball_gains_no_energy(cells, accuracy, frames):
    """What rings too fast for its steps would: 1.1 and 1.7 times what there was, without the books of energy."""
    points, faces = grid(cells, cells, 1.0, 1.0)
    points = points - [0.5, 0.5, -0.35]
    shell = sc.Shell(points, faces, sc.Material.preset("paper"))
    scene = sc.Scene([shell], colliders=[sc.Sphere((0.0, 0.0, 0.0), 0.3)], self_contact=False)
    options = {"integrator": "sdirk2", "strain_limit": 0.0, "accuracy": accuracy}
    for frame in sc.simulate(scene, frames, fps=FPS, **options):
        kinetic = 0.5 * float(shell.mass @ (frame.velocities**2).sum(axis=1))
        gained = kinetic + 9.81 * float(shell.mass @ (frame.positions - points)[:, 2])
        assert gained < 0.01 * 9.81 * float(shell.mass.sum())


def test_a_factor_serves_the_stages_of_a_frame():
    """A leaf in gusts takes a dozen steps a frame of two solves each: one factor each would be two dozen."""
    points, faces = grid(20, 20, 0.1, 0.1)
    shell = sc.Shell(points, faces, sc.Material.preset("leaf"))
    shell.pin([0])
    wind = sc.Wind(lambda t, x: 3.0 * np.array([np.cos(9.0 * t), np.sin(9.0 * t), 0.0]))
    last = list(sc.simulate(sc.Scene([shell], wind=wind, self_contact=False), 5, fps=24, integrator="sdirk2"))[-1]
    assert last.stats["steps"] >= 6
    assert last.stats["factorisations"] <= last.stats["steps"]


def test_contacts_hardened_without_end_leave_no_fault():
    """One iteration a solve leaves cloth far inside a ball, step after step; its springs are hardened each time."""
    points, faces = grid(12, 12, 1.0, 1.0)
    shell = sc.Shell(points - [0.5, 0.5, -0.35], faces, sc.Material.preset("cotton"))
    scene = sc.Scene([shell], colliders=[sc.Sphere((0.0, 0.0, 0.0), 0.3)])
    last = list(sc.simulate(scene, 12, fps=FPS, integrator="sdirk2", iterations=1))[-1]
    assert np.isfinite(last.positions).all() and np.isfinite(last.velocities).all()
