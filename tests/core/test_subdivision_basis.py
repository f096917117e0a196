"""Loop surfaces: basis functions, limits, ghosts, the change of variables of supports."""

from __future__ import annotations

import numpy as np
import pytest

import meshes
import shellcore as sc
from shellcore.subdivision.boxspline import basis
from shellcore.subdivision.loop import following
from shellcore.subdivision.patches import RULES, rows_at
from shellcore.subdivision.supports import across_border, exchange
from shellcore.subdivision.surface import LoopSurface

CENTRES = np.random.default_rng(0).dirichlet([1.5, 1.5, 1.5], 12)
MESHES = {
    "regular": meshes.grid(5, 4, 1.0, 0.8, "one"),
    "alternating": meshes.grid(5, 4, 1.0, 0.8, "alternating"),
    "unstructured": meshes.unstructured(60, 1.0, 1.0),
    "closed": meshes.icosphere(1),
    "open": meshes.hemisphere(4),
}


def surface_of(mesh: meshes.Mesh) -> tuple[LoopSurface, np.ndarray]:
    surface = LoopSurface(mesh[1], len(mesh[0]))
    return surface, surface.complete(mesh[0])


def points_of(faces: int, coordinates: np.ndarray = CENTRES) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(faces), len(coordinates)), np.tile(coordinates, (faces, 1))


def test_box_splines_sum_to_one_and_differentiate() -> None:
    table = basis(CENTRES)
    np.testing.assert_allclose(table[0].sum(axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(table[1:].sum(axis=2), 0.0, atol=1e-13)
    e = 1e-5
    v, w = np.array([-e, e, 0.0]), np.array([-e, 0.0, e])
    for row, of, step in ((1, 0, v), (2, 0, w), (3, 1, v), (4, 2, w), (5, 1, w), (5, 2, v)):
        difference = (basis(CENTRES + step)[of] - basis(CENTRES - step)[of]) / (2 * e)
        np.testing.assert_allclose(table[row], difference, atol=1e-8)


@pytest.mark.parametrize("name", MESHES)
def test_rows_sum_to_one_and_differentiate(name: str) -> None:
    surface, x = surface_of(MESHES[name])
    faces, coordinates = points_of(len(surface.faces))
    rows = rows_at(surface.mesh, faces, coordinates)
    assert abs(rows[0].sum(axis=1) - 1).max() < 1e-12
    assert max(abs(row.sum(axis=1)).max() for row in rows[1:]) < 1e-10
    e = 1e-6
    step = np.array([-e, e, 0.0])
    ahead, back = (rows_at(surface.mesh, faces, coordinates + sign * step) for sign in (1, -1))
    for row, of in ((1, 0), (3, 1), (5, 2)):
        np.testing.assert_allclose(rows[row] @ x, (ahead[of] - back[of]) @ x / (2 * e), atol=2e-6)


def test_quadratics_are_reproduced_on_regular_patches() -> None:
    surface, x = surface_of(MESHES["regular"])
    faces, coordinates = points_of(len(surface.faces))
    value, by_1, by_2, by_11, by_22, by_12 = rows_at(surface.mesh, faces, coordinates)
    at, d1, d2 = value @ x, by_1 @ x, by_2 @ x
    quadratic = np.array([[1.3, 0.4], [0.4, -0.7]])
    control = np.einsum("ij,jk,ik->i", x[:, :2], quadratic, x[:, :2])
    offset = value @ control - np.einsum("ij,jk,ik->i", at[:, :2], quadratic, at[:, :2])
    assert np.ptp(offset) < 1e-13  # smoothing adds a constant
    for row, a, b in ((by_11, d1, d1), (by_22, d2, d2), (by_12, d1, d2)):
        np.testing.assert_allclose(
            row @ control, 2 * np.einsum("ij,jk,ik->i", a[:, :2], quadratic, b[:, :2]), atol=1e-12
        )


@pytest.mark.parametrize("name", MESHES)
def test_tangent_planes_agree_across_edges(name: str) -> None:
    points, faces = meshes.bumpy(MESHES[name], 0.1)
    surface, x = surface_of((points, faces))
    inner = LoopSurface(faces, len(points)).mesh
    half = np.flatnonzero(inner.twin[: 3 * len(faces)] >= 0)
    half = half[inner.twin[half] < 3 * len(faces)]
    other = inner.twin[half]
    for share in (0.3, 0.5):
        sides = []
        for edges, along in ((half, share), (other, 1 - share)):
            coordinates = np.zeros((len(edges), 3))
            coordinates[np.arange(len(edges)), edges % 3] = 1 - along
            coordinates[np.arange(len(edges)), following(edges) % 3] = along
            rows = rows_at(surface.mesh, edges // 3, coordinates)
            normal = np.cross(rows[1] @ x, rows[2] @ x)
            sides.append((rows[0] @ x, normal / np.linalg.norm(normal, axis=1)[:, None]))
        np.testing.assert_allclose(sides[0][0], sides[1][0], atol=1e-12)
        np.testing.assert_allclose(sides[0][1], sides[1][1], atol=1e-10)


_CHILDREN = np.array(
    [
        [[1, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5]],
        [[0, 1, 0], [0, 0.5, 0.5], [0.5, 0.5, 0]],
        [[0, 0, 1], [0.5, 0, 0.5], [0, 0.5, 0.5]],
        [[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]],
    ]
)


def _corners_of(trail: tuple[int, ...]) -> np.ndarray:
    """Barycentric corners, one a row, of a descendant."""
    corners = np.eye(3)
    for which in trail:
        corners = _CHILDREN[which] @ corners
    return corners


@pytest.mark.parametrize("valence", range(3, 13))
def test_irregular_limits_are_those_of_deep_subdivision(valence: int) -> None:
    points, faces = meshes.bumpy(meshes.fan(valence, 3), 0.3)
    surface, x = surface_of((points, faces))
    # By patches, at the corners of the third refinement that lie inside faces at the irregular vertex ...
    mesh, deep, count = surface.mesh, x, len(faces)
    for _ in range(3):
        mesh, step = mesh.refined(mesh.around(np.arange(count)))
        deep, count = step @ deep, 4 * count
    limit = mesh.limits() @ deep
    face = np.arange(valence)
    for trail in ((0, 3, 1), (0, 0, 3)):
        child = face
        for which in trail:
            child = 4 * child + which
        corners = mesh.faces[child]
        mine = _corners_of(trail)
        for k in range(3):
            rows = rows_at(surface.mesh, face, np.tile(mine[k], (valence, 1)))
            np.testing.assert_allclose(rows[0] @ x, limit[corners[:, k]], atol=1e-10)
    # ... and at the vertex itself by its mask, against twenty-five steps of subdivision around it.
    mesh, deep = surface.mesh, x
    for _ in range(25):
        mesh, step = mesh.refined(mesh.around(np.arange(valence)))
        deep = step @ deep
        own = 4 * np.arange(valence)
        rest = np.setdiff1d(np.arange(len(mesh.faces)), own)
        mesh = type(mesh)(mesh.faces[np.concatenate([own, rest])], mesh.vertex_count)
        used, local = np.unique(mesh.faces, return_inverse=True)
        mesh, deep = type(mesh)(local.reshape(-1, 3), len(used)), deep[used]
    np.testing.assert_allclose(deep[mesh.faces[0, 0]], surface.limit(points)[0], atol=1e-10)


@pytest.mark.parametrize("name", MESHES)
def test_fit_passes_through_the_points(name: str) -> None:
    points, faces = MESHES[name]
    control = sc.fit_control(points, faces)
    surface, _ = surface_of((points, faces))
    np.testing.assert_allclose(surface.limit(control), points, atol=1e-12)


@pytest.mark.parametrize("name", MESHES)
def test_refined_surface_keeps_its_vertices_and_area(name: str) -> None:
    points, faces = MESHES[name]
    shell = sc.Shell(points, faces, sc.Material.preset("paper"), bending="subdivision")
    areas = []
    for levels in range(3):
        x, finer = shell.surface(points, levels)
        np.testing.assert_allclose(x[: len(points)], shell.limit(points), atol=1e-12)
        assert len(finer) == 4**levels * len(faces)
        areas.append(
            np.linalg.norm(np.cross(x[finer[:, 1]] - x[finer[:, 0]], x[finer[:, 2]] - x[finer[:, 0]]), axis=1).sum()
        )
    assert abs(areas[2] - areas[1]) <= 0.5 * abs(areas[1] - areas[0]) + 1e-12
    normals = shell.normals(points)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0)


def test_vertices_of_too_many_edges_are_named() -> None:
    points, faces = meshes.fan(13, 2)
    with pytest.raises(sc.ShellError, match="vertices 0 have 13"):
        sc.Shell(points, faces, sc.Material.preset("paper"), bending="subdivision")


@pytest.mark.parametrize("name", ["regular", "unstructured", "open"])
def test_exchanged_variables_are_limits_and_slopes(name: str) -> None:
    surface, x = surface_of(MESHES[name])
    border = np.flatnonzero(surface.next_on_boundary >= 0)
    _, rows, across = across_border(surface, x, border)
    np.testing.assert_allclose(np.linalg.norm(across, axis=1), 1.0)
    change = exchange(surface, None, border, rows)
    y = np.random.default_rng(1).normal(size=x.shape)
    control = change.to_control @ y
    np.testing.assert_allclose(surface.limits[border] @ control, y[border], atol=1e-9)
    np.testing.assert_allclose(rows[change.kept] @ control, y[change.slots], atol=1e-9)
    assert len(change.kept) >= len(border) - 1
    assert RULES[3].sum() == pytest.approx(3.0)


@pytest.mark.parametrize("bumps", [0.0, 1e-5, 1e-3])
def test_clamped_rings_change_variables_by_a_little(bumps: float) -> None:
    # On a ring whose lattice is symmetric about it the slopes at even and at odd vertices have the same sum.
    points, faces = meshes.bumpy(meshes.cylinder(24, 6, 1.0, 2.0), bumps)
    surface, x = surface_of((points, faces))
    ring = np.arange(24)
    _, rows, _ = across_border(surface, x, ring)
    change = exchange(surface, None, ring, rows)
    assert len(change.kept) == 23
    assert np.abs(change.to_control).max() < 30.0
    loose = np.ones(len(x), dtype=bool)
    loose[change.fixed] = False
    entries = change.to_control[change.fixed][:, np.flatnonzero(loose)]
    assert (np.abs(entries) > 1e-4).sum() < 15 * len(change.fixed)
    # Where the others are as they rest, so is the slope that was left out.
    y = np.linalg.solve(change.to_control.toarray(), x) + 0.1 * loose[:, None] * np.random.default_rng(0).normal(
        size=x.shape
    )
    turned = rows @ (change.to_control @ y)
    assert np.abs(turned - rows @ x).max() < max(20.0 * bumps, 1e-9)


@pytest.mark.parametrize("closed", [True, False])
def test_refined_control_meshes_have_the_same_surface(closed: bool) -> None:
    points, faces = meshes.icosphere(1) if closed else meshes.bumpy(meshes.fan(5, 3), 0.3)
    finer, children = sc.refine_control(points, faces)
    assert len(children) == 4 * len(faces) and children.max() == len(finer) - 1
    coarse, fine = LoopSurface(faces, len(points)), LoopSurface(children, len(finer))
    at = fine.limit(finer)[: len(points)]
    inside = (
        np.ones(len(points), dtype=bool)
        if closed
        else ~np.isin(np.arange(len(points)), faces[coarse.next_on_boundary[faces].max(axis=1) >= 0])
    )
    np.testing.assert_allclose(at[inside], coarse.limit(points)[inside], atol=1e-12)
