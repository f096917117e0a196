"""Versions of the settings: new shells have today's defaults, those of older files what they were made with."""

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, evaluated, make_mesh, pin
from characters import new_shot, overridden, save_character
from thin_shell.addon import cli
from thin_shell.addon.bake import frames, groups
from thin_shell.addon.bake.status import status
from thin_shell.addon.cache import sidecar
from versioned import (
    KEPT,
    STOPPED,
    WHOLE,
    by_button,
    by_quick_shell,
    by_script,
    chosen,
    is_first,
    is_new,
    reopened,
    version_of,
)

pytestmark = pytest.mark.usefixtures("second_version")


class TestNewShells:
    @pytest.mark.parametrize("way", [by_button, by_quick_shell, by_script])
    def test_have_the_settings_of_this_version(self, blend, way):
        obj = make_mesh()
        way(obj)
        assert is_new(obj)
        reopened()
        assert is_new(bpy.data.objects["Sheet"])

    def test_bake_by_them_and_go_on_swinging(self, blend):
        """A sheet that hangs by one side from level swings through and up again, where Implicit Euler hangs it up."""
        back = {}
        for scheme in ("sdirk2", "implicit_euler"):
            obj = make_mesh(scheme, cells=3, size=1.0)
            by_button(obj)
            pin(obj, [0, 1, 2, 3])
            obj.thin_shell.air_density, obj.thin_shell.frame_end = 0.0, 34
            if scheme != obj.thin_shell.integrator:
                obj.thin_shell.integrator, obj.thin_shell.strain_limit = scheme, 0.1
            bake()
            y = [evaluated(obj, frame)[-4:, 1].mean() for frame in range(1, 35)]
            back[scheme] = (y[0] - min(y)) / 2.0
        assert back["sdirk2"] > 0.9 and back["sdirk2"] > back["implicit_euler"] + 0.05, back

    def test_keep_what_a_script_chose_before(self, blend):
        obj = make_mesh()
        obj.thin_shell.integrator = "newmark"
        by_script(obj)
        # The cap belongs to the other schemes.
        assert (obj.thin_shell.integrator, version_of(obj)) == ("newmark", 2)
        assert frames.solver_options(obj)["strain_limit"] == pytest.approx(1e-3)
        other = make_mesh("Other")
        other.thin_shell.strain_limit, other.thin_shell.frame_start, other.thin_shell.frame_end = 0.5, 1, 3
        by_script(other)
        assert (other.thin_shell.integrator, version_of(other)) == ("sdirk2", 2)
        assert other.thin_shell.strain_limit == pytest.approx(0.5)

    def test_bake_with_a_solver_that_a_script_chose_before(self, blend):
        obj = make_mesh(cells=3)
        obj.thin_shell.solver, obj.thin_shell.frame_end = "quasi_newton", 3
        by_script(obj)
        assert obj.thin_shell.integrator == "implicit_euler" and obj.thin_shell.solver == "quasi_newton"
        bake()

    @pytest.mark.parametrize("way", ["button", "script"])
    def test_stay_as_the_artist_has_them_when_turned_off_and_on(self, blend, way):
        obj = make_mesh()
        by_button(obj)
        obj.thin_shell.integrator = "newmark"
        for _ in range(2):
            if way == "button":
                by_button(obj)
            else:
                obj.thin_shell.enabled = not obj.thin_shell.enabled
        settings = obj.thin_shell
        assert (settings.enabled, settings.integrator, settings.strain_limit) == (True, "newmark", 0.0)

    def test_a_script_that_turns_off_what_was_none_leaves_no_mark(self, blend):
        obj = make_mesh()
        obj.thin_shell.enabled = False
        reopened()
        obj = chosen(bpy.data.objects["Sheet"])
        by_script(obj)
        assert is_new(obj)

    def test_keep_their_version_where_they_are_taken(self, blend, tmp_path):
        by_button(make_mesh())
        bpy.ops.object.duplicate()
        assert is_new(bpy.context.object) and bpy.context.object.name == "Sheet.001"
        bpy.ops.wm.save_mainfile()
        bpy.ops.wm.read_factory_settings(use_empty=True)
        with bpy.data.libraries.load(str(blend)) as (_, wanted):
            wanted.objects = ["Sheet"]
        assert is_new(bpy.data.objects["Sheet"])

    def test_of_a_library_that_knows_none_are_new_and_stay_so(self, tmp_path):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        hero = bpy.data.collections.new("Hero")
        bpy.context.scene.collection.children.link(hero)
        for obj in (make_mesh("Plain"), make_mesh("Rig")):
            bpy.context.collection.objects.unlink(obj)
            hero.objects.link(obj)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
        garment, _ = overridden(tmp_path / "library.blend")
        bpy.context.view_layer.objects.active = garment
        by_button(garment)
        for _ in range(2):
            assert is_new(bpy.data.objects["Plain", None])
            reopened()


class TestOlderFiles:
    def test_hand_the_core_what_they_did(self, first):
        for name in WHOLE + STOPPED:
            assert is_first(first(name)), name

    def test_their_bakes_stay_baked_until_somebody_touches_them(self, first):
        for _ in range(2):
            kinds = {name: status(first(name), bpy.context.scene, fresh=True).kind for name in WHOLE + STOPPED}
            assert kinds == dict.fromkeys(WHOLE, "BAKED") | dict.fromkeys(STOPPED, "PARTIAL")
            reopened()

    @pytest.mark.parametrize(
        ("name", "value"),
        [("bend_warp", 0.06), ("integrator", "newmark"), ("strain_limit", 0.0), ("use_outer_thickness", False)],
    )
    def test_what_is_touched_is_outdated(self, first, name, value):
        obj, before = first("Plain"), getattr(first("Plain").thin_shell, name)
        setattr(obj.thin_shell, name, value)
        assert status(obj, bpy.context.scene, fresh=True).kind == "OUTDATED"
        setattr(obj.thin_shell, name, before)
        assert status(obj, bpy.context.scene, fresh=True).kind == "BAKED"

    def test_so_are_another_mesh_and_another_scene(self, first):
        obj = first("Plain")
        bpy.context.scene.gravity = (0, 0, -1)
        assert status(obj, bpy.context.scene, fresh=True).kind == "OUTDATED"

    def test_bake_anew_to_the_same(self, unbaked):
        """Positions of 0.1.0, by the core of today, as near as its own tolerance."""
        bake()
        wanted = np.load(KEPT / "positions.npz")
        for frame in (2, 4, 6):
            assert np.abs(evaluated(unbaked, frame) - wanted[f"Plain_{frame}"]).max() < 2e-3

    @pytest.mark.parametrize("way", [by_button, by_script])
    def test_a_shell_that_is_turned_off_and_on_keeps_its_own(self, unbaked, way):
        if way is by_button:
            way(unbaked)
        else:
            unbaked.thin_shell.enabled = False
        assert not unbaked.thin_shell.enabled
        reopened()
        obj = chosen(bpy.data.objects["Plain"])
        way(obj)
        assert obj.thin_shell.enabled and is_first(obj)

    def test_one_that_was_saved_turned_off_keeps_its_own(self, unbaked):
        by_button(unbaked)
        # As 0.1.0 saves one that was never baked.
        for name in ("settings_version", "shell_id", "baked"):
            unbaked.thin_shell.property_unset(name)
        reopened()
        obj = chosen(bpy.data.objects["Plain"])
        by_button(obj)
        assert is_first(obj)

    def test_scripts_may_turn_on_what_is_on(self, first):
        for name in WHOLE + STOPPED:
            first(name).thin_shell.enabled = True
            assert is_first(first(name))

    def test_one_that_a_script_made_and_makes_again_keeps_its_own(self, unbaked):
        # As 0.1.0 saves one that was never baked, nor made by the button.
        for name in ("settings_version", "shell_id", "baked", "frame_start", "frame_end"):
            unbaked.thin_shell.property_unset(name)
        unbaked.modifiers.clear()
        reopened()
        obj = bpy.data.objects["Plain"]
        obj.thin_shell.property_unset("shell_id")
        by_script(obj)
        assert is_first(obj)

    @pytest.mark.parametrize("way", [by_button, by_script])
    def test_one_that_is_appended_keeps_its_own(self, blend, way):
        with bpy.data.libraries.load(str(KEPT / "before.blend")) as (_, wanted):
            wanted.objects = ["Plain"]
        obj = bpy.data.objects["Plain"]
        bpy.context.collection.objects.link(obj)
        chosen(obj)
        assert not obj.thin_shell.is_property_set("settings_version")
        if way is by_button:
            way(obj)
        way(obj)
        assert obj.thin_shell.enabled and is_first(obj)

    def test_a_new_shell_beside_them_is_new(self, first):
        obj = make_mesh("New")
        by_button(obj)
        assert is_new(obj) and is_first(first("Plain"))
        # They do not share a solve then.
        assert [obj] in groups.together(groups.shells(bpy.context.scene))

    def test_the_version_of_one_is_not_physics(self, first):
        obj = first("Plain")
        obj.thin_shell.settings_version = 2
        assert status(obj, bpy.context.scene, fresh=True).kind == "BAKED"


def test_an_override_of_a_new_shell_is_new_in_its_shot(tmp_path):
    save_character(tmp_path / "library.blend")
    garment = bpy.data.objects["Garment"]
    garment.thin_shell.integrator, garment.thin_shell.strain_limit = "sdirk2", 0.0
    bpy.ops.wm.save_mainfile()
    garment = new_shot(tmp_path / "shot.blend", tmp_path / "library.blend", 0.0)
    assert is_new(garment)


def test_the_command_line_sets_the_scheme_of_a_task(blend):
    obj = make_mesh(cells=3)
    by_button(obj)
    pin(obj, [0, 3])
    bpy.ops.wm.save_mainfile()
    for name in ("implicit_euler", "newmark"):
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        assert cli.command(["bake", "--set", f"Sheet:integrator={name}", "--variant", name, "--end", "4"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert cli.command(["bake", "--set", "quality=DRAFT", "--variant", "draft", "--end", "4"]) == 0
    made = {each: sidecar.read(cache_folder() / each / "Sheet.json") for each in ("newmark", "implicit_euler", "draft")}
    assert made["newmark"].settings["integrator"] == "newmark" and made["newmark"].complete
    # The property's own default is not told.
    assert "integrator" not in made["implicit_euler"].settings and made["implicit_euler"].complete
    assert (made["draft"].settings["integrator"], made["draft"].settings["quality"]) == ("sdirk2", "DRAFT")
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert is_new(bpy.data.objects["Sheet"])
    assert cli.command(["bake", "--set", "settings_version=0", "--variant", "none", "--end", "4"]) == 2
