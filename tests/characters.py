"""A character in a library, as studios have it: an armature, a garment that follows it, a body to collide with."""

import bpy
import numpy as np
from blender_scenes import make_grid, pin
from mathutils import Matrix


def save_character(path, garment="Garment", lift=0.0):
    """Save a library with the collection Hero: Rig with a bone that carries Garment's pins and the ball Body."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    hero = bpy.data.collections.new("Hero")
    scene.collection.children.link(hero)
    bpy.context.view_layer.active_layer_collection = bpy.context.view_layer.layer_collection.children["Hero"]
    bones = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", bones)
    hero.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = bones.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=10, radius=0.3, location=(0, 0, 0.5 + lift))
    body = bpy.context.object
    body.name = body.data.name = "Body"
    body.parent, body.parent_type, body.parent_bone = rig, "BONE", "Bone"
    bpy.context.view_layer.update()
    body.matrix_world = Matrix.Translation((0, 0, 0.5 + lift))
    body.modifiers.new("Collision", "COLLISION")
    cloth = make_grid(garment, cells=8, size=1.0, location=(0, 0, 1.0 + lift))
    cloth.vertex_groups.new(name="Bone").add(list(range(81)), 1.0, "REPLACE")
    cloth.modifiers.new("Armature", "ARMATURE").object = rig
    cloth.modifiers.move(1, 0)
    pin(cloth, [0, 8])
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def new_shot(path, library, lift, editable=True):
    """A file in which the library's character is overridden and rises by `lift` from frame 1 to 6; the garment."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 6
    garment, rig = overridden(library, editable)
    garment.thin_shell.frame_end = 6
    bone = rig.pose.bones["Bone"]
    for frame, height in ((1, 0.0), (6, lift)):
        bone.location = (0, height, 0)
        if editable:
            bone.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    bpy.context.view_layer.objects.active = garment
    return garment


def overridden(library, editable=True):
    """Link Hero and override all of it: its garment and its rig, here."""
    with bpy.data.libraries.load(str(library), link=True, relative=True) as (_, wanted):
        wanted.collections = ["Hero"]
    linked = wanted.collections[0]
    bpy.context.scene.collection.children.link(linked)
    hero = linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=editable)
    if linked.name in [c.name for c in bpy.context.scene.collection.children if c.library is not None]:
        bpy.context.scene.collection.children.unlink(linked)
    made = {obj.override_library.reference.name: obj for obj in hero.all_objects}
    return next(obj for name, obj in made.items() if name not in ("Rig", "Body")), made["Rig"]


def shown(obj, frame):
    """World positions of what a frame shows, (n, 3)."""
    bpy.context.scene.frame_set(frame)
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(found.data.vertices), dtype=np.float32)
    found.data.vertices.foreach_get("co", flat)
    matrix = np.array(found.matrix_world)
    return flat.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]
