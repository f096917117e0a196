"""Delete bakes, and take a frame out of one."""

from typing import Any

import bpy

from ..bake import groups, session, status
from ..bake.location import of_another_file, paths_of, sharers
from ..bake.store import remove
from ..cache import cracks, playback
from ..cache.files import CacheError
from ..errors import UserError
from .bake import leave_edit_mode


def delete_bake(obj: Any) -> str:
    """Take the bake off an object and delete its files, unless another object or file still plays them."""
    settings = obj.thin_shell
    if obj.library is not None:
        raise UserError(f"{obj.name} is linked from {obj.library.name}: delete the bake there")
    notes = [playback.stop(obj)]
    try:
        paths = paths_of(obj)
        others = [other.name for other in sharers(obj)]
        if others:
            notes.append(f"the files stay, {', '.join(others)} plays them")
        elif of_another_file(paths):
            notes.append("the files stay, another .blend file plays them")
        else:
            stuck = remove(paths)
            notes += [f"could not be deleted: {', '.join(stuck)}"] if stuck else []
    except CacheError:
        pass  # a name or folder that leads nowhere: there is nothing of ours to delete
    settings.baked = settings.baked_complete = settings.unlocked = False
    settings.baked_target = settings.baked_settings = settings.cache_name = ""
    settings.baked_samples = 0
    status.forget()
    return ". ".join(note for note in notes if note)


class THIN_SHELL_OT_delete_bake(bpy.types.Operator):
    bl_idname = "thin_shell.delete_bake"
    bl_label = "Delete Bake"
    bl_description = "Take the bake off this object and delete its files"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    everything: bpy.props.BoolProperty(name="All Shells", options={"SKIP_SAVE"})  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: Any) -> bool:
        return session.current is None

    def execute(self, context: Any) -> set[str]:
        leave_edit_mode(context)
        chosen = groups.shells(context.scene) if self.everything else [context.object]
        chosen = [obj for obj in chosen if obj is not None and obj.type == "MESH"]
        if not chosen:
            self.report({"ERROR"}, "there is no thin shell here: select one")
            return {"CANCELLED"}
        for obj in chosen:
            try:
                note = delete_bake(obj)
            except UserError as error:
                self.report({"ERROR"}, str(error))
                continue
            if note:
                self.report({"WARNING"}, f"{obj.name}: {note}")
        return {"FINISHED"}


class THIN_SHELL_OT_make_real(bpy.types.Operator):
    bl_idname = "thin_shell.make_real"
    bl_label = "Make Real"
    bl_description = "A new object with the shape of the current frame as its mesh; the shell stays as it is"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        obj = context.object
        return session.current is None and obj is not None and obj.type == "MESH" and obj.thin_shell.enabled

    def execute(self, context: Any) -> set[str]:
        obj = context.object
        if not obj.thin_shell.baked:
            self.report({"ERROR"}, f"{obj.name} is not baked: press Bake first")
            return {"CANCELLED"}
        with cracks.welded(obj):
            found = obj.evaluated_get(context.evaluated_depsgraph_get())
            mesh = bpy.data.meshes.new_from_object(
                found, preserve_all_data_layers=True, depsgraph=context.evaluated_depsgraph_get()
            )
            place = found.matrix_world.copy()
        made = bpy.data.objects.new(f"{obj.name} frame {context.scene.frame_current}", mesh)
        made.matrix_world = place
        for group in obj.vertex_groups:
            if group.name not in made.vertex_groups:
                made.vertex_groups.new(name=group.name)
        cracks.forget(made)
        (obj.users_collection or (context.collection,))[0].objects.link(made)
        for other in context.selected_objects:
            other.select_set(False)
        made.select_set(True)
        context.view_layer.objects.active = made
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((THIN_SHELL_OT_delete_bake, THIN_SHELL_OT_make_real))
