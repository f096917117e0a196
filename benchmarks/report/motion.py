"""Motion, momentum, energy, friction and identities: what every step must keep."""

from __future__ import annotations

from typing import Any

import cases
import contact_scenes
import numpy as np
import scenes

import meshes
import modal_cases
import shellcore as sc
from shellcore.energies.willmore import WillmoreEnergy
from shellcore.mesh import topology
from shellcore.system import System

SOFT = sc.Material(stretch=40.0, poisson=0.3, bend=0.02, areal_density=0.2, thickness=1e-3)
OMEGA = 2.0 * np.pi
MODELS = (*cases.MODELS, "subdivision")
EXACT = {"solver": "newton", "tolerance": 1e-15}


def free_fall() -> dict[str, float]:
    """Largest distance from the exact fall after 0.2 s [m]: Newmark's parabola, Euler's −½gt(t + h)."""
    result = {}
    for integrator in ("newmark", "implicit_euler", "imex_bending", "imex_membrane", "explicit"):
        points, faces = meshes.bumpy(meshes.grid(2, 2, 1.0, 1.0), 0.1)
        shell = sc.Shell(points, faces, SOFT, velocities=np.tile([1.0, 2.0, 3.0], (9, 1)))
        pull = np.array([0.0, 0.0, -9.81])
        *_, end = sc.simulate(sc.Scene([shell], gravity=pull), 40, fps=200.0, integrator=integrator, substeps=1)
        t, ahead = end.time, 0.0 if integrator == "newmark" else 1 / 200.0
        exact = points + t * np.array([1.0, 2.0, 3.0]) + 0.5 * t * (t + ahead) * pull
        result[integrator] = float(np.abs(end.positions - exact).max())
    return result


def oscillator(h: float, count: int, integrator: str, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Displacement and velocity of a triangle on equal soft pins: a linear oscillator of rate OMEGA."""
    points, faces = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0)]), np.array([[0, 1, 2]])
    shell = sc.Shell(points, faces, SOFT, start=points + np.array([0, 0, 0.1]))
    shell.pin([0, 1, 2], points, stiffness=OMEGA**2 * shell.mass)
    scheme = {"integrator": integrator, "substeps": 1}
    frames = sc.simulate(sc.Scene([shell], gravity=(0, 0, 0)), count, fps=1 / h, **scheme, **options)
    z, v = np.array([(f.positions[0, 2], f.velocities[0, 2]) for f in frames]).T
    return np.concatenate([[0.1], z]), np.concatenate([[0.0], v])


def oscillations() -> dict[str, float]:
    """Energy, period and order of the schemes on a linear oscillator."""
    result: dict[str, float] = {}
    z, v = oscillator(0.02, 400, "newmark", **EXACT)
    energy = 0.5 * v**2 + 0.5 * (OMEGA * z) ** 2
    result["Newmark: largest change of energy in 400 steps"] = float(np.abs(energy / energy[0] - 1).max())
    phase = np.unwrap(np.arctan2(-v / OMEGA, z))
    longer = OMEGA * 400 * 0.02 / (phase[-1] - phase[0]) - 1
    result["Newmark: lengthening of the period over (ωh)²/12"] = float(longer / ((OMEGA * 0.02) ** 2 / 12))
    z, v = oscillator(0.05, 50, "implicit_euler", **EXACT)
    energy = 0.5 * v**2 + 0.5 * (OMEGA * z) ** 2
    share = energy[1:] / energy[:-1] * (1 + (OMEGA * 0.05) ** 2)
    result["implicit Euler: energy a step over 1/(1 + ω²h²), worst"] = float(share[np.abs(share - 1).argmax()])
    for integrator in ("newmark", "implicit_euler", "imex_bending", "imex_membrane", "explicit"):
        errors = []
        for count in (80, 160):
            z, v = oscillator(0.85 / count, count, integrator, **EXACT)
            at = 0.85 * OMEGA
            errors.append(np.hypot(z[-1] - 0.1 * np.cos(at), v[-1] / OMEGA + 0.1 * np.sin(at)))
        result[f"order of {integrator}"] = float(np.log2(errors[0] / errors[1]))
    return result


def tumbling(model: str) -> sc.Shell:
    """A free shell that flies, turns about all axes and shakes."""
    flat = meshes.grid(4, 4, 0.5, 0.5, "one")
    points, faces = flat if model == "quadratic" else meshes.bumpy(flat, 0.05)
    spin = np.cross([1.0, 2.0, 3.0], points - points.mean(axis=0))
    shake = 0.2 * np.random.default_rng(0).normal(size=points.shape)
    material = sc.Material(stretch=50.0, poisson=0.4, bend=0.01, areal_density=0.2, thickness=1e-3)
    return sc.Shell(points, faces, material, bending=model, velocities=spin + shake + np.array([1.0, -2.0, 0.5]))


def momentum() -> dict[str, dict[str, float]]:
    """A tumbling, vibrating shell without loads: change of momentum and angular momentum, rise of energy."""
    result: dict[str, dict[str, float]] = {}
    for model in MODELS:
        for integrator in ("implicit_euler", "newmark"):
            for fps, name in ((200.0, "1/200 s"), (800.0, "1/800 s")):
                row = tumble(model, integrator, fps)
                result[f"{model}, {integrator}, {name}"] = row
    return result


def tumble(model: str, integrator: str, fps: float) -> dict[str, float]:
    """Changes from the first frame to the last; hidden vertices of subdivision shells carry mass too."""
    scene = sc.Scene([tumbling(model)], gravity=(0, 0, 0))
    system = System(scene)
    options = {"integrator": integrator, "substeps": 1, "solver": "newton", "tolerance": 1e-9}
    frames = sc.simulate(scene, round(0.25 * fps), fps=fps, **options)
    states = [(frame.state["positions"], frame.state["velocities"]) for frame in frames]
    mass = system.mass[:, None]

    def angular(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        return (mass * np.cross(x - (mass * x).sum(axis=0) / mass.sum(), v)).sum(axis=0)

    def energy(x: np.ndarray, v: np.ndarray) -> float:
        return sum(part.value(x) for part in system.elastic()) + 0.5 * float((mass * v**2).sum())

    linear = [(mass * v).sum(axis=0) for _, v in (states[0], states[-1])]
    turning = [angular(x, v) for x, v in (states[0], states[-1])]
    energies = [energy(x, v) for x, v in states]
    return {
        "momentum": float(np.linalg.norm(linear[1] - linear[0]) / np.linalg.norm(linear[0])),
        "angular momentum": float(np.linalg.norm(turning[1] - turning[0]) / np.linalg.norm(turning[0])),
        "largest rise of energy in a step": float(np.diff(energies).max() / energies[0]),
        "energy at the end": energies[-1] / energies[0],
    }


def incline() -> dict[str, dict[str, float]]:
    """A sheet on a slope, by kind of contact: speed after half a second 1° below the angle of friction [m/s];
    acceleration above it over exact."""
    result: dict[str, dict[str, float]] = {}
    for contact in ("exact", "penalty"):
        row = result.setdefault(contact, {})
        for mu in (0.1, 0.3, 0.6):
            limit = np.degrees(np.arctan(mu))
            row[f"μ = {mu}: speed 1° below [m/s]"] = slide(mu, limit - 1.0, contact)[0]
            for above in (1.0, 12.0):
                a = np.radians(limit + above)
                exact = 9.81 * (np.sin(a) - mu * np.cos(a))
                row[f"μ = {mu}: acceleration {above:g}° above"] = slide(mu, limit + above, contact)[1] / exact
    return result


def slide(mu: float, degrees: float, contact: str, frames: int = 12) -> tuple[float, float]:
    """Speed at the end and acceleration over the second half, down a slope."""
    a = np.radians(degrees)
    normal, down = np.array([np.sin(a), 0.0, np.cos(a)]), np.array([np.cos(a), 0.0, -np.sin(a)])
    points, faces = meshes.grid(3, 3, 0.2, 0.2)
    start = points[:, :1] * down + points[:, 1:2] * np.cross(normal, down) + 0.499e-3 * normal
    shell = sc.Shell(start, faces, contact_scenes.cloth(), bending="quadratic")
    plane = sc.Plane((0, 0, 0), tuple(normal), friction=mu)
    scene = sc.Scene([shell], colliders=[plane], self_contact=False, contact=contact)
    speeds = np.array([f.velocities.mean(axis=0) @ down for f in sc.simulate(scene, frames=frames)])
    half = frames // 2
    return float(speeds[-1]), float(np.polyfit(np.arange(half + 1, frames + 1) / 24, speeds[half:], 1)[0])


def identities() -> dict[str, Any]:
    """The folded grid, affine functions, the null space of Q, the strain of a hung sheet, Willmore's sphere."""
    result: dict[str, Any] = {}
    nx, ny, angle = 6, 5, 0.7
    points, faces = meshes.grid(nx, ny, float(nx), float(ny), "one")
    material = sc.Material(stretch=1.0, bend=3.0, areal_density=1.0, thickness=0.1)
    turn = angle * np.maximum(np.arange(nx), 0)
    x = np.concatenate([[0.0], np.cumsum(np.cos(turn))])
    z = np.concatenate([[0.0], np.cumsum(np.sin(turn))])
    column = np.rint(points[:, 0]).astype(int)
    folded = np.column_stack([x[column], points[:, 1], z[column]])
    for model in ("hinge", "quadratic", "cubic"):
        shell = sc.Shell(points, faces, material, bending=model)
        bend = System(sc.Scene([shell])).bendings[0].energy
        # λ = D/3 = 1; hinges of all models agree under isometric folds.
        exact = 3.0 * (nx - 1) * ny * (1 - np.cos(angle))
        result[f"folded grid, {model}: energy over 3λ(nx − 1)ny(1 − cos θ)"] = float(bend.value(folded) / exact)
    flat, faces = meshes.unstructured(120, 1.0, 1.0)
    shell = sc.Shell(flat, faces, material, bending="quadratic")
    bend = System(sc.Scene([shell])).bendings[0].energy
    matrix = bend.hessian(flat).matrix().toarray()[::3, ::3]
    affine = np.column_stack([np.ones(len(flat)), flat[:, :2]])
    result["Q on affine functions, over its largest entry"] = float(
        np.abs(matrix @ affine).max() / np.abs(matrix).max()
    )
    values = np.linalg.eigvalsh(matrix)
    result["nullity of Q a coordinate"] = int((values < 1e-9 * values[-1]).sum())
    for stiffness in (500.0, 2000.0):
        points, faces = meshes.grid(20, 20, 2.0, 2.0)
        cloth = sc.Material(stretch=stiffness, bend=1e-5, areal_density=0.15, thickness=3e-4)
        shell = sc.Shell(points, faces, cloth, bending="quadratic")
        shell.pin(np.flatnonzero(points[:, 1] > 2.0 - 1e-9))
        grid = sc.equilibrium(sc.Scene([shell], gravity=(0, -9.81, 0))).reshape(21, 21, 3)
        strain = float((np.linalg.norm(np.diff(grid, axis=0), axis=2) / 0.1 - 1).mean())
        result[f"hung sheet, {stiffness:g} N/m: mean strain over ρgL/2Et"] = strain / (0.15 * 9.81 * 2 / 2 / stiffness)
    sphere = meshes.icosphere(4)
    vertex = WillmoreEnergy(topology(sphere[1], len(sphere[0]))).value(sphere[0])
    result["Willmore energy of an icosphere of 5120 triangles over 8π, vertex form"] = float(vertex / (8 * np.pi))
    return result


def modal() -> dict[str, float]:
    """Modal warping against its closed form: change of length of a beam that sags to a linear tip angle of 0.65 rad."""
    beam, tip = modal_cases.Beam(), 0.65
    q = beam.sagged(tip)
    linear, warped = (modal_cases.length(curve) for curve in modal_cases.sagging(tip))
    found = [
        modal_cases.length(beam.centre(x)) / modal_cases.length(beam.centre(beam.points)) - 1
        for x in (beam.modal.linear_positions(q), beam.modal.warped_positions(q))
    ]
    return {
        "linear modes, closed form": linear - 1,
        "linear modes, found": float(found[0]),
        "warped, closed form": warped - 1,
        "warped, found": float(found[1]),
    }


def agreement() -> dict[str, float]:
    """Distance between the shapes of models on one mesh, RMS over the length: a heavy sheet, clamped, Γ = 5."""
    points, faces = cases.strip_mesh(30, 1.0, 0.5)
    shapes = {}
    for model in cases.MODELS:
        found = cases.heavy_cantilever(5.0, model, mesh=(points, faces), thickness=1e-3)
        shapes[model] = found["positions"]
    material = cases.thin_material(1.0, 1e-3, 5.0 / cases.GRAVITY)
    shell = sc.Shell(sc.fit_control(points, faces), faces, material, bending="subdivision")
    shell.clamp(np.flatnonzero(points[:, 1] < 1e-9))
    stats: dict[str, Any] = {}
    x = sc.equilibrium(sc.Scene([shell]), stats=stats)
    shapes["subdivision"] = shell.limit(np.concatenate([x, *stats["hidden"]]))
    names = list(shapes)
    return {
        f"{a} – {b}": float(np.sqrt(((shapes[a] - shapes[b]) ** 2).sum(axis=1).mean()))
        for i, a in enumerate(names)
        for b in names[i + 1 :]
    }


def swinging_energy() -> dict[str, list[float]]:
    """Energy [J] of a cotton sheet swung from one side over a second, frame by frame of 1/48 s, by model and scheme."""
    result = {}
    for model in ("hinge", "quadratic", "cubic"):
        for integrator, substeps in (("implicit_euler", 1), ("newmark", 1), ("newmark", 8)):
            points, faces = meshes.grid(8, 8, 0.5, 0.5)
            shell = sc.Shell(points, faces, sc.Material.preset("cotton"), bending=model)
            shell.pin(np.flatnonzero(points[:, 1] > 0.5 - 1e-9))
            scene = sc.Scene([shell], self_contact=False)
            options = {"integrator": integrator, "solver": "newton", "tolerance": 1e-7}
            frames = sc.simulate(scene, 48, fps=48, substeps=substeps, **options)
            name = f"{model}, {integrator}, 1/{48 * substeps} s"
            result[name] = [scenes.energy(scene, frame) for frame in frames]
    return result
