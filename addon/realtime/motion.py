"""One object's shell in its modes, driven by what the scene shows: handles, a parent, gravity, wind and fields."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ... import shellcore as sc
from .. import compat
from ..bridge.build import Link, Simulation, build
from ..bridge.mesh import CARRIERS, input_modifiers, inputs_visible
from ..errors import UserError
from .handles import followers, place

# A shell that starts this share of its size away from its rest shape does not start at rest.
OFF_REST = 1e-6


class Motion:
    """A shell under way. `time` [s] since the start; nothing of Blender's is kept but names."""

    def __init__(self, scene: Any, obj: Any, simulation: Simulation | None = None, threads: int | None = None) -> None:
        """At the scene's current frame, with the object's inputs visible where a simulation is given; so many
        `threads` may work, as many as are of use by default."""
        self._threads = threads
        if simulation is None:
            with inputs_visible([obj]):
                simulation = modal_simulation(scene, obj)
        self.simulation = simulation
        self.link: Link = simulation.links[0]
        self.name, self.time = obj.name, 0.0
        shell = self.link.shell
        size = float(np.linalg.norm(np.ptp(shell.rest_positions, axis=0)))
        if np.abs(shell.start - shell.rest_positions).max() > OFF_REST * size:
            raise UserError(
                f"{obj.name}: in real time a shell moves about its rest shape, and this one starts elsewhere: set "
                "Rest Shape to As at Start, or Motion to Full",
                object=obj.name,
            )
        acting = simulation.scene
        try:
            self.modal = sc.ModalShell(
                shell,
                obj.thin_shell_realtime.mode_count,
                gravity=acting.gravity,
                wind=acting.wind,
                forces=acting.forces,
                cache=_memory(obj),
            )
        except sc.ShellError as error:
            raise UserError(
                f"{obj.name}: {error}. Without modes there is no real time: set Motion to Full and press Bake or Live",
                object=obj.name,
            ) from None
        found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        self._start = self.link.matrix.now.copy()
        self.followers = followers(obj, found.data, self.modal, self._start, self.link.scale)
        self._carried = carries(obj)
        self._moved = False

    def restart(self, depsgraph: Any) -> Any:
        """Back to rest, where the object is now: world positions [m], (n, 3)."""
        self.modal.reset()
        self.time, self._moved = 0.0, False
        self.simulation.sampler.capture(0.0, depsgraph)
        self._follow(depsgraph, 0.0)
        rest = self.modal.shell.rest_positions
        if not self._moved:
            return rest
        moved = self._carriage()
        return rest @ moved[:3, :3].T + moved[:3, 3]

    def _follow(self, depsgraph: Any, t: float) -> None:
        """Take from the scene as it is evaluated now where handles and the parent are at t [s]."""
        for follower in self.followers:
            follower.follow(place(follower.target, depsgraph, self.link.scale))
        self._follow_parent(t)

    def _follow_parent(self, t: float) -> None:
        """The object's own motion carries a shell that is held."""
        if self.modal.free or self._carried:
            return
        if not self._moved and np.array_equal(self.link.matrix.now, self._start):
            return
        if not self._moved:
            self.modal.base_motion(np.eye(4), self.time)
            self._moved = True
        try:
            self.modal.base_motion(self._carriage(), t)
        except sc.ShellError as error:
            raise UserError(f"{self.name}: {error} (its scale or shear is animated)", object=self.name) from None

    def _carriage(self) -> Any:
        """What took the object from where it stood at first to where it stands, in metres, (4, 4)."""
        moved = self.link.matrix.now @ np.linalg.inv(self._start)
        moved[:3, 3] *= self.link.scale
        return moved

    def advance(self, depsgraph: Any, dt: float, sampled: bool = False) -> Any:
        """World positions [m], (n, 3), after dt [s] more, with the scene evaluated at the end of it.

        `sampled`: the simulation's tracks have their samples already.
        """
        t = self.time + dt
        if not sampled:
            self.simulation.sampler.capture(t, depsgraph)
        self._follow(depsgraph, t)
        x = self.modal.step(dt, threads=self._threads)
        self.time = t
        return x

    @property
    def conflicts(self) -> list[str]:
        """Names of the handles that the last step could not meet."""
        missed = self.modal.report.conflicts
        return [f.name for f in self.followers if f.position in missed or f.orientation in missed]

    def mode_shape(self, index: int, size: float, phase: float) -> Any:
        """World positions of one mode, moved by `size` times the shell's own, at a phase [rad] of its oscillation."""
        modal = self.modal
        index = min(max(index, 0), len(modal.eigenvalues) - 1)
        shape = modal.shapes[:, :, index]
        extent = float(np.linalg.norm(np.ptp(modal.shell.rest_positions, axis=0)))
        amplitudes = np.zeros(len(modal.eigenvalues))
        amplitudes[index] = size * extent / float(np.linalg.norm(shape, axis=1).max()) * np.sin(phase)
        return modal.warped_positions(amplitudes)


def modal_simulation(scene: Any, obj: Any) -> Simulation:
    """What the scene means for a shell that moves in its modes: held vertices rest, unless the mesh itself moves."""
    return build(scene, [obj], breaking=False, still_pins=not carries(obj))


def carries(obj: Any) -> bool:
    """Whether something bends the mesh before the shell, so that pins go their own ways."""
    keys = obj.data.shape_keys
    moving = keys is not None and (keys.animation_data is not None or obj.animation_data is not None)
    return moving or any(modifier.type in CARRIERS for modifier in input_modifiers(obj) if modifier.show_viewport)


def _memory(obj: Any) -> Path | None:
    """A file of this session that keeps the modes while settings that do not change them are tried."""
    return Path(bpy.app.tempdir) / f"thin_shell_modes_{compat.session_uid(obj)}.npz" if bpy.app.tempdir else None
