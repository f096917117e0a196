"""Lengths as artists type them, at any unit scale; numbers that files, presets and scripts have stay as they are."""

import bpy
import numpy as np
import pytest
from blender_scenes import make_grid
from thin_shell.addon import presets
from thin_shell.addon.bake.frames import solver_options
from thin_shell.addon.bridge.build import build
from thin_shell.addon.bridge.mesh import inputs_visible

LENGTHS = ("thickness", "tolerance", "contact_distance", "curl_length")
SCALES = (0.01, 1.0, 1000.0)


def typed(settings, name, text):
    """What Blender's own field makes of a text: with this category it leaves the scene's unit scale alone."""
    unit = settings.bl_rna.properties[name].unit
    setattr(settings, name, bpy.utils.units.to_value("METRIC", unit, text))


@pytest.fixture(params=SCALES)
def scaled(blend, request):
    """A sheet of 2 m whatever the scene's unit is."""
    bpy.context.scene.unit_settings.scale_length = request.param
    bpy.context.scene.gravity = (0, 0, -9.81 / request.param)
    return make_grid(size=2.0 / request.param, location=(0, 0, 1.0 / request.param))


@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_have_a_unit_that_no_scene_scales(name, blend):
    rna = make_grid().thin_shell.bl_rna.properties[name]
    # Blender scales its LENGTH by the scene's unit, and a sheet of 0.3 mm would be shown as 0.003.
    assert rna.unit == "CAMERA"


def built(obj):
    with inputs_visible([obj]):
        return build(bpy.context.scene, [obj]).scene


def test_two_centimetres_are_two_centimetres(scaled):
    settings = scaled.thin_shell
    typed(settings, "thickness", "2 cm")
    typed(settings, "contact_distance", "2.5 cm")
    typed(settings, "tolerance", "0.1 mm")
    typed(settings, "curl_length", "20 cm")
    scene = built(scaled)
    assert np.mean(scene.shells[0].material.thickness) == pytest.approx(0.02)
    assert scene.contact_distance == pytest.approx(0.025)
    assert solver_options(scaled)["tolerance"] == pytest.approx(1e-4)
    assert settings.curl_radius == pytest.approx(0.2)
    assert np.ptp(scene.shells[0].rest_positions[:, 0]) == pytest.approx(2.0)


def test_stored_numbers_mean_what_they_meant(scaled):
    """Numbers as files and scripts of 0.1.0 have them: millimetres, and metres for the radius of a curl."""
    settings = scaled.thin_shell
    settings.thickness, settings.contact_distance, settings.tolerance, settings.curl_radius = 0.4, 3.0, 0.5, -0.15
    assert settings.curl_length == pytest.approx(-150.0)
    scene = built(scaled)
    assert np.mean(scene.shells[0].material.thickness) == pytest.approx(4e-4)
    assert scene.contact_distance == pytest.approx(3e-3)
    assert solver_options(scaled)["tolerance"] == pytest.approx(5e-4)
    settings.curl_length = 300.0
    assert settings.curl_radius == pytest.approx(0.3)


def test_the_defaults_are_the_same(blend):
    settings = make_grid().thin_shell
    assert settings.thickness == pytest.approx(0.3) and settings.curl_radius == pytest.approx(0.2)
    assert (settings.contact_distance, settings.tolerance) == (0.0, 0.0)
    assert settings.curl_length == pytest.approx(200.0)


# A preset as version 0.1.0 saved it.
OLD_PRESET = """{"format": "thin_shell material", "stretch_warp": 2000.0, "stretch_weft": 1800.0, "shear": 700.0,
"poisson": 0.2, "bend_warp": 0.05, "bend_weft": 0.04, "twist": 0.018, "bend_poisson": 0.2, "areal_density": 0.2,
"thickness": 0.45, "shear_auto": false, "twist_auto": true}"""


def test_an_old_preset(scaled, tmp_path):
    (tmp_path / "mine.json").write_text(OLD_PRESET)
    for name, value in presets.load("mine", tmp_path).items():
        setattr(scaled.thin_shell, name, value)
    assert np.mean(built(scaled).shells[0].material.thickness) == pytest.approx(4.5e-4)
    assert presets.save(scaled.thin_shell, "again", tmp_path) == "again"
    assert presets.load("again", tmp_path)["thickness"] == pytest.approx(0.45)


def test_a_kept_file(tmp_path):
    """A sample saved by 0.1.0 has the numbers that it was saved with."""
    from pathlib import Path

    path = Path(__file__).resolve().parents[2] / "sample_scenes" / "blends" / "cylinders.blend"
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    bpy.ops.wm.open_mainfile(filepath=str(copy))
    shells = [obj for obj in bpy.context.scene.objects if obj.type == "MESH" and obj.thin_shell.enabled]
    assert {obj.thin_shell.contact_distance for obj in shells} == {2.0}
    assert all(obj.thin_shell.use_outer_thickness for obj in shells)
    assert built(shells[0]).contact_distance == pytest.approx(2e-3)
