"""Operators: each a few lines that call what does the work, and turn faults into reports."""

from . import bake, cache, check, edge_marks, images, results, setup, tools

MODULES = (bake, cache, check, edge_marks, images, results, setup, tools)


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
