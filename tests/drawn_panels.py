"""Panels drawn on a stand-in for Blender's layout, and what they drew."""

from types import SimpleNamespace

import bpy


class Layout:
    """Takes every call a panel makes, and checks that properties and operators exist."""

    def __init__(self, drawn):
        self.drawn = drawn

    def __getattr__(self, name):
        if name in {"column", "row", "grid_flow", "box", "split"}:
            return lambda *a, **k: Layout(self.drawn)
        if name == "prop":
            return self._prop
        if name in {"operator", "operator_menu_enum"}:
            return self._operator
        return lambda *a, **k: self.drawn.append((name, a, k))

    def _prop(self, data, name, **options):
        assert name in data.bl_rna.properties, name
        self.drawn.append(("prop", name, options))

    def _operator(self, name, *a, **k):
        module, _, function = name.partition(".")
        getattr(getattr(bpy.ops, module), function).get_rna_type()
        self.drawn.append(("operator", name, k))
        return SimpleNamespace()


def all_panels():
    return [c for c in bpy.types.Panel.__subclasses__() if c.__name__.startswith("PHYSICS_PT_thin_shell")]


def draw_all(obj):
    drawn = []
    context = SimpleNamespace(object=obj, scene=bpy.context.scene, collision=None)
    for panel in all_panels():
        fake = SimpleNamespace(layout=Layout(drawn))
        assert not hasattr(panel, "poll") or panel.poll(context) is not None
        panel.draw(fake, context)
        for extra in ("draw_header", "draw_header_preset"):
            if extra in panel.__dict__:
                panel.__dict__[extra](fake, context)
    return drawn
