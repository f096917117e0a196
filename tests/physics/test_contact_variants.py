"""Contact away from the sizes, steps and shapes that it was made with: no frame intersects, nothing crashes."""

from __future__ import annotations

import numpy as np
import pytest
from contact_scenes import box, cloth, sheet

import shellcore as sc
from meshes import grid, hemisphere, icosphere
from shellcore.contact.intersections import scene_intersections


def ball(radius=0.1, level=1, place=(0.02, 0.01, -0.11), **options):
    points, faces = icosphere(level, radius)
    return sc.Collider(points + np.array(place), faces, **options)


def moving_ball(radius, height):
    """A ball on the z axis at height(t)."""
    points, faces = icosphere(1, radius)
    return sc.Collider(points, faces, motion=lambda t: points + [0.0, 0.0, height(t)])


def draped(friction=0.3, thickness=1e-3, height=0.01):
    shell = sheet(10, 0.5, (0.0, 0.0, height), material=cloth(thickness), friction=friction)
    return sc.Scene([shell], colliders=[ball(level=2, friction=friction)])


def still(shell, *colliders):
    return sc.Scene([shell], colliders=colliders, gravity=(0.0, 0.0, 0.0))


def centimetre():
    shell = sheet(8, 0.01, (0.0, 0.0, 0.002), material=cloth(1e-4, bend=1e-8))
    return sc.Scene([shell], colliders=[ball(0.003, 1, (0.0, 0.0, -0.004), thickness=0.0)])


def ten_metres():
    shell = sheet(12, 10.0, (0.0, 0.0, 0.5), material=cloth(5e-3, bend=1e-2, density=0.5))
    return sc.Scene([shell], colliders=[ball(2.0, 2, (0.2, 0.1, -2.0))])


def deforming():
    points, faces = icosphere(2, 0.1)

    def motion(t):
        return points * [1 + 0.5 * np.sin(6 * t), 1 - 0.3 * np.sin(6 * t), 1 + 0.6 * np.sin(9 * t) ** 2] - [0, 0, 0.12]

    return sc.Scene([sheet(12, 0.5, (0, 0, 0))], colliders=[sc.Collider(motion(0.0), faces, motion=motion)])


def hit_from_both_sides():
    plate, faces = grid(2, 2, 0.3, 0.3)
    above, below = sheet(8, 0.25, (0.0, 0.0, 0.05)), sheet(8, 0.25, (0.02, 0.01, -0.05))
    below.velocities = np.tile([0.0, 0.0, 2.5], (len(below.start), 1))
    return sc.Scene([above, below], colliders=[sc.Collider(plate - [0.15, 0.15, 0.0], faces)])


def thick_and_thin():
    thick = sheet(8, 0.3, (0.0, 0.0, 0.0), material=cloth(8e-3))
    thick.pin(np.flatnonzero(np.abs(thick.start[:, 0]) > 0.149))
    return sc.Scene([thick, sheet(11, 0.25, (0.02, 0.01, 0.05), material=cloth(2e-4))])


def bowls():
    points, faces = hemisphere(5, 0.1)
    material = sc.Material.solid(young=1e8, poisson=0.3, thickness=1e-3, density=1000)
    shells = [sc.Shell(points + place, faces, material, bending="cubic") for place in ([0, 0, 0], [0.03, 0.02, 0.12])]
    return sc.Scene(shells, colliders=[sc.Plane((0.0, 0.0, -0.11), (0.0, 0.0, 1.0))])


def sharp_edge():
    points = 0.3 * np.array([[-1, -0.3, -1], [1, -0.3, -1], [1, 0.3, -1], [-1, 0.3, -1], [-1, 0, 0], [1, 0, 0.0]])
    faces = np.array([[0, 4, 1], [4, 5, 1], [3, 2, 4], [2, 5, 4], [0, 3, 4], [1, 5, 2], [0, 1, 2], [0, 2, 3]])
    return sc.Scene([sheet(14, 0.5, (0.03, 0.02, 0.01))], colliders=[sc.Collider(points, faces)])


def held_target():
    shell = sheet(8, 0.4, (0.0, 0.0, 0.0))
    shell.pin(np.flatnonzero(np.abs(shell.start[:, :2]).max(axis=1) > 0.199))
    return still(shell, moving_ball(0.05, lambda t: 0.3 - 8.0 * t))


def pins_into_a_box():
    shell = sheet(8, 0.3, (0.0, 0.0, 0.1))
    edge = np.flatnonzero(shell.start[:, 0] > 0.149)
    shell.pin(edge, lambda t: shell.start[edge] - [0.5 * t, 0.0, 0.5 * t])
    points, faces = box(0.2)
    return sc.Scene([shell], colliders=[sc.Collider(points - [0.0, 0.0, 0.05], faces)])


def pins_through_pins():
    low, high = sheet(6, 0.3, (0.0, 0.0, 0.0)), sheet(6, 0.3, (0.01, 0.02, 0.05))
    low.pin(np.arange(49))
    high.pin(np.arange(49), lambda t: high.start - [0.0, 0.0, 0.3 * t])
    return sc.Scene([low, high])


def leaps(t):
    """Below, then above, then far below."""
    return -0.15 if t < 0.15 else 0.15 if t < 0.3 else -0.6


# Scene, frames, options of `simulate`.
VARIANTS = {
    "centimetre": (centimetre, 6, {}),
    "240 frames a second": (draped, 24, {"fps": 240}),
    "both sides": (hit_from_both_sides, 8, {}),
    "thick and thin": (thick_and_thin, 14, {}),
    "bullet": (lambda: still(sheet(8, 0.4, (0, 0, 0)), moving_ball(0.05, lambda t: 0.5 - 20.0 * t)), 4, {}),
    "pins through pins": (pins_through_pins, 8, {}),
}
LONG = {
    "ten metres": (ten_metres, 20, {}),
    "12 frames a second": (draped, 12, {"fps": 12}),
    "no friction": (lambda: draped(0.0), 20, {}),
    "friction of 1": (lambda: draped(1.0), 20, {}),
    "20 mm thick": (lambda: draped(thickness=0.02, height=0.03), 16, {}),
    "0.05 mm thick": (lambda: draped(thickness=5e-5), 16, {}),
    "deforming": (deforming, 24, {}),
    "bowls": (bowls, 16, {}),
    "sharp edge": (sharp_edge, 20, {}),
    "leaps past": (lambda: still(sheet(8, 0.4, (0, 0, 0)), moving_ball(0.1, leaps)), 12, {}),
    "leaps into": (
        lambda: still(sheet(8, 0.4, (0, 0, 0)), moving_ball(0.1, lambda t: -0.3 if t < 0.15 else 0.0)),
        8,
        {},
    ),
    "held target": (held_target, 4, {}),
    "sphere as a bullet": (
        lambda: still(sheet(8, 0.4, (0, 0, 0)), sc.Sphere(lambda t: (0, 0, 0.5 - 20 * t), 0.05)),
        4,
        {},
    ),
    "pins into a box": (pins_into_a_box, 14, {}),
}
CASES = [*VARIANTS, *(pytest.param(name, marks=pytest.mark.long) for name in LONG)]


@pytest.mark.parametrize("name", CASES)
def test_no_frame_intersects(name):
    build, count, options = (VARIANTS | LONG)[name]
    scene, done = build(), 0
    for frame in sc.simulate(scene, frames=count, **options):
        done += 1
        assert np.isfinite(frame.positions).all()
        assert scene_intersections(scene, frame.positions, frame.time).count == 0
    assert done == count
