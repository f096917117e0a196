"""Attach and delete bakes, empty their trash, and take a frame out of one."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..bake import attach, catalogue, groups, identity, owners, reattach, status
from ..bake.catalogue import Found
from ..bake.location import may_write, paths_of, sharers
from ..bake.lock import is_baking
from ..bake.store import remove
from ..cache import cracks, playback, trash
from ..cache.files import CacheError
from ..errors import UserError
from ..properties.cache import TARGETS
from .modes import in_object_mode


def delete_bake(obj: Any) -> str:
    """Take the bake off an object and its files into the trash, unless they are not the object's alone."""
    settings = obj.thin_shell
    if obj.library is not None:
        raise UserError(f"{obj.name} is linked from {obj.library.name}: delete the bake there")
    owners.let_go([obj])
    others = [other.name for other in sharers(obj)]
    notes = [playback.stop(obj)]
    try:
        paths = paths_of(obj)
        if others:
            notes.append(f"the files stay, {', '.join(others)} plays them")
        elif not may_write(obj, paths):
            notes += ["the files stay, they belong to another .blend file or shell"] if paths.all() else []
        else:
            stuck = remove(paths, identity.shell_id(obj))
            notes += [f"could not be moved to the trash: {', '.join(stuck)}"] if stuck else []
    except CacheError:
        pass  # a name or folder that leads nowhere: there is nothing of ours to delete
    settings.baked = settings.baked_complete = settings.unlocked = False
    settings.baked_target = settings.baked_settings = settings.baked_inputs = settings.baked_date = (
        settings.cache_name
    ) = ""
    settings.baked_samples = 0
    reattach.note_all()
    status.forget()
    return ". ".join(note for note in notes if note)


def in_background() -> bool:
    return bool(bpy.app.background)


def confirm(operator: Any, context: Any, event: Any, message: str, button: str) -> Any:
    """Ask in a window before the operator runs; scripts and the background are not asked."""
    if in_background() or context.window is None:
        return operator.execute(context)
    return context.window_manager.invoke_confirm(
        operator, event, title=operator.bl_label, message=message, confirm_text=button, icon="WARNING"
    )


class THIN_SHELL_OT_delete_bake(bpy.types.Operator):
    bl_idname = "thin_shell.delete_bake"
    bl_label = "Delete Bake"
    bl_description = "Take the bake off this object. Its files go to the trash of the cache folder"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    everything: BoolProperty(name="All Shells", options={"SKIP_SAVE"})  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is None or not is_baking(context.object)

    def invoke(self, context: Any, event: Any) -> Any:
        count = sum(obj.thin_shell.baked for obj in self.chosen(context))
        what = f"the bakes of {count} shells" if self.everything else f"the bake of {context.object.name}"
        return confirm(self, context, event, f"Move {what} to the trash of the cache folder?", "Delete")

    @in_object_mode
    def execute(self, context: Any) -> set[str]:
        chosen = self.chosen(context)
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

    def chosen(self, context: Any) -> list[Any]:
        chosen = groups.shells(context.scene) if self.everything else [context.object]
        return [obj for obj in chosen if obj is not None and obj.type == "MESH"]


class THIN_SHELL_OT_attach(bpy.types.Operator):
    bl_idname = "thin_shell.attach"
    bl_label = "Attach"
    bl_description = (
        "Play a bake that is in the cache folder: one of a file that was not saved, stopped or left by a crash"
    )
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    name: StringProperty(  # type: ignore[valid-type]
        name="Name", description="Cache name; empty: the newest that is this shell's own", options={"SKIP_SAVE"}
    )
    unfinished: BoolProperty(  # type: ignore[valid-type]
        name="Unfinished", description="The bake under way of that name, not the result", options={"SKIP_SAVE"}
    )
    trash: StringProperty(  # type: ignore[valid-type]
        name="Trash", description="Folder in the trash that it is taken from", options={"SKIP_SAVE"}
    )
    target: EnumProperty(  # type: ignore[valid-type]
        name="Attach as",
        items=[("AUTO", "As Baked", "What the bake was asked to become"), *TARGETS],
        options={"SKIP_SAVE"},
    )
    everything: BoolProperty(  # type: ignore[valid-type]
        name="All Shells", description="To every shell of the scene its own", options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.thin_shell.enabled and not is_baking(obj)

    @in_object_mode
    def execute(self, context: Any) -> set[str]:
        done, faults = [], []
        for obj in groups.shells(context.scene) if self.everything else [context.object]:
            try:
                found = catalogue.named(obj, self.name, self.unfinished, self.trash)
                notes = attach.attach(obj, context.scene, found, "" if self.target == "AUTO" else self.target)
                done.append(f"{obj.name}: {found.frames} frames of '{found.paths.name}'")
                for note in notes:
                    self.report({"WARNING"}, f"{obj.name}: {note}")
            except (UserError, CacheError) as error:
                faults.append(str(error))
        reattach.note_all()
        status.forget()
        for text in faults:
            self.report({"ERROR"}, text)
        if done:
            self.report({"INFO"}, f"Attached {'; '.join(done)}")
        return {"FINISHED"} if done else {"CANCELLED"}


class THIN_SHELL_OT_empty_trash(bpy.types.Operator):
    bl_idname = "thin_shell.empty_trash"
    bl_label = "Empty Trash"
    bl_description = "Delete for good what Delete Bake and Clean Up took away from this shell, or from all"
    bl_options = {"REGISTER"}  # noqa: RUF012

    everything: BoolProperty(name="All Shells", options={"SKIP_SAVE"})  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: Any) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and not is_baking(obj)

    def invoke(self, context: Any, event: Any) -> Any:
        size = sum(found.bytes for found in self.chosen(context))
        return confirm(self, context, event, f"Delete {catalogue.amount(size)} for good?", "Delete")

    def execute(self, context: Any) -> set[str]:
        stuck = [name for found in self.chosen(context) for name in trash.empty(found.paths.folder)]
        status.forget()
        if stuck:
            self.report({"WARNING"}, f"could not be deleted: {', '.join(stuck)}")
        return {"FINISHED"}

    def chosen(self, context: Any) -> list[Found]:
        shells = _with_caches(context)
        every = [found for found in catalogue.of(context.object) if found.trashed]
        mine = [found for found in every if found in catalogue.own(context.object, every)]
        if not self.everything:
            return mine
        return [
            f for f in every if f in catalogue.nobodys(shells, every) or any(f in catalogue.own(o, [f]) for o in shells)
        ]


class THIN_SHELL_OT_clean_caches(bpy.types.Operator):
    bl_idname = "thin_shell.clean_caches"
    bl_label = "Clean Up"
    bl_description = (
        "Move bakes in the cache folder that belong to no shell of this file and to no file that is there to the trash"
    )
    bl_options = {"REGISTER"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and not is_baking(obj)

    def invoke(self, context: Any, event: Any) -> Any:
        chosen = self.chosen(context)
        names = ", ".join(f"{found.paths.name} ({catalogue.amount(found.bytes)})" for found in chosen[:8])
        more = f" and {len(chosen) - 8} more" if len(chosen) > 8 else ""
        return confirm(self, context, event, f"Move to the trash: {names or 'nothing'}{more}?", "Clean Up")

    def execute(self, context: Any) -> set[str]:
        chosen = self.chosen(context)
        stuck = [name for found in chosen for name in remove(found.paths, found.info.shell_id)]
        status.forget()
        if stuck:
            self.report({"WARNING"}, f"could not be moved: {', '.join(stuck)}")
        self.report({"INFO"}, f"Moved {len(chosen)} bakes to the trash")
        return {"FINISHED"}

    def chosen(self, context: Any) -> list[Found]:
        every = [found for found in catalogue.of(context.object) if not found.trashed]
        found = catalogue.nobodys(_with_caches(context), every)
        # A name goes as a whole: what somebody owns of it holds the rest.
        kept = {each.paths.name for each in every if each not in found}
        return [each for each in found if each.paths.name not in kept]


def _with_caches(_context: Any) -> list[Any]:
    every: Any = bpy.data.objects
    meshes = [obj for obj in every if obj.type == "MESH"]
    return [o for o in meshes if o.thin_shell.enabled or o.thin_shell.cache_name or playback.playing_points(o)]


class THIN_SHELL_OT_make_real(bpy.types.Operator):
    bl_idname = "thin_shell.make_real"
    bl_label = "Make Real"
    bl_description = "A new object with the shape of the current frame as its mesh; the shell stays as it is"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.thin_shell.enabled and not is_baking(obj)

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


register, unregister = bpy.utils.register_classes_factory(
    (
        THIN_SHELL_OT_delete_bake,
        THIN_SHELL_OT_attach,
        THIN_SHELL_OT_empty_trash,
        THIN_SHELL_OT_clean_caches,
        THIN_SHELL_OT_make_real,
    )
)
