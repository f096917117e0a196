"""The first step of a quasi-Newton solve: forces that grow no faster than stretch."""

import numpy as np
import pytest
from contact_scenes import cloth
from scipy.spatial.transform import Rotation

import shellcore as sc
from meshes import grid, unstructured
from shellcore.energies.fem import Fem
from shellcore.integrators import Integrator, State
from shellcore.solver import Counts, approached
from shellcore.system import System

MODULI = (900.0, 400.0, 120.0, 60.0)


def membrane(kind: str = "scattered") -> tuple[Fem, np.ndarray]:
    """An orthotropic sheet with its warp along x."""
    points, faces = unstructured(60, 1.0, 1.0) if kind == "scattered" else grid(5, 4, 1.0, 0.8)
    axes = np.tile([1.0, 0.0, 0.0], (len(faces), 1))
    return Fem(points, faces, axes, tuple(np.full(len(faces), a) for a in MODULI)), points


class TestGentleGradient:
    def test_turned_sheets_feel_nothing(self):
        energy, points = membrane()
        turned = Rotation.random(random_state=3).apply(points) + np.array([1.0, 2.0, 3.0])
        value, gradient = energy.value_and_gentle_gradient(turned)
        assert value == pytest.approx(0.0, abs=1e-20)
        assert np.abs(gradient).max() < 1e-11 * MODULI[0]

    def test_is_the_gradient_where_strains_are_small(self):
        energy, points = membrane()
        rng = np.random.default_rng(0)
        turn = Rotation.random(random_state=5)
        off = []
        for size in (1e-3, 1e-4):
            x = turn.apply(points + size * rng.normal(size=points.shape) * [0.1, 0.1, 0.0])
            value, gentle = energy.value_and_gentle_gradient(x)
            true_value, true = energy.value_and_gradient(x)
            assert value == pytest.approx(true_value, rel=1e-9)
            off.append(np.abs(gentle - true).max() / np.abs(true).max())
        assert off[0] < 0.02 and off[1] < 0.15 * off[0]

    @pytest.mark.parametrize("stretch", [0.5, 1.1, 3.0])
    def test_is_linear_in_a_uniform_stretch(self, stretch):
        # One edge of the sheet is pulled by A11 (λ − 1) times its width, the edges beside it by A12 (λ − 1).
        energy, points = membrane("grid")
        gradient = energy.value_and_gentle_gradient(points * [stretch, 1.0, 1.0])[1]
        right, top = points[:, 0] > 1 - 1e-9, points[:, 1] > 0.8 - 1e-9
        assert gradient[right, 0].sum() == pytest.approx(MODULI[0] * (stretch - 1) * 0.8, rel=1e-9)
        assert gradient[top, 1].sum() == pytest.approx(MODULI[2] * (stretch - 1) * 1.0, rel=1e-9)

    def test_collapsed_faces_stay_finite(self):
        energy, points = membrane("grid")
        for flat in (points * [1.0, 0.0, 1.0], points * 0.0):
            assert np.isfinite(energy.value_and_gentle_gradient(flat)[1]).all()


class TestApproach:
    @pytest.fixture
    def step(self):
        """A sheet held by one side whose guess, free flight, has swung by a tenth of its length."""
        points, faces = grid(12, 12, 1.0, 1.0)
        shell = sc.Shell(points, faces, cloth(), bending="quadratic")
        shell.pin(np.flatnonzero(points[:, 0] < 1e-9))
        integrator = Integrator(System(sc.Scene([shell]), 1e-3), "implicit_euler", 0.25, 0.5, "constant")
        speed = np.column_stack([0 * points[:, 0], 0 * points[:, 0], -2.4 * points[:, 0]])
        return integrator.begin(State(0.0, points, speed, 0 * points), 1 / 24, onward=0.65)

    def test_lowers_the_potential_and_says_what_it_is(self, step):
        potential, guess = step
        counts = Counts()
        x, value, gradient = approached(potential, guess, counts)
        again = potential.value_and_gradient(x.copy())
        assert value == pytest.approx(again[0], rel=1e-12) and np.allclose(gradient, again[1])
        assert value < 0.7 * potential.value_and_gradient(guess.copy())[0]
        assert np.array_equal(x[~potential.free[:, 0]], guess[~potential.free[:, 0]])
        assert counts.gradients == 1

    def test_stays_where_it_would_not(self, step):
        potential, guess = step
        potential.precondition = lambda residual: -residual
        x, value, _ = approached(potential, guess, Counts())
        assert x is guess and value == potential.value_and_gradient(guess)[0]
