"""Shells of a version of the settings: how they are made, and what tells them."""

from pathlib import Path

import bpy
import pytest
from drawn_panels import draw_all
from thin_shell.addon.bake import frames

KEPT = Path(__file__).parent / "addon" / "kept" / "v0_1_0"
WHOLE, STOPPED = ("Fields", "Keys", "Plain", "Torn"), ("Stopped", "TornStopped")

# What new shells have otherwise than those of 0.1.0 where `second_version` is asked for.
SECOND = {"integrator": "sdirk2", "strain_limit": 0.0}

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


def update_lines(obj):
    """What the panels show of Update Settings."""
    return [entry for entry in draw_all(obj) if "older version" in str(entry) or "update_settings" in str(entry)]


def chosen(*objects):
    """Select these, the first active."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other in objects)
    bpy.context.view_layer.objects.active = objects[0]
    return objects[0]


def reopened():
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)


def by_button(obj):
    assert bpy.ops.thin_shell.toggle() == {"FINISHED"}


def by_quick_shell(obj):
    assert bpy.ops.thin_shell.quick(preset="paper") == {"FINISHED"}


def by_script(obj):
    obj.thin_shell.enabled = True
