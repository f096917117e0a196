"""What a scene refuses, attachments and when they open, and the shapes of colliders."""

from __future__ import annotations

import numpy as np
import pytest

import shellcore as sc
from meshes import grid
from shellcore.contact.bodies import Bodies

MATERIAL = sc.Material(stretch=60.0, poisson=0.3, bend=0.01, areal_density=0.2, thickness=1e-3)


def sheet(shift=0.0):
    points, faces = grid(2, 2, 0.4, 0.4)
    return sc.Shell(points + np.array([shift, 0.0, 0.0]), faces, MATERIAL)


class TestRefusals:
    def test_no_shells(self):
        with pytest.raises(sc.ShellError, match="at least one Shell"):
            sc.Scene([])

    def test_what_is_not_a_shell(self):
        with pytest.raises(sc.ShellError, match="takes Shells, not int"):
            sc.Scene([sheet(), 3])

    def test_a_shell_twice(self):
        shell = sheet()
        with pytest.raises(sc.ShellError, match="appears twice"):
            sc.Scene([shell, shell])

    def test_an_attachment_to_a_shell_elsewhere(self):
        a, b = sheet(), sheet(0.5)
        with pytest.raises(sc.ShellError, match="Attach joins a Shell that is not in the Scene"):
            sc.Scene([a], attachments=[sc.Attach(a, [0], b, [0])])

    @pytest.mark.parametrize("gravity", [(0, 0), 9.81, (0, 0, np.nan), (0, np.inf, 0)])
    def test_gravity(self, gravity):
        with pytest.raises(sc.ShellError, match="gravity must be three finite numbers"):
            sc.Scene([sheet()], gravity=gravity)

    @pytest.mark.parametrize(
        "options, words",
        [
            (dict(colliders=["floor"]), "colliders.*str"),
            (dict(attachments=[(0, 1)]), "attachments.*tuple"),
            (dict(wind=(1.0, 0.0, 0.0)), "wind must be a Wind"),
            (dict(forces=[lambda t: 0.0]), "forces.*function"),
        ],
    )
    def test_parts_of_another_kind(self, options, words):
        with pytest.raises(sc.ShellError, match=words):
            sc.Scene([sheet()], **options)

    def test_a_force_of_the_wrong_shape(self):
        class Short:
            def force(self, t, x, v, area_normals):
                return np.zeros(3)

        with pytest.raises(sc.ShellError, match=r"Short\.force gave shape \(3,\), not \(9, 3\)"):
            list(sc.simulate(sc.Scene([sheet()], forces=[Short()]), 1))

    @pytest.mark.parametrize(
        "arguments, options, words",
        [
            (([0, 1], [0]), {}, "as many vertices on both sides, not 2 and 1"),
            (([9], [0]), {}, "Attach names vertices 9, outside 0..8"),
            (([0], [0]), dict(stiffness=0.0), "Attach stiffness must be finite and positive"),
            (([0], [0]), dict(stiffness=np.nan), "Attach stiffness"),
            (([0, 1], [0, 1]), dict(stiffness=[1.0, 2.0, 3.0]), r"Attach stiffness.*\(3,\)"),
            (([0], [0]), dict(release=np.nan), "Attach release times must be numbers"),
            (([0, 1], [0, 1]), dict(release=[1.0, 2.0, 3.0]), r"Attach release times.*\(3,\)"),
        ],
    )
    def test_attachments(self, arguments, options, words):
        with pytest.raises(sc.ShellError, match=words):
            sc.Attach(sheet(), arguments[0], sheet(0.5), arguments[1], **options)

    def test_a_vertex_tied_to_itself(self):
        shell = sheet()
        with pytest.raises(sc.ShellError, match="Attach ties vertices 4 to themselves"):
            sc.Attach(shell, [3, 4], shell, [5, 4])


class TestColliders:
    @pytest.mark.parametrize("normal", [(0, 0, 0), (np.nan, 0, 1), (np.inf, 0, 0), (0, 1)])
    def test_plane_normals(self, normal):
        with pytest.raises(sc.ShellError, match=r"Plane needs a normal|Plane's normal must be three finite numbers"):
            sc.Plane((0, 0, 0), normal)

    @pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf])
    def test_sphere_radii(self, radius):
        with pytest.raises(sc.ShellError, match=rf"Sphere's radius must be positive \[m\], not {radius}"):
            sc.Sphere((0, 0, 0), radius)

    @pytest.mark.parametrize("place", [(0, 0), (0, 0, np.nan)])
    def test_places(self, place):
        with pytest.raises(sc.ShellError, match="collider's place must be three finite numbers"):
            sc.Plane(place, (0, 0, 1))
        with pytest.raises(sc.ShellError, match="collider's place must be three finite numbers"):
            sc.Sphere(place, 1.0)

    @pytest.mark.parametrize("friction", [-0.1, np.nan])
    def test_friction(self, friction):
        with pytest.raises(sc.ShellError, match=r"Plane.*friction.*not"):
            sc.Plane((0, 0, 0), (0, 0, 1), friction=friction)
        with pytest.raises(sc.ShellError, match=r"Sphere.*friction.*not"):
            sc.Sphere((0, 0, 0), 1.0, friction=friction)

    def test_a_place_that_goes_bad_on_the_way(self):
        floor = sc.Plane(lambda t: (0.0, 0.0, -1.0 if t < 0.12 else np.nan), (0, 0, 1))
        with pytest.raises(sc.ShellError, match="collider's place"):
            list(sc.simulate(sc.Scene([sheet()], colliders=[floor]), 10, fps=20.0))

    def test_distances_normals_and_curvature(self):
        x = np.array([[0.0, 0.0, 2.0], [3.0, 0.0, 1.0]])
        distance, normal, curvature = sc.Plane((0, 0, 1), (0, 0, 5)).distance(x, np.array([0.0, 0.0, 1.0]))
        assert distance.tolist() == [1.0, 0.0] and (normal == [0, 0, 1]).all() and (curvature == 0).all()
        distance, normal, curvature = sc.Sphere((0, 0, 0), 0.5).distance(x, np.zeros(3))
        assert distance == pytest.approx([1.5, np.sqrt(10.0) - 0.5])
        assert normal[0].tolist() == [0, 0, 1] and curvature == pytest.approx([0.5, 1 / np.sqrt(10.0)])

    @pytest.mark.parametrize("contact", ["auto", "penalty"])
    def test_a_sheet_comes_to_rest_on_the_floor(self, contact):
        floor = sc.Plane((0.0, 0.0, -0.2), (0, 0, 1))
        scene = sc.Scene([sheet()], colliders=[floor], contact=contact)
        *_, last = sc.simulate(scene, 40, tolerance=1e-7)
        height = last.positions[:, 2] + 0.2
        if contact == "penalty":
            # g h²/400 of depth below half a thickness.
            assert height == pytest.approx(0.5e-3 - 9.81 / 24**2 / 400, abs=2e-5)
        else:
            assert (height > 0.0).all() and (height <= Bodies(scene).half[0]).all()
        shell = sheet()
        assert last.fields["contact"] == pytest.approx(9.81 * shell.mass, rel=0.02)


class TestAttachments:
    def test_a_seam_holds_until_its_time_and_opens_then(self):
        """Two sheets, one held, one hanging from it by a seam: free fall begins when the seam opens."""
        upper, lower = sheet(), sheet(0.4)
        upper.pin(np.arange(9))
        right = np.flatnonzero(upper.rest_positions[:, 0] == 0.4)
        left = np.flatnonzero(lower.rest_positions[:, 0] == 0.4)
        seam = sc.Attach(upper, right, lower, left, stiffness=200.0, release=0.5)
        scene = sc.Scene([upper, lower], attachments=[seam], gravity=(9.81, 0.0, 0.0))
        frames = list(sc.simulate(scene, 30, fps=40.0, solver="newton", tolerance=1e-9))
        gap = np.array([np.linalg.norm(f.positions[9 + left] - f.positions[right], axis=1).max() for f in frames])
        when = np.array([f.time for f in frames])
        weight = lower.mass.sum() * 9.81
        # Swings about the sag, never beyond twice the static one (and the sheet's own stretch).
        assert gap[when <= 0.5].max() < 2.5 * weight / (2 * 200.0)
        momentum = np.array([(lower.mass @ f.velocities[9:])[0] for f in frames])
        after = when > 0.5 + 1e-9
        assert np.diff(momentum[after]) * 40.0 == pytest.approx(weight, rel=1e-6)
        assert abs((momentum[after][0] - momentum[~after][-1]) * 40.0 / weight - 1.0) < 1e-6
        assert gap[-1] > 5 * gap[when <= 0.5].max()

    def test_pairs_open_one_by_one(self):
        def gaps(release):
            upper, lower = sheet(), sheet(0.4)
            upper.pin(np.arange(9))
            right = np.flatnonzero(upper.rest_positions[:, 0] == 0.4)
            left = np.flatnonzero(lower.rest_positions[:, 0] == 0.4)
            seam = sc.Attach(upper, right, lower, left, release=release)
            *_, last = sc.simulate(sc.Scene([upper, lower], attachments=[seam]), 20, fps=40.0)
            return np.linalg.norm(last.positions[9 + left] - last.positions[right], axis=1)

        held, opened = gaps(None), gaps([0.1, np.inf, np.inf])
        assert opened[0] > 5 * held[0]
        assert opened[1:].max() < 0.5 * opened[0]

    def test_a_seam_pulls_both_sides_alike(self):
        a, b = sheet(), sheet(1.0)
        scene = sc.Scene([a, b], attachments=[sc.Attach(a, [2, 5, 8], b, [0, 3, 6])], gravity=(0, 0, 0))
        *_, last = sc.simulate(scene, 20)
        mass = np.concatenate([a.mass, b.mass])
        assert np.abs(mass @ last.velocities).max() < 1e-12
        assert last.positions[9, 0] - last.positions[2, 0] < 0.5

    @pytest.mark.parametrize("solver", ["newton", "quasi_newton"])
    def test_an_elastic_band_pulls_with_what_it_is_longer(self, solver):
        """A sheet hangs by bands of unequal length from another that is held: k (|d| − ℓ) is its weight."""
        upper, lower = sheet(), sheet(0.6)
        upper.pin(np.arange(9))
        right = np.flatnonzero(upper.rest_positions[:, 0] == 0.4)
        left = np.flatnonzero(lower.rest_positions[:, 0] == 0.6)
        lengths = np.array([0.1, 0.15, 0.12])
        band = sc.Attach(upper, right, lower, left, stiffness=40.0, rest_length=lengths)
        scene = sc.Scene([upper, lower], attachments=[band], gravity=(9.81, 0.0, 0.0))
        x = sc.equilibrium(scene)
        apart = np.linalg.norm(x[9 + left] - x[right], axis=1)
        force = 40.0 * np.maximum(apart - lengths, 0.0)
        along = (x[9 + left] - x[right])[:, 0] / apart
        assert force @ along == pytest.approx(lower.mass.sum() * 9.81, rel=1e-6)
        # It swings about that, and ends there.
        for shell in (upper, lower):
            shell.damping = sc.Damping(mass=8.0)
        *_, last = sc.simulate(scene, 80, fps=40.0, solver=solver)
        assert np.abs(last.positions - x).max() < 2e-3

    def test_a_slack_band_does_nothing(self):
        def last(**options):
            shell = sheet()
            ties = [sc.Attach(shell, [0], shell, [8], stiffness=5.0, **options)] if options else []
            shell.pin([0, 1])
            *_, frame = sc.simulate(sc.Scene([shell], attachments=ties), 5, solver="newton", tolerance=1e-10)
            return frame.positions

        assert np.abs(last(rest_length=2.0) - last()).max() < 1e-8
        assert np.abs(last(rest_length=0.1) - last()).max() > 1e-3
        with pytest.raises(sc.ShellError, match="rest_length must be finite and not negative"):
            last(rest_length=-1.0)

    def test_a_shell_sewn_to_itself(self):
        shell = sheet()
        scene = sc.Scene([shell], attachments=[sc.Attach(shell, [0], shell, [8], stiffness=5.0)], gravity=(0, 0, 0))
        *_, last = sc.simulate(scene, 10)
        assert np.linalg.norm(last.positions[8] - last.positions[0]) < 0.9 * np.hypot(0.4, 0.4)
