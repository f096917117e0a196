"""What a scene says about itself, and what it measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

DISCRETE_SHELLS = "Discrete Shells (2003)"
QUADRATIC = "A Quadratic Bending Model (2006)"
CUBIC = "Cubic Shells (2007)"
SUBDIVISION = "Corotational Subdivision (2006)"
MODAL = "Modal Warping of Shells (2007)"
OURS = "ours"


@dataclass(frozen=True)
class Card:
    """Title, paper and figure for the gallery's table."""

    title: str
    paper: str
    figure: str = ""


@dataclass(frozen=True)
class Size:
    """How much of it: reduced for tests and a quick gallery, full for the pictures that are kept."""

    full: bool

    def __call__(self, reduced: Any, full: Any) -> Any:
        return full if self.full else reduced


@dataclass(frozen=True)
class Picture:
    """How the scene is photographed: one panel a frame, side by side in a contact sheet."""

    frames: tuple[int, ...]
    view: tuple[float, float, float] = (0.35, -1.0, 0.35)
    """Direction from the subject to the camera."""
    panel: tuple[int, int] = (400, 300)
    """Pixels of one panel, full size."""
    floor: float | None = 0.0
    """Height of the visible floor [m]; None: a wall far behind and nothing below."""
    lens: float = 70.0
    margin: float = 1.08
    light: float = 1.0
    framing: tuple[int, ...] = ()
    """Frames that must fit into the picture; empty: those of the strip."""
    follow: tuple[str, ...] = ()
    """Names of objects to frame; empty: every shell."""
    columns: int = 0
    """Panels in a row of the contact sheet; 0: as many as make it about twice as wide as high."""


@dataclass(frozen=True)
class Fact:
    """One physical statement with the numbers it was judged by."""

    statement: str
    holds: bool
    numbers: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        listed = ", ".join(f"{name} {value:.3g}" for name, value in self.numbers.items())
        return f"{self.statement}: {listed}" if listed else self.statement
