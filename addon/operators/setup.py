"""Make an object a shell, in one press or with everything round it; apply and keep presets."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ... import shellcore as sc
from .. import presets
from ..bake import identity, status
from ..bake.lock import is_baking, why_locked
from ..bridge.mesh import MODIFIER
from ..cache import playback
from ..cache.files import CacheError
from ..errors import UserError
from ..properties import versions
from .cache import confirm, delete_bake
from .edge_marks import has_creases
from .modes import in_object_mode, leave_edit_mode

_items: list[tuple[str, str, str]] = []


def preset_items(_self: Any, _context: Any) -> list[tuple[str, str, str]]:
    """Presets for a menu; kept alive here, as Blender does not keep the strings."""
    _items[:] = [(name, label, about) for name, (label, about) in presets.built_in().items()]
    return _items


class OnFreeSettings:
    """For operators that change settings: pressed they leave a locked bake alone; a script may do as it likes."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is not None and context.object.type == "MESH" and not is_baking(context.object)

    def invoke(self: Any, context: Any, _event: Any) -> set[str]:
        why = why_locked(context.object)
        if why:
            self.report({"ERROR"}, why)
            return {"CANCELLED"}
        return self.execute(context)  # type: ignore[no-any-return]


class THIN_SHELL_OT_toggle(bpy.types.Operator):
    bl_idname = "thin_shell.toggle"
    bl_label = "Thin Shell"
    bl_description = "Make this mesh a thin shell, or stop it being one"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is not None and context.object.type == "MESH" and not is_baking(context.object)

    def invoke(self, context: Any, event: Any) -> Any:
        if not context.object.thin_shell.baked:
            return self.execute(context)
        message = f"{context.object.name} is baked. Its files go to the trash of the cache folder."
        return confirm(self, context, event, message, "Remove")

    @in_object_mode
    def execute(self, context: Any) -> set[str]:
        obj = context.object
        try:
            if obj.library is not None:
                raise UserError(f"{obj.name} is linked from {obj.library.name}: make a library override first")
            if obj.thin_shell.enabled:
                delete_bake(obj)
                if MODIFIER in obj.modifiers:
                    obj.modifiers.remove(obj.modifiers[MODIFIER])
                obj.thin_shell.enabled = False
            else:
                enable(obj, context.scene)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


def enable(obj: Any, scene: Any) -> None:
    """Make it a shell with the scene's frame range; one that is a shell already stays as it is."""
    settings = obj.thin_shell
    if settings.enabled:
        return
    settings.enabled = True
    settings.shell_id = settings.shell_id or identity.new_id()
    settings.frame_start, settings.frame_end = scene.frame_start, scene.frame_end
    # The property itself is on by default: files of 0.1.0 say nothing where their creases are on.
    if not settings.is_property_set("use_creases"):
        settings.use_creases = has_creases(obj.data)
    playback.marker(obj)


class THIN_SHELL_OT_quick(bpy.types.Operator):
    bl_idname = "thin_shell.quick"
    bl_label = "Quick Shell"
    bl_description = (
        "Make the selected meshes thin shells of a material. In Edit Mode the selected vertices become their pins, "
        "and Object Mode follows"
    )
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    preset: EnumProperty(name="Material", items=preset_items)  # type: ignore[valid-type]
    floor: BoolProperty(name="Floor", description="Add a floor below to land on", default=False)  # type: ignore[valid-type]
    pin: BoolProperty(name="Pin Selected", description="Selected vertices stay where they are", default=True)  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is not None and context.object.type == "MESH" and not is_baking(context.object)

    def execute(self, context: Any) -> set[str]:
        editing = context.object.mode == "EDIT"
        chosen = [
            o for o in (context.objects_in_mode if editing else context.selected_objects) if o.type == "MESH"
        ] or [context.object]
        for obj in chosen:
            why = why_locked(obj)
            if obj.library is not None:
                why = f"{obj.name} is linked from {obj.library.name}: make a library override first"
            if why:
                self.report({"ERROR"}, why)
                return {"CANCELLED"}
        leave_edit_mode(context)
        for obj in chosen:
            enable(obj, context.scene)
            presets.apply(obj.thin_shell, self.preset)
            if editing and self.pin:
                _pin_selected(obj)
        if self.floor:
            _floor(context, chosen)
        return {"FINISHED"}


def _pin_selected(obj: Any) -> None:
    """Pin the selected vertices by a group of its own; a group of that name may hold the artist's weights."""
    vertices = [v.index for v in obj.data.vertices if v.select]
    if not vertices:
        return
    group = obj.vertex_groups.new(name="Pin")
    group.add(vertices, 1.0, "REPLACE")
    obj.thin_shell.pin_group = group.name


def _floor(context: Any, shells: list[Any]) -> None:
    lowest = min((obj.matrix_world @ v.co).z for obj in shells for v in obj.data.vertices)
    size = max(max(obj.dimensions) for obj in shells) or 1.0
    mesh = bpy.data.meshes.new("Floor")
    reach = 5 * size
    mesh.from_pydata(
        [(-reach, -reach, 0), (reach, -reach, 0), (reach, reach, 0), (-reach, reach, 0)], [], [(0, 1, 2, 3)]
    )
    floor: Any = bpy.data.objects.new("Floor", mesh)
    centre = sum((obj.matrix_world.translation for obj in shells), shells[0].matrix_world.translation * 0) / len(shells)
    floor.location = (centre.x, centre.y, lowest - size)
    context.collection.objects.link(floor)
    floor.modifiers.new("Collision", "COLLISION")
    floor.thin_shell.collider_shape = "PLANE"


class THIN_SHELL_OT_update_settings(bpy.types.Operator):
    bl_idname = "thin_shell.update_settings"
    bl_label = "Update Settings"
    bl_description = "Give the selected shells the defaults of this version where nobody has set anything else"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def description(cls, context: Any, _properties: Any) -> str:
        told = versions.told(context.object.thin_shell) if context.object is not None else ""
        return f"{cls.bl_description}{f': {told}' if told else ''}. Older shells keep theirs until this is pressed"

    @classmethod
    def poll(cls, context: Any) -> bool:
        obj = context.object
        if obj is None or obj.type != "MESH" or not obj.thin_shell.enabled:
            return False
        why = _why_kept(obj)
        if why:
            cls.poll_message_set(why)
        return not why

    def execute(self, context: Any) -> set[str]:
        chosen = {obj.name_full: obj for obj in (context.object, *context.selected_objects)}.values()
        older = [o for o in chosen if o.type == "MESH" and o.thin_shell.enabled and versions.is_older(o.thin_shell)]
        for obj in older:
            why = _why_kept(obj)
            if why:
                self.report({"WARNING"}, why)
                continue
            made = versions.told(obj.thin_shell)
            versions.update(obj.thin_shell)
            self.report({"INFO"}, f"{obj.name}: {made}")
        status.forget()
        return {"FINISHED"}


def _why_kept(obj: Any) -> str:
    """Why a shell's settings cannot be updated; empty where they can."""
    if obj.library is not None:
        return f"{obj.name} is linked from {obj.library.name}: make a library override first"
    if not versions.is_older(obj.thin_shell):
        return f"{obj.name} has the settings of this version"
    return why_locked(obj)


class THIN_SHELL_OT_preset(OnFreeSettings, bpy.types.Operator):
    bl_idname = "thin_shell.preset"
    bl_label = "Apply Preset"
    bl_description = "Set the material; pins, contact and cache stay as they are"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    name: StringProperty(name="Name")  # type: ignore[valid-type]

    @classmethod
    def description(cls, _context: Any, properties: Any) -> str:
        return presets.built_in().get(properties.name, ("", "A preset of your own"))[1]

    def execute(self, context: Any) -> set[str]:
        try:
            presets.apply(context.object.thin_shell, self.name)
        except (UserError, CacheError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        status.forget()
        return {"FINISHED"}


class THIN_SHELL_OT_preset_save(bpy.types.Operator):
    bl_idname = "thin_shell.preset_save"
    bl_label = "Save Preset"
    bl_description = "Keep this material under a name, or delete the one of that name"
    bl_options = {"REGISTER"}  # noqa: RUF012

    name: StringProperty(name="Name", default="My Material")  # type: ignore[valid-type]
    remove: BoolProperty(name="Delete", options={"SKIP_SAVE"})  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is not None and context.object.type == "MESH"

    def invoke(self, context: Any, _event: Any) -> Any:
        return self.execute(context) if self.remove else context.window_manager.invoke_props_dialog(self)

    def execute(self, context: Any) -> set[str]:
        try:
            if self.remove:
                presets.remove(self.name)
            else:
                context.object.thin_shell.preset_name = presets.save(context.object.thin_shell, self.name)
        except (UserError, CacheError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class THIN_SHELL_OT_yield_preset(OnFreeSettings, bpy.types.Operator):
    bl_idname = "thin_shell.yield_preset"
    bl_label = "Yield from Preset"
    bl_description = "Take yield curvature, hardening and yield stretch from the material preset"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) and context.object.thin_shell.enabled

    def execute(self, context: Any) -> set[str]:
        name = context.object.thin_shell.preset_name
        try:
            source = presets.apply_yield(context.object.thin_shell, name)
        except sc.ShellError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        status.forget()
        self.report({"INFO"}, source)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        THIN_SHELL_OT_toggle,
        THIN_SHELL_OT_quick,
        THIN_SHELL_OT_update_settings,
        THIN_SHELL_OT_preset,
        THIN_SHELL_OT_preset_save,
        THIN_SHELL_OT_yield_preset,
    )
)
