"""Where a sheet cannot meet its own neighbourhood: vertices whose fan of faces stays unfolded during a motion.

If one direction a has n(s)·a > 0 for the normals of all faces round an inner vertex at every moment s of a motion, the
fan seen along a is unfolded all the time: its corner angles keep adding up to 2π, so no two of its faces meet but
where they are joined. Most pairs of faces whose boxes meet are such neighbours in a smooth part of a sheet;
leaving them out took the broad phase of a falling sheet of 6.4k vertices from 66 to 25 ms.

The normal of a triangle whose corners go straight is quadratic in s, so its least component along a is bounded by
those of its three Bézier coefficients.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ..linalg.vectors import components, cross, dot, picked
from ..types import Bools, Floats, Ints

# Least n·a as a share of |n|: keeps what is left out far from touching, too.
OPEN = 0.3


def inner_vertices(faces: Ints, face_edges: Ints, count: int) -> Bools:
    """Vertices with one closed fan of faces round them, (count,); `face_edges` (m, 3): edge opposite each corner."""
    m = len(faces)
    flat = face_edges.ravel()
    order = np.argsort(flat, kind="stable")
    twice = np.flatnonzero(flat[order][1:] == flat[order][:-1])
    first, second = order[twice], order[twice + 1]
    closed = np.zeros(count, dtype=bool)
    closed[faces] = True
    lonely = np.bincount(flat)[flat] != 2
    # Corners of a face that lie on its edge k: the two others.
    for turn in (1, 2):
        ends = faces[np.arange(3 * m) // 3, (np.arange(3 * m) + turn) % 3]
        closed[ends[lonely]] = False
    # Corners of neighbouring faces that are the same vertex are joined; a fan is one piece of them.
    rows, columns = [], []
    for i in (1, 2):
        for j in (1, 2):
            a, b = 3 * (first // 3) + (first + i) % 3, 3 * (second // 3) + (second + j) % 3
            same = faces.ravel()[a] == faces.ravel()[b]
            rows.append(a[same])
            columns.append(b[same])
    r, c = np.concatenate(rows), np.concatenate(columns)
    graph = coo_matrix((np.ones(len(r)), (r, c)), shape=(3 * m, 3 * m))
    label = connected_components(graph, directed=False)[1]
    pieces = faces.ravel()[np.unique(label, return_index=True)[1]]
    inner: Bools = closed & (np.bincount(pieces, minlength=count) == 1)
    return inner


def unfolded(faces: Ints, inner: Bools, x: Floats, move: Floats | None, margin: float) -> Bools:
    """Inner vertices whose fan stays unfolded on the way from x (n, 3) to x + move, give or take `margin` [m] a
    coordinate, (n,)."""
    start = components(x)
    corners = [picked(start, faces[:, k]) for k in range(3)]
    e1, e2 = corners[1] - corners[0], corners[2] - corners[0]
    before = cross(e1, e2)
    normals = [before]
    longest = np.sqrt(np.maximum(dot(e1, e1), dot(e2, e2)))
    if move is not None:
        moved = components(move)
        there = [corner + picked(moved, faces[:, k]) for k, corner in enumerate(corners)]
        f1, f2 = there[1] - there[0], there[2] - there[0]
        normals += [0.5 * (cross(e1, f2) + cross(f1, e2)), cross(f1, f2)]
        longest = np.maximum(longest, np.sqrt(np.maximum(dot(f1, f1), dot(f2, f2))))
    # Moving corners by √3 margin changes either edge by twice that.
    off = 2.0 * np.sqrt(3.0) * margin
    slack = 2.0 * off * longest + off * off
    axis = np.zeros((3, len(inner)))
    flat = faces.ravel()
    for k in range(3):
        mean = np.sum([normal[k] for normal in normals], axis=0)
        axis[k] = np.bincount(flat, weights=np.repeat(mean, 3), minlength=len(inner))[: len(inner)]
    axis /= np.maximum(np.sqrt(dot(axis, axis)), 1e-300)
    folded = np.zeros(len(faces), dtype=bool)
    bad = np.zeros(len(inner), dtype=bool)
    for k in range(3):
        a = picked(axis, faces[:, k])
        folded[:] = False
        for normal in normals:
            folded |= dot(normal, a) <= slack + OPEN * np.sqrt(dot(normal, normal))
        bad[faces[folded, k]] = True
    smooth: Bools = inner & ~bad
    return smooth
