"""From limp to stiff: figure 2 of Discrete Shells, figure 3 of quadratic bending, section 8 of Cubic Shells."""

from __future__ import annotations

import warnings

import cases
import numpy as np
import pytest
import scenes

import shellcore as sc


def test_beams_of_a_hundredfold_range_are_stable_and_v_beams_droop_less() -> None:
    flat, folded = [], []
    for stiffness in scenes.FLEXURAL:
        for shapes, fold in ((flat, False), (folded, True)):
            shell = scenes.beam(stiffness, fold)
            shapes.append(scenes.droop(shell, sc.equilibrium(shell)))
            scene = sc.Scene([scenes.beam(stiffness, fold)])
            frames = list(sc.simulate(scene, 24, fps=24, substeps=1, solver="auto", **scenes.EULER))
            energies = [scenes.energy(scene, frame) for frame in frames]
            assert np.diff(energies).max() <= 1e-6 * abs(energies[0])
            assert max(scenes.edge_strain(shell, frame.positions) for frame in frames) < 0.1
    assert all(v < f for v, f in zip(folded, flat, strict=True))
    assert flat[0] > flat[1] > flat[2]


def test_beam_frequency_rises_as_the_root_of_rigidity() -> None:
    roots = [cases.swinging_strip("hinge", rigidity) for rigidity in (1.0, 10.0, 100.0)]
    frequencies = np.square(roots) * np.sqrt([1.0, 10.0, 100.0])
    np.testing.assert_allclose(frequencies[1:] / frequencies[:-1], np.sqrt(10.0), rtol=0.02)


@pytest.mark.parametrize("contact", ["penalty", pytest.param("auto", marks=pytest.mark.long)])
def test_drapes(contact: str) -> None:
    scales = []
    for ratio in scenes.DRAPE_RATIOS:
        shell, quadratic, _ = scenes.drape(ratio, "quadratic", n=28, frames=48, contact=contact)
        _, hinge, _ = scenes.drape(ratio, "hinge", n=28, frames=48, contact=contact)
        apart = np.sqrt(((quadratic - hinge) ** 2).sum(axis=1).mean())
        assert apart < 0.03 * scenes.SIDE
        scales.append(scenes.fold_scale(shell, quadratic))
    assert scales[0] > 2 * scales[1] > 4 * scales[2]


@pytest.mark.parametrize("shape", ["cylinder", "bowl"])
def test_falling_shells_with_stretch_a_hundred_times_bending(shape: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shell, frames = scenes.falling(shape, 100.0)
    assert max(scenes.edge_strain(shell, frame.positions) for frame in frames) < 0.15
    # The penalty floor gives way under an impact, by a tenth of the fall.
    assert min(frame.positions[:, 2].min() for frame in frames) > -0.02
    assert np.ptp(frames[-1].positions, axis=0).max() < 1.2 * np.ptp(shell.rest_positions, axis=0).max()


def test_a_warning_precedes_the_run_below_that() -> None:
    with pytest.warns(sc.ShellWarning, match="times as stiff as bending"):
        scenes.falling("bowl", 90.0, frames=0)


def test_a_flat_flag_bears_three_hundred_percent() -> None:
    shell, frames = scenes.torn_flag()
    stretches = [scenes.edge_strain(shell, frame.positions) for frame in frames]
    assert max(stretches) > 3.0
    assert all(np.isfinite(frame.positions).all() for frame in frames)
    assert max(stretches) < 6.0
