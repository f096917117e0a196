"""When edges break: curvature, stretch, and seams that open at their time (Cubic Shells, Appendix B).

After every step each edge's bending strain κ = |e|(θ − θ̄)/A is compared with what the material bears there. All edges
over their limit break together; `cuts` turns the set of broken edges into the new mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .checks import floats
from .energies.fem import Fem
from .errors import ShellError, listed
from .rest_shape import RestShape
from .types import Floats, Ints

if TYPE_CHECKING:
    from .shell import Shell
    from .shell_energies import ShellEnergies


class Fracture:
    """When a sheet breaks along its edges.

    - `curvature` [1/m]: |e|Δθ/A that an edge bears; a number, or a pair (cracks along the axis, cracks across it):
      brittle wood splits along its grain, so its first number is the lesser. In between, along·cos² + across·sin² of
      the angle between edge and axis;
    - `stretch`: strain across an edge that it bears, likewise a number or a pair; None: any;
    - `toughness`: factor on both, a number or one a vertex, (n,); an edge has the mean of its ends'. Zero counts as a
      flaw that breaks under any strain, infinity never breaks.
    """

    def __init__(
        self,
        curvature: float | tuple[float, float],
        stretch: float | tuple[float, float] | None = None,
        toughness: float | Floats | None = None,
    ) -> None:
        self.curvature = _pair(curvature, "curvature [1/m]")
        self.stretch = None if stretch is None else _pair(stretch, "stretch")
        factor = floats(1.0 if toughness is None else toughness, "fracture toughness", "one number or one a vertex")
        if factor.ndim > 1 or np.isnan(factor).any() or (factor < 0.0).any():
            bad = np.flatnonzero(np.isnan(np.atleast_1d(factor)) | (np.atleast_1d(factor) < 0.0))
            raise ShellError(f"fracture: toughness must be zero or more; it is not at vertices {listed(bad)}")
        self.toughness = factor


def _pair(value: Any, what: str) -> tuple[float, float]:
    array = floats(value, f"fracture: {what}", "positive, one number or (along, across the axis)")
    if array.shape not in ((), (2,)) or np.isnan(array).any() or not (array > 0.0).all():
        raise ShellError(f"fracture: {what} must be positive, one number or (along, across the axis), not {value!r}")
    along, across = np.broadcast_to(array, (2,))
    return float(along), float(across)


@dataclass(frozen=True)
class Seam:
    """Hinges (k,) that open at `release` [s], (k,)."""

    hinges: Ints
    release: Floats


class Cracking:
    """What one shell bears and has borne; hinges are numbered as in its whole mesh, (h,)."""

    def __init__(self, shell: Shell) -> None:
        mesh, rest = shell.mesh, shell.rest
        self.damage = np.zeros(len(mesh.hinges))
        """Largest share of its limit that each edge has borne so far, at most 1 (broken)."""
        self._release = np.full(len(mesh.hinges), np.inf)
        for seam in shell.seams:
            np.minimum.at(self._release, seam.hinges, seam.release)
        law = shell.fracture
        self._curvature = self._stretch = np.full(len(mesh.hinges), np.inf)
        length = np.linalg.norm(rest.hinge_edges, axis=1)
        faces = mesh.hinge_faces
        # Curvature of a turn by one radian, |e|/A [1/m].
        self._per_angle = length / shell.areas[faces].sum(axis=1)
        cosine_2 = ((rest.hinge_directions * rest.axes[faces]).sum(axis=2) ** 2).mean(axis=1)
        if law is not None:
            factor = np.broadcast_to(law.toughness, (mesh.vertex_count,))[mesh.hinges[:, :2]].mean(axis=1)
            self._curvature = factor * _between(law.curvature, cosine_2)
            if law.stretch is not None:
                self._stretch = factor * _between(law.stretch, cosine_2)
        self._measures_stretch = law is not None and law.stretch is not None
        self._frames = [_squares(rest, faces[:, side], rest.hinge_directions[:, side]) for side in (0, 1)]

    def step(self, hinges: Ints, energies: ShellEnergies, x: Floats, t: float) -> Ints:
        """Hinges of the whole mesh that break at positions x, time t [s]; `hinges` (k,) are those left."""
        angles = energies.bending.angles
        change = angles.angles(x) - angles.rest_angles
        change = (change + np.pi) % (2.0 * np.pi) - np.pi
        # A limit of zero breaks under any strain, and only then.
        share = _share(np.abs(change) * self._per_angle[hinges], self._curvature[hinges])
        if self._measures_stretch:
            share = np.maximum(share, _share(self._strain(hinges, energies, x), self._stretch[hinges]))
        share = np.where(self._release[hinges] <= t * (1.0 + 1e-9), np.inf, share)
        self.damage = self.damage.copy()
        self.damage[hinges] = np.maximum(self.damage[hinges], np.minimum(share, 1.0))
        return hinges[share > 1.0]

    def _strain(self, hinges: Ints, energies: ShellEnergies, x: Floats) -> Floats:
        """Stretch across each edge, mean of its two faces, (k,); squeezed edges have none."""
        membrane = energies.strains
        assert isinstance(membrane, Fem)
        e11, e22, e12 = membrane.elastic_strain(x)
        total = np.zeros(len(hinges))
        for face, a, b, c in self._frames:
            f = face[hinges]
            total += 0.5 * (a[hinges] * e11[f] + b[hinges] * e22[f] + 2.0 * c[hinges] * e12[f])
        stretch: Floats = np.sqrt(np.maximum(1.0 + 2.0 * total, 1.0)) - 1.0
        return stretch


def _squares(rest: RestShape, face: Ints, direction: Floats) -> tuple[Ints, Floats, Floats, Floats]:
    """Faces (h,) and the products n₁², n₂², n₁n₂ of the unit vector across an edge in their (warp, weft) frame."""
    a, b, c = (rest.points[rest.mesh.faces[face, j]] for j in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    across = np.cross(normal, direction)
    warp = rest.axes[face]
    weft = np.cross(normal, warp)
    n1, n2 = (across * warp).sum(axis=1), (across * weft).sum(axis=1)
    return face, n1 * n1, n2 * n2, n1 * n2


def _between(pair: tuple[float, float], cosine_2: Floats) -> Floats:
    along, across = pair
    if along == across:
        return np.full(len(cosine_2), along)
    result: Floats = along * cosine_2 + across * (1.0 - cosine_2)
    return result


def _share(value: Floats, limit: Floats) -> Floats:
    share: Floats = np.divide(value, limit, out=np.where(value > 0.0, np.inf, 0.0), where=limit > 0.0)
    return share
