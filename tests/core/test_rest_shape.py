"""A sewing pattern as rest shape: what is refused, what is measured in it, and that nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import patterns
import pytest
from derivatives import gradient_gap, hessian_gap, smallest_height

import shellcore as sc
from meshes import bumpy, grid, unstructured
from shellcore.cracks import Cracks
from shellcore.shell_energies import shell_energies
from shellcore.system import System

SATIN = sc.Material(
    stretch=(900.0, 300.0), shear=120.0, poisson=0.2, bend=(3e-3, 1e-3), areal_density=0.3, thickness=1e-3
)
PLAIN = sc.Material.solid(young=1e6, poisson=0.3, thickness=1e-3, density=1000)
MODELS: list[dict[str, Any]] = [
    dict(bending="hinge", hinge_fit=True, damping=sc.Damping(mass=0.1, hinge=1e-4, viscosity=1e-3)),
    dict(bending="hinge", hinge_energy="simplified"),
    dict(bending="hinge", hinge_area="circumcentric", membrane="springs"),
    dict(bending="cubic", damping=sc.Damping(stiffness=1e-3)),
    dict(bending="quadratic", membrane="springs"),
    dict(bending="quadratic", quadratic_form="vertex"),
]


def flat_sheet(seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    points, faces = unstructured(70, 0.6, 0.4, seed)
    return points, faces, points[faces][:, :, :2]


def last_of(shell: sc.Shell, **options: Any) -> sc.Frame:
    shell.pin([0, 1])
    return list(sc.simulate(sc.Scene([shell]), 4, fps=24, **options))[-1]


class TestRefusals:
    def refused(self, uv: Any, words: str, **options: Any) -> sc.ShellError:
        points, faces = grid(3, 2, 0.6, 0.4)
        with pytest.raises(sc.ShellError, match=words) as error:
            sc.Shell(points, faces, PLAIN, rest_uv=uv, **options)
        return error.value

    def test_shape(self) -> None:
        self.refused(np.zeros((3, 3, 2)), r"rest_uv must have shape \(12, 3, 2\)")
        self.refused("uv", "rest_uv must be places in the pattern")

    def test_zero_area_names_the_face(self) -> None:
        points, faces = grid(3, 2, 0.6, 0.4)
        uv = points[faces][:, :, :2]
        uv[7, 2] = 0.25 * uv[7, 0] + 0.75 * uv[7, 1]
        assert self.refused(uv, "rest_uv: faces 7 have no area").faces == [7]

    def test_not_finite_names_the_face(self) -> None:
        points, faces = grid(3, 2, 0.6, 0.4)
        uv = points[faces][:, :, :2]
        uv[4, 1, 0] = np.nan
        assert self.refused(uv, "faces 4 have a corner that is not finite").faces == [4]

    def test_size(self) -> None:
        points, faces = grid(3, 2, 0.6, 0.4)
        self.refused(1e-9 * points[faces][:, :, :2], "the pattern is only .* m large")
        self.refused(1e13 * points[faces][:, :, :2], "rest_uv: vertices .* from the origin")

    def test_subdivision(self) -> None:
        points, faces = grid(3, 2, 0.6, 0.4)
        self.refused(points[faces][:, :, :2], "subdivision.* takes no rest_uv", bending="subdivision")

    def test_axes(self) -> None:
        points, faces = grid(3, 2, 0.6, 0.4)
        uv = points[faces][:, :, :2]
        self.refused(uv, r"axes must have shape \(12, 3\), or \(12, 2\)", axes=np.ones((4, 2)))
        axes = np.ones((12, 2))
        axes[5] = 0.0
        assert self.refused(uv, "faces 5 have a warp direction", axes=axes).faces == [5]


class TestSameSheet:
    """A flat sheet with itself for a pattern, whole or cut into overlapping triangles, is the sheet without."""

    @pytest.mark.parametrize("options", MODELS)
    def test_run(self, options: dict[str, Any]) -> None:
        points, faces, uv = flat_sheet()
        plain = last_of(sc.Shell(points, faces, SATIN, **options))
        cut = last_of(sc.Shell(points, faces, SATIN, rest_uv=uv, **options))
        assert np.abs(cut.positions - plain.positions).max() < 1e-11
        for name in ("strain", "stress", "bending"):
            scale = np.abs(plain.fields[name]).max()
            np.testing.assert_allclose(cut.fields[name], plain.fields[name], atol=1e-8 * scale)

    @pytest.mark.parametrize("options", MODELS)
    @pytest.mark.parametrize("mirrored", [False, True])
    def test_run_of_loose_and_mirrored_islands(self, options: dict[str, Any], mirrored: bool) -> None:
        points, faces, _ = flat_sheet()
        islands = patterns.apart(points[:, :2], faces, mirrored)
        # Warp is that of the sheet, seen in each island.
        axes = np.tile([0.8, 0.6, 0.0], (len(faces), 1))
        plain = last_of(sc.Shell(points, faces, SATIN, axes=axes, **options))
        cut = last_of(sc.Shell(points, faces, SATIN, axes=axes, rest_uv=islands, **options))
        assert np.abs(cut.positions - plain.positions).max() < 1e-9
        np.testing.assert_allclose(
            cut.fields["strain"], plain.fields["strain"], atol=1e-6 * np.abs(plain.fields["strain"]).max()
        )

    def test_faces_given_the_other_way_round(self) -> None:
        points, faces, uv = flat_sheet()
        turned, turned_uv = faces.copy(), uv.copy()
        turned[::3], turned_uv[::3] = faces[::3][:, ::-1], uv[::3][:, ::-1]
        shell = sc.Shell(points, turned, SATIN, rest_uv=turned_uv)
        assert shell.mesh.flipped.any()
        assert shell.rest.off(points, shell.faces) < 1e-12

    def test_clamp_curl_plasticity(self) -> None:
        points, faces, uv = flat_sheet()
        both = []
        for pattern in (None, uv):
            shell = sc.Shell(points, faces, PLAIN, rest_uv=pattern, bending="hinge", plasticity=sc.Plasticity(5.0))
            shell.clamp(np.flatnonzero(points[:, 0] == 0.0))
            shell.curl((0.3, 1.0, 0.0), 0.2)
            both.append((list(sc.simulate(sc.Scene([shell]), 4, fps=24))[-1], shell.rest_angles_at(0.0)))
        (plain, angles), (cut, cut_angles) = both
        assert np.abs(angles).max() > 0.1 and plain.fields["plastic"].max() > 0.0
        np.testing.assert_allclose(cut_angles, angles, atol=1e-12)
        assert np.abs(cut.positions - plain.positions).max() < 1e-9
        np.testing.assert_allclose(cut.fields["plastic"], plain.fields["plastic"], atol=1e-6)

    def test_modes(self) -> None:
        points, faces, uv = flat_sheet()
        both = []
        for pattern in (None, uv):
            shell = sc.Shell(points, faces, SATIN, rest_uv=pattern, damping=sc.Damping(hinge=1e-4))
            shell.clamp(np.flatnonzero(points[:, 0] == 0.0))
            both.append(sc.ModalShell(shell, modes=6).frequencies)
        np.testing.assert_allclose(both[1], both[0], rtol=1e-9)

    def test_stretch_cap(self) -> None:
        points, faces, uv = flat_sheet()
        stiff = sc.Material.solid(young=1e9, poisson=0.3, thickness=1e-4, density=1000)
        scales = [
            System(sc.Scene([sc.Shell(points, faces, stiff, rest_uv=pattern)]), strain_limit=1e-3).stretch_scales[0]
            for pattern in (None, uv, 0.97 * uv)
        ]
        assert scales[0] < 0.1 and scales[1] == pytest.approx(scales[0], rel=1e-9)
        # What starts strained was given its stiffness for a reason.
        assert scales[2] == 1.0

    def test_a_state_of_another_pattern_is_refused(self) -> None:
        points, faces, uv = flat_sheet()
        state = last_of(sc.Shell(points, faces, PLAIN, rest_uv=uv)).state
        with pytest.raises(sc.ShellError, match="another size at rest"):
            list(sc.simulate(sc.Scene([sc.Shell(points, faces, PLAIN, rest_uv=1.1 * uv)]), 1, resume=state))

    def test_goes_on_from_its_state_to_the_bit(self) -> None:
        points, faces, _ = flat_sheet()
        islands = patterns.apart(points[:, :2], faces, True)

        def frames(count: int, resume: Any = None) -> list[sc.Frame]:
            shell = sc.Shell(points, faces, PLAIN, rest_uv=islands)
            shell.pin([0, 1])
            return list(sc.simulate(sc.Scene([shell]), count, fps=24, resume=resume))

        whole = frames(4)
        half = next(frame for frame in whole if frame.time == pytest.approx(2 / 24))
        again = frames(2, half.state)[-1]
        assert again.time == whole[-1].time and np.array_equal(again.positions, whole[-1].positions)


def distorted(seed: int = 1, **options: Any) -> tuple[sc.Shell, np.ndarray]:
    """A shell whose islands fit neither each other nor the mesh; and that pattern."""
    points, faces = bumpy(unstructured(30, 0.6, 0.4, seed), 0.05, seed)
    islands = patterns.apart(points[:, :2], faces, True, seed)
    islands *= np.random.default_rng(seed).uniform(0.8, 1.25, (len(faces), 1, 2))
    return sc.Shell(points, faces, SATIN, rest_uv=islands, **options), islands


class TestMeasures:
    def test_area_mass_and_strain_are_the_patterns(self) -> None:
        shell, islands = distorted()
        a, b = islands[:, 1] - islands[:, 0], islands[:, 2] - islands[:, 0]
        areas = 0.5 * np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
        np.testing.assert_allclose(shell.areas, areas, rtol=1e-12)
        assert shell.mass.sum() == pytest.approx(0.3 * areas.sum(), rel=1e-12)
        # Green strain along U and V from the affine map of the pattern to the surface.
        corners = shell.start[shell.faces]
        jacobian = np.stack([corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], 2) @ np.linalg.inv(
            np.stack([a, b], 2)
        )
        green = 0.5 * (jacobian.transpose(0, 2, 1) @ jacobian - np.eye(2))
        e11, e22, e12 = System(sc.Scene([shell])).strain_fields[0].strain(shell.start)
        np.testing.assert_allclose([e11, e22], [green[:, 0, 0], green[:, 1, 1]], atol=1e-12)
        np.testing.assert_allclose(np.abs(e12), np.abs(green[:, 0, 1]), atol=1e-12)

    def test_a_seam_has_a_length_a_face_and_its_hinge_the_mean(self) -> None:
        points = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, -1, 0]])
        uv = np.array([[[0.0, 0], [1.2, 0], [0.4, 0.9]], [[3.0, 0], [3.0, 0.8], [2.0, 0.2]]])
        shell = sc.Shell(points, [[0, 1, 2], [1, 0, 3]], PLAIN, bending="hinge", rest_uv=uv)
        rigidity, area = PLAIN.bend[0], 0.5 * 1.2 * 0.9 + 0.5 * 0.8 * 1.0
        weight = System(sc.Scene([shell])).bendings[0].angles.weights
        assert weight == pytest.approx([rigidity * 1.0**2 / area], rel=1e-12)
        assert shell.rest_angles_at(0.0).tolist() == [0.0]

    def test_rest_angles_are_flat_but_for_creases_and_what_is_given(self) -> None:
        points, faces, uv = patterns.tube(8, 2, 1.0, 0.3)
        shell = sc.Shell(points, faces, PLAIN, rest_uv=uv)
        assert not shell.rest_angles_at(0.0).any() and np.abs(shell.shape_angles).max() > 0.1
        shell.crease([shell.hinges[3, :2]], 0.7)
        assert shell.rest_angles_at(0.0)[3] == pytest.approx(0.7) and np.count_nonzero(shell.rest_angles_at(0.0)) == 1
        given = np.linspace(-0.1, 0.1, len(shell.hinges))
        angled = sc.Shell(points, faces, PLAIN, rest_uv=uv, rest_angles=given)
        np.testing.assert_array_equal(angled.rest_angles_at(0.0), given)

    def test_warp_is_u_and_turns_in_the_pattern(self) -> None:
        points, faces = bumpy(unstructured(30, 0.6, 0.4, 1), 0.05, 1)
        islands = patterns.apart(points[:, :2], faces, True, 1)
        along_u = sc.axes_from_uv(points, faces, islands)
        shell = sc.Shell(points, faces, SATIN, rest_uv=islands)
        np.testing.assert_allclose(shell.axes, along_u, atol=1e-12)
        # The same directions said in three ways.
        given = sc.Shell(points, faces, SATIN, rest_uv=islands, axes=along_u)
        np.testing.assert_allclose(given.rest.axes, shell.rest.axes, atol=1e-12)
        turned = sc.Shell(points, faces, SATIN, rest_uv=islands, axes=np.tile([0.6, 0.8], (len(faces), 1)))
        np.testing.assert_allclose(turned.rest.axes, np.tile([0.6, 0.8, 0.0], (len(faces), 1)), atol=1e-12)

    def test_grain_of_an_island_decides_its_stiffness(self) -> None:
        """Pulled along the mesh's x, a piece laid along U gives the warp's stress, one laid across it the weft's."""
        points, faces = grid(2, 2, 1.0, 1.0)
        quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
        stretched = points * np.array([1.01, 1.0, 1.0])
        material = sc.Material(
            stretch=(900.0, 300.0), shear=120.0, poisson=0.0, bend=1e-3, areal_density=0.3, thickness=1e-3
        )
        for turn, modulus in ((np.eye(2), 900.0), (quarter, 300.0), (quarter @ np.diag([1.0, -1.0]), 300.0)):
            uv = points[:, :2][faces] @ turn.T
            shell = sc.Shell(points, faces, material, rest_uv=uv)
            energy = System(sc.Scene([shell])).membranes[0][0].value(stretched)
            green = 0.5 * (1.01**2 - 1.0)
            assert energy == pytest.approx(0.5 * modulus * green**2, rel=1e-10)


def uneven(**options: Any) -> sc.Shell:
    """A curved shell whose faces have shrunk or grown unlike."""
    points, faces = bumpy(unstructured(30, 0.6, 0.4, 1), 0.05, 1)
    scale = np.random.default_rng(4).uniform(0.8, 1.2, len(faces))
    return sc.Shell(points, faces, SATIN, rest_scale=scale, **options)


class TestScale:
    @pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
    def test_refused(self, value: float) -> None:
        points, faces, _ = flat_sheet()
        scale = np.ones(len(faces))
        scale[5] = value
        with pytest.raises(
            sc.ShellError, match="rest_scale must be positive and finite; it is not at faces 5"
        ) as error:
            sc.Shell(points, faces, PLAIN, rest_scale=scale)
        assert error.value.faces == [5]
        with pytest.raises(sc.ShellError, match="rest_scale must be one number or"):
            sc.Shell(points, faces, PLAIN, rest_scale=np.ones(3))
        with pytest.raises(sc.ShellError, match="takes no rest_scale"):
            sc.Shell(points, faces, PLAIN, rest_scale=0.9, bending="subdivision")

    def test_mass_stays_and_area_shrinks(self) -> None:
        points, faces, uv = flat_sheet()
        for pattern in (None, uv):
            whole, small = (sc.Shell(points, faces, PLAIN, rest_uv=pattern, rest_scale=s) for s in (1.0, 0.8))
            np.testing.assert_allclose(small.areas, 0.64 * whole.areas, rtol=1e-12)
            np.testing.assert_allclose(small.mass, whole.mass, rtol=1e-12)
            np.testing.assert_allclose(small.hinge_rigidity, whole.hinge_rigidity, rtol=1e-9)

    @pytest.mark.parametrize("bending", ["hinge", "cubic"])
    @pytest.mark.parametrize("membrane", ["fem", "springs"])
    def test_a_curved_shell_has_no_stress_at_its_smaller_self(self, bending: str, membrane: str) -> None:
        points, faces = bumpy(unstructured(30, 0.6, 0.4, 1), 0.05, 1)
        shell = sc.Shell(points, faces, PLAIN, bending=bending, membrane=membrane, rest_scale=0.8)
        parts = shell_energies(shell, 0, len(points), 1.0)
        stiff, pull = parts.membranes[0].value(points), np.abs(parts.membranes[0].gradient(points)).max()
        for energy in [*parts.membranes, parts.bending.energy]:
            assert abs(energy.value(0.8 * points)) < 1e-12 * stiff
            assert np.abs(energy.gradient(0.8 * points)).max() < 1e-9 * pull

    def test_a_sheet_shrinks(self) -> None:
        points, faces, _ = flat_sheet()
        shell = sc.Shell(points, faces, PLAIN, rest_scale=0.9)
        x = sc.equilibrium(sc.Scene([shell], gravity=(0, 0, 0)))
        assert shell.rest.off(x, shell.faces) < 1e-6
        # It is free to turn.
        first, last = points[:, :2].sum(axis=1).argmin(), points[:, :2].sum(axis=1).argmax()
        apart = np.linalg.norm(points[last] - points[first])
        assert np.linalg.norm(x[last] - x[first]) == pytest.approx(0.9 * apart, rel=1e-6)


@pytest.mark.parametrize("options", [*MODELS, dict(bending="cubic", rest_angles="given")])
def test_derivatives_where_nothing_fits(options: dict[str, Any]) -> None:
    options = dict(options)
    if options.get("rest_angles") == "given":
        options["rest_angles"] = np.random.default_rng(0).uniform(-1.0, 1.0, len(distorted()[0].hinges))
    check_derivatives(distorted(**options)[0])


@pytest.mark.parametrize("options", MODELS[:4])
def test_derivatives_where_faces_have_shrunk_unlike(options: dict[str, Any]) -> None:
    check_derivatives(uneven(**options))


def check_derivatives(shell: sc.Shell) -> None:
    parts = shell_energies(shell, 0, len(shell.start), 1.0)
    x = shell.start * np.array([1.0, 1.0, 1.5])
    step = 1e-3 * smallest_height(x, shell.faces)
    for energy in [*parts.membranes, parts.bending.energy]:
        assert gradient_gap(energy, x, step) < 1e-7
        assert hessian_gap(energy, x, step) < 1e-6


@pytest.mark.parametrize("membrane", ["fem", "springs"])
@pytest.mark.parametrize("bending", ["hinge", "quadratic", "cubic", "shrunk"])
def test_a_cut_keeps_mass_and_energy_but_for_what_broke(bending: str, membrane: str) -> None:
    law = sc.Fracture(0.5)
    if bending == "shrunk":
        shell = uneven(membrane=membrane, fracture=law, rest_angles="flat")
    else:
        shell, _ = distorted(bending=bending, membrane=membrane, fracture=law)
    scene = sc.Scene([shell], gravity=(0, 0, 0))
    system, cracks = System(scene), Cracks(scene)
    x = np.asfortranarray(shell.start)
    cut = cracks.step(system, x, 0.0)
    assert cut is not None and cracks.counts()["copies"] > 5
    ahead, parent, lost = cut
    assert ahead.mass.sum() == pytest.approx(system.mass.sum(), rel=1e-12)
    before, after = (
        sum(part.value(at) for part in s.elastic()) for s, at in ((system, x), (ahead, np.asfortranarray(x[parent])))
    )
    assert lost > 0.0 and before - after == pytest.approx(lost, rel=1e-9)


def test_fracture_of_islands_is_that_of_the_sheet() -> None:
    points, faces = unstructured(120, 1.0, 1.0, seed=2)
    stiff = sc.Material.solid(young=1e9, poisson=0.2, thickness=5e-3, density=1000)
    axes = np.tile([0.8, 0.6, 0.0], (len(faces), 1))
    runs = []
    for uv in (None, patterns.apart(points[:, :2], faces, True)):
        law = sc.Fracture((1.0, 2.0), stretch=(1e-3, 2e-3))
        shell = sc.Shell(points, faces, stiff, axes=axes, rest_uv=uv, fracture=law)
        shell.velocities[:, 2] = -5.0
        scene = sc.Scene([shell], colliders=[sc.Sphere((0.5, 0.5, -0.22), 0.2)])
        runs.append(list(sc.simulate(scene, 8, fps=100))[-1])
    assert runs[0].stats["copies"] > 5
    np.testing.assert_array_equal(runs[1].faces, runs[0].faces)
    np.testing.assert_allclose(runs[1].positions, runs[0].positions, atol=1e-7)
    np.testing.assert_allclose(runs[1].fields["damage"], runs[0].fields["damage"], atol=1e-5)


def test_a_seam_of_unequal_sides_comes_open_and_each_side_has_its_own_length() -> None:
    """Two strips, one longer by a tenth: sewn they strain each other, parted they rest."""
    points, faces = grid(8, 2, 0.4, 0.1)
    uv = points[faces][:, :, :2]
    upper = points[faces][:, :, 1].mean(axis=1) > 0.05
    uv[upper, :, 0] *= 1.1
    for membrane in ("fem", "springs"):
        material = sc.Material.solid(young=1e5, poisson=0.3, thickness=2e-3, density=1000)
        damping = sc.Damping(viscosity=0.02)
        shell = sc.Shell(points, faces, material, rest_uv=uv, membrane=membrane, damping=damping, self_contact=False)
        middle = np.flatnonzero(np.abs(points[:, 1] - 0.05) < 1e-9)
        shell.pin(np.arange(len(points)), axes=(False, False, True))
        seam = np.column_stack([middle[:-1], middle[1:]])
        shell.seam(seam, release=0.5)
        frames = list(sc.simulate(sc.Scene([shell], gravity=(0, 0, 0)), 48, fps=24))
        sewn = next(frame for frame in frames if 0.3 < frame.time < 0.45)
        assert np.abs(sewn.fields["strain"]).max() > 0.03
        assert frames[-1].stats["copies"] == len(middle)
        assert np.abs(frames[-1].fields["strain"]).max() < 1e-3


def test_solvers_find_the_same_rest_where_nothing_fits() -> None:
    """Held in the plane, where it cannot buckle this way or that; large enough for the solver of sheets."""
    points, faces = unstructured(420, 0.6, 0.4, 3)
    islands = patterns.apart(points[:, :2], faces, True)
    islands *= np.random.default_rng(1).uniform(0.97, 1.03, (len(faces), 1, 1))
    found = {}
    for solver in ("newton", "newton_cg", "quasi_newton"):
        shell = sc.Shell(points, faces, PLAIN, rest_uv=islands, bending="quadratic", self_contact=False)
        shell.pin(np.arange(len(points)), axes=(False, False, True))
        shell.pin([0, 1])
        scene = sc.Scene([shell], gravity=(0, -9.81, 0))
        options: dict[str, Any] = dict(integrator="implicit_euler", solver=solver, tolerance=1e-9, substeps=2)
        last = list(sc.simulate(scene, 3, fps=24, **options))[-1]
        found[last.stats["solver"]] = last.positions
    assert set(found) == {"sheet_newton", "newton_cg", "quasi_newton"}
    for other in ("newton_cg", "quasi_newton"):
        assert np.abs(found[other] - found["sheet_newton"]).max() < 1e-7
