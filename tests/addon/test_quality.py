"""Quality: how near to nature motion is, for the scheme that takes as many steps as that asks for."""

import bpy
import numpy as np
import pytest
from blender_scenes import bake, evaluated, failure
from thin_shell.addon.bake import frames
from thin_shell.addon.bake.fingerprint import of_settings


@pytest.mark.parametrize("quality, given", [("DRAFT", "draft"), ("DEFAULT", "default"), ("FINAL", "final")])
def test_quality_is_handed_on(sheet, quality, given):
    sheet.thin_shell.integrator, sheet.thin_shell.quality, sheet.thin_shell.substeps = "sdirk2", quality, 7
    options = frames.solver_options(sheet)
    assert (options["accuracy"], options["substeps"], options["integrator"]) == (given, None, "sdirk2")
    sheet.thin_shell.quality, sheet.thin_shell.accuracy = "CUSTOM", 2.5
    assert frames.solver_options(sheet)["accuracy"] == pytest.approx(0.025)
    sheet.thin_shell.integrator = "implicit_euler"
    assert frames.solver_options(sheet)["substeps"] == 7


def test_a_better_one_is_nearer_to_a_best_one(sheet):
    """A sheet of a metre that falls into its pins, beside final quality: half a second, before its folds run apart."""
    for vertex in sheet.data.vertices:
        vertex.co *= 0.5
    found = {}
    sheet.thin_shell.integrator, sheet.thin_shell.frame_end = "sdirk2", 15
    for quality in ("DRAFT", "DEFAULT", "FINAL"):
        sheet.thin_shell.quality = quality
        bake()
        found[quality] = evaluated(sheet, 15)
        sheet.thin_shell.unlocked = True
    off = {name: float(np.abs(found[name] - found["FINAL"]).mean()) for name in ("DRAFT", "DEFAULT")}
    assert 0.0 < off["DEFAULT"] < 0.6 * off["DRAFT"]


def test_another_quality_is_another_bake(sheet):
    sheet.thin_shell.integrator = "sdirk2"
    before = of_settings(sheet, bpy.context.scene)
    sheet.thin_shell.quality = "FINAL"
    assert of_settings(sheet, bpy.context.scene) != before
    # Bakes of before there was any know nothing of it.
    sheet.thin_shell.integrator = "implicit_euler"
    plain = of_settings(sheet, bpy.context.scene)
    sheet.thin_shell.quality = "DRAFT"
    assert of_settings(sheet, bpy.context.scene) == plain


def test_other_solvers_are_refused_by_name(sheet):
    sheet.thin_shell.integrator, sheet.thin_shell.solver = "sdirk2", "quasi_newton"
    assert "solver" in failure(bpy.ops.thin_shell.bake)
