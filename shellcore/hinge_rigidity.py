"""Bending rigidity of each hinge [N·m], so that a sheet of hinges bends like its material.

The energy of a hinge at a small angle θ is ½ D (|e|²/A) θ², A being the area of its two triangles; every hinge model
here shares that D. Two ways to choose it:

- plain: from the direction of the edge alone (Cubic Shells, section 4.1). What the sheet then does depends on how it
  is triangulated: by up to a third on alternating grids, threefold where all diagonals run one way.
- fitted: each hinge reweighted so that cylinders of every direction cost what the material says (`hinge_fit`).
"""

from __future__ import annotations

import numpy as np

from .axes import face_axes, projected_axes, unit_normals
from .hinge_fit import fitted_rigidities
from .material import Material, Moduli, directional_rigidity
from .mesh import Topology
from .rest_shape import carried
from .types import Floats
from .unfolding import Unfolding, unfold, unfold_faces

# Share of x in a face's normal up to which the x axis serves as frame, and from which the y axis does.
X_TRUSTED, X_AVOIDED = 0.5, 0.8


def hinge_rigidities(
    topology: Topology,
    positions: Floats,
    axes: Floats | None,
    material: Material,
    fit: bool,
    corners: Floats | None = None,
) -> Floats:
    """Rigidity D of each hinge [N·m], shape (h,), in the order of `topology.hinges`.

    `positions`: rest shape [m], (n, 3). `axes`: warp direction per face, (m, 3), or None for the default of
    `face_axes`. `fit`: fitted weights, else plain ones. `corners` [m], (m, 3, 3): where faces lie at rest, if not at
    `positions`; `axes` are then directions there.
    """
    moduli = material.bending_moduli(len(topology.faces))
    if corners is None:
        warp, unfolding = face_axes(positions, topology.faces, axes), unfold(topology, positions)
    else:
        assert axes is not None
        warp, unfolding = axes, unfold_faces(topology, corners)
    rigidity = plain_rigidities(unfolding, warp, moduli)
    if fit:
        rigidity = _fitted(topology, positions, unfolding, warp, moduli, rigidity, corners)
    return rigidity[topology.hinge_edges]


def plain_rigidities(unfolding: Unfolding, warp: Floats, moduli: Moduli) -> Floats:
    """The material's rigidity across each edge [N·m], mean of its two faces, shape (e,).

    Cubic Shells, section 5.1, with the shear term in full weight: for an edge at γ to the warp,
    D = D11 sin⁴γ + D22 cos⁴γ + (½ D12 + D66) sin²2γ. As printed (half the shear modulus) an isotropic sheet would
    be softer along its diagonals.
    """
    cosine, sine = unfolding.components(warp)
    first, second, cross, twist = (modulus[unfolding.faces] for modulus in moduli)
    # Folding about an edge bends the sheet square to it: at γ + 90° to the warp.
    result: Floats = directional_rigidity((first, second, cross, twist), -sine, cosine).mean(axis=1)
    return result


def _fitted(
    topology: Topology,
    positions: Floats,
    unfolding: Unfolding,
    warp: Floats,
    moduli: Moduli,
    plain: Floats,
    corners: Floats | None,
) -> Floats:
    """Fitted rigidities (e,), with a frame for the curvatures that is smooth about every edge.

    The global x axis projected into the faces swirls about the points where it is normal to the sheet. There the fit
    that refers to the y axis takes over; no face has both for a normal. A sheet that never turns to x needs one fit.
    U jumps from piece to piece of a pattern, so there too the frame is one of the surface, taken into the pattern.
    """

    def fit(coordinate: int) -> Floats:
        frame = projected_axes(positions, topology.faces, coordinate)
        if corners is not None:
            frame = carried(frame, positions[topology.faces], corners)
            frame /= np.linalg.norm(frame, axis=1)[:, None]
        return fitted_rigidities(unfolding, topology.vertex_count, frame, warp, moduli, plain)

    lean = np.abs(unit_normals(positions, topology.faces)[:, 0])[unfolding.faces].max(axis=1)
    if lean.max() <= X_TRUSTED:
        return fit(0)
    if lean.min() >= X_AVOIDED:
        return fit(1)
    second = np.clip((lean - X_TRUSTED) / (X_AVOIDED - X_TRUSTED), 0.0, 1.0)
    result: Floats = (1 - second) * fit(0) + second * fit(1)
    return result
