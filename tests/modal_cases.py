"""Scenes of modal warping, shared by tests and pictures: figures 3 to 6 of the paper, with numbers of ours."""

from __future__ import annotations

from typing import Any

import cases
import numpy as np

import meshes
import shellcore as sc

# Equilateral hinge meshes bend with a Poisson ratio of −1/3, so a narrow strip has the rigidity D(1 − 1/9).
NARROW = 8.0 / 9.0


def rotation(axis: int, angle: float) -> np.ndarray:
    """Matrix of a turn about a coordinate axis [rad]."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turn = np.eye(3)
    turn[i, i] = turn[j, j] = np.cos(angle)
    turn[i, j], turn[j, i] = -np.sin(angle), np.sin(angle)
    return turn


def settled(modal: sc.ModalShell, steps: int = 300, dt: float = 1 / 30) -> np.ndarray:
    """Positions after the motion has died out (the shell's damping must see to that)."""
    for _ in range(steps):
        x = modal.step(dt)
    return x


# Figure 3


def sagging(tip: float, points: int = 4001) -> tuple[np.ndarray, np.ndarray]:
    """A unit cantilever under a uniform load with linear tip angle `tip`: linear and warped curve (x, z), (points, 2).

    Slope θ = tip (1 − (1 − s)³), deflection w = ∫θ; warped by ∫R: x = s − w (1 − cos θ)/θ, z = w sin θ/θ.
    """
    s = np.linspace(0.0, 1.0, points)
    slope, w = tip * (1 - (1 - s) ** 3), tip * (s - (1 - (1 - s) ** 4) / 4)
    safe = np.maximum(slope, 1e-12)
    linear = np.column_stack([s, w])
    return linear, np.column_stack([s - w * (1 - np.cos(slope)) / safe, w * np.sin(slope) / safe])


def length(curve: np.ndarray) -> float:
    """Of a polygon, (k, 2 or 3)."""
    return float(np.linalg.norm(np.diff(curve, axis=0), axis=1).sum())


class Beam:
    """A flat strip of unit length along y, clamped at y = 0, with its centre line."""

    def __init__(self, rows: int = 60, bending: str = "hinge", modes: int = 40, **options: Any) -> None:
        gravity = options.pop("gravity", (0.0, 0.0, 0.0))
        mesh = cases.strip_mesh(rows, 1.0, 0.05)
        self.strip = cases.strip(mesh, cases.thin_material(1.0, 1e-3), bending, **options)
        self.points = self.strip.shell.rest_positions
        self.tip = self.strip.tip
        row = np.round(self.points[:, 1] * rows).astype(int)
        members = [np.flatnonzero(row == r) for r in range(rows + 1)]
        self._lines = [(at, cases.row_shares(self.points[at, 0])) for at in members]
        self.modal = sc.ModalShell(self.strip.shell, modes, gravity=gravity)

    def centre(self, x: np.ndarray) -> np.ndarray:
        """Mean of every row, (rows + 1, 3)."""
        return np.array([share @ x[at] for at, share in self._lines])

    def sagged(self, tip: float) -> np.ndarray:
        """Amplitudes of the linear answer to a uniform load, with a tip angle of `tip`."""
        weight = self.strip.shell.mass[:, None] * [0.0, 0.0, -1.0]
        q = np.einsum("ncm,nc->m", self.modal.shapes, weight) / self.modal.eigenvalues
        angle = np.abs(self.modal.rotations[self.tip, 0] @ q).mean()
        return q * tip / angle


def swings(frames: int = 56, fps: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Tip of a beam let go under gravity, (frames, 3), by modes and by the full simulation.

    The linear tip angle is 0.5 at rest, so about 1 at the lowest point of the swing.
    """
    gravity = (0.0, 0.0, -6.0 * 0.5 * NARROW)
    beam = Beam(rows=20, gravity=gravity)
    scene = sc.Scene([beam.strip.shell], gravity=gravity)
    steps = sc.simulate(scene, frames, fps=fps, integrator="newmark", substeps=1, solver="auto", tolerance=1e-5)
    full = np.array([beam.strip.tip_at(frame.positions) for frame in steps])
    return np.array([beam.strip.tip_at(beam.modal.step(1 / fps)) for _ in range(frames)]), full


# Figure 4


def drooping(fold: float, rigidity: float, modes: int = 30) -> tuple[sc.ModalShell, np.ndarray]:
    """A v-beam (fold 0: flat) of 1 m, clamped at one end, at rest under gravity; the membrane is always the same."""
    points, faces = meshes.v_beam(24, 3, 1.0, 0.08, fold)
    material = sc.Material(stretch=2e5, bend=rigidity, areal_density=0.3, thickness=1e-3)
    shell = sc.Shell(points, faces, material, bending="hinge", damping=sc.Damping(mass=4.0))
    shell.clamp(np.flatnonzero(points[:, 0] < 1e-9))
    modal = sc.ModalShell(shell, modes)
    return modal, settled(modal)


# Figure 5


def manipulated(position: bool, orientation: bool, steps: int = 120) -> tuple[Beam, np.ndarray, list[sc.Handle]]:
    """A flat beam whose tip is dragged up, turned, or both, within two seconds; then it rests."""
    beam = Beam(rows=40, damping=sc.Damping(mass=4.0))
    modal, tip = beam.modal, beam.tip
    handles: list[sc.Handle] = []
    if position:
        handles.append(modal.position_handle(tip, beam.points[tip]))
    if orientation:
        handles.append(modal.orientation_handle(tip, np.eye(3)))
    for k in range(steps):
        part = min(1.0, k / 60)
        for handle in handles:
            if handle.kind == "position":
                goal = sagging(0.8 * part)[1][-1] if part > 0 else np.array([1.0, 0.0])
                if orientation:
                    goal = np.array([1.0 - 0.04 * part, 0.4 * part])
                handle.target = beam.points[tip] + [0.0, goal[0] - 1.0, goal[1]]
            else:
                handle.target = rotation(0, (0.2 if position else 1.2) * part)
        x = modal.step(1 / 30)
    return beam, x, handles


# Figure 6


class Character:
    """A dancer of four sheets (hat, body, two legs), each free but for handles on a skeleton of four bones.

    All vertices within a sphere or cylinder round a bone's joint follow the bone; an orientation handle turns them.
    """

    def __init__(self, modes: int = 24) -> None:
        felt = sc.Material.solid(young=6e6, poisson=0.2, thickness=3e-3, density=300.0)
        soft = sc.Material.solid(young=1e6, poisson=0.2, thickness=1.5e-3, density=300.0)
        damping = sc.Damping(mass=2.0, stiffness=2e-3)
        brim, top = 0.28, 0.06
        cone, faces = meshes.cylinder(20, 5, 1.0, 0.25)
        radius = brim + (top - brim) * cone[:, 2] / 0.25
        cone = cone * np.column_stack([radius, radius, np.ones(len(cone))]) + [0, 0, 1.55]
        body, body_faces = meshes.grid(8, 14, 0.4, 0.7)
        leg, leg_faces = meshes.grid(3, 16, 0.12, 0.8)
        stand = rotation(0, np.pi / 2).T
        body = body @ stand + [-0.2, 0.0, 0.8]
        left, right = (leg @ stand + [x, 0.0, 0.0] for x in (-0.2, 0.08))
        sheets = {
            "hat": (cone, faces, np.array([0.0, 0.0, 1.8])),
            "body": (body, body_faces, np.array([0.0, 0.0, 1.5])),
            "left leg": (left, leg_faces, np.array([-0.14, 0.0, 0.8])),
            "right leg": (right, leg_faces, np.array([0.14, 0.0, 0.8])),
        }
        reach = {"hat": 0.1, "body": 0.22, "left leg": 0.09, "right leg": 0.09}
        self.sheets: dict[str, sc.ModalShell] = {}
        self.held: dict[str, np.ndarray] = {}
        self.joints = {name: joint for name, (_, _, joint) in sheets.items()}
        self._handles: dict[str, tuple[sc.Handle, sc.Handle]] = {}
        for name, (points, triangles, joint) in sheets.items():
            material = soft if name == "hat" else felt
            modal = sc.ModalShell(sc.Shell(points, triangles, material, bending="hinge", damping=damping), modes)
            held = np.flatnonzero(np.linalg.norm(points - joint, axis=1) < reach[name])
            if name == "hat":
                held = held[::5]  # modes that were asked to hold the whole rim of the top would be left with nothing
            position = modal.position_handle(held, points[held])
            self._handles[name] = (position, modal.orientation_handle(held, np.eye(3)))
            self.sheets[name], self.held[name] = modal, held
        self.time = 0.0

    def bone(self, name: str, t: float) -> np.ndarray:
        """Where a bone is: (4, 4). Sways, turns, and kicks its legs in turns."""
        grow = min(1.0, t)
        sway = np.array([0.15 * np.sin(2.5 * t), 0.0, 0.06 * np.sin(5.0 * t)]) * grow
        turn = rotation(2, 0.5 * np.sin(1.7 * t) * grow)
        if name == "hat":
            turn = turn @ rotation(1, 0.3 * np.sin(2.5 * t) * grow)
        elif name != "body":
            kick = np.sin(5.0 * t + (0.0 if name == "left leg" else np.pi))
            turn = turn @ rotation(0, 0.7 * kick * grow)
        matrix = np.eye(4)
        joint = self.joints[name]
        # Joints ride on the body's turn about the vertical through the hips; bones turn about their joints.
        about = rotation(2, 0.5 * np.sin(1.7 * t) * grow) @ joint + sway
        matrix[:3, :3], matrix[:3, 3] = turn, about - turn @ joint
        return matrix

    def step(self, dt: float = 1 / 30) -> dict[str, np.ndarray]:
        """Positions of every sheet after one more step of the dance."""
        self.time += dt
        placed = {}
        for name, modal in self.sheets.items():
            bone = self.bone(name, self.time)
            position, orientation = self._handles[name]
            rest = modal.shell.rest_positions[self.held[name]]
            position.target = rest @ bone[:3, :3].T + bone[:3, 3]
            orientation.target = bone[:3, :3]
            placed[name] = modal.step(dt)
        return placed


def stretches(shell: sc.Shell, x: np.ndarray) -> np.ndarray:
    """Length of every edge over its rest length."""
    a, b = shell.mesh.edges.T
    rest = shell.rest_positions
    return np.linalg.norm(x[b] - x[a], axis=1) / np.linalg.norm(rest[b] - rest[a], axis=1)
