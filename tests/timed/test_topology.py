"""Topology of a large mesh."""

from __future__ import annotations

import time

import numpy as np

from meshes import grid
from shellcore.mesh import topology


def test_a_hundred_thousand_vertices_in_under_a_second():
    points, faces = grid(320, 320, 1.0, 1.0)
    assert len(points) > 100_000
    turned = np.random.default_rng(0).random(len(faces)) < 0.3
    faces[turned] = faces[turned, ::-1]
    spent = []
    for _ in range(3):
        start = time.process_time()
        topology(faces, len(points))
        spent.append(time.process_time() - start)
    assert min(spent) < 1.0
