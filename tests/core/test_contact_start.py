"""How contact begins and what it leaves out: intersections at the start, tangled sheets, seams that open."""

from __future__ import annotations

import numpy as np
import pytest
from contact_scenes import box, cloth, sheet, turned

import shellcore as sc
from meshes import grid, icosphere
from shellcore.contact.bodies import Bodies
from shellcore.contact.candidates import Candidates
from shellcore.contact.intersections import intersections, scene_intersections
from shellcore.contact.passing import Passing
from shellcore.contact.seams import Seams
from shellcore.contact.untangle import pierced


class TestStartUp:
    def crossed(self, **options):
        points, faces = grid(4, 4, 1.0, 1.0)
        upright = points[:, [0, 2, 1]] + [0.05, 0.4, -0.5]
        shells = [sc.Shell(p, faces, cloth(), bending="quadratic", rest_angles="flat") for p in (points, upright)]
        return sc.Scene(shells, gravity=(0.0, 0.0, 0.0), **options)

    def test_names_the_faces(self):
        with pytest.raises(sc.ShellError, match="intersections") as error:
            sc.simulate(self.crossed(), frames=1).__next__()
        assert error.value.faces and max(error.value.faces) >= 32

    def test_can_be_let_be_and_says_so(self):
        frame = next(sc.simulate(self.crossed(intersections="ignore"), frames=1))
        assert frame.stats["intersections"] > 0 and frame.stats["intersections_at_start"] == "ignore"

    @pytest.mark.parametrize("collider", [sc.Plane((0, 0, 0.1), (0, 0, 1)), sc.Sphere((0.5, 0.5, -0.1), 0.2)])
    def test_solids_are_named_and_untangled(self, collider):
        shell = sheet(4, 1.0, (0.5, 0.5, 0.0))
        with pytest.raises(sc.ShellError, match="collider 0"):
            next(sc.simulate(sc.Scene([shell], colliders=[collider]), frames=1))
        scene = sc.Scene([shell], colliders=[collider], intersections="untangle", gravity=(0.0, 0.0, 0.0))
        *_, frame = sc.simulate(scene, frames=8)
        assert scene_intersections(scene, frame.positions, frame.time).count == 0

    def test_bad_colliders_and_options_are_refused(self):
        with pytest.raises(sc.ShellError, match=r"Collider.s faces must have shape .*triangulate"):
            sc.Collider(np.zeros((4, 3)), np.zeros((1, 4), dtype=int))
        with pytest.raises(sc.ShellError, match="outside"):
            sc.Collider(np.zeros((3, 3)), np.array([[0, 1, 7]]))
        with pytest.raises(sc.ShellError, match="friction"):
            sc.Plane((0, 0, 0), (0, 0, 1), friction=-1.0)
        with pytest.raises(sc.ShellError, match="contact_distance"):
            sc.Scene([sheet(2, 1.0, (0, 0, 0))], contact_distance=0.0)
        with pytest.raises(sc.ShellError, match="intersections"):
            sc.Scene([sheet(2, 1.0, (0, 0, 0))], intersections="maybe")


def pairs_of(scene, x, t):
    """Faces that intersect, by shell faces and by face and collider face."""
    found = scene_intersections(scene, x, t)
    return {tuple(map(int, row)) for row in [*found.shells, *found.meshes]}


class TestIgnored:
    """What crosses at the start goes on to; no other pair of faces ever does."""

    def two_tangles(self):
        """Two pairs of crossed sheets, one of which falls on the other: faces that cross meet faces that cross."""
        points, faces = grid(6, 6, 0.6, 0.6)
        points -= [0.3, 0.3, 0.0]
        upright = points[:, [0, 2, 1]] + [0.013, 0.02, 0.011]
        places = [points, upright, points[:, [1, 0, 2]], upright[:, [1, 0, 2]]]
        places[2:] = [place + [0.03, 0.01, 0.5] for place in places[2:]]
        shells = [sc.Shell(p, faces, cloth(), bending="quadratic", rest_angles="flat") for p in places]
        for shell in shells[:2]:
            shell.pin(np.flatnonzero(np.abs(points).max(axis=1) > 0.299))
        return sc.Scene(shells, intersections="ignore")

    def on_a_spike(self):
        """A sheet pierced by one cone of a mesh that falls on the other, which is as high as it is low."""
        around = np.linspace(0, 2 * np.pi, 7)[:-1]
        ring = np.column_stack([0.05 * np.cos(around), 0.05 * np.sin(around), np.full(6, -0.3)])
        cone = np.array([(0, 1 + i, 1 + (i + 1) % 6) for i in range(6)])
        spikes = [np.vstack([[0.0, 0.0, top], ring]) + [x, 0.02, 0.0] for x, top in ((-0.12, 0.05), (0.11, -0.02))]
        body = sc.Collider(np.vstack(spikes), np.vstack([cone, cone + 7]))
        return sc.Scene([sheet(8, 0.5, (0.0, 0.0, 0.0))], colliders=[body], intersections="ignore")

    @pytest.mark.parametrize("name", ["two_tangles", "on_a_spike"])
    def test_no_other_pair_ever_crosses(self, name):
        scene = getattr(self, name)()
        allowed = pairs_of(scene, np.concatenate([shell.start for shell in scene.shells]), 0.0)
        contacts = 0
        for frame in sc.simulate(scene, frames=10):
            assert pairs_of(scene, frame.positions, frame.time) <= allowed
            assert frame.stats["ignored_pairs"] == frame.stats["intersections"] == len(allowed)
            contacts += frame.stats["contacts"]
        assert contacts > 20

    def test_resumes_with_identical_results(self):
        scene = self.on_a_spike()
        whole = list(sc.simulate(scene, frames=6))
        again = list(sc.simulate(scene, frames=3, resume=whole[2].state))
        assert np.array_equal(again[-1].positions, whole[-1].positions)
        assert again[-1].stats["ignored_pairs"] == whole[-1].stats["ignored_pairs"] > 0
        with pytest.raises(sc.ShellError, match="passing"):
            list(sc.simulate(scene, frames=1, resume=whole[2].state | {"passing_shells": np.array([[0, 10_000]])}))

    def test_leaves_out_what_belongs_to_such_pairs_alone(self):
        scene = sc.Scene([sheet(3, 0.3, (0.0, 0.0, z)) for z in (0.0, 0.01)])
        bodies = Bodies(scene)
        faces = bodies.shell_surface.faces
        rng = np.random.default_rng(1)
        # All faces about vertex 5 with one face, and some others.
        low, high = np.flatnonzero((faces < 16).all(axis=1)), np.flatnonzero((faces >= 16).all(axis=1))
        ignored = {(int(f), int(high[4])) for f in low if 5 in faces[f]}
        ignored |= {(int(a), int(b)) for a, b in zip(rng.choice(low, 60), rng.choice(high, 60), strict=True)}
        about = [{f for f, face in enumerate(faces) if v in face} for v in range(bodies.count)]
        edges = bodies.shell_surface.edges
        rows = np.array([(v, *faces[g]) for v in range(16) for g in high])
        lines = np.array([(*a, *b) for a in edges[edges[:, 0] < 16] for b in edges[edges[:, 0] >= 16]])
        both = Candidates(rows, lines[:, [1, 0, 2, 3]], np.zeros((0, 3)), np.zeros(len(rows)))
        left = Passing(bodies, np.array(sorted(ignored)), np.zeros((0, 2), dtype=int)).left_out(both)

        def passes(first, second):
            return all((f, g) in ignored for f in first for g in second)

        kept = [not passes(about[v], set.intersection(*(about[k] for k in face))) for v, *face in rows]
        assert np.array_equal(left.vertex_face, rows[kept]) and 0 < len(left.vertex_face) < len(rows)
        kept = [not passes(about[a] & about[b], about[c] & about[d]) for a, b, c, d in lines]
        assert np.array_equal(left.edge_edge, both.edge_edge[kept]) and 0 < len(left.edge_edge) < len(lines)


def corners(depth, angle):
    """A sheet that pokes through another with a corner, `depth` [m] deep."""
    points, faces = grid(8, 8, 0.4, 0.4)
    points -= [0.2, 0.2, 0.0]
    other = turned(turned(points, (0.0, 0.0, 1.0), np.pi / 4), (1.0, 0.2, 0.0), angle)
    other[:, 2] -= other[:, 2].min() + depth
    return [sc.Shell(p, faces, cloth(), bending="quadratic") for p in (points, other)], []


def tongue(angle):
    """A tongue of a sheet that is bent over and goes through it."""
    points, faces = grid(16, 16, 0.4, 0.4)
    middle = points[faces].mean(axis=1)
    used, faces = np.unique(faces[(middle[:, 0] < 0.2) | (np.abs(middle[:, 1] - 0.2) < 0.07)], return_inverse=True)
    points, faces = points[used], faces.reshape(-1, 3)
    x, radius = points[:, 0], 0.1 / angle
    bent, beyond, start = angle * np.clip((x - 0.2) / 0.1, 0.0, 1.0), np.maximum(x - 0.3, 0.0), points.copy()
    start[:, 0] = np.minimum(x, 0.2) + radius * np.sin(bent) + beyond * np.cos(angle)
    start[:, 2] = radius * (1.0 - np.cos(bent)) + beyond * np.sin(angle)
    return [sc.Shell(points, faces, cloth(), bending="quadratic", start=start)], []


def bulge():
    """A folded sheet whose upper layer bulges through the lower one: no border takes part."""
    points, faces = grid(32, 16, 0.8, 0.4)
    start, over = points.copy(), points[:, 0] > 0.42
    start[over, 0] = 0.8 - points[over, 0]
    start[:, 2] = np.where(over, 0.04, np.where(points[:, 0] > 0.38, 0.02, 0.0))
    away = (start[:, 0] - 0.2) ** 2 + (points[:, 1] - 0.2) ** 2
    start[over, 2] -= 0.07 * np.exp(-away[over] / 0.06**2)
    return [sc.Shell(points, faces, cloth(), bending="quadratic", start=start)], []


def in_a_body(body, faces, place):
    return [sheet(10, 0.4, (0.0, 0.0, 0.0))], [sc.Collider(body + np.array(place), faces)]


def upright():
    points, faces = grid(3, 3, 0.3, 0.3)
    return points[:, [0, 2, 1]], faces


TANGLED = {
    "corner": lambda: corners(0.06, np.pi / 2),
    "oblique corner": lambda: corners(0.1, np.pi / 3),
    "half a sheet": lambda: corners(0.2, np.pi / 2),
    "tongue": lambda: tongue(np.radians(235)),
    "bulge": bulge,
    "ball": lambda: in_a_body(*icosphere(2, 0.1), (0.15, 0.1, -0.07)),
    "cube": lambda: in_a_body(turned(box(0.15)[0], (1.0, 0.4, 0.2), 0.8), box()[1], (0.0, 0.05, -0.08)),
    "open wall": lambda: in_a_body(*upright(), (-0.15, 0.14, -0.1)),
}


class TestUntangling:
    @pytest.mark.parametrize("name", TANGLED)
    def test_comes_apart_before_the_first_step_and_stays_so(self, name):
        shells, colliders = TANGLED[name]()
        with pytest.raises(sc.ShellError, match="starts with"):
            next(sc.simulate(sc.Scene(shells, colliders=colliders), frames=1))
        scene = sc.Scene(shells, colliders=colliders, intersections="untangle", gravity=(0.0, 0.0, 0.0))
        before = scene_intersections(scene, np.concatenate([shell.start for shell in shells]), 0.0).count
        for frame in sc.simulate(scene, frames=3):
            assert scene_intersections(scene, frame.positions, frame.time).count == 0
            assert frame.stats["intersections"] == 0 and frame.stats["untangled"] == before

    def test_pins_stay_and_what_cannot_come_apart_is_named(self):
        shells, _ = corners(0.06, np.pi / 2)
        for shell in shells:
            shell.pin(np.arange(len(shell.start)))
        scene = sc.Scene(shells, intersections="untangle")
        with pytest.raises(sc.ShellError, match="could not be untangled") as error:
            next(sc.simulate(scene, frames=1))
        assert error.value.faces

    def test_moves_little_but_what_was_tangled(self):
        shells, _ = corners(0.06, np.pi / 2)
        scene = sc.Scene(shells, intersections="untangle", gravity=(0.0, 0.0, 0.0))
        frame = next(sc.simulate(scene, frames=1, fps=2400))
        moved = np.linalg.norm(frame.positions - np.concatenate([shell.start for shell in shells]), axis=1)
        assert moved.max() < 0.1 and np.median(moved) < 0.01

    def test_pierced_edges(self):
        points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.3, -1], [0.2, 0.3, 1], [3, 3, 1.0]])
        edges, faces, normals, weights = pierced(points, np.array([[3, 4, 5]]), np.array([[0, 1, 2]]))
        assert sorted(edges[0]) == [3, 4] and len(edges) == 1 and faces[0].tolist() == [0, 1, 2]
        assert np.allclose(np.abs(normals), [[0, 0, 1]]) and np.allclose(weights, [[0.5, 0.2, 0.3]])


class TestSeams:
    """Two sheets sewn edge to edge; when released one is lifted off, carried over the other and set down."""

    def sewn(self):
        points, faces = grid(4, 4, 0.2, 0.2)
        left = sc.Shell(points - [0.2, 0.0, 0.0], faces, cloth(), bending="quadratic")
        right = sc.Shell(points, faces, cloth(), bending="quadratic")
        a, b = (np.flatnonzero(np.abs(shell.start[:, 0]) < 1e-9) for shell in (left, right))
        left.pin(np.flatnonzero(left.start[:, 0] < -0.04))

        def path(t):
            # Apart, over the other's edge by half a face, and down.
            away, over, down = (np.clip((t - start) / 0.25, 0.0, 1.0) for start in (0.1, 0.35, 0.6))
            return right.start + [0.02 * away - 0.045 * over, 0.01 * away, 0.03 * away - 0.05 * down]

        right.pin(np.arange(len(points)), path)
        seam = sc.Attach(left, a, right, b, release=0.1)
        return sc.Scene([left, right], attachments=[seam], gravity=(0.0, 0.0, 0.0)), np.concatenate([a, b + 25])

    def crossed(self, scene):
        faces = np.concatenate([scene.shells[0].faces, scene.shells[1].faces + 25])
        frames = list(sc.simulate(scene, frames=20))
        return frames, [len(intersections(frame.positions, faces)) for frame in frames]

    def below(self, frame, seam):
        """How far the edge that is moved is below the other one [m]."""
        left, right = frame.positions[seam].reshape(2, -1, 3)
        return float(left[:, 2].mean() - right[:, 2].mean())

    def test_what_was_sewn_touches_once_the_seam_has_opened(self):
        scene, seam = self.sewn()
        frames, crossed = self.crossed(scene)
        assert sum(crossed[8:]) == 0
        assert self.below(frames[-1], seam) < 0.0
        assert frames[0].state["sewn"][seam].all() and not frames[-1].state["sewn"].any()
        again = list(sc.simulate(scene, frames=4, resume=frames[15].state))
        assert np.array_equal(again[-1].positions, frames[-1].positions)

    def test_without_that_it_would_pass_through(self, monkeypatch):
        monkeypatch.setattr(Seams, "open", lambda *_: False)
        scene, seam = self.sewn()
        assert self.below(self.crossed(scene)[0][-1], seam) > 0.005
