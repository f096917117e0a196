"""Bending with exact answers: folded grids, rest states, affine shapes, one rigidity for all models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from states import rotation, samples, single_hinge

from meshes import bumpy, equilateral, grid, hemisphere, icosphere, unstructured, v_beam
from shellcore.energies.cubic import Cubic
from shellcore.energies.hinge import Hinge, hinge_angles, hinge_weights
from shellcore.energies.quadratic import crouzeix_raviart, hinge_rows, vertex_form
from shellcore.errors import ShellError
from shellcore.mesh import topology

FLAT = {
    "one": grid(5, 4, 1.0, 0.8, "one"),
    "alternating": grid(5, 4, 1.0, 0.8),
    "crossed": grid(3, 3, 1.0, 0.8, "crossed"),
    "equilateral": equilateral(4, 4, 0.3),
    "unstructured": unstructured(40, 1.0, 0.8, seed=5),
}
CURVED = {
    "hemisphere": hemisphere(3, 0.4),
    "v_beam": v_beam(6, 2, 1.0, 0.2, 2.0),
    "bumpy": bumpy(unstructured(40, 1.0, 0.8, seed=5), 0.2, seed=2),
    "icosphere": icosphere(1, 0.5),
}


def pleated(points, width, turns):
    """A grid of columns `width` apart, folded at every inner column by the angles `turns` [rad]."""
    columns = np.rint(points[:, 0] / width).astype(int)
    slope = np.concatenate([[0.0], np.cumsum(turns)])
    x = width * np.concatenate([[0.0], np.cumsum(np.cos(slope))])
    z = width * np.concatenate([[0.0], np.cumsum(np.sin(slope))])
    return np.column_stack([x[columns], points[:, 1], z[columns]])


def model(name, points, mesh, rigidity, angles):
    if name == "quadratic":
        return crouzeix_raviart(points, mesh, rigidity)
    if name == "cubic":
        return Cubic(points, mesh, rigidity, angles)
    return Hinge(mesh, hinge_weights(points, mesh, rigidity), angles)


def check_value(energy, x, exact):
    """Exact to round-off; a quadratic form loses what it cancels, and must say how much."""
    value = energy.value(x)
    lost = energy.round_off(x)
    assert lost < 1e-11
    assert value == pytest.approx(exact, rel=1e-12, abs=lost)


class TestFoldedGrid:
    """E = D (n_x − 1) n_y (1 − cos θ) with D = 3λ: |e|²/A is one on squares, and diagonals stay flat."""

    NX, NY, CELL, D = 5, 3, 0.25, 0.7

    @pytest.mark.parametrize("diagonal", ["one", "alternating"])
    @pytest.mark.parametrize("name", ["hinge", "quadratic", "cubic"])
    @pytest.mark.parametrize("theta", [1e-3, 0.4, -1.3, 2.9])
    def test_flat_at_rest(self, name, theta, diagonal):
        points, faces = grid(self.NX, self.NY, self.NX * self.CELL, self.NY * self.CELL, diagonal)
        mesh = topology(faces, len(points))
        rigidity = np.full(len(mesh.hinges), self.D)
        energy = model(name, points, mesh, rigidity, np.zeros(len(mesh.hinges)))
        # To and fro, so that the sheet does not run into itself.
        turns = theta * np.array([1, -1, -1, 1])
        exact = self.D * (self.NX - 1) * self.NY * 2.0 * np.sin(0.5 * theta) ** 2
        folded = pleated(points, self.CELL, turns) @ rotation(np.random.default_rng(1)).T
        check_value(energy, folded, exact)

    @pytest.mark.parametrize("name", ["hinge", "cubic"])
    @pytest.mark.parametrize("rest, theta", [(0.5, 0.5), (0.5, 0.9), (0.5, -0.5), (-2.0, 0.3), (1.5, 2.8)])
    def test_folded_at_rest(self, name, rest, theta):
        flat, faces = grid(self.NX, self.NY, self.NX * self.CELL, self.NY * self.CELL)
        mesh = topology(faces, len(flat))
        signs = np.array([1, -1, -1, 1])
        points = pleated(flat, self.CELL, rest * signs)
        rigidity = np.full(len(mesh.hinges), self.D)
        energy = model(name, points, mesh, rigidity, hinge_angles(points, mesh.hinges))
        exact = self.D * (self.NX - 1) * self.NY * (1.0 - np.cos(theta - rest))
        check_value(energy, pleated(flat, self.CELL, theta * signs), exact)

    def test_a_positive_angle_folds_towards_the_normals(self):
        points, faces = grid(2, 1, 2.0, 1.0)
        hinges = topology(faces, len(points)).hinges
        angles = hinge_angles(pleated(points, 1.0, np.array([0.3])), hinges)
        assert angles.max() == pytest.approx(0.3, rel=1e-12)

    def test_angle_form_is_the_square_of_the_angle(self):
        points, faces = grid(self.NX, self.NY, self.NX * self.CELL, self.NY * self.CELL)
        mesh = topology(faces, len(points))
        weights = hinge_weights(points, mesh, np.full(len(mesh.hinges), self.D))
        energy = Hinge(mesh, weights, np.zeros(len(mesh.hinges)), "angle")
        folded = pleated(points, self.CELL, 1.1 * np.array([1, -1, -1, 1]))
        assert energy.value(folded) == pytest.approx(0.5 * self.D * (self.NX - 1) * self.NY * 1.1**2, rel=1e-12)


class TestHingeWeights:
    def test_variants_agree_on_equilateral_triangles(self):
        points, faces = equilateral(4, 4, 0.3)
        mesh = topology(faces, len(points))
        edge = np.linalg.norm(points[mesh.hinges[:, 1]] - points[mesh.hinges[:, 0]], axis=1)
        areas = [np.linalg.norm(np.cross(*(points[f[1:]] - points[f[0]]))) for f in faces]
        whole = np.isclose(areas, max(areas))[mesh.hinge_faces].all(axis=1) & np.isclose(edge, 0.3)
        rigidity = np.ones(len(mesh.hinges))
        plain = hinge_weights(points, mesh, rigidity)[whole]
        assert whole.sum() > 10
        assert plain == pytest.approx(2.0 / np.sqrt(3.0), rel=1e-12)  # |e|²/A = a²/(2 · √3/4 a²)
        assert hinge_weights(points, mesh, rigidity, "circumcentric")[whole] == pytest.approx(plain, rel=1e-12)

    def test_simplified_keeps_the_mean_of_a_uniform_mesh(self):
        points, faces = icosphere(0)
        mesh = topology(faces, len(points))
        rigidity = np.ones(len(mesh.hinges))
        plain = hinge_weights(points, mesh, rigidity)
        assert hinge_weights(points, mesh, rigidity, simplified=True) == pytest.approx(plain, rel=1e-12)

    def test_unknown_choices_are_named(self):
        points, faces = grid(2, 2, 1.0, 1.0)
        mesh = topology(faces, len(points))
        ones = np.ones(len(mesh.hinges))
        with pytest.raises(ShellError, match=r"'voronoi'.*circumcentric"):
            hinge_weights(points, mesh, ones, "voronoi")
        with pytest.raises(ShellError, match=r"'cosine'.*sine"):
            Hinge(mesh, ones, ones, "cosine")


class TestFlatShapes:
    @pytest.mark.parametrize("name", FLAT)
    def test_rows_annihilate_affine_functions(self, name):
        points, faces = FLAT[name]
        mesh = topology(faces, len(points))
        rows = hinge_rows(points, mesh)[0]
        affine = np.column_stack([np.ones(len(points)), points[:, :2]])
        image = np.einsum("hj,hjk->hk", rows, affine[mesh.hinges])
        assert np.abs(image).max() < 1e-13 * np.abs(rows).max() * np.abs(points).max() * 4

    @pytest.mark.parametrize("name", FLAT)
    def test_only_affine_shapes_are_free(self, name):
        points, faces = FLAT[name]
        mesh = topology(faces, len(points))
        matrix = crouzeix_raviart(points, mesh, np.ones(len(mesh.hinges))).matrix.toarray()
        values = np.linalg.eigvalsh(matrix)
        assert np.abs(values[:3]).max() < 1e-12 * values[-1]
        assert values[3] > 1e-6 * values[-1]
        affine = np.column_stack([np.ones(len(points)), points[:, :2]])
        assert np.abs(matrix @ affine).max() < 1e-12 * np.abs(matrix).max()

    @pytest.mark.parametrize("name", FLAT)
    def test_vertex_form_frees_harmonic_shapes_too(self, name):
        """It has a row for every interior vertex, so its null space has one shape a boundary vertex."""
        points, faces = FLAT[name]
        mesh = topology(faces, len(points))
        matrix = vertex_form(points, mesh, np.ones(len(mesh.hinges))).matrix.toarray()
        values = np.linalg.eigvalsh(matrix)
        free = len(mesh.boundary_vertices)
        assert np.abs(values[:free]).max() < 1e-12 * values[-1]
        assert values[free] > 1e-6 * values[-1]
        affine = np.column_stack([np.ones(len(points)), points[:, :2]])
        assert np.abs(matrix @ affine).max() < 1e-12 * np.abs(matrix).max()

    def test_two_forms_agree_on_a_smooth_shape(self):
        """½∫|Δz|² of z = x² + y² over the unit square is 8: both approach it (the hinges as their mesh allows)."""
        points, faces = equilateral(40, 46, 1.0 / 40)
        mesh = topology(faces, len(points))
        shape = points + np.outer((points[:, :2] ** 2).sum(axis=1), [0.0, 0.0, 1.0])
        area = np.ptp(points[:, 0]) * np.ptp(points[:, 1])
        ones = np.ones(len(mesh.hinges))
        assert vertex_form(points, mesh, ones).value(shape) == pytest.approx(8.0 * area, rel=0.12)
        hinges = crouzeix_raviart(points, mesh, ones).value(shape) - crouzeix_raviart(points, mesh, ones).value(points)
        # Equilateral hinges see ν = −1/3: ½ (κ₁² + κ₂² − ⅔ κ₁κ₂) with κ = 2.
        assert hinges == pytest.approx(0.5 * (4 + 4 - 8 / 3) * area, rel=0.12)


class TestRestStates:
    @pytest.mark.parametrize("name", CURVED)
    def test_curved_rest_shapes_feel_no_force(self, name):
        points, faces = CURVED[name]
        mesh = topology(faces, len(points))
        angles = hinge_angles(points, mesh.hinges)
        assert np.abs(angles).max() > 0.05
        rigidity = np.ones(len(mesh.hinges))
        for energy in (Cubic(points, mesh, rigidity, angles), model("hinge", points, mesh, rigidity, angles)):
            value, gradient = energy.value_and_gradient(points)
            softened = crouzeix_raviart(points, mesh, rigidity).gradient(points)
            assert abs(value) < 1e-12 * len(mesh.hinges)
            assert np.abs(gradient).max() < 1e-11 * np.abs(softened).max()

    @settings(max_examples=60)
    @given(seed=st.integers(0, 2**32 - 1), degrees=st.floats(-170.0, 170.0))
    def test_cubic_fold_stiffness_is_the_hinge_s_at_every_rest_angle(self, seed, degrees):
        rng = np.random.default_rng(seed)
        points, faces = single_hinge(rng, np.radians(degrees))
        mesh = topology(faces, 4)
        angles = hinge_angles(points, mesh.hinges)
        cubic, hinge = (model(name, points, mesh, np.ones(1), angles) for name in ("cubic", "hinge"))
        # An isometry: the right apex turned about the edge (the x axis).
        for turn in (0.01, -0.01, 0.5):
            c, s = np.cos(turn), np.sin(turn)
            x = points.copy()
            x[3, 1:] = c * points[3, 1] - s * points[3, 2], s * points[3, 1] + c * points[3, 2]
            scale = hinge.weights[0]
            assert cubic.value(x) == pytest.approx(
                hinge.value(x), rel=1e-9, abs=1e-13 * scale * (1 + abs(cubic.constant))
            )

    @settings(max_examples=10)
    @given(samples(("patch", "grid")))
    def test_new_rest_angles_are_those_of_a_new_energy(self, sample):
        angles = sample.rng.uniform(-1.0, 1.0, len(sample.mesh.hinges))
        rigidity = np.ones(len(sample.mesh.hinges))
        for name in ("hinge", "cubic"):
            changed = model(name, sample.rest, sample.mesh, rigidity, sample.rest_angles)
            changed.set_rest_angles(angles)
            fresh = model(name, sample.rest, sample.mesh, rigidity, angles)
            assert changed.value(sample.x) == fresh.value(sample.x)
            assert np.array_equal(changed.gradient(sample.x), fresh.gradient(sample.x))


class TestByNormals:
    """Hinges that are flat at rest are computed from the normals of faces; the angles must say the same."""

    @settings(max_examples=40)
    @given(samples())
    def test_the_normals_say_what_the_angles_say(self, sample):
        count = len(sample.mesh.hinges)
        flat = Hinge(sample.mesh, sample.positive(count), np.zeros(count))
        change = hinge_angles(sample.x, sample.mesh.hinges)
        value, gradient = flat.value_and_gradient(sample.x)
        assert value == pytest.approx(float(flat.weights @ (1.0 - np.cos(change))), rel=1e-12)
        expected = np.zeros_like(sample.x)
        moments = flat.weights * np.sin(change)
        np.add.at(expected, sample.mesh.hinges, moments[:, None, None] * flat.angle_gradients(sample.x))
        assert np.abs(gradient - expected).max() < 1e-12 * np.abs(expected).max()
        assert np.array_equal(flat.gradient(sample.x), gradient)

    def test_folds_too_small_for_a_cosine_cost_what_they_should(self):
        points, faces = grid(2, 3, 1.0, 0.8)
        mesh = topology(faces, len(points))
        flat = Hinge(mesh, np.ones(len(mesh.hinges)), np.zeros(len(mesh.hinges)))
        assert flat.value(pleated(points, 0.5, np.array([1e-9]))) == pytest.approx(3 * 0.5e-18, rel=1e-5)
