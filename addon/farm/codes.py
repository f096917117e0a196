"""Exit codes of tasks: what a farm needs to know to give a task again, or not to."""

from ..cache.files import CacheError
from ..errors import UserError

DONE = 0
FAILED = 1
"""The scene or the simulation: giving it again does not help."""
WRONG_ARGUMENTS = 2
"""An unknown name or a value that is none: giving it again does not help."""
FILES = 3
"""Disk or share, full or away, or a file that is damaged: give it again once that is seen to."""
BUSY = 4
"""Another task writes the same bake: give it again later."""
UNFIT = 5
"""The worker: Thin Shell is missing there, or older than the job."""
STOPPED = 6
"""Stopped by a signal, with the frames so far kept: give it again and it goes on."""


class ArgumentError(UserError):
    """What was asked for names something that is not there."""


class BusyError(CacheError):
    """Another process writes what is to be written."""


def code_of(error: Exception) -> int:
    """The exit code that tells of a fault."""
    kinds = ((ArgumentError, WRONG_ARGUMENTS), (BusyError, BUSY), (CacheError, FILES))
    return next((code for kind, code in kinds if isinstance(error, kind)), FAILED)
