"""Real time in the viewport: the playhead and what you drag drive shells, a point cache of one sample shows them.

The mesh itself is never touched: the sample is a file of this session that our Mesh Cache modifier plays, so undo has
nothing to undo and nothing can be lost. The handlers are there while Real Time is on and gone when it is off.
"""

import os
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ... import shellcore as sc
from .. import compat, preferences
from ..bake import groups, owners, status
from ..bridge.lookup import known, known_scene
from ..bridge.units import frames_per_second
from ..cache import pc2, playback
from ..cache.files import CacheError
from ..errors import UserError
from ..operators.bake import redraw
from .motion import Motion
from .properties import is_modal

current: "Player | None" = None
"""What plays in real time; never saved with a file."""
# Frames that a slow playback may skip and that are made up for; beyond, the shell takes them as one.
CAUGHT_UP = 4
# A shell slower than this share of its size a second has come to rest.
AT_REST = 1e-3
# At most this long it goes on by itself after the last touch [s].
SETTLING = 10.0


class Shown:
    """One shell and the file that shows it."""

    def __init__(self, scene: Any, obj: Any) -> None:
        self.motion = Motion(scene, obj, threads=preferences.threads())
        self.name, self.itself = obj.name, known(obj)
        count = len(self.motion.link.arrays.positions)
        self.path = Path(bpy.app.tempdir) / f"thin_shell_{compat.session_uid(obj)}_{os.getpid()}.pc2"
        self._file = open(self.path, "wb")
        self._file.write(pc2.HEADER.pack(pc2.MAGIC, 1, count, 1.0, 1.0, 1))
        self.write(self.motion.link.shell.rest_positions)
        self.attach()

    def write(self, world: Any) -> None:
        """Show these world positions [m], (n, 3)."""
        self._file.seek(pc2.HEADER.size)
        self._file.write(np.ascontiguousarray(self.motion.link.local(world), dtype="<f4").tobytes())
        self._file.flush()

    def attach(self) -> None:
        """Let the object play the file (also after an undo, which takes the modifier back to what it was)."""
        obj = self.itself.find()
        if obj is not None:
            playback.play_points(obj, self.path, 1)

    def tag(self) -> None:
        obj = self.itself.find()
        if obj is not None:
            obj.update_tag(refresh={"DATA"})

    def hide(self) -> None:
        """Show the mesh."""
        obj = self.itself.find()
        if obj is not None and playback.playing_points(obj) == self.path:
            playback.rest(obj)

    def close(self) -> None:
        self._file.close()
        self.hide()
        self.path.unlink(missing_ok=True)


class Player:
    """Shells that follow the playhead and their handles. `preview`: object and mode that is shown instead."""

    label = "Real Time"
    lasting = False

    def __init__(self, scene: Any, objects: list[Any], preview: bool = False) -> None:
        self.scene, self.preview = known_scene(scene), preview
        self.start = objects[0].thin_shell.frame_start
        self.last = scene.frame_current
        self.message = "press Play, or drag a handle"
        self.shells: list[Shown] = []
        self._settling = 0.0
        self._busy = False
        try:
            for obj in objects:
                self.shells.append(Shown(scene, obj))
        except BaseException:
            self.close()
            raise
        self._seen = self._places()

    def frame(self, scene: Any) -> None:
        """The playhead moved."""
        frame, fps = scene.frame_current, frames_per_second(scene)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        if self.preview:
            self._show_mode(frame)
        elif frame == self.start:
            self._restart()
        elif frame != self.last:
            # Backwards there is nothing to play: the shell goes on from where it is.
            gap = frame - self.last if frame > self.last else 1
            for _ in range(min(gap, CAUGHT_UP)):
                self._step(depsgraph, max(gap / CAUGHT_UP, 1.0) / fps)
        self.last = frame
        self._seen = self._places()

    def drag(self) -> bool:
        """Something may have been dragged while the playhead stands; True where a shell moved."""
        if self.preview:
            return False
        places = self._places()
        if np.array_equal(places, self._seen):
            return False
        self._seen = places
        self._settling = SETTLING
        self.settle()
        return True

    def settle(self) -> bool:
        """One step without the playhead; whether the shells still move."""
        dt = 1.0 / frames_per_second(self.scene.get())
        fastest = self._step(bpy.context.evaluated_depsgraph_get(), dt)
        self._settling -= dt
        return fastest > AT_REST and self._settling > 0.0

    def _step(self, depsgraph: Any, dt: float) -> float:
        """Every shell a step ahead; the largest speed, in sizes of the shell a second."""
        fastest, missed = 0.0, []
        for shown in self.shells:
            before = shown.motion.modal.positions
            x = shown.motion.advance(depsgraph, dt)
            shown.write(x)
            shown.tag()
            size = float(np.linalg.norm(np.ptp(x, axis=0))) or 1.0
            fastest = max(fastest, float(np.abs(x - before).max()) / (dt * size))
            missed += shown.motion.conflicts
        self._say(f"out of reach: {', '.join(missed)}" if missed else "following")
        return fastest

    def _say(self, message: str) -> None:
        if message != self.message:
            self.message = message
            redraw(bpy.context)

    def _restart(self) -> None:
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for shown in self.shells:
            shown.write(shown.motion.restart(depsgraph))
            shown.tag()
        self._say("at rest")

    def _show_mode(self, frame: int) -> None:
        for shown in self.shells:
            obj: Any = shown.itself.find()
            if obj is None:
                raise UserError(f"'{shown.name}' was deleted: start the preview again")
            settings = obj.thin_shell_realtime
            phase = 2.0 * np.pi * (frame - self.start) / settings.preview_frames
            shown.write(shown.motion.mode_shape(settings.mode_index, settings.preview_size, phase))
            shown.tag()

    def _places(self) -> Any:
        """Where everything is that a hand can drag, as one array."""
        watched = [each for s in self.shells for each in (s.itself, *(f.target for f in s.motion.followers))]
        found = [each.find() for each in watched]
        return np.array([np.array(obj.matrix_world) for obj in found if obj is not None])

    def show(self) -> None:
        """After a save or an undo it plays on."""
        for shown in self.shells:
            shown.attach()

    def hide(self) -> None:
        """A file must not point to a sample of this session."""
        for shown in self.shells:
            shown.hide()

    def let_go(self) -> None:
        """A bake takes the shells."""
        turn_off()

    def close(self) -> None:
        for shown in self.shells:
            shown.close()
        self.shells = []


def guarded(action: Any) -> Any:
    """Run it with nothing else in between; faults stop Real Time with a message."""
    global stopped
    player = current
    if player is None or player._busy or owners.baking() or owners.rendering():
        return None
    player._busy = True
    try:
        with player.scene.inside():
            return action(player)
    except (UserError, CacheError, sc.ShellError, ReferenceError) as error:
        turn_off()
        stopped = str(error)
        redraw(bpy.context)
        print(f"Thin Shell: Real Time stopped: {error}", flush=True)
        return None
    finally:
        player._busy = False


stopped = ""
"""Why Real Time stopped by itself."""


@persistent
def on_frame(scene: Any, _depsgraph: Any = None) -> None:
    if current is not None and compat.session_uid(scene) == current.scene.uid:
        guarded(lambda player: player.frame(scene))


@persistent
def on_depsgraph(_scene: Any, _depsgraph: Any = None) -> None:
    if current is None or playing():
        return
    if guarded(lambda player: player.drag()) and not bpy.app.background and not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=0.02)


def tick() -> float | None:
    """While nothing else moves, swing on until at rest."""
    if current is None or playing():
        return None
    scene = current.scene.find()
    return 1.0 / frames_per_second(scene) if guarded(lambda player: player.settle()) and scene is not None else None


def playing() -> bool:
    """Whether a window plays the animation."""
    manager = bpy.context.window_manager
    return manager is not None and any(window.screen.is_animation_playing for window in manager.windows)


HANDLERS = {
    "frame_change_post": on_frame,
    "depsgraph_update_post": on_depsgraph,
}


def turn_on(scene: Any, preview: Any = None) -> None:
    """Show all shells of the scene that move in real time, or a mode of one object."""
    global current, stopped
    turn_off()
    objects = [preview] if preview is not None else [obj for obj in groups.shells(scene) if is_modal(obj)]
    baked = [obj.name for obj in objects if obj.thin_shell.baked]
    if not objects:
        raise UserError("no shell of this scene moves in real time: set Motion to Real Time first")
    if baked:
        raise UserError(f"{baked[0]} is baked, and Real Time would hide that: Delete Bake first")
    stopped = ""
    owners.let_go(objects)
    current = Player(scene, objects, preview is not None)
    owners.take(current, objects)
    for name, handler in HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)


def turn_off() -> None:
    global current
    player, current = current, None
    if player is not None:
        owners.release(player)
        player.close()
        status.forget()
    for name, handler in HANDLERS.items():
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)


def register() -> None:
    """Nothing runs until it is turned on."""


def unregister() -> None:
    turn_off()
