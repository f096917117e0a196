"""Contact of a scene that asks for none of this room: penalties serve its planes and spheres."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Bools, Floats


class NoContact:
    """What `Contact` answers where nothing can touch."""

    exists = False
    late = False
    rubs = False
    still = True
    blocked = ""

    def __init__(self) -> None:
        self.report: dict[str, Any] = {}
        self.new_report()

    def check_start(self, x: Floats, t: float) -> Floats:
        """Nothing to find: x."""
        return x

    def end_frame(self, x: Floats, t: float) -> None:
        """Nothing to part."""

    def new_report(self) -> None:
        """Forget the counts so far."""
        self.report = {"unsettled": 0}

    def summary(self, x: Floats) -> dict[str, Any]:
        """Nothing to report."""
        return {}

    def kept(self) -> dict[str, Any]:
        """Nothing to keep."""
        return {}

    def restore(self, saved: dict[str, Any]) -> None:
        """Nothing to take up."""

    def stored(self, x: Floats) -> float:
        """No energy [J]."""
        return 0.0

    def leaning(self, x: Floats) -> Bools:
        """No vertex, (n,)."""
        return np.zeros(len(x), dtype=bool)

    def forces(self, x: Floats) -> Floats:
        """No forces, (n, 3)."""
        return np.zeros_like(x)
