"""A scene turned into energies on one stacked array of positions.

`System` owns what stays the same over a run (masses, elastic energies, the constant matrix); `begin_step` sets
what changes from step to step (targets, loads, lagged friction and drag) and returns a `StepTerms`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from .colliders import Collider
from .contact import CarriedContact, Contact, NoContact
from .dynamics.stage import Stage
from .energies.base import Energy
from .energies.carried import Carried
from .energies.drag import NormalDrag
from .energies.normals import AreaNormals
from .energies.penalty import Penalty
from .energies.pressure import Pressure
from .errors import ShellError, listed
from .holds import Holds
from .linalg.vectors import by_columns
from .plasticity import Flow, PlasticState
from .scene import Scene
from .shell import PLANE
from .shell_energies import Bending, ShellEnergies, recut, shell_energies, subdivision_energies, warn_of_soft_stretch
from .stretch_cap import GROWN, RESERVE, stretch_scale
from .subdivision.model import SubdivisionModel, control_map
from .subdivision.on_surface import SurfaceMap, pinned
from .types import Bools, Floats, Ints, Sparse


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

    def __init__(
        self,
        scene: Scene,
        strain_limit: float = 0.0,
        before: tuple[System, Sequence[Ints], Floats] | None = None,
    ) -> None:
        """`before`: the system this one goes on from after a cut, the hinges of each of its shells that are left, and
        where everything is, (n, 3)."""
        self.scene = scene
        self.strain_limit = strain_limit
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
        self.surface = SurfaceMap(self.models, self.visible, n, self.to_control) if self.models else None
        """From unknowns to points of the surface, where they differ."""
        self.mass = self._masses()
        self.weight = self._weight(0.0)
        """Of all unknowns at the start of the run [N], (n, 3)."""
        self.mass_damping = np.zeros(n)
        for i, shell in enumerate(shells):
            self.mass_damping[self.unknowns(i)] = shell.damping.mass * self.mass[self.unknowns(i)]
        # Tied ghosts have no mass of their own, and do not move by themselves.
        self.per_mass = np.divide(1.0, self.mass, out=np.zeros(n), where=self.mass > 0)[:, None]
        """1/m [1/kg], (n, 1)."""
        self.damping_rates = self.mass_damping * self.per_mass[:, 0]
        """Of damping by mass [1/s], (n,)."""
        self.damped = bool(self.mass_damping.any())
        self.faces = np.concatenate([shell.faces + at for shell, at in zip(shells, self.offsets, strict=False)])
        self.area_normals = AreaNormals(self.faces, self.visible)
        self.stretch_scales: list[float] = (
            self._wanted_scales(0.0, self.start, self.velocities) if before is None else before[0].stretch_scales
        )
        """Factor on each shell's membrane stiffness; below 1 where `strain_limit` let it be lowered."""
        self.energies_of: list[ShellEnergies] = [
            subdivision_energies(shell, self.models[i], int(at), n, scale, self.to_control)
            if i in self.models
            else shell_energies(shell, int(at), n, scale)
            if before is None
            else recut(before[0].energies_of[i], shell, before[1][i], int(at), n)
            for i, (shell, at, scale) in enumerate(zip(shells, self.offsets, self.stretch_scales, strict=False))
        ]
        """Energies of each shell."""
        parts = self.energies_of
        self.membranes = [part.membranes for part in parts]
        self.strain_fields = [part.strains for part in parts]
        self.bendings = [part.bending for part in parts]
        self.viscosities = [viscosity for part in parts for viscosity in part.viscosities]
        self.pressures = [
            (s, Pressure(s.faces + int(at), s.mesh.closed, self.visible))
            for s, at in zip(shells, self.offsets, strict=False)
            if s.pressure is not None
        ]
        self._guards = [part.guard for part in parts]
        self.holds = Holds(scene, self.models)
        self.free = self.holds.free
        self.held = np.flatnonzero(~self.free.T.ravel())
        """Components that do not move freely, as places in (3, n)."""
        bounds: list[slice | Ints] = [slice(int(a), int(b)) for a, b in pairwise(self.offsets)]
        for i in self.models:
            bounds[i] = self.unknowns(i)
        self.parts = [(part, bool(self.free[part].all())) for part in bounds]
        """Unknowns of each shell, and whether nothing holds them exactly."""
        self.anchors = np.zeros(n if len(shells) > 1 else 1, dtype=np.int64)
        """A vertex of the shell that each unknown belongs to, (n,), or one for all."""
        for part in bounds if len(shells) > 1 else []:
            self.anchors[part] = np.arange(n)[part][0]
        joined = bool(scene.attachments) or scene.exact_contact
        self.bodies = [(slice(0, n), bool(self.free.all()))] if joined else self.parts
        """The same for what moves on its own: shells that are tied or may touch exchange momentum."""
        self.contact: Any = NoContact()
        self._touching: Contact | None = None
        self.penalties: list[Penalty] = []
        self.contact_share = 1.0
        """What of contacts' forces in the potential of the last step acted: see `impacts.py`."""
        if scene.exact_contact:
            mass = np.concatenate([shell.mass for shell in shells])
            free = ~pinned(shells, self.offsets, self.visible)
            start = self.on_surface(self.start)
            contact = Contact(scene, mass, free, start, start if before is None else self.on_surface(before[2]))
            self._touching = contact
            self.contact = contact if self.surface is None else CarriedContact(contact, self.surface)
            if before is not None and before[0]._touching is not None:
                contact.go_on_from(before[0]._touching)
        else:
            half = [np.full(len(s.rest_positions), 0.5 * float(np.mean(s.material.thickness))) for s in shells]
            mass = np.concatenate([shell.mass for shell in shells])
            solids = [collider for collider in scene.colliders if not isinstance(collider, Collider)]
            self.penalties = [Penalty(solid, mass, np.concatenate(half)) for solid in solids]
        self.isolated = not (self.damped or scene.wind is not None or self.holds.pull or scene.colliders)
        """Whether nothing but dead forces acts from outside."""
        self._ties, self._tied = self.holds.ties(-np.inf, 0.0), self.holds.tied(-np.inf)
        self._stiffnesses = self.holds.stiffnesses(0.0)
        kept: list[PlasticState | None] = [None] * len(shells)
        if before is not None:
            kept = [None if flow is None else flow.state for flow in before[0].flows]
        self.flows: list[Flow | None] = [
            None if shell.plasticity is None else Flow(shell.plasticity, shell, part, state)
            for shell, part, state in zip(shells, parts, kept, strict=True)
        ]
        """How each shell yields."""
        moving = any(shell.rest_angles_move or shell.plasticity is not None for shell in shells)
        self.steady = not moving and self.holds.steady and all(np.isinf(tie.release).all() for tie in scene.attachments)
        """Whether only cuts, and loads that outgrow a capped stretch, change the constant matrix."""
        self.curved = any(float(np.abs(shell.rest_angles_at(0.0)).max(initial=0.0)) > PLANE for shell in shells)
        """Whether a shell is not flat at rest."""
        self.version: int = 0 if before is None else before[0].version + 1
        for i, shell in enumerate(shells if before is None else ()):
            warn_of_soft_stretch(i, shell, parts[i])

    @property
    def tied(self) -> Any:
        """Which ties hold: with them goes the pattern of the shells' Hessian."""
        return self._tied

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

    def close_cracks(self, closed: Bools) -> None:
        """Keep lips apart that have not parted; `closed` (visible,): copies along them."""
        if self._touching is None:
            return
        lips = self._touching.close_cracks(closed)
        contact = self._touching if lips is None else CarriedContact(self._touching, lips)
        self.contact = contact if self.surface is None else CarriedContact(contact, self.surface)

    def on_surface(self, x: Floats) -> Floats:
        """Points of the surface, (visible, 3), of unknowns x: vertices, or limit points of subdivision shells."""
        return x if self.surface is None else self.surface.read(x)

    def carried(self, energy: Energy) -> Energy:
        """An energy of points of the surface as one of the unknowns."""
        return energy if self.surface is None else Carried(energy, self.surface)

    def _masses(self) -> Floats:
        mass = np.empty(self.vertex_count)
        for i, shell in enumerate(self.scene.shells):
            mass[self.unknowns(i)] = self.models[i].mass if i in self.models else shell.mass
        return mass

    def _weight(self, t: float) -> Floats:
        pulled = self.mass.copy()
        for model in self.models.values():
            pulled[model.slots] = model.weights
        weight = by_columns(pulled[:, None] * self.scene.gravity_at(t))
        return weight if self.to_control is None else by_columns(self.to_control.transpose(weight))

    def elastic(self) -> list[Energy]:
        """Membrane and bending energies of every shell."""
        return [energy for group in self.membranes for energy in group] + [b.energy for b in self.bendings]

    def begin_step(self, stage: Stage) -> StepTerms:
        """Terms of a step, or of a stage of one."""
        t, x = stage.closes, stage.start
        self.contact_share = 1.0
        energies: list[Energy] = []
        for guard in self._guards:
            if guard is not None:
                guard.begin_step()
        self._move_rest_angles(t)
        stiffnesses = self.holds.stiffnesses(t)
        if self.holds.tied(stage.opens) != self._tied or stiffnesses != self._stiffnesses:
            self._ties, self._tied = self.holds.ties(stage.opens, t), self.holds.tied(stage.opens)
            self._stiffnesses = stiffnesses
            self.version += 1
        energies += [self.carried(ties) for ties in self._ties]
        if self.holds.pull:
            energies.append(self.carried(self.holds.pulling(t)))
        for shell, pressure in self.pressures:
            pressure.pressure = shell.pressure_at(t)
            pressure.begin_step(self.on_surface(stage.at))
            energies.append(self.carried(pressure))
        for viscosity in self.viscosities:
            viscosity.begin_step(stage)
            energies.append(viscosity)
        for shell, part in zip(self.scene.shells, self.energies_of, strict=True):
            if part.angle_damper is not None and shell.rest_angles_move:
                then, now = (shell.rest_angles_at(max(time, 0.0)) for time in (stage.began, stage.opens))
                part.angle_damper.flow(shell.rest_angles_at(t) - stage.carried(then, now))
        if self.penalties:
            on_surface = stage.mapped(self.on_surface)
            for penalty in self.penalties:
                penalty.begin_step(on_surface)
                energies.append(self.carried(penalty))
        targets = self.targets(t, x)
        if self.contact.exists:
            self.contact.begin_step(stage, targets, self.scene.gravity_at(t))
            energies.append(self.contact)
        force, drag = self._forces(stage)
        return StepTerms(energies + drag, force, targets, [part.bending_of_step(stage) for part in self.energies_of])

    def stored(self, x: Floats) -> float:
        """Energy [J] that contacts with colliders and between shells hold at x (n, 3) and give back."""
        points = self.on_surface(x)
        return float(self.contact.stored(x)) + sum(penalty.stored(points) for penalty in self.penalties)

    @property
    def still(self) -> bool:
        """Whether no collider moves in this step."""
        return bool(self.contact.still) and all(penalty.at_rest for penalty in self.penalties)

    def supported(self, x: Floats) -> list[tuple[slice | Ints, bool]]:
        """Unknowns of each shell, and whether a pin, or a collider that is at rest, holds it up at x (n, 3)."""
        points, held = self.on_surface(x), self.contact.leaning(x)
        for penalty in self.penalties:
            held |= penalty.at_rest & (penalty.touching(points) > 0)
        return [
            (part, not loose or bool(held[a:b].any()))
            for (part, loose), (a, b) in zip(self.parts, pairwise(self.offsets), strict=True)
        ]

    def stiffness_changes(self, t: float, h: float) -> bool:
        """Whether the step from t over h [s] changes the constant matrix: rest angles that move, ties that open."""
        held = self.holds.tied(t) != self._tied or self.holds.stiffnesses(t + h) != self._stiffnesses
        return held or any(True for _ in self._moved_rest_angles(t + h))

    def _moved_rest_angles(self, t: float) -> Iterator[tuple[Bending, Floats]]:
        """Bendings whose rest angles are others at time t [s], and those."""
        for shell, bending, flow in zip(self.scene.shells, self.bendings, self.flows, strict=True):
            if shell.rest_angles_move or flow is not None:
                angles = shell.rest_angles_at(t)
                if flow is not None:
                    angles = angles + flow.angles
                if not np.array_equal(angles, bending.angles.rest_angles):
                    yield bending, angles

    def _move_rest_angles(self, t: float) -> None:
        for bending, angles in self._moved_rest_angles(t):
            bending.set_rest_angles(angles)
            self.version += 1

    def end_step(self, x: Floats, h: float) -> float:
        """Let shells yield where a step of h [s] has left them, x (n, 3); the energy [J] that took."""
        return sum(flow.step(x, h) for flow in self.flows if flow is not None)

    def kept(self) -> dict[str, Any]:
        """What shells have kept of their past, by names and plain arrays; nothing where none can."""
        flows = enumerate(self.flows)
        plastic = {f"plastic_{i}_{k}": v for i, flow in flows if flow is not None for k, v in vars(flow.state).items()}
        plastic.update(self.contact.kept())
        return plastic

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what `kept` gave."""
        self.contact.restore(saved)
        for i, flow in enumerate(self.flows):
            if flow is None:
                continue
            arrays = {}
            for name, like in vars(flow.state).items():
                array = np.array(saved.get(f"plastic_{i}_{name}", ()), dtype=np.float64)
                if array.shape != like.shape or not np.isfinite(array).all():
                    raise ShellError(
                        f"resume: plastic {name} of shell {i} must be finite with shape {like.shape}; "
                        "is it a state of this scene?"
                    )
                arrays[name] = array
            flow.restore(PlasticState(**arrays))

    def targets(self, t: float, x: Floats) -> Floats:
        """Positions with every held component at its target for time t [s], (n, 3)."""
        return self.holds.targets(t, x)

    def dead_force(self, t: float) -> Floats:
        """Gravity and loads [N], (n, 3), at time t [s]."""
        force = self._weight(t) if callable(self.scene.gravity) else self.weight.copy(order="K")
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

    def target_speeds(self, stage: Stage) -> Floats:
        """Velocities of held components where a stage closes [m/s], (n, 3), to second order; elsewhere none."""
        middle = self.targets(0.5 * (stage.began + stage.closes), stage.start)
        return stage.speed_of(self.targets(stage.began, stage.start), middle, self.targets(stage.closes, stage.start))

    def _forces(self, stage: Stage) -> tuple[Floats, list[Energy]]:
        t, force = stage.acts, self.dead_force(stage.closes)
        drag: list[Energy] = []
        wind = self.scene.wind
        if wind is None and not self.scene.forces:
            return force, drag
        points, speeds = self.on_surface(stage.at), self.on_surface(stage.moving)
        normals = self.area_normals(points)
        pushes: list[Floats] = []
        if wind is not None:
            c, unit, air = wind.resistance(t, points, speeds, normals)
            drag.append(self.carried(NormalDrag(c, unit, self.on_surface(stage.base), air, stage.h)))
            if wind.lift:
                pushes.append(wind.lift_force(t, points, speeds, normals))
        if self.scene.forces:
            pushes.append(self.pushed(t, points, speeds, normals))
        for pushed in pushes:
            force += pushed if self.surface is None else self.surface.carry(pushed)
        return force, drag

    def pushed(self, t: float, points: Floats, speeds: Floats, normals: Floats) -> Floats:
        """What the scene's forces do to points of the surface [N], (visible, 3)."""
        total = np.zeros_like(points)
        for source in self.scene.forces:
            force = np.asarray(source.force(t, points, speeds, normals), dtype=np.float64)
            if force.shape != total.shape:
                raise ShellError(f"{type(source).__name__}.force gave shape {force.shape}, not {total.shape}")
            bad = np.flatnonzero(~np.isfinite(force).all(axis=1))
            if len(bad):
                raise ShellError(
                    f"{type(source).__name__}.force is not finite at vertices {listed(bad)} at time {t:g} s",
                    vertices=bad,
                )
            total += force
        return total

    def _wanted_scales(self, t: float, x: Floats, v: Floats) -> list[float]:
        """Factors on membrane stiffness that the loads at t [s] ask for."""
        if self.strain_limit <= 0.0:
            return [1.0] * len(self.scene.shells)
        points = self.on_surface(x)
        forces = None
        if self.scene.forces:
            forces = self.pushed(t, points, self.on_surface(v), self.area_normals(points))
        wanted = []
        for i, shell in enumerate(self.scene.shells):
            part = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
            own = None if forces is None else forces[part]
            wanted.append(stretch_scale(self.scene, shell, self.strain_limit, t, x[part], own))
        return wanted

    def follow_loads(self, t: float, x: Floats, v: Floats) -> None:
        """Stiffen the sheets whose loads at t [s] have outgrown what their stretch was lowered for."""
        if all(scale == 1.0 for scale in self.stretch_scales):
            return
        wanted = zip(self._wanted_scales(t, x, v), self.stretch_scales, strict=True)
        self.set_stretch_scales([min(1.0, RESERVE * new) if new > GROWN * old else old for new, old in wanted])

    def set_stretch_scales(self, scales: Sequence[float]) -> None:
        """New factors on the membrane stiffness of every shell."""
        for part, new, old in zip(self.energies_of, scales, self.stretch_scales, strict=True):
            if new != old:
                part.stiffen(new / old)
                self.version += 1
        self.stretch_scales = [float(scale) for scale in scales]

    def stiffness(self, terms: StepTerms, membrane: bool = True) -> Sparse:
        """Constant (n, n) matrix of all energies of a step but bending."""
        total = csr_matrix((self.vertex_count, self.vertex_count))
        membranes = [energy for group in self.membranes for energy in group] if membrane else []
        for energy in membranes + terms.energies:
            part = energy.stiffness()
            total = total if part is None else total + part
        return total

    def bending_stiffness(self, terms: StepTerms) -> Sparse:
        """Constant (n, n) matrix of bending in a step."""
        total = csr_matrix((self.vertex_count, self.vertex_count))
        for bend in terms.bendings:
            total = total + bend.stiffness()
        return total

    def admissible(self, x: Floats, trial: Floats) -> bool:
        """Whether curved cubic shells keep their edges within the guard's limit (or stretch no further)."""
        return all(guard.allows(x, trial) for guard in self._guards if guard is not None)
