"""The zip in a real Blender: install, bake by command, render without the extension. Runs where such a Blender is.

`REAL_BLENDER` names a program that runs Blender with `run ARGUMENTS`; beside the project `shared/tools/real-blender` is
looked for. The zip is the one without wheels, as distributions' Blenders have a Python of their own with scipy.
"""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("REAL_BLENDER", ROOT.parent / "shared" / "tools" / "real-blender"))

pytestmark = pytest.mark.skipif(not TOOL.is_file(), reason="no real Blender here (REAL_BLENDER)")

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


@pytest.fixture(scope="module")
def blender(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    folder = tmp_path_factory.mktemp("scene")

    def run(*arguments):
        environment = {**os.environ, "REAL_BLENDER_HOME": str(home)}
        done = subprocess.run(
            (str(TOOL), "run", *arguments), cwd=folder, env=environment, capture_output=True, text=True
        )
        return done.returncode, done.stdout + done.stderr

    run.folder = folder
    return run


def picture(path):
    bpy = pytest.importorskip("bpy")
    image = bpy.data.images.load(str(path))
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    return pixels


def test_install_bake_and_render_without_the_extension(blender):
    archives = sorted((ROOT / "dist").glob("thin_shell-?.?.?.zip"))
    if not archives:
        pytest.skip("no zip: make extension ARGS=--without-wheels")
    archive = blender.folder / archives[-1].name
    archive.write_bytes(archives[-1].read_bytes())
    code, said = blender("-b", "--command", "extension", "install-file", "-r", "user_default", "-e", str(archive))
    assert code == 0 and "Installed" in said and "Error" not in said, said

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
