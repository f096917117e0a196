"""Sheets softened for their loads: what they strain by when loads come from fields, or come later."""

from __future__ import annotations

import numpy as np
import pytest
from meshes import grid

import shellcore as sc

LIMIT = 1e-3


class Push:
    """A force of so many newtons a vertex along x, from a time on."""

    def __init__(self, size, since=0.0):
        self.size, self.since = size, since

    def force(self, t, x, v, area_normals):
        return np.array([self.size if t >= self.since else 0.0, 0.0, 0.0]) * np.ones_like(x)


def banner(membrane="fem", bending="cubic", **options):
    """A square metre of paper that hangs from one side."""
    x, faces = grid(8, 8)
    x = np.column_stack([x[:, 0], np.zeros(len(x)), x[:, 1]])
    shell = sc.Shell(x, faces, sc.Material.preset("paper"), membrane=membrane, bending=bending, **options)
    shell.pin(np.flatnonzero(x[:, 2] > x[:, 2].max() - 1e-9))
    return shell


def strains(scene, frames=30, **options):
    """Largest strain of each frame, and the last frame."""
    largest = []
    for frame in sc.simulate(scene, frames=frames, strain_limit=LIMIT, **options):
        largest.append(float(np.abs(frame.fields["strain"]).max()))
    return np.array(largest), frame


def late_wind(t, x):
    return np.array([0.0, 25.0 if t > 0.4 else 0.0, 0.0])


@pytest.mark.parametrize(
    ("membrane", "bending"), [("fem", "cubic"), ("springs", "hinge"), ("fem", "subdivision")], ids=lambda value: value
)
def test_wind_that_rises_later_finds_a_stiffer_sheet(membrane, bending):
    options = {} if bending == "subdivision" else {"membrane": membrane}
    before = sc.Scene([banner(bending=bending, **options)], wind=sc.Wind(velocity=(0.0, 0.0, 0.0)))
    after = sc.Scene([banner(bending=bending, **options)], wind=sc.Wind(velocity=late_wind))
    _, calm = strains(before, frames=14)
    largest, blown = strains(after, frames=24)
    # The pressure of the wind is several hundred times the weight of the paper.
    assert blown.stats["stretch_scales"][0] > 50 * calm.stats["stretch_scales"][0]
    assert largest[14:].max() < 5 * LIMIT


def test_forces_of_the_scene_count():
    calm = strains(sc.Scene([banner()]), frames=1)[1].stats["stretch_scales"][0]
    x_forces = sc.Scene([banner()], forces=[Push(0.2)])
    late = sc.Scene([banner()], forces=[Push(0.2, since=0.3)])
    for scene in (x_forces, late):
        largest, frame = strains(scene)
        assert frame.stats["stretch_scales"][0] > 10 * calm
        assert largest.max() < 5 * LIMIT
    assert x_forces.forces[0].size * len(banner().rest_positions) > 10 * 9.81 * banner().mass.sum()


def test_loads_that_stay_leave_the_stiffness_alone():
    scene = sc.Scene([banner()], wind=sc.Wind(velocity=(0.0, 2.0, 0.0)))
    scales = {frame.stats["stretch_scales"][0] for frame in sc.simulate(scene, frames=10)}
    assert len(scales) == 1 and max(scales) < 1.0


def test_a_resumed_run_keeps_the_stiffness_it_had():
    def made():
        return sc.Scene([banner()], wind=sc.Wind(velocity=late_wind))

    whole = list(sc.simulate(made(), frames=16))
    assert whole[-1].stats["stretch_scales"] != whole[0].stats["stretch_scales"]
    for stop in (6, 12):
        resumed = list(sc.simulate(made(), frames=16 - stop, resume=whole[stop - 1].state))[-1]
        assert np.array_equal(resumed.positions, whole[-1].positions), stop


def test_a_state_with_a_stiffness_out_of_range_is_refused():
    state = next(iter(sc.simulate(sc.Scene([banner()]), frames=1))).state
    for scales in ([0.0], [2.0], [np.nan], [0.5, 0.5]):
        with pytest.raises(sc.ShellError, match="stretch_scales"):
            next(iter(sc.simulate(sc.Scene([banner()]), frames=1, resume={**state, "stretch_scales": scales})))
