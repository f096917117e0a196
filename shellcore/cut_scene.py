"""A scene after cuts: shells on their cut meshes, with what holds and loads them handed on to the copies.

Copies share what their vertex had in proportion to mass: loads and springs keep their sums. Exact pins hold every copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from .cuts import Cut
from .pins import Load, OfTime, Pin
from .scene import Attach, Scene
from .shell import Shell
from .types import Floats, Ints


class Heirs:
    """Who stands for each vertex of the whole mesh now. `mass` [kg], (n,), of the vertices as they are."""

    def __init__(self, cut: Cut, mass: Floats) -> None:
        self._order = np.argsort(cut.source, kind="stable")
        counts = np.bincount(cut.source, minlength=cut.whole.vertex_count)
        self._counts = counts
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self._share = mass / np.bincount(cut.source, weights=mass)[cut.source]

    def of(self, vertices: Ints) -> tuple[Ints, Ints, Floats]:
        """Heirs of `vertices` (k,): they, the rows of `vertices` they come from, and their shares, (j,) each."""
        counts = self._counts[vertices]
        rows = np.repeat(np.arange(len(vertices)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        heirs = self._order[self._starts[vertices][rows] + within]
        return heirs, rows, self._share[heirs]


def cut_shell(shell: Shell, cut: Cut) -> tuple[Shell, Heirs]:
    """`shell`, as its user built it, on a cut of its mesh."""
    part = copy(shell)
    part.cut = cut
    part.mesh = cut.mesh
    part.rest_positions = shell.rest_positions[cut.source]
    part.start, part.velocities = shell.start[cut.source], shell.velocities[cut.source]
    part.rest = shell.rest.recut(cut.mesh, part.rest_positions, cut.hinges)
    part.hinge_rigidity = shell.hinge_rigidity[cut.hinges]
    part._rest_angles = shell._rest_angles.taken(cut.hinges)
    part.shape_angles = shell.shape_angles[cut.hinges]
    heirs = Heirs(cut, part.mass)
    part.pins = [_pinned(pin, heirs) for pin in shell.pins]
    part.slopes = [_pinned(pin, heirs) for pin in shell.slopes]
    part.loads = [_loaded(load, heirs) for load in shell.loads]
    return part, heirs


def _pinned(pin: Pin, heirs: Heirs) -> Pin:
    vertices, rows, share = heirs.of(pin.vertices)
    stiffness: Floats | OfTime | None = None
    if callable(pin.stiffness):

        def stiffness(t: float) -> Floats:
            return pin.stiffness_at(t)[rows] * share

    elif pin.stiffness is not None:
        stiffness = pin.stiffness[rows] * share
    return replace(pin, vertices=vertices, targets=lambda t: pin.at(t)[rows], stiffness=stiffness)


def _loaded(load: Load, heirs: Heirs) -> Load:
    vertices, rows, share = heirs.of(load.vertices)
    return Load(vertices, lambda t: load.at(t)[rows] * share[:, None])


def cut_scene(scene: Scene, cuts: Sequence[Cut | None]) -> Scene:
    """`scene`, as its user built it, with each shell on its cut (None: it has none)."""
    now = copy(scene)
    parts: dict[int, tuple[Shell, Heirs | None]] = {}
    for shell, cut in zip(scene.shells, cuts, strict=True):
        # A shell that is whole serves as it is.
        parts[id(shell)] = (shell, None) if cut is None or cut.mesh is cut.whole else cut_shell(shell, cut)
    now.shells = [parts[id(shell)][0] for shell in scene.shells]
    now.attachments = [_tied(tie, parts) for tie in scene.attachments]
    return now


def _tied(tie: Attach, parts: dict[int, tuple[Shell, Heirs | None]]) -> Attach:
    part = copy(tie)
    rows = np.arange(len(tie.vertices[0]))
    share = np.ones(len(rows))
    ends = [*tie.vertices]
    for side in (0, 1):
        heirs = parts[id(tie.shells[side])][1]
        if heirs is None:
            continue
        own, taken, fraction = heirs.of(ends[side])
        ends = [own, ends[1][taken]] if side == 0 else [ends[0][taken], own]
        rows, share = rows[taken], share[taken] * fraction
    part.shells = (parts[id(tie.shells[0])][0], parts[id(tie.shells[1])][0])
    part.vertices = (ends[0], ends[1])
    part.release, part.rest_length = tie.release[rows], tie.rest_length[rows]
    if callable(tie.stiffness):
        part.stiffness = lambda t: tie.stiffness_at(t)[rows] * share
    else:
        part.stiffness = tie.stiffness[rows] * share
    return part
