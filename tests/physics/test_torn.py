"""Torn sheets whose sides are pressed together again: the lips of a crack touch and slide, but do not cross."""

import numpy as np
import pytest
from torn_scenes import SIZE, THICKNESS, crossing, dropped_bowl, pressed_together, torn_sheet

import shellcore as sc


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed"), [("tear", 0), ("tear", 1), ("slit", 0), ("slit", 1)])
def test_sides_pressed_and_sheared_do_not_cross(kind, seed):
    pressed, halvings = 0, 0
    for frame in sc.simulate(pressed_together(kind, seed), 24, fps=24):
        assert crossing(frame, 0.25 * THICKNESS) == 0, frame.time
        pressed = max(pressed, frame.stats["contacts"])
        halvings += frame.stats["halvings"]
    assert frame.stats["copies"] > 5 and pressed > 3 and halvings <= 3


@pytest.mark.slow
def test_shards_of_a_bowl_do_not_cross():
    frames = list(sc.simulate(dropped_bowl(), 8, fps=240, substeps=2, tolerance=1e-5))
    assert frames[-1].stats["copies"] > 5
    for frame in frames:
        assert crossing(frame, 0.25 * 5e-4) == 0 and frame.stats["unsettled"] == 0
        assert frame.positions[:, 2].min() > 0.0


class Hands:
    """Pull two halves of a sheet apart for 0.2 s, then press them together; no force in all."""

    def __init__(self, shell):
        self.rest, self.whole = shell.rest_positions, shell.faces
        centre = self.rest[self.whole].mean(axis=1)
        self.right = centre[:, 0] - 0.5 * centre[:, 1] > 0.25 * SIZE
        self.see(self.whole)

    def see(self, faces):
        """Take the faces as they are now."""
        corners = self.rest[self.whole]
        area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        self.mass = np.bincount(faces.ravel(), weights=np.repeat(area / 3, 3)) * 500 * THICKNESS
        self.side = np.full(len(self.mass), -1.0)
        self.side[faces[self.right]] = 1.0

    def force(self, t, x, v, area_normals):
        share = np.where(self.side > 0, self.mass / self.mass[self.side > 0].sum(), 0.0)
        share += np.where(self.side < 0, self.mass / self.mass[self.side < 0].sum(), 0.0)
        return (0.1 if t < 0.2 else -0.1) * (self.side * share)[:, None] * [1.0, 0.0, 0.0]


def test_what_was_parted_touches_at_the_whole_contact_distance():
    """Two halves of a torn sheet fly apart and back: held off by the thickness, and their momentum is kept."""
    shell = torn_sheet("tear", 3, friction=0.0)
    hands = Hands(shell)
    scene = sc.Scene([shell], contact="exact", gravity=(0.0, 0.0, 0.0), forces=[hands])
    closed, felt = [], []
    for frame in sc.simulate(scene, 33, fps=48, tolerance=1e-7):
        hands.see(frame.faces)
        momentum = (hands.mass[:, None] * frame.velocities).sum(axis=0)
        assert np.abs(momentum).max() < 1e-9 * (hands.mass[:, None] * np.abs(frame.velocities)).sum()
        assert crossing(frame, 0.25 * THICKNESS) == 0
        closed.append(int(frame.state["cut_closed"].sum()))
        if frame.time > 0.3 and frame.stats["contacts"]:
            felt.append(frame.stats["nearest"])
    assert max(closed) > 20 and closed[-1] == 0
    assert 0.5 * THICKNESS < felt[0] <= THICKNESS
