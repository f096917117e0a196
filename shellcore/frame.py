"""What comes out: positions, topology, where vertices came from, fields to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .cracks import Cracks
from .energies.hinge import hinge_angles
from .subdivision.energy import KirchhoffLove
from .system import System
from .types import Floats, Ints


class Fields(Mapping[str, Floats]):
    """Quantities of a frame, computed when asked for: "strain", "stress", "bending", "plastic", "damage" per face,
    "contact" per vertex."""

    _NAMES = ("strain", "stress", "bending", "plastic", "damage", "contact")

    def __init__(self, system: System, x: Floats, cracks: Cracks | None = None) -> None:
        # Contacts of this moment: later steps look elsewhere.
        self._contact_forces: Floats = system.contact.forces(x)[: system.visible]
        self._share = system.contact_share
        self._system = system
        self._x = x
        # What a later step replaces: a field read late still belongs to its frame.
        self._rest_angles = [bend.angles.rest_angles for bend in system.bendings]
        self._penalties = [copy(penalty) for penalty in system.penalties]
        self._kept = [None if flow is None else flow.state.curvature for flow in system.flows]
        self._plastic_strains = [getattr(strains, "plastic", None) for strains in system.strain_fields]
        damage = np.zeros(len(system.faces)) if cracks is None else cracks.face_damage()
        self._known: dict[str, Floats] = {"damage": damage}
        if cracks is not None and cracks.possible:
            # The next cut has a system of its own: frames that are kept shall not keep them all.
            for name in self._NAMES:
                self[name]
            del self._system

    def __getitem__(self, name: str) -> Floats:
        if name not in self._NAMES:
            raise KeyError(f"no field {name!r}; there are {', '.join(self._NAMES)}")
        if name not in self._known:
            self._known[name] = getattr(self, f"_{name}")()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._NAMES)

    def __len__(self) -> int:
        return len(self._NAMES)

    def _strain(self) -> Floats:
        """Largest principal stretch or compression, |λ − 1| with its sign, (m,)."""
        return np.concatenate([_principal(*fem.strain(self._x), stretch=True) for fem in self._system.strain_fields])

    def _stress(self) -> Floats:
        """Largest principal membrane stress by size [N/m], (m,)."""
        parts = []
        for fem, plastic in zip(self._system.strain_fields, self._plastic_strains, strict=True):
            e11, e22, e12 = fem.strain(self._x)
            if plastic is not None:
                e11, e22, e12 = e11 - plastic[0], e22 - plastic[1], e12 - plastic[2]
            parts.append(_principal(*fem.stress(e11, e22, e12), stretch=False))
        return np.concatenate(parts)

    def _plastic(self) -> Floats:
        """Largest plastic curvature that has piled up on an edge of each face [1/m], (m,)."""
        parts = []
        for shell, curvature in zip(self._system.scene.shells, self._kept, strict=True):
            if curvature is None:
                parts.append(np.zeros(len(shell.faces)))
            else:
                whole = shell.mesh if shell.cut is None else shell.cut.whole
                parts.append(np.append(curvature, 0.0)[whole.face_hinges].max(axis=1))
        return np.concatenate(parts)

    def _bending(self) -> Floats:
        """Bending energy density [J/m²], (m,): half of each hinge's energy to either face."""
        parts = []
        shells, bendings = self._system.scene.shells, self._system.bendings
        for shell, bend, rest_angles in zip(shells, bendings, self._rest_angles, strict=True):
            if isinstance(bend.energy, KirchhoffLove):
                parts.append(bend.energy.bending_density(self._x))
                continue
            hinge = bend.angles
            change = hinge_angles(self._x, hinge.hinges) - rest_angles
            energy = hinge.weights * (1.0 - np.cos(change)) if hinge.form == "sine" else 0.5 * hinge.weights * change**2
            share = np.append(0.5 * energy, 0.0)[shell.mesh.face_hinges].sum(axis=1)
            parts.append(share / shell.areas)
        return np.concatenate(parts)

    def _contact(self) -> Floats:
        """Size of the contact force [N], (n,)."""
        total = self._contact_forces
        for penalty in self._penalties:
            total = total + penalty.gradient(self._system.on_surface(self._x))
        size: Floats = self._share * np.linalg.norm(total, axis=1)
        return size


def _principal(a11: Floats, a22: Floats, a12: Floats, stretch: bool) -> Floats:
    """Eigenvalue of larger size of symmetric 2 × 2 tensors; of Green strain, turned into stretch − 1."""
    mean, radius = 0.5 * (a11 + a22), np.hypot(0.5 * (a11 - a22), a12)
    high, low = mean + radius, mean - radius
    if stretch:
        high, low = (np.sqrt(np.maximum(1.0 + 2.0 * e, 0.0)) - 1.0 for e in (high, low))
    return np.where(np.abs(high) >= np.abs(low), high, low)


@dataclass
class Frame:
    """A moment of the simulation, all shells stacked; `slices[i]` is shell i's range of vertices."""

    time: float
    positions: Floats
    velocities: Floats
    faces: Ints
    slices: list[slice]
    source: Ints
    """Vertex of frame 0 each vertex came from, (n,)."""
    parent: Ints
    """Vertex of the previous frame each vertex came from, (n,)."""
    birth: Floats
    """When each vertex was split off [s], (n,); −inf for those there from the start."""
    state: dict[str, Any]
    """Plain arrays; `simulate(resume=state)` continues with identical results."""
    fields: Mapping[str, Floats]
    stats: dict[str, Any] = field(default_factory=dict)
    hidden: list[Floats] = field(default_factory=list)
    """Ghosts of each shell, (g, 3) each; only subdivision shells have any."""

    def control(self, i: int = 0) -> Floats:
        """Control positions of shell i with its ghosts, (n + g, 3): what `shell.limit` and `shell.surface` take."""
        return np.concatenate([self.positions[self.slices[i]], *self.hidden[i : i + 1]])
