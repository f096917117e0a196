"""Sheets softened for their loads: what they strain by when loads come from fields, or come later."""

from __future__ import annotations

import numpy as np
import pytest

import shellcore as sc
from meshes import grid
from shellcore.dynamics.stage import Stage
from shellcore.system import System

LIMIT = 1e-3


class Push:
    """A pull of so many newtons a vertex downwards, from a time on."""

    def __init__(self, size, since=0.0):
        self.size, self.since = size, since

    def force(self, t, x, v, area_normals):
        return np.array([0.0, 0.0, -self.size if t >= self.since else 0.0]) * np.ones_like(x)


def banner(membrane="fem", bending="cubic", **options):
    """A square metre of paper that hangs from one side."""
    x, faces = grid(8, 8, 1.0, 1.0)
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


@pytest.mark.parametrize(("membrane", "bending"), [("fem", "cubic"), ("springs", "hinge"), ("fem", "subdivision")])
def test_a_sheet_made_stiffer_is_the_stiffer_sheet(membrane, bending):
    scene = sc.Scene([banner(membrane, bending, damping=sc.Damping(stiffness=1e-3))])
    soft, stiff = System(scene, LIMIT), System(scene, 0.0)
    assert soft.stretch_scales[0] < 0.1
    version = soft.version
    soft.set_stretch_scales([1.0])
    assert soft.version > version
    rng = np.random.default_rng(1)
    x, ahead = (stiff.start + 1e-3 * rng.normal(size=stiff.start.shape) for _ in range(2))
    terms = [system.begin_step(Stage.euler(0.0, 0.01, x, np.zeros_like(x))) for system in (soft, stiff)]
    for mine, theirs in zip(soft.elastic() + terms[0].energies, stiff.elastic() + terms[1].energies, strict=True):
        reference = theirs.gradient(ahead)
        assert np.abs(mine.gradient(ahead) - reference).max() <= 1e-10 * np.abs(reference).max()
    difference = soft.stiffness(terms[0]) - stiff.stiffness(terms[1])
    assert abs(difference).max() <= 1e-10 * abs(stiff.stiffness(terms[1])).max()


def test_wind_that_rises_later_finds_a_stiffer_sheet():
    calm = System(sc.Scene([banner()]), LIMIT).stretch_scales[0]
    early = sc.Scene([banner()], wind=sc.Wind(velocity=(0.0, 25.0, 0.0)))
    late = sc.Scene([banner()], wind=sc.Wind(velocity=late_wind))
    peak, before = strains(early, frames=14)
    largest, after = strains(late, frames=24)
    # The pressure of the wind is several hundred times the weight of the paper.
    assert before.stats["stretch_scales"][0] > 50 * calm
    assert before.stats["stretch_scales"][0] <= after.stats["stretch_scales"][0] <= 1.0
    # In its first frame: as soft as before it strains by a hundred times that. Later the last bit decides on folds.
    assert largest[10] < 2.0 * peak[0]


@pytest.mark.parametrize("since", [0.0, 0.3])
def test_forces_of_the_scene_count(since):
    weight = 9.81 * banner().mass.sum()
    pull = Push(10 * weight / len(banner().rest_positions), since)
    calm = System(sc.Scene([banner()]), LIMIT).stretch_scales[0]
    largest, frame = strains(sc.Scene([banner()], forces=[pull]))
    assert frame.stats["stretch_scales"][0] > 9 * calm
    assert largest.max() < 3 * LIMIT


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
