"""Every panel draws in every state, on a stand-in for Blender's layout."""

from types import SimpleNamespace

import bpy
from blender_scenes import failure, make_grid
from thin_shell.addon import live
from thin_shell.addon.bake import session
from thin_shell.addon.operators import check
from thin_shell.addon.realtime import panels


class Layout:
    """Takes every call a panel makes, and checks that properties and operators exist."""

    def __init__(self, drawn):
        self.drawn = drawn

    def __getattr__(self, name):
        if name in {"column", "row", "grid_flow", "box", "split"}:
            return lambda *a, **k: Layout(self.drawn)
        if name == "prop":
            return self._prop
        if name in {"operator", "operator_menu_enum"}:
            return self._operator
        return lambda *a, **k: self.drawn.append((name, a, k))

    def _prop(self, data, name, **options):
        assert name in data.bl_rna.properties, name
        self.drawn.append(("prop", name, options))

    def _operator(self, name, *a, **k):
        module, _, function = name.partition(".")
        getattr(getattr(bpy.ops, module), function).get_rna_type()
        self.drawn.append(("operator", name, k))
        return SimpleNamespace()


def all_panels():
    return [c for c in bpy.types.Panel.__subclasses__() if c.__name__.startswith("PHYSICS_PT_thin_shell")]


def draw_all(obj):
    drawn = []
    context = SimpleNamespace(object=obj, scene=bpy.context.scene, collision=None)
    for panel in all_panels():
        fake = SimpleNamespace(layout=Layout(drawn))
        assert not hasattr(panel, "poll") or panel.poll(context) is not None
        panel.draw(fake, context)
        for extra in ("draw_header", "draw_header_preset"):
            if extra in panel.__dict__:
                panel.__dict__[extra](fake, context)
    return drawn


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
    drawn = draw_all(sheet)
    assert ("operator", "thin_shell.delete_bake") in [entry[:2] for entry in drawn]
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
