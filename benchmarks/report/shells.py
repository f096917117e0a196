"""Strips, plates and a roof through every model: figures over their exact answers."""

from __future__ import annotations

from typing import Any

import cases
import numpy as np
from loop_plates import plate

import meshes
import shellcore as sc
from shellcore.subdivision.supports import Slopes, across_border

SMALL = 1e-3
"""Gravity [m/s²] at which plates of unit rigidity deflect linearly."""
PLATE = {"clamped": cases.PLATE["clamped"], "supported": cases.PLATE["supported"]}
SUPPORTED_MODES = np.pi**2 * np.array([2, 5, 5, 8, 10, 10])
CLAMPED_MODES = np.array([35.985, 73.394, 73.394, 108.22, 131.58, 132.20])
"""λ = ωa²√(ρh/D) of a square plate (Leissa 1973)."""
ORTHOTROPIC = {(1.0, 1.0, 0.5): 0.00544016, (1.0, 0.5, 0.2): 0.00859352}
"""Dx, Dy, H: deflection of the middle of a simply supported unit square under a unit load."""
ROOF = 0.300601


def limit_at_rest(shell: sc.Shell, gravity: Any, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
    """Surface positions at equilibrium, and what the solver said."""
    stats: dict[str, Any] = {}
    x = sc.equilibrium(sc.Scene([shell], gravity=gravity), stats=stats, **options)
    return shell.limit(np.concatenate([x, *stats["hidden"]])), stats


def subdivision_strip(length: float, cells: int, material: sc.Material) -> tuple[sc.Shell, np.ndarray, np.ndarray]:
    """A strip along x of width 1, clamped at x = 0; vertices of its tip and their shares of the width."""
    points, faces = meshes.grid(cells, 4, length, 1.0, "one")
    shell = sc.Shell(points, faces, material, bending="subdivision")
    shell.clamp(np.flatnonzero(points[:, 0] < 1e-9))
    tip = np.flatnonzero(points[:, 0] > length - 1e-9)
    return shell, tip, cases.row_shares(points[tip, 1])


def subdivision_strips() -> dict[str, list[float]]:
    """Heavy, tip-loaded, sheared and rolled cantilevers of subdivision elements, over their exact answers."""
    result: dict[str, list[float]] = {}
    length, thin = 10.0, 0.02
    material = sc.Material(stretch=12.0 / thin**2, bend=1.0, areal_density=1.0, thickness=thin)
    shell, tip, share = subdivision_strip(length, 32, material)
    state = None
    for gamma, (drop, x) in cases.HEAVY.items():
        limit, stats = limit_at_rest(shell, (0, 0, -gamma / length**3), start=state)
        state = stats["state"]
        at = share @ limit[tip] / length
        result[f"heavy cantilever Γ = {gamma:g}: drop, x"] = [float(-at[2] / drop), float(at[0] / x)]
    state, table = None, {row[0]: row for row in cases.reference("cantilever_endload.csv")}
    for load in (1, 2, 4, 10):
        shell.loads.clear()
        shell.load(tip, np.outer(share, [0.0, 0.0, -load / length**2]))
        limit, stats = limit_at_rest(shell, (0, 0, 0), start=state)
        state = stats["state"]
        at = share @ limit[tip] / length
        result[f"tip load {load}: w, u"] = [float(-at[2] / table[load][2]), float((1 - at[0]) / table[load][1])]
    thick = sc.Material(stretch=1.2e5, shear=6e4, bend=100.0, bend_shear=50.0, areal_density=1.0, thickness=0.1)
    shell, tip, share = subdivision_strip(10.0, 16, thick)
    found, state = [], None
    shear = cases.reference("sze_cantilever_end_shear.csv")[[5, 10, 20]]
    for fraction, _, w in shear:
        shell.loads.clear()
        shell.load(tip, np.outer(share, [0.0, 0.0, 4.0 * fraction]))
        limit, stats = limit_at_rest(shell, (0, 0, 0), start=state)
        state = stats["state"]
        found.append(float((share @ limit[tip])[2] / w))
    result["end shear at P/4, P/2, P, t = 0.1 as published: w"] = found
    result["roll-up to a full circle: worst distance of the tip over the length"] = [rolled_up(thick)]
    return result


def rolled_up(material: sc.Material, length: float = 12.0) -> float:
    """Largest distance of the tip from the exact circles over the length; the tip is turned and free to move."""
    shell, tip, share = subdivision_strip(length, 24, material)
    _, rows, across = across_border(shell.loop, shell.loop.complete(shell.rest_positions), tip)

    def turned(t: float) -> np.ndarray:
        return np.outer(across[:, 0], [np.cos(2 * np.pi * t), 0.0, np.sin(2 * np.pi * t)])

    shell.border_slopes.append(Slopes(rows, np.ones((len(tip), 3), dtype=bool), turned))
    state, worst = None, 0.0
    for t in np.arange(1, 9) / 8:
        limit, stats = limit_at_rest(shell, (0, 0, 0), time=t, start=state)
        state, angle = stats["state"], 2 * np.pi * t
        exact = np.array([np.sin(angle), 0.0, 1 - np.cos(angle)]) * length / angle + [0, 0.5, 0]
        worst = max(worst, float(np.linalg.norm(share @ limit[tip] - exact)) / length)
    return worst


def isotropic(poisson: float) -> sc.Material:
    return sc.Material(stretch=1e4, poisson=poisson, bend=1.0, bend_poisson=poisson, areal_density=1.0, thickness=0.01)


def woven(stiffness: tuple[float, float, float]) -> sc.Material:
    """H = D12 + 2 D66 with D12 = 0."""
    dx, dy, h = stiffness
    return sc.Material(
        stretch=1e4, bend=(dx, dy), bend_shear=h / 2, bend_poisson=0.0, areal_density=1.0, thickness=0.01
    )


def plates() -> dict[str, Any]:
    """Square plates over their exact deflection, by model, mesh and number of cells a side."""
    result: dict[str, Any] = {}
    for edge in PLATE:
        for n in (6, 8, 12, 16):
            found = plate(n, edge, isotropic(0.3)) / PLATE[edge]
            result.setdefault(f"subdivision, regular, {edge}", {})[n] = found
        for model in cases.MODELS:
            for n in (10, 20, 40):
                found = cases.square_plate(edge, model, n) / PLATE[edge]
                result.setdefault(f"{model}, equilateral, {edge}", {})[n] = found
    points, faces = meshes.unstructured(60, 1.0, 1.0)
    points = sc.fit_control(points, faces)
    for _ in range(2):
        found = plate(0, "clamped", isotropic(0.3), (points, faces)) / PLATE["clamped"]
        result.setdefault("subdivision, irregular, clamped", {})[round(np.sqrt(len(points)))] = found
        points, faces = sc.refine_control(points, faces)
    for stiffness, exact in ORTHOTROPIC.items():
        name = f"orthotropic ({', '.join(f'{value:g}' for value in stiffness)}), supported"
        for n in (6, 12):
            found = plate(n, "supported", woven(stiffness)) / exact
            result.setdefault(f"subdivision, regular, {name}", {})[n] = found
        for fit in (False, True):
            for n in (20, 40):
                found = hinged_plate(n, woven(stiffness), fit) / exact
                result.setdefault(f"cubic, equilateral, {'fitted ' if fit else ''}{name}", {})[n] = found
    return result


def hinged_plate(n: int, material: sc.Material, fit: bool) -> float:
    """The middle of a simply supported plate of cubic hinges on a nearly equilateral mesh, per unit of load."""
    points, faces = meshes.equilateral(n, 2 * round(n / np.sqrt(3.0)), 1.0 / n)
    points = points * [1.0, 1.0 / points[:, 1].max(), 1.0]
    axes = np.tile([1.0, 0.0, 0.0], (len(faces), 1))
    shell = sc.Shell(points, faces, material, bending="cubic", axes=axes, hinge_fit=fit)
    shell.pin(np.flatnonzero((np.abs(points[:, :2] - 0.5) > 0.5 - 1e-9).any(axis=1)), axes=(False, False, True))
    middle = int(np.argmin(((points - [0.5, 0.5, 0]) ** 2).sum(axis=1)))
    side = int(np.argmin(((points - [1.0, 0.5, 0]) ** 2).sum(axis=1)))
    shell.pin([middle], axes=(True, True, False))
    shell.pin([side], axes=(False, True, False))
    x = sc.equilibrium(sc.Scene([shell], gravity=(0, 0, -SMALL)))
    return float(-x[middle, 2] / SMALL)


def roof(model: str, n: int) -> float:
    """Scordelis-Lo: descent of the middle of the free edge over the reference."""
    flat, faces = meshes.grid(n, n, 1.0, 1.0, "one" if model == "subdivision" else "alternating")
    angle = np.radians(80.0) * (flat[:, 0] - 0.5)
    points = np.column_stack([25 * np.sin(angle), 50 * flat[:, 1], 25 * np.cos(angle)])
    material = sc.Material.solid(young=4.32e8, poisson=0.0, thickness=0.25, density=1.0)
    control = sc.fit_control(points, faces) if model == "subdivision" else points
    shell = sc.Shell(control, faces, material, bending=model)
    shell.pin(np.flatnonzero(np.abs(flat[:, 1] - 0.5) > 0.5 - 1e-9), axes=(True, False, True))
    shell.pin([int(np.argmin(((flat - [0.5, 0.5, 0]) ** 2).sum(axis=1)))], axes=(False, True, False))
    scale, edge = 1e-4, int(np.argmin(((flat - [0, 0.5, 0]) ** 2).sum(axis=1)))
    gravity = (0, 0, -scale * 90 / 0.25)
    if model == "subdivision":
        limit = limit_at_rest(shell, gravity)[0]
    else:
        limit = sc.equilibrium(sc.Scene([shell], gravity=gravity))
    return float((points - limit)[edge, 2] / scale / ROOF)


def roofs() -> dict[str, dict[int, float]]:
    sizes = {"subdivision": (8, 16), "hinge": (16, 32), "cubic": (16, 32)}
    return {model: {n: roof(model, n) for n in counts} for model, counts in sizes.items()}


def plate_frequencies() -> dict[str, list[float]]:
    """The first six frequencies of square plates over Leissa's."""
    result = {}
    for edge, exact in (("supported", SUPPORTED_MODES), ("clamped", CLAMPED_MODES)):
        points, faces = meshes.grid(10, 10, 1.0, 1.0, "one")
        shell = sc.Shell(points, faces, isotropic(0.3), bending="subdivision")
        getattr(shell, "pin" if edge == "supported" else "clamp")(shell.mesh.boundary_vertices)
        result[f"subdivision, {edge}, 10 cells"] = hertz(shell, exact)
    n = 24
    points, faces = meshes.equilateral(n, 2 * round(n / np.sqrt(3.0)), 1.0 / n)
    shapes = {
        "equilateral": ((points * [1.0, 1.0 / points[:, 1].max(), 1.0], faces), False),
        "alternating": (meshes.grid(n, n, 1.0, 1.0), False),
        "alternating, fitted": (meshes.grid(n, n, 1.0, 1.0), True),
    }
    for name, (mesh, fit) in shapes.items():
        shell = sc.Shell(*mesh, cases.thin_material(1.0, 1e-2), bending="hinge", hinge_fit=fit)
        shell.pin(np.flatnonzero((np.abs(mesh[0][:, :2] - 0.5) > 0.5 - 1e-9).any(axis=1)))
        result[f"hinge, {name}, supported, {n} cells"] = hertz(shell, SUPPORTED_MODES)
    return result


def hertz(shell: sc.Shell, exact: np.ndarray) -> list[float]:
    return [float(v) for v in 2 * np.pi * sc.ModalShell(shell, modes=6).frequencies[:6] / exact]


def convergence() -> dict[str, Any]:
    """Errors of a heavy cantilever, Γ = 10, by rows of elements, and the rate of the last halving."""
    result: dict[str, Any] = {}
    drop = cases.HEAVY[10][0]
    for model in cases.MODELS:
        result[model] = {
            rows: cases.heavy_cantilever(10, model, rows, 1e-4)["drop"] / drop - 1 for rows in (10, 20, 40)
        }
    length, thin = 10.0, 0.02
    material = sc.Material(stretch=12.0 / thin**2, bend=1.0, areal_density=1.0, thickness=thin)
    for cells in (8, 16, 32):
        shell, tip, share = subdivision_strip(length, cells, material)
        state = None
        for gamma in (1.0, 10.0):
            limit, stats = limit_at_rest(shell, (0, 0, -gamma / length**3), start=state)
            state = stats["state"]
        result.setdefault("subdivision", {})[cells] = float(-(share @ limit[tip])[2] / length / drop - 1)
    return result
