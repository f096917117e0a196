"""Force fields by their meaning: direction, falloff, strength as in Cloth, weights, motion."""

import bpy
import numpy as np
import pytest
from blender_scenes import bake, evaluated, make_grid
from thin_shell.addon.bridge import mesh as meshes
from thin_shell.addon.bridge.build import build
from thin_shell.addon.bridge.falloff import Falloff
from thin_shell.addon.bridge.noise import vectors

OFFSETS = np.array([[0, 0, 0.5], [0, 0, 2.0], [3.0, 0, 0], [0, 0, -1.0]])
UP = np.array([0.0, 0.0, 1.0])


def test_falloff_laws():
    assert Falloff(power=2).weights(OFFSETS, UP) == pytest.approx([1 / 2.25, 1 / 9, 1 / 16, 1 / 4])
    assert Falloff(power=2, least=1.0).weights(OFFSETS, UP) == pytest.approx([1, 1 / 4, 1 / 9, 1])
    assert Falloff(most=1.5).weights(OFFSETS, UP) == pytest.approx([1, 0, 0, 1])
    assert Falloff(side="POSITIVE").weights(OFFSETS, UP) == pytest.approx([1, 1, 1, 0])
    assert Falloff(side="NEGATIVE").weights(OFFSETS, UP) == pytest.approx([0, 0, 1, 1])
    assert Falloff("TUBE", radial_most=1.0).weights(OFFSETS, UP) == pytest.approx([1, 1, 0, 1])
    assert Falloff("CONE", radial_most=45.0).weights(OFFSETS, UP) == pytest.approx([1, 1, 0, 1])


def test_noise_is_smooth_and_the_same_everywhere():
    x = np.random.default_rng(1).normal(size=(500, 3)) * 5
    value = vectors(x, 7)
    assert np.abs(value).max() <= 1 and np.abs(value.mean()) < 0.1 and value.std() > 0.2
    assert np.abs(vectors(x + 1e-6, 7) - value).max() < 1e-4
    assert np.abs(vectors(x, 8) - value).max() > 0.1
    assert vectors(np.array([[0.25, 0.5, 0.75]]), 3)[0] == pytest.approx([0.05092684, -0.1270713, -0.022008], abs=1e-7)


def field(kind, location=(0, 0, 0), strength=100.0, **options):
    bpy.ops.object.effector_add(type=kind, location=location)
    obj = bpy.context.object
    obj.field.strength, obj.field.flow = strength, 0.0
    for name, value in options.items():
        setattr(obj.field, name, value)
    return obj


def pushes(sheet):
    with meshes.inputs_visible([sheet]):
        made = build(bpy.context.scene, [sheet])
    x = made.scene.shells[0].start
    area = np.full((len(x), 3), (0, 0, 0.01))
    total = sum((f.force(0.0, x, np.ones_like(x), area) for f in made.scene.forces), np.zeros_like(x))
    return made, x, total


@pytest.fixture
def free(blend):
    return make_grid()


def test_force_pushes_out_as_hard_as_in_cloth(free):
    field("FORCE")
    _, x, total = pushes(free)
    radial = x / np.linalg.norm(x, axis=1, keepdims=True)
    assert total == pytest.approx(0.02 * 100 * 0.01 * radial, abs=1e-9)


def test_vortex_turns(free):
    field("VORTEX", location=(0, 0, 1))
    _, x, total = pushes(free)
    assert np.abs((total * (x - [0, 0, 1])).sum(axis=1)).max() < 1e-9
    assert (np.cross(x - [0, 0, 1], total)[:, 2] >= -1e-12).all()


def test_turbulence_and_drag(free):
    field("TURBULENCE", size=0.5)
    _, _, total = pushes(free)
    assert np.abs(total).max() <= 0.02 * 100 * 0.01 + 1e-9 and total.std() > 1e-4
    bpy.data.objects.remove(bpy.context.object)
    field("DRAG", linear_drag=2.0, quadratic_drag=0.0)
    _, _, total = pushes(free)
    assert total == pytest.approx(np.full_like(total, -0.02 * 2.0 * 0.01), rel=1e-5)


def test_wind_presses_as_hard_as_in_cloth(free):
    source = field("WIND", strength=50.0)
    made, x, _ = pushes(free)
    speed = made.scene.wind.at(0.0, x)
    assert 0.5 * 1.225 * speed[:, 2] ** 2 == pytest.approx(np.full(len(x), 0.02 * 50), rel=1e-5)
    assert np.abs(speed[:, :2]).max() < 1e-6
    source.rotation_euler = (0, np.pi / 2, 0)
    bpy.context.view_layer.update()
    free.thin_shell.wind_velocity = (0, 3, 0)
    speed = pushes(free)[0].scene.wind.at(0.0, x)
    assert speed[:, 1] == pytest.approx(np.full(len(x), 3.0)) and speed[0, 0] > 1


def test_weights_and_collection(free):
    field("FORCE")
    source = bpy.context.object
    free.thin_shell.field_force = 0.5
    assert np.abs(pushes(free)[2]).max() == pytest.approx(0.5 * 0.02, rel=0.05)
    free.thin_shell.field_collection = bpy.data.collections.new("Only these")
    assert np.abs(pushes(free)[2]).max() == 0
    free.thin_shell.field_collection.objects.link(source)
    assert np.abs(pushes(free)[2]).max() > 0


def test_moving_wind_in_a_bake(free):
    source = field("WIND", strength=300.0)
    source.rotation_euler = (0, np.pi / 2, 0)
    for frame, strength in ((1, 0.0), (6, 600.0)):
        source.field.strength = strength
        source.field.keyframe_insert("strength", frame=frame)
    bpy.context.scene.frame_set(1)
    free.rotation_euler = (0, np.pi / 2, 0)
    free.thin_shell.field_gravity = 0.0
    bpy.context.view_layer.objects.active = free
    bake()
    x = [evaluated(free, frame)[:, 0].mean() for frame in (1, 3, 6)]
    assert x[2] - x[1] > x[1] - x[0] > 0
