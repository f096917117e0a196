"""Real time: modal warping of shells (Choi, Woo and Ko 2007) with handles (Choi and Ko 2005), in the order data flows:

1. `modes` takes the stiffness and mass of a shell at rest to its lowest modes, and keeps them in a file.
2. `warp` says how far each node turns in a mode, and what displacements in turning frames come to.
3. `frames` carries the modes along: an animated base, or the rigid body of a free shell.
4. `loads` are the forces from outside; `newmark` takes every mode a step ahead under them.
5. `handles` are what a user takes a shell by; `constraints` makes the modes reach them, by a small dense system.
6. `shell` is the step: forces into local frames, modes ahead, handles, positions out. Dense products only.
"""

from .handles import Handle, HandleReport, OrientationHandle, PositionHandle
from .shell import ModalShell

__all__ = ["Handle", "HandleReport", "ModalShell", "OrientationHandle", "PositionHandle"]
