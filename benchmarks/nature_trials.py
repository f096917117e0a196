"""Random scenes that `nature.py` judges: drawn as plain facts, built from the facts alone.

A trial's facts are JSON: presets, models and numbers. The same facts build the same scene, whoever drew them, so that
results of fine runs can be kept under them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import meshes
import shellcore as sc
from shellcore.presets import PRESETS

GRAVITY = 9.81
FPS = (24, 30, 60)
# Sizes [m] and vertices of trials: a fine run takes seconds. Subdivision elements take several times as long.
SIZES, VERTICES, SUBDIVISION_VERTICES, LANDING_VERTICES = (0.1, 2.0), (20, 150), (20, 40), (20, 80)
# What falls on something: fine runs of these cost several times as much, and folds go their own ways soon.
LANDING, LANDING_PERIODS = ("drop", "drape", "tube"), 0.4
BENDING = {"quadratic": 0.3, "cubic": 0.3, "hinge": 0.25, "subdivision": 0.15}
Facts = dict[str, Any]


@dataclass
class Built:
    """A scene of one shell, how many frames judge it, and what its judge has to know."""

    scene: sc.Scene
    frames: int
    known: dict[str, Any]

    @property
    def shell(self) -> sc.Shell:
        return self.scene.shells[0]


def period(size: float) -> float:
    """T = 2π √(2L/3g) [s]: of a rod of length `size` [m] that swings about its end."""
    return 2 * np.pi * float(np.sqrt(2 * size / (3 * GRAVITY)))


def drawn(scene: str, seed: int, index: int, attempt: int = 0) -> Facts:
    """Facts of trial `index` of a scene by name; `attempt` counts those that did not serve."""
    rng = np.random.default_rng([seed, index, attempt, zlib.crc32(scene.encode())])
    bending = str(rng.choice(list(BENDING), p=list(BENDING.values())))
    counts = LANDING_VERTICES if scene in LANDING else VERTICES
    if bending == "subdivision":
        counts = SUBDIVISION_VERTICES
    facts: Facts = {
        "scene": scene,
        "preset": str(rng.choice(sorted(PRESETS))),
        "bending": bending,
        "scattered": bool(rng.random() < 0.5),
        "size": _between(rng, *np.log(SIZES), exp=True),
        "slender": _between(rng, 0.5, 1.0),
        "vertices": round(_between(rng, *np.log(counts), exp=True)),
        "fps": int(rng.choice(FPS)),
        "mesh": int(rng.integers(1000)),
    }
    return facts | SCENES[scene][0](rng)


def build(facts: Facts) -> Built:
    """The scene of these facts."""
    return SCENES[facts["scene"]][1](facts)


def _between(rng: np.random.Generator, low: float, high: float, exp: bool = False) -> float:
    """A number drawn evenly, or the exponential of one, to four digits."""
    value = rng.uniform(low, high)
    return float(f"{np.exp(value) if exp else value:.4g}")


def _sheet(facts: Facts) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, 3) and faces of a flat sheet: x from 0 to its width, y from −size to 0."""
    size, width = facts["size"], facts["size"] * facts["slender"]
    # The outline of a scattered mesh alone takes this many.
    count = facts["vertices"]
    if facts["scattered"] and count >= 30:
        points, faces = meshes.unstructured(count, width, size, facts["mesh"])
    else:
        across = max(2, round(np.sqrt(count * facts["slender"])) - 1)
        points, faces = meshes.grid(across, max(2, round(count / (across + 1)) - 1), width, size)
    return points - [0.0, size, 0.0], faces


def _shell(facts: Facts, points: np.ndarray, faces: np.ndarray, **more: Any) -> sc.Shell:
    return sc.Shell(points, faces, sc.Material.preset(facts["preset"]), bending=facts["bending"], **more)


def _frames(facts: Facts, periods: float) -> int:
    return max(3, int(periods * period(facts["size"]) * facts["fps"]))


def _rotated(points: np.ndarray, axis: Any, angle: float) -> np.ndarray:
    """About the origin by `angle` [rad]."""
    k = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    cross = np.cross(k, points)
    return points * np.cos(angle) + cross * np.sin(angle) + np.outer(points @ k, k) * (1 - np.cos(angle))


def _hung(points: np.ndarray, tilt: float) -> np.ndarray:
    """A sheet hung from the x axis, `tilt` [rad] from the vertical."""
    return np.column_stack([points[:, 0], points[:, 1] * np.sin(tilt), points[:, 1] * np.cos(tilt)])


def _top(points: np.ndarray) -> np.ndarray:
    return np.flatnonzero(points[:, 1] > -1e-9)


# Swing, fall, flag, a pin that is swung: no contact


def _swing(facts: Facts) -> Built:
    points, faces = _sheet(facts)
    shell = _shell(facts, points, faces, start=_hung(points, np.radians(facts["tilt"])))
    shell.pin(_top(points))
    # Straight down and unstretched; by how much its weight would stretch it further is of second order in a ratio.
    lowest = GRAVITY * float(shell.mass @ points[:, 1])
    return Built(sc.Scene([shell], self_contact=False), _frames(facts, 1.0), {"lowest": lowest})


def _fall(facts: Facts) -> Built:
    points, faces = _sheet(facts)
    shell = _shell(facts, points, faces)
    corners = [np.argmin(points[:, 0] - points[:, 1]), np.argmax(points[:, 0] + points[:, 1])]
    shell.pin(np.array(corners))
    return Built(sc.Scene([shell], self_contact=False), _frames(facts, 0.6), {})


def _flag(facts: Facts) -> Built:
    points, faces = _sheet(facts)
    # Held at the side x = 0, upright in the plane y = 0.
    upright = points[:, [0, 2, 1]]
    shell = _shell(facts, upright, faces)
    shell.pin(np.flatnonzero(points[:, 0] < 1e-9))
    angle, speed = np.radians(facts["angle"]), facts["speed"]
    wind = sc.Wind((speed * np.cos(angle), speed * np.sin(angle), 0.0))
    return Built(sc.Scene([shell], wind=wind, self_contact=False), _frames(facts, 0.6), {})


def _swung(facts: Facts) -> Built:
    points, faces = _sheet(facts)
    start = _hung(points, 0.0)
    shell = _shell(facts, points, faces, start=start)
    top = _top(points)
    held, way = start[top], facts["way"] * facts["size"]
    angle, omega = np.radians(facts["angle"]), facts["turns"] * 2 * np.pi / period(facts["size"])
    along = np.array([np.cos(angle), np.sin(angle), 0.0])
    shell.pin(top, targets=lambda t: held + 0.5 * way * (1 - np.cos(omega * t)) * along)
    return Built(sc.Scene([shell], self_contact=False), _frames(facts, 0.6), {})


def _spin(facts: Facts) -> Built:
    points, faces = _sheet(facts)
    start = _rotated(points, facts["axis"], facts["start"])
    shell = _shell(facts, points, faces, start=start)
    mass = shell.mass
    omega = np.array(facts["about"]) * 2 * np.pi / period(facts["size"])
    shell.velocities = np.cross(omega, start - mass @ start / mass.sum())
    return Built(sc.Scene([shell], self_contact=False), _frames(facts, 0.6), {})


# On floors


def _floor(facts: Facts, size: float, normal: np.ndarray, down: np.ndarray) -> tuple[Any, float]:
    """A plane, or a mesh of facts["floor"] cells a side; what its own thickness lifts sheets by [m]."""
    if not facts["floor"]:
        return sc.Plane((0.0, 0.0, 0.0), tuple(normal), friction=facts["friction"]), 0.0
    cells, thickness = facts["floor"], 1e-3
    points, faces = meshes.grid(cells, cells, size, size, "one")
    # Edges of the floor shall not lie along the way.
    points = _rotated(points - [0.5 * size, 0.5 * size, 0.0], (0.0, 0.0, 1.0), 0.3)
    placed = points[:, :1] * down + points[:, 1:2] * np.cross(normal, down)
    return sc.Collider(placed, faces, friction=facts["friction"], thickness=thickness), 0.5 * thickness


def _laid(facts: Facts, tilt: float, floor_size: float, along: float) -> tuple[sc.Scene, sc.Shell, np.ndarray]:
    """A sheet put down on a floor that falls off by `tilt` [rad]; the scene, the shell, the way down the slope."""
    points, faces = _sheet(facts)
    normal = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    down = np.array([np.cos(tilt), 0.0, -np.sin(tilt)])
    floor, lift = _floor(facts, floor_size, normal, down)
    points = _rotated(points - points.mean(axis=0), (0.0, 0.0, 1.0), facts["turned"]) - [along, 0.0, 0.0]
    flat = points[:, :1] * down + points[:, 1:2] * np.cross(normal, down)
    shell = _shell(facts, flat, faces, friction=facts["friction"])
    edges = shell.mesh.edges
    edge = float(np.linalg.norm(flat[edges[:, 1]] - flat[edges[:, 0]], axis=1).mean())
    distance = max(float(shell.material.thickness), 0.01 * edge)
    reach = 0.5 * distance + lift
    shell.start = flat + (0.998 * reach - min(facts["deep"], 0.3 * reach)) * normal
    scene = sc.Scene([shell], colliders=[floor], self_contact=False, contact_distance=distance)
    return scene, shell, down


def _thrown(facts: Facts) -> Built:
    speed, mu = facts["speed"], facts["friction"]
    way = speed**2 / (2 * mu * GRAVITY)
    # It starts left of the middle and comes to rest right of it.
    scene, shell, down = _laid(facts, 0.0, 2.0 * (way + 2.0 * facts["size"]), 0.5 * way)
    shell.velocities = np.tile(speed * down, (len(shell.start), 1))
    frames = int(np.ceil(facts["fps"] * (speed / (mu * GRAVITY) + 0.1)))
    return Built(scene, frames, {"way": way, "speed": speed, "down": down})


def _incline(facts: Facts) -> Built:
    alpha = np.radians(facts["slope"])
    mu = facts["friction"]
    law = GRAVITY * max(0.0, float(np.sin(alpha) - mu * np.cos(alpha)))
    seconds = 0.4
    way = 0.5 * law * seconds**2
    scene, _, down = _laid(facts, alpha, 2.0 * (way + 2.0 * facts["size"]), 0.5 * way)
    known = {"law": law, "pull": GRAVITY * float(np.sin(alpha)), "down": down}
    return Built(scene, round(facts["fps"] * seconds), known)


def _drop(facts: Facts) -> Built:
    points, faces = _sheet(facts)
    start = _rotated(points - points.mean(axis=0), (np.cos(facts["turned"]), np.sin(facts["turned"]), 0.0),
                     np.radians(facts["tilt"]))  # fmt: skip
    start[:, 2] += facts["height"] * facts["size"] - start[:, 2].min()
    shell = _shell(facts, points, faces, start=start, friction=facts["friction"])
    floor = sc.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), friction=facts["friction"])
    scene = sc.Scene([shell], colliders=[floor], self_contact=facts["self_contact"])
    return Built(scene, _frames(facts, LANDING_PERIODS), {})


def _drape(facts: Facts) -> Built:
    points, faces = _sheet(facts)
    size, radius = facts["size"], facts["radius"] * facts["size"]
    start = _rotated(points - points.mean(axis=0), (np.cos(facts["turned"]), np.sin(facts["turned"]), 0.0), 0.05)
    start += [facts["off"] * size, 0.5 * facts["off"] * size, 0.0]
    start[:, 2] += facts["height"] * size + 0.05 * size
    shell = _shell(facts, points, faces, start=start, friction=facts["friction"])
    ball = sc.Sphere((0.0, 0.0, -radius), radius, friction=facts["friction"])
    scene = sc.Scene([shell], colliders=[ball], self_contact=facts["self_contact"])
    return Built(scene, _frames(facts, LANDING_PERIODS), {})


def _tube(facts: Facts) -> Built:
    size = facts["size"]
    radius = 0.25 * size
    along = max(4, round(np.sqrt(facts["vertices"] / 1.6)))
    points, faces = meshes.cylinder(max(8, round(facts["vertices"] / (along + 1))), along, radius, size)
    points = (points - [0.0, 0.0, 0.5 * size])[:, [2, 0, 1]]
    body, body_faces = meshes.icosphere(2)
    body = body * [0.7 * size, facts["fill"] * radius, facts["fill"] * radius]
    way, omega = facts["way"] * size, facts["turns"] * 2 * np.pi / period(size)
    side = np.array([facts["askew"], 1.0, 0.0]) / np.hypot(facts["askew"], 1.0)

    def motion(t: float) -> np.ndarray:
        return body + 0.5 * way * (1 - np.cos(omega * t)) * side

    shell = _shell(facts, points, faces, rest_angles="flat", friction=facts["friction"])
    collider = sc.Collider(body, body_faces, friction=facts["friction"], motion=motion)
    return Built(sc.Scene([shell], colliders=[collider], self_contact=False), _frames(facts, LANDING_PERIODS), {})


def _direction(rng: np.random.Generator) -> list[float]:
    vector = rng.normal(size=3)
    return [float(f"{part:.4g}") for part in vector / np.linalg.norm(vector)]


def _floor_facts(rng: np.random.Generator) -> Facts:
    return {
        "floor": int(rng.choice([0, 3, 40])),
        "turned": _between(rng, 0.0, 3.0),
        "deep": 0.0,
        "substeps": int(rng.choice([0, 4])),
    }


def _incline_facts(rng: np.random.Generator) -> Facts:
    slope = _between(rng, 8.0, 40.0)
    # From nearly nothing to what holds it.
    grip = _between(rng, 0.1, 1.2)
    return {"slope": slope, "friction": float(f"{grip * np.tan(np.radians(slope)):.4g}")} | _floor_facts(rng)


SCENES: dict[str, tuple[Callable[[np.random.Generator], Facts], Callable[[Facts], Built]]] = {
    "swing": (lambda rng: {"tilt": _between(rng, 20.0, 60.0)}, _swing),
    "fall": (lambda rng: {}, _fall),
    "flag": (lambda rng: {"speed": _between(rng, 1.0, 6.0), "angle": _between(rng, 5.0, 40.0)}, _flag),
    "thrown": (
        lambda rng: {"speed": _between(rng, 1.0, 3.0), "friction": _between(rng, 0.15, 0.7)} | _floor_facts(rng),
        _thrown,
    ),
    "thrown deep": (
        lambda rng: {"speed": 2.0, "friction": 0.3} | _floor_facts(rng) | {"deep": 2e-4},
        _thrown,
    ),
    "incline": (_incline_facts, _incline),
    "drop": (
        lambda rng: {
            "tilt": _between(rng, 5.0, 60.0), "turned": _between(rng, 0.0, 3.0), "height": _between(rng, 0.02, 0.3),
            "friction": _between(rng, 0.1, 0.6), "self_contact": bool(rng.random() < 0.3),
        },
        _drop,
    ),
    "drape": (
        lambda rng: {
            "radius": _between(rng, 0.15, 0.35), "turned": _between(rng, 0.0, 3.0), "height": _between(rng, 0.0, 0.1),
            "off": _between(rng, 0.0, 0.1), "friction": _between(rng, 0.1, 0.6),
            "self_contact": bool(rng.random() < 0.3),
        },
        _drape,
    ),
    "spin": (
        lambda rng: {
            "axis": _direction(rng), "start": _between(rng, 0.0, 3.0),
            "about": [float(f"{part * rng.uniform(0.5, 1.5):.4g}") for part in _direction(rng)],
        },
        _spin,
    ),
    "swung": (
        lambda rng: {
            "way": _between(rng, 0.1, 0.5), "turns": _between(rng, 0.7, 2.5), "angle": _between(rng, 0.0, 180.0),
        },
        _swung,
    ),
    "tube": (
        lambda rng: {
            "fill": _between(rng, 0.6, 0.85), "way": _between(rng, 0.1, 0.5), "turns": _between(rng, 0.7, 2.0),
            "askew": _between(rng, -0.5, 0.5), "friction": _between(rng, 0.1, 0.6),
        },
        _tube,
    ),
}  # fmt: skip
"""By name: how facts are drawn, how the scene is built from them."""
