"""Bake buttons, Cache, Results, Statistics."""

from typing import Any

import bpy

from .. import live
from ..bake import session
from ..bake.status import status
from ..bridge.mesh import RESULTS_MODIFIER
from ..operators import check
from ..properties.cache import RESULTS
from ..realtime.panels import draw_message, draw_switch
from ..realtime.properties import is_modal
from .base import SubPanel, column, wrapped

ICONS = {
    "NONE": "RADIOBUT_OFF",
    "BAKED": "CHECKMARK",
    "PARTIAL": "PAUSE",
    "OUTDATED": "FILE_REFRESH",
    "MISSING": "ERROR",
    "BROKEN": "ERROR",
}


def draw_bake(layout: Any, context: Any) -> None:
    """The buttons that matter most, at the top of the main panel."""
    settings, run = context.object.thin_shell, session.current
    if run is not None:
        layout.progress(factor=run.shown.share, text=f"Frame {run.shown.frame} of {run.shown.last}")
        left = f", {run.shown.time_left} left" if run.shown.eta else ""
        layout.label(text=f"{run.shown.stage}{left}", icon="TIME")
        layout.label(text="ESC stops and keeps the frames", icon="BLANK1")
        return
    state = status(context.object, context.scene)
    wrapped(layout, state.message, ICONS[state.kind])
    row = layout.row(align=True)
    row.scale_y = 1.4
    if settings.baked:
        row.operator("thin_shell.delete_bake", icon="TRASH")
    if not settings.baked or settings.unlocked or state.kind in ("OUTDATED", "MISSING", "BROKEN"):
        row.operator("thin_shell.bake", text="Bake", icon="PHYSICS").mode = "NEW"
    if state.resumable is not None:
        row.operator("thin_shell.bake", text=f"Resume ({state.resumable})", icon="PLAY").mode = "RESUME"
    row = layout.row(align=True)
    row.operator("thin_shell.check", icon="VIEWZOOM")
    if live.current is not None:
        row.operator("thin_shell.live", text="Stop Live", icon="PAUSE", depress=True)
        wrapped(layout, f"Live: {live.current.message}")
    elif not settings.baked and is_modal(context.object):
        draw_switch(row)
        draw_message(layout)
    elif not settings.baked:
        row.operator("thin_shell.live", icon="PLAY")
    for issue in check.last[:6]:
        wrapped(layout, issue.message, "ERROR" if issue.level == "ERROR" else "INFO")


class PHYSICS_PT_thin_shell_cache(SubPanel, bpy.types.Panel):
    bl_label = "Cache"
    bl_order = 8

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        frames = layout.column(align=True)
        frames.prop(settings, "frame_start")
        frames.prop(settings, "frame_end")
        layout.prop(settings, "cache_target")
        layout.prop(settings, "cache_folder")
        layout.prop(settings, "live_iterations", text="Live Quality")
        buttons = self.layout.column(align=True)
        buttons.enabled = session.current is None
        if settings.baked:
            buttons.prop(settings, "unlocked", toggle=True)
            if settings.unlocked:
                frame = context.scene.frame_current
                buttons.operator("thin_shell.bake", text=f"Continue from Frame {frame}").mode = "CONTINUE"
            buttons.operator("thin_shell.make_real")
        else:
            buttons.operator(
                "thin_shell.bake", text=f"Calculate to Frame {context.scene.frame_current}"
            ).mode = "TO_FRAME"
        every = buttons.row(align=True)
        every.operator("thin_shell.bake", text="Bake All Shells").everything = True
        every.operator("thin_shell.delete_bake", text="Delete All Bakes").everything = True
        buttons.operator("thin_shell.copy_command", icon="COPYDOWN")


class PHYSICS_PT_thin_shell_results(SubPanel, bpy.types.Panel):
    bl_label = "Results"
    bl_order = 9

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        keep = layout.column(heading="Keep")
        for name in RESULTS:
            keep.prop(settings, f"keep_{name}")
        shown = self.layout.column()
        shown.prop(settings, "show_result")
        if settings.show_result != "NONE":
            shown.prop(settings, "result_range")
            if not getattr(settings, f"keep_{settings.show_result}"):
                wrapped(shown, "Tick it under Keep and bake again to see it", "INFO")
        if settings.baked and RESULTS_MODIFIER not in context.object.modifiers:
            shown.operator("thin_shell.result_attributes")


class PHYSICS_PT_thin_shell_statistics(SubPanel, bpy.types.Panel):
    bl_label = "Statistics"
    bl_order = 10

    def draw(self, context: Any) -> None:
        layout, obj = self.layout, context.object
        layout.label(text=f"{len(obj.data.vertices):,} vertices, {len(obj.data.polygons):,} faces")
        run = session.current or session.finished
        if run is not None:
            layout.label(text=f"{1000 * run.shown.frame_seconds:.0f} ms a frame")
            scale = min((job.stats.get("stretch_scale", 1.0) for job in run.jobs), default=1.0)
            if scale < 1.0:
                layout.label(text=f"Stretch softened to {100 * scale:.2g}% by the Strain Limit")
            for stage, seconds in sorted(run.shown.stages.items(), key=lambda item: -item[1]):
                layout.label(text=f"{stage}: {seconds:.1f} s")
        layout.operator("thin_shell.copy_info", icon="COPYDOWN")


register, unregister = bpy.utils.register_classes_factory(
    (PHYSICS_PT_thin_shell_cache, PHYSICS_PT_thin_shell_results, PHYSICS_PT_thin_shell_statistics)
)
