"""Check is believed: a bake refuses its errors, and it looks where viewport and render differ."""

from types import SimpleNamespace

import bpy
import pytest
from blender_scenes import bake, failure, make_grid
from thin_shell.addon import cli
from thin_shell.addon.operators import check
from thin_shell.addon.panels.cache import draw_bake
from thin_shell.addon.preflight import results


def above(obj, kind, **values):
    """A modifier above Thin Shell."""
    made = obj.modifiers.new(kind.title(), kind)
    obj.modifiers.move(obj.modifiers.find(made.name), 0)
    for name, value in values.items():
        setattr(made, name, value)
    return made


def multires(obj, levels, rendered):
    made = above(obj, "MULTIRES")
    bpy.context.view_layer.objects.active = obj
    for _ in range(2):
        bpy.ops.object.multires_subdivide(modifier=made.name, mode="SIMPLE")
    made.levels, made.render_levels = levels, rendered
    return made


def simplify(viewport, final):
    render = bpy.context.scene.render
    render.use_simplify, render.simplify_subdivision, render.simplify_subdivision_render = True, viewport, final


FAULTS = {
    "levels": lambda obj: above(obj, "SUBSURF", levels=1, render_levels=2),
    "multires": lambda obj: multires(obj, 1, 2),
    "simplify": lambda obj: (above(obj, "SUBSURF", levels=2, render_levels=2), simplify(1, 2)),
    "simplified multires": lambda obj: (multires(obj, 2, 2), simplify(0, 1)),
    "viewport only": lambda obj: above(obj, "SUBSURF", levels=1, render_levels=1, show_render=False),
    "render only": lambda obj: above(obj, "MIRROR", show_viewport=False),
    "pin group": lambda obj: setattr(obj.thin_shell, "pin_group", "gone"),
}
WORDS = {
    "levels": "make them equal", "multires": "make them equal", "simplify": "turn Simplify off",
    "simplified multires": "turn Simplify off", "viewport only": "off in the render", "render only": "on in the render",
    "pin group": "there is no vertex group 'gone'",
}  # fmt: skip
FINE = {
    "levels": lambda obj: above(obj, "SUBSURF", levels=1, render_levels=1),
    "hidden": lambda obj: above(obj, "SUBSURF", levels=1, render_levels=2, show_viewport=False, show_render=False),
    "simplify": lambda obj: (above(obj, "SUBSURF", levels=2, render_levels=2), simplify(1, 1)),
    "simplified away": lambda obj: (above(obj, "SUBSURF", levels=1, render_levels=2), simplify(1, 1)),
    "generous": lambda obj: (above(obj, "SUBSURF", levels=1, render_levels=1), simplify(3, 6)),
    "multires": lambda obj: multires(obj, 1, 1),
    "below": lambda obj: setattr(obj.modifiers.new("Below", "SUBSURF"), "render_levels", 2),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bake_refuses_what_check_calls_an_error(sheet, capfd, fault):
    FAULTS[fault](sheet)
    bpy.context.view_layer.objects.active = sheet
    assert WORDS[fault] in failure(bpy.ops.thin_shell.check)
    assert results.found()[0].level == "ERROR"
    for way in ({}, {"everything": True}):
        assert WORDS[fault] in failure(bpy.ops.thin_shell.bake, **way)
    assert not sheet.thin_shell.baked
    bpy.ops.wm.save_mainfile()
    assert cli.command(["bake"]) == 1
    assert WORDS[fault] in capfd.readouterr().err
    assert not sheet.thin_shell.baked


@pytest.mark.parametrize("case", FINE)
def test_what_is_the_same_in_both_is_fine(sheet, case):
    FINE[case](sheet)
    bpy.context.view_layer.objects.active = sheet
    sheet.thin_shell.frame_end = 2
    assert bpy.ops.thin_shell.check() == {"FINISHED"}
    assert results.found() == []
    bake()


@pytest.mark.parametrize("shown", [True, False])
def test_what_leaves_the_vertices_alone_is_a_warning(sheet, shown):
    above(sheet, "SMOOTH", show_viewport=shown, show_render=not shown)
    assert bpy.ops.thin_shell.check() == {"FINISHED"}
    (issue,) = results.found()
    assert issue.level == "WARNING" and "goes by the viewport" in issue.message
    bake()


def test_the_first_of_several_errors_says_that_there_are_more(sheet):
    FAULTS["levels"](sheet)
    FAULTS["pin group"](sheet)
    assert "and 1 more: press Check" in failure(bpy.ops.thin_shell.bake)
    assert len(results.about(sheet)) == 2


class Labels:
    """A layout that keeps the words of its labels."""

    def __init__(self):
        self.words = []

    def __getattr__(self, _name):
        return lambda *_, **__: self

    def __setattr__(self, name, value):
        if name == "words":
            object.__setattr__(self, name, value)

    def label(self, text="", **_):
        self.words.append(text)


def said(obj, words):
    """Whether the main panel of an object says something."""
    layout = Labels()
    draw_bake(layout, SimpleNamespace(object=obj, scene=bpy.context.scene))
    return words in " ".join(layout.words)


def test_results_show_on_their_object_only(sheet):
    other = make_grid("Other", location=(5, 0, 1))
    sheet.thin_shell.pin_group = "gone"
    failure(bpy.ops.thin_shell.check)
    assert said(sheet, "'gone'") and not said(other, "'gone'")
    other.name, sheet.name = "Third", "Other"
    assert said(sheet, "'gone'") and not said(other, "'gone'")


def test_what_concerns_all_shows_on_all(sheet):
    other = make_grid("Other", location=(5, 0, 1))
    sheet.thin_shell.pin_group = ""
    bpy.ops.object.effector_add(type="BOID")
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.thin_shell.check()
    assert said(sheet, "has no effect on") and said(other, "has no effect on")


def test_a_bake_forgets_what_was_mended(sheet):
    sheet.thin_shell.pin_group = "gone"
    failure(bpy.ops.thin_shell.check)
    sheet.thin_shell.pin_group = "Pin"
    bake()
    assert not said(sheet, "'gone'") and results.found() == []


def test_results_do_not_outlive_their_file(sheet, blend):
    sheet.thin_shell.pin_group = "gone"
    bpy.ops.wm.save_mainfile()
    failure(bpy.ops.thin_shell.check)
    assert check.last != []
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert check.last == [] and not said(bpy.data.objects["Sheet"], "'gone'")
    failure(bpy.ops.thin_shell.check)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    make_grid()
    assert check.last == [] and not said(bpy.data.objects["Sheet"], "'gone'")


def curve(block, path, index=-1):
    """Keyframes at a path as a file of before may have them, where they could still be set."""
    if block.animation_data is None:
        block.animation_data_create()
    data = block.animation_data
    if data.action is None:
        data.action = bpy.data.actions.new(f"{block.name} Action")
    action = data.action
    if bpy.app.version < (4, 4, 0):
        made = action.fcurves.new(path, index=max(index, 0))
    else:
        slot = data.action_slot or action.slots.new(id_type=block.id_type, name=block.name)
        data.action_slot = slot
        layer = action.layers[0] if len(action.layers) else action.layers.new("Layer")
        strip = layer.strips[0] if len(layer.strips) else layer.strips.new(type="KEYFRAME")
        made = strip.channelbag(slot, ensure=True).fcurves.new(path, index=max(index, 0))
    made.keyframe_points.insert(1, 0.1)
    made.keyframe_points.insert(6, 0.9)


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("thin_shell.air_drag", "Drag"),
        ("thin_shell.contact_distance", "Gap"),
        ("thin_shell.bend_warp", "Bend Warp"),
        ("thin_shell_realtime.mode_count", "Modes"),
    ],
)
def test_keyframes_in_vain_are_told(sheet, path, label):
    before = (sheet.thin_shell.air_drag, sheet.thin_shell.bend_warp)
    curve(sheet, path)
    bpy.context.scene.frame_set(4)
    assert (sheet.thin_shell.air_drag, sheet.thin_shell.bend_warp) == before
    assert bpy.ops.thin_shell.check() == {"FINISHED"}
    (issue,) = results.found()
    assert f"Sheet: {label} has keyframes" in issue.message and path in issue.message
    assert issue.level == "WARNING" and said(sheet, "has keyframes")


def test_keyframes_that_count_are_not(sheet):
    for name in (
        "pressure", "wind_velocity", "field_all", "field_gravity", "friction", "pin_stiffness", "sewing_stiffness",
    ):  # fmt: skip
        sheet.thin_shell.keyframe_insert(name)
    sheet.keyframe_insert("location")
    assert bpy.ops.thin_shell.check() == {"FINISHED"}
    assert results.found() == []


def test_what_of_colliders_and_fields_is_animated_in_vain_is_told(sheet):
    scene = bpy.context.scene
    scene.keyframe_insert("gravity")
    bpy.ops.mesh.primitive_plane_add(size=10, location=(0, 0, -3))
    floor = bpy.context.object
    collision = floor.modifiers.new("Collision", "COLLISION")
    for name in ("cloth_friction", "use"):
        collision.settings.keyframe_insert(name)
    bpy.ops.object.effector_add(type="FORCE")
    field = bpy.context.object
    field.field.keyframe_insert("strength")
    bpy.context.view_layer.objects.active = sheet
    assert bpy.ops.thin_shell.check() == {"FINISHED"}
    told = " ".join(issue.message for issue in results.found())
    assert "Collision of the collider 'Plane' is animated" in told
    assert "gravity" not in told and "Friction" not in told
    assert "force field" not in told
    field.field.keyframe_insert("seed")
    bpy.ops.thin_shell.check()
    assert any("Seed of the force field 'Field' is animated" in i.message.replace("Force", "Field") for i in check.last)
