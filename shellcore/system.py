"""A scene turned into energies on one stacked array of positions.

`System` owns what stays the same over a run (masses, elastic energies, the constant matrix); `begin_step` sets
what changes from step to step (targets, loads, lagged friction and drag) and returns a `StepTerms`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from .assembly import Hessian
from .colliders import Collider
from .contact import Contact, NoContact
from .energies.base import Energy
from .energies.cubic import Cubic
from .energies.drag import NormalDrag
from .energies.fem import Fem
from .energies.hinge import Hinge, hinge_weights
from .energies.penalty import Penalty
from .energies.pins import Attachments, SoftPins
from .energies.pressure import AreaNormals, Pressure
from .energies.quadratic import crouzeix_raviart, vertex_form
from .energies.springs import AreaSprings, EdgeSprings, spring_constants
from .energies.viscosity import AngleViscosity, StrainViscosity
from .errors import ShellError, ShellWarning, listed
from .scene import Scene
from .shell import Shell
from .stretch_cap import stretch_scale
from .stretch_guard import StretchGuard
from .subdivision.energy import KelvinVoigt
from .subdivision.model import FaceStrains, SubdivisionModel, control_map
from .types import Bools, Floats, Ints, Sparse
from .vectors import by_columns

# Stretch over bending, A|e|²/D, below which a curved cubic shell leaves its model (Cubic Shells, section 8).
STIFFEST_BENDING = 100.0


@dataclass
class Bending:
    """Bending of one shell: the force's energy, and the energies whose Hessians stand in for its own.

    `angles` measures hinges for damping and fields; `companion` is the cubic model of the same hinges, source of
    the CS and CC Jacobians (None for the vertex form, whose own matrix is constant).
    """

    energy: Energy
    angles: Hinge
    companion: Cubic | None
    has_membrane: bool = False
    """Whether the energy is that of a whole shell, stretch and bending together."""

    def hessian(self, x: Floats, jacobian: str) -> Hessian:
        """Of the force: "exact" (NH), "cubic" (CS) or "constant" (CC)."""
        if jacobian == "exact":
            return self.energy.hessian(x, psd=False)
        if self.companion is None:
            return self.energy.hessian(x)
        return self.companion.hessian(x, psd=jacobian == "constant")

    def stiffness(self) -> Sparse:
        """Constant (n, n) matrix."""
        return self.energy.stiffness() if self.companion is None else self.companion.stiffness()

    def set_rest_angles(self, angles: Floats) -> None:
        """New rest angles [rad], (h,), for all three."""
        self.angles.set_rest_angles(angles)
        if self.companion is not None:
            self.companion.set_rest_angles(angles)


@dataclass
class StepTerms:
    """What acts during one step: soft energies, dead forces [N] (n, 3), where held components go (n, 3), and the
    bending of each shell (of subdivision shells with their viscosity in it)."""

    energies: list[Energy]
    force: Floats
    targets: Floats
    bendings: list[Bending]


class System:
    """All shells of a scene, stacked. Positions are (n, 3) throughout."""

    def __init__(self, scene: Scene, strain_limit: float = 0.0) -> None:
        self.scene = scene
        self.stretch_scales = [stretch_scale(scene, shell, strain_limit) for shell in scene.shells]
        """Factor on each shell's membrane stiffness; below 1 where `strain_limit` let it be lowered."""
        self.offsets = scene.offsets()
        self.visible = int(self.offsets[-1])
        """Vertices; unknowns beyond them are hidden: ghosts of subdivision shells."""
        self.hidden_offsets = scene.hidden_offsets()
        self.vertex_count = n = int(self.hidden_offsets[-1])
        shells = scene.shells
        self.start = self.with_hidden(np.concatenate([shell.start for shell in shells]))
        self.velocities = self.with_hidden(np.concatenate([shell.velocities for shell in shells]))
        self.models = {
            i: SubdivisionModel(shell, self.unknowns(i)) for i, shell in enumerate(shells) if shell.loop is not None
        }
        self.to_control = control_map(list(self.models.values()), n) if self.models else None
        self.mass = self._masses()
        self.weight = self._weight()
        self.mass_damping = np.zeros(n)
        for i, shell in enumerate(shells):
            self.mass_damping[self.unknowns(i)] = shell.damping.mass * self.mass[self.unknowns(i)]
        self.faces = np.concatenate([shell.faces + at for shell, at in zip(shells, self.offsets, strict=False)])
        self.area_normals = AreaNormals(self.faces, n)
        self.membranes: list[list[Energy]] = []
        self.strain_fields: list[Fem | FaceStrains] = []
        self.bendings: list[Bending] = []
        self.viscosities: list[StrainViscosity | AngleViscosity] = []
        self.whole_viscosities: dict[int, KelvinVoigt] = {}
        """Of subdivision shells, by shell: they change its energy for a step."""
        self._angle_dampers: list[tuple[Shell, AngleViscosity]] = []
        self.pressures: list[tuple[Shell, Pressure]] = []
        for i, (shell, at, scale) in enumerate(zip(shells, self.offsets, self.stretch_scales, strict=False)):
            if i in self.models:
                self._add_subdivision(i, int(at), scale)
            else:
                self._add_shell(shell, int(at), scale)
        self.free = self._free()
        bounds: list[slice | Ints] = [slice(int(a), int(b)) for a, b in pairwise(self.offsets)]
        for i in self.models:
            bounds[i] = self.unknowns(i)
        self.parts = [(part, bool(self.free[part].all())) for part in bounds]
        """Unknowns of each shell, and whether nothing holds them exactly."""
        joined = bool(scene.attachments) or scene.exact_contact
        self.bodies = [(slice(0, n), bool(self.free.all()))] if joined else self.parts
        """The same for what moves on its own: shells that are tied or may touch exchange momentum."""
        self._soft = any(pin.stiffness is not None for s in shells for pin in s.pins) or any(s.slopes for s in shells)
        self.contact: Any = NoContact()
        self.penalties: list[Penalty] = []
        if scene.exact_contact:
            if self.models:
                raise ShellError(
                    f"shell {min(self.models)}: bending='subdivision' meets planes and spheres by penalty only so far; "
                    "use another bending model with exact contact or mesh colliders"
                )
            self.contact = Contact(scene, self.mass, self.free, self.start)
        else:
            half = [np.full(len(s.rest_positions), 0.5 * float(np.mean(s.material.thickness))) for s in shells]
            touching = np.where(np.arange(n) < self.visible, self.mass, 0.0)
            reach = np.concatenate([*half, np.zeros(n - self.visible)])
            solids = [collider for collider in scene.colliders if not isinstance(collider, Collider)]
            self.penalties = [Penalty(solid, touching, reach) for solid in solids]
        damped = self.mass_damping.any() or scene.wind is not None
        self.isolated = not (damped or self._soft or scene.colliders)
        """Whether nothing but dead forces acts from outside."""
        self._guards = [self._guard(i) for i in range(len(shells))]
        self._ties = self._attachments(-np.inf)
        self._edges: tuple[Ints, Floats] | None = None
        self.version = 0
        self._warn()

    def unknowns(self, i: int) -> Ints:
        """Places of shell i's vertices and hidden unknowns in the stack."""
        own, hidden = (np.arange(at[i], at[i + 1]) for at in (self.offsets, self.hidden_offsets))
        return np.concatenate([own, hidden])

    def with_hidden(self, x: Floats) -> Floats:
        """Vectors of all vertices, (visible, 3), with those of hidden unknowns after them as at rest, by columns."""
        parts = [x]
        for i, shell in enumerate(self.scene.shells):
            if shell.loop is not None:
                parts.append(shell.loop.complete(x[self.offsets[i] : self.offsets[i + 1]])[len(shell.rest_positions) :])
        return by_columns(np.concatenate(parts))

    def control(self, x: Floats) -> Floats:
        """Positions of vertices and ghosts from the unknowns x, which differ from them where limits are held."""
        return x if self.to_control is None else self.to_control.apply(x)

    def _masses(self) -> Floats:
        mass = np.empty(self.vertex_count)
        for i, shell in enumerate(self.scene.shells):
            mass[self.unknowns(i)] = self.models[i].mass if i in self.models else shell.mass
        return mass

    def _weight(self) -> Floats:
        pulled = self.mass.copy()
        for model in self.models.values():
            pulled[model.slots] = model.weights
        weight = by_columns(pulled[:, None] * self.scene.gravity)
        return weight if self.to_control is None else by_columns(self.to_control.transpose(weight))

    def _add_subdivision(self, i: int, at: int, scale: float) -> None:
        shell, model = self.scene.shells[i], self.models[i]
        energy = model.energy(self.vertex_count, scale, self.to_control)
        self.membranes.append([])
        self.strain_fields.append(FaceStrains(energy))
        hinges = Hinge(
            shell.mesh, np.zeros(len(shell.hinges)), shell.rest_angles_at(0.0), "angle", at, self.vertex_count
        )
        self.bendings.append(Bending(energy, hinges, None, has_membrane=True))
        rate = shell.damping.stiffness + shell.damping.viscosity
        if rate > 0.0:
            self.whole_viscosities[i] = KelvinVoigt(energy, rate)
        if shell.pressure is not None:
            self.pressures.append((shell, Pressure(shell.faces + at, shell.mesh.closed, self.vertex_count)))

    def _add_shell(self, shell: Shell, at: int, scale: float) -> None:
        n, mesh, rest = self.vertex_count, shell.mesh, shell.rest_positions
        a11, a22, a12, a66 = shell.material.membrane_moduli(len(mesh.faces))
        moduli = (scale * a11, scale * a22, scale * a12, scale * a66)
        fem = Fem(rest, mesh.faces, shell.axes, moduli, at, n)
        self.strain_fields.append(fem)
        if shell.membrane == "fem":
            self.membranes.append([fem])
        else:
            k_length, k_area = spring_constants(rest, mesh, shell.axes, moduli)
            springs: list[Energy] = [EdgeSprings(rest, mesh, k_length, at, n)]
            if k_area.any():
                springs.append(AreaSprings(rest, mesh, k_area, at, n))
            self.membranes.append(springs)
        bending = self._bending(shell, at)
        self.bendings.append(bending)
        rate = shell.damping.stiffness + shell.damping.viscosity
        if rate > 0.0:
            self.viscosities.append(StrainViscosity(fem, rate))
        edge = rest[mesh.hinges[:, 1]] - rest[mesh.hinges[:, 0]]
        coefficients = rate * bending.angles.weights + shell.damping.hinge * np.linalg.norm(edge, axis=1)
        if coefficients.any():
            weight = coefficients / np.maximum(hinge_weights(rest, mesh, np.ones(len(mesh.hinges))), 1e-300)
            constant = crouzeix_raviart(rest, mesh, weight, at, n).matrix
            damper = AngleViscosity(bending.angles, coefficients, constant)
            self.viscosities.append(damper)
            self._angle_dampers.append((shell, damper))
        if shell.pressure is not None:
            self.pressures.append((shell, Pressure(mesh.faces + at, mesh.closed, n)))

    def _bending(self, shell: Shell, at: int) -> Bending:
        n, mesh, rest, rigidity = self.vertex_count, shell.mesh, shell.rest_positions, shell.hinge_rigidity
        angles = shell.rest_angles_at(0.0)
        simplified = shell.hinge_energy == "simplified"
        form = "sine" if shell.hinge_energy == "sine" else "angle"
        weights = hinge_weights(rest, mesh, rigidity, shell.hinge_area, simplified)
        hinge = Hinge(mesh, weights, angles, form, at, n)
        if shell.bending == "quadratic" and shell.quadratic_form == "vertex":
            return Bending(vertex_form(rest, mesh, rigidity, at, n), hinge, None)
        if shell.bending == "hinge":
            # The cubic companion must weigh hinges as the force does, whatever tile areas that uses.
            plain = hinge_weights(rest, mesh, np.ones(len(mesh.hinges)))
            companion = Cubic(rest, mesh, weights / plain, angles, at, n)
            return Bending(hinge, hinge, companion)
        cubic = Cubic(rest, mesh, rigidity, angles, at, n)
        return Bending(cubic, hinge, cubic)

    def _free(self) -> Bools:
        free = np.ones((self.vertex_count, 3), dtype=bool, order="F")
        for shell, at in zip(self.scene.shells, self.offsets, strict=False):
            for pin in shell.pins:
                if pin.stiffness is None:
                    free[np.ix_(pin.vertices + at, np.flatnonzero(pin.axes))] = False
        for i, model in self.models.items():
            if model.tied:
                free[self.unknowns(i)[len(self.scene.shells[i].rest_positions) :]] = False
            for held in model.held:
                free[held.vertices, held.axis] = False
        return free

    def _guard(self, index: int) -> StretchGuard | None:
        """Guard of a shell whose energy could run away under stretch."""
        energy = self.bendings[index].energy
        if not isinstance(energy, Cubic) or energy.flat:
            return None
        shell = self.scene.shells[index]
        return StretchGuard(shell.mesh.edges, shell.rest_positions, int(self.offsets[index]))

    def _warn(self) -> None:
        for i, guard in enumerate(self._guards):
            if guard is None:
                continue
            shell = self.scene.shells[i]
            a11, a22, _, _ = shell.material.membrane_moduli(len(shell.faces))
            ratio = float(np.minimum(a11, a22).min() * guard.mean_length_2 / max(shell.hinge_rigidity.max(), 1e-300))
            if ratio < STIFFEST_BENDING:
                warnings.warn(
                    f"shell {i}: stretch is only {ratio:.3g} times as stiff as bending at the size of an edge "
                    f"(A|e|²/D); the cubic model assumes at least {STIFFEST_BENDING:.0f} and may swell. "
                    "Use bending='hinge', a thinner material or a coarser mesh",
                    ShellWarning,
                    stacklevel=5,
                )

    def _attachments(self, t: float) -> Attachments | None:
        first, second, strength = [], [], []
        where = {id(shell): int(at) for shell, at in zip(self.scene.shells, self.offsets, strict=False)}
        for tie in self.scene.attachments:
            holds = tie.release > t
            first.append(tie.vertices[0][holds] + where[id(tie.shells[0])])
            second.append(tie.vertices[1][holds] + where[id(tie.shells[1])])
            strength.append(tie.stiffness[holds])
        self._tied = sum(len(part) for part in first)
        if self._tied == 0:
            return None
        return Attachments(np.concatenate(first), np.concatenate(second), np.concatenate(strength), self.vertex_count)

    def elastic(self) -> list[Energy]:
        """Membrane and bending energies of every shell."""
        return [energy for group in self.membranes for energy in group] + [b.energy for b in self.bendings]

    def begin_step(self, t: float, h: float, x: Floats, v: Floats) -> StepTerms:
        """Terms of the step from t to t + h [s] that starts at x with velocities v."""
        energies: list[Energy] = []
        for guard in self._guards:
            if guard is not None:
                guard.begin_step()
        self._move_rest_angles(t + h)
        if self.scene.attachments:
            tied = self._tied
            ties = self._attachments(t)
            if self._tied != tied:
                self._ties = ties
                self.version += 1
        if self._ties is not None:
            energies.append(self._ties)
        if self._soft:
            energies.append(self._soft_pins(t + h))
        for shell, pressure in self.pressures:
            pressure.pressure = shell.pressure_at(t + h)
            pressure.begin_step(x)
            energies.append(pressure)
        for viscosity in self.viscosities:
            viscosity.begin_step(x, h)
            energies.append(viscosity)
        for shell, damper in self._angle_dampers:
            if shell.rest_angles_move:
                damper.flow(shell.rest_angles_at(t + h) - shell.rest_angles_at(max(t, 0.0)))
        for penalty in self.penalties:
            penalty.begin_step(t, h, x, v)
            energies.append(penalty)
        targets = self.targets(t + h, x)
        if self.contact.exists:
            self.contact.begin_step(t, h, x, v, targets, self.scene.gravity)
            energies.append(self.contact)
        force, drag = self._forces(t, h, x, v)
        bendings = list(self.bendings)
        for i, whole in self.whole_viscosities.items():
            bendings[i] = replace(bendings[i], energy=whole.begin_step(x, h))
        return StepTerms(energies + drag, force, targets, bendings)

    def stiffness_changes(self, t: float, h: float) -> bool:
        """Whether the step from t over h [s] changes the constant matrix: rest angles that move, ties that open."""
        if sum(int((tie.release > t).sum()) for tie in self.scene.attachments) != self._tied:
            return True
        pairs = zip(self.scene.shells, self.bendings, strict=True)
        moving = [(shell.rest_angles_at(t + h), bend) for shell, bend in pairs if shell.rest_angles_move]
        return any(not np.array_equal(angles, bend.angles.rest_angles) for angles, bend in moving)

    def _move_rest_angles(self, t: float) -> None:
        for shell, bending in zip(self.scene.shells, self.bendings, strict=True):
            if shell.rest_angles_move:
                angles = shell.rest_angles_at(t)
                if not np.array_equal(angles, bending.angles.rest_angles):
                    bending.set_rest_angles(angles)
                    self.version += 1

    def _soft_pins(self, t: float) -> SoftPins:
        weights, pulls = (np.zeros((self.vertex_count, 3), order="F") for _ in range(2))
        for shell, at in zip(self.scene.shells, self.offsets, strict=False):
            for pin in [p for p in shell.pins if p.stiffness is not None] + shell.slopes:
                assert pin.stiffness is not None
                strength = pin.stiffness[:, None] * pin.axes[None, :]
                np.add.at(weights, pin.vertices + at, strength)
                np.add.at(pulls, pin.vertices + at, strength * pin.at(t))
        targets = np.divide(pulls, weights, out=np.zeros_like(pulls), where=weights > 0)
        return SoftPins(weights, targets)

    def targets(self, t: float, x: Floats) -> Floats:
        """Positions with every held component at its target for time t [s], (n, 3)."""
        placed = x.copy(order="K")
        for shell, at in zip(self.scene.shells, self.offsets, strict=False):
            for pin in shell.pins:
                if pin.stiffness is None:
                    goal = pin.at(t)
                    for axis in np.flatnonzero(pin.axes):
                        placed[pin.vertices + at, axis] = goal[:, axis]
        for model in self.models.values():
            if model.held:
                slopes = model.slopes_at(t)
                for held in model.held:
                    placed[held.vertices, held.axis] = slopes[held.kept, held.axis]
        return placed

    def dead_force(self, t: float) -> Floats:
        """Gravity and loads [N], (n, 3), at time t [s]."""
        force = self.weight.copy(order="K")
        on_limit = np.zeros_like(force) if self.models else None
        for i, (shell, at) in enumerate(zip(self.scene.shells, self.offsets, strict=False)):
            for load in shell.loads:
                if shell.loop is None:
                    np.add.at(force, load.vertices + at, np.ascontiguousarray(load.at(t)))
                elif on_limit is not None:
                    on_limit[self.unknowns(i)] += shell.loop.limits[load.vertices].T @ load.at(t)
        if on_limit is not None:
            force += on_limit if self.to_control is None else self.to_control.transpose(on_limit)
        return force

    def _forces(self, t: float, h: float, x: Floats, v: Floats) -> tuple[Floats, list[Energy]]:
        force = self.dead_force(t + h)
        drag: list[Energy] = []
        wind = self.scene.wind
        if wind is None and not self.scene.forces:
            return force, drag
        normals = self.area_normals(x)
        if wind is not None:
            c, unit, air = wind.resistance(t, x, v, normals)
            drag.append(NormalDrag(c, unit, x, air, h))
            if wind.lift:
                force += wind.lift_force(t, x, v, normals)
        for source in self.scene.forces:
            seen = slice(self.visible)
            pushed = np.asarray(source.force(t, x[seen], v[seen], normals[seen]), dtype=np.float64)
            if pushed.shape != force[seen].shape:
                raise ShellError(f"{type(source).__name__}.force gave shape {pushed.shape}, not {force[seen].shape}")
            bad = np.flatnonzero(~np.isfinite(pushed).all(axis=1))
            if len(bad):
                raise ShellError(
                    f"{type(source).__name__}.force is not finite at vertices {listed(bad)} at time {t:g} s",
                    vertices=bad,
                )
            force[seen] += pushed
        return force, drag

    def stiffness(self, terms: StepTerms, membrane: bool = True, bending: bool = True) -> Sparse:
        """Constant (n, n) matrix of all energies of a step."""
        total = csr_matrix((self.vertex_count, self.vertex_count))
        if membrane:
            for energy in (e for group in self.membranes for e in group):
                part = energy.stiffness()
                total = total if part is None else total + part
        if bending:
            for bend in terms.bendings:
                total = total + bend.stiffness()
        for energy in terms.energies:
            part = energy.stiffness()
            total = total if part is None else total + part
        return total

    def largest_turn(self, step: Floats) -> float:
        """How far a displacement field (n, 3) turns or stretches any edge: |Δd|/|ē|."""
        if self._edges is None:
            pairs = zip(self.scene.shells, self.offsets, strict=False)
            parts = [(s.mesh.edges + at, s.rest_positions[s.mesh.edges]) for s, at in pairs]
            lengths = [np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) for _, ends in parts]
            self._edges = np.concatenate([edges for edges, _ in parts]), np.concatenate(lengths)
        edges, length = self._edges
        change = step[edges[:, 1]] - step[edges[:, 0]]
        return max(float((np.linalg.norm(change, axis=1) / length).max()), 1e-300)

    def admissible(self, x: Floats, trial: Floats) -> bool:
        """Whether curved cubic shells keep their edges within the guard's limit (or stretch no further)."""
        return all(guard.allows(x, trial) for guard in self._guards if guard is not None)
