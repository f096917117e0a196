"""The Physics tab, laid out as Blender's own Cloth is."""

from . import add, cache, damage, forces, main, material, shape

MODULES = (main, material, damage, shape, forces, cache, add)


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
