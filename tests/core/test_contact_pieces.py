"""The parts of contact, each on its own: distances, energies, broad phase, bound, exact check."""

from __future__ import annotations

import numpy as np
import pytest
from contact_scenes import cloth, sheet

import shellcore as sc
from meshes import bumpy, grid, icosphere
from shellcore.contact import Contact
from shellcore.contact.barrier import DEEP, DEEPEST, barrier
from shellcore.contact.bodies import Bodies
from shellcore.contact.bound import alike, shortened, unsafe
from shellcore.contact.distances import edge_edge, vertex_face
from shellcore.contact.fans import inner_vertices, unfolded
from shellcore.contact.friction import Friction
from shellcore.contact.intersections import intersections
from shellcore.contact.known import Known
from shellcore.contact.pairs import Pairs
from shellcore.contact.rows import Rows, Spread
from shellcore.contact.shell_pairs import ShellPairs
from shellcore.contact.tree import Boxes, BoxTree
from shellcore.dynamics.stage import Stage


def sampled_distance(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.linalg.norm(first[:, None] - second[None], axis=2).min())


class TestDistances:
    def test_vertex_face_is_the_least_over_the_face(self):
        rng = np.random.default_rng(0)
        s, t = np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201))
        inside = s + t <= 1
        mix = np.column_stack([1 - s[inside] - t[inside], s[inside], t[inside]])
        for _ in range(50):
            p, a, b, c = rng.normal(size=(4, 3))
            w = vertex_face(*(q[:, None] for q in (p, a, b, c)))[:, 0]
            assert w.sum() == pytest.approx(0.0, abs=1e-14) and (w[1:] <= 1e-14).all()
            length = np.linalg.norm(w @ np.array([p, a, b, c]))
            least = sampled_distance(p[None], mix @ np.array([a, b, c]))
            assert length <= least + 1e-12 and least <= length + 2e-2

    def test_edge_edge_is_the_least_over_both(self):
        rng = np.random.default_rng(1)
        s = np.linspace(0, 1, 401)[:, None]
        for trial in range(60):
            a, b, c, d = rng.normal(size=(4, 3))
            if trial % 3 == 0:
                d = c + 0.7 * (b - a)  # parallel
            w = edge_edge(*(q[:, None] for q in (a, b, c, d)))[:, 0]
            length = np.linalg.norm(w @ np.array([a, b, c, d]))
            least = sampled_distance(a + s * (b - a), c + s * (d - c))
            assert length <= least + 1e-9 and least <= length + 2e-2


class TestBarrier:
    def test_slope_and_curvature_agree_with_differences(self):
        gap = np.linspace(-0.5, 1.4, 381)
        full, k = np.ones_like(gap), np.full_like(gap, 3.0)
        _, slope, curvature = barrier(gap, full, k)
        step = 1e-6
        ahead, behind = barrier(gap + step, full, k), barrier(gap - step, full, k)
        away = np.abs(gap - 1.0) > 1e-3
        assert np.allclose(slope, (ahead[0] - behind[0]) / (2 * step), atol=1e-5)
        assert np.allclose(curvature[away], ((ahead[1] - behind[1]) / (2 * step))[away], rtol=1e-4, atol=1e-6)
        assert (curvature >= 0).all() and (slope <= 0).all()

    def test_is_smooth_to_second_order_where_the_branches_meet(self):
        for at in (DEEP, DEEPEST):
            pair = np.array([at - 1e-9, at + 1e-9])
            for part in barrier(pair, np.ones(2), np.ones(2)):
                assert part[0] == pytest.approx(part[1], rel=1e-6)


def near_pair(seed: int = 0, friction: float = 0.3):
    """Two bumpy sheets within reach of each other and of a mesh, a sphere and a plane."""
    points, faces = grid(4, 4, 1.0, 1.0)
    low = bumpy((points, faces), 0.01, seed)[0]
    high = bumpy((points, faces), 0.01, seed + 1)[0] + [0.05, 0.03, 0.05]
    shells = [sc.Shell(p, faces, cloth(0.08), bending="hinge", friction=friction) for p in (low, high)]
    ball, ball_faces = icosphere(1, 0.2)
    colliders = [
        sc.Collider(ball + [0.5, 0.5, 0.3], ball_faces, thickness=0.1),
        sc.Sphere((0.3, 0.3, -0.42), 0.4),
        sc.Plane((0.0, 0.0, -0.03), (0.02, 0.0, 1.0)),
    ]
    scene = sc.Scene(shells, colliders=colliders)
    bodies = Bodies(scene)
    stack = np.concatenate([low, high, bodies.place(0.0)])
    pairs = Pairs(bodies, candidates(scene, bodies, stack, np.zeros_like(stack)), stack)
    rows = Rows(pairs, np.ones(len(pairs), dtype=bool), strength, stack[bodies.count :])
    return scene, bodies, stack, pairs, rows


def candidates(scene, bodies, x, move, edge=1.25):
    """All pairs that may touch on the way from x to x + move."""
    known = Known(scene, bodies, x, edge)
    known.build(x, move)
    return known.candidates


def strength(corners, full):
    return 5.0 + 5.0 / full


def assembled(coupled, n):
    """The matrix (3n, 3n) that is a sum of blocks."""
    total = np.zeros((n, 3, n, 3))
    for a, b, block in zip(*coupled[:2], coupled[2].T.reshape(-1, 3, 3), strict=True):
        total[a, :, b] += block
        if a != b:
            total[b, :, a] += block
    return total.reshape(3 * n, 3 * n)


class TestRows:
    def test_blocks_add_up_to_the_hessian(self):
        _, bodies, stack, _, rows = near_pair()
        x = stack[: bodies.count]
        wanted = rows.hessian(x).matrix().toarray()
        assert np.allclose(assembled(rows.coupled(x), bodies.count), wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())

    def test_kinds_of_contact_are_all_there(self):
        _, bodies, stack, pairs, rows = near_pair()
        pressing = rows.at[rows.pushes(stack[: bodies.count]) > 0]
        assert np.allclose(rows.pushes_of(stack), rows.pushes(stack[: bodies.count]), rtol=1e-12)
        owners = {
            tuple(sorted((int(bodies.owner[a]), int(bodies.owner[b])))) for a, b in pairs.corners[[0, 3]][:, pressing].T
        }
        assert {(0, 1), (-1, 1), (-2, 0), (-3, 0)} <= owners
        assert (pressing >= pairs.faces).any() and (pressing < pairs.faces).any()

    def test_gradient_and_hessian_agree_with_differences(self):
        _, bodies, stack, _, rows = near_pair()
        x = stack[: bodies.count]
        rng = np.random.default_rng(2)
        step = 1e-6
        for _ in range(8):
            d = rng.normal(size=x.shape)
            ahead, behind = (rows.value_and_gradient(x + s * step * d) for s in (1, -1))
            gradient = rows.value_and_gradient(x)[1]
            assert (gradient * d).sum() == pytest.approx((ahead[0] - behind[0]) / (2 * step), rel=1e-5)
        matrix = rows.hessian(x).matrix().toarray()
        assert np.allclose(matrix, matrix.T, atol=1e-9)
        assert np.linalg.eigvalsh(matrix).min() > -1e-9 * np.abs(matrix).max()
        bound = np.kron(rows.springs(x).matrix().toarray(), np.eye(3))
        assert np.linalg.eigvalsh(bound - matrix).min() > -1e-9 * np.abs(matrix).max()

    def test_springs_are_those_of_single_pairs(self):
        _, bodies, stack, _, rows = near_pair()
        x, n = stack[: bodies.count], bodies.count
        at, _, _, (_, _, curvature) = rows._pressing(x)
        assert len(at) > 50
        wanted = np.zeros((n, n))
        for row, stiff in zip(at, curvature, strict=True):
            corners, weights = rows.corners[:, row], rows.weights[:, row]
            for a, w in zip(corners, weights, strict=True):
                for b, v in zip(corners, weights, strict=True):
                    spring = stiff * max(-w * v, 0.0)
                    if a < n:
                        wanted[a, a] += spring
                        if b < n:
                            wanted[a, b] -= spring
        found = rows.springs(x)
        assert np.allclose(found.matrix().toarray(), wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
        # Both shells lean on colliders, and on each other.
        assert (found.ground > 0).any() and found.between.nnz
        twice = found.plus(found)
        assert np.allclose(twice.matrix().toarray(), 2.0 * wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
        assert twice.strength == pytest.approx(2.0 * found.strength)

    def test_shells_push_each_other_equally(self):
        scene, _, stack, _, _ = near_pair()
        alone = sc.Scene(scene.shells)
        own = Bodies(alone)
        x = stack[: own.count]
        pairs = Pairs(own, candidates(alone, own, x, np.zeros_like(x)), x)
        gradient = Rows(pairs, np.ones(len(pairs), dtype=bool), strength, x[:0]).value_and_gradient(x)[1]
        assert np.abs(gradient).max() > 0
        assert np.abs(gradient.sum(axis=0)).max() < 1e-12 * np.abs(gradient).sum()
        torque = np.cross(x, gradient).sum(axis=0)
        assert np.abs(torque).max() < 1e-10 * np.abs(gradient).sum()

    def test_turning_and_moving_everything_changes_nothing(self):
        from contact_scenes import turned

        _, _, stack, pairs, _ = near_pair()
        moved = turned(stack, (1.0, 2.0, 3.0), 0.7) + [1.0, -2.0, 0.5]
        mesh_pairs = np.flatnonzero(
            (pairs.corners[0] != pairs.corners[1]) & (np.arange(len(pairs)) >= pairs._planes.shape[1])
        )
        part = pairs.picked(mesh_pairs)
        assert np.allclose(part.nearest(moved)[2], part.distance, atol=1e-12)


class TestFriction:
    def make(self):
        _, bodies, stack, _, rows = near_pair()
        mu = np.full(len(rows), 0.4)
        start, goal = stack, stack[bodies.count :]
        return bodies, stack, Friction(rows, mu, start, goal, 1e-3, rows.pushes_of(stack))

    def test_gradient_and_hessian_agree_with_differences(self):
        bodies, stack, friction = self.make()
        rng = np.random.default_rng(5)
        moved = stack[: bodies.count] + 2e-3 * rng.normal(size=(bodies.count, 3))
        gradient = friction.value_and_gradient(moved)[1]
        step = 1e-8
        for _ in range(5):
            d = rng.normal(size=(bodies.count, 3))
            ahead, behind = (friction.value_and_gradient(moved + s * step * d) for s in (1, -1))
            assert (gradient * d).sum() == pytest.approx((ahead[0] - behind[0]) / (2 * step), rel=1e-4)
        eigenvalues = np.linalg.eigvalsh(friction.hessian(moved).matrix().toarray())
        assert eigenvalues.min() > -1e-9 * eigenvalues.max()

    def test_blocks_add_up_to_the_hessian(self):
        bodies, stack, friction = self.make()
        moved = stack[: bodies.count] + 2e-3 * np.random.default_rng(5).normal(size=(bodies.count, 3))
        wanted = friction.hessian(moved).matrix().toarray()
        found = assembled(friction.coupled(moved), bodies.count)
        assert np.allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())

    def test_never_exceeds_coulomb_and_reaches_it(self):
        bodies, stack, friction = self.make()
        _, size = friction.slip(stack[: bodies.count] + [1.0, 0.0, 0.0])
        pull = friction._force * friction.pull(size / friction._creep) * size
        sliding = size > friction._creep
        assert sliding.any() and np.allclose(pull[sliding], friction._force[sliding])


class TestBroadPhase:
    def test_tree_finds_what_all_pairs_find_while_everything_moves(self):
        rng = np.random.default_rng(3)
        points, faces = bumpy(grid(9, 7, 1.0, 1.0), 0.2, 3)
        move = 0.2 * rng.normal(size=points.shape)
        boxes = Boxes.of(points, move, faces, 0.01)
        tree = BoxTree.over(points[faces].mean(axis=1))
        tree.refit(boxes)
        found = {tuple(sorted(p)) for p in np.column_stack(tree.pairs(tree)).tolist()}
        i, j = np.triu_indices(len(faces), 1)
        met = boxes.meet(i, boxes, j)
        assert found == set(zip(i[met].tolist(), j[met].tolist(), strict=True))

    def test_no_close_pair_is_missed(self):
        _, bodies, stack, pairs, _ = near_pair()
        known = {tuple(row) for row in pairs.corners[:, : pairs.faces].T.tolist()}
        faces = bodies.shell_surface.faces
        v, f = (k.ravel() for k in np.meshgrid(np.arange(bodies.count), np.arange(len(faces)), indexing="ij"))
        apart = (faces[f] != v[:, None]).all(axis=1)
        rows = np.column_stack([v, faces[f]])[apart]
        w = vertex_face(*(stack[rows[:, k]].T for k in range(4)))
        distance = np.linalg.norm(sum(w[k, :, None] * stack[rows[:, k]] for k in range(4)), axis=1)
        close = rows[distance < 0.08]
        assert len(close) > 20 and all(tuple(row) in known for row in close.tolist())

    def test_a_way_cut_short_here_and_there_is_covered_too(self):
        points, faces = grid(5, 5, 1.0, 1.0)
        rng = np.random.default_rng(8)
        shells = [sc.Shell(points + [0.03, 0.02, 0.15 * k], faces, cloth(0.01)) for k in range(2)]
        bodies = Bodies(sc.Scene(shells))
        x = np.concatenate([shell.rest_positions for shell in shells])
        broad, n = ShellPairs(bodies, BoxTree.over(x[bodies.shell_surface.faces].mean(axis=1))), len(points)
        # Both fall alike, so nothing would meet; half of the lower sheet stays behind.
        move = np.tile([0.0, 0.0, -1.0], (2 * n, 1))
        way = move * np.where((np.arange(2 * n) < n) & (rng.random(2 * n) < 0.5), 0.2, 1.0)[:, None]
        first = broad.look(x, move, 0.01)
        changed = (way != move).any(axis=1)
        both = first.joined(broad.around(x, way, 0.01, changed))
        whole = broad.look(x, way, 0.01)
        assert len(whole.vertex_face) > len(first.vertex_face)
        for found, needed in ((both.vertex_face, whole.vertex_face), (both.edge_edge, whole.edge_edge)):
            pairs = {frozenset((frozenset(r[:k]), frozenset(r[k:]))) for k in (1, 2) for r in found.tolist()}
            k = 1 if needed is whole.vertex_face else 2
            assert all(frozenset((frozenset(r[:k]), frozenset(r[k:]))) in pairs for r in needed.tolist())


class TestBound:
    def test_a_way_it_lets_through_crosses_nothing(self):
        rng = np.random.default_rng(4)
        points, faces = grid(5, 5, 1.0, 1.0)
        cut = 0
        for trial in range(30):
            shells = [
                sc.Shell(bumpy((points, faces), 0.05, trial)[0], faces, cloth(0.01)),
                sc.Shell(bumpy((points, faces), 0.05, trial + 9)[0] + [0.1, 0.05, 0.15], faces, cloth(0.01)),
            ]
            bodies = Bodies(sc.Scene(shells))
            x = np.concatenate([s.rest_positions for s in shells])
            both = np.concatenate([faces, faces + len(points)])
            if len(intersections(x, both)):
                continue
            move = 0.2 * rng.normal(size=x.shape)
            move[: len(points), 2] += 0.3
            pairs = Pairs(bodies, candidates(bodies.scene, bodies, x, move, 0.5), x)
            factor = shortened(pairs, x, move, np.zeros(0, dtype=np.int64))
            assert ((factor >= 0) & (factor <= 1)).all()
            cut += bool((factor < 1).any())
            assert len(unsafe(pairs, x, factor[:, None] * move)[0]) == 0
            one = alike(pairs, x, move) * move
            for share in np.linspace(0, 1, 9):
                assert len(intersections(x + share * one, both)) == 0
        assert cut > 10

    def test_moving_together_is_not_held_up(self):
        _, _, stack, pairs, _ = near_pair()
        assert len(unsafe(pairs, stack, np.tile([3.0, -2.0, 5.0], (len(stack), 1)))[0]) == 0

    def around_an_edge(self, way):
        """A loose corner above a large face's edge, and whether the bound lets it go by `way`."""
        face = sc.Shell(np.array([[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]]), np.array([[0, 1, 2]]), cloth(1e-3))
        other = sc.Shell(np.array([[0.0, -0.9, 0.05], [0, -5, 2], [1, -5, 2]]), np.array([[0, 1, 2]]), cloth(1e-3))
        bodies = Bodies(sc.Scene([face, other]))
        x = np.concatenate([face.rest_positions, other.rest_positions])
        move = np.zeros_like(x)
        move[3:] = way
        pairs = Pairs(bodies, candidates(bodies.scene, bodies, x, move, 0.5), x)
        return len(unsafe(pairs, x, move)[0]) == 0

    def test_a_corner_may_pass_round_an_edge_but_not_through_the_face(self):
        # From 0.05 above the face, 0.1 within its edge, to 0.5 below and far outside: directions turn by 100 degrees.
        assert self.around_an_edge([0.0, -0.9, -0.2])
        assert not self.around_an_edge([0.0, 0.0, -0.3])
        assert not self.around_an_edge([0.0, 0.2, -0.06])


class TestFans:
    def fold(self, angle):
        """A sheet and where it is after folding its right half up about x = 0.5."""
        points, faces = grid(6, 6, 1.0, 1.0)
        bent, right = points.copy(), points[:, 0] > 0.5
        bent[right, 0] = 0.5 + (points[right, 0] - 0.5) * np.cos(angle)
        bent[right, 2] = (points[right, 0] - 0.5) * np.sin(angle)
        return points, faces, bent

    def inner(self, points, faces):
        mesh = sc.Shell(points, faces, cloth(), bending="hinge").mesh
        return inner_vertices(mesh.faces, mesh.face_edges, len(points))

    def test_inner_vertices_have_one_closed_fan(self):
        points, faces, _ = self.fold(0.0)
        border = (points[:, :2] % 1.0 == 0).any(axis=1)
        assert np.array_equal(self.inner(points, faces), ~border)
        ball, ball_faces = icosphere(1, 1.0)
        # Two balls that share a vertex: two closed fans, of which nothing can be said.
        both = np.vstack([ball, ball[1:] + 2 * ball[0]])
        other = ball_faces + np.where(ball_faces > 0, len(ball) - 1, 0)
        inner = self.inner(both, np.vstack([ball_faces, other]))
        assert not inner[0] and inner[1:].all()

    def test_only_the_fold_is_suspect(self):
        points, faces, bent = self.fold(np.radians(170))
        inner = self.inner(points, faces)
        assert np.array_equal(unfolded(faces, inner, points, 0.05 * points, 1e-3), inner)
        smooth = unfolded(faces, inner, points, bent - points, 1e-3)
        crease = np.isclose(points[:, 0], 0.5)
        assert smooth[inner & (points[:, 0] < 0.4)].all() and not smooth[crease].any()

    def test_a_fan_said_to_stay_unfolded_never_meets_itself(self):
        rng = np.random.default_rng(11)
        points, faces, _ = self.fold(0.0)
        inner, said = self.inner(points, faces), 0
        for _ in range(6):
            move = rng.uniform(0.02, 0.12) * rng.normal(size=points.shape)
            for vertex in np.flatnonzero(unfolded(faces, inner, points, move, 1e-3)):
                said += 1
                fan = faces[(faces == vertex).any(axis=1)]
                assert all(len(intersections(points + s * move, fan)) == 0 for s in (0.3, 0.7, 1.0))
        assert said > 20


class TestIntersections:
    def test_plain_cases(self):
        a = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
        face = np.array([[0, 1, 2]])
        through = np.array([[0.2, 0.2, -1], [0.2, 0.2, 1], [2, 2, 0.0]])
        assert len(intersections(a, face, through, face)) == 1
        assert len(intersections(a, face, through + [5, 0, 0], face)) == 0
        assert len(intersections(a, face, a + [0.0, 0.0, 1e-12], face)) == 0
        assert len(intersections(a, face, a + [0.1, 0.1, 0.0], face)) == 1
        assert len(intersections(a, face, a + [1.1, 0.0, 0.0], face)) == 0

    def test_neighbours_do_not_count_and_folds_do(self):
        points, faces = grid(6, 6, 1.0, 1.0)
        assert len(intersections(points, faces)) == 0
        folded = points.copy()
        right = points[:, 0] > 0.5
        folded[right, 0] = 1.0 - points[right, 0]
        folded[right, 2] = 0.01
        assert len(intersections(folded, faces)) == 0
        folded[right, 2] = 0.01 * np.where(points[right, 1] > 0.55, 1, -1) * points[right, 0]
        folded[np.isclose(points[:, 0], 1.0), 2] = -0.01
        assert len(intersections(folded, faces)) > 0

    def test_agrees_with_sampling_on_random_triangles(self):
        rng = np.random.default_rng(7)
        a, b = rng.normal(size=(2, 300, 3, 3))
        s, t = np.meshgrid(np.linspace(0, 1, 25), np.linspace(0, 1, 25))
        keep = s + t <= 1
        mix = np.column_stack([1 - s[keep] - t[keep], s[keep], t[keep]])
        face = np.array([[0, 1, 2]])
        both = [len(intersections(p, face, q, face)) for p, q in zip(a, b, strict=True)]
        near = [sampled_distance(mix @ p, mix @ q) for p, q in zip(a, b, strict=True)]
        assert 20 < sum(both) < 280
        assert all(d < 0.2 for hit, d in zip(both, near, strict=True) if hit)
        assert all(d > 1e-6 for hit, d in zip(both, near, strict=True) if not hit)


class TestThickFineSheet:
    def test_does_not_push_itself_apart(self):
        shell = sheet(12, 0.1, (0.0, 0.0, 0.0), material=cloth(thickness=0.02))
        for frame in sc.simulate(sc.Scene([shell], gravity=(0.0, 0.0, 0.0)), frames=3):
            assert np.abs(frame.positions - shell.start).max() < 1e-9
            assert frame.stats["contacts"] == 0


def test_one_vertex_that_is_caught_is_worth_another_round():
    """Among thousands that arrive it does not show in a mean, and would be crushed."""
    points, faces = grid(30, 30, 1.0, 1.0)
    shells = [sc.Shell(points + [0.011, 0.007, 0.02 * k], faces, cloth(0.005)) for k in range(2)]
    x = np.concatenate([shell.rest_positions for shell in shells])
    middle = len(points) + 15 * 31 + 15
    for depth, settles in ((0.0, True), (0.03, False)):
        contact = Contact(sc.Scene(shells), np.ones(len(x)), np.ones(x.shape, dtype=bool), x, x)
        contact.begin_step(Stage.euler(0.0, 0.04, x, np.zeros_like(x)), x, np.zeros(3))
        goal = x.copy()
        goal[middle, 2] -= depth
        reached, arrived, settled = contact.follow(goal, 1e-3)
        assert arrived and settled == settles
        assert reached[middle, 2] > 0.0


def test_rows_spread_as_their_weights_say() -> None:
    rng = np.random.default_rng(3)
    count, total, rows = 30, 42, 50
    corners, weights = rng.integers(0, total, (4, rows)), rng.standard_normal((4, rows))
    weights[rng.uniform(size=weights.shape) < 0.3] = 0.0
    shells, colliders = (np.asfortranarray(rng.standard_normal((k, 3))) for k in (count, total - count))
    spread = Spread(corners, weights, count, colliders)
    stack = np.concatenate([shells, colliders])
    assert np.allclose(spread.vectors(shells), np.einsum("kr,krc->cr", weights, stack[corners]), atol=1e-14)
    forces, wanted = rng.standard_normal((3, rows)), np.zeros((total, 3))
    for corner, weight in zip(corners, weights, strict=True):
        np.add.at(wanted, corner, (weight * forces).T)
    assert np.allclose(spread.gathered(np.arange(rows), forces), wanted[:count], atol=1e-13)
