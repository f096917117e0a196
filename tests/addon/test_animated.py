"""What can be animated is read at every frame; what is not read cannot be animated, and Check tells of old curves."""

import bpy
import numpy as np
import pytest
from blender_scenes import bake, evaluated, make_grid
from thin_shell.addon.bake.fingerprint import of_settings
from thin_shell.addon.bridge.build import build
from thin_shell.addon.bridge.mesh import inputs_visible
from thin_shell.addon.properties import SAMPLED, TABLES, physics_names

STILL = {"air_drag", "air_density", "contact_distance", "thickness"}


@pytest.fixture
def free(blend):
    obj = make_grid(size=1.0)
    obj.thin_shell.field_gravity = 0.0
    return obj


def keyed(settings, name, first, last, owner=None):
    """Key a setting from `first` at frame 1 to `last` at frame 6."""
    for frame, value in ((1, first), (6, last)):
        setattr(settings, name, value)
        settings.keyframe_insert(name, frame=frame)
    bpy.context.scene.frame_set(1)


def heights(obj):
    return np.array([evaluated(obj, frame)[:, 2].mean() for frame in range(1, 7)])


def baked(obj, everything=False):
    bpy.context.view_layer.objects.active = obj
    bake()
    return heights(obj)


def test_only_what_is_sampled_can_be_keyed(free):
    names = {name for table in TABLES for name in table}
    for name in sorted(names):
        assert free.thin_shell.bl_rna.properties[name].is_animatable == (name in SAMPLED), name
    assert STILL <= names - SAMPLED and set(physics_names()) >= SAMPLED
    with pytest.raises(TypeError, match="not animatable"):
        free.thin_shell.keyframe_insert("air_drag")


def test_pressure(free):
    free.thin_shell.use_pressure, free.thin_shell.air_density = True, 0.0
    keyed(free.thin_shell, "pressure", 0.0, 50.0)
    z = baked(free)
    pushed = []
    for frame in range(2, 7):
        bpy.context.scene.frame_set(frame)
        pushed.append(free.thin_shell.pressure)
    assert pushed[0] < 10 and pushed[-1] == 50
    # On 0.15 kg/m², one step of implicit Euler a frame.
    speed = np.cumsum(np.array(pushed) / 0.15 / 24)
    assert np.diff(z) == pytest.approx(speed / 24, rel=0.02)


def test_wind(free):
    keyed(free.thin_shell, "wind_velocity", (0, 0, 0), (0, 0, 30.0))
    z = baked(free)
    assert np.diff(z)[0] < 0.02 * np.diff(z)[-1] and (np.diff(z, 2) > 0).all()


def test_two_shells_with_winds_of_their_own(free):
    other = make_grid("Other", size=1.0, location=(3, 0, 1))
    other.thin_shell.field_gravity = 0.0
    keyed(other.thin_shell, "wind_velocity", (0, 0, 0), (0, 0, 30.0))
    bake(everything=True)
    assert np.abs(heights(free) - 1).max() < 1e-4 and heights(other)[-1] > 1.05


@pytest.mark.parametrize("name", ["field_all", "field_force"])
def test_weights_of_fields(free, name):
    bpy.ops.object.effector_add(type="FORCE", location=(0, 0, -1))
    bpy.context.object.field.strength = 500.0
    keyed(free.thin_shell, name, 0.0, 1.0)
    z = baked(free)
    assert np.diff(z)[0] < 0.3 * np.diff(z)[-1] and z[-1] > 1.01


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        ("FORCE", "strength", (0.0, 500.0)),
        ("FORCE", "falloff_power", (20.0, 0.0)),
        ("FORCE", "distance_max", (0.0, 100.0)),
        ("WIND", "strength", (0.0, 500.0)),
    ],
)
def test_numbers_of_fields(free, kind, name, values):
    bpy.ops.object.effector_add(type=kind, location=(0, 0, -1))
    field = bpy.context.object.field
    field.strength, field.flow, field.use_max_distance = 500.0, 0.0, name == "distance_max"
    keyed(field, name, *values)
    z = baked(free)
    steady_start = np.diff(z)[0]
    assert steady_start < 0.3 * np.diff(z)[-1] and z[-1] > 1.01


def test_drag_fields(free):
    free.thin_shell.field_gravity, free.thin_shell.air_density = 1.0, 0.0
    bpy.ops.object.effector_add(type="DRAG")
    field = bpy.context.object.field
    field.quadratic_drag = 0.0
    keyed(field, "linear_drag", 0.0, 10.0)
    now = []
    for frame in (1, 6):
        bpy.context.scene.frame_set(frame)
        with inputs_visible([free]):
            force = build(bpy.context.scene, [free]).scene.forces[0]
        x, area = np.zeros((49, 3)), np.full((49, 3), (0, 0, 0.01))
        now.append(np.abs(force.force(0.0, x, x + 1.0, area)).max())
    assert now == pytest.approx([0.0, 0.02 * 10.0 * 0.01])
    z = baked(free)
    keyed(field, "linear_drag", 0.0, 0.0)
    assert heights_of_free_fall(free)[-1] < z[-1] - 1e-3


def heights_of_free_fall(obj):
    bpy.ops.thin_shell.delete_bake()
    return baked(obj)


def test_gravity_of_the_scene(free):
    free.thin_shell.field_gravity, free.thin_shell.air_density = 1.0, 0.0
    scene = bpy.context.scene
    for frame, pull in ((1, 0.0), (6, -10.0)):
        scene.gravity = (0, 0, pull)
        scene.keyframe_insert("gravity", frame=frame)
    z = baked(free)
    pulls = []
    for frame in range(2, 7):
        scene.frame_set(frame)
        pulls.append(scene.gravity[2])
    assert pulls[0] > -2 and pulls[-1] == -10
    assert np.diff(z) == pytest.approx(np.cumsum(np.array(pulls) / 24) / 24, rel=0.02)


@pytest.mark.parametrize("together", [False, True])
def test_weight_of_gravity(free, together):
    free.thin_shell.air_density = 0.0
    keyed(free.thin_shell, "field_gravity", 0.0, 1.0)
    if together:
        other = make_grid("Other", size=1.0, location=(3, 0, 1))
        other.thin_shell.field_gravity = other.thin_shell.air_density = 0.0
        bake(everything=True)
        assert heights(other) == pytest.approx(1.0, abs=1e-5)
        z = heights(free)
    else:
        z = baked(free)
    steps = np.diff(z)
    assert steps[0] > 0.3 * steps[-1] and steps[-1] < -0.005 and (np.diff(steps) < 0).all()


def test_stiffness_of_pins(free):
    free.thin_shell.field_gravity, free.thin_shell.air_density = 1.0, 0.0
    group = free.vertex_groups.new(name="Pin")
    group.add(list(range(49)), 0.5, "REPLACE")
    free.thin_shell.pin_group = "Pin"
    keyed(free.thin_shell, "pin_stiffness", 1000.0, 0.0)
    with inputs_visible([free]):
        (pin,) = build(bpy.context.scene, [free]).links[0].shell.pins
    assert callable(pin.stiffness) and pin.stiffness_at(0.0) == pytest.approx(500.0)
    steps = np.diff(baked(free))
    assert abs(steps[0]) < 1e-3 < abs(steps[-1])


@pytest.mark.parametrize("whose", ["shell", "collider"])
def test_friction(free, whose):
    free.thin_shell.field_gravity, free.thin_shell.air_density = 1.0, 0.0
    free.location, free.thin_shell.self_contact = (0, 0, 0.0006), False
    free.rotation_euler = (0, 0.5, 0)
    bpy.ops.mesh.primitive_plane_add(size=40, rotation=(0, 0.5, 0))
    floor = bpy.context.object
    modifier = floor.modifiers.new("Collision", "COLLISION")
    floor.thin_shell.collider_shape = "PLANE"

    def slid():
        bpy.context.view_layer.objects.active = free
        bake()
        far = np.array([evaluated(free, frame)[:, 0].mean() for frame in range(1, 7)])
        bpy.ops.thin_shell.delete_bake()
        return np.diff(far)

    free.thin_shell.friction = 2.0
    held = slid()
    if whose == "shell":
        keyed(free.thin_shell, "friction", 2.0, 0.0)
    else:
        keyed(modifier.settings, "cloth_friction", 5.0, 0.0)
    loosened = slid()
    assert abs(held[-1]) < 2e-3 < 4e-3 < loosened[-1] and abs(loosened[0]) < 2e-3


def test_a_bake_with_animated_settings_is_not_outdated_at_another_frame(free):
    keyed(free.thin_shell, "friction", 0.1, 1.0)
    baked(free)
    told = set()
    for frame in (1, 3, 6):
        bpy.context.scene.frame_set(frame)
        told.add(of_settings(free, bpy.context.scene))
    assert len(told) == 1
