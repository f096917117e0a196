"""What to bake, and how far it is."""

from dataclasses import dataclass


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
    """What to bake. `mode`: "new", "resume" (where it stopped) or "continue" (after `from_frame`, settings changed)."""

    scene: str
    objects: tuple[str, ...]
    last: int
    target: str = "PC2"
    mode: str = "new"
    from_frame: int = 0
