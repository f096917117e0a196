"""Bending rigidity of each hinge [N·m], so that a sheet of hinges bends like its material.

The energy of a hinge at a small angle θ is ½ D (|e|²/A) θ², A being the area of its two triangles; every hinge model
here shares that D. Two ways to choose it:

- plain: from the direction of the edge alone (Cubic Shells, section 4.1). What the sheet then does depends on how it
  is triangulated: by up to a third on alternating grids, threefold where all diagonals run one way.
- fitted: each hinge reweighted so that cylinders of every direction cost what the material says (`hinge_fit`).
"""

from __future__ import annotations

from .axes import face_axes
from .hinge_fit import fitted_rigidities
from .material import Material, Moduli, directional_rigidity
from .mesh import Topology
from .types import Floats
from .unfolding import Unfolding, unfold


def hinge_rigidities(
    topology: Topology, positions: Floats, axes: Floats | None, material: Material, fit: bool
) -> Floats:
    """Rigidity D of each hinge [N·m], shape (h,), in the order of `topology.hinges`.

    `positions`: rest shape [m], (n, 3). `axes`: warp direction per face, (m, 3), or None for the default of
    `face_axes`. `fit`: fitted weights, else plain ones.
    """
    warp = face_axes(positions, topology.faces, axes)
    moduli = material.bending_moduli(len(topology.faces))
    unfolding = unfold(topology, positions)
    rigidity = plain_rigidities(unfolding, warp, moduli)
    if fit:
        frame = face_axes(positions, topology.faces, None)
        rigidity = fitted_rigidities(unfolding, topology.vertex_count, frame, warp, moduli, rigidity)
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
