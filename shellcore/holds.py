"""What holds shells: pins that they follow exactly, pins and slopes that pull, ties between them."""

from __future__ import annotations

import numpy as np

from .energies.pins import Attachments, SoftPins
from .scene import Scene
from .subdivision.model import SubdivisionModel
from .types import Bools, Floats


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

    def targets(self, t: float, x: Floats) -> Floats:
        """Positions with every held component at its target for time t [s], (n, 3)."""
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
                assert pin.stiffness is not None
                strength = pin.stiffness[:, None] * pin.axes[None, :]
                np.add.at(weights, pin.vertices + at, strength)
                np.add.at(pulls, pin.vertices + at, strength * pin.at(t))
        targets = np.divide(pulls, weights, out=np.zeros_like(pulls), where=weights > 0)
        return SoftPins(weights, targets)

    def tied(self, t: float) -> int:
        """How many ties hold at time t [s]."""
        return sum(int((tie.release > t).sum()) for tie in self._scene.attachments)

    def ties(self, t: float) -> Attachments | None:
        """These, between points of the surface; None where none does."""
        if self.tied(t) == 0:
            return None
        first, second, strength = [], [], []
        where = {id(shell): int(at) for shell, at in zip(self._scene.shells, self._offsets, strict=False)}
        for tie in self._scene.attachments:
            holds = tie.release > t
            first.append(tie.vertices[0][holds] + where[id(tie.shells[0])])
            second.append(tie.vertices[1][holds] + where[id(tie.shells[1])])
            strength.append(tie.stiffness[holds])
        visible = int(self._offsets[-1])
        return Attachments(np.concatenate(first), np.concatenate(second), np.concatenate(strength), visible)
