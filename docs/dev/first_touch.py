"""What an artist meets first, for a picture of a real window with the extension installed:

    MOMENT=baking tools/real-blender shot OUT.png 16 --enable-event-simulate -P docs/dev/first_touch.py

MOMENT: baking, stopped, baked, gap (a can of 115 mm on a mesh), edit (F3 in Edit Mode), model (the panel Model).
"""

import os
import sys
import tempfile

import bpy

MOMENT = os.environ["MOMENT"]
MODEL_HEADER = (1400, 369)
"""Where the header of Model is in a window of 1600 × 1000."""


def session():
    return sys.modules["bl_ext.user_default.thin_shell.addon.bake.session"].current


def window():
    return bpy.context.window_manager.windows[0]


def area(kind):
    return next(each for each in window().screen.areas if each.type == kind)


def in_view():
    view = area("VIEW_3D")
    region = next(each for each in view.regions if each.type == "WINDOW")
    return bpy.context.temp_override(window=window(), area=view, region=region)


def press(kind, x=600, y=500, **keys):
    window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    for value in ("PRESS", "RELEASE"):
        window().event_simulate(type=kind, value=value, x=x, y=y, **keys)


def show_physics():
    area("PROPERTIES").spaces.active.context = "PHYSICS"


def save():
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(tempfile.mkdtemp(), "scene.blend"))


def drape(last):
    """A sheet of 1,681 vertices above a ball."""
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.6, location=(0, 0, 0.7))
    bpy.context.object.modifiers.new("Collision", "COLLISION")
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=40, y_subdivisions=40, size=2, location=(0, 0, 1.6))
    bpy.ops.thin_shell.toggle()
    bpy.context.object.thin_shell.frame_end = last
    save()


def bake(how="EXEC_DEFAULT"):
    with in_view():
        bpy.ops.thin_shell.bake(how)


def under_way():
    show_physics()
    bake("INVOKE_DEFAULT")
    if MOMENT == "stopped":
        bpy.app.timers.register(stop, first_interval=0.2)


def stop():
    if session() is None or session().shown.frame < 30:
        return 0.1
    press("ESC")
    return None


def can():
    bpy.ops.mesh.primitive_plane_add(size=0.4)
    bpy.context.object.modifiers.new("Collision", "COLLISION")
    bpy.ops.mesh.primitive_cylinder_add(vertices=48, radius=0.033, depth=0.115, location=(0, 0, 0.0775))
    obj = bpy.context.object
    bpy.ops.thin_shell.toggle()
    obj.thin_shell.frame_end = 30
    save()
    bake()
    bpy.context.scene.frame_set(30)
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    lowest = min((found.matrix_world @ vertex.co).z for vertex in found.data.vertices)
    print(f"rests {1e3 * lowest:.3f} mm above the plane", flush=True)


def look_from_the_front():
    show_physics()
    with in_view():
        view = bpy.context.area.spaces.active.region_3d
        bpy.ops.view3d.view_axis(type="FRONT")
        view.view_location, view.view_distance = (0, 0, 0.03), 0.25


def edit():
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=10, y_subdivisions=10, size=2)
    bpy.ops.object.mode_set(mode="EDIT")
    typed = [("F3", {}), *(("SPACE" if c == " " else c.upper(), {"unicode": c}) for c in "quick shell")]

    def type_it():
        if not typed:
            return None
        kind, keys = typed.pop(0)
        press(kind, **keys)
        return 1.0 if len(typed) == 11 else 0.15

    bpy.app.timers.register(type_it, first_interval=2.0)


bpy.context.preferences.view.show_splash = False
bpy.data.objects.remove(bpy.data.objects["Cube"])
if MOMENT in ("baking", "stopped"):
    drape(2000)
    bpy.app.timers.register(under_way, first_interval=2.0)
elif MOMENT == "baked":
    drape(12)
    bake()
    bpy.app.timers.register(show_physics, first_interval=1.0)
elif MOMENT == "model":
    drape(12)
    bpy.app.timers.register(show_physics, first_interval=1.0)
    bpy.app.timers.register(lambda: press("LEFTMOUSE", *MODEL_HEADER), first_interval=3.0)
elif MOMENT == "gap":
    can()
    bpy.app.timers.register(look_from_the_front, first_interval=1.0)
else:
    edit()
