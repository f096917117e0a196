"""What a user builds first: a sheet or shell with its rest state, material, pins and loads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .axes import face_axes
from .checks import LARGEST, amount, choice, floats, indices, instance, number, triangles
from .cuts import Cut
from .damping import Damping
from .energies.hinge import hinge_angles
from .errors import ShellError, listed
from .fracture import Fracture, Seam
from .hinge_rigidity import hinge_rigidities
from .material import Material
from .mesh import SMALLEST, Topology, check_positions, check_reach, topology
from .pins import Load, OfTime, Pin, per_item, rigidly_moved, slope_springs, strengths, vectors
from .plasticity import Plasticity
from .rest_angles import Edit, RestAngles, checked_times, curl_angles, hinges_at
from .rest_shape import RestShape, carried, checked_pattern, in_plane, of_mesh, of_pattern, pattern_axes
from .subdivision.clamps import border_slopes, mirror_slopes
from .subdivision.supports import Slopes
from .subdivision.surface import LoopSurface
from .types import Amount, Floats, Ints

BENDING = ("hinge", "quadratic", "cubic", "subdivision")
MEMBRANES = ("fem", "springs")

# A hinge counts as flat below this angle [rad]: round-off of a plane far from the origin.
PLANE = 1e-6


class Shell:
    """A thin sheet or shell: rest shape, material, models, what holds and loads it.

    `positions` [m], (n, 3), and `faces`, (m, 3): the rest shape; windings are made consistent. See `design` of the
    arguments in the README. Extra choices beyond the paper defaults:

    - `hinge_energy`: "sine" (Cubic Shells eq. 3), "angle" (Discrete Shells eq. 2), "simplified" (its appendix);
    - `hinge_area`: "barycentric" or "circumcentric" tiles;
    - `hinge_fit`: fit one rigidity a hinge so that the sheet bends alike on every triangulation;
    - `quadratic_form`: "crouzeix_raviart" (hinges) or "vertex";
    - `quadrature`: points a face of a subdivision shell, 3 or 1; `ghosts`: "free" (unknowns of their own) or "tied" to
      the mesh as in the paper (softer at borders: `docs/theory/subdivision.md`).

    `rest_uv` [m], (m, 3, 2): where the corners of each face lie in a flat pattern, which is then the shape at rest:
    pieces are sewn flat where faces share an edge, and `positions` is only where the shell starts. Warp runs along U
    where `axes` is None; axes (m, 2) are directions in the pattern, (m, 3) on the surface as it starts. Rest angles
    are zero unless given as numbers.

    `rest_scale`: how many times as long as the rest shape the sheet would be, one number or one a face, (m,): below 1
    it has shrunk. Its mass stays.

    A subdivision shell's positions are its control mesh; pins, clamps and loads act on its limit surface.
    """

    def __init__(
        self,
        positions: Floats,
        faces: Ints,
        material: Material,
        bending: str = "cubic",
        membrane: str = "fem",
        axes: Floats | None = None,
        rest_angles: str | Floats = "shape",
        damping: Damping | None = None,
        pressure: float | OfTime | None = None,
        plasticity: Plasticity | None = None,
        fracture: Fracture | None = None,
        self_contact: bool = True,
        friction: Amount = 0.3,
        start: Floats | None = None,
        velocities: Floats | None = None,
        *,
        hinge_energy: str = "sine",
        hinge_area: str = "barycentric",
        hinge_fit: bool = False,
        quadratic_form: str = "crouzeix_raviart",
        quadrature: int = 3,
        ghosts: str = "free",
        rest_uv: Floats | None = None,
        rest_scale: float | Floats = 1.0,
    ) -> None:
        faces = triangles(faces, "faces")
        self.rest_positions = check_positions(positions, faces)
        check_reach(self.rest_positions, "positions")
        size = float(np.ptp(self.rest_positions, axis=0).max())
        if size < SMALLEST:
            raise ShellError(f"positions: the shell is only {size:.3g} m large; they are in metres")
        self.mesh: Topology = topology(faces, len(self.rest_positions))
        instance(material, Material, "material", "Material.preset('cotton')")
        if damping is not None:
            instance(damping, Damping, "damping", "Damping(mass=0.1)")
        self.material = material
        self.bending = choice(bending, "bending", BENDING)
        self.membrane = choice(membrane, "membrane", MEMBRANES)
        self.hinge_energy = choice(hinge_energy, "hinge_energy", ("sine", "angle", "simplified"))
        self.hinge_area = choice(hinge_area, "hinge_area", ("barycentric", "circumcentric"))
        self.quadratic_form = choice(quadratic_form, "quadratic_form", ("crouzeix_raviart", "vertex"))
        self.quadrature = int(number(quadrature, "quadrature", "1 or 3 points a face", (1.0, 3.0).__contains__))
        self.ghosts = choice(ghosts, "ghosts", ("free", "tied"))
        self.loop = LoopSurface(self.mesh.faces, len(self.rest_positions)) if bending == "subdivision" else None
        if self.loop is not None and membrane != "fem":
            raise ShellError("bending='subdivision' has a membrane of its own: leave `membrane` as it is")
        if self.loop is not None and damping is not None and damping.hinge > 0:
            raise ShellError("bending='subdivision' has no hinges to damp: use Damping(viscosity=)")
        self.plasticity, self.fracture = plasticity, fracture
        self.seams: list[Seam] = []
        self.cut: Cut | None = None
        """How the mesh is cut, of a shell that has been through fracture."""
        self._check_plasticity()
        self._check_fracture()
        for per_face in (material.membrane_moduli, material.face_areal_density, material.face_thickness):
            per_face(len(self.mesh.faces))  # raises where an array does not fit the mesh
        scale = floats(rest_scale, "rest_scale", f"one number or {len(self.mesh.faces)}, one a face")
        self._rest_scale = per_item(scale, len(self.mesh.faces), "rest_scale")
        """Length at rest over that of the rest shape, (m,)."""
        self.rest: RestShape = self._rest_shape(rest_uv, axes)
        """The shape without strain: the mesh itself, or the pattern."""
        self.axes: Floats = self._axes_as_it_starts()
        """Unit warp direction of each face on the surface at `rest_positions`, (m, 3)."""
        self.hinge_rigidity = hinge_rigidities(
            self.mesh, self.rest_positions, self.rest.axes, material, bool(hinge_fit), self.rest.corners
        )
        self.damping = Damping() if damping is None else damping
        self.pressure = pressure
        if not callable(pressure):
            self.pressure_at(0.0)
        self.self_contact = self_contact
        self.friction = friction
        self.friction_at(0.0)
        self.start = self.rest_positions if start is None else self._field("start", start)
        self.velocities = np.zeros_like(self.start) if velocities is None else self._field("velocities", velocities)
        self.shape_angles = hinge_angles(self.rest_positions, self.mesh.hinges)
        self.rests_flat = isinstance(rest_angles, str) and rest_angles == "flat"
        """Whether a subdivision shell has no curvature at rest, whatever its rest shape."""
        if self.loop is not None and not isinstance(rest_angles, str):
            raise ShellError("bending='subdivision' takes rest_angles='shape' or 'flat'; angles need a hinge model")
        if isinstance(rest_angles, str):
            shaped = choice(rest_angles, "rest_angles", ("shape", "flat")) == "shape" and rest_uv is None
            rest_angles = self.shape_angles if shaped else np.zeros(len(self.hinges))
        self._rest_angles = RestAngles(self.mesh, rest_angles)
        self.rest_angles_at(0.0)
        self._kept: dict[tuple[str, int], Any] = {}
        self.pins: list[Pin] = []
        self.slopes: list[Pin] = []
        self.border_slopes: list[Slopes] = []
        self.loads: list[Load] = []

    @property
    def hinges(self) -> Ints:
        """Edge start, edge end, opposite left, opposite right, (h, 4); sorted by (start, end), start < end."""
        return self.mesh.hinges

    @property
    def faces(self) -> Ints:
        """Faces with consistent winding, (m, 3)."""
        return self.mesh.faces

    @property
    def areas(self) -> Floats:
        """Rest area of each face [m²], (m,)."""
        return self.rest.areas

    @property
    def mass(self) -> Floats:
        """Lumped mass of each vertex [kg], (n,): a third of its faces'."""
        grown = self.areas / self._rest_scale**2
        share = grown * self.material.face_areal_density(len(self.faces)) / 3.0
        corners, count = self.faces.ravel(), len(self.rest_positions)
        mass: Floats = np.bincount(corners, weights=np.repeat(share, 3), minlength=count).astype(np.float64)
        return mass

    def _rest_shape(self, rest_uv: Floats | None, axes: Floats | None) -> RestShape:
        mesh, positions, scale = self.mesh, self.rest_positions, self._rest_scale
        bad = np.flatnonzero(~(np.isfinite(scale) & (scale > 0.0)))
        if len(bad):
            raise ShellError(f"rest_scale must be positive and finite; it is not at faces {listed(bad)}", faces=bad)
        shrunk = bool((scale != 1.0).any())
        if self.loop is not None and (rest_uv is not None or shrunk):
            what = "rest_scale" if rest_uv is None else "rest_uv"
            raise ShellError(f"bending='subdivision' takes no {what}: it needs 'hinge', 'quadratic' or 'cubic'")
        if rest_uv is None:
            whole = of_mesh(positions, mesh, face_axes(positions, mesh.faces, axes))
        else:
            pattern = checked_pattern(rest_uv, mesh)
            whole = of_pattern(pattern, mesh, pattern_axes(axes, positions, mesh.faces, pattern))
        return whole.scaled(mesh, scale) if shrunk else whole

    def _axes_as_it_starts(self) -> Floats:
        rest = self.rest
        if rest.pattern is None:
            return rest.axes
        on_surface = carried(rest.axes, in_plane(rest.pattern), self.rest_positions[self.faces])
        unit: Floats = on_surface / np.linalg.norm(on_surface, axis=1)[:, None]
        return unit

    def set_rest_angles(self, angles: Floats | OfTime) -> None:
        """Rest angles θ̄ [rad], (h,), or a function of time [s] to them. They need not fit any shape.

        Creases and curls come on top.
        """
        if self.loop is not None:
            raise ShellError("bending='subdivision' has no hinges: rest angles need 'hinge' or 'cubic'")
        edits = self._rest_angles.edits
        self._rest_angles = RestAngles(self.mesh, angles)
        self._rest_angles.edits = edits
        self.rest_angles_at(0.0)

    def crease(
        self, edges: Sequence[Sequence[int]] | Ints, angle: float | Floats, start: float = 0.0, end: float | None = None
    ) -> None:
        """Fold edges, vertex pairs (k, 2), to rest at `angle` [rad], one or (k,), evenly from `start` to `end` [s].

        Positive angles fold towards the side the normals point to. Without `end` they are there from `start` on.
        """
        self._needs_hinges("crease")
        hinges = hinges_at(self.mesh, edges)
        goal = per_item(angle, len(hinges), "crease angle")
        if not np.isfinite(goal).all() or (np.abs(goal) > np.pi).any():
            raise ShellError("crease: angles must lie within ±π [rad]")
        self._rest_angles.add(Edit(hinges, goal, *checked_times(start, end, "crease"), added=False))

    def curl(self, axis: Sequence[float] | Floats, radius: float, start: float = 0.0, end: float | None = None) -> None:
        """Roll up the rest state about `axis`, (3,) or one a face (m, 3), to `radius` [m], from `start` to `end` [s].

        Curvature is added to what the shell has at rest, towards the side of the normals where radius > 0.
        """
        self._needs_hinges("curl")
        size = number(radius, "curl: radius", "a number [m]")
        angles = curl_angles(self.rest, self.rest_positions, self.faces, axis, size)
        times = checked_times(start, end, "curl")
        self._rest_angles.add(Edit(np.arange(len(angles)), angles, *times, added=True))

    def _needs_hinges(self, what: str) -> None:
        if self.bending not in ("hinge", "cubic"):
            raise ShellError(f"{what} needs rest angles, bending={self.bending!r} has none: use 'hinge' or 'cubic'")

    @property
    def rest_angles_move(self) -> bool:
        """Whether the rest angles depend on time."""
        return self._rest_angles.move

    def rest_angles_at(self, t: float) -> Floats:
        """Rest angles θ̄ [rad], (h,), at time t [s]."""
        angles = self._rest_angles.at(t)
        if self.bending == "quadratic" and len(angles):
            worst = int(np.argmax(np.abs(angles)))
            if abs(angles[worst]) > PLANE:
                a, b = self.hinges[worst, :2]
                raise ShellError(
                    f"bending='quadratic' is a plate model for flat rest angles, but the rest shape is folded by "
                    f"{np.degrees(angles[worst]):.3g}° at edge ({a}, {b}): use bending='cubic' for curved shells, or "
                    "rest_angles='flat' for a sheet that was cut flat",
                    edges=[(int(a), int(b))],
                )
        return angles

    def seam(self, edges: Sequence[Sequence[int]] | Ints, release: float | Floats) -> None:
        """Edges, vertex pairs (k, 2), that come open at `release` [s], a number or (k,), whatever they bear."""
        if self.loop is not None:
            raise ShellError("bending='subdivision' cannot come apart: seams need 'hinge', 'quadratic' or 'cubic'")
        hinges = hinges_at(self.mesh, edges)
        when = per_item(release, len(hinges), "seam release times")
        if np.isnan(when).any():
            raise ShellError("seam release times must be numbers")
        self.seams.append(Seam(hinges, when))

    def _check_fracture(self) -> None:
        law = self.fracture
        if law is None:
            return
        instance(law, Fracture, "fracture", "Fracture(curvature=20.0)")
        if self.loop is not None:
            raise ShellError("bending='subdivision' cannot come apart: fracture needs 'hinge', 'quadratic' or 'cubic'")
        per_item(law.toughness, len(self.rest_positions), "fracture toughness")

    def _check_plasticity(self) -> None:
        law = self.plasticity
        if law is None:
            return
        instance(law, Plasticity, "plasticity", "Plasticity(yield_curvature=20.0)")
        self._needs_hinges("plasticity")
        if law.yield_stretch is not None and self.membrane != "fem":
            raise ShellError(
                f"yield_stretch changes the rest metric of membrane='fem', which {self.membrane!r} has not: "
                "use membrane='fem', or leave yield_stretch None"
            )
        for name, value in (("yield_curvature", law.yield_curvature), ("yield_stretch", law.yield_stretch)):
            if value is not None:
                per_item(value, len(self.mesh.faces), f"plasticity {name}")

    def pressure_at(self, t: float) -> float:
        """Pressure [Pa] at time t [s]."""
        if not callable(self.pressure):
            return 0.0 if self.pressure is None else number(self.pressure, "pressure", "a finite number [Pa]")
        return number(self.pressure(t), f"pressure at time {t:g} s", "a finite number [Pa]")

    def friction_at(self, t: float) -> float:
        """Coulomb's coefficient at time t [s]."""
        return amount(self.friction, t, "friction")

    def pin(
        self,
        vertices: Sequence[int] | Ints,
        targets: Floats | OfTime | None = None,
        axes: Sequence[bool] = (True, True, True),
        stiffness: float | Floats | OfTime | None = None,
    ) -> Pin:
        """Hold vertices at targets [m]: (k, 3), a function of time to that, or None (where they start).

        `axes`: which components. `stiffness` [N/m] makes a spring of it, one number, (k,) or a function of time [s] to
        either; None holds exactly.
        """
        chosen = self._vertices(vertices, "pin")
        goal = self.limit(self.start)[chosen] if targets is None else targets
        vectors(goal, 0.0, len(chosen), "pin targets")
        strength: Floats | OfTime | None = None
        if stiffness is not None:
            begun = strengths(stiffness, 0.0, len(chosen), "pin stiffness")
            strength = stiffness if callable(stiffness) else begun
        mask = floats(axes, "pin axes", "three booleans") != 0.0
        if mask.shape != (3,):
            raise ShellError(f"pin axes must be three booleans, not {axes!r}")
        pin = Pin(chosen, goal, mask, strength)
        self.pins.append(pin)
        return pin

    def clamp(self, vertices: Sequence[int] | Ints, targets: Floats | OfTime | None = None) -> None:
        """Hold position and slope of vertices along a line of edges, or of whole faces.

        The slope is held by springs on the third corner of every face that shares a clamped edge, as stiff as the
        half element between wall and first row (second order in the mesh width). A clamped face needs no
        springs: its plane is the wall, half an element inside its border.
        """
        chosen = self._vertices(vertices, "clamp")
        self.pin(chosen, targets)
        if self.loop is not None:
            limit = self.limit(self.rest_positions)[chosen]
            now = None if targets is None else self.pins[-1].at
            moved = None if now is None else lambda t, points: rigidly_moved(limit, now(t), points)
            self.border_slopes.append(border_slopes(self.loop, self.rest_positions, self.start, chosen, moved))
            return
        springs = slope_springs(self, chosen, targets)
        if springs is not None:
            self.slopes.append(springs)

    @property
    def hidden_count(self) -> int:
        """Unknowns besides the vertices: ghosts of a subdivision shell."""
        return 0 if self.loop is None else self.loop.ghost_count

    def limit(self, x: Floats) -> Floats:
        """Limit positions [m], (n, 3), of a subdivision shell at control positions x; x itself for other models.

        x is (n, 3), with ghosts taken as at rest, or `frame.control(i)`, which has them.
        """
        return x if self.loop is None else self.loop.limit(x)

    def normals(self, x: Floats) -> Floats:
        """Unit normals of the limit surface at the vertices of a subdivision shell, (n, 3)."""
        if self.loop is None:
            raise ShellError("normals of the limit surface need bending='subdivision'")
        return self.loop.normals(x)

    def surface(self, x: Floats, levels: int = 1) -> tuple[Floats, Ints]:
        """Refined limit mesh of a subdivision shell at control positions x: positions and faces, 4^levels m of them.

        The vertices come first, in their order. Other models give x and their faces.
        """
        if self.loop is None:
            return x, self.faces
        key = ("surface", levels)
        if key not in self._kept:
            self._kept[key] = self.loop.refined(levels)
        matrix, faces = self._kept[key]
        return matrix @ self.loop.complete(x), faces

    def symmetry(self, vertices: Sequence[int] | Ints, axis: int) -> None:
        """Make border vertices lie on a plane of symmetry across coordinate `axis` (0, 1, 2): half of a shell that goes
        on as its mirror image. Subdivision shells only: others have no slope at a border.
        """
        chosen = self._vertices(vertices, "symmetry")
        if self.loop is None:
            raise ShellError(
                f"symmetry holds slopes at borders, which bending={self.bending!r} has not: 'subdivision' does"
            )
        if axis not in (0, 1, 2):
            raise ShellError(f"symmetry takes the axis 0, 1 or 2 across its plane, not {axis!r}")
        self.pin(chosen, axes=[i == axis for i in range(3)])
        self.border_slopes.append(mirror_slopes(self.loop, self.rest_positions, chosen, axis))

    def load(self, vertices: Sequence[int] | Ints, forces: Floats | OfTime) -> Load:
        """Dead loads [N] on vertices: (k, 3), (3,) for each, or a function of time [s] to that."""
        chosen = self._vertices(vertices, "load")
        vectors(forces, 0.0, len(chosen), "load forces", LARGEST)
        load = Load(chosen, forces)
        self.loads.append(load)
        return load

    def _field(self, name: str, value: Floats) -> Floats:
        array = floats(value, name, f"numbers of shape {self.rest_positions.shape}")
        if array.shape != self.rest_positions.shape:
            raise ShellError(f"{name} must have shape {self.rest_positions.shape}, not {array.shape}")
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if len(bad):
            raise ShellError(f"{name} of vertices {listed(bad)} is not finite", vertices=bad)
        check_reach(array, name)
        return array

    def _vertices(self, vertices: int | Sequence[int] | Ints, what: str) -> Ints:
        chosen = indices(vertices, what)
        n = len(self.rest_positions)
        bad = chosen[(chosen < 0) | (chosen >= n)]
        if len(bad):
            raise ShellError(f"{what} names vertices {listed(bad)}, outside 0..{n - 1}", vertices=bad)
        return chosen
