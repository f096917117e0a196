"""What to bake, and how far it is."""

from dataclasses import dataclass

PREPARING = "Preparing the solver"
"""Stage of a piece of work that cannot be interrupted and is often long."""
ATTACHING = "Attaching the result"
"""The last stage, long where the result is copied to shape keys or Alembic."""


@dataclass
class Report:
    """A moment of a bake, for progress bars."""

    stage: str
    frame: int
    first: int
    last: int
    message: str = ""


@dataclass(frozen=True)
class Order:
    """What to bake. `mode`: "new", "resume" (where it stopped) or "continue" (after `from_frame`, settings changed).

    `first` and `last` belong to this bake, whatever the shells are set to; without `first` it begins at the shells' own
    start, or where it began if it goes on. `threads`: how many may work, by default as the preferences say.
    """

    scene: str
    objects: tuple[str, ...]
    last: int
    target: str = "PC2"
    mode: str = "new"
    from_frame: int = 0
    first: int | None = None
    threads: int | None = None
    attach: bool = True
    """Whether the shells play the result at the end."""
