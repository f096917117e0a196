"""What holds shells: pins that they follow exactly, pins and slopes that pull, ties between them."""

from __future__ import annotations

import numpy as np

from .energies.base import Energy
from .energies.pins import Attachments, Bands, SoftPins
from .errors import ShellError, listed
from .pins import Pin
from .scene import Attach, Scene
from .subdivision.model import SubdivisionModel
from .types import Bools, Floats, Ints

# Targets of one vertex that differ by less than this share of the shell are the same.
SAME_PLACE = 1e-6


class Holds:
    """Of all shells of a scene, stacked; `models` of those that are subdivision shells."""

    def __init__(self, scene: Scene, models: dict[int, SubdivisionModel]) -> None:
        self._scene, self._models = scene, models
        self._offsets = scene.offsets()
        self.free = self._free()
        """Components that no pin holds exactly, (n, 3)."""
        shells = scene.shells
        self.pull = any(pin.stiffness is not None for s in shells for pin in s.pins) or any(s.slopes for s in shells)
        """Whether some pull instead."""
        pins: list[Pin | Attach] = [pin for shell in shells for pin in shell.pins]
        self._changing = [held for held in [*pins, *scene.attachments] if callable(held.stiffness)]
        self.steady = not self._changing
        """Whether no stiffness is a function of time."""
        self._shared = self._held_twice()
        self._agree(0.0)

    def _free(self) -> Bools:
        hidden = self._scene.hidden_offsets()
        free = np.ones((int(hidden[-1]), 3), dtype=bool, order="F")
        for shell, at in zip(self._scene.shells, self._offsets, strict=False):
            for pin in shell.pins:
                if pin.stiffness is None:
                    free[np.ix_(pin.vertices + at, np.flatnonzero(pin.axes))] = False
        for i, model in self._models.items():
            if model.tied:
                free[hidden[i] : hidden[i + 1]] = False
            for held in model.held:
                free[held.vertices, held.axis] = False
        return free

    def _held_twice(self) -> list[tuple[int, Pin, Ints, Pin, Ints]]:
        """Pins of a shell that hold the same vertices exactly: shell, pin, places in it, another (or the same), places
        in that."""
        found = []
        for i, shell in enumerate(self._scene.shells):
            exact = [pin for pin in shell.pins if pin.stiffness is None]
            for k, one in enumerate(exact):
                order = np.argsort(one.vertices, kind="stable")
                twice = np.flatnonzero(np.diff(one.vertices[order]) == 0)
                if len(twice):
                    found.append((i, one, order[twice], one, order[twice + 1]))
                for other in exact[:k]:
                    _, mine, theirs = np.intersect1d(one.vertices, other.vertices, return_indices=True)
                    if len(mine) and (one.axes & other.axes).any():
                        found.append((i, one, mine, other, theirs))
        return found

    def _agree(self, t: float) -> None:
        """Raise where pins hold a vertex at two places at time t [s]."""
        for i, one, mine, other, theirs in self._shared:
            here, there = one.at(t)[mine], other.at(t)[theirs]
            off = np.abs(here - there)[:, one.axes & other.axes].max(axis=1)
            size = float(np.ptp(self._scene.shells[i].rest_positions, axis=0).max())
            apart = np.flatnonzero(off > SAME_PLACE * size)
            if len(apart):
                bad = one.vertices[mine[apart]]
                raise ShellError(
                    f"shell {i}: pins hold vertices {listed(bad)} at two places, {off[apart[0]]:.3g} m apart, at time "
                    f"{t:g} s: leave out one of them",
                    vertices=bad,
                )

    def targets(self, t: float, x: Floats) -> Floats:
        """Positions with every held component at its target for time t [s], (n, 3)."""
        self._agree(t)
        placed = x.copy(order="K")
        for shell, at in zip(self._scene.shells, self._offsets, strict=False):
            for pin in shell.pins:
                if pin.stiffness is None:
                    goal = pin.at(t)
                    for axis in np.flatnonzero(pin.axes):
                        placed[pin.vertices + at, axis] = goal[:, axis]
        for model in self._models.values():
            if model.held:
                slopes = model.slopes_at(t)
                for held in model.held:
                    placed[held.vertices, held.axis] = slopes[held.kept, held.axis]
        return placed

    def pulling(self, t: float) -> SoftPins:
        """Those that pull, at time t [s], on points of the surface."""
        weights, pulls = (np.zeros((int(self._offsets[-1]), 3), order="F") for _ in range(2))
        for shell, at in zip(self._scene.shells, self._offsets, strict=False):
            for pin in [p for p in shell.pins if p.stiffness is not None] + shell.slopes:
                strength = pin.stiffness_at(t)[:, None] * pin.axes[None, :]
                np.add.at(weights, pin.vertices + at, strength)
                np.add.at(pulls, pin.vertices + at, strength * pin.at(t))
        targets = np.divide(pulls, weights, out=np.zeros_like(pulls), where=weights > 0)
        return SoftPins(weights, targets)

    def stiffnesses(self, t: float) -> tuple[bytes, ...]:
        """What pins and ties whose stiffness is a function of time have of it at time t [s], to be compared."""
        return tuple(held.stiffness_at(t).tobytes() for held in self._changing)

    def tied(self, t: float) -> int:
        """How many ties hold at time t [s]."""
        return sum(int((tie.release > t).sum()) for tie in self._scene.attachments)

    def ties(self, t: float, ahead: float) -> list[Energy]:
        """These, between points of the surface, as stiff as at time `ahead` [s]: joints, and bands of some length."""
        if self.tied(t) == 0:
            return []
        first, second, strength, length = [], [], [], []
        where = {id(shell): int(at) for shell, at in zip(self._scene.shells, self._offsets, strict=False)}
        for tie in self._scene.attachments:
            holds = tie.release > t
            first.append(tie.vertices[0][holds] + where[id(tie.shells[0])])
            second.append(tie.vertices[1][holds] + where[id(tie.shells[1])])
            strength.append(tie.stiffness_at(ahead)[holds])
            length.append(tie.rest_length[holds])
        visible = int(self._offsets[-1])
        a, b, k, rest = (np.concatenate(parts) for parts in (first, second, strength, length))
        joint = rest == 0.0
        found: list[Energy] = []
        if joint.any():
            found.append(Attachments(a[joint], b[joint], k[joint], visible))
        if not joint.all():
            found.append(Bands(a[~joint], b[~joint], k[~joint], rest[~joint], visible))
        return found
