"""The extension comes and goes without a trace; every property takes its values and says what it is."""

import re

import bpy
import pytest
from thin_shell import addon
from thin_shell.addon.properties import TABLES, physics_names


def test_twice(registered):
    registered.unregister()
    assert not hasattr(bpy.types.Object, "thin_shell")
    assert not hasattr(bpy.types, "THIN_SHELL_OT_bake")
    registered.register()
    registered.unregister()
    registered.register()
    assert hasattr(bpy.types.Object, "thin_shell")


# Whose caches are is decided where files are opened and saved, and undone.
ALWAYS = {
    "load_post": {"on_load"},
    "save_pre": {"before_save"},
    "save_post": {"after_save"},
    "undo_post": {"on_undo"},
    "redo_post": {"on_undo"},
}


def test_no_handlers_of_ours_when_idle():
    for name in dir(bpy.app.handlers):
        handlers = getattr(bpy.app.handlers, name)
        if isinstance(handlers, list):
            ours = {h.__name__ for h in handlers if "thin_shell" in getattr(h, "__module__", "")}
            # From 5.0 on overrides lose settings that nobody asked their library for.
            kept = bpy.app.version >= (5, 0, 0) and name in ("load_post", "save_pre")
            assert ours == ALWAYS.get(name, set()) | ({"keep_all"} if kept else set()), name


NAMES = [name for table in TABLES for name in table]


@pytest.mark.parametrize("name", NAMES)
def test_every_property(blend, name):
    obj = bpy.data.objects.new("o", bpy.data.meshes.new("m"))
    settings = obj.thin_shell
    rna = settings.bl_rna.properties[name]
    if not rna.is_hidden:
        assert rna.name and rna.description and not rna.description.endswith(".")
    before = getattr(settings, name)
    if rna.type == "ENUM":
        for item in rna.enum_items:
            assert item.description
            setattr(settings, name, item.identifier)
            assert getattr(settings, name) == item.identifier
    elif rna.type == "BOOLEAN":
        setattr(settings, name, not before)
        assert getattr(settings, name) is not before
    elif rna.type == "STRING":
        setattr(settings, name, "Ünïcode name")
        assert getattr(settings, name) == "Ünïcode name"
    elif rna.type == "POINTER":
        assert before is None
    elif rna.is_array:
        setattr(settings, name, (0.5, 0.25, 0.125))
        assert tuple(getattr(settings, name)) == (0.5, 0.25, 0.125)
    else:
        value = (rna.hard_min + rna.hard_max) / 2 if rna.type == "FLOAT" else min(rna.hard_max, rna.default + 1)
        setattr(settings, name, value)
        assert getattr(settings, name) == pytest.approx(value)
        setattr(settings, name, rna.hard_min)
        assert getattr(settings, name) == pytest.approx(rna.hard_min)
    bpy.data.objects.remove(obj)


def test_every_setting_is_in_a_panel():
    from pathlib import Path

    drawn = "".join(path.read_text() for path in (Path(addon.__file__).parent / "panels").glob("*.py"))
    hidden = {"enabled", "cache_name", "shell_id", "preset_name", "whole_mesh", "split_mesh", "settings_version"} | {
        name for name in NAMES if name.startswith("baked")
    }
    prefixes = ("keep_", "weight_", "field_")
    missing = [n for n in NAMES if n not in hidden and not n.startswith(prefixes) and f'"{n}"' not in drawn]
    assert missing == []


def test_fingerprint_covers_physics_only():
    names = physics_names()
    assert "bend_warp" in names and "pin_group" in names
    assert not {"cache_folder", "baked", "show_axes", "enabled"} & set(names)


def test_labels_and_tooltips_speak_of_sheets(registered):
    """Words of solvers are for the code."""
    foreign = re.compile(r"Hessian|Jacobian|matri|Rayleigh|Kelvin|θ|factored|constant-strain", re.IGNORECASE)
    names = [name for name in dir(bpy.ops.thin_shell) if not name.startswith("_")]
    shown = [getattr(bpy.ops.thin_shell, name).get_rna_type() for name in names]
    groups = [bpy.types.Object.bl_rna.properties[name].fixed_type for name in ("thin_shell", "thin_shell_realtime")]
    for prop in (p for group in (*groups, *shown) for p in group.properties):
        shown += [prop, *(prop.enum_items if prop.type == "ENUM" else ())]
    texts = [text for each in shown for text in (each.name, each.description)]
    assert len(texts) > 200 and [text for text in texts if foreign.search(text)] == []
