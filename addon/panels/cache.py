"""Bake buttons, Cache, Results, Statistics."""

from typing import Any

import bpy

from .. import live
from ..bake import session
from ..bake.catalogue import settings_told, told
from ..bake.lock import is_baking
from ..bake.status import found, status
from ..bridge.mesh import RESULTS_MODIFIER
from ..preflight import results
from ..properties import versions
from ..properties.cache import RESULTS
from ..properties.model import steps_by_quality
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

MOST_LISTED = 12
LONGEST_LINE = 160


def draw_bake(layout: Any, context: Any) -> None:
    """The buttons that matter most, at the top of the main panel."""
    settings, run = context.object.thin_shell, session.current
    if run is not None:
        layout.progress(factor=run.shown.share, text=f"Frame {run.shown.frame} of {run.shown.last}")
        left = f", {run.shown.time_left} left" if run.shown.eta else ""
        layout.label(text=f"{run.shown.stage}{left}", icon="TIME")
        row = layout.row()
        row.scale_y = 1.4
        row.operator("thin_shell.stop", icon="CANCEL")
        layout.label(text="Stop and ESC keep the frames", icon="BLANK1")
        if run.bakes(context.object):
            return
    state = status(context.object, context.scene)
    wrapped(layout, state.message, ICONS[state.kind])
    if versions.is_older(settings):
        wrapped(layout, "Settings of an older version", "INFO")
        layout.operator("thin_shell.update_settings")
    if settings.baked and context.object.mode == "EDIT":
        wrapped(layout, "Edit Mode shows the mesh before the bake: press Tab to see it play", "INFO")
    row = layout.row(align=True)
    row.scale_y = 1.4
    again = "Bake Again" if settings.baked else "Bake"
    row.operator("thin_shell.bake", text=again, icon="PHYSICS").mode = "NEW"
    if state.attachable:
        row.operator("thin_shell.attach", icon="LINKED")
    if state.resumable is not None:
        row.operator("thin_shell.bake", text=f"Resume ({state.resumable})", icon="PLAY").mode = "RESUME"
    if settings.baked:
        row = layout.row(align=True)
        row.prop(settings, "unlocked", toggle=True, icon="UNLOCKED" if settings.unlocked else "LOCKED")
        row.operator("thin_shell.delete_bake", icon="TRASH")
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
    for issue in results.about(context.object)[:6]:
        wrapped(layout, issue.message, "ERROR" if issue.level == "ERROR" else "INFO")


class PHYSICS_PT_thin_shell_cache(SubPanel, bpy.types.Panel):
    bl_label = "Cache"
    bl_order = 8

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        frames = layout.column(align=True)
        frames.prop(settings, "frame_start", text="Start")
        frames.prop(settings, "frame_end")
        layout.prop(settings, "cache_target")
        # Without the split: a path needs the width.
        folder = layout.row()
        folder.use_property_split = False
        folder.prop(settings, "cache_folder", text="")
        if not steps_by_quality(settings):
            layout.prop(settings, "live_iterations", text="Live Quality")
        buttons = self.layout.column(align=True)
        buttons.enabled = not is_baking(context.object)
        if settings.baked:
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


class PHYSICS_PT_thin_shell_caches(SubPanel, bpy.types.Panel):
    bl_label = "On Disk"
    bl_order = 8
    bl_parent_id = "PHYSICS_PT_thin_shell_cache"

    def draw(self, context: Any) -> None:
        layout, obj = self.layout, context.object
        listed = found(obj)
        if not listed:
            layout.label(text="Nothing in the cache folder", icon="INFO")
        for each, own in listed[:MOST_LISTED]:
            box = layout.box().column(align=True)
            row = box.row(align=True)
            name = each.paths.name if own else f"{each.paths.name} (of {each.info.object})"
            row.label(text=name, icon="TRASH" if each.trashed else "PAUSE" if each.unfinished else "FILE_CACHE")
            playing = obj.thin_shell.baked and obj.thin_shell.cache_name == each.paths.name
            if playing and not each.trashed and not each.unfinished:
                row.label(text="attached")
            button = row.operator("thin_shell.attach", text="Attach")
            button.name, button.unfinished = each.paths.name, each.unfinished
            button.trash = str(each.paths.folder) if each.trashed else ""
            wrapped(box, told(each))
            wrapped(box, settings_told(each)[:LONGEST_LINE])
        if len(listed) > MOST_LISTED:
            layout.label(text=f"and {len(listed) - MOST_LISTED} more")
        row = layout.row(align=True)
        row.operator("thin_shell.empty_trash", icon="TRASH")
        row.operator("thin_shell.clean_caches", icon="BRUSH_DATA")


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
    (
        PHYSICS_PT_thin_shell_cache,
        PHYSICS_PT_thin_shell_caches,
        PHYSICS_PT_thin_shell_results,
        PHYSICS_PT_thin_shell_statistics,
    )
)
