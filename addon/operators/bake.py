"""Bake: modal with a timer in a window, straight through in the background."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from ..bake import groups, session, status
from ..bake.order import Order
from ..errors import UserError

TICK = 0.04
"""Longest stretch of work [s] between two looks at the window."""

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


def leave_edit_mode(context: Any) -> None:
    """Edits reach the mesh only when Edit Mode ends."""
    if context.object is not None and context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


class THIN_SHELL_OT_bake(bpy.types.Operator):
    bl_idname = "thin_shell.bake"
    bl_label = "Bake"
    bl_description = "Simulate the shell and keep the result. ESC stops and keeps the finished frames"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

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

    def _start(self, context: Any) -> session.Session | None:
        try:
            if not self.everything and (
                context.object is None or context.object.type != "MESH" or not context.object.thin_shell.enabled
            ):
                raise UserError("select a mesh and press Thin Shell in its Physics tab first")
            leave_edit_mode(context)
            return session.Session(orders(context, self.mode, self.everything))
        except UserError as error:
            self.report({"ERROR"}, str(error))
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
        session.current = self._start(context)
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
        if event.type == "ESC" and event.value == "PRESS":
            run.stop()
            return self._leave(context, self._end(run))
        if event.type == "TIMER":
            if run.advance(TICK):
                return self._leave(context, self._end(run))
            context.window_manager.progress_update(int(1000 * run.shown.share))
            context.workspace.status_text_set(run.shown.text)
            redraw(context)
            return {"RUNNING_MODAL"}
        # The view may turn meanwhile; anything that edits the scene (and undo) waits.
        viewing = event.type in {
            "MIDDLEMOUSE",
            "WHEELUPMOUSE",
            "WHEELDOWNMOUSE",
            "MOUSEMOVE",
            "TRACKPADPAN",
            "TRACKPADZOOM",
        }
        return {"PASS_THROUGH"} if viewing else {"RUNNING_MODAL"}

    def cancel(self, _context: Any) -> None:
        """Blender closes the window or opens another file: the frames so far stay on the disk, nothing runs on."""
        if session.current is not None:
            session.current.abandon()
            session.current = None

    def _end(self, run: session.Session) -> set[str]:
        status.forget()
        session.finished = run
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


def redraw(context: Any) -> None:
    """Ask every window to draw panels and views again."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in {"PROPERTIES", "VIEW_3D"}:
                area.tag_redraw()


register, unregister = bpy.utils.register_classes_factory((THIN_SHELL_OT_bake,))
