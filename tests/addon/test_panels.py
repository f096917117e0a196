"""Every panel draws in every state, on a stand-in for Blender's layout."""

from types import SimpleNamespace

import bpy
from blender_scenes import failure, make_grid
from drawn_panels import Layout, all_panels, draw_all
from thin_shell.addon import live
from thin_shell.addon.bake import session
from thin_shell.addon.bake.status import status
from thin_shell.addon.operators import check
from thin_shell.addon.realtime import panels


def test_states(sheet):
    settings = sheet.thin_shell
    assert len(all_panels()) >= 13
    draw_all(sheet)
    for source in ("UV", "IMAGE", "VECTOR"):
        settings.axes_source = source
        draw_all(sheet)
    settings.axes_source = "NONE"
    settings.material_source, settings.integrator, settings.rest_shape = "SOLID", "newmark", "KEY"
    settings.shear_auto = settings.twist_auto = False
    settings.use_pressure = settings.use_sewing = settings.show_axes = True
    settings.show_result, settings.weight_bend = "strain", "Pin"
    draw_all(sheet)
    settings.rest_shape, settings.integrator, settings.material_source = "OBJECT", "implicit_euler", "SHEET"
    draw_all(sheet)
    settings.rest_shape, settings.rest_uv_size = "UV", "SCALE"
    assert {"rest_uv_size", "rest_uv_scale"} <= {entry[1] for entry in draw_all(sheet) if entry[0] == "prop"}
    settings.rest_shape, settings.use_sewing, settings.use_pressure, settings.weight_bend = "START", False, False, ""
    settings.use_plasticity = settings.use_plastic_rate = settings.use_yield_stretch = True
    settings.use_fracture = settings.use_fracture_stretch = settings.use_seam_release = settings.use_curl = True
    settings.crease_attribute = "crease_edge"
    for source in ("WEIGHT", "IMAGE"):
        settings.toughness_source = source
        draw_all(sheet)
    settings.use_plasticity = settings.use_fracture = settings.use_seam_release = settings.use_curl = False
    settings.crease_attribute, settings.toughness_source = "", "NONE"
    assert bpy.ops.thin_shell.bake() == {"FINISHED"}
    assert status(sheet, bpy.context.scene, fresh=True).kind == "BAKED"
    drawn = draw_all(sheet)
    assert ("operator", "thin_shell.delete_bake") in [entry[:2] for entry in drawn]
    assert ("operator", "thin_shell.attach") in [entry[:2] for entry in drawn] and "6 frames" in str(drawn)
    settings.unlocked = True
    draw_all(sheet)


def test_while_running_and_after_a_check(sheet):
    check.last[:] = []
    sheet.thin_shell.pin_group = "gone"
    assert "gone" in failure(bpy.ops.thin_shell.check)
    assert check.last
    drawn = draw_all(sheet)
    assert any("gone" in str(entry) for entry in drawn)
    check.last[:] = []
    session.current = session.Session([])
    try:
        assert any(entry[0] == "progress" for entry in draw_all(sheet))
    finally:
        session.current = None
    live.current = live.Live(bpy.context.scene, [sheet])
    try:
        draw_all(sheet)
    finally:
        live.current = None


def test_add_button(blend):
    from thin_shell.addon.panels import add

    obj = make_grid()
    for shown in (obj, None):
        drawn = []
        add.add_button(SimpleNamespace(layout=Layout(drawn)), SimpleNamespace(object=shown))
        assert bool(drawn) == (shown is not None)
    assert drawn == [] or drawn[0][2]["icon"] == "X"


def test_all_sit_in_the_properties():
    for panel in all_panels():
        assert panel.bl_space_type == "PROPERTIES" and panel.bl_label


def test_real_time_states(sheet):
    settings = sheet.thin_shell_realtime
    settings.motion, settings.mode_count = "MODAL", 5
    assert ("operator", "thin_shell.handle_add", {"icon": "EMPTY_ARROWS"}) in draw_all(sheet)
    sheet.data.vertices[48].select = True
    assert bpy.ops.thin_shell.handle_add() == {"FINISHED"}
    bpy.context.view_layer.objects.active = sheet
    assert bpy.ops.thin_shell.modes() == {"FINISHED"}
    drawn = draw_all(sheet)
    assert "stiffness" in {entry[1] for entry in drawn if entry[0] == "prop"}
    assert "thin_shell.mode_preview" in {entry[1] for entry in drawn if entry[0] == "operator"}
    for start in (bpy.ops.thin_shell.realtime, bpy.ops.thin_shell.mode_preview):
        assert start() == {"FINISHED"}
        draw_all(sheet)
        assert start() == {"FINISHED"}
    for listing in (panels.THIN_SHELL_UL_handles, panels.THIN_SHELL_UL_modes):
        name = "handles" if listing is panels.THIN_SHELL_UL_handles else "modes"
        item = getattr(settings, name)[0]
        listing.draw_item(None, bpy.context, Layout([]), settings, item, 0, settings, "")


def test_quick_shell_is_in_the_menus_of_both_modes(blend):
    """F3 finds what a menu of the mode offers."""
    for menu in ("VIEW3D_MT_edit_mesh_vertices", "VIEW3D_MT_object_quick_effects"):
        drawn = []
        for draw in getattr(bpy.types, menu)._dyn_ui_initialize():
            if "thin_shell" in draw.__module__:
                draw(SimpleNamespace(layout=Layout(drawn)), bpy.context)
        assert [entry[1] for entry in drawn if entry[0] == "operator"] == ["thin_shell.quick"], menu


class Greyed(Layout):
    """Also keeps whether what was drawn could be pressed."""

    def __init__(self, drawn, inside=None):
        self.__dict__.update(drawn=drawn, inside=inside, enabled=True)

    def __getattr__(self, name):
        if name in {"column", "row", "grid_flow", "box", "split"}:
            return lambda *a, **k: Greyed(self.drawn, self)
        return lambda *a, **k: self.drawn.append((name, a, self.pressable())) or SimpleNamespace()

    def pressable(self):
        return self.enabled and (self.inside is None or self.inside.pressable())


def test_a_locked_bake_greys_the_preset_menu_and_every_header(sheet):
    sheet.thin_shell.frame_end = 2
    assert bpy.ops.thin_shell.bake() == {"FINISHED"}
    context = SimpleNamespace(object=sheet, scene=bpy.context.scene)
    for unlocked in (False, True):
        sheet.thin_shell.unlocked = unlocked
        drawn = []
        for panel in all_panels():
            for part in ("draw_header", "draw_header_preset"):
                if part in panel.__dict__:
                    panel.__dict__[part](SimpleNamespace(layout=Greyed(drawn)), context)
        presets = bpy.types.PHYSICS_PT_thin_shell_presets
        presets.draw(SimpleNamespace(layout=Greyed(drawn)), context)
        pressed = [(name, words) for name, words, pressable in drawn if pressable and name != "label"]
        assert len(drawn) > 15 and (len(pressed) > 15) == unlocked and (unlocked or pressed == []), pressed
