"""Live: pressing Play simulates forward and fills the cache, in a quality that is quick.

Its handler is there while Live is on, and gone when it is off, when a bake takes one of its shells, or when another
file is opened.
"""

import contextlib
import traceback
from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import shellcore as sc
from . import compat, preferences
from .bake import attach, fingerprint, groups, identity, inputs, owners, session, status
from .bake.frames import live_options
from .bake.location import write_paths
from .bake.store import origin, put_in_place, unfinished_files
from .bridge.build import Simulation, build
from .bridge.lookup import known, known_scene
from .bridge.mesh import inputs_visible
from .bridge.units import frames_per_second
from .cache import pc2, playback, sidecar, trash
from .cache.files import CacheError, discard, is_there
from .cache.paths import CachePaths, make_folder
from .errors import UserError
from .operators.modes import leave_edit_mode
from .realtime.properties import is_modal

current: "Live | None" = None
"""What plays live; never saved with a file."""


class Live:
    """Shells simulated while the playhead moves forward from their first frame."""

    label = "Live"
    lasting = False

    def __init__(self, scene: Any, objects: list[Any]) -> None:
        self._scene, self._shells = known_scene(scene), [known(obj) for obj in objects]
        self.start = objects[0].thin_shell.frame_start
        self.last = self.start - 1
        self.message = f"go to frame {self.start} and press Play"
        self._simulation: Simulation | None = None
        self._steps: Any = None
        self._writers: list[pc2.Writer] = []
        self._paths: list[CachePaths] = []

    def frame(self, scene: Any) -> None:
        """The playhead moved: simulate what is missing up to it. That of another scene is none of our business."""
        if compat.session_uid(scene) != self._scene.uid:
            return
        frame = scene.frame_current
        with self._scene.inside():
            if frame == self.start:
                self._begin(scene)
            elif self._simulation is not None and frame > self.last:
                self._advance(scene, frame)

    def _objects(self) -> list[Any]:
        found = [each.find() for each in self._shells]
        if None in found:
            raise UserError(f"'{self._shells[found.index(None)].name}' was deleted: start Live again")
        return found

    def _begin(self, scene: Any) -> None:
        self.close()
        objects = self._objects()
        with inputs_visible(objects):
            self._simulation = build(scene, objects, breaking=False)
        options = {**live_options(objects[0]), "threads": preferences.threads()}
        self._steps = sc.progress(self._simulation.scene, frames=10**6, fps=frames_per_second(scene), **options)
        for obj, link in zip(objects, self._simulation.links, strict=True):
            paths = write_paths(obj, self._paths)
            make_folder(paths.folder)
            if is_there(paths.part_sidecar):
                trash.move(unfinished_files(paths), identity.shell_id(obj))  # a bake that a crash left
            writer = pc2.Writer(paths.pc2, len(link.arrays.positions), self.start)
            self._writers.append(writer)
            self._paths.append(paths)
            writer.append(link.local(link.shell.limit(link.shell.start)))
            writer.update_count()
        self.show_points()
        self.last = self.start
        whole = any(obj.thin_shell.use_fracture for obj in objects)
        self.message = "playing, without cracks: Bake shows them" if whole else "playing"

    def _advance(self, scene: Any, frame: int) -> None:
        simulation, objects = self._simulation, self._objects()
        if simulation is None:
            return
        # Only pins read the mesh; without them nothing needs to be evaluated twice.
        pinned = any(link.shell.pins for link in simulation.links)
        with inputs_visible(objects) if pinned else contextlib.nullcontext():
            simulation.capture((frame - self.start) / frames_per_second(scene))
        while self.last < frame:
            made = next(step.frame for step in self._steps if step.frame is not None)
            for link, part, writer in zip(simulation.links, made.slices, self._writers, strict=True):
                writer.append(link.local(made.positions[part]))
                writer.update_count()
            self.last += 1
        for obj in objects:
            obj.update_tag(refresh={"DATA"})

    def show_points(self) -> None:
        """Let the objects play what there is so far."""
        for obj, writer in zip(self._objects(), self._writers, strict=bool(self._writers)):
            playback.play_points(obj, writer.part, self.start)

    def show(self) -> None:
        """After a save or an undo it plays on."""
        try:
            self.show_points()
        except UserError as error:
            self.fail(error)

    def hide(self) -> None:
        """What plays is a file under way: nothing that is saved may point to it."""
        for shell, writer in zip(self._shells, self._writers, strict=bool(self._writers)):
            obj = shell.find()
            if obj is not None and playback.playing_points(obj) == writer.part:
                playback.rest(obj)

    def let_go(self) -> None:
        """A bake takes the shells, or nothing was played: what there is is thrown away."""
        self.hide()
        parts = [writer.part for writer in self._writers]
        _off()
        for part in parts:
            discard(part)

    def fail(self, error: Exception) -> None:
        """Stop playing, and say why."""
        self.hide()
        self.close()
        self.message = str(error)
        print(f"Thin Shell: Live stopped: {error}", flush=True)

    def finish(self) -> None:
        """Keep what was played as an unfinished bake."""
        with self._scene.inside():
            self._finish(self._scene.get())

    def _finish(self, scene: Any) -> None:
        if not self._writers or self._writers[0].samples < 2:
            self.let_go()
            return
        for obj, writer, paths in zip(self._objects(), self._writers, self._paths, strict=True):
            settings = obj.thin_shell
            info = sidecar.Sidecar(
                object=obj.name, points=writer.points, start=self.start, end=max(settings.frame_end, self.last),
                samples=writer.samples, complete=False, fps=frames_per_second(scene), group=[paths.name],
                **origin(obj, fingerprint.of_settings(obj, scene), inputs.digest(obj, scene)),
            )  # fmt: skip
            writer.finish(writer.samples)
            put_in_place(paths, info)
            attach.show(obj, scene, paths)
        self._writers, self._paths = [], []
        status.forget()

    def close(self) -> None:
        for writer in self._writers:
            writer.close()
        self._writers, self._paths, self._simulation, self._steps = [], [], None, None


@persistent
def on_frame(scene: Any, _depsgraph: Any = None) -> None:
    """Play moved the playhead."""
    live = current
    if live is None or owners.baking() or owners.rendering():
        return
    try:
        live.frame(scene)
    except (UserError, CacheError, sc.ShellError, sc.StepFailed) as error:
        live.fail(error)
    except Exception as error:
        traceback.print_exception(error)
        live.fail(error)


def _off() -> None:
    global current
    live, current = current, None
    if live is not None:
        owners.release(live)
        live.close()
    if on_frame in bpy.app.handlers.frame_change_post:
        bpy.app.handlers.frame_change_post.remove(on_frame)


class THIN_SHELL_OT_live(bpy.types.Operator):
    bl_idname = "thin_shell.live"
    bl_label = "Live"
    bl_description = "Simulate while the animation plays, from the first frame on, quicker than a bake"
    bl_options = {"REGISTER"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        return session.current is None

    def execute(self, context: Any) -> set[str]:
        global current
        if current is not None:
            try:
                current.finish()
            except (UserError, CacheError) as error:
                self.report({"ERROR"}, str(error))
                current.hide()
            _off()
            return {"FINISHED"}
        obj = context.object
        if obj is None or obj.type != "MESH" or not obj.thin_shell.enabled:
            self.report({"ERROR"}, "select a thin shell first")
            return {"CANCELLED"}
        if is_modal(obj):
            self.report({"ERROR"}, f"{obj.name} moves in real time: use the Real Time button, or set Motion to Full")
            return {"CANCELLED"}
        leave_edit_mode(context)
        group = next(group for group in groups.together(groups.shells(context.scene)) if obj in group)
        if any(each.thin_shell.baked for each in group):
            self.report({"ERROR"}, f"{obj.name} is baked, and Live would replace that: Delete Bake first")
            return {"CANCELLED"}
        current = Live(context.scene, group)
        owners.take(current, group)
        bpy.app.handlers.frame_change_post.append(on_frame)
        if context.scene.frame_current == current.start:
            on_frame(context.scene)
        return {"FINISHED"}


def register() -> None:
    bpy.utils.register_class(THIN_SHELL_OT_live)


def unregister() -> None:
    _off()
    bpy.utils.unregister_class(THIN_SHELL_OT_live)
