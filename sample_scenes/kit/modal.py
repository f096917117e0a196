"""Shells that move in their modes: the panel's material and mesh, the core's `ModalShell`, the add-on's point cache."""

from __future__ import annotations

import importlib
from typing import Any

import bpy
import numpy as np

from . import addon


class Puppet:
    """A shell object driven by its modes; `frame()` keeps a frame, `play()` attaches them all."""

    def __init__(self, obj: Any, held: Any = (), modes: int = 24) -> None:
        name = addon.load().__name__
        build = importlib.import_module(f"{name}.addon.bridge.build").build
        visible = importlib.import_module(f"{name}.addon.bridge.mesh").inputs_visible
        bpy.context.view_layer.update()
        with visible([obj]):
            simulation = build(bpy.context.scene, [obj])
        self.name, self.link = obj.name, simulation.links[0]
        self.shell = self.link.shell
        if len(held):
            self.shell.pin(np.asarray(held, dtype=np.int64))
        self.modes = addon.core().ModalShell(self.shell, modes=modes, gravity=simulation.scene.gravity)
        self.rest = self.shell.rest_positions
        self.path = [self.rest.copy()]

    def steps(self, count: int, dt: float) -> None:
        """That many steps of dt [s], then keep a frame."""
        for _ in range(count):
            x = self.modes.step(dt)
        self.path.append(x.copy())

    def play(self) -> None:
        from .objects import play

        play(bpy.data.objects[self.name], [self.link.local(x) for x in self.path])
