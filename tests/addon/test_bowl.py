"""A bowl that falls and shatters, baked by the real core, played and rendered by a Blender without the add-on."""

import json
import subprocess
import sys

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder
from bowl_scene import drop, make_bowl
from thin_shell.addon.cache import cracks, pc2, playback

# Runs in a Blender that never heard of Thin Shell: what the bake shows there.
PLAYER = """
import json, sys
import bpy, numpy as np
blend, pictures, frames = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
bpy.ops.wm.open_mainfile(filepath=blend)
scene = bpy.context.scene
seen = {"add-on": hasattr(bpy.types.Object, "thin_shell"), "vertices": {}, "faces": {}, "pieces": {}}

def pieces(count, corners):
    # Triangles of each piece that hangs together, largest first.
    label = np.arange(count)
    while True:
        least = label[corners].min(axis=1)
        before = label.copy()
        for k in range(3):
            np.minimum.at(label, corners[:, k], least)
        label = label[label]
        if np.array_equal(label, before):
            sizes = np.bincount(label[corners[:, 0]])
            return sorted(sizes[sizes > 0].tolist(), reverse=True)

bowl, reference = bpy.data.objects["Bowl"], bpy.data.objects["Reference"]
for frame in frames:
    scene.frame_set(frame)
    mesh = bowl.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    x = np.array([v.co for v in mesh.vertices])
    uv = np.array([c.vector for c in mesh.uv_layers["Planar"].uv])
    seen["vertices"][frame] = len(x)
    seen["pieces"][frame] = pieces(len(x), np.array([p.vertices[:] for p in mesh.polygons]))
    seen["faces"][frame] = sorted(
        [p.material_index, *np.round(uv[list(p.loop_indices)].ravel(), 5).tolist()] for p in mesh.polygons
    )
seen["materials"] = [m.name for m in bowl.data.materials]
for hidden, name in ((reference, "bowl"), (bowl, "reference")):
    reference.hide_render = bowl.hide_render = False
    hidden.hide_render = True
    scene.frame_set(frames[0])
    scene.render.filepath = f"{pictures}/{name}.png"
    bpy.ops.render.render(write_still=True)
with open(f"{pictures}/seen.json", "w") as file:
    json.dump(seen, file)
import os
sys.stdout.flush()
os._exit(0)
"""


def stage():
    """A camera and a light, Cycles on the CPU."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 8, False
    scene.render.resolution_x = scene.render.resolution_y = 128
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0.0, -0.4, 0.35), (0.9, 0, 0)
    light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "SUN"))
    light.data.energy, light.rotation_euler = 3.0, (0.6, 0.4, 0)
    for each in (camera, light):
        scene.collection.objects.link(each)
    scene.camera = camera


def reference_of(bowl):
    """The same bowl, never cut, moving as the baked one does before it breaks."""
    whole = bowl.thin_shell.whole_mesh.copy()
    obj = bpy.data.objects.new("Reference", whole)
    obj.location = bowl.location
    bpy.context.collection.objects.link(obj)
    path = cache_folder() / "reference.pc2"
    with pc2.Reader(cache_folder() / "Bowl.pc2") as reader:
        writer = pc2.Writer(path, len(whole.vertices), 1)
        for index in range(reader.header.samples):
            writer.append(reader.sample(index)[: len(whole.vertices)])
        writer.publish()
    playback.play_points(obj, path, 1)


def pixels(path):
    image = bpy.data.images.load(str(path))
    values = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(values)
    return values.reshape(-1, 4)[:, :3]


def shatters(blend, subdivisions, last, threshold):
    """Bake, play elsewhere, compare; the baked object and what the player saw of the last frame's pieces."""
    obj = make_bowl(subdivisions)
    drop(obj, last, threshold)
    whole = obj.data
    bake()
    stage()
    reference_of(obj)
    frames = np.empty(len(obj.data.vertices), dtype=np.float32)
    obj.data.attributes[cracks.CRACK_FRAME].data.foreach_get("value", frames)
    first = int(frames.min())
    # Shattered, not cracked: one vertex in twenty at least is a copy.
    assert 2 < first < last and len(obj.data.vertices) > 1.05 * len(whole.vertices)
    bpy.ops.wm.save_mainfile()
    script = blend.parent / "player.py"
    script.write_text(PLAYER)
    arguments = (str(script), str(blend), str(blend.parent), json.dumps([first - 1, last]))
    done = subprocess.run((sys.executable, *arguments), capture_output=True, text=True)
    assert (blend.parent / "seen.json").is_file(), done.stdout + done.stderr
    seen = json.loads((blend.parent / "seen.json").read_text())
    assert not seen["add-on"]
    before, after = str(first - 1), str(last)
    assert seen["vertices"][before] == len(whole.vertices) < seen["vertices"][after]
    uv = np.array([c.vector for c in whole.uv_layers["Planar"].uv])
    faces = sorted([p.material_index, *np.round(uv[list(p.loop_indices)].ravel(), 5).tolist()] for p in whole.polygons)
    for frame in (before, after):
        found = np.array(seen["faces"][frame])
        # Welding may start a face at another of its corners: sort each one's corners.
        assert np.array_equal(by_corner(found), by_corner(np.array(faces)))
    assert seen["materials"] == ["Blue", "White"]
    bowl, unsplit = pixels(blend.parent / "bowl.png"), pixels(blend.parent / "reference.png")
    assert unsplit.std() > 0.02, "the picture shows nothing"
    assert np.abs(bowl - unsplit).mean() < 1 / 255
    assert seen["pieces"][before] == [len(whole.polygons)]
    return obj, seen["pieces"][after]


def by_corner(faces):
    """Rows of material and corner coordinates, corners in order, rows in order."""
    corners = faces[:, 1:].reshape(len(faces), -1, 2)
    order = np.lexsort((corners[..., 1], corners[..., 0]), axis=1)
    rows = np.column_stack([faces[:, 0], np.take_along_axis(corners, order[..., None], 1).reshape(len(faces), -1)])
    return rows[np.lexsort(rows.T[::-1])]


def test_shattering_bowl(blend):
    obj, pieces = shatters(blend, 3, 13, 0.5)
    assert len(pieces) > 5
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert len(obj.data.polygons) == 160 and obj.data.name == "Bowl"


@pytest.mark.long
def test_shattering_bowl_of_ten_thousand_triangles(blend):
    obj, pieces = shatters(blend, 6, 12, 0.5)
    assert len(obj.data.polygons) == sum(pieces) == 10240
    # Not dust about one whole bowl: several shards of a hundred triangles and more, none of them half of it.
    assert pieces[4] >= 100 and pieces[0] < 5120
