"""How a force field weakens with distance: Blender's sphere, tube and cone falloffs, from their meaning."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Falloff:
    """Distances in metres, angles in degrees, as the panel shows them. None where a limit is off."""

    shape: str = "SPHERE"
    power: float = 0.0
    least: float | None = None
    most: float | None = None
    radial_power: float = 0.0
    radial_least: float | None = None
    radial_most: float | None = None
    side: str = "BOTH"

    def weights(self, offset: Any, axis: Any) -> Any:
        """Factor 0..1 at offsets (n, 3) [m] from the field, whose z axis is `axis`, (n,)."""
        along = offset @ axis
        distance = np.sqrt(np.einsum("ij,ij->i", offset, offset))
        kept = np.ones(len(offset))
        if self.side == "POSITIVE":
            kept[along < 0] = 0.0
        elif self.side == "NEGATIVE":
            kept[along > 0] = 0.0
        if self.shape == "SPHERE":
            return kept * _law(distance, self.power, self.least, self.most)
        sideways = np.sqrt(np.maximum(distance**2 - along**2, 0.0))
        if self.shape == "CONE":
            sideways = np.degrees(np.arctan2(sideways, np.abs(along)))
        main = _law(np.abs(along), self.power, self.least, self.most)
        return kept * main * _law(sideways, self.radial_power, self.radial_least, self.radial_most)


def _law(distance: Any, power: float, least: float | None, most: float | None) -> Any:
    """Full strength up to the least distance, (1 + d)^-power from there, nothing past the most."""
    beyond = np.maximum(distance - (least or 0.0), 0.0)
    # Most fields do not weaken, and a power takes longer than all else.
    weight = (1.0 + beyond) ** -power if power else np.ones_like(beyond)
    return weight if most is None else np.where(distance > most, 0.0, weight)
