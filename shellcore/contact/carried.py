"""Contact where it acts on points that are a linear map of the unknowns."""

from __future__ import annotations

from typing import Any

from ..dynamics.stage import Stage
from ..energies.carried import Carried, Points
from ..linalg.assembly import Hessian
from ..types import Bools, Floats, Sparse
from .contact import Contact
from .springs import Springs


class CarriedContact(Carried):
    """Contact of the triangles between points: the same questions as of `Contact`, asked by the unknowns."""

    def __init__(self, contact: Contact | CarriedContact, points: Points) -> None:
        super().__init__(contact, points)
        self._contact = contact

    def __getattr__(self, name: str) -> Any:
        if name == "_contact":
            raise AttributeError(name)
        return getattr(self._contact, name)

    @property
    def report(self) -> dict[str, Any]:
        """Counts of a frame."""
        return self._contact.report

    @report.setter
    def report(self, counts: dict[str, Any]) -> None:
        self._contact.report = counts

    def check_start(self, x: Floats, t: float) -> Floats:
        """As `Contact`."""
        points = self._points.read(x)
        moved = self._contact.check_start(points, t)
        return x if moved is points else self._points.placed(x, moved)

    def end_frame(self, x: Floats, t: float) -> None:
        """As `Contact`."""
        self._contact.end_frame(self._points.read(x), t)

    def begin_step(self, stage: Stage, targets: Floats, gravity: Floats) -> None:
        """As `Contact`."""
        self._contact.begin_step(stage.mapped(self._points.read), self._points.read(targets), gravity)

    def predict(self, guess: Floats) -> Floats:
        """As `Contact`."""
        points = self._points.read(guess)
        ahead = self._contact.predict(points)
        return guess if ahead is points else self._points.placed(guess, ahead)

    def follow(self, x: Floats, tolerance: float) -> tuple[Floats, bool, bool]:
        """As `Contact`: unknowns whose points are where the shadow is."""
        wish = self._points.read(x)
        points, arrived, settled = self._contact.follow(wish, tolerance)
        return x if points is wish else self._points.placed(x, points), arrived, settled

    def shorter(self, x: Floats, direction: Floats, slope: float) -> float:
        """As `Contact`."""
        read = self._points.read
        return self._contact.shorter(read(x), read(direction), slope)

    def share(self, x: Floats, direction: Floats, slope: float) -> float:
        """As `Contact`."""
        read = self._points.read
        return self._contact.share(read(x), read(direction), slope)

    def impact(self, x: Floats) -> bool:
        """As `Contact`."""
        return self._contact.impact(self._points.read(x))

    def settle(self, x: Floats, ended: bool) -> bool:
        """As `Contact`."""
        return self._contact.settle(self._points.read(x), ended)

    def refreeze(self, x: Floats) -> bool:
        """As `Contact`."""
        return self._contact.refreeze(self._points.read(x))

    def presses(self, x: Floats) -> bool:
        """As `Contact`."""
        return self._contact.presses(self._points.read(x))

    def stored(self, x: Floats) -> float:
        """As `Contact`."""
        return self._contact.stored(self._points.read(x))

    def leaning(self, x: Floats) -> Bools:
        """As `Contact`."""
        return self._contact.leaning(self._points.read(x))

    def grip(self, x: Floats) -> tuple[Hessian, Floats]:
        """As `Contact`, on the unknowns."""
        of_points, drive = self._contact.grip(self._points.read(x))
        return self._points.hessian(of_points), self._points.carry(drive)

    def springs(self, x: Floats) -> Springs:
        """As `Contact`, on the unknowns."""
        return Springs.of(self._points.stiffness(self._contact.springs(self._points.read(x)).matrix()))

    def stiffness(self) -> Sparse | None:
        """Nothing constant."""
        return None

    def forces(self, x: Floats) -> Floats:
        """On the points [N], (k, 3)."""
        return self._contact.forces(self._points.read(x))

    def summary(self, x: Floats) -> dict[str, Any]:
        """As `Contact`."""
        return self._contact.summary(self._points.read(x))
