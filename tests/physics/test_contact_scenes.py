"""Scenes where contact used to fail: no frame intersects, by a check that shares nothing with contact."""

from __future__ import annotations

import contact_scenes as scenes
import numpy as np
import pytest
from contact_scenes import cloth, sheet, turned
from hypothesis import given, settings
from hypothesis import strategies as st

import shellcore as sc
from meshes import grid, icosphere
from shellcore.contact.intersections import scene_intersections


def frames_of(built):
    """Every frame, each checked."""
    scene, count, options = built
    frames = []
    for frame in sc.simulate(scene, frames=count, **options):
        found = scene_intersections(scene, frame.positions, frame.time)
        assert found.count == 0, f"frame {len(frames)}: {found}"
        assert frame.stats["intersections"] == 0
        assert np.isfinite(frame.positions).all()
        frames.append(frame)
    assert len(frames) == count
    return frames


# Corners of a sheet of 0.4 m from the bottom up once it is folded in four: right over left, then back over front.
QUADRANTS = [(-0.2, -0.2), (0.2, -0.2), (0.2, 0.2), (-0.2, 0.2)]


class TestNoFrameIntersects:
    def test_sheet_on_sphere(self):
        frames = frames_of(scenes.on_sphere(12))
        last = frames[-1]
        assert last.stats["contacts"] > 0 and last.fields["contact"].max() > 0
        # It swings: how many press differs from frame to frame.
        assert max(frame.stats["contacts"] for frame in frames) > 10

    def test_sheet_on_a_corner(self):
        assert frames_of(scenes.on_corner(12))[-1].stats["contacts"] > 0

    def test_sheet_on_a_needle(self):
        frames_of(scenes.on_needle(10, 10))

    @pytest.mark.parametrize("cells", [10, pytest.param(32, marks=pytest.mark.long)])
    def test_sheet_folded_in_four(self, cells):
        built = scenes.folded(cells)
        frames = frames_of(built)
        x, last = built[0].shells[0].rest_positions, frames[-1].positions
        # A quarter of its plan, in the order that folding gives: quadrants at 1, 2, 3, 4 gaps of the pins.
        assert np.ptp(last[:, 0]) < 0.23 and np.ptp(last[:, 1]) < 0.23
        corners = [np.flatnonzero((np.abs(x[:, :2] - [sx, sy]) < 1e-9).all(axis=1))[0] for sx, sy in QUADRANTS]
        assert np.allclose(last[corners], [[-0.2, -0.2, 0.004 * k] for k in range(4)], atol=1e-6)
        assert sum(frame.stats["unsettled"] for frame in frames) == 0

    def test_sheets_crossing_at_speed(self):
        frames_of(scenes.crossing(5, 6))

    def test_ribbon_folds_on_to_itself(self):
        assert scenes.layers(frames_of(scenes.ribbon(40, 20, chute=0.06))[-1]) >= 3

    @pytest.mark.long
    @pytest.mark.parametrize(("chute", "bend"), [(0.08, 2e-6), (0.06, 1e-6)])
    def test_ribbon_piles_up_in_twenty_layers(self, chute, bend):
        frames = frames_of(scenes.ribbon(220, 120, chute=chute, bend=bend))
        assert scenes.layers(frames[-1]) >= 20

    @pytest.mark.long
    @pytest.mark.parametrize(("around", "along", "frames"), [(12, 8, 36), (24, 16, 48)])
    def test_sleeve_twisted_and_compressed(self, around, along, frames):
        assert frames_of(scenes.sleeve(around, along, frames))[-1].stats["solver"] == "quasi_newton"

    @pytest.mark.long
    def test_poncho_on_a_moving_body(self):
        last = frames_of(scenes.poncho(12, 24))[-1].positions
        # It went along: the body has walked 0.36 m.
        assert last[:, 0].mean() > 0.2

    @pytest.mark.parametrize("meshes", [True, False])
    def test_pinched_to_two_thicknesses(self, meshes):
        frames_of(scenes.pinch(2.0, 6, meshes=meshes))

    @pytest.mark.parametrize("meshes", [True, False])
    def test_pinched_to_half_a_thickness_fails_and_says_where(self, meshes):
        with pytest.raises(sc.StepFailed, match=r"shell 0 meets collider|collider . meets shell 0"):
            frames_of(scenes.pinch(0.5, 4, meshes=meshes))

    def test_pin_dragged_into_a_collider_yields(self):
        shell = sheet(6, 0.3, (0.0, 0.0, 0.05))
        edge = np.flatnonzero(shell.start[:, 0] > 0.149)
        shell.pin(edge, lambda t: shell.start[edge] - [0.0, 0.0, 0.3 * t])
        frames = frames_of((sc.Scene([shell], colliders=[sc.Plane((0, 0, 0), (0, 0, 1))]), 8, {}))
        assert frames[-1].stats["pins_yielded"] > 0
        assert frames[-1].positions[edge, 2].min() > 0

    def test_collider_faster_than_the_sheet_is_large(self):
        ball, faces = icosphere(1, 0.1)
        shell = sheet(6, 0.3, (0.0, 0.0, 0.0))
        body = sc.Collider(ball, faces, motion=lambda t: ball + [0.0, 0.0, 0.3 - 10.0 * t])
        try:
            frames = frames_of((sc.Scene([shell], colliders=[body], gravity=(0, 0, 0)), 3, {}))
            assert frames[-1].positions[:, 2].mean() < -0.05
        except sc.StepFailed as failed:
            assert "meets" in str(failed)

    @pytest.mark.parametrize("integrator", ["newmark", "imex_bending", "explicit"])
    def test_with_other_integrators(self, integrator):
        shell = sheet(5, 0.2, (0.01, 0.0, 0.03), material=cloth(stretch=50.0))
        scene = sc.Scene([shell], colliders=[sc.Sphere((0.0, 0.0, -0.1), 0.11)])
        substeps = 40 if integrator in ("explicit", "imex_bending") else 2
        frames_of((scene, 4, {"integrator": integrator, "substeps": substeps}))

    def test_resumes_with_identical_results(self):
        scene, _, _ = scenes.on_sphere(8)
        whole = list(sc.simulate(scene, frames=10))
        again = list(sc.simulate(scene, frames=3, resume=whole[6].state))
        assert np.array_equal(again[-1].positions, whole[-1].positions)


@st.composite
def small_scenes(draw):
    """Two small sheets and a collider, thrown at each other."""
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    cells = draw(st.integers(2, 4))
    points, faces = grid(cells, cells, 0.2, 0.2, draw(st.sampled_from(["one", "alternating"])))
    points -= [0.1, 0.1, 0.0]
    material = cloth(draw(st.sampled_from([3e-4, 1e-3, 3e-3])))
    shells = []
    for k in range(2):
        start = turned(points, rng.normal(size=3), rng.uniform(0, 3)) + [0.0, 0.0, 0.16 * k]
        shell = sc.Shell(start, faces, material, bending="quadratic", friction=draw(st.sampled_from([0.0, 0.5])))
        shell.velocities = np.tile(rng.normal(size=3) + [0, 0, -3.0 * k], (len(points), 1))
        shells.append(shell)
    kind = draw(st.sampled_from(["plane", "sphere", "mesh"]))
    if kind == "plane":
        collider = sc.Plane((0.0, 0.0, -0.2), (0.1, 0.2, 1.0))
    elif kind == "sphere":
        collider = sc.Sphere((0.02, 0.0, -0.25), 0.1)
    else:
        ball, ball_faces = icosphere(1, 0.1)
        collider = sc.Collider(
            ball + [0.0, 0.02, -0.3], ball_faces, motion=lambda t: ball + [0.0, 0.02, -0.3 + 0.5 * t]
        )
    return sc.Scene(shells, colliders=[collider])


def check_random(scene):
    try:
        frames_of((scene, 4, {}))
    except sc.ShellError as error:
        assert "starts with" in str(error)


@settings(max_examples=6)
@given(small_scenes())
def test_random_small_scenes(scene):
    check_random(scene)


@pytest.mark.long
@settings(max_examples=200)
@given(small_scenes())
def test_two_hundred_random_small_scenes(scene):
    check_random(scene)


class TestFriction:
    """The incline: sticks iff tan α ≤ μ, else slides with g (sin α − μ cos α)."""

    def slide(self, mu, degrees, frames=12):
        a = np.radians(degrees)
        normal, down = np.array([np.sin(a), 0.0, np.cos(a)]), np.array([np.cos(a), 0.0, -np.sin(a)])
        points, faces = grid(3, 3, 0.2, 0.2)
        side = np.cross(normal, down)
        start = points[:, :1] * down + points[:, 1:2] * side + 0.499e-3 * normal
        shell = sc.Shell(start, faces, cloth(), bending="quadratic")
        scene = sc.Scene([shell], colliders=[sc.Plane((0, 0, 0), tuple(normal), friction=mu)], self_contact=False)
        speeds = np.array([f.velocities.mean(axis=0) @ down for f in sc.simulate(scene, frames=frames)])
        times = np.arange(1, frames + 1) / 24
        half = frames // 2
        return speeds[-1], np.polyfit(times[half:], speeds[half:], 1)[0]

    @pytest.mark.parametrize("mu", [0.1, 0.3, 0.6])
    def test_sticks_one_degree_below(self, mu):
        speed, _ = self.slide(mu, np.degrees(np.arctan(mu)) - 1.0)
        assert abs(speed) < 1e-3

    @pytest.mark.parametrize("mu", [0.1, 0.3, 0.6])
    @pytest.mark.parametrize("above", [1.0, 12.0])
    def test_slides_with_the_right_acceleration(self, mu, above):
        degrees = np.degrees(np.arctan(mu)) + above
        a = np.radians(degrees)
        assert self.slide(mu, degrees)[1] == pytest.approx(9.81 * (np.sin(a) - mu * np.cos(a)), rel=0.03)


def test_momentum_of_two_colliding_sheets():
    points, faces = grid(4, 4, 0.2, 0.2)
    first = sc.Shell(points, faces, cloth(), bending="quadratic")
    first.velocities = np.tile([0.0, 0.0, 1.0], (len(points), 1))
    tilted = turned(points - [0.1, 0.1, 0.0], (1.0, 0.0, 0.0), 0.3) + [0.13, 0.11, 0.06]
    second = sc.Shell(tilted, faces, cloth(), bending="quadratic")
    second.velocities = np.tile([0.1, 0.0, -1.5], (len(points), 1))
    mass = np.concatenate([first.mass, second.mass])
    before = np.concatenate([first.velocities, second.velocities])
    scale = mass @ np.linalg.norm(before, axis=1)
    touched = 0
    for frame in sc.simulate(sc.Scene([first, second], gravity=(0, 0, 0)), frames=4, tolerance=1e-10):
        touched += frame.stats["contacts"]
        assert np.linalg.norm(mass @ (frame.velocities - before)) < 1e-9 * scale
    assert touched > 0


@pytest.mark.long
def test_stack_of_ten_comes_to_rest():
    shells = []
    for k in range(10):
        points, faces = grid(4, 4, 0.2, 0.2)
        points = turned(points - [0.1, 0.1, 0.0], (0.0, 0.0, 1.0), 0.1 * k)
        points[:, 2] += 0.002 + 0.003 * k
        shells.append(sc.Shell(points, faces, cloth(), bending="quadratic"))
    frames = frames_of((sc.Scene(shells, colliders=[sc.Plane((0, 0, 0), (0, 0, 1))]), 30, {}))
    mass, start = np.concatenate([s.mass for s in shells]), np.concatenate([s.start for s in shells])
    last = frames[-1]
    kinetic = 0.5 * mass @ (last.velocities**2).sum(axis=1)
    drop = 9.81 * mass @ (start - last.positions)[:, 2]
    assert kinetic < 1e-6 * drop
    assert np.linalg.norm(last.velocities, axis=1).max() < 1e-3
