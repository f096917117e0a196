"""The price of Willmore flow."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.willmore import SHAPES, measure
from meshes import smallest_angle


@pytest.mark.parametrize("shape", ["hand", "dino"])
def test_flow_costs_no_more_than_its_factorisation(shape):
    """Figure 4 of the quadratic bending paper, at 25 and 45 thousand triangles."""
    mesh = SHAPES[shape]()
    result, flow = measure(shape, mesh)
    assert 24_000 < result["triangles"] < 46_000
    assert result["flow_over_factor"] < 1.0
    assert flow.energy < 0.1 * flow.energies[0]
    assert (np.diff(flow.energies) < 0).all()
    assert smallest_angle(flow.positions, mesh[1]) >= 0.5 * smallest_angle(*mesh)
