"""Sheets that keep what is done to them: plastic hinges for folds, a plastic metric for dents.

Where the curvature of a hinge beyond its rest angle, κ = |e|(θ − θ̄)/A, passes the yield curvature, the rest angle
follows it: after every step the hinge is brought back to the yield curve (return mapping). With linear hardening,

    Δκ = (|κ| − κ_y − H p)/(1 + H),   p += Δκ,   θ̄ += ±Δκ A/|e|

which any monotonic loading reaches in one step or in many. `rate` r [1/s] lets the excess flow slowly instead, as
1 − exp(−r h) of it a step. The membrane does the same in its Green strain, E = Eₑ + E_p, with the size of the elastic
strain measured by its energy, ε² = Eₑ:C:Eₑ / Y with Y Young's modulus times thickness (Beltrami's criterion: the
uniaxial strain that stores as much energy); Eₑ shrinks towards zero, so every step of it gives energy away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .checks import floats, not_negative, positive
from .energies.cubic import Cubic
from .energies.fem import Fem
from .errors import ShellError
from .mesh import Topology
from .presets import PRESETS
from .types import Floats, Ints

if TYPE_CHECKING:
    from .shell import Shell
    from .shell_energies import ShellEnergies


class Plasticity:
    """When a sheet yields for good.

    - `yield_curvature` [1/m]: |e|Δθ/A of an edge from which it keeps a fold; a number or one a face, (m,);
    - `hardening`: rise of the yield curvature for each unit of plastic curvature (0: none), likewise of stretch;
    - `rate` [1/s]: how fast what is over the limit flows; None: at once;
    - `yield_stretch`: strain from which the membrane keeps a dent, a number or (m,); None: it never does.

    A hinge turns by κ_y A/|e| before it yields: edges longer than about 1/κ_y never get there. Use a finer mesh for
    sharp folds.
    """

    def __init__(
        self,
        yield_curvature: float | Floats,
        hardening: float = 0.0,
        rate: float | None = None,
        yield_stretch: float | Floats | None = None,
    ) -> None:
        self.yield_curvature = _positive(yield_curvature, "yield_curvature [1/m]")
        self.yield_stretch = None if yield_stretch is None else _positive(yield_stretch, "yield_stretch")
        self.hardening = not_negative(hardening, "plasticity: hardening")
        self.rate = None if rate is None else positive(rate, "plasticity: rate", " [1/s] or None (at once)")

    @staticmethod
    def preset(name: str) -> Plasticity:
        """Yield of a material by name; `Plasticity.presets()` lists those that have one, with its source."""
        if not isinstance(name, str) or name not in Plasticity.presets():
            known = ", ".join(Plasticity.presets())
            raise ShellError(f"no yield is known for preset {name!r}: choose one of {known}, or give numbers")
        extra = PRESETS[name].extra
        return Plasticity(
            extra["yield_curvature_per_m"], extra.get("yield_hardening", 0.0), None, extra.get("yield_stretch")
        )

    @staticmethod
    def presets() -> dict[str, str]:
        """Materials with a known yield, and where it comes from."""
        return {name: p.yield_source for name, p in PRESETS.items() if "yield_curvature_per_m" in p.extra}

    def share(self, h: float) -> float:
        """Part of what is over the limit that flows in a step of h [s]."""
        return 1.0 if self.rate is None else float(-np.expm1(-self.rate * h))


def _positive(value: Any, what: str) -> Floats:
    array = floats(value, f"plasticity: {what}", "positive, one number or one a face")
    if array.ndim > 1 or not (np.isfinite(array).all() and (array > 0.0).all()):
        raise ShellError(f"plasticity: {what} must be positive, one number or one a face, not {value!r}")
    return array


@dataclass
class PlasticState:
    """What a shell has kept: hinges (h,) and faces (m,) of its mesh as it was built."""

    angles: Floats
    """Plastic part of the rest angles [rad], (h,)."""
    curvature: Floats
    """Plastic curvature that has piled up, both ways counted [1/m], (h,)."""
    strain: Floats
    """Plastic Green strain E11, E22, E12, (3, m)."""
    stretch: Floats
    """Plastic strain that has piled up, (m,)."""

    @staticmethod
    def none(mesh: Topology) -> PlasticState:
        """Of a shell that nothing has been done to."""
        h, m = len(mesh.hinges), len(mesh.faces)
        return PlasticState(np.zeros(h), np.zeros(h), np.zeros((3, m)), np.zeros(m))


class Flow:
    """Yield of one shell: its law, what it has kept, and the energies that know of it."""

    def __init__(
        self, law: Plasticity, shell: Shell, energies: ShellEnergies, state: PlasticState | None = None
    ) -> None:
        self.law = law
        mesh = shell.mesh
        self.state = PlasticState.none(mesh) if state is None else state
        # Hinges of the whole mesh that are left.
        self._at = slice(None) if shell.cut is None else shell.cut.hinges
        edge = np.linalg.norm(shell.rest.hinge_edges, axis=1)
        # Curvature of a turn by one radian, |e|/A [1/m], and the curvature it yields at, each (h,).
        self._per_angle = edge / shell.areas[mesh.hinge_faces].sum(axis=1)
        self._limit = _per_hinge(law.yield_curvature, mesh.hinge_faces)
        self._bending = energies.bending
        self._membrane = energies.strains

    def step(self, x: Floats, h: float) -> float:
        """Flow at positions x (n, 3) after a step of h [s]; the energy [J] that took, never negative."""
        taken = self._bend(x, h)
        if self.law.yield_stretch is not None:
            assert isinstance(self._membrane, Fem)
            taken += self._stretch(self._membrane, self.law.yield_stretch, x, h)
        return taken

    @property
    def angles(self) -> Floats:
        """Plastic part of the rest angles of the hinges that are left [rad], (k,)."""
        return self.state.angles[self._at]

    def restore(self, state: PlasticState) -> None:
        """Go on from what was kept before."""
        self.state = state
        if self.law.yield_stretch is not None:
            assert isinstance(self._membrane, Fem)
            self._membrane.plastic = (state.strain[0], state.strain[1], state.strain[2])

    def _bend(self, x: Floats, h: float) -> float:
        """Hinges whose energy would rise (a cubic hinge far out of its model) stay as they are."""
        hinge, law, state = self._bending.angles, self.law, self.state
        rest = hinge.rest_angles
        change = hinge.angles(x) - rest
        if hinge.form == "sine":
            change = (change + np.pi) % (2.0 * np.pi) - np.pi
        over = np.abs(change) * self._per_angle - self._limit - law.hardening * state.curvature[self._at]
        which = np.flatnonzero(over > 0.0)
        if len(which) == 0:
            return 0.0
        flow = law.share(h) * over[which] / (1.0 + law.hardening)
        turn = np.sign(change[which]) * flow / self._per_angle[which]
        if isinstance(self._bending.energy, Cubic):
            forms, corners = self._bending.energy.forms, x[hinge.hinges[which]]
            before, after = (forms.energies(corners, which, rest[which] + t) for t in (0.0 * turn, turn))
        else:
            before, after = (hinge.energies(change[which] - t, which) for t in (0.0 * turn, turn))
        falls = after <= before
        which, flow, turn = which[falls], flow[falls], turn[falls]
        state.angles, state.curvature = state.angles.copy(), state.curvature.copy()
        place = which if isinstance(self._at, slice) else self._at[which]
        state.angles[place] += turn
        state.curvature[place] += flow
        return float((before - after)[falls].sum())

    def _stretch(self, membrane: Fem, limit: Floats, x: Floats, h: float) -> float:
        law, state = self.law, self.state
        strain = np.array(membrane.elastic_strain(x))
        stress = membrane.stress(strain[0], strain[1], strain[2])
        a11, a22, a12, _ = membrane.moduli
        young = (a11 * a22 - a12 * a12) / np.sqrt(a11 * a22)
        density = stress[0] * strain[0] + stress[1] * strain[1] + 2.0 * stress[2] * strain[2]
        size = np.sqrt(np.maximum(density, 0.0) / young)
        over = np.maximum(size - limit - law.hardening * state.stretch, 0.0)
        flow = law.share(h) * over / (1.0 + law.hardening)
        if not flow.any():
            return 0.0
        part = np.divide(flow, size, out=np.zeros_like(flow), where=size > 0.0)
        state.strain = state.strain + part * strain
        state.stretch = state.stretch + flow
        self.restore(state)
        return float((0.5 * membrane.areas * density * (1.0 - (1.0 - part) ** 2)).sum())


def _per_hinge(value: Floats, hinge_faces: Ints) -> Floats:
    """A number, or one a face, as the lesser of the two faces of each hinge, (h,)."""
    if value.ndim == 0:
        return np.full(len(hinge_faces), float(value))
    lesser: Floats = value[hinge_faces].min(axis=1)
    return lesser
