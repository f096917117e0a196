"""The defaults as they ship: new shells have those of 0.1.0, and there is nothing to update."""

import bpy
import pytest
from blender_scenes import make_mesh
from thin_shell.addon.bake.status import status
from thin_shell.addon.properties import versions
from versioned import (
    STOPPED,
    WHOLE,
    by_button,
    by_quick_shell,
    by_script,
    chosen,
    is_first,
    reopened,
    update_lines,
)

# What makes a shell, its scene's frames, the two switches that are off on new shells; what is computed counts as set.
OWN = {
    "rna_type", "enabled", "settings_version", "shell_id", "frame_start", "frame_end", "curl_length", "use_creases",
    "use_outer_thickness",
}  # fmt: skip


def test_versions_are_counted_by_the_table(monkeypatch):
    assert versions.CHANGES == {} and versions.current() == versions.FIRST == 0
    monkeypatch.setattr(versions, "CHANGES", {3: {"substeps": 2}, 1: {"substeps": 4}})
    assert versions.current() == 3


@pytest.mark.parametrize("way", [by_button, by_quick_shell, by_script])
def test_new_shells_have_the_defaults_of_the_properties(blend, way):
    way(make_mesh())
    for _ in range(2):
        obj = chosen(bpy.data.objects["Sheet"])
        settings = obj.thin_shell
        assert settings.enabled and settings.integrator == "implicit_euler" and is_first(obj)
        assert settings.is_property_set("settings_version")
        assert not settings.is_property_set("integrator") and not settings.is_property_set("strain_limit")
        if way is not by_quick_shell:
            # A preset and pins are what that is for.
            names = {
                prop.identifier for prop in settings.bl_rna.properties if settings.is_property_set(prop.identifier)
            }
            assert names <= OWN, names - OWN
        assert update_lines(obj) == [] and not bpy.ops.thin_shell.update_settings.poll()
        reopened()


def test_older_shells_have_nothing_to_update(first):
    for name in WHOLE + STOPPED:
        obj = chosen(first(name))
        assert is_first(obj) and update_lines(obj) == [] and not bpy.ops.thin_shell.update_settings.poll()
        assert status(obj, bpy.context.scene, fresh=True).kind == ("BAKED" if name in WHOLE else "PARTIAL")
        obj.thin_shell.unlocked = True
        assert update_lines(obj) == [] and not bpy.ops.thin_shell.update_settings.poll()
