"""Numbers of choices: a .blend file holds these and no names, so a number that is given away is never given again."""

import bpy
import pytest

NUMBERS = {
    "ThinShellSettings": {
        "bending": {"cubic": 0, "hinge": 1, "quadratic": 2, "subdivision": 3},
        "membrane": {"fem": 0, "springs": 1},
        "integrator": {
            "implicit_euler": 0, "newmark": 1, "imex_bending": 2, "imex_membrane": 3, "explicit": 4, "sdirk2": 5,
        },
        "quality": {"DRAFT": 0, "DEFAULT": 1, "FINAL": 2, "CUSTOM": 3},
        "solver": {"auto": 0, "quasi_newton": 1, "newton": 2},
        "jacobian": {"constant": 0, "cubic": 1, "exact": 2},
        "material_source": {"SHEET": 0, "SOLID": 1},
        "axes_source": {"NONE": 0, "UV": 1, "IMAGE": 2, "VECTOR": 3},
        "axes_encoding": {"DOUBLE_ANGLE": 0, "HUE": 1},
        "toughness_source": {"NONE": 0, "WEIGHT": 1, "IMAGE": 2},
        "rest_shape": {"START": 0, "KEY": 1, "OBJECT": 2, "UV": 3},
        "rest_uv_size": {"AREA": 0, "SCALE": 1},
        "rest_angles": {"shape": 0, "flat": 1},
        "collider_shape": {"AUTO": 0, "MESH": 1, "PLANE": 2, "SPHERE": 3},
        "cache_target": {"PC2": 0, "SHAPE_KEYS": 1, "ALEMBIC": 2},
        "show_result": {
            "NONE": 0, "strain": 1, "stress": 2, "bending": 3, "contact": 4, "plastic": 5, "damage": 6, "velocity": 7,
        },
    },
    "ThinShellRealTime": {"motion": {"FULL": 0, "MODAL": 1}},
    "ThinShellHandle": {"kind": {"POSITION": 0, "ORIENTATION": 1, "BOTH": 2, "RIGID": 3}},
    "ThinShellWedge": {"combine": {"product": 0, "side by side": 1}},
    "ThinShellWedgeEntry": {"kind": {"VALUES": 0, "RANGE": 1, "CSV": 2}},
}  # fmt: skip
"""Add to these, and change none."""


def saved_groups():
    """Every group of ours that files hold, by name."""
    groups = [each for each in bpy.types.PropertyGroup.__subclasses__() if each.__module__.startswith("thin_shell.")]
    return {each.__name__: each for each in groups}


def choices(group):
    return {
        prop.identifier: {item.identifier: item.value for item in prop.enum_items}
        for prop in group.bl_rna.properties
        if prop.type == "ENUM"
    }


def test_every_choice_that_files_hold_has_its_number():
    found = {name: choices(group) for name, group in saved_groups().items()}
    assert {name: made for name, made in found.items() if made} == NUMBERS


@pytest.mark.parametrize("name", NUMBERS)
def test_the_numbers_are_written_down_and_not_by_place(name):
    """An item that is put between others would give the number of one that Blender counted to another."""
    for prop, made in saved_groups()[name].__annotations__.items():
        keywords = getattr(made, "keywords", {})
        if "items" in keywords and made.function is bpy.props.EnumProperty:
            assert all(len(item) in (4, 5) for item in keywords["items"]), prop
