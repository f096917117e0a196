"""Physical cases with known answers, shared by tests/physics and benchmarks/validation.py.

Strips lie along y, clamped at y = 0, on equilateral meshes with rows square to y unless said otherwise. The hinge
models have a bending Poisson ratio of their own, −1/3 on an equilateral mesh: a free narrow strip would curl across its
width and show D(1 − 1/9). Real sheets are thin enough that stretching forbids this (W²/Rt large), so the strips here
are: `THIN` is thickness over length.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_bvp
from scipy.optimize import brentq
from scipy.sparse import csr_matrix, diags
from scipy.sparse.linalg import eigsh

import meshes
import shellcore as sc
from shellcore.dynamics.stage import Stage
from shellcore.system import System

GRAVITY = 9.81
THIN = 1e-5
MODELS = ("hinge", "quadratic", "cubic")
REFERENCES = Path(__file__).parent / "references"

# Γ = qL³/EI: drop/L, tip x/L of a heavy cantilever.
HEAVY = {0.1: (0.012498438, 0.99991073), 1: (0.1234714, 0.9912464)}
HEAVY |= {10: (0.70019972, 0.65635376), 100: (0.93752394, 0.15922338)}
CLAMPED_FREE = (1.875104, 4.694091, 7.854757)
FREE_FREE = (4.730041, 7.853205)
# Deflection of a square plate under a uniform load, in qL⁴/D.
PLATE = {"clamped": 0.001265319, "supported": 0.004062353}


def reference(name: str) -> np.ndarray:
    """Numbers of a reference table, one row each."""
    with open(REFERENCES / name, newline="", encoding="utf-8") as file:
        return np.array([[float(v) for v in row] for row in list(csv.reader(file))[1:]])


def thin_material(rigidity: float, thickness: float, areal_density: float = 1.0) -> sc.Material:
    """Isotropic with ν = 0; the membrane of a solid sheet of that thickness."""
    stretch = 12.0 * rigidity / thickness**2
    return sc.Material(stretch=stretch, bend=rigidity, areal_density=areal_density, thickness=thickness)


def strip_mesh(rows: int, length: float, width: float) -> meshes.Mesh:
    """Equilateral triangles, `rows` rows over the length (along y)."""
    side = length / rows * 2.0 / np.sqrt(3.0)
    return meshes.equilateral(max(2, round(width / side)), rows, side)


@dataclass
class Strip:
    """A cantilever: the shell, its length, and the vertices of its tip row with the share each has of the width."""

    shell: sc.Shell
    length: float
    width: float
    tip: np.ndarray
    share: np.ndarray

    def tip_at(self, x: np.ndarray) -> np.ndarray:
        return self.share @ x[self.tip]


def strip(
    mesh: meshes.Mesh, material: sc.Material, bending: str = "hinge", held: Callable | None = None, **options: Any
) -> Strip:
    """A strip along y, clamped at y = 0 (or held as `held(shell, base)` does)."""
    points, faces = mesh
    length, width = float(np.ptp(points[:, 1])), float(np.ptp(points[:, 0]))
    shell = sc.Shell(points, faces, material, bending=bending, **options)
    base = np.flatnonzero(points[:, 1] < 1e-9 * length)
    shell.clamp(base) if held is None else held(shell, base)
    tip = np.flatnonzero(points[:, 1] > (1 - 1e-9) * length)
    return Strip(shell, length, width, tip, row_shares(points[tip, 0]))


def row_shares(x: np.ndarray) -> np.ndarray:
    """Share of a row of vertices' width that belongs to each of them; sums to one."""
    order = np.argsort(x)
    gaps = np.diff(x[order])
    share = np.empty(len(x))
    share[order] = 0.5 * (np.append(gaps, 0.0) + np.insert(gaps, 0, 0.0))
    return share / share.sum()


def heavy_cantilever(
    gamma: float,
    bending: str,
    rows: int = 40,
    thickness: float = THIN,
    mesh: meshes.Mesh | None = None,
    strain_limit: float = 0.0,
    **options: Any,
) -> dict[str, Any]:
    """Sheet of unit length and rigidity that hangs under its own weight: drop and tip x over length, and stats."""
    mesh = strip_mesh(rows, 1.0, 0.25) if mesh is None else mesh
    length = float(np.ptp(mesh[0][:, 1]))
    material = thin_material(1.0, thickness * length, gamma / length**3 / GRAVITY)
    beam = strip(mesh, material, bending, **options)
    stats: dict[str, Any] = {}
    x = sc.equilibrium(beam.shell, strain_limit=strain_limit, stats=stats)
    tip = beam.tip_at(x) / length
    return {"drop": float(-tip[2]), "x": float(tip[1]), "positions": x, "stats": stats, "shell": beam.shell}


def elastica_drop(gamma: float) -> float:
    """Drop/L of an inextensible heavy cantilever."""

    def slopes(s: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.vstack([y[1], -gamma * (1.0 - s) * np.cos(y[0]), np.sin(y[0])])

    s = np.linspace(0.0, 1.0, 60)
    bent = np.arctan(gamma / 6.0) * s
    first = np.vstack([bent, np.gradient(bent, s), np.cumsum(np.sin(bent)) * (s[1] - s[0])])
    found = solve_bvp(slopes, lambda a, b: np.array([a[0], b[1], a[2]]), s, first, tol=1e-7, max_nodes=20000)
    assert found.success, found.message
    return float(found.y[2, -1])


def effective_rigidity(gamma: float, drop: float) -> float:
    """EI/D of a heavy cantilever that dropped by `drop` where it was built with qL³/D = gamma."""
    return gamma / brentq(lambda g: elastica_drop(g) - drop, 0.3 * gamma, 3.0 * gamma, xtol=1e-4 * gamma)


def tip_loaded(load: float, bending: str, rows: int = 40, thickness: float = THIN) -> tuple[float, float]:
    """w/L and shortening u/L of a cantilever with a dead load PL²/EI = `load` at its tip."""
    beam = strip(strip_mesh(rows, 1.0, 0.25), thin_material(1.0, thickness), bending)
    force = load * beam.width * beam.share
    beam.shell.load(beam.tip, np.column_stack([0 * force, 0 * force, -force]))
    x = sc.equilibrium(sc.Scene([beam.shell], gravity=(0, 0, 0)))
    tip = beam.tip_at(x)
    return float(-tip[2]), float(1.0 - tip[1])


def end_shear(fractions: np.ndarray, bending: str, thickness: float) -> np.ndarray:
    """Sze, Liu and Lo's cantilever (L = 10, b = 1, EI = 100, P = 4): shortening and deflection at P times fractions."""
    beam = strip(strip_mesh(40, 10.0, 1.0), thin_material(100.0, thickness), bending)
    rows = []
    x = None
    for fraction in fractions:
        # EI = 100 belongs to the width 1; the mesh's width is the nearest that fits its triangles.
        force = 4.0 * fraction * beam.width * beam.share
        beam.shell.loads.clear()
        beam.shell.load(beam.tip, np.column_stack([0 * force, 0 * force, force]))
        x = sc.equilibrium(sc.Scene([beam.shell], gravity=(0, 0, 0)), start=x)
        tip = beam.tip_at(x)
        rows.append((10.0 - tip[1], tip[2]))
    return np.array(rows)


class LineCouple:
    """A couple M per width on the last row of elements of a strip: opposite forces on its two rows of vertices,
    square to the elements as they stand (they follow)."""

    def __init__(self, inner: np.ndarray, outer: np.ndarray, points: np.ndarray) -> None:
        self.rows = (inner, outer)
        self.shares = [row_shares(points[row, 0]) for row in self.rows]
        self.moment = 0.0

    def ends(self, x: np.ndarray) -> list[np.ndarray]:
        return [share @ x[row] for share, row in zip(self.shares, self.rows, strict=True)]

    def force(self, t: float, x: np.ndarray, v: np.ndarray, area_normals: np.ndarray) -> np.ndarray:
        inner, outer = self.ends(x)
        along = outer - inner
        arm = np.hypot(along[1], along[2])
        across = np.array([0.0, -along[2], along[1]]) / arm
        force = np.zeros_like(x)
        for sign, row, share in zip((-1.0, 1.0), self.rows, self.shares, strict=True):
            force[row] = sign * self.moment / arm * share[:, None] * across
        return force


def roll_up(fractions: np.ndarray, bending: str, rows: int = 60, thickness: float = 12 * 1e-4) -> np.ndarray:
    """Shortening and deflection at M = fraction · 2π EI/L, L = 12, EI = 100.

    The couple acts on the last element, so its middle is the tip: the mesh reaches half an element beyond L.
    """
    length = 12.0
    h = length / (rows - 0.5)
    beam = strip(strip_mesh(rows, rows * h, 1.0), thin_material(100.0, thickness), bending)
    points = beam.shell.rest_positions
    inner = np.flatnonzero(np.abs(points[:, 1] - (rows - 1) * h) < 1e-6 * h)
    couple = LineCouple(inner, beam.tip, points)
    scene = sc.Scene([beam.shell], gravity=(0, 0, 0), forces=[couple])
    x = points
    found = []
    for fraction in fractions:
        couple.moment = fraction * 2.0 * np.pi * 100.0 * beam.width / length
        x = sc.equilibrium(scene, start=x)
        tip = np.mean(couple.ends(x), axis=0)
        found.append((length - tip[1], tip[2]))
    return np.array(found)


def square_plate(edge: str, bending: str, n: int = 40, thickness: float = 0.01) -> float:
    """Central deflection in qL⁴/D of a square plate on a nearly equilateral mesh, load small enough to be linear."""
    points, faces = meshes.equilateral(n, 2 * round(n / np.sqrt(3.0)), 1.0 / n)
    points = points * [1.0, 1.0 / points[:, 1].max(), 1.0]
    load = 1e-4 * thickness / PLATE[edge]
    shell = sc.Shell(points, faces, thin_material(1.0, thickness, load / GRAVITY), bending=bending)
    rim = np.flatnonzero((np.abs(points[:, :2] - 0.5) > 0.5 - 1e-9).any(axis=1))
    if edge == "clamped":
        shell.clamp(rim)
    else:
        shell.pin(rim)
    x = sc.equilibrium(shell)
    middle = np.argsort(((points[:, :2] - 0.5) ** 2).sum(axis=1))[:6]
    # The centre need not be a vertex: a paraboloid through its neighbours finds the lowest point.
    u, v = (points[middle, :2] - 0.5).T
    fit = np.linalg.lstsq(np.column_stack([np.ones(6), u**2 + v**2]), x[middle, 2], rcond=None)[0]
    return float(-fit[0] / load)


def beam_modes(ends: str, bending: str, cylindrical: bool, rows: int = 48, count: int = 3) -> np.ndarray:
    """Roots (ω² ρ L⁴/D)^¼ of a flat strip's bending modes, from the Hessian at rest and the lumped mass.

    cylindrical: every row of vertices moves as one, which is what a wide sheet does; else the strip curls freely.
    """
    mesh = strip_mesh(rows, 1.0, 0.1)
    beam = strip(mesh, thin_material(1.0, 1e-3), bending, held=None if ends == "clamped" else lambda shell, base: None)
    system = System(sc.Scene([beam.shell]))
    points = beam.shell.rest_positions
    total = sum((e.hessian(points, psd=False).matrix() for e in system.elastic()), csr_matrix((3 * len(points),) * 2))
    terms = system.begin_step(Stage.euler(0.0, 1.0, points, 0 * points))
    total = total + sum((e.hessian(points).matrix() for e in terms.energies), 0 * total)
    up = np.arange(2, 3 * len(points), 3)
    free = system.free[:, 2]
    stiffness = total.tocsr()[up][:, up][free][:, free]
    mass = diags(system.mass[free])
    row = np.unique(np.round(points[free, 1] * rows).astype(int), return_inverse=True)[1]
    gather = csr_matrix((np.ones(len(row)), (np.arange(len(row)), row))) if cylindrical else None
    if gather is not None:
        stiffness, mass = gather.T @ stiffness @ gather, gather.T @ mass @ gather
    rigid = 0 if ends == "clamped" else (2 if cylindrical else 3)
    most = min(stiffness.shape[0] - 2, 3 * (count + 2) + rigid)
    squares, shapes = eigsh(stiffness.tocsc(), most, mass.tocsc(), sigma=-1.0)
    if gather is not None:
        shapes = gather @ shapes
    # Modes that twist the strip are no beam modes: those have the same height on both sides.
    across = points[free, 0] - points[free, 0].mean()
    row_twist = np.array([_row_twist(shape, row, across) for shape in shapes.T])
    beamlike = [k for k in np.argsort(squares) if row_twist[k] < 0.5 and squares[k] > 1e-3]
    return np.array([squares[k] ** 0.25 for k in beamlike[:count]])


def _row_twist(shape: np.ndarray, row: np.ndarray, across: np.ndarray) -> float:
    """Share of a mode's rows that tilt across the width rather than move."""
    tilt = np.bincount(row, shape * across) / np.bincount(row, across**2) * np.abs(across).max()
    move = np.bincount(row, shape) / np.bincount(row)
    return float((tilt**2).sum() / ((tilt**2).sum() + (move**2).sum()))


def swinging_strip(bending: str, rigidity: float = 1.0, rows: int = 24) -> float:
    """(ω² ρ L⁴/D)^¼ of a narrow strip released from its shape under a small tip load, by implicit Euler in time.

    Its motion is small enough for it to curl freely: it should see D(1 − 1/9).
    """
    material = sc.Material(stretch=1.2e5, bend=rigidity, areal_density=1.0, thickness=1e-2)
    beam = strip(strip_mesh(rows, 1.0, 0.1), material, bending)
    force = 0.05 * rigidity * beam.width * beam.share
    load = beam.shell.load(beam.tip, np.column_stack([0 * force, 0 * force, -force]))
    scene = sc.Scene([beam.shell], gravity=(0, 0, 0))
    beam.shell.start = sc.equilibrium(scene)
    beam.shell.loads.remove(load)
    steps = 100
    period = 2.0 * np.pi / (CLAMPED_FREE[0] ** 2 * np.sqrt(rigidity))
    times, heights = [0.0], [beam.tip_at(beam.shell.start)[2]]
    options: dict[str, Any] = {"integrator": "implicit_euler", "substeps": 1, "solver": "auto", "tolerance": 1e-8}
    for frame in sc.simulate(scene, round(0.85 * steps), fps=steps / period, **options):
        times.append(frame.time)
        heights.append(beam.tip_at(frame.positions)[2])
    t, z = np.array(times), np.array(heights)
    at = np.flatnonzero(z[:-1] * z[1:] < 0)
    first, second = (t[at] - z[at] * (t[at + 1] - t[at]) / (z[at + 1] - z[at]))[:2]
    # A step of implicit Euler turns a phase by atan ωh, not ωh.
    h = period / steps
    omega = np.tan(np.pi / (second - first) * h) / h
    return float((omega**2 / rigidity) ** 0.25)


def jittered(n: int, seed: int, amount: float = 0.3) -> meshes.Mesh:
    """Delaunay triangulation of an n × n lattice in the unit square, inner points moved by up to `amount` cells."""
    rng = np.random.default_rng(seed)
    points = np.stack(np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0)), axis=-1).reshape(-1, 2)
    inside = ((points > 0) & (points < n)).all(axis=1)
    points[inside] += rng.uniform(-amount, amount, (int(inside.sum()), 2))
    points /= n
    return np.column_stack([points, np.zeros(len(points))]), meshes._triangulated(points)


def sheet_mesh(kind: str, n: int, seed: int = 0) -> meshes.Mesh:
    """The unit square of about n × n cells: "equilateral", "one", "crossed", "alternating", "jittered", "scattered"."""
    if kind == "equilateral":
        points, faces = meshes.equilateral(n, round(2 * n / np.sqrt(3.0)), 1.0 / n)
        return points / [1.0, points[:, 1].max(), 1.0], faces
    if kind == "jittered":
        return jittered(n, seed)
    if kind == "scattered":
        return meshes.unstructured((n + 1) ** 2, 1.0, 1.0, seed)
    return meshes.grid(n, n, 1.0, 1.0, kind)


def forced_cylinder(
    mesh: meshes.Mesh, angle: float, bending: str = "hinge", fit: bool = False, curvature: float = 1e-3
) -> tuple[float, float]:
    """Rigidity over the material's of a unit square whose border is held on a cylinder of that direction [rad].

    Held are heights and slopes, by two rows of vertices; those within move up and down to rest. First of the whole
    sheet (its outermost edges bear nothing and its border cannot relax: off by O(h)); then of its middle, by a
    smooth window.
    """
    points, faces = mesh
    shell = sc.Shell(points, faces, thin_material(1.0, 1e-2), bending=bending, hinge_fit=fit)
    along = (points[:, :2] - 0.5) @ [np.cos(angle), np.sin(angle)]
    target = points.copy()
    target[:, 2] = 0.5 * curvature * along**2
    shell.start = target
    depth = 1.3 * np.sqrt(2.0 * shell.areas.mean())
    rim = np.flatnonzero((np.abs(points[:, :2] - 0.5) > 0.5 - depth).any(axis=1))
    shell.pin(np.arange(len(points)), target, axes=(True, True, False))
    shell.pin(rim, target[rim])
    scene = sc.Scene([shell], gravity=(0, 0, 0))
    x = sc.equilibrium(scene)
    bent = System(scene).bendings[0]
    total = 2.0 * bent.energy.value(x) / curvature**2
    middle = points[shell.hinges[:, :2]].mean(axis=1)[:, :2]
    window = np.prod(np.sin(np.pi * middle) ** 4, axis=1)
    of_two = shell.areas[shell.mesh.hinge_faces].sum(axis=1)
    cost = bent.angles.weights * bent.angles.angles(x) ** 2
    return float(total), float((window @ cost) / (window @ of_two / 3.0) / curvature**2)


def predicted(kind: str, angle: float) -> float:
    """Effective rigidity over the material's, from the reference table (relaxed; mean of its jittered meshes)."""
    name = {"one": "right /", "crossed": "crossed relaxed", "alternating": "unionjack relaxed"}.get(kind, kind)
    column = {0: 1, 22.5: 2, 45: 3, 67.5: 4, 90: 5, 135: 6}[angle]
    with open(REFERENCES / "hinge_effective_moduli.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row[0] == name or (kind == "jittered" and "delaunay rel" in row[0])]
    return float(np.mean([float(row[column]) for row in rows])) / 3.0


def turned(mesh: meshes.Mesh) -> meshes.Mesh:
    """The same mesh with x and y swapped."""
    points, faces = mesh
    return points[:, [1, 0, 2]], faces[:, ::-1]


def sheet_rigidity(
    mesh: meshes.Mesh,
    bending: str = "quadratic",
    fit: bool = False,
    gamma: float = 1.0,
    thickness: float = 3e-3,
    strain_limit: float = 0.0,
) -> float:
    """EI/D that the tip of a heavy square sheet, clamped along one side, tells by its drop."""
    found = heavy_cantilever(gamma, bending, mesh=mesh, thickness=thickness, strain_limit=strain_limit, hinge_fit=fit)
    return effective_rigidity(gamma, found["drop"])


def hanging_cloth(n: int = 40, bending: str = "quadratic") -> sc.Scene:
    """The reference sheet (2 m, E·t = 2e3 N/m) held at two corners, let go as an upright plane with faint waves."""
    points, faces = meshes.grid(n, n, 2.0, 2.0)
    start = np.column_stack([points[:, 0], 1e-3 * np.sin(7 * points[:, 0]) * points[:, 1], points[:, 1]])
    material = sc.Material(stretch=2e3, poisson=0.25, bend=5e-5, areal_density=0.15, thickness=1e-3)
    shell = sc.Shell(points, faces, material, bending=bending, start=start)
    upper = points[:, 1] > 2.0 - 1e-9
    shell.pin(np.flatnonzero(upper & ((points[:, 0] < 1e-9) | (points[:, 0] > 2.0 - 1e-9))))
    return sc.Scene([shell])


def buckled_strip(bending: str = "hinge", shortening: float = 0.3) -> sc.Scene:
    """A thin strip clamped at both ends, which have come together by 30% of its length."""
    points, faces = strip_mesh(30, 1.0, 0.2)
    start = points * [1.0, 1.0 - shortening, 1.0]
    start[:, 2] = 0.3 * np.sin(np.pi * points[:, 1]) ** 2
    shell = sc.Shell(points, faces, thin_material(1e-3, 1e-3), bending=bending, start=start)
    shell.clamp(np.flatnonzero(points[:, 1] < 1e-9))
    # Two rows at the far end: position and slope.
    held = np.flatnonzero(points[:, 1] > 1.0 - 1.5 / 30)
    shell.pin(held, points[held] - [0.0, shortening, 0.0])
    return sc.Scene([shell], gravity=(0, 0, 0))


def pillow(n: int = 12, bending: str = "hinge") -> sc.Scene:
    """Two flat squares joined at their rim and blown up."""
    points, faces = meshes.grid(n, n, 1.0, 1.0)
    rim = (np.abs(points[:, :2] - 0.5) > 0.5 - 1e-9).any(axis=1)
    inner = np.flatnonzero(~rim)
    below = np.arange(len(points))
    below[inner] = len(points) + np.arange(len(inner))
    both = np.vstack([points, points[inner]])
    both[inner, 2], both[len(points) :, 2] = 1e-3, -1e-3
    material = sc.Material(stretch=5e3, poisson=0.25, bend=1e-4, areal_density=0.15, thickness=1e-3)
    shell = sc.Shell(
        both, np.vstack([faces, below[faces][:, ::-1]]), material, bending, rest_angles="flat", pressure=100.0
    )
    shell.pin([0])
    shell.pin([n], axes=(False, True, True))
    shell.pin([(n + 1) * n], axes=(False, False, True))
    return sc.Scene([shell])


def static_residual(scene: sc.Scene, x: np.ndarray) -> float:
    """Largest force [N] left on a free vertex at x, added up from the energies one by one."""
    system = System(scene)
    force = -system.mass[:, None] * scene.gravity
    for part in system.elastic():
        force = force + part.gradient(x)
    for shell, pressure in system.pressures:
        pressure.pressure = shell.pressure_at(0.0)
        pressure.begin_step(x)
        force = force + pressure.gradient(x)
    (shell,) = scene.shells
    for load in shell.loads:
        np.subtract.at(force, load.vertices, np.ascontiguousarray(load.at(0.0)))
    for slope in shell.slopes:
        np.add.at(force, slope.vertices, slope.stiffness[:, None] * (x[slope.vertices] - slope.at(0.0)))
    for source in scene.forces:
        force = force - source.force(0.0, x, 0 * x, system.area_normals(x))
    force[~system.free] = 0.0
    return float(np.linalg.norm(force, axis=1).max())
