"""Update Settings: shells of older files get today's defaults where nobody has set anything else."""

from types import SimpleNamespace

import bpy
import pytest
from blender_scenes import failure, make_mesh
from thin_shell.addon.bake import frames
from thin_shell.addon.bake.status import status
from versioned import KEPT, by_button, chosen, is_first, is_new, reopened, update_lines, version_of

pytestmark = pytest.mark.usefixtures("second_version")


def test_it_gives_the_settings_of_this_version_and_undoes(unbaked):
    bpy.ops.ed.undo_push(message="before")
    # As a press does: a script's call leaves no step to go back to.
    assert bpy.ops.thin_shell.update_settings("EXEC_DEFAULT", True) == {"FINISHED"}
    assert is_new(unbaked)
    bpy.ops.ed.undo()
    assert is_first(bpy.data.objects["Plain"])


def test_it_is_offered_to_older_shells_alone(unbaked):
    assert len(update_lines(unbaked)) == 2
    bpy.ops.thin_shell.update_settings()
    assert update_lines(unbaked) == []
    assert not bpy.ops.thin_shell.update_settings.poll()
    new = make_mesh("New")
    assert not bpy.ops.thin_shell.update_settings.poll()
    by_button(new)
    assert update_lines(new) == [] and not bpy.ops.thin_shell.update_settings.poll()


def test_it_is_told_before(unbaked):
    from thin_shell.addon.operators.setup import THIN_SHELL_OT_update_settings as Update

    told = Update.description(SimpleNamespace(object=unbaked), None)
    assert "Integrator SDIRK2 instead of Implicit Euler, Strain Limit 0 instead of 0.1" in told
    unbaked.thin_shell.strain_limit = 0.2
    told = Update.description(SimpleNamespace(object=unbaked), None)
    assert "Integrator SDIRK2 instead of Implicit Euler" in told and "Strain" not in told


def test_it_leaves_what_somebody_set(unbaked):
    settings = unbaked.thin_shell
    settings.strain_limit, settings.substeps, settings.bend_warp = 0.1, 4, 0.7
    assert bpy.ops.thin_shell.update_settings() == {"FINISHED"}
    assert (settings.integrator, settings.substeps, version_of(unbaked)) == ("sdirk2", 4, 2)
    assert (settings.strain_limit, settings.bend_warp) == pytest.approx((0.1, 0.7))


@pytest.mark.parametrize(
    "made", [{"integrator": "implicit_euler"}, {"integrator": "newmark"}, {"solver": "quasi_newton"}]
)
def test_it_is_not_offered_where_all_was_chosen(unbaked, made):
    for name, value in made.items():
        setattr(unbaked.thin_shell, name, value)
    before = frames.solver_options(unbaked)
    assert update_lines(unbaked) == [] and not bpy.ops.thin_shell.update_settings.poll()
    assert frames.solver_options(unbaked) == before


def test_it_takes_the_cap_from_a_shell_whose_artist_chose_sdirk2(unbaked):
    unbaked.thin_shell.integrator = "sdirk2"
    assert bpy.ops.thin_shell.update_settings() == {"FINISHED"}
    assert is_new(unbaked)


def test_it_leaves_baked_shells_until_they_are_unlocked(first):
    obj = chosen(first("Plain"))
    assert len(update_lines(obj)) == 2
    assert "poll" in failure(bpy.ops.thin_shell.update_settings)
    assert is_first(obj)
    obj.thin_shell.unlocked = True
    assert bpy.ops.thin_shell.update_settings() == {"FINISHED"}
    assert is_new(obj) and status(obj, bpy.context.scene, fresh=True).kind == "OUTDATED"


def test_it_is_for_all_that_are_selected(first):
    for name in ("Plain", "Fields"):
        first(name).thin_shell.unlocked = True
    new = make_mesh("New")
    by_button(new)
    chosen(*(first(name) for name in ("Plain", "Fields", "Torn")), new)
    assert bpy.ops.thin_shell.update_settings() == {"FINISHED"}
    assert is_new(first("Plain")) and is_new(first("Fields")) and is_new(new)
    # Locked, and not selected.
    assert is_first(first("Torn")) and is_first(first("Stopped"))


def test_it_is_not_for_linked_shells_but_for_their_overrides(blend, tmp_path):
    with bpy.data.libraries.load(str(KEPT / "before.blend"), link=True) as (_, wanted):
        wanted.objects = ["Plain"]
    linked = wanted.objects[0]
    bpy.context.collection.objects.link(linked)
    chosen(linked)
    assert is_first(linked) and len(update_lines(linked)) == 2
    assert not bpy.ops.thin_shell.update_settings.poll()
    made = linked.override_create(remap_local_usages=True)
    chosen(made)
    assert is_first(made) and bpy.ops.thin_shell.update_settings() == {"FINISHED"}
    assert is_new(made) and is_first(linked)
    reopened()
    assert is_new(bpy.data.objects["Plain", None])
