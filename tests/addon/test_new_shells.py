"""What new shells show and play: the panel by Quality, Live as a draft, bug reports."""

import bpy
import numpy as np
import pytest
from blender_scenes import evaluated, make_grid, make_mesh, pin
from drawn_panels import draw_all
from thin_shell.addon import info
from thin_shell.addon.bake import frames
from thin_shell.addon.properties import versions
from versioned import by_button

pytestmark = pytest.mark.usefixtures("second_version")


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
    assert versions.current() == 2 and "settings of version 2" in info.system_info()
