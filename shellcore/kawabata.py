"""A virtual Kawabata test: measures a material on our own sheet, as KES-F machines measure cloth.

Specimens are real shells in real static equilibrium, on alternating grids along the material's axes (where fitted
hinges are exact), held by jaws at two opposite sides:

- tensile (FB1): one jaw is drawn away. Rails keep the width, because a jaw holds a cloth of little shear stiffness to
  its full width only near itself; so this is A11, A22 and not Young's modulus.
- shear (FB1): one jaw is shifted sideways; the sides follow (a picture frame), which leaves pure shear. Cloth wrinkles
  under shear, the machine's tension prevents it; here the sheet lies between plates.
- bending (FB2): a strip wider than long between two flat jaws, one turned along the path of a circular arc. Free sides
  curl, and vertices beside a jaw cannot move as those within the sheet do; two widths and two lengths are compared, so
  that sides and jaws drop out.

Strains are small: the answer is the stiffness at rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .checks import instance
from .errors import ShellError
from .linalg.threads import limited
from .material import GF_CM2_PER_CM, GF_PER_CM, Material
from .scene import Scene
from .shell import Shell
from .statics import equilibrium
from .system import System
from .types import Bools, Floats, Ints

# Tensile and shear: 20 × 5 cm between jaws, cells along the short side.
WIDTH, LENGTH, CELLS = 0.2, 0.05, 12
# Bending: 1 cm between jaws and half of that, and the larger number of cells along it.
GAP, GAP_CELLS = 0.01, 16
# Strain and angle of a test: small enough to be linear, large enough for round-off.
STRAIN, ANGLE = 1e-5, 1e-3


@dataclass(frozen=True)
class KawabataResult:
    """What the machines read; pairs are (warp, weft)."""

    tensile: tuple[float, float]
    """A11, A22 [N/m]."""
    shear: tuple[float, float]
    """A66 [N/m], sheared along the warp and along the weft."""
    bending: tuple[float, float]
    """D11, D22 [N·m]."""
    areal_density: float
    """[kg/m²]"""
    thickness: float
    """[m]"""

    def kes(self) -> dict[str, Any]:
        """The same in the machines' units, as `Material.from_kawabata` takes it."""
        degree = GF_PER_CM * 180.0 / math.pi
        return {
            "tensile": (self.tensile[0] / GF_PER_CM, self.tensile[1] / GF_PER_CM),
            "shear": (self.shear[0] / degree, self.shear[1] / degree),
            "bending": (self.bending[0] / GF_CM2_PER_CM, self.bending[1] / GF_CM2_PER_CM),
            "weight": self.areal_density / 0.01,
            "thickness": self.thickness / 1e-3,
        }


@limited(None)
def kawabata_test(material: Material, bending: str = "hinge", membrane: str = "fem") -> KawabataResult:
    """Measure `material` (one value each, not per face) on specimens with these models."""
    instance(material, Material, "material", "Material.preset('cotton')")
    for name in ("stretch", "shear", "poisson", "bend", "bend_shear", "bend_poisson", "areal_density", "thickness"):
        value = getattr(material, name)
        if any(isinstance(part, np.ndarray) for part in (value if isinstance(value, tuple) else (value,))):
            raise ShellError(f"kawabata_test measures one material, but {name} has a value per face")
    sheet = _specimen(material, 0, WIDTH, LENGTH, CELLS, 0, bending, membrane)
    return KawabataResult(
        tensile=(_tensile(material, 0, bending, membrane), _tensile(material, 1, bending, membrane)),
        shear=(_shear(material, 0, bending, membrane), _shear(material, 1, bending, membrane)),
        bending=(_bending(material, 0, bending, membrane), _bending(material, 1, bending, membrane)),
        areal_density=float(sheet.mass.sum() / sheet.areas.sum()),
        thickness=float(np.mean(material.face_thickness(1))),
    )


def _specimen(
    material: Material, axis: int, width: float, length: float, cells: int, jaw_rows: int, bending: str, membrane: str
) -> Shell:
    """A strip with its length along y, which is warp (axis 0) or weft (axis 1); y = 0 where the free part begins."""
    cell = length / cells
    across, along = round(width / cell), cells + 2 * jaw_rows
    i, j = np.meshgrid(np.arange(across + 1), np.arange(along + 1))
    flat = np.column_stack([i.ravel() * cell, (j.ravel() - jaw_rows) * cell, np.zeros(i.size)])
    i, j = (index.ravel() for index in np.meshgrid(np.arange(across), np.arange(along)))
    a = i + j * (across + 1)
    b, c, d = a + 1, a + across + 2, a + across + 1
    rising = (i + j) % 2 == 0
    corners = [a, b, np.where(rising, c, d), np.where(rising, a, b), c, d]
    faces = np.stack(corners, axis=1).reshape(-1, 3)
    warp = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])[axis]
    axes = np.broadcast_to(warp, (len(faces), 3))
    return Shell(flat, faces, material, bending=bending, membrane=membrane, axes=axes, hinge_fit=True)


def _sides(shell: Shell, length: float) -> tuple[Bools, Bools, Bools]:
    """Vertices of the near jaw (y ≤ 0), the far jaw (y ≥ length) and the two free sides, each (n,)."""
    x, y = shell.rest_positions[:, 0], shell.rest_positions[:, 1]
    slack = 1e-9 * length
    return y <= slack, y >= length - slack, (x <= slack) | (x >= x.max() - slack)


def _held(shell: Shell, x: Floats, vertices: Bools) -> Floats:
    """Forces [N], (k, 3), that hold the vertices at x."""
    total = np.zeros_like(x)
    for energy in System(Scene([shell], gravity=(0.0, 0.0, 0.0))).elastic():
        total += energy.gradient(x)
    forces: Floats = total[vertices]
    return forces


def _solved(shell: Shell) -> Floats:
    return equilibrium(Scene([shell], gravity=(0.0, 0.0, 0.0)))


def _between_plates(shell: Shell) -> None:
    shell.pin(np.arange(len(shell.rest_positions)), axes=(False, False, True))


def _tensile(material: Material, axis: int, bending: str, membrane: str) -> float:
    shell = _specimen(material, axis, WIDTH, LENGTH, CELLS, 0, bending, membrane)
    near, far, side = _sides(shell, LENGTH)
    rest = shell.rest_positions
    drawn = rest[far] + [0.0, STRAIN * LENGTH, 0.0]
    _between_plates(shell)
    shell.pin(_which(near))
    shell.pin(_which(far), drawn)
    shell.pin(_which(side & ~near & ~far), axes=(True, False, False))
    force = _held(shell, _solved(shell), far)[:, 1].sum()
    return float(force / float(np.ptp(rest[:, 0])) / STRAIN)


def _shear(material: Material, axis: int, bending: str, membrane: str) -> float:
    shell = _specimen(material, axis, WIDTH, LENGTH, CELLS, 0, bending, membrane)
    near, far, side = _sides(shell, LENGTH)
    frame = near | far | side
    rest = shell.rest_positions
    shifted = rest[frame] + np.column_stack([STRAIN * rest[frame, 1], np.zeros((int(frame.sum()), 2))])
    _between_plates(shell)
    shell.pin(_which(frame), shifted)
    force = _held(shell, _solved(shell), far)[:, 0].sum()
    return float(force / float(np.ptp(rest[:, 0])) / STRAIN)


def _bending(material: Material, axis: int, bending: str, membrane: str) -> float:
    turn_per_moment = []
    for gap, cells in ((0.5 * GAP, GAP_CELLS // 2), (GAP, GAP_CELLS)):
        narrow, wide = (_moment(material, axis, w, gap, cells, bending, membrane) for w in (2.0 * GAP, 4.0 * GAP))
        turn_per_moment.append(ANGLE * 2.0 * GAP / (wide - narrow))
    return 0.5 * GAP / (turn_per_moment[1] - turn_per_moment[0])


def _moment(material: Material, axis: int, width: float, gap: float, cells: int, bending: str, membrane: str) -> float:
    """Moment [N·m] that turns the far jaw by ANGLE, along the path that leaves a circular arc.

    A flat jaw holds up to the middle of the elements at its border: half a cell more bends at either end.
    """
    shell = _specimen(material, axis, width, gap, cells, 1, bending, membrane)
    near, far, _ = _sides(shell, gap)
    rest = shell.rest_positions
    cell = gap / cells
    length = gap + cell
    radius = length / ANGLE
    start, end = -0.5 * cell, gap + 0.5 * cell
    y = rest[:, 1]
    bent = rest.copy()
    # Where the arc would lie, to start from; and the far jaw, flat on the tangent at its end.
    angle = np.clip((y - start) / length, 0.0, 1.0) * ANGLE
    beyond = y - np.clip(y, start, end)
    bent[:, 1] = start + radius * np.sin(angle) + beyond * np.cos(angle)
    bent[:, 2] = 2.0 * radius * np.sin(0.5 * angle) ** 2 + beyond * np.sin(angle)
    shell.start = bent
    shell.pin(_which(near), rest[near])
    shell.pin(_which(far), bent[far])
    x = _solved(shell)
    force = _held(shell, x, far)
    arm = x[far] - [0.0, start + radius * math.sin(ANGLE), radius * (1.0 - math.cos(ANGLE))]
    return float((arm[:, 1] * force[:, 2] - arm[:, 2] * force[:, 1]).sum())


def _which(chosen: Bools) -> Ints:
    indices: Ints = np.flatnonzero(chosen)
    return indices
