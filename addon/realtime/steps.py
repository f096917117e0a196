"""The motion of a modal shell as a bake asks for it: the core's own generator, with modes behind it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ... import shellcore as sc
from ...shellcore.frame import Fields
from ...shellcore.system import System
from .motion import Motion


@dataclass
class Frame:
    """What a bake keeps of a frame."""

    positions: Any
    velocities: Any
    slices: list[slice]
    faces: Any
    parent: Any
    fields: Any
    state: dict[str, Any]
    stats: dict[str, Any] = field(default_factory=dict)


@dataclass
class Step:
    """A moment of the run; `frame` where one is finished."""

    stage: str
    iteration: int = 0
    frame: Frame | None = None


class LateFields:
    """Strain, stress and bending energy of a modal shell, computed only where they are kept."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._system: System | None = None

    def at(self, x: Any) -> "AtPositions":
        return AtPositions(self, x)

    def system(self) -> System:
        if self._system is None:
            self._system = System(sc.Scene([self._shell]))
        return self._system


class AtPositions:
    """Fields of one frame by name."""

    def __init__(self, source: LateFields, x: Any) -> None:
        self._source, self._x = source, x

    def __getitem__(self, name: str) -> Any:
        return Fields(self._source.system(), self._x)[name]


def progress(motion: Motion, frames: int, fps: float) -> Iterator[Step]:
    """Steps of a bake; the caller shows and samples the next frame before it asks for more."""
    shell = motion.link.shell
    fields, itself = LateFields(shell), np.arange(len(shell.rest_positions))
    before = np.array(motion.modal.positions)
    for _ in range(frames):
        x = np.array(motion.advance(bpy.context.evaluated_depsgraph_get(), 1.0 / fps, sampled=True))
        state = {"time": motion.time, "positions": x}
        stats = {"iterations": motion.modal.report.iterations}
        made = Frame(
            x, (x - before) * fps, [slice(0, len(x))], shell.faces, itself, fields.at(x), state, stats
        )  # fmt: skip
        yield Step("frame", frame=made)
        before = x
