"""The zip in a real Blender: bake by command, render without the extension."""

import numpy as np

SCENE = """
import bpy, sys
bpy.ops.mesh.primitive_grid_add(x_subdivisions=20, y_subdivisions=20, size=2, location=(0, 0, 1))
sheet = bpy.context.object
bpy.data.objects.remove(bpy.data.objects["Cube"])
assert bpy.ops.thin_shell.toggle() == {"FINISHED"}
sheet.vertex_groups.new(name="Pin").add([0, 20], 1.0, "REPLACE")
sheet.thin_shell.pin_group = "Pin"
scene = bpy.context.scene
scene.frame_end = sheet.thin_shell.frame_end = 8
scene.render.engine = "BLENDER_WORKBENCH"
scene.render.resolution_x = scene.render.resolution_y = 128
scene.render.filepath = "//with_"
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[-1])
"""


def picture(path):
    import bpy

    image = bpy.data.images.load(str(path))
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    return pixels


def test_scipy_is_the_extension_s_own(blender):
    code, said = blender(
        "-b", "--python-exit-code", "1", "--python-expr", "import scipy; print('from', scipy.__file__)"
    )
    assert code == 0 and "/extensions/.local/" in said, said


def test_bake_and_render_without_the_extension(blender):
    (blender.folder / "scene.py").write_text(SCENE)
    blend = blender.folder / "scene.blend"
    code, said = blender("-b", "--python-exit-code", "1", "-P", str(blender.folder / "scene.py"), "--", str(blend))
    assert code == 0, said
    code, said = blender("-b", str(blend), "--command", "thin_shell", "bake", "--start", "1", "--end", "8")
    assert code == 0 and "baked Grid to frame 8" in said, said
    code, said = blender("-b", str(blend), "--command", "thin_shell", "bake", "--objects", "Nobody")
    assert code == 1 and "no object 'Nobody'" in said
    code, said = blender("-b", str(blend), "-a")
    assert code == 0, said

    code, said = blender("-b", "--command", "extension", "remove", "thin_shell")
    assert code == 0, said
    code, said = blender("-b", str(blend), "--command", "thin_shell", "bake")
    assert code != 0, "the extension is still there"
    code, said = blender("-b", str(blend), "-o", "//without_", "-a")
    assert code == 0, said
    first = picture(blender.folder / "with_0001.png")
    for frame in range(1, 9):
        one, other = (picture(blender.folder / f"{name}_{frame:04d}.png") for name in ("with", "without"))
        assert np.array_equal(one, other), f"frame {frame} differs without the extension"
    assert np.abs(picture(blender.folder / "with_0008.png") - first).max() > 0.1
