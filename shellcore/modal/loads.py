"""What pushes a modal shell from outside: dead loads, pressure, wind, and whatever a user brings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..checks import floats
from ..energies.normals import AreaNormals
from ..errors import ShellError, listed
from ..forces import Force, Wind
from ..linalg.vectors import components
from ..shell import Shell
from ..types import Floats


class Loads:
    """Forces other than gravity, evaluated at the start of each step."""

    def __init__(self, shell: Shell, mass: Floats, wind: Wind | None, forces: Sequence[Force]) -> None:
        if wind is not None and not isinstance(wind, Wind):
            raise ShellError(f"wind must be a Wind, not a {type(wind).__name__}")
        for source in forces:
            if not callable(getattr(source, "force", None)):
                raise ShellError(f"forces have a method force(t, x, v, area_normals): {source!r} has none")
        self._shell, self._mass, self._wind, self._forces = shell, mass, wind, list(forces)
        self._area_normals = AreaNormals(shell.faces, len(shell.rest_positions))
        share = np.repeat(shell.areas / 3.0, 3)
        self._areas = np.bincount(shell.faces.ravel(), share, minlength=len(mass))

    def at(
        self, t: float, h: float, x: Floats, velocities: Callable[[], Floats], given: Floats | None
    ) -> Floats | None:
        """Forces [N], (3, n), in world axes over the step from t to t + h [s]; None where there are none.

        `x` [m], (n, 3); `velocities` is asked for (n, 3) [m/s] only where something depends on them; `given` [N],
        (n, 3): forces of this step alone.
        """
        shell = self._shell
        total: Floats | None = None
        if given is not None:
            total = components(self._checked(given, "forces")).copy()
        in_air = self._wind is not None or bool(self._forces)
        if not (shell.loads or shell.pressure is not None or in_air):
            return total
        total = np.zeros((3, len(x))) if total is None else total
        for load in shell.loads:
            np.add.at(total.T, load.vertices, np.ascontiguousarray(load.at(t + h)))
        if shell.pressure is None and not in_air:
            return total
        normals = self.normals(x)
        if shell.pressure is not None:
            total += shell.pressure_at(t + h) * normals.T
        v = velocities() if in_air else x
        if self._wind is not None:
            c, unit, air = self._wind.resistance(t, x, v, normals)
            # As if the drag slowed its own masses within the step: strong wind on light sheets stays stable.
            c = c / (1.0 + h * c / self._mass)
            total += (c * np.einsum("ij,ij->i", air - v, unit)) * unit.T
            if self._wind.lift:
                lift = self._wind.lift_force(t, x, v, normals)
                size, speed = (np.sqrt(np.einsum("ij,ij->i", f, f)) for f in (lift, air - v))
                total += lift.T / (1.0 + h * size / (self._mass * np.maximum(speed, 1e-300)))
        for source in self._forces:
            total += self._checked(source.force(t, x, v, normals), f"{type(source).__name__}.force").T
        return total

    def normals(self, x: Floats) -> Floats:
        """Area normals [m²], (n, 3), with the areas of the rest shape: warping stretches what a sheet would not."""
        normals = self._area_normals(x)
        size = np.sqrt(np.einsum("ij,ij->i", normals, normals))
        scaled: Floats = normals * (self._areas / np.maximum(size, 1e-300))[:, None]
        return scaled

    def _checked(self, value: Any, name: str) -> Floats:
        field = floats(value, name, f"vectors of shape {self._shell.rest_positions.shape} [N]")
        if field.shape != self._shell.rest_positions.shape:
            raise ShellError(f"{name} must have shape {self._shell.rest_positions.shape}, not {field.shape}")
        bad = np.flatnonzero(~np.isfinite(field).all(axis=1))
        if len(bad):
            raise ShellError(f"{name} of vertices {listed(bad)} is not finite", vertices=bad)
        return field
