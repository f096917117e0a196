"""A bake in a real window: it runs in ticks, undo waits, ESC stops and keeps the frames, the undo after it is whole."""

import json

SCRIPT = """
import bpy, json, sys

bpy.context.preferences.view.show_splash = False
bpy.data.objects.remove(bpy.data.objects["Cube"])
bpy.ops.mesh.primitive_grid_add(x_subdivisions=40, y_subdivisions=40, size=2, location=(0, 0, 1.6))
sheet = bpy.context.object
bpy.ops.wm.save_as_mainfile(filepath="FOLDER/window.blend")
bpy.ops.thin_shell.toggle()
sheet.vertex_groups.new(name="Pin").add([0, 40], 1.0, "REPLACE")
sheet.thin_shell.pin_group, sheet.thin_shell.frame_end, sheet.thin_shell.show_axes = "Pin", 2000, True
seen = {}


def session():
    return sys.modules["bl_ext.user_default.thin_shell.addon.bake.session"].current


def press(kind, **keys):
    for value in ("PRESS", "RELEASE"):
        bpy.context.window_manager.windows[0].event_simulate(type=kind, value=value, x=600, y=500, **keys)


def start():
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        seen["started"] = sorted(bpy.ops.thin_shell.bake("INVOKE_DEFAULT"))


def watch():
    if session() is None or session().shown.frame < 4:
        return 0.2
    seen["stages"] = sorted(session().shown.stages)
    press("Z", ctrl=True)
    bpy.app.timers.register(stop, first_interval=0.5)


def stop():
    seen["after undo"] = session() is not None and "Grid" in bpy.data.objects
    press("ESC")
    bpy.app.timers.register(end, first_interval=1.0)


def end():
    settings = bpy.data.objects["Grid"].thin_shell
    seen["running"] = session() is not None
    seen["kept"] = [settings.baked, settings.baked_complete, settings.baked_samples]
    with open("FOLDER/seen.json", "w") as file:
        json.dump(seen, file)
    bpy.ops.wm.quit_blender()


bpy.app.timers.register(start, first_interval=1.0)
bpy.app.timers.register(watch, first_interval=2.0)
"""


def test_modal_bake(blender):
    script = blender.folder / "window.py"
    script.write_text(SCRIPT.replace("FOLDER", str(blender.folder)))
    result = blender.folder / "seen.json"
    # The window stays open for as long as it is told; on a busy machine Blender alone takes half a minute to start.
    for seconds in ("40", "150"):
        shot = ("shot", str(blender.folder / "window.png"), seconds)
        _, said = blender("--enable-event-simulate", "-P", str(script), mode=shot)
        if result.is_file():
            break
    assert result.is_file(), said
    seen = json.loads(result.read_text())
    assert seen["started"] == ["RUNNING_MODAL"]
    assert "Solving" in seen["stages"]
    assert seen["after undo"] and not seen["running"]
    baked, complete, samples = seen["kept"]
    assert baked and not complete and samples >= 3
