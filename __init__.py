"""Thin Shell as Blender sees it. The add-on is loaded when Blender asks, so that this file needs no bpy."""


def register() -> None:
    from . import addon

    addon.register()


def unregister() -> None:
    from . import addon

    addon.unregister()
