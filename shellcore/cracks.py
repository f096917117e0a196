"""Cracks of a run: which edges have broken, and the system that goes on without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .cut_scene import cut_scene
from .cuts import BOUNDARY, FRACTURED, INTERIOR, Cut, broken, restored, uncut
from .errors import ShellError
from .fracture import Cracking
from .scene import Scene
from .system import System
from .types import Bools, Floats, Ints


class Cracks:
    """What has broken in a scene; `scene` stays as its user built it."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.laws = [Cracking(s) if s.fracture is not None or s.seams else None for s in scene.shells]
        self.cuts = [None if law is None else uncut(s.mesh) for s, law in zip(scene.shells, self.laws, strict=True)]
        self.closed: Bools = np.zeros(int(scene.offsets()[-1]), dtype=bool)
        """Copies that have not come apart yet, (n,): what contact draws in."""

    @property
    def possible(self) -> bool:
        """Whether anything can break."""
        return any(law is not None for law in self.laws)

    @property
    def source(self) -> Ints:
        """Vertex of the whole scene each vertex comes from, stacked (n,)."""
        offsets = self.scene.offsets()
        parts = zip(self.scene.shells, self.cuts, offsets, strict=False)
        own = [at + (np.arange(len(s.rest_positions)) if cut is None else cut.source) for s, cut, at in parts]
        return np.concatenate(own)

    @property
    def birth(self) -> Floats:
        """When each vertex was split off [s], stacked (n,)."""
        parts = zip(self.scene.shells, self.cuts, strict=True)
        return np.concatenate([np.full(len(s.rest_positions), -np.inf) if c is None else c.birth for s, c in parts])

    def face_damage(self) -> Floats:
        """Largest share of its limit that an edge of each face has borne, stacked (m,); 1 where one broke."""
        parts = []
        for shell, law in zip(self.scene.shells, self.laws, strict=True):
            if law is None:
                parts.append(np.zeros(len(shell.faces)))
            else:
                parts.append(np.append(law.damage, 0.0)[shell.mesh.face_hinges].max(axis=1))
        return np.concatenate(parts)

    def step(self, system: System, x: Floats, t: float) -> tuple[System, Ints, float] | None:
        """Break what cannot bear x (n, 3) at time t [s].

        None if all holds; else the system that goes on, the unknown each of its unknowns comes from, and the bending
        energy [J] that went with the edges.
        """
        cuts, lost = list(self.cuts), 0.0
        own: list[Ints] = [np.arange(k) for k in np.diff(system.offsets)]
        for i, (law, cut) in enumerate(zip(self.laws, self.cuts, strict=True)):
            if law is None or cut is None:
                continue
            edges = law.step(cut.hinges, system.energies_of[i], x, t)
            if len(edges):
                lost += system.energies_of[i].bending.energy_of(np.searchsorted(cut.hinges, edges), x)
                cuts[i], own[i] = broken(cut, edges, t)
        if all(new is old for new, old in zip(cuts, self.cuts, strict=True)):
            return None
        hidden = np.arange(system.visible, system.vertex_count)
        parent = np.concatenate([*(part + at for part, at in zip(own, system.offsets, strict=False)), hidden])
        ahead = self._system(system, cuts, x[parent])
        twins = np.bincount(parent, minlength=system.vertex_count) > 1
        self.closed = (self.closed | twins[: system.visible])[parent[: ahead.visible]]
        self.cuts = cuts
        ahead.close_cracks(self.closed)
        return ahead, parent, lost

    def _system(self, system: System, cuts: Sequence[Cut | None], x: Floats) -> System:
        kept = []
        for shell, new, old in zip(system.scene.shells, cuts, self.cuts, strict=True):
            if new is None or old is None:
                kept.append(np.arange(len(shell.hinges)))
            else:
                kept.append(np.flatnonzero(new.states[old.hinges] == INTERIOR))
        return System(cut_scene(self.scene, cuts), system.strain_limit, (system, kept, x))

    def part(self, system: System) -> None:
        """Let copies touch like any two sheets that have come apart by more than the contact distance."""
        if not (self.closed.any() and system.contact.exists):
            return
        closed = self.closed & system.contact.closed_cracks()
        if (closed != self.closed).any():
            self.closed = closed
            system.close_cracks(closed)

    def counts(self) -> dict[str, int]:
        """For the stats: edges broken so far, those of them that have parted, copies made."""
        states = [cut.states for cut in self.cuts if cut is not None]
        copies = sum(len(cut.source) - cut.whole.vertex_count for cut in self.cuts if cut is not None)
        broke, parted = (sum(int((s >= least).sum()) for s in states) for least in (FRACTURED, BOUNDARY))
        return {"broken_edges": broke, "parted_edges": parted, "copies": copies}

    def kept(self) -> dict[str, Any]:
        """Plain arrays for a saved state."""
        saved: dict[str, Any] = {}
        for i, (law, cut) in enumerate(zip(self.laws, self.cuts, strict=True)):
            if law is not None and cut is not None:
                saved |= {f"cut_{i}_{name}": getattr(cut, name) for name in ("states", "source", "birth")}
                saved |= {f"cut_{i}_faces": cut.mesh.faces, f"cut_{i}_damage": law.damage}
        return saved | {"cut_closed": self.closed} if saved else {}

    def restore(self, saved: dict[str, Any], system: System) -> System:
        """The system of a saved state."""
        if not self.possible:
            return system
        cuts = list(self.cuts)
        for i, (law, cut) in enumerate(zip(self.laws, self.cuts, strict=True)):
            if law is None or cut is None:
                continue
            names = ("faces", "states", "source", "birth", "damage")
            try:
                faces, states, source, birth, damage = (np.array(saved[f"cut_{i}_{name}"]) for name in names)
            except KeyError as missing:
                raise ShellError(f"resume: {missing} is missing; is it a state of this scene?") from None
            if faces.shape != cut.whole.faces.shape or states.shape != cut.states.shape:
                raise ShellError(f"resume: the cuts of shell {i} do not fit its mesh; is it a state of this scene?")
            law.damage = damage
            if len(source) > cut.whole.vertex_count or states.any():
                cuts[i] = restored(cut, faces, states, source, birth)
        if all(new is old for new, old in zip(cuts, self.cuts, strict=True)):
            return system
        x = np.asfortranarray(np.array(saved["positions"], dtype=np.float64))
        ahead = self._system(system, cuts, x)
        self.cuts, self.closed = cuts, np.array(saved["cut_closed"], dtype=bool)
        ahead.close_cracks(self.closed)
        return ahead
