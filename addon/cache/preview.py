"""The frame under way of a bake, in the place of the mesh: one sample in a file of this session.

The viewport plays it by a modifier below ours, so that a render shows what it showed before; a saved file never has it.
"""

import os
import re
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from .. import compat
from ..bridge.lookup import known
from ..bridge.mesh import ALEMBIC_MODIFIER, MODIFIER, PREVIEW_MODIFIER, input_modifiers, is_cracked
from . import pc2
from .playback import playing_points, rest

# Files under way, and samples in the folder of a session.
OF_A_SESSION = re.compile(r".*\.part|thin_shell_(bake_)?\d+_\d+\.pc2")


class Preview:
    """One object and the sample that stands in for it; `points`: vertices of its bake when it began."""

    def __init__(self, obj: Any, points: int) -> None:
        self._itself = known(obj)
        self.whole = not is_cracked(obj)
        """Whether the mesh has the bake's vertices. Another one shrinks to a point, and the overlay draws the sheet."""
        self.points = points if self.whole or input_modifiers(obj) else len(obj.data.vertices)
        self.path = Path(bpy.app.tempdir) / f"thin_shell_bake_{compat.session_uid(obj)}_{os.getpid()}.pc2"
        self._file = open(self.path, "wb")
        self._file.write(pc2.HEADER.pack(pc2.MAGIC, 1, self.points, 1.0, 1.0, 1))

    def write(self, positions: Any) -> None:
        """Show these positions in the object's space, (n, 3); of a sheet that broke only where it is."""
        self.whole = self.whole and len(positions) == self.points
        x = positions if self.whole else np.repeat(positions[:1], self.points, axis=0)
        self._file.seek(pc2.HEADER.size)
        self._file.write(np.ascontiguousarray(x, dtype="<f4").tobytes())
        self._file.flush()
        self.show()
        self.turn(on=True)
        obj = self._itself.find()
        if obj is not None:
            obj.update_tag(refresh={"DATA"})

    def turn(self, on: bool) -> None:
        """Let the viewport play the sample, or not for a while."""
        obj = self._itself.find()
        modifier = None if obj is None else obj.modifiers.get(PREVIEW_MODIFIER)
        if modifier is not None and modifier.show_viewport != on:
            modifier.show_viewport = on

    def show(self) -> None:
        """Put the sample in the mesh's place; again after an undo, which takes it away."""
        obj = self._itself.find()
        if obj is None or obj.modifiers.get(PREVIEW_MODIFIER) is not None or obj.mode == "EDIT":
            return
        made = obj.modifiers.new(PREVIEW_MODIFIER, "MESH_CACHE")
        made.name = PREVIEW_MODIFIER
        made.cache_format, made.filepath, made.deform_mode = "PC2", str(self.path), "OVERWRITE"
        made.time_mode, made.play_mode, made.frame_start = "FRAME", "SCENE", 1
        made.show_viewport, made.show_render, made.show_expanded = True, False, False
        above = max(obj.modifiers.find(name) for name in (MODIFIER, ALEMBIC_MODIFIER))
        obj.modifiers.move(obj.modifiers.find(PREVIEW_MODIFIER), above + 1)

    def hide(self) -> None:
        """Show the mesh again."""
        clean(self._itself.find())

    def close(self) -> None:
        self.hide()
        self._file.close()
        self.path.unlink(missing_ok=True)


def clean(obj: Any) -> None:
    """Take off what a bake under way showed: an undo or a recovered file may bring it back."""
    modifier = None if obj is None else obj.modifiers.get(PREVIEW_MODIFIER)
    if modifier is not None:
        obj.modifiers.remove(modifier)


def tidy(obj: Any) -> None:
    """Take off what a bake under way, Live or Real Time showed, where none of them is on any more.

    An undo or a recovered file brings it back.
    """
    clean(obj)
    path = playing_points(obj)
    if path is not None and OF_A_SESSION.fullmatch(path.name):
        rest(obj)
