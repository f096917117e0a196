"""Bake: modal with a timer in a window, straight through in the background."""

import time
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from ..bake import groups, owners, session, status
from ..bake.order import Order
from ..errors import UserError
from .modes import Place, leave_edit_mode

WORK = 0.2
"""Work [s] between two looks at the window. Moving the playhead makes Blender draw all of it: 5 times a second,"""
SHARE = 2.5
"""or after so many times what drawing takes,"""
PATIENCE = 0.5
"""if work and drawing together do not keep Stop waiting longer than this [s];"""
USUAL = 0.15
"""What drawing is thought to take [s] before it was seen."""
LEAST = 2.0
"""but at least after so many times what drawing takes: a bake takes half as long again."""

MODES = [
    ("NEW", "Bake", "Simulate from the first frame"),
    ("RESUME", "Resume", "Go on where an unfinished bake stopped"),
    (
        "CONTINUE",
        "Continue from Frame",
        "Keep the bake up to the current frame, simulate on from there with the settings as they are now",
    ),
    ("TO_FRAME", "Calculate to Frame", "Simulate up to the current frame"),
]


def orders(context: Any, mode: str, everything: bool) -> list[Order]:
    """What a press of the button asks for."""
    scene = context.scene
    chosen = groups.shells(scene) if everything else [context.object]
    if not chosen:
        raise UserError("there is no thin shell in this scene: select a mesh and press Thin Shell in the Physics tab")
    made = []
    for group in groups.together(chosen):
        first = group[0].thin_shell
        if mode == "CONTINUE":
            for obj in group:
                _check_continue(obj, scene.frame_current)
        made.append(
            Order(
                scene=scene.name,
                objects=tuple(obj.name for obj in group),
                last=scene.frame_current if mode == "TO_FRAME" else first.frame_end,
                target=first.cache_target,
                mode={"RESUME": "resume", "CONTINUE": "continue"}.get(mode, "new"),
                from_frame=scene.frame_current,
            )
        )
    return made


def _check_continue(obj: Any, frame: int) -> None:
    settings = obj.thin_shell
    last = settings.baked_start + settings.baked_samples - 1
    if not settings.baked or not settings.baked_start < frame <= last:
        raise UserError(
            f"{obj.name}: there is no bake at frame {frame} to continue from: go to a baked frame, or press Bake"
        )


class THIN_SHELL_OT_bake(bpy.types.Operator):
    bl_idname = "thin_shell.bake"
    bl_label = "Bake"
    bl_description = "Simulate the shell and keep the result. ESC stops and keeps the finished frames"
    # Registered it could be adjusted afterwards, which would bake again.
    bl_options = {"UNDO"}  # noqa: RUF012

    mode: EnumProperty(name="Mode", items=MODES, options={"SKIP_SAVE"})  # type: ignore[valid-type]
    everything: BoolProperty(  # type: ignore[valid-type]
        name="All Shells",
        description="All shells of the scene, those with equal solver settings together",
        options={"SKIP_SAVE"},
    )

    _timer: Any = None

    @classmethod
    def poll(cls, context: Any) -> bool:
        if session.current is not None:
            cls.poll_message_set("a bake is running")
            return False
        return True

    @classmethod
    def description(cls, _context: Any, properties: Any) -> str:
        return next(text for key, _, text in MODES if key == properties.mode) + ". ESC stops and keeps the frames"

    def _start(self, context: Any, window: bool = False) -> session.Session | None:
        place: Place | None = None
        try:
            if not self.everything and (
                context.object is None or context.object.type != "MESH" or not context.object.thin_shell.enabled
            ):
                raise UserError("select a mesh and press Thin Shell in its Physics tab first")
            place = leave_edit_mode(context)
            return session.Session(orders(context, self.mode, self.everything), place.back, window)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            if place is not None:
                place.back()
            return None

    def execute(self, context: Any) -> set[str]:
        run = self._start(context)
        if run is None:
            return {"CANCELLED"}
        said = -1
        while not run.advance(1.0):
            if run.shown.frame != said:
                said = run.shown.frame
                print(f"Thin Shell: frame {said} of {run.shown.last}, {run.shown.eta:.0f} s left", flush=True)
        return self._end(run)

    def invoke(self, context: Any, _event: Any) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        session.current = self._start(context, window=True)
        if session.current is None:
            return {"CANCELLED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.01, window=context.window)
        manager.progress_begin(0, 1000)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Any, event: Any) -> set[str]:
        run = session.current
        if run is None:
            return self._leave(context, {"CANCELLED"})
        if run.wanted_stop or (event.type == "ESC" and event.value == "PRESS"):
            run.stop()
            return self._leave(context, self._end(run))
        if event.type != "TIMER" or owners.rendering():
            # Everything else works: what changes the bake is seen at the next tick.
            return {"PASS_THROUGH"}
        try:
            run.aside()
            done = work(run, budget(time.perf_counter() - run.left if run.frames else USUAL))
            if not done:
                run.preview()
        except Exception as error:
            run.fail(error)
            done = True
        if done:
            return self._leave(context, self._end(run))
        context.window_manager.progress_update(int(1000 * run.shown.share))
        context.workspace.status_text_set(run.shown.text)
        redraw(context)
        run.left = time.perf_counter()
        return {"RUNNING_MODAL"}

    def cancel(self, _context: Any) -> None:
        """Blender closes the window or opens another file: the frames so far stay on the disk, nothing runs on."""
        if session.current is not None:
            session.current.abandon()
            session.current = None

    def _end(self, run: session.Session) -> set[str]:
        status.forget()
        session.finished = run
        run.go_back()
        for job in run.jobs:
            for text in job.warnings:
                self.report({"WARNING"}, text)
        if run.error is not None:
            kept = f". {run.summary()}: Resume goes on from there" if any(job.done for job in run.jobs) else ""
            self.report({"ERROR"}, f"{run.error}{kept}")
            return {"FINISHED"} if any(job.published for job in run.jobs) else {"CANCELLED"}
        stopped = any(job.stop for job in run.jobs)
        self.report({"INFO"}, f"{run.summary()}, stopped" if stopped else run.summary())
        return {"FINISHED"}

    def _leave(self, context: Any, result: set[str]) -> set[str]:
        session.current = None
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        redraw(context)
        return result


def budget(away: float) -> float:
    """How long to work [s] where Blender was last `away` that long, drawing for the most part."""
    return max(WORK, LEAST * away, min(SHARE * away, PATIENCE - away))


def work(run: session.Session, seconds: float) -> bool:
    """Bake for about that long; True when all is done."""
    return run.advance(seconds)


def redraw(context: Any) -> None:
    """Ask every window to draw panels and views again."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in {"PROPERTIES", "VIEW_3D"}:
                area.tag_redraw()


class THIN_SHELL_OT_stop(bpy.types.Operator):
    bl_idname = "thin_shell.stop"
    bl_label = "Stop"
    bl_description = "Stop the bake and keep the finished frames, as ESC does"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        return session.current is not None

    def execute(self, context: Any) -> set[str]:
        if session.current is not None:
            session.current.wanted_stop = True
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((THIN_SHELL_OT_bake, THIN_SHELL_OT_stop))
