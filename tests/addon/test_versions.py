"""Versions of the settings: new shells have today's defaults, those of older files what they were made with."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, evaluated, failure, make_grid, make_mesh, pin
from characters import new_shot, overridden
from drawn_panels import draw_all
from thin_shell.addon import cli, info
from thin_shell.addon.bake import frames, groups
from thin_shell.addon.bake.status import status
from thin_shell.addon.cache import sidecar
from thin_shell.addon.properties import versions

KEPT = Path(__file__).parent / "kept" / "v0_1_0"
WHOLE, STOPPED = ("Fields", "Keys", "Plain", "Torn"), ("Stopped", "TornStopped")

# What 0.1.0 handed to the core for a shell of which nobody touched how it moves.
FIRST_OPTIONS = {
    "substeps": 1, "accuracy": "default", "integrator": "implicit_euler", "beta": 0.25, "gamma": 0.5,
    "jacobian": "constant", "solver": "auto", "iterations": None, "strain_limit": pytest.approx(1e-3),
    "tolerance": None,
}  # fmt: skip


def version_of(obj):
    return obj.thin_shell.settings_version


def is_new(obj):
    settings = obj.thin_shell
    options = frames.solver_options(obj)
    handed = (options["integrator"], options["accuracy"], options["substeps"], options["strain_limit"])
    return (version_of(obj), settings.quality, *handed) == (2, "DEFAULT", "sdirk2", "default", None, 0.0)


def is_first(obj):
    return version_of(obj) == 0 and frames.solver_options(obj) == FIRST_OPTIONS


def chosen(*objects):
    """Select these, the first active."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other in objects)
    bpy.context.view_layer.objects.active = objects[0]
    return objects[0]


def reopened():
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)


@pytest.fixture
def first(registered, tmp_path):
    """The kept file of 0.1.0, open beside its caches: gives its objects."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    shutil.copytree(KEPT / "thin_shell_cache", tmp_path / "thin_shell_cache")
    shutil.copy(KEPT / "scene.blend", tmp_path / "scene.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    return lambda name: bpy.data.objects[name]


@pytest.fixture
def unbaked(first):
    """A shell of that file without its bake, active."""
    obj = chosen(first("Plain"))
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    return obj


def by_button(obj):
    assert bpy.ops.thin_shell.toggle() == {"FINISHED"}


def by_quick_shell(obj):
    assert bpy.ops.thin_shell.quick(preset="paper") == {"FINISHED"}


def by_script(obj):
    obj.thin_shell.enabled = True


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


def lines(obj):
    return [entry for entry in draw_all(obj) if "older version" in str(entry) or "update_settings" in str(entry)]


class TestUpdateSettings:
    def test_gives_the_settings_of_this_version_and_undoes(self, unbaked):
        bpy.ops.ed.undo_push(message="before")
        # As a press does: a script's call leaves no step to go back to.
        assert bpy.ops.thin_shell.update_settings("EXEC_DEFAULT", True) == {"FINISHED"}
        assert is_new(unbaked)
        bpy.ops.ed.undo()
        assert is_first(bpy.data.objects["Plain"])

    def test_is_offered_to_older_shells_alone(self, unbaked):
        assert len(lines(unbaked)) == 2
        bpy.ops.thin_shell.update_settings()
        assert lines(unbaked) == []
        assert not bpy.ops.thin_shell.update_settings.poll()
        new = make_mesh("New")
        assert not bpy.ops.thin_shell.update_settings.poll()
        by_button(new)
        assert lines(new) == [] and not bpy.ops.thin_shell.update_settings.poll()

    def test_is_told_before(self, unbaked):
        from thin_shell.addon.operators.setup import THIN_SHELL_OT_update_settings as Update

        told = Update.description(SimpleNamespace(object=unbaked), None)
        assert "Integrator SDIRK2 instead of Implicit Euler, Strain Limit 0 instead of 0.1" in told
        unbaked.thin_shell.strain_limit = 0.2
        told = Update.description(SimpleNamespace(object=unbaked), None)
        assert "Integrator SDIRK2 instead of Implicit Euler" in told and "Strain" not in told

    def test_leaves_what_somebody_set(self, unbaked):
        settings = unbaked.thin_shell
        settings.strain_limit, settings.substeps, settings.bend_warp = 0.1, 4, 0.7
        assert bpy.ops.thin_shell.update_settings() == {"FINISHED"}
        assert (settings.integrator, settings.substeps, version_of(unbaked)) == ("sdirk2", 4, 2)
        assert (settings.strain_limit, settings.bend_warp) == pytest.approx((0.1, 0.7))

    @pytest.mark.parametrize(
        "made", [{"integrator": "implicit_euler"}, {"integrator": "newmark"}, {"solver": "quasi_newton"}]
    )
    def test_is_not_offered_where_all_was_chosen(self, unbaked, made):
        for name, value in made.items():
            setattr(unbaked.thin_shell, name, value)
        before = frames.solver_options(unbaked)
        assert lines(unbaked) == [] and not bpy.ops.thin_shell.update_settings.poll()
        assert frames.solver_options(unbaked) == before

    def test_takes_the_cap_from_a_shell_whose_artist_chose_sdirk2(self, unbaked):
        unbaked.thin_shell.integrator = "sdirk2"
        assert bpy.ops.thin_shell.update_settings() == {"FINISHED"}
        assert is_new(unbaked)

    def test_leaves_baked_shells_until_they_are_unlocked(self, first):
        obj = chosen(first("Plain"))
        assert len(lines(obj)) == 2
        assert "poll" in failure(bpy.ops.thin_shell.update_settings)
        assert is_first(obj)
        obj.thin_shell.unlocked = True
        assert bpy.ops.thin_shell.update_settings() == {"FINISHED"}
        assert is_new(obj) and status(obj, bpy.context.scene, fresh=True).kind == "OUTDATED"

    def test_is_for_all_that_are_selected(self, first):
        for name in ("Plain", "Fields"):
            first(name).thin_shell.unlocked = True
        new = make_mesh("New")
        by_button(new)
        chosen(*(first(name) for name in ("Plain", "Fields", "Torn")), new)
        assert bpy.ops.thin_shell.update_settings() == {"FINISHED"}
        assert is_new(first("Plain")) and is_new(first("Fields")) and is_new(new)
        # Locked, and not selected.
        assert is_first(first("Torn")) and is_first(first("Stopped"))

    def test_is_not_for_linked_shells_but_for_their_overrides(self, blend, tmp_path):
        with bpy.data.libraries.load(str(KEPT / "before.blend"), link=True) as (_, wanted):
            wanted.objects = ["Plain"]
        linked = wanted.objects[0]
        bpy.context.collection.objects.link(linked)
        chosen(linked)
        assert is_first(linked) and len(lines(linked)) == 2
        assert not bpy.ops.thin_shell.update_settings.poll()
        made = linked.override_create(remap_local_usages=True)
        chosen(made)
        assert is_first(made) and bpy.ops.thin_shell.update_settings() == {"FINISHED"}
        assert is_new(made) and is_first(linked)
        reopened()
        assert is_new(bpy.data.objects["Plain", None])


def test_an_override_of_a_new_shell_is_new_in_its_shot(tmp_path):
    from characters import save_character

    save_character(tmp_path / "library.blend")
    garment = bpy.data.objects["Garment"]
    garment.thin_shell.integrator, garment.thin_shell.strain_limit = "sdirk2", 0.0
    bpy.ops.wm.save_mainfile()
    garment = new_shot(tmp_path / "shot.blend", tmp_path / "library.blend", 0.0)
    assert is_new(garment) and lines(garment) == []


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


def test_the_panel_shows_what_applies(blend):
    def shown(obj):
        names = [entry[1] for entry in draw_all(obj) if entry[0] == "prop"]
        model = names[names.index("quality" if "quality" in names else "bending") :]
        return model[0], {"quality", "substeps", "live_iterations"} & set(names)

    obj = make_mesh()
    by_button(obj)
    assert shown(obj) == ("quality", {"quality"})
    assert shown(make_grid("Other")) == ("bending", {"substeps", "live_iterations"})
    assert "SDIRK2 solves by" not in str(draw_all(obj))
    obj.thin_shell.solver = "quasi_newton"
    assert "SDIRK2 solves by" in str(draw_all(obj))


@pytest.mark.parametrize(
    ("made", "accuracy"),
    [
        ({"quality": "DRAFT"}, 0.02), ({"quality": "FINAL"}, 0.02), ({}, 0.02),
        ({"quality": "CUSTOM", "accuracy": 0.1}, 0.02), ({"quality": "CUSTOM", "accuracy": 8.0}, 0.08),
    ],
)  # fmt: skip
def test_live_is_a_draft_of_new_shells(blend, made, accuracy):
    obj = make_mesh()
    by_button(obj)
    for name, value in made.items():
        setattr(obj.thin_shell, name, value)
    options = frames.live_options(obj)
    assert options["accuracy"] == pytest.approx(accuracy)
    assert (options["integrator"], options["substeps"], options["iterations"]) == ("sdirk2", None, None)
    # Stiff sheets are softened for it, a bake's are not.
    assert options["strain_limit"] == pytest.approx(1e-3) and frames.solver_options(obj)["strain_limit"] == 0.0
    obj.thin_shell.strain_limit = 0.5
    assert frames.live_options(obj)["strain_limit"] == pytest.approx(5e-3)


def test_live_limits_the_iterations_of_other_schemes(sheet):
    sheet.thin_shell.live_iterations = 7
    assert frames.live_options(sheet) == {**frames.solver_options(sheet), "iterations": 7}


def test_live_plays_a_new_shell(blend):
    obj = make_mesh(cells=4)
    by_button(obj)
    pin(obj, [0, 4])
    scene = bpy.context.scene
    scene.frame_set(1)
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    for frame in range(2, 7):
        scene.frame_set(frame)
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    assert obj.thin_shell.baked_samples == 6 and np.abs(evaluated(obj, 6)[:, 2] - 1).max() > 0.05


def test_bug_reports_say_how_a_shell_steps(blend):
    by_button(make_mesh())
    assert "sdirk2, quality default, strain limit 0%" in info.system_info()
    make_grid("Other")
    assert "implicit_euler, 1 steps a frame, strain limit 0.1%" in info.system_info()
    assert versions.CURRENT == 2 and "settings of version 2" in info.system_info()
