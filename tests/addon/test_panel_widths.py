"""Nothing in a panel is cut off at the width that Blender gives the Properties at first, in any state of a shell."""

from types import SimpleNamespace

import blf
import bpy
import pytest
from blender_scenes import bake

# Measured in a window of 1600 pixels: inside a sub-panel, and the parts of a row that is split into label and field.
PANEL, LABEL, FIELD = 217, 83, 126
ICON, BOX, MARGIN = 20, 22, 8
UI_POINTS = 11


def width(text):
    """Width of words in Blender's own font [pixels]."""
    blf.size(0, UI_POINTS)
    return blf.dimensions(0, text)[0]


class Layout:
    """Stands in for Blender's: keeps what was drawn as a tree, and finds what does not fit."""

    def __init__(self, parent=None, row=False):
        self.in_row, self.children, self.heading = row, [], ""
        self.use_property_split = parent.use_property_split if parent else False

    def _add(self, made):
        self.children.append(made)
        return made

    def column(self, heading="", **_):
        made = self._add(Layout(self))
        made.heading = heading
        return made

    def row(self, **_):
        return self._add(Layout(self, row=True))

    box = column

    def grid_flow(self, **_):
        return self._add(Layout(self, row=True))

    def prop(self, data, name, text=None, icon="NONE", expand=False, toggle=False, **_):
        rna = data.bl_rna.properties[name]
        words = rna.name if text is None else text
        if rna.type == "ENUM" and expand:
            self._add(("expand", [item.name for item in rna.enum_items]))
        elif rna.type == "BOOLEAN" and not toggle:
            self._add(("tick", words))
        elif rna.type == "BOOLEAN":
            self._add(("button", words, icon))
        else:
            self._add(("field", words))
            if rna.type == "ENUM":
                self._add(("choice", [item.name for item in rna.enum_items]))

    def prop_search(self, data, name, *_, text=None, **__):
        self._add(("field", data.bl_rna.properties[name].name if text is None else text))

    def operator(self, name, text=None, icon="NONE", **_):
        module, _, function = name.partition(".")
        label = getattr(getattr(bpy.ops, module), function).get_rna_type().name
        self._add(("button", label if text is None else text, icon))
        return SimpleNamespace()

    def operator_menu_enum(self, name, _prop, text=None, icon="NONE"):
        self.operator(name, text, "DOWN")

    def label(self, text="", icon="NONE"):
        self._add(("label", text, icon))

    def progress(self, text="", **_):
        self._add(("label", text, "NONE"))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *a, **k: None

    def cut(self, room=PANEL):
        """What does not fit, with how wide it is and how wide it may be."""
        parts = [c for c in self.children if isinstance(c, tuple) and c[0] != "choice"]
        share = room / max(len(parts), 1) if self.in_row else room
        found = [(self.heading, width(self.heading), LABEL)] if self.heading else []
        fields = any(part[0] == "field" for part in parts)
        for kind, words, *more in [c for c in self.children if isinstance(c, tuple)]:
            icon = ICON if more and more[0] != "NONE" else 0
            if kind == "choice":
                found += [(word, width(word), (FIELD if self.use_property_split else share) - BOX) for word in words]
            elif kind == "expand":
                found += [(word, width(word), FIELD / len(words) - 4) for word in words]
            elif kind == "field" and self.use_property_split:
                found.append((words, width(words), LABEL))
            elif kind == "tick" and self.use_property_split:
                found.append((words, width(words), FIELD - BOX))
            elif kind == "label" and self.in_row and fields:
                found.append((words, width(words), 40))
            else:
                found.append((words, width(words), share - icon - MARGIN))
        for child in self.children:
            if isinstance(child, Layout):
                found += child.cut(room if not self.in_row else room / max(len(self.children), 1))
        return [each for each in found if each[1] > each[2]]


def cut(obj):
    found = []
    context = SimpleNamespace(object=obj, scene=bpy.context.scene, collision=None)
    for panel in bpy.types.Panel.__subclasses__():
        if panel.__name__.startswith("PHYSICS_PT_thin_shell") and panel.bl_region_type == "WINDOW":
            layout = Layout()
            panel.draw(SimpleNamespace(layout=layout), context)
            found += [(panel.bl_label, *each) for each in layout.cut()]
    return found


@pytest.fixture
def everything_on(sheet):
    settings = sheet.thin_shell
    for name in settings.bl_rna.properties.keys():
        if name.startswith(("use_", "show_axes")) and settings.bl_rna.properties[name].type == "BOOLEAN":
            setattr(settings, name, True)
    settings.shear_auto = settings.twist_auto = False
    settings.crease_attribute, settings.weight_bend, settings.weight_stretch = "crease_edge", "Pin", "Pin"
    settings.show_result = "strain"
    return sheet


def test_what_was_cut_is_found():
    """What is known to be cut off and to fit, from looking at it in a window."""
    assert width("Simulation Start") > LABEL and width("Tolerance (auto)") > LABEL
    assert width("Weight (kg/m²)") <= LABEL and width("Strain Limit (%)") <= LABEL
    assert width("Smooth until Broken") > FIELD - BOX and width("Break by Bending") <= FIELD - BOX


def test_all_fits(everything_on):
    settings = everything_on.thin_shell
    assert not cut(everything_on), cut(everything_on)
    for name in ("material_source", "rest_shape", "axes_source", "toughness_source", "integrator", "solver"):
        for item in settings.bl_rna.properties[name].enum_items:
            setattr(settings, name, item.identifier)
            assert not cut(everything_on), cut(everything_on)
    settings.rest_shape = "UV"
    for size in ("AREA", "SCALE"):
        settings.rest_uv_size = size
        assert not cut(everything_on), cut(everything_on)
    settings.tolerance, settings.iterations, settings.contact_distance = 0.1, 5, 2.0
    assert not cut(everything_on), cut(everything_on)


def test_all_fits_around_a_bake(sheet):
    sheet.thin_shell.frame_end = 3
    bake()
    for unlocked in (False, True):
        sheet.thin_shell.unlocked = unlocked
        assert not cut(sheet), cut(sheet)
    bpy.context.scene.frame_end = 1000
    bpy.context.scene.frame_set(1000)
    assert not cut(sheet), cut(sheet)
