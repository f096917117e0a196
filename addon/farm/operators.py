"""Buttons of the wedge: what varies, exporting, looking at what came out, attaching and comparing variants."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, IntProperty, StringProperty

from ..bake import attach, catalogue, identity, location, owners, reattach, status
from ..bake.catalogue import Found
from ..bake.lock import is_baking
from ..cache import pc2, playback, sidecar
from ..cache.files import CacheError, is_there, write_whole
from ..cache.paths import CachePaths, make_folder
from ..errors import UserError
from . import assignments, bundle, results, variant, wedges
from .properties import spec_of
from .wedges import Wedge

COMPARED = "Thin Shell Compare"
pictures: Any = None
"""Thumbnails of variants by their path, for the panel."""


def counted(context: Any) -> Wedge:
    """The wedge of the panel; raises where a variant could not be set."""
    obj = context.object
    if not bpy.data.filepath:
        raise UserError("save the file first: variants belong to a file")
    wedge = wedges.counted_out(spec_of(context.scene, obj), Path(bpy.data.filepath).parent)
    for each in wedge.variants:
        assignments.looked_at(each.settings, [obj])
    return wedge


def folder_of(context: Any, name: str) -> Path:
    """The folder of a variant."""
    return variant.folder_for(context.object, context.scene.thin_shell_wedge.folder, name)


class OfShell:
    """An operator on the wedge of the active shell."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.thin_shell.enabled and not is_baking(obj)

    def execute(self, context: Any) -> set[str]:
        try:
            self.report({"INFO"}, self.act(context))  # type: ignore[attr-defined]
        except (UserError, CacheError) as error:
            self.report({"ERROR"}, str(error))  # type: ignore[attr-defined]
            return {"CANCELLED"}
        return {"FINISHED"}


class THIN_SHELL_OT_wedge_add(OfShell, bpy.types.Operator):
    bl_idname = "thin_shell.wedge_add"
    bl_label = "Add Setting"
    bl_description = "One more setting that varies"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def act(self, context: Any) -> str:
        made = context.scene.thin_shell_wedge.entries.add()
        made.setting = "wind_velocity"
        return "Added a setting"


class THIN_SHELL_OT_wedge_remove(OfShell, bpy.types.Operator):
    bl_idname = "thin_shell.wedge_remove"
    bl_label = "Remove Setting"
    bl_description = "Let this setting vary no more"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    index: IntProperty(options={"SKIP_SAVE"})  # type: ignore[valid-type]

    def act(self, context: Any) -> str:
        context.scene.thin_shell_wedge.entries.remove(self.index)
        return "Removed a setting"


class THIN_SHELL_OT_wedge_save(OfShell, bpy.types.Operator):
    bl_idname = "thin_shell.wedge_save"
    bl_label = "Save Wedge"
    bl_description = (
        "Write the wedge beside the .blend file, and copy the command that bakes it on this machine to the clipboard"
    )

    def act(self, context: Any) -> str:
        wedge = counted(context)
        path = Path(bpy.data.filepath).parent / f"{wedge.name}.json"
        write_whole(path, (json.dumps(bundle.spec_of(wedge), indent=1) + "\n").encode())
        import shlex

        program = bpy.app.binary_path or "blender"
        words = [program, "-b", bpy.data.filepath, "--command", "thin_shell", "wedge", "--spec", str(path)]
        words += ["--cache-folder", str(folder_of(context, "x").parent), "--workers", "2"]
        context.window_manager.clipboard = shlex.join(words)
        return f"Wrote {path.name}, {len(wedge.variants)} variants; the command is in the clipboard"


class THIN_SHELL_OT_export_farm_job(OfShell, bpy.types.Operator):
    bl_idname = "thin_shell.export_farm_job"
    bl_label = "Export Farm Job"
    bl_description = "Write the wedge as a folder that farms run: Open Job Description, and a job type for Flamenco"

    directory: StringProperty(subtype="DIR_PATH")  # type: ignore[valid-type]

    def invoke(self, context: Any, _event: Any) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def act(self, context: Any) -> str:
        wedge, chosen, scene = counted(context), context.scene.thin_shell_wedge, context.scene
        folder = Path(self.directory)
        # In a folder that is in use it makes one of its own.
        if folder.is_dir() and any(folder.iterdir()):
            folder = folder / f"{wedge.name}_job"
        frames = (scene.frame_start, scene.frame_end) if chosen.render else None
        for note in bundle.export(wedge, folder, frames, chosen.chunk):
            self.report({"WARNING"}, note)
        return f"Wrote {len(wedge.variants)} variants as a job to {folder}"


class THIN_SHELL_OT_wedge_look(OfShell, bpy.types.Operator):
    bl_idname = "thin_shell.wedge_look"
    bl_label = "Look for Results"
    bl_description = "See which variants are baked, and load their thumbnails"

    def act(self, context: Any) -> str:
        wedge, rows = counted(context), context.scene.thin_shell_wedge.variants
        rows.clear()
        for each in wedge.variants:
            found = found_of(context, each.name)
            row = rows.add()
            row.name, row.number = each.name, each.number
            row.settings = ", ".join(f"{key.rpartition(':')[2]} {value}" for key, value in each.row().items())
            row.baked = found is not None
            row.state = "not baked" if found is None else f"{found.frames} frames, {found.info.seconds:.1f} s"
            load_picture(folder_of(context, each.name) / results.THUMBNAIL)
        return f"{sum(row.baked for row in rows)} of {len(rows)} variants are baked"


class THIN_SHELL_OT_attach_variant(OfShell, bpy.types.Operator):
    bl_idname = "thin_shell.attach_variant"
    bl_label = "Attach Variant"
    bl_description = "Let this shell play a copy of the variant's bake, with the variant's settings"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    name: StringProperty(name="Variant", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    settings: BoolProperty(  # type: ignore[valid-type]
        name="Settings, too", description="Set the shell as the variant was", default=True
    )

    def act(self, context: Any) -> str:
        obj, scene = context.object, context.scene
        wedge = counted(context)
        each = wedge.named(self.name)
        found = found_of(context, each.name)
        if found is None:
            raise UserError(f"'{each.name}' is not baked: run its task, then press Look for Results")
        if obj.library is not None:
            raise UserError(
                f"{obj.name} is linked from {obj.library.name}: make a library override to attach a bake here"
            )
        owners.let_go([obj])
        attach.check_fits(obj, found.paths, found.info)
        make_folder(location.folder_of(obj))
        copied = attach.copied(obj, found)
        notes = attach.show(obj, scene, copied)
        if self.settings:
            assignments.put([a for a in each.settings if a.object in ("", obj.name)], [obj])
        reattach.note_all()
        status.forget()
        return ". ".join([f"{obj.name} plays '{each.name}'", *notes])


class THIN_SHELL_OT_compare_variants(OfShell, bpy.types.Operator):
    bl_idname = "thin_shell.compare_variants"
    bl_label = "Compare"
    bl_description = (
        "Let copies of this shell play the ticked variants side by side; pressed again it clears them first"
    )
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def act(self, context: Any) -> str:
        obj, wedge = context.object, context.scene.thin_shell_wedge
        _clear()
        chosen = [row for row in wedge.variants if row.chosen and row.baked]
        if not chosen:
            return "Cleared: tick variants in the table to compare them"
        collection = bpy.data.collections.new(COMPARED)
        context.scene.collection.children.link(collection)
        width = max(obj.dimensions) or 1.0
        for place, row in enumerate(chosen, 1):
            found = found_of(context, row.name)
            if found is None:
                raise UserError(f"'{row.name}' is gone: press Look for Results")
            made = _player(obj, found, f"{obj.name} {row.name}")
            made.location.x += place * (1.0 + wedge.spacing) * width
            collection.objects.link(made)
        return f"{len(chosen)} variants beside {obj.name}"


def _player(obj: Any, found: Found, name: str) -> Any:
    """An object that plays a variant where it is; it is no shell and bakes nothing."""
    with pc2.Reader(found.paths.pc2) as reader:
        first = reader.sample(0)
    broken = attach.split_of(obj, found.paths, found.info)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(first.tolist(), [], np.asarray(results.faces_of(obj, found.info.points, broken)).tolist())
    for material in obj.data.materials:
        mesh.materials.append(material)
    made: Any = bpy.data.objects.new(name, mesh)
    made.matrix_world = obj.matrix_world
    playback.play_points(made, found.paths.pc2, found.info.start)
    return made


def _clear() -> None:
    collection = bpy.data.collections.get(COMPARED)
    if collection is None:
        return
    meshes = [obj.data for obj in collection.objects]
    for obj in list(collection.objects):
        bpy.data.objects.remove(obj)
    bpy.data.batch_remove([mesh for mesh in meshes if mesh.users == 0])
    bpy.data.collections.remove(collection)


def found_of(context: Any, name: str) -> Found | None:
    """The finished bake of the active shell in a variant's folder, also one that a farm baked of a bundle's copy."""
    obj, folder = context.object, folder_of(context, name)
    with identity.as_variant(name):
        paths = CachePaths(folder, variant.file_names(context.scene)[obj.name])
    try:
        info = sidecar.read(paths.sidecar)
    except CacheError:
        return None
    if info.variant != name or not info.complete or not is_there(paths.pc2):
        return None
    return next((each for each in catalogue.look(folder) if each.paths == paths and not each.trashed), None)


def load_picture(path: Path) -> None:
    """Keep a thumbnail for the panel, anew where the file is another one."""
    if pictures is not None and path.is_file():
        pictures.pop(str(path), None)
        pictures.load(str(path), str(path), "IMAGE")


CLASSES = (
    THIN_SHELL_OT_wedge_add,
    THIN_SHELL_OT_wedge_remove,
    THIN_SHELL_OT_wedge_save,
    THIN_SHELL_OT_export_farm_job,
    THIN_SHELL_OT_wedge_look,
    THIN_SHELL_OT_attach_variant,
    THIN_SHELL_OT_compare_variants,
)


def register() -> None:
    global pictures
    import bpy.utils.previews

    for each in CLASSES:
        bpy.utils.register_class(each)
    pictures = bpy.utils.previews.new()


def unregister() -> None:
    global pictures
    import bpy.utils.previews

    bpy.utils.previews.remove(pictures)
    pictures = None
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
