"""Sleeves: tubes whose ends are turned or pushed together, and how many folds they get."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from . import objects as ob
from . import studio
from .meshes import tube

RADIUS, LONG = 0.05, 0.2
STRETCH, POISSON = 5000.0, 0.25
"""E·t [N/m] and Poisson's ratio of the paper's cotton."""
GRIDS = {300: (20, 14), 494: (26, 18), 800: (32, 24), 1496: (44, 33), 2232: (62, 35), 4015: (73, 54), 5856: (96, 60)}
"""Cells around and along, by the number of vertices."""
SEED, WAVES = 0.05, range(2, 13)
"""What a sleeve is out of round by unless it says else, over its thickness, and in which waves around."""


def rigidity(thickness: float, stretch: float = STRETCH) -> float:
    """D [mN·m] of a homogeneous sheet, from E·t [N/m] and thickness [m]."""
    return 1e3 * stretch / (1 - POISSON**2) * thickness**2 / 12


def sleeve(
    name: str,
    vertices: int,
    at: tuple[float, float, float],
    tint: str,
    keys: tuple[tuple[int, float, float], ...],
    wall: float = RADIUS / 50,
    upright: bool = True,
    bow: float = 0.0,
    held: float = 1.0,
    metallic: float = 0.0,
    waves: Any = WAVES,
    uneven: float = SEED,
    **settings: Any,
) -> Any:
    """A sleeve with its foot at `at`, along Z or (not `upright`) X, of subdivision elements unless `settings` say else.

    `keys`: frame, turn [rad] and approach [m] of its far end. Out of round by a share `uneven` of its `wall` [m], in
    all `waves` around, the same on every mesh, so that folds have something to grow from; `bow`: bent down by so much
    [m] in the middle. Two rings of vertices are held at either end, or the upper share `held` of them.
    """
    around, along = GRIDS[vertices]
    shape = tube(RADIUS, LONG, around, along)
    angle, height = np.arctan2(shape.points[:, 1], shape.points[:, 0]), shape.points[:, 2] / LONG
    rng = np.random.default_rng(3)
    bumps = sum(
        np.sin(np.pi * k * height) * np.cos(m * angle + rng.uniform(0, 2 * np.pi)) for m in waves for k in (1, 2, 3)
    )
    out = 1 + uneven * wall / RADIUS * bumps / np.sqrt(3 * len(waves) / 4)
    shape.points[:, :2] *= out[:, None]
    # A quarter turn about Y takes the tube's X to −Z.
    shape.points[:, 0] += bow * np.sin(np.pi * height)
    wanted = {
        "bending": "subdivision", "integrator": "implicit_euler", "solver": "newton", "iterations": 1, "substeps": 4,
        "strain_limit": 0.0,
    }  # fmt: skip
    turn = (0, 0, 0) if upright else (0, np.pi / 2, 0)
    obj = ob.shell(name, shape, at, turn, **(wanted | settings))
    rows = np.arange(len(shape.points)) // around
    chosen = np.abs(np.angle(np.exp(1j * (angle - np.pi)))) <= held * np.pi + 1e-9
    low, top = (np.flatnonzero(chosen & part) for part in (rows < 2, rows > along - 2))
    ob.pin(obj, np.concatenate([low, top]))
    axis = np.array([0.0, 0.0, 1.0]) if upright else np.array([1.0, 0.0, 0.0])
    end = np.array(at) + LONG * axis
    handle = ob.hook(obj, top, f"{name} end", tuple(end))
    ob.key(handle, "location", *((frame, tuple(end - near * axis)) for frame, _, near in keys))
    ob.key(handle, "rotation_euler", *((frame, tuple(angle * axis)) for frame, angle, _ in keys))
    studio.paint(obj, tint, "" if metallic else "cream", metallic=metallic, rough=0.3 if metallic else 0.6)
    if held == 1.0:
        _clamps(name, at, axis, turn, handle)
    return obj


def _clamps(name: str, at: tuple[float, float, float], axis: np.ndarray, turn: tuple[float, ...], handle: Any) -> None:
    """Rings drawn around the ends that are held; the far one goes with its handle."""
    deep = 0.008
    for end, place in (("foot", np.array(at)), ("far", -deep * axis)):
        ring = ob.mesh_object(f"{name} {end}", tube(1.03 * RADIUS, deep, 64, 1), tuple(place), turn)
        ring.parent = handle if end == "far" else None
        studio.paint(ring, "dark", rough=0.4, smooth=False)


def cloth(thickness: float, stretch: float = 1.0, bend: float = 1.0, density: float = 0.15) -> dict[str, Any]:
    """Panel settings of the paper's cotton at a thickness [m], with factors on stretch and bending."""
    return ob.material(stretch * STRETCH, bend * rigidity(thickness), density, poisson=POISSON)


def waves(name: str, frame: int, vertices: int, at: tuple[float, float, float], upright: bool = True) -> np.ndarray:
    """Amplitude [m] of each number of waves around the middle half of a sleeve."""
    x = ob.positions(bpy.data.objects[name], frame) - np.array(at)
    around, along = GRIDS[vertices]
    across = x[:, [0, 1]] if upright else x[:, [1, 2]]
    radius = np.hypot(*across.T).reshape(along + 1, around)
    radius = radius[(along + 1) // 4 : 3 * (along + 1) // 4 + 1]
    spectrum = np.abs(np.fft.rfft(radius - radius.mean(axis=1)[:, None], axis=1)) * 2 / around
    return np.sqrt((spectrum**2).mean(axis=0))


def dents(name: str, frame: int, vertices: int, at: tuple[float, float, float]) -> np.ndarray:
    """Distance [m] from the axis of an upright sleeve at the same places of the cloth whatever its mesh, (33, 64).

    Rows are heights, but for the held ends; columns are angles around. Waves are carried from mesh to mesh as such.
    """
    x = ob.positions(bpy.data.objects[name], frame) - np.array(at)
    around, along = GRIDS[vertices]
    rings = np.fft.rfft(np.hypot(x[:, 0], x[:, 1]).reshape(along + 1, around), axis=1) / around
    wave, ring, angle = np.arange(rings.shape[1]), np.arange(along + 1), 2 * np.pi * np.arange(64) / 64
    # Every ring of a tube is turned by half a cell against the last.
    rings = rings * np.exp(-1j * np.pi / around * np.outer(ring, wave)) * np.where(wave > 0, 2, 1)
    even = (rings @ np.exp(1j * np.outer(wave, angle))).real
    height = np.linspace(0.1, 0.9, 33)
    return np.column_stack([np.interp(height, ring / along, column) for column in even.T])


def likeness(first: np.ndarray, second: np.ndarray) -> float:
    """Correlation of two fields of dents: 1 the same dents in the same places, 0 nothing in common."""
    return float(np.corrcoef(first.ravel(), second.ravel())[0, 1])


def folds(name: str, frame: int, vertices: int, at: tuple[float, float, float], upright: bool = True) -> int:
    """The strongest number of waves."""
    return int(waves(name, frame, vertices, at, upright).argmax())
