"""Live: pressing Play simulates forward and fills the cache, with few iterations a step.

The only handler of the add-on; it is there while Live is on and gone when it is off or another file is opened.
"""

import contextlib
from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import shellcore as sc
from .bake import fingerprint, groups, session, status
from .bake.frames import solver_options
from .bake.location import write_paths
from .bake.store import versions
from .bridge.build import Simulation, build
from .bridge.mesh import inputs_visible
from .bridge.units import frames_per_second
from .cache import pc2, playback, sidecar
from .cache.files import CacheError, replace
from .cache.paths import make_folder
from .errors import UserError
from .operators.bake import leave_edit_mode
from .realtime.properties import is_modal

current: "Live | None" = None
"""What plays live; never saved with a file."""


class Live:
    """Shells simulated while the playhead moves forward from their first frame."""

    def __init__(self, scene: Any, objects: list[Any]) -> None:
        self.names = [obj.name for obj in objects]
        self.start = objects[0].thin_shell.frame_start
        self.last = self.start - 1
        self.message = f"go to frame {self.start} and press Play"
        self._simulation: Simulation | None = None
        self._steps: Any = None
        self._writers: list[pc2.Writer] = []

    def show(self, scene: Any) -> None:
        """The playhead moved: simulate what is missing up to it."""
        frame = scene.frame_current
        if frame == self.start:
            self._begin(scene)
        elif self._simulation is not None and frame > self.last:
            self._advance(scene, frame)

    def _objects(self) -> list[Any]:
        missing = [name for name in self.names if name not in bpy.data.objects]
        if missing:
            raise UserError(f"'{missing[0]}' was deleted or renamed: start Live again")
        return [bpy.data.objects[name] for name in self.names]

    def _begin(self, scene: Any) -> None:
        self.close()
        objects = self._objects()
        with inputs_visible(objects):
            self._simulation = build(scene, objects, breaking=False)
        options = solver_options(objects[0])
        options["iterations"] = objects[0].thin_shell.live_iterations
        self._steps = sc.progress(self._simulation.scene, frames=10**6, fps=frames_per_second(scene), **options)
        for obj, link in zip(objects, self._simulation.links, strict=True):
            paths = write_paths(obj)
            make_folder(paths.folder)
            writer = pc2.Writer(paths.pc2, len(link.arrays.positions), self.start)
            self._writers.append(writer)
            writer.append(link.local(link.shell.limit(link.shell.start)))
            writer.update_count()
            playback.play_points(obj, writer.part, self.start)
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

    def finish(self, scene: Any) -> None:
        """Keep what was played as an unfinished bake."""
        if not self._writers or self._writers[0].samples < 2:
            self.close()
            return
        for obj, writer in zip(self._objects(), self._writers, strict=True):
            paths, settings = write_paths(obj), obj.thin_shell
            info = sidecar.Sidecar(
                object=obj.name, points=writer.points, start=self.start, end=max(settings.frame_end, self.last),
                samples=writer.samples, complete=False, fps=frames_per_second(scene), group=[paths.name], **versions(),
            )  # fmt: skip
            writer.publish()
            sidecar.write(paths.part_sidecar, info)
            replace(paths.part_sidecar, paths.sidecar)
            playback.play_points(obj, paths.pc2, self.start)
            settings.baked, settings.baked_complete, settings.baked_target = True, False, "PC2"
            settings.baked_start, settings.baked_samples = self.start, info.samples
            settings.baked_settings = fingerprint.of_settings(obj, scene)
        self._writers = []
        status.forget()

    def close(self) -> None:
        for writer in self._writers:
            writer.close()
        self._writers, self._simulation, self._steps = [], None, None


@persistent
def on_frame(scene: Any, _depsgraph: Any = None) -> None:
    """Play moved the playhead."""
    if current is None or session.current is not None:
        return
    try:
        current.show(scene)
    except (UserError, CacheError, sc.ShellError, sc.StepFailed) as error:
        current.close()
        current.message = str(error)
        print(f"Thin Shell: Live stopped: {error}", flush=True)


@persistent
def on_load(*_: Any) -> None:
    """Another file has nothing to do with what played."""
    _off()


def _off() -> None:
    global current
    if current is not None:
        current.close()
    current = None
    for handlers, handler in ((bpy.app.handlers.frame_change_post, on_frame), (bpy.app.handlers.load_pre, on_load)):
        if handler in handlers:
            handlers.remove(handler)


class THIN_SHELL_OT_live(bpy.types.Operator):
    bl_idname = "thin_shell.live"
    bl_label = "Live"
    bl_description = "Simulate while the animation plays, from the first frame on, with the preview's iterations"
    bl_options = {"REGISTER"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        return session.current is None

    def execute(self, context: Any) -> set[str]:
        global current
        if current is not None:
            try:
                current.finish(context.scene)
            except (UserError, CacheError) as error:
                self.report({"ERROR"}, str(error))
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
        bpy.app.handlers.frame_change_post.append(on_frame)
        bpy.app.handlers.load_pre.append(on_load)
        if context.scene.frame_current == current.start:
            on_frame(context.scene)
        return {"FINISHED"}


def register() -> None:
    bpy.utils.register_class(THIN_SHELL_OT_live)


def unregister() -> None:
    _off()
    bpy.utils.unregister_class(THIN_SHELL_OT_live)
