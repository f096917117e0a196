"""Contact where nothing touches: it is there by default, and changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

import shellcore as sc
from meshes import cylinder, grid, hemisphere, unstructured
from shellcore.contact.intersections import intersections

CLOTH = sc.Material(stretch=200.0, poisson=0.3, bend=0.005, areal_density=0.2, thickness=1e-3)
FLOOR = sc.Plane((0.0, 0.0, -9.0), (0, 0, 1))


def hung(bending="cubic"):
    points, faces = grid(10, 10, 1.0, 1.0)
    shell = sc.Shell(points, faces, CLOTH, bending=bending)
    shell.pin([0, 10])
    return shell


def thrown():
    points, faces = hemisphere(5, 0.3)
    spin = np.cross([2.0, -1.0, 3.0], points) + np.array([1.0, 0.0, 2.0])
    return sc.Shell(points, faces, CLOTH, bending="cubic", velocities=spin)


def smooth():
    points, faces = cylinder(10, 6, 0.2, 0.5)
    shell = sc.Shell(points, faces, CLOTH, bending="subdivision")
    shell.pin(np.flatnonzero(points[:, 2] < 1e-9))
    return shell


def run(make, frames, scene, **options):
    return list(sc.simulate(sc.Scene([make()], **scene), frames, **options))


@pytest.mark.parametrize(
    "make, options",
    [
        (hung, {}),
        (hung, dict(solver="newton")),
        (hung, dict(tolerance=1e-7)),
        (hung, dict(integrator="newmark", fps=200.0)),
        (hung, dict(integrator="explicit", fps=100.0, substeps=20)),
        (hung, dict(integrator="imex_bending", fps=100.0, substeps=8)),
        (thrown, {}),
        (thrown, dict(solver="quasi_newton")),
        (smooth, {}),
    ],
)
def test_what_touches_nothing_moves_as_it_does_without_contact(make, options):
    alone = run(make, 8, dict(self_contact=False), **options)
    apart = run(make, 8, {}, **options)
    assert "contacts" in apart[-1].stats and "contacts" not in alone[-1].stats
    for a, b in zip(alone, apart, strict=True):
        assert a.positions.tobytes() == b.positions.tobytes()
        assert a.stats["gradients"] == b.stats["gradients"]


class TestWhoTouches:
    """`contact` and `self_contact` of a Scene."""

    def brittle(self):
        return sc.Shell(*grid(2, 2, 1.0, 1.0), CLOTH, fracture=sc.Fracture(3.0))

    def loose(self):
        return sc.Shell(*grid(2, 2, 1.0, 1.0), CLOTH, self_contact=False)

    def test_by_default_all_that_can(self):
        assert sc.Scene([hung()]).exact_contact and sc.Scene([hung()]).touch_themselves.all()
        assert sc.Scene([self.loose(), self.loose()]).together
        assert sc.Scene([self.loose()], colliders=[FLOOR]).exact_contact
        assert not sc.Scene([self.loose()]).exact_contact

    def test_what_may_break_touches_itself_only_if_asked_to(self):
        assert not sc.Scene([self.brittle()]).exact_contact
        assert sc.Scene([self.brittle()], self_contact=True).touch_themselves.all()
        assert sc.Scene([self.brittle()], contact="exact").touch_themselves.all()
        both = sc.Scene([self.brittle(), hung()])
        assert both.together and both.touch_themselves.tolist() == [False, True]

    def test_not_at_all(self):
        apart = sc.Scene([hung(), hung()], self_contact=False)
        assert not (apart.together or apart.exact_contact or apart.touch_themselves.any())
        assert not sc.Scene([hung()], colliders=[FLOOR], contact="penalty").exact_contact

    def test_equilibrium_knows_no_self_contact_unless_asked_to(self):
        assert not sc.Scene([hung()]).at_rest().exact_contact
        assert sc.Scene([hung()], self_contact=True).at_rest().exact_contact
        assert sc.Scene([hung(), hung()]).at_rest().together


def test_a_strip_folds_onto_itself_and_not_through():
    """No word of contact: a strip whose end is led over it and pressed down stays above itself."""
    points, faces = grid(16, 3, 0.8, 0.15)
    shell = sc.Shell(points, faces, CLOTH, bending="quadratic")
    shell.pin(np.flatnonzero(points[:, 0] < 1e-9))
    end = np.flatnonzero(points[:, 0] > 0.8 - 1e-9)

    def led(t):
        turn = np.pi * min(t / 0.5, 1.0)
        return points[end] * [0, 1, 1] + [0.4 + 0.35 * np.cos(turn), 0.0, 0.25 * np.sin(turn) - 0.3 * max(t - 0.5, 0)]

    shell.pin(end, led)
    scene = sc.Scene([shell], gravity=(0, 0, 0))
    for frame in sc.simulate(scene, 20):
        assert len(intersections(frame.positions, frame.faces)) == 0
    assert frame.stats["contacts"] > 0


@pytest.mark.parametrize("frames", [3, 6])
def test_a_slow_run_resumes_with_the_candidates_it_had(frames):
    """They last while nothing moves by more than their margin, across frames and across resumes."""
    points, faces = unstructured(120, 1.0, 1.0, seed=4)

    def scene():
        lower = sc.Shell(points, faces, CLOTH)
        upper = sc.Shell(points, faces, CLOTH, start=points + np.array([0.03, 0.02, 2e-3]))
        return sc.Scene([lower, upper], colliders=[sc.Plane((0, 0, -1e-3), (0, 0, 1))])

    whole = list(sc.simulate(scene(), 9, fps=100.0, substeps=3))
    builds = [frame.stats["contact_builds"] for frame in whole]
    assert min(builds) < 3
    rest = list(sc.simulate(scene(), 9 - frames, fps=100.0, substeps=3, resume=whole[frames - 1].state))
    assert [f.positions.tobytes() for f in rest] == [f.positions.tobytes() for f in whole[frames:]]
    assert [f.stats["contact_builds"] for f in rest] == builds[frames:]
    broken = whole[0].state | {"shell_pairs_low": np.zeros((2, 3))}
    with pytest.raises(sc.ShellError, match="shell_pairs"):
        list(sc.simulate(scene(), 1, resume=broken))


def test_explicit_steps_in_contact_keep_the_momentum_of_free_sheets():
    points, faces = grid(6, 6, 0.5, 0.5)
    upper, lower = (
        sc.Shell(
            points, faces, CLOTH, start=points + np.array([0.01, 0.02, z]), velocities=np.tile([0.1, 0.0, v], (49, 1))
        )
        for z, v in ((0.01, -2.0), (0.0, 1.0))
    )
    scene = sc.Scene([upper, lower], gravity=(0, 0, 0))
    mass = np.concatenate([upper.mass, lower.mass])
    before = mass @ np.concatenate([upper.velocities, lower.velocities])
    *_, last = sc.simulate(scene, 6, fps=200.0, substeps=40, integrator="explicit")
    speeds = [np.average(last.velocities[part, 2], weights=mass[part]) for part in last.slices]
    assert speeds[0] > speeds[1]  # they have met and parted
    assert mass @ last.velocities == pytest.approx(before, abs=1e-11 * float(np.abs(before).max()))


@pytest.mark.parametrize("depth", [0.0, 1e-12, 1e-4])
def test_a_start_that_touches_a_plane_is_pushed_out(depth):
    points, faces = grid(4, 4, 0.4, 0.4)
    shell = sc.Shell(points, faces, CLOTH, start=points - [0, 0, depth])
    scene = sc.Scene([shell], colliders=[sc.Plane((0, 0, 0), (0, 0, 1))])
    for frame in sc.simulate(scene, 4):
        assert (frame.positions[:, 2] > 0.0).all()
    deep = sc.Shell(points, faces, CLOTH, start=points - [0, 0, 1e-3])
    with pytest.raises(sc.ShellError, match="starts with 32 intersections"):
        list(sc.simulate(sc.Scene([deep], colliders=scene.colliders), 1))
