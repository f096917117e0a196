"""Pairs of shells with mesh colliders: what is found for all ways between two, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from contact_scenes import cloth

import shellcore as sc
from meshes import bumpy, grid, icosphere
from shellcore.contact import moving
from shellcore.contact.bodies import Bodies
from shellcore.contact.candidates import NONE, of_meshes
from shellcore.contact.distances import vertex_face
from shellcore.contact.known import Known
from shellcore.contact.mesh_pairs import MeshPairs
from shellcore.contact.pairs import Pairs
from shellcore.contact.tree import BoxTree


class TestMeshPairs:
    """A sheet over the mesh of a ball that moves: what is found for all ways between two."""

    def scene(self, seed):
        rng = np.random.default_rng(seed)
        points, faces = bumpy(grid(6, 6, 1.0, 1.0), 0.03, seed)
        ball, ball_faces = icosphere(1, 0.3)
        shell = sc.Shell(points + np.array([-0.5, -0.5, 0.4]), faces, cloth(0.01))
        scene = sc.Scene([shell], colliders=[sc.Collider(ball, ball_faces, thickness=0.1)], self_contact=False)
        bodies = Bodies(scene)
        x = np.concatenate([shell.rest_positions, bodies.place(0.0)])
        move, most = (0.15 * rng.normal(size=x.shape) - [0.0, 0.0, 0.1] for _ in range(2))
        # The ball goes one way.
        move[bodies.count :] = most[bodies.count :] = [0.05, 0.0, 0.08]
        tree = BoxTree.over(x[bodies.shell_surface.faces].mean(axis=1))
        return bodies, MeshPairs(bodies, bodies.mesh_surface, tree, x, 0.2), x, move, most, rng

    def missed(self, bodies, found, x):
        """Pairs of vertices and faces within the contact distance at x that are not among those found, and how many
        are."""
        surfaces, n = (bodies.shell_surface.faces, bodies.mesh_surface.faces), bodies.count
        rows = []
        for faces, vertices in ((surfaces[1], np.arange(n)), (surfaces[0], np.arange(n, bodies.total))):
            v, f = (k.ravel() for k in np.meshgrid(vertices, np.arange(len(faces)), indexing="ij"))
            rows.append(np.column_stack([v, faces[f]]))
        rows = np.concatenate(rows)
        w = vertex_face(*(x[rows[:, k]].T for k in range(4)))
        distance = np.linalg.norm(sum(w[k, :, None] * x[rows[:, k]] for k in range(4)), axis=1)
        close = rows[distance < bodies.half[rows[:, 0]] + bodies.half[rows[:, 3]]]
        known = {tuple(row) for row in found.vertex_face.tolist()}
        return [row for row in close.tolist() if tuple(row) not in known], len(close)

    def test_nearest_points_of_a_look_are_those_of_its_pairs(self, monkeypatch):
        """Whether in one go or in pieces; at other places they are found anew."""
        bodies, pairs, x, move, most, rng = self.scene(0)
        found = pairs.look(x, move, most)
        monkeypatch.setattr(moving, "PIECE", 7)
        piecewise = pairs.look(x, move, most)
        assert len(found) > 50
        for name in ("vertex_face", "edge_edge"):
            assert np.array_equal(getattr(found, name), getattr(piecewise, name))
        fresh = of_meshes(found.vertex_face, found.edge_edge)
        for at in (x, x + 0.01 * rng.normal(size=x.shape)):
            for known in (found, piecewise, found.joined(NONE), NONE.joined(found)):
                ours, wanted = Pairs(bodies, known, at), Pairs(bodies, fresh, at)
                for name in ("weights", "normals", "distance"):
                    assert np.array_equal(getattr(ours, name), getattr(wanted, name))

    @pytest.mark.parametrize("seed", range(6))
    def test_no_way_between_meets_what_was_not_found(self, seed):
        bodies, pairs, x, move, most, rng = self.scene(seed)
        found = pairs.look(x, move, most)
        seen = 0
        for _ in range(20):
            way = move + rng.random(x.shape) * (most - move)
            way[bodies.count :] = move[bodies.count :]
            assert not pairs.astray(x, way).any()
            for share in (0.3, 0.6, 1.0):
                missing, close = self.missed(bodies, found, x + share * way)
                assert not missing
                seen += close
            # Once the ball has arrived, any place in the boxes will do.
            other = x + move + rng.random(x.shape) * (most - move)
            other[bodies.count :] = (x + way)[bodies.count :]
            assert not pairs.astray(x + way, other - (x + way)).any()
            assert not self.missed(bodies, found, 0.5 * (x + way + other))[0]
        assert seen > 50

    def test_who_goes_elsewhere_is_looked_up_again(self):
        bodies, pairs, x, move, most, rng = self.scene(7)
        # Nothing was expected to come down.
        move[: bodies.count], most[: bodies.count] = [0.0, 0.0, 0.1], [0.0, 0.0, 0.2]
        found = pairs.look(x, move, most)
        way = move.copy()
        down = np.flatnonzero(rng.random(bodies.count) < 0.5)
        way[down, 2] = -0.05
        off = pairs.astray(x, way)
        assert set(np.flatnonzero(off)) == set(down)
        both = found.joined(pairs.around(x, way, off))
        missing, close = self.missed(bodies, both, x + way)
        assert close > 5 and not missing and self.missed(bodies, found, x + way)[0]

    def test_ways_that_change_again_are_covered(self):
        seen = 0
        for seed in range(60):
            bodies, _, x, _, _, rng = self.scene(seed)
            n = bodies.count
            move, other = np.zeros_like(x), np.zeros_like(x)
            move[:n], other[:n] = [-0.4, -0.4, 0.0], [0.4, 0.4, 0.0]
            known = Known(bodies.scene, bodies, x, 0.2)
            known.begin(x, move, other)
            # Some go down although they were not expected to; then others go aside, as they were.
            way = np.zeros_like(x)
            way[:n, 2] = np.where(rng.random(n) < 0.15, -0.15, 0.0)
            known.find(x, way)
            found, changed = known.candidates, np.zeros(len(x), dtype=bool)
            changed[:n] = (way[:n, 2] == 0.0) & (rng.random(n) < 0.7)
            way[changed, :2] = rng.uniform(-0.4, 0.4, (changed.sum(), 2))
            known.widen(found, x, way, changed)
            missing, close = self.missed(bodies, known.candidates, x + way)
            assert not missing
            seen += close
        assert seen > 100

    def test_what_was_looked_at_stays_and_what_comes_is_told(self):
        told = 0
        for seed in range(20):
            bodies, _, x, _, _, rng = self.scene(seed)
            n, known = bodies.count, Known(bodies.scene, bodies, x, 0.2)
            known.begin(x, np.zeros_like(x), np.zeros_like(x))
            before = known.candidates
            assert len(known.find(x, np.zeros_like(x), looked=True)) == 0 and known.candidates is before
            way = np.zeros_like(x)
            way[:n, 2] = np.where(rng.random(n) < 0.15, -0.15, 0.0)
            news = known.find(x, way, looked=True)
            told += len(news)
            assert len(known.candidates) == len(before) + len(news)
            assert not self.missed(bodies, known.candidates, x + way)[0]
            # All that was known then is of no use to those who go another way.
            way[:n, 2] = -0.15
            assert known.find(x, way, looked=True) is None
            assert not self.missed(bodies, known.candidates, x + way)[0]
        assert told > 20

    def test_a_ball_that_stopped_short_is_not_where_it_was_looked_for(self):
        bodies, pairs, x, move, most, _ = self.scene(8)
        pairs.look(x, move, most)
        way = move.copy()
        way[bodies.count :] *= 0.5
        assert pairs.astray(x, way)[bodies.count :].all()
